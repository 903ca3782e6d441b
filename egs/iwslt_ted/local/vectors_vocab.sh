#!/usr/bin/env bash
# usage: local/vectors_vocab.sh VECTORS TEXT VOCAB
# Writes a vocabulary: the words with a vector, and the words of a data directory's text. Keeps a vocabulary that is
# newer than both inputs.
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
    awk 'NR > 1 || NF > 2 { print $1 }' "$vectors" # the first line may be a header
    cut -d ' ' -f 2- "$text" | tr ' ' '\n'
  } | sort -u | grep -vxF -e '' -e '<unk>' -e '</s>'
} >"$vocab.new"
mv "$vocab.new" "$vocab"
