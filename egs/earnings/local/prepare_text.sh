#!/usr/bin/env bash
# usage: local/prepare_text.sh CORPUS DATA REPEAT [podcasts]
# Makes the data directories of the first stage: DATA/text_europarl, Europarl in spoken words; DATA/text_earnings22,
# calls that are in no other set; and DATA/train_text, which has Europarl once and these calls REPEAT times. With
# `podcasts`, also makes DATA/text_podcasts. Finished parts are kept. data/text has the texts in spoken words, for all
# variants. prepare_set is a function of recipe.sh.
set -eu
corpus=$1 data=$2 repeat=$3 podcasts=$4
mkdir -p data/text

# spoken NAME FILE …: writes data/text/NAME.txt, the text of the files in spoken words
spoken() {
  local text=data/text/$1.txt
  [ -s "$text" ] && return
  python "$(dirname "$0")/prepare_text.py" "${@:2}" >"$text.new"
  mv "$text.new" "$text"
}
prepare() { prepare_set "${*: -1}" --format prose --document-prefix '#doc' "${@:1:$#-1}"; }

spoken europarl "$corpus/europarl/europarl.en.txt"
prepare data/text/europarl.txt text_europarl
prepare "$data/earnings22.txt" text_earnings22
files=(data/text/europarl.txt)
for ((i = 0; i < repeat; i++)); do files+=("$data/earnings22.txt"); done
prepare "${files[@]}" train_text
if [ -n "$podcasts" ]; then
  spoken podcasts "$corpus"/podcasts/{changelog,bitcoin}.txt
  prepare data/text/podcasts.txt text_podcasts
fi
