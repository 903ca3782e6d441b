#!/usr/bin/env bash
# usage: local/check_corpus.sh DIR
# The lines of the corpora's files, against those that README.md's counts are of.
set -eu
dir=$1
status=0

while read -r file expected; do
  [ -f "$dir/$file" ] || {
    echo "$0: $dir/$file: no such file; README.md says where to get it" >&2
    exit 1
  }
  lines=$(wc -l <"$dir/$file")
  [ $((lines)) = "$expected" ] || {
    echo "$0: $dir/$file: $((lines)) lines instead of $expected; get it again, it is cut or another file" >&2
    status=1
  }
done <<LINES
europarl/europarl.en.txt 301919
iwslt_ted/TED.train2012.cased.xml 20257
iwslt_ted/TED.dev2012.cased.xml 3208
iwslt_ted/IWSLT12.TED.MT.tst2011.en-fr.en.xml 879
iwslt_ted/IWSLT12.TED.SLT.tst2011.en-fr.en.system0.comma.xml 879
iwslt_ted/test2011 12626
iwslt_ted/test2011asr 12822
conll2003/train.txt 219554
conll2003/valid.txt 55044
conll2003/test.txt 50350
LINES
exit $status
