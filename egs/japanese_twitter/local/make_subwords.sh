#!/usr/bin/env bash
# usage: local/make_subwords.sh SIZE TEXTS …
# For each kind of TEXTS (single, multi): learns at most SIZE subwords from data/train_TEXTS, and writes each set, cut
# into these subwords, to data/SET_subwords_TEXTS. Finished work is not repeated. one_job is a function of recipe.sh.
set -euo pipefail
size=$1
for kind in "${@:2}"; do
  model=data/subwords_$kind.model
  [ -s "$model" ] || one_job "data/log/subwords_$kind.log" local/subwords.py train "data/train_$kind" "$model" "$size"
  for text in data/raw/{train,dev}_"$kind".txt data/raw/test_*.txt; do
    set=$(basename "$text" .txt)
    out=data/${set}_subwords_$kind
    [ -f "$out/text" ] || local/subwords.py tokenize "$model" "data/$set" "$out"
  done
done
