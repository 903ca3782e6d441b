#!/usr/bin/env bash
# usage: local/last_documents.sh WORDS FILE
# Prints the last documents of a text with `#doc` lines. The documents are complete, and have at most WORDS words in
# total; if WORDS is 0, prints all documents.
set -euo pipefail
LC_ALL=C awk -v most="$1" '
  NR == FNR { if (/^#doc/) { documents++ } else { words[documents] += NF; total += NF }; next }
  /^#doc/ { left = total - before; before += words[++number]; if (!most || left <= most) kept = 1 }
  kept' "$2" "$2"
