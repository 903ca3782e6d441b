#!/usr/bin/env bash
# usage: local/make_pieces.sh ENCODER LABELS CORPUS PAIRS
# data/store_encoder: train2012 and dev2012 as pieces of an encoder, and train_ted, which is train2012 with the text of later
# talks (CORPUS/train_extra) and the ASR output of training talks (PAIRS/train.asr.lrec.txt), if these are there. What is
# finished is not made again.
set -eu
encoder=$1 labels=$2 corpus=$3 pairs=$4
sets=(data/train2012)

# add SET FILE: one more set of train_ted, if the file is there.
add() {
  [ -f "$2" ] || return 0
  [ -f "data/$1/text" ] || punc prepare --labels "$labels" --format lrec "$2" "data/$1"
  sets+=("data/$1")
}
add train_extra "$corpus/train_extra"
add captions "$pairs/train.asr.lrec.txt"
members=$(printf ',%s' "${sets[@]#data/}")
punc make-store --labels "$labels" --token-type encoder --vocab "$encoder" --join "train_ted=${members#,}" \
  data/store_encoder "${sets[@]}" data/dev2012
