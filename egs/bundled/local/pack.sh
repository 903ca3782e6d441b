#!/usr/bin/env bash
# usage: local/pack.sh SYSTEM
# $exp/packed/SYSTEM: the model in int8, as it ships, with its card, whose figures are those of $exp/RESULTS.tsv. data, exp
# and conf are variables of run.sh.
# shellcheck disable=SC2154  # variables of run.sh
set -euo pipefail
model=$exp/$1
python "$(dirname "$0")/make_card.py" "$1" "$conf/cards.tsv" "$conf/card.md" "$exp/RESULTS.tsv" "$model/scale" >"$model/card.md.new"
mv "$model/card.md.new" "$model/card.md"
punc pack --scale "$(cat "$model/scale")" --casing "$data/casing.txt" --card "$model/card.md" "$model" "$exp/packed/$1"
