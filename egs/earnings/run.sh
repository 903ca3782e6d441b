#!/usr/bin/env bash
# Earnings calls: two-stage training with real pauses (Tilk & Alumäe 2015), on references and on real Kaldi output.
#
#   ./run.sh --corpus DIR                        # DIR has earnings/ and europarl/ (README.md says what and where from)
#   ./run.sh --corpus DIR --labels 4             # with the question mark as a label of its own
#   ./run.sh --corpus DIR --text "europarl ted"  # more first-stage text, for comparison
#   ./run.sh --corpus DIR --stage 6              # from there on; what is finished is not done again
set -euo pipefail
from=$PWD
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # where the corpora are
labels=3              # 3 or 4: conf/labels3.txt, conf/labels4.txt
text=europarl         # first-stage text beside that of Earnings-22: europarl, ted, or both with a blank between
repeat=6              # times that the first stage reads, in an epoch, the text of the calls of which no stage has pauses
systems=              # rows of the table; else all
min_count=5           # occurrences of a word that the vocabulary has
threads=1             # of PyTorch; two models are trained at a time
nj=2                  # processes for text
help_message="usage: $0 --corpus DIR [--labels 3|4] [--text 'europarl ted'] [--systems NAMES] [--stage N]"

. ./cmd.sh
. ./path.sh
. parse_options.sh
. recipe.sh

[ "${corpus#/}" != "$corpus" ] || corpus=$from/$corpus
names=conf/labels$labels.txt
variant=$labels-${text// /-}
data=data/$variant exp=exp/$variant
texts=text_${text// /,text_},text_earnings22
ending=$([ "$variant" = 3-europarl ] || echo "-$variant")
tests="test_ref test_asr test_asr_libri"
engines=$([ "$labels" = 3 ] || echo amazon google microsoft speechmatics)  # they write question marks
engine_tests=${engines:+ test_${engines// / test_}}
rows="4-gram 4-gram+DT-p T-LSTM-p TA-LSTM TA-LSTM-p T-LSTM${engines:+ TA-LSTM-p-clean T-LSTM-europarl}"
systems=${systems:-$rows}

# Stage 0: see that the corpora are there, and that they are those of RESULTS.md.
if runs 0; then local/check_corpus.sh "$corpus" "$text"; fi

# Stage 1: data directories in spoken words: calls with pauses, the text of the first stage, the test calls.
if runs 1; then
  [ -f "$data/earnings22.txt" ] || python local/prepare_earnings22.py "$corpus/earnings/earnings22" "$names" "$data"
  # shellcheck disable=SC2086
  local/prepare_text.sh "$corpus" "$data" "$names" "$repeat" "$nj" $text
  [ -f "$data/test_asr_libri_words/text" ] || python local/prepare_earnings21.py "$corpus/earnings/earnings21" \
    "$names" "$data" test_asr=rev/kaldi test_asr_libri=kaldi_org/librispeech
  # shellcheck disable=SC2086
  [ -z "$engines" ] || [ -d "$data/speechmatics_words" ] ||
    python local/prepare_engines.py "$corpus/earnings/earnings21" "$data/test_ref" "$names" "$data" $engines
fi

# Stage 2: the references' words get their times from the better recogniser; a recogniser's words have their own.
if runs 2; then
  [ -f "$data/test_ref/pauses.scp" ] || punc pauses --by-label true "$data/test_ref" "$data/test_asr_ctm"
  for set in test_asr test_asr_libri; do
    [ -f "$data/$set/punct" ] && continue
    punc pauses "$data/${set}_words" "$data/${set}_ctm"
    punc project --labels "$names" "$data/test_ref" "$data/${set}_words" "$data/$set" 2>&1 | tee "$data/$set.wer"
  done
  for engine in $engines; do
    [ -f "$data/test_$engine/punct" ] ||
      punc project --labels "$names" "$data/test_ref" "$data/${engine}_words" "$data/test_$engine"
  done
  for set in train_pauses dev $tests; do punc validate --labels "$names" "$data/$set"; done
  punc plot-pauses --title "Earnings-21: pauses by label" "$data/test_ref" "pauses$ending.png"
fi

# Stage 3: the vocabulary of the first stage's texts; these texts as numbers, one by one and all; the calls, with that
# vocabulary, and with their own.
if runs 3; then
  store=(punc make-store --labels "$names" --nj "$nj")
  "${store[@]}" --min-count $min_count --train "$texts" "$data/store_sources" "$data"/text_*/ "$data/dev"
  store+=(--vocab "$data/store_sources/vocab")
  "${store[@]}" "$data/store_text" "$data/train_text" "$data/dev"
  "${store[@]}" "$data/store_pauses" "$data/train_pauses" "$data/dev"
  [ -z "$engines" ] || "${store[@]}" "$data/store_clean" "$data/train_pauses_clean" "$data/dev_clean"
  punc make-store --min-count $min_count --labels "$names" --train train_pauses --nj "$nj" "$data/store_calls" \
    "$data/train_pauses" "$data/dev"
fi

# train SYSTEM STORE TRAIN-SET DEV-SET [OPTION …]
train() {
  ! asked "$1" || train_model "$exp/$1" "$data/$2" "conf/$1.conf" --threads "$threads" \
    --train-set "$3" --dev-set "$4" "${@:5}"
}

# both SYSTEM SYSTEM: trains them at the same time; fails where one does.
both() {
  local pids=() status=0
  for system in "$@"; do
    case $system in
      T-LSTM) train T-LSTM store_text train_text dev & ;;
      T-LSTM-europarl) train T-LSTM-europarl store_sources text_europarl dev & ;;
      T-LSTM-p) train T-LSTM-p store_calls train_pauses dev & ;;
      4-gram) train 4-gram store_sources "$texts" dev & ;;
      4-gram+DT-p) train 4-gram+DT-p store_pauses train_pauses dev --lm-model "$exp/4-gram" & ;;
      *-clean) train "$system" store_clean train_pauses_clean dev_clean --text-model "$exp/T-LSTM" & ;;
      *) train "$system" store_pauses train_pauses dev --text-model "$exp/T-LSTM" & ;;
    esac
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  return $status
}

