#!/usr/bin/env bash
# usage: local/make_pieces.sh ENCODER CORPUS PAIRS STORE
# Makes STORE: train2012 and dev2012 as pieces of an encoder; dev_share, the first 1,000 utterances of dev2012; and
# train_ted, which combines train2012 with the text of later talks (CORPUS/train_extra) and the ASR output of training
# talks (PAIRS/train.asr.lrec.txt), if these exist. Finished sets are kept. prepare_set is a function of recipe.sh.
set -eu
encoder=$1 corpus=$2 pairs=$3 store=$4
sets=(train2012)
if [ -f "$corpus/train_extra" ]; then
  prepare_set train_extra --format lrec "$corpus/train_extra"
  sets+=(train_extra)
fi
if [ -f "$pairs/train.asr.lrec.txt" ]; then
  prepare_set captions --format lrec "$pairs/train.asr.lrec.txt"
  sets+=(captions)
fi
if [ ! -f data/dev_share/text ]; then
  mkdir -p data/dev_share
  for file in punct utt2spk text; do head -n 1000 "data/dev2012/$file" >"data/dev_share/$file"; done
fi
members=${sets[*]}
punc make-store --labels conf/labels.txt --token-type encoder --vocab "$encoder" --join "train_ted=${members// /,}" \
  "$store" "${sets[@]/#/data/}" data/dev2012 data/dev_share
