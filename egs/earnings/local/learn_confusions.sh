#!/usr/bin/env bash
# usage: local/learn_confusions.sh PAIRS-DIR LABELS DATA
# Writes DATA/confusions.txt, a recogniser's errors in TED's training talks (only the test calls have ASR output, so
# calls cannot be used). Clitics are joined, as in the calls. Also writes DATA/dev_noisy: dev with such errors. Existing
# files are kept.
set -euo pipefail
pairs=$1 labels=$2 data=$3
if [ ! -f "$data/confusions.txt" ]; then
  mkdir -p "$data/pairs"
  for file in train.{ref,asr}.lrec.txt; do join_clitics.py "$pairs/$file" >"$data/pairs/$file"; done
  learn_confusions.sh "$data/pairs" conf/labels4.txt "$data/confusions.txt"
fi
[ -f "$data/dev_noisy/text" ] ||
  punc corrupt --labels "$labels" --confusions "$data/confusions.txt" --wer 0.15 "$data/dev" "$data/dev_noisy"
