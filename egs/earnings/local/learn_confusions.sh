#!/usr/bin/env bash
# usage: local/learn_confusions.sh PAIRS-DIR LABELS DATA
# DATA/confusions.txt: what a recogniser made of TED's training talks (egs/iwslt_ted), as no call outside the test has ASR
# output; clitics are joined, as in the calls. DATA/dev_noisy: dev with such errors. What is there is kept.
set -euo pipefail
pairs=$1 labels=$2 data=$3 talks=../iwslt_ted/conf/labels.txt
if [ ! -f "$data/confusions.txt" ]; then
  for text in ref asr; do
    python ../english/local/join_clitics.py "$pairs/train.$text.lrec.txt" >"$data/pairs_$text.txt"
    punc prepare --format lrec --labels $talks "$data/pairs_$text.txt" "$data/pairs_$text"
  done
  punc confusions --labels $talks "$data"/pairs_{ref,asr} "$data/confusions.txt"
fi
[ -f "$data/dev_noisy/text" ] ||
  punc corrupt --labels "$labels" --confusions "$data/confusions.txt" --wer 0.15 "$data/dev" "$data/dev_noisy"
