#!/usr/bin/env bash
# usage: local/make_pieces.sh CMD SIZE TEXTS …
# For each kind of TEXTS (single, multi): learns at most SIZE pieces of characters from data/train_TEXTS, and cuts the sets
# into them, data/SET_pieces_TEXTS. Finished work is not repeated. CMD is run.sh's $cmd.
set -euo pipefail
cmd=$1 size=$2
for kind in "${@:3}"; do
  model=data/pieces_$kind.model
  [ -s "$model" ] || $cmd "data/log/pieces_$kind.log" local/pieces.py train "data/train_$kind" "$model" "$size"
  for set in "train_$kind" "dev_$kind" test_single test_multi; do
    [ -f "data/${set}_pieces_$kind/punct" ] || local/pieces.py join "$model" "data/$set" "data/${set}_pieces_$kind"
  done
done
