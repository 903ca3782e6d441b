#!/usr/bin/env bash
# Estonian broadcast news: two-stage training with real pauses (Tilk & Alumäe 2015), on reference transcripts.
#
#   ./run.sh --corpus DIR             # DIR has raw_data/ and the texts of the first stage (README.md)
#   ./run.sh --corpus DIR --own DIR2  # broadcasts of your own: DIR2/train, DIR2/dev, DIR2/test (README.md)
#   ./run.sh --stage 6                # from there on; what is finished is not done again
set -euo pipefail
from=$PWD
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # where the corpus is
own=                  # directories train, dev and test of your own transcripts with word times, instead of the corpus'
lowercase=true        # false: case is kept
systems=              # all if empty; names with blanks between
min_count=5           # occurrences of a word that the vocabulary of the first stage has; chosen on dev, see RESULTS.md
own_min_count=10      # the same for T-LSTM-p, which has no first stage
threads=1             # of PyTorch; one is nearly as fast as two, and does not mind other work beside it
nj=2                  # processes for text
help_message="usage: $0 --corpus DIR [--own DIR] [--lowercase true|false] [--systems NAMES] [--stage N] [--stop-stage N]"

. ./cmd.sh
. ./path.sh
. parse_options.sh
. recipe.sh

case $corpus in /*) ;; *) corpus=$from/$corpus ;; esac
case $own in '' | /*) ;; *) own=$from/$own ;; esac
order="4-gram-text 4-gram 4-gram+DT-p T-LSTM T-LSTM-p TA-LSTM TA-LSTM-p"
[ -n "$systems" ] || systems=$order
labels=conf/labels.txt

# Stage 0: cut the corpus into documents and news items, of which some are held out for development.
if runs 0; then
  [ -f data/raw/pauses.test.txt ] || local/prepare_corpus.py "$corpus" data/raw
fi

# prepare FORMAT SET FILE…
prepare() {
  local format=$1 set=$2
  shift 2
  [ -f "data/$set/punct" ] || punc prepare --format "$format" --document-prefix '#doc' --labels $labels --lowercase "$lowercase" \
    --nj "$nj" "$@" "data/$set"
}

# Stage 1: data directories: each source of text, all of them together, and words with pauses.
if runs 1; then
  for source in bn edt estner fiction; do prepare prose "$source" "data/raw/$source.train.txt"; done
  prepare prose text_train data/raw/{bn,edt,estner,fiction}.train.txt
  prepare prose text_dev data/raw/{bn,edt,estner,fiction}.dev.txt
  for set in train dev test; do
    if [ -n "$own" ]; then
      [ -f "data/$set/punct" ] || local/own_data.py --labels $labels --lowercase "$lowercase" "$own/$set" "data/$set"
    else
      prepare sil $set "data/raw/pauses.$set.txt"
    fi
  done
fi

# Stage 2: the corpus has its pauses in the text; your own data get theirs from a CTM or TextGrids. A picture of them.
if runs 2; then
  for set in train dev test; do
    [ -z "$own" ] || [ -f "data/$set/pauses.scp" ] || punc pauses "data/$set" "$(local/own_data.py --times "$own/$set")"
    punc validate --labels $labels "data/$set"
  done
  punc plot-pauses --title "Estonian broadcast news: pauses by label" data/train pauses.png
fi

# Stage 3: the vocabulary of the first stage, with everything as its numbers; the set with pauses as its own numbers.
if runs 3; then
  punc make-store --labels $labels --min-count $min_count --train text_train --nj "$nj" data/store_text \
    data/text_train data/text_dev data/{bn,edt,estner,fiction} data/train data/dev
  punc make-store --labels $labels --min-count $own_min_count --train train --nj "$nj" data/store_pauses \
    data/train data/dev
fi

# train SYSTEM STORE [OPTION …]
train() {
  ! asked "$1" || train_model "exp/$1" "$2" "conf/$1.conf" "${@:3}"
}

# Stage 4: the models of text.
if runs 4; then
  train T-LSTM data/store_text --threads "$threads"
  command -v lmplz >/dev/null || ! asked 4-gram || bash ../../utils/install_lmplz.sh
  train 4-gram-text data/store_text
  train 4-gram data/store_text
fi

# Stage 5: the models of pauses, and those adapted to the set that has them.
if runs 5; then
  train T-LSTM-p data/store_pauses --threads "$threads"
  train TA-LSTM data/store_text --threads "$threads"
  train TA-LSTM-p data/store_text --threads "$threads"
  train 4-gram+DT-p data/store_text
fi

# Stage 6: punctuate the test set, one broadcast, and score it; the dev set too, which decided on the conf files.
if runs 6; then
  for system in $systems; do
    for set in dev test; do
      decode=exp/$system/decode_$set
      [ "$decode/punct" -nt "exp/$system/final.pt" ] ||
        $cmd "exp/$system/log/decode_$set.log" punc punctuate "exp/$system" "data/$set" "$decode"
      $cmd "exp/$system/log/score_$set.log" punc score --labels $labels "data/$set" "$decode" "$decode/score"
    done
  done
fi

# Stage 7: all figures into RESULTS.tsv and RESULTS.md, the published ones beside them; what TA-LSTM-p makes of pauses.
if runs 7; then
  thresholds=
  if [ -f exp/4-gram+DT-p/final.pt ]; then
    thresholds=$(python -c 'from punc.models.base import load; print(*load("exp/4-gram+DT-p").thresholds()[:, 0])')
  fi
  [ ! -f exp/TA-LSTM-p/decode_test/post.ark ] || punc plot-pauses --decode exp/TA-LSTM-p/decode_test \
    --thresholds "$thresholds" --title "TA-LSTM-p: P(PERIOD) against the pause" data/test posteriors.png
  compare=
  for system in 4-gram+DT-p TA-LSTM T-LSTM-p; do
    [ ! -f exp/TA-LSTM-p/decode_test/score/figures.tsv ] || [ ! -f "exp/$system/decode_test/score/figures.tsv" ] ||
      compare="$compare --compare TA-LSTM-p,$system"
  done
  # shellcheck disable=SC2086 # several options
  punc results --title "Estonian broadcast news" --command "./run.sh --corpus DIR" --published conf/published.tsv \
    --systems "$order" --sets "test dev" \
    --columns "COMMA PERIOD overall Err" $compare --notes conf/notes.md exp RESULTS
  cat RESULTS.md
fi
