#!/usr/bin/env bash
# usage: local/pack.sh SYSTEM [OPTION …]
# Makes $exp/packed/SYSTEM: the model in int8, in the format of the bundled models, and its card with the figures of
# $exp/RESULTS.tsv.
# shellcheck disable=SC2154  # variables of run.sh
set -euo pipefail
model=$exp/$1
python "$(dirname "$0")/make_card.py" "$1" "$conf/cards.tsv" "$conf/card.md" "$exp/RESULTS.tsv" "$model/scale" >"$model/card.md.new"
mv "$model/card.md.new" "$model/card.md"
options=("${@:2}" --scale "$(cat "$model/scale")")
! $cased || options+=(--casing "$data/casing.txt")
punc pack "${options[@]}" --card "$model/card.md" "$model" "$exp/packed/$1"
