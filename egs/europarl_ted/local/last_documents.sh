#!/usr/bin/env bash
# usage: local/last_documents.sh WORDS FILE
# Prints the last documents of a text with `#doc` lines: as many complete documents as have at most WORDS words in
# total. If WORDS is 0, prints all documents.
set -euo pipefail
LC_ALL=C awk -v most="$1" '
  NR == FNR { if (/^#doc/) { documents++ } else { words[documents] += NF; total += NF }; next }
  /^#doc/ { left = total - before; before += words[++number]; if (!most || left <= most) kept = 1 }
  kept' "$2" "$2"
