#!/usr/bin/env bash
# usage: local/count_lowercase_starts.sh DATA-DIR …
# Prints a Markdown table: how many sentences of labelled data directories begin with a small letter. A sentence begins
# after a period or a question mark. Only words that begin with a letter from a to z are counted.
set -eu
echo "| set | sentence ends | small letters after them | % |"
echo "|---|---:|---:|---:|"
for dir; do
  paste -d ' ' "$dir/text" "$dir/punct" | awk -v dir="$dir" '
    {
      words = NF / 2 - 1
      for (i = 1; i <= words; i++) {
        word = $(1 + i)
        label = $(words + 2 + i)
        lowercase += end && label !~ /^CAP/ && word ~ /^[a-z]/
        end = label ~ /PERIOD|QUESTIONMARK/
        ends += end
      }
    }
    END { printf "| `%s` | %d | %d | %.1f |\n", dir, ends, lowercase, ends ? 100 * lowercase / ends : 0 }'
done
