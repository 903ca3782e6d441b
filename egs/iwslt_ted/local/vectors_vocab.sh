#!/usr/bin/env bash
# usage: local/vectors_vocab.sh VECTORS TEXT VOCAB
# Writes the words of a file of word vectors and of a data directory's text as a vocabulary. A vocabulary that is newer
# than both is kept.
set -eu
export LC_ALL=C
vectors=$1 text=$2 vocab=$3
[ "$vocab" -nt "$vectors" ] && [ "$vocab" -nt "$text" ] && exit
[ -f "$vectors" ] || {
  echo "$0: $vectors: no such file; give another with --vectors, or leave that option out" >&2
  exit 1
}
{
  printf '%s\n' '<unk>' '</s>'
  {
    awk 'NR > 1 || NF > 2 { print $1 }' "$vectors" # line 1 may be a header
    cut -d ' ' -f 2- "$text" | tr ' ' '\n'
  } | sort -u | grep -vxF -e '' -e '<unk>' -e '</s>'
} >"$vocab.new"
mv "$vocab.new" "$vocab"
