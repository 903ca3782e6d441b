#!/usr/bin/env bash
# usage: local/learn_confusions.sh PAIRS-DIR LABELS DATA
# Writes DATA/confusions.txt: the errors of a recogniser in TED's training talks. Calls cannot be used, because only the
# test calls have ASR output. Clitics are joined, as in the calls. Also writes DATA/dev_noisy: dev with simulated errors
# of this kind. Existing files are kept.
set -euo pipefail
pairs=$1 labels=$2 data=$3
if [ ! -f "$data/confusions.txt" ]; then
  mkdir -p "$data/pairs"
  for file in train.{ref,asr}.lrec.txt; do join_clitics.py "$pairs/$file" >"$data/pairs/$file"; done
  learn_confusions.sh "$data/pairs" conf/labels4.txt "$data/confusions.txt"
fi
[ -f "$data/dev_noisy/text" ] ||
  punc corrupt --labels "$labels" --confusions "$data/confusions.txt" --wer 0.15 "$data/dev" "$data/dev_noisy"
