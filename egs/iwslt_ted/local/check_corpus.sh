#!/usr/bin/env bash
# usage: local/check_corpus.sh DIR
# The lines (one word each) of the corpus' files, against those that the published figures were measured on.
set -eu
dir=$1
status=0

while read -r file expected; do
  [ -f "$dir/$file" ] || {
    echo "$0: $dir/$file: no such file; README.md says where to get it" >&2
    exit 1
  }
  lines=$(wc -l <"$dir/$file")
  lines=$((lines))
  if [ "$lines" = "$expected" ]; then
    echo "$0: $file: $lines lines" >&2
  elif [ "$file" = train2012 ]; then
    # The file of Che et al. is another one than the copy rebuilt from the talks that RESULTS.md was measured with.
    echo "$0: $file: $lines lines, not the $expected of RESULTS.md; the figures will differ a little" >&2
  else
    echo "$0: $dir/$file: $lines lines instead of $expected; get it again, it is cut or another file" >&2
    status=1
  fi
done <<EOF
train2012 1992719
dev2012 295800
test2011 12626
test2011asr 12822
EOF
exit $status
