#!/usr/bin/env bash
# usage: local/make_subwords.sh CMD SIZE TEXTS …
# For each kind of TEXTS (single, multi): learns at most SIZE subwords from data/train_TEXTS, and cuts the sets into them,
# data/SET_subwords_TEXTS. Finished work is not repeated. CMD is run.sh's $cmd.
set -euo pipefail
cmd=$1 size=$2
for kind in "${@:3}"; do
  model=data/subwords_$kind.model
  [ -s "$model" ] || $cmd "data/log/subwords_$kind.log" local/subwords.py train "data/train_$kind" "$model" "$size"
  for text in data/raw/{train,dev}_"$kind".txt data/raw/test_*.txt; do
    set=$(basename "$text" .txt)
    out=data/${set}_subwords_$kind
    [ -f "$out/punct" ] || local/subwords.py tokenize "$model" "data/$set" "$out"
  done
done
