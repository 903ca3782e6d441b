#!/usr/bin/env bash
# usage: local/clashes.sh DATA-DIR …
# How many words in small letters stand behind a period or a question mark in data directories with labels, as a Markdown
# table. Words that do not begin with a letter of a to z have no case here.
set -eu
echo "| set | sentence ends | small letters behind them | % |"
echo "|---|---:|---:|---:|"
for dir; do
  paste -d ' ' "$dir/text" "$dir/punct" | awk -v dir="$dir" '
    {
      words = NF / 2 - 1
      for (i = 1; i <= words; i++) {
        word = $(1 + i)
        label = $(words + 2 + i)
        clashes += end && label !~ /^CAP/ && word ~ /^[a-z]/
        end = label ~ /PERIOD|QUESTIONMARK/
        ends += end
      }
    }
    END { printf "| `%s` | %d | %d | %.1f |\n", dir, ends, clashes, ends ? 100 * clashes / ends : 0 }'
done
