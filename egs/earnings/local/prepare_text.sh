#!/usr/bin/env bash
# usage: local/prepare_text.sh CORPUS OUT SOURCE …
# The first stage's texts in spoken words: OUT/SOURCE.txt for each of the sources europarl and ted; one there is kept.
set -eu
corpus=$1
out=$2
shift 2
mkdir -p "$out"

for source; do
  [ -s "$out/$source.txt" ] && continue
  case $source in
    ted) file=$corpus/iwslt_ted/TED.train2012.cased.xml ;;
    *) file=$corpus/europarl/europarl.en.txt ;;
  esac
  python "$(dirname "$0")/prepare_text.py" "$file" >"$out/$source.txt.new"
  mv "$out/$source.txt.new" "$out/$source.txt"
done
