#!/usr/bin/env bash
# usage: local/learn_vectors.sh CMD LABELS FILE [OPTION …]
# Learns word vectors from those of data/{train2012,train_extra,europarl} that are there, unless FILE is there. CMD is
# run.sh's $cmd; OPTION is one of utils/train_vectors.py.
set -eu
cmd=$1 labels=$2 file=$3
texts=()
for set in train2012 train_extra europarl; do [ ! -f data/$set/text ] || texts+=("data/$set"); done
[ -s "$file" ] || $cmd "data/log/$(basename "$file" .txt).log" \
  train_vectors.py --labels "$labels" --window 1 "${@:4}" "${texts[@]}" "$file"
