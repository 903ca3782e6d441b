#!/usr/bin/env bash
# usage: local/prepare_text.sh CORPUS DATA LABELS REPEAT SOURCE …
# Makes the data directories of the first stage: DATA/text_SOURCE, spoken words of each source (europarl, ted);
# DATA/text_earnings22; and DATA/train_text, all of them, with the text of calls without pauses REPEAT times. Finished
# parts are kept. data/text has the spoken words of each source, for all variants. share is a function of recipe.sh.
# shellcheck disable=SC2154  # recipe.sh exports processes
set -eu
corpus=$1 data=$2 labels=$3 repeat=$4
shift 4
mkdir -p data/text

files=()
for source; do
  case $source in
    ted) file=$corpus/iwslt_ted/TED.train2012.cased.xml ;;
    *) file=$corpus/europarl/europarl.en.txt ;;
  esac
  text=data/text/$source.txt
  files+=("$text")
  [ -s "$text" ] && continue
  python "$(dirname "$0")/prepare_text.py" "$file" >"$text.new"
  mv "$text.new" "$text"
done

prepare() {
  local set=${*: -1}
  [ -f "$set/text" ] || share "$data/log/prepare_${set##*/}" "$set" \
    punc prepare --format prose --document-prefix '#doc' --labels "$labels" --nj "$processes" "$@"
}
files+=("$data/earnings22.txt")
for file in "${files[@]}"; do prepare "$file" "$data/text_$(basename "$file" .txt)"; done
for ((i = 1; i < repeat; i++)); do files+=("$data/earnings22_rest.txt"); done
prepare "${files[@]}" "$data/train_text"
