#!/usr/bin/env bash
# usage: utils/plot_posteriors.sh DECODE-DIR DATA-DIR TREE-DIR OUT
# Plots P(PERIOD) of a punctuated data directory against the pause, with the thresholds of a decision tree (model
# ngram_dt) if it exists. Does nothing if DECODE-DIR has no posteriors.
set -euo pipefail
decoded=$1 data=$2 tree=$3 out=$4 thresholds=
[ -f "$decoded/post.ark" ] || exit 0
[ ! -f "$tree/final.pt" ] || thresholds=$(python -c \
  'import sys; from punc.models.base import load; print(*load(sys.argv[1]).thresholds()[:, 0])' "$tree")
system=$(basename "$(dirname "$decoded")")
punc plot-pauses --decode "$decoded" --thresholds "$thresholds" --title "$system: P(PERIOD) against the pause" "$data" "$out"
