#!/usr/bin/env bash
# usage: local/make_pieces.sh ENCODER LABELS [FILE …]
# data/store_encoder: the pieces of an encoder's directory, of train2012 and dev2012, and train_ted, which is train2012 and
# the FILEs in LREC columns that are there: train_extra, and captions of talks. What is finished is not made again.
set -eu
encoder=$1 labels=$2
shift 2
sets=(data/train2012)
for file in "$@"; do
  [ -f "$file" ] || continue
  name=$(basename "$file") && name=${name%%.*}
  [ -f "data/$name/text" ] || punc prepare --labels "$labels" --format lrec "$file" "data/$name"
  sets+=("data/$name")
done
members=$(printf ',%s' "${sets[@]#data/}")
punc make-store --labels "$labels" --token-type encoder --vocab "$encoder" --join "train_ted=${members#,}" \
  data/store_encoder "${sets[@]}" data/dev2012
