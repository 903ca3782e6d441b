#!/usr/bin/env bash
# usage: local/learn_vectors.sh FILE [MILLIONS]
# Learns word vectors from data/train2012 and, if they exist, data/train_extra and data/europarl. Keeps an existing
# FILE. With MILLIONS, uses only the first MILLIONS million words of these sets. one_job is a function of recipe.sh.
set -eu
file=$1 words=${2:+${2}000000}
texts=()
for set in train2012 train_extra europarl; do [ ! -f data/$set/text ] || texts+=("data/$set"); done
[ -s "$file" ] || one_job "data/log/$(basename "$file" .txt).log" \
  train_vectors.py --labels conf/labels.txt --window 1 --words "${words:-0}" "${texts[@]}" "$file"
