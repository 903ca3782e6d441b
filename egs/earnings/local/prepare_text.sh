#!/usr/bin/env bash
# usage: local/prepare_text.sh CORPUS DATA LABELS REPEAT NJ SOURCE …
# The first stage's texts: DATA/text_SOURCE, a data directory for each of the sources europarl and ted, in spoken words;
# DATA/text_earnings22; and DATA/train_text, all of them, the text of calls without pauses REPEAT times. What is there
# is kept; the spoken words of a source are in data/text, for all variants.
set -eu
corpus=$1 data=$2 labels=$3 repeat=$4 nj=$5
shift 5
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

prepare() { [ -f "${*: -1}/punct" ] || punc prepare --format prose --document-prefix '#doc' --labels "$labels" --nj "$nj" "$@"; }
files+=("$data/earnings22.txt")
for file in "${files[@]}"; do prepare "$file" "$data/text_$(basename "$file" .txt)"; done
for ((i = 1; i < repeat; i++)); do files+=("$data/earnings22_rest.txt"); done
prepare "${files[@]}" "$data/train_text"
