#!/usr/bin/env bash
# usage: local/learn_vectors.sh LABELS FILE [MILLIONS]
# Learns word vectors from those of data/{train2012,train_extra,europarl} that are there, unless FILE is there;
# with MILLIONS, from their first so many million words. one_job is a function of recipe.sh.
set -eu
labels=$1 file=$2 words=${3:+${3}000000}
texts=()
for set in train2012 train_extra europarl; do [ ! -f data/$set/text ] || texts+=("data/$set"); done
[ -s "$file" ] || one_job "data/log/$(basename "$file" .txt).log" \
  train_vectors.py --labels "$labels" --window 1 --words "${words:-0}" "${texts[@]}" "$file"
