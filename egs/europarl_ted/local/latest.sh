#!/usr/bin/env bash
# usage: local/latest.sh WORDS FILE
# The last documents of a text with lines of `#doc`, as many whole ones as have no more than WORDS words; 0: all of them.
set -euo pipefail
LC_ALL=C awk -v most="$1" '
  NR == FNR { if (/^#doc/) { documents++ } else { words[documents] += NF; total += NF }; next }
  /^#doc/ { left = total - before; before += words[++number]; if (!most || left <= most) kept = 1 }
  kept' "$2" "$2"
