#!/usr/bin/env bash
# usage: local/prepare_text.sh CORPUS DATA LABELS REPEAT "SOURCE …" "OTHER …"
# Makes the data directories of the first stage: DATA/text_SOURCE, spoken words of each source (europarl, ted, podcasts);
# DATA/text_earnings22; and DATA/train_text, all of them, with the text of calls without pauses REPEAT times. Of an OTHER
# source, it makes DATA/text_OTHER only. Finished parts are kept. data/text has the spoken words of each source, for all
# variants. away is a function of recipe.sh.
# shellcheck disable=SC2154  # recipe.sh exports processes
set -eu
corpus=$1 data=$2 labels=$3 repeat=$4 sources=$5 others=$6
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

prepare() {
  local set=${*: -1}
  [ -f "$set/text" ] || away "$data/log/prepare_${set##*/}.log" \
    punc prepare --format prose --document-prefix '#doc' --labels "$labels" --nj "$processes" "$@"
}
for source in $others; do prepare "data/text/$source.txt" "$data/text_$source"; done
files=()
for source in $sources; do files+=("data/text/$source.txt"); done
files+=("$data/earnings22.txt")
for file in "${files[@]}"; do prepare "$file" "$data/text_$(basename "$file" .txt)"; done
for ((i = 1; i < repeat; i++)); do files+=("$data/earnings22_rest.txt"); done
prepare "${files[@]}" "$data/train_text"
