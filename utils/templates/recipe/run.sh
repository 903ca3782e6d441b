#!/usr/bin/env bash
# @NAME@: from punctuated texts, and word times where there are some, to RESULTS.md.
#
#   ./run.sh                    # everything; what is finished is not done again
#   ./run.sh --stage 6          # from there on
#   ./run.sh --systems T-LSTM   # one row of the results; several with blanks between
set -euo pipefail
from=$PWD
cd "$(dirname "$0")"

stage=0
stop_stage=100
# EDIT: a folder of punctuated texts, NAME.txt; the times of their words, and a recogniser's words for them: a CTM or a
# folder of CTMs (for times also of TextGrids), of which the ids are these NAMEs; or nothing.
text=@TEXT@
times=@TIMES@
asr=@ASR@
# EDIT: the rows of the results, conf/<system>.conf, and the occurrences of a word that the vocabulary has.
systems="T-LSTM TA-LSTM TA-LSTM-p 4-gram 4-gram+DT-p"
min_count=2
threads=1             # of PyTorch
nj=2                  # processes for text
help_message="usage: $0 [--text DIR] [--times CTM-OR-DIR] [--asr CTM-OR-DIR] [--systems NAMES] [--stage N]"

. ./cmd.sh
. ./path.sh
. parse_options.sh
. recipe.sh

for name in text times asr; do case ${!name} in '' | /*) ;; *) printf -v $name %s "$from/${!name}" ;; esac; done
labels=conf/labels.txt
tests="test_ref${asr:+ test_asr}"
sets="train rest tree dev test_ref"

# without WHY SYSTEM…: leaves out the rows that cannot be made.
without() {
  local out=
  for system in "${@:2}"; do
    asked "$system" || continue
    out+=" $system" systems=" $systems "
    systems=${systems/" $system "/ }
  done
  [ -z "$out" ] || echo "$0: $1, so no$out" >&2
}
[ -n "$times" ] || without "no word times" TA-LSTM-p 4-gram+DT-p
command -v lmplz >/dev/null || without "no lmplz (utils/install_lmplz.sh builds it)" 4-gram 4-gram+DT-p

# Stage 0: see that the texts are there, and which have word times and a recogniser's words; by their names, of every
# ten the first is for the test and the second for development. EDIT: where the sets are given, write data/split/*.
if runs 0; then check_texts.py --split data/split ${times:+--times "$times"} ${asr:+--asr "$asr"} "$text"; fi

# Stage 1: data directories. 4-gram+DT-p has its tree from every fifth text of the training set, its 4-gram from the rest.
if runs 1; then
  for set in $sets; do
    mapfile -t files <"data/split/$set"
    [ -f "data/$set/punct" ] ||
      punc prepare --format prose --keep-names true --labels $labels --nj "$nj" "${files[@]}" "data/$set"
  done
fi

# Stage 2: the pause after each word; a recogniser's words for the test texts, with the labels of these.
if runs 2; then
  for set in $sets; do
    [ -z "$times" ] || [ -f "data/$set/pauses.scp" ] || punc pauses "data/$set" "$times"
    punc validate --labels $labels "data/$set"
  done
  [ -z "$times" ] || [ pauses.png -nt data/train/pauses.scp ] ||
    punc plot-pauses --title "@NAME@: pauses by label" data/train pauses.png
  [ -z "$asr" ] || [ -f data/test_asr/punct ] || {
    if [ -d "$asr" ]; then cat "$asr"/*.ctm; else cat "$asr"; fi |
      awk 'NR == FNR { test[$1]; next } $1 in test' data/test_ref/spk2utt - >data/test_asr.ctm
    punc prepare --format ctm data/test_asr.ctm data/test_asr_words
    punc project --labels $labels data/test_ref data/test_asr_words data/test_asr
  }
fi

# Stage 3: the vocabulary of the training set, and all of it as numbers.
if runs 3; then
  punc make-store --labels $labels --min-count "$min_count" --train train --nj "$nj" data/store \
    data/{train,rest,tree,dev}
fi

train() { train_model "exp/$1" data/store "conf/$1.conf" --threads "$threads"; }

# Stage 4: the models of text, which those of stage 5 build on.
if runs 4; then
  train T-LSTM
  ! asked 4-gram || train 4-gram
  ! asked 4-gram+DT-p || train 4-gram-rest
fi

# Stage 5: the rest: the second stage, without and with pauses, and the decision tree.
if runs 5; then for system in $systems; do train "$system"; done; fi

# Stage 6: punctuate the test sets, and score them.
if runs 6; then
  for system in $systems; do
    for set in $tests; do
      decode=exp/$system/decode_$set
      [ "$decode/score/figures.tsv" -nt "exp/$system/final.pt" ] && continue
      $cmd "exp/$system/log/decode_$set.log" punc punctuate --nj "$nj" "exp/$system" "data/$set" "$decode"
      $cmd "exp/$system/log/score_$set.log" punc score --labels $labels "data/$set" "$decode" "$decode/score"
    done
  done
fi

# Stage 7: all figures into RESULTS.tsv and RESULTS.md, with paired tests of what pauses are worth.
if runs 7; then
  compare=()
  for other in TA-LSTM 4-gram+DT-p; do
    ! asked TA-LSTM-p || ! asked $other || compare+=(--compare "TA-LSTM-p,$other")
  done
  punc results --title "@NAME@" --command "./run.sh" --systems "$systems" --sets "$tests" "${compare[@]}" exp RESULTS
  cat RESULTS.md
fi
