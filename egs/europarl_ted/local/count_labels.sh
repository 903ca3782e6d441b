#!/usr/bin/env bash
# usage: local/count_labels.sh LABELS-FILE DATA-DIR …
# Prints a Markdown table: for each data directory, the number of words and how often each label occurs.
set -eu
labels=$1
shift
awk '
  !/^#/ && NF { names = names " " $1 " |"; rule = rule "---:|" }
  END { print "| set | words |" names; print "|---|---:|" rule }' "$labels"
for dir; do
  awk -v set="$(basename "$dir")" '
    FNR == NR { if (!/^#/ && NF) name[++n] = $1; next }
    { words += NF - 1; for (i = 2; i <= NF; i++) count[$i]++ }
    END {
      printf "| `%s` | %d |", set, words
      for (i = 1; i <= n; i++) printf " %d |", count[name[i]]
      print ""
    }' "$labels" "$dir/punct"
done
