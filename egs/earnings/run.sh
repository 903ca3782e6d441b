#!/usr/bin/env bash
# shellcheck disable=SC2086  # lists of names
# Earnings calls: two-stage training with real pauses (Tilk & Alumäe 2015), on references and on real Kaldi output.
#   ./run.sh --corpus DIR   # DIR has earnings/ and europarl/; --labels 4, --text and --encoder are in README.md
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # where the corpora are
labels=3              # 3 or 4: conf/labels3.txt, conf/labels4.txt
text=europarl         # text of the first stage besides that of Earnings-22: europarl, ted, or "europarl ted"
repeat=6              # how often an epoch of the first stage reads the text of the calls that have no pauses
asr_pairs=            # TED's training talks and their ASR output (egs/iwslt_ted): systems with noise learn errors from them
encoder=              # the Hugging Face directory of all-MiniLM-L6-v2; without it no MiniLM
systems=              # names with blanks between; all of them if empty or `all`
min_count=5           # how often a word of the vocabulary occurs at least
threads=1             # of PyTorch; two models are trained at a time
nj=2                  # processes for text; with a --cmd that is not run.pl, jobs
help_message="usage: $0 --corpus DIR [--labels 3|4] [--text 'europarl ted'] [--encoder DIR] [--systems NAMES]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus encoder asr_pairs
variant=$labels-${text// /-}
[ -f "conf/results-$variant.conf" ] || fail "--labels $labels --text '$text': there is no conf/results-$variant.conf"
label_file=conf/labels$labels.txt data=data/$variant exp=exp/$variant
engines=$([ "$labels" = 3 ] || echo amazon google microsoft speechmatics)  # they write question marks
rows=" $(sed -n 's/^--systems=//p' "conf/results-$variant.conf")" && rows=${rows% amazon*}  # without the engines
[ -z "$asr_pairs" ] || [ $variant = 3-europarl ] || fail "--asr-pairs is for --labels 3 --text europarl"
choose systems $rows ${asr_pairs:+T-LSTM-p-noise MiniLM-p MiniLM-p-noise}
tests="test_ref test_asr test_asr_libri" texts=text_${text// /,text_},text_earnings22
[ -d "$data/text_podcasts" ] || [ -f "$corpus/podcasts/changelog.txt" ] ||
  leave_out "no podcasts (README.md)" {T-LSTM,TA-LSTM{,-p},MiniLM}-podcasts MiniLM-p-podcasts-clean
[ -n "$encoder" ] || leave_out "no --encoder (docs/encoder.md)" \
  MiniLM{,-p{,-noise,{,-podcasts}-clean},-podcasts} TA-MiniLM-p{,-linear}

# Stage 0: check that the corpora are those of RESULTS.md.
if runs 0; then local/check_corpus.sh "$corpus" "$text"; fi

# Stage 1: make the data directories, all in spoken words: calls with pauses, text of the first stage, test calls.
if runs 1; then
  podcasts=$(case $systems in *-podcasts*) echo podcasts ;; esac)  # a second first stage
  local/prepare_data.sh "$corpus" "$data" "$label_file" "$repeat" "$text" "$engines" "$podcasts"
fi

# Stage 2: find the pauses, those of references by the better ASR system; project labels onto ASR output; count ASR errors.
if runs 2; then
  add_pauses test_ref --by-label true "$data/test_asr_ctm"
  for set in test_asr{,_libri}; do add_pauses ${set}_words "$data/${set}_ctm"; project test_ref ${set}_words $set; done
  for engine in $engines; do project test_ref "${engine}_words" "test_$engine"; done
  validate train_pauses dev $tests
  plot_pauses "Earnings-21: pauses by label" test_ref
  [ -z "$asr_pairs" ] || local/learn_confusions.sh "$asr_pairs" "$label_file" "$data"
fi

# Stage 3: make the vocabulary of a first stage, and write its sets as numbers; the calls also with their own words.
if runs 3; then local/make_stores.sh "$data" "$texts" "$min_count" "$encoder" "$engines" "$systems"; fi

# train_system SYSTEM: trains it, if it is asked for, on the store that has its sets. What differs between variants, such as
# the first stage of a second one, is in conf/VARIANT/SYSTEM.conf.
train_system() {
  local store=text options=() conf=conf/$variant/$1.conf
  asked "$1" || return 0
  [ -f "$conf" ] || conf=conf/$1.conf
  case $1 in
    4-gram | T-LSTM-europarl) store=sources ;;
    T-LSTM-podcasts | TA-*-podcasts) store=podcasts ;;
    T-LSTM-p | T-LSTM-p-noise | Pause-Window) store=calls ;;
    MiniLM-podcasts) store=talk options=(--encoder "$encoder") ;;
    MiniLM*) store=pieces options=(--encoder "$encoder") ;;
    TA-MiniLM-*) store=pieces ;;
  esac
  train_model "$exp/$1" "$data/store_$store" "$conf" --threads "$threads" "${options[@]}"
}

# Stage 4: train the first stages, and the 4-gram.
if runs 4; then need_lmplz 4-gram; two_at_a_time train_system T-LSTM 4-gram T-LSTM-{podcasts,biases,europarl} MiniLM{,-podcasts}; fi

# Stage 5: train on the calls: second stages, models that read the calls alone, and the decision tree.
if runs 5; then two_at_a_time train_system $systems; fi  # those of stage 4 are finished

# Stage 6: punctuate references and ASR output, and score them; score the engines' output. A scale is the best on dev.
if runs 6; then
  sets=$tests${engines:+ test_${engines// / test_}}
  for s in $systems; do
    [ -z "$asr_pairs" ] || tuned_row $s-A $s dev_noisy "$sets"
    case $s in *-clean) tuned_row $s $s dev_clean "$sets" ;; *) decode_and_score $s $sets ;; esac
  done
  for engine in $engines; do score "$data/test_$engine" "$data/$engine" "$exp/$engine/decode_test_$engine"; done
fi

# Stage 7: plot what TA-LSTM-p makes of a pause, and write the pages of this variant, or those of ASR noise.
if runs 7; then plot_posteriors TA-LSTM-p test_ref; collect_results "conf/results-${asr_pairs:+noise-}$variant.conf"; fi
