#!/usr/bin/env bash
# usage: utils/learn_confusions.sh PAIRS-DIR LABELS-FILE OUT-FILE
# Counts a recogniser's errors. In the format of IWSLT 2011, PAIRS-DIR/train.ref.lrec.txt has the spoken words with
# labels, and train.asr.lrec.txt has the ASR output for the same texts. An existing OUT-FILE is kept.
set -euo pipefail
pairs=$1 labels=$2 out=$3
[ ! -f "$out" ] || exit 0
for text in ref asr; do
  punc prepare --format lrec --labels "$labels" "$pairs/train.$text.lrec.txt" "${out%/*}/pairs_$text"
done
punc confusions --labels "$labels" "${out%/*}"/pairs_{ref,asr} "$out"
