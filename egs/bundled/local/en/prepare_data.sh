#!/usr/bin/env bash
# usage: local/en/prepare_data.sh CORPUS
# Makes the data directories and validates them. Finished directories are kept. prepare_set and validate are functions
# of recipe.sh.
# shellcheck disable=SC2154  # variables of run.sh
set -euo pipefail
corpus=$1
here=$(dirname "$0")
[ -f "$data/raw/europarl.txt" ] || python "$here/prepare_texts.py" "$corpus" "$data/raw" # europarl.txt is written last
prepare() {
  prepare_set "$1" --format prose --abbreviations "$PUNC_ROOT/punc/text/abbreviations.txt" --document-prefix '#doc' "${@:2}" \
    "$data/raw/$1.txt"
}
for set in text text_more {dev_,}podcasts {dev_,}europarl; do prepare "$set"; done
[ -f "$data/text_half/text" ] || python "$here/take_streams.py" "$data/text_more" "$data/text_half" 1 2
prepare written --lowercase false # for the casing table
python "$here/prepare_calls.py" "$corpus" "$label_file" conf/en/labels-earnings.txt "$data"
for set in iwslt_{ref:test2011,asr:test2011asr} {ted:train2012,ted_more:train_extra,dev_ted:dev2012} \
  {ted_captions:../ted_asr/train,dev_ted_captions:../ted_asr/dev2012}.asr.lrec.txt; do
  file=${set#*:} out=$data/${set%:*}
  [ ! -f "$out/text" ] && [ -f "$corpus/iwslt_ted/$file" ] || continue
  join_clitics.py "$corpus/iwslt_ted/$file" >"$data/raw/${file##*/}"
  punc prepare --format lrec --labels conf/en/labels-iwslt.txt "$data/raw/${file##*/}" "$out"
done
validate text text_more {dev_,}{podcasts,europarl} {dev_,}calls{,_clean} calls_text earnings_ref iwslt_{ref,asr}
