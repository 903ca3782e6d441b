#!/usr/bin/env bash
# usage: local/prepare_text.sh CORPUS DATA REPEAT "SOURCE …" "OTHER …"
# Makes the data directories of the first stage: DATA/text_SOURCE, spoken words of each source (europarl, ted, podcasts);
# DATA/text_earnings22; and DATA/train_text, all of them, with that of the calls REPEAT times. Of an OTHER
# source, it makes DATA/text_OTHER only. Finished parts are kept. data/text has the spoken words of each source, for all
# variants. prepare_set is a function of recipe.sh.
set -eu
corpus=$1 data=$2 repeat=$3 sources=$4 others=$5
mkdir -p data/text

for source in $sources $others; do
  case $source in
    ted) inputs=("$corpus/iwslt_ted/TED.train2012.cased.xml") ;;
    podcasts) inputs=("$corpus"/podcasts/{changelog,bitcoin}.txt) ;;
    *) inputs=("$corpus/europarl/europarl.en.txt") ;;
  esac
  text=data/text/$source.txt
  [ -s "$text" ] && continue
  python "$(dirname "$0")/prepare_text.py" "${inputs[@]}" >"$text.new"
  mv "$text.new" "$text"
done

prepare() { prepare_set "${*: -1}" --format prose --document-prefix '#doc' "${@:1:$#-1}"; }
for source in $others; do prepare "data/text/$source.txt" "text_$source"; done
files=()
for source in $sources; do files+=("data/text/$source.txt"); done
files+=("$data/earnings22.txt")
for file in "${files[@]}"; do prepare "$file" "text_$(basename "$file" .txt)"; done
for ((i = 1; i < repeat; i++)); do files+=("$data/earnings22.txt"); done
prepare "${files[@]}" "train_text"
