#!/usr/bin/env bash
# usage: local/check_corpus.sh CORPUS
# Stops where a file is missing, and says which are of another size than those that README.md counts.
set -eu
corpus=$1
while read -r bytes name; do
  [ -f "$corpus/$name" ] || { echo "$corpus/$name: no such file; README.md says where to get it" >&2; exit 1; }
  found=$(wc -c <"$corpus/$name")
  [ "$found" -eq "$bytes" ] || echo "$corpus/$name: $found bytes, not $bytes: counts and figures will differ" >&2
done <<EOF
14981093 news_smd/reuters21578.txt
4941930 news_smd/nus_sms_en.tsv
99261423 europarl/europarl.en.txt
11408456 iwslt_ted/TED.train2012.cased.xml
1652885 iwslt_ted/TED.dev2012.cased.xml
26244547 iwslt_ted/train_extra
EOF
