#!/usr/bin/env bash
# usage: utils/check_corpus.sh DIR LIST
# Checks that a recipe's corpora are in DIR, with as many lines as when its figures were measured. LIST has a line
# `LINES PATH` for each file. If `~` precedes the number, a different number gives only a warning.
set -euo pipefail
[ $# = 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 1; }
dir=$1
status=0
while read -r lines file; do
  case $lines in '' | '#'*) continue ;; esac
  expected=${lines#'~'}
  if [ ! -f "$dir/$file" ]; then
    echo "check_corpus.sh: $dir/$file: no such file; README.md says where to get it" >&2
    status=1
    continue
  fi
  found=$(($(wc -l <"$dir/$file")))
  if [ "$found" = "$expected" ]; then
    continue
  elif [ "$expected" = "$lines" ]; then
    echo "check_corpus.sh: $dir/$file: $found lines instead of $expected; get it again: it is truncated, or a different file" >&2
    status=1
  else
    echo "check_corpus.sh: $dir/$file: $found lines, not the $expected of RESULTS.md; the figures will differ" >&2
  fi
done <"$2"
exit $status