# Stage 4: the first stage on text, and the 4-gram.
if runs 4; then
  command -v lmplz >/dev/null || ! asked 4-gram || bash ../../utils/install_lmplz.sh
  both T-LSTM 4-gram
fi

# Stage 5: the calls: with pauses alone, the second stage without and with pauses, the 4-gram with a decision tree.
if runs 5; then
  both TA-LSTM TA-LSTM-p
  both T-LSTM-p 4-gram+DT-p
  [ -z "$engines" ] || both TA-LSTM-p-clean T-LSTM-europarl
fi

# scale SYSTEM: factors of its posteriors; on dev_clean this one has the best overall F1 of TA-LSTM-p-clean.
scale() { [ "$1" != TA-LSTM-p-clean ] || echo O=0.55; }

# Stage 6: punctuate references and recognisers' words, and score them; and the engines' own punctuation of their words.
if runs 6; then
  for system in $systems; do
    for set in $tests$engine_tests; do
      decode=$exp/$system/decode_$set
      [ "$decode/punct" -nt "$exp/$system/final.pt" ] ||
        $cmd "$exp/$system/log/decode_$set.log" punc punctuate --nj "$nj" --scale "$(scale "$system")" \
          "$exp/$system" "$data/$set" "$decode"
      $cmd "$exp/$system/log/score_$set.log" punc score --labels "$names" "$data/$set" "$decode" "$decode/score"
    done
  done
  for engine in $engines; do
    $cmd "$exp/$engine/log/score.log" punc score --labels "$names" "$data/test_$engine" "$data/$engine" \
      "$exp/$engine/decode_test_$engine/score"
  done
fi

# Stage 7: all figures into RESULTS.tsv and RESULTS.md, and a picture of what pauses do; their names end in -<variant>
# for other labels and texts.
if runs 7; then
  tree=$exp/4-gram+DT-p
  thresholds=$([ ! -f "$tree/final.pt" ] ||
    python -c 'import sys; from punc.models.base import load; print(*load(sys.argv[1]).thresholds()[:, 0])' "$tree")
  [ ! -f "$exp/TA-LSTM-p/decode_test_ref/post.ark" ] || punc plot-pauses --decode "$exp/TA-LSTM-p/decode_test_ref" \
    --thresholds "$thresholds" --title "TA-LSTM-p: P(PERIOD) against the pause" "$data/test_ref" "posteriors$ending.png"
  compare=()
  pair() { ! asked "$1" || compare+=(--compare "$1,$2"); }
  for other in 4-gram+DT-p TA-LSTM T-LSTM-p; do ! asked "$other" || pair TA-LSTM-p "$other"; done
  for engine in $engines; do for system in TA-LSTM-p-clean T-LSTM-europarl; do pair "$system" "$engine"; done; done
  punc results --title "Earnings calls, $labels labels, first stage on ${text// / + } + Earnings-22" \
    --command "./run.sh --corpus DIR --labels $labels --text '$text'" --systems "$systems" \
    --columns "COMMA PERIOD ${engines:+QUESTION }overall Err SER" --sets "$tests$engine_tests" "${compare[@]}" \
    --notes "conf/notes-$variant.md" "$exp" "RESULTS$ending"
fi
