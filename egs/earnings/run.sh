#!/usr/bin/env bash
# shellcheck disable=SC2046,SC2086  # lists of names
# Earnings calls: two-stage training with real pauses (Tilk & Alumäe 2015), on references and on real Kaldi output.
#   ./run.sh --corpus DIR   # DIR has earnings/ and europarl/; --labels 4 and --encoder are in README.md
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # directory of the corpora
labels=3              # 3 or 4: conf/labels3.txt, conf/labels4.txt
repeat=6              # how many times an epoch of the first stage reads its calls
asr_pairs=            # TED's training talks and their ASR output (egs/iwslt_ted), whose errors systems with noise learn
encoder=              # the Hugging Face directory of all-MiniLM-L6-v2; if empty, MiniLM systems are left out
mpnet=                # the directory of all-mpnet-base-v2; if empty, MPNet systems are left out
systems=              # names separated by spaces; all of them if empty or `all`
min_count=5           # minimum count of a word in the vocabulary
threads=1             # threads of PyTorch; two models are trained at a time
nj=2                  # number of processes for text; if --cmd is not run.pl, number of jobs
help_message="usage: $0 --corpus DIR [--labels 3|4] [--encoder DIR] [--systems NAMES]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus encoder mpnet asr_pairs
export PYTHONPATH=$PUNC_ROOT/utils/calls${PYTHONPATH:+:$PYTHONPATH}  # for the scripts in local/
variant=$labels-europarl
[ -f "conf/$variant/systems" ] || fail "--labels $labels: there is no conf/$variant/systems"
[ -z "$asr_pairs" ] || [ $labels = 3 ] || fail "--asr-pairs is for --labels 3"
label_file=conf/labels$labels.txt data=data/$variant exp=exp/$variant
choose_systems conf/$variant/systems
[ -n "$asr_pairs" ] || leave_out asr_pairs "no --asr-pairs (README.md)"
[ -n "$encoder" ] || leave_out encoder "no --encoder (docs/encoder.md)"
[ -n "$mpnet" ] || leave_out mpnet "no --mpnet (docs/encoder.md)"
[ -d "$data/text_podcasts" ] || [ -f "$corpus/podcasts/changelog.txt" ] || leave_out podcasts "no podcasts (README.md)"
tests="test_ref test_asr test_asr_libri"
engines=$([ "$labels" = 3 ] || echo amazon google microsoft speechmatics)  # with 3 labels, ? is not a label

# Stage 0: check that the corpora are those used for RESULTS.md.
if runs 0; then local/check_corpus.sh "$corpus"; fi

# Stage 1: make the data directories, all in spoken words: calls with pauses, text for the first stage, test calls.
if runs 1; then
  local/prepare_data.sh "$corpus" "$data" "$label_file" "$repeat" "$engines" "$(! asked podcasts || echo podcasts)"
fi

# Stage 2: find the pauses (references take the times of the better ASR system); project labels; count ASR errors.
if runs 2; then
  [ -f "$data/test_ref/pauses.scp" ] || punc pauses --by-label true "$data/test_ref" "$data/test_asr_ctm"
  for set in test_asr{,_libri}; do [ -f $data/${set}_words/pauses.scp ] || punc pauses $data/${set}_{words,ctm}; done
  for set in test_asr{,_libri}; do project test_ref ${set}_words $set; done
  for engine in $engines; do project test_ref ${engine}_words test_$engine; done
  validate train_pauses dev $tests
  newer "$exp/results/pauses.png" "$data/test_ref/pauses.scp" ||
    punc plot-pauses --title "Earnings-21: pauses by label" "$data/test_ref" "$exp/results/pauses.png"
  [ -z "$asr_pairs" ] || local/learn_confusions.sh "$asr_pairs" "$label_file" "$data"
fi

# Stage 3: make the first stage's vocabulary and convert its sets to token numbers; do the same for the calls with pauses.
if runs 3; then
  needed=$(for store in store_{pieces,mpnet,talk}; do ! asked $store || echo $store; done)
  local/make_stores.sh "$data" "$min_count" "$encoder" "$engines" "$needed" "$mpnet"
fi

# train_system SYSTEM: trains SYSTEM on its store. conf/VARIANT/SYSTEM.conf, if it exists, replaces conf/SYSTEM.conf.
train_system() {
  local conf=conf/$1.conf options=(--threads "$threads")
  [ ! -f conf/$variant/$1.conf ] || conf=conf/$variant/$1.conf
  case $1 in MiniLM*) options+=(--encoder "$encoder") ;; MPNet*) options+=(--encoder "$mpnet") ;; esac
  train $conf $data/${store_of[$1]} $exp/$1 "${options[@]}"
}

# Stage 4: train the first stages, and the 4-gram.
if runs 4; then
  ! asked lmplz || install_lmplz.sh
  two_at_a_time train_system $(in_stage 4)
fi

# Stage 5: train on the calls: second stages, models trained only on calls, and the decision tree.
if runs 5; then two_at_a_time train_system $(in_stage 5); fi

# Stage 6: punctuate references and ASR output with the scale that is best on dev. Score them and the engines' output.
if runs 6; then
  sets=$tests${engines:+ test_${engines// / test_}}
  for s in $systems; do
    case $s in *-clean) tune_scale $exp/$s dev_clean; scale=(--scale "$(cat $exp/$s/scale)") ;; *) scale=() ;; esac
    decode_and_score $exp/$s $exp/$s "$sets" "${scale[@]}"
    [ -n "$asr_pairs" ] || continue
    tune_scale $exp/$s dev_noisy
    decode_and_score $exp/$s $exp/$s-A "$sets" --scale "$(cat $exp/$s/scale)"
  done
  for engine in $engines; do score "$data/test_$engine" "$data/$engine" "$exp/$engine/decode_test_$engine"; done
fi

# Stage 7: plot how TA-LSTM-p uses a pause, and write the pages of this variant or the pages about ASR noise.
if runs 7; then
  plot_posteriors.sh $exp/TA-LSTM-p/decode_test_ref $data/test_ref $exp/4-gram+DT-p $exp/results/posteriors.png
  collect_results "conf/results-${asr_pairs:+noise-}$variant.conf"
fi
