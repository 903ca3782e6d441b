#!/usr/bin/env bash
# IWSLT 2011 TED talks: T-LSTM (Tilk & Alumäe 2015) trained on text, scored on reference and ASR transcripts.
#
#   ./run.sh                     # downloads the corpus first
#   ./run.sh --corpus DIR        # a local copy: train2012 dev2012 test2011 test2011asr, and the ASR source (README.md)
#   ./run.sh --stage 6           # from there on; what is finished is not done again
set -euo pipefail
from=$PWD
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=               # data/corpus, downloaded, if empty
systems=              # all of conf/*.conf if empty; names with blanks between
min_count=5           # occurrences of a word that the vocabulary has; chosen on dev2012, see RESULTS.md
nj=2                  # processes for text
help_message="usage: $0 [--corpus DIR] [--stage N] [--stop-stage N] [--systems NAMES] [--cmd run.pl] [--nj N]"

. ./cmd.sh
. ./path.sh
. parse_options.sh

case $corpus in
  '') corpus=data/corpus ;;
  /*) ;;
  *) corpus=$from/$corpus ;;
esac
[ -n "$systems" ] || systems=$(basename -a -s .conf conf/*.conf)
labels=conf/labels.txt
tests="test_ref test_asr"
runs() { [ "$stage" -le "$1" ] && [ "$stop_stage" -ge "$1" ]; }

# Stage 0: get the corpus, and see that it is the one that the published figures are about.
if runs 0; then
  [ "$corpus" != data/corpus ] || local/download_data.sh "$corpus"
  local/check_corpus.sh "$corpus"
fi

# Stage 1: data directories. Every set is one long column of words, so one stream.
if runs 1; then
  while read -r raw set; do
    [ -f "data/$set/punct" ] || punc prepare --format lrec --labels $labels --nj "$nj" "$corpus/$raw" "data/$set"
    punc validate --labels $labels "data/$set"
  done <<EOF
train2012    train2012
dev2012      dev2012
test2011     test_ref
test2011asr  test_asr
EOF
fi

# Stage 2: there is no audio to align; see that our projection of labels onto ASR words gives the published test set.
if runs 2; then
  [ -f data/projection.txt ] || {
    local/check_projection.py "$corpus" $labels >data/projection.txt.new
    mv data/projection.txt.new data/projection.txt
  }
  cat data/projection.txt
fi

# Stage 3: the vocabulary of the training text, without the words that are too rare to learn, and all of it as numbers.
if runs 3; then
  punc make-store --unit word --min-count $min_count --labels $labels --train train2012 --nj "$nj" data/store_word data/train2012 data/dev2012
fi

# Stage 4: train the text models; a run that was stopped goes on where it was.
if runs 4; then
  for system in $systems; do
    [ "exp/$system/final.pt" -nt data/store_word/conf ] && [ "exp/$system/final.pt" -nt "conf/$system.conf" ] && continue
    $cmd "exp/$system/log/train.log" punc train --config "conf/$system.conf" \
      --train-set train2012 --dev-set dev2012 data/store_word "exp/$system"
  done
fi

# Stage 5: models with pauses; these texts have none.

# Stage 6: punctuate the test sets, the reference words and the ASR's, and score them.
if runs 6; then
  for system in $systems; do
    for set in $tests; do
      decode=exp/$system/decode_$set
      [ "$decode/punct" -nt "exp/$system/final.pt" ] ||
        $cmd "exp/$system/log/decode_$set.log" punc punctuate "exp/$system" "data/$set" "$decode"
      $cmd "exp/$system/log/score_$set.log" \
        punc score --labels $labels --collapse 3-class:FULLSTOP=PERIOD+QUESTION "data/$set" "$decode" "$decode/score"
    done
  done
fi

# Stage 7: all figures into RESULTS.tsv, and with the published ones beside them into RESULTS.md.
if runs 7; then
  punc results --title "IWSLT 2011 TED talks" --command "./run.sh --corpus DIR" --published conf/published.tsv \
    --sets "$tests" --columns "COMMA PERIOD QUESTION overall 3-class 2-class Err SER" --notes conf/notes.md exp RESULTS
  cat RESULTS.md
fi
