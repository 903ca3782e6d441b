#!/usr/bin/env bash
# usage: local/take_pretrained.sh true|false EXP SYSTEM …
# true: copies the bundled models to EXP/SYSTEM, where trained models are stored, and replaces an older copy that has
# different weights. Fails if EXP/SYSTEM is a trained model. false: fails if EXP/SYSTEM is a copy of a bundled model.
set -euo pipefail
pretrained=$1 exp=$2
fail() {
  echo "$0: $*" >&2
  exit 1
}
for system in "${@:3}"; do
  model=$exp/$system shipped=$PUNC_ROOT/punc/pretrained/$system
  if [ "$pretrained" = true ]; then
    if [ -f "$model/model.json" ]; then
      ! cmp -s "$shipped/model.json" "$model/model.json" || continue  # model.json has the checksums of all files
    elif [ -e "$model" ]; then
      fail "$model was trained here; remove it, or leave out --pretrained true"
    fi
    rm -rf "$model.new"
    mkdir -p "$exp"
    cp -r "$shipped" "$model.new"
    if [ -e "$model" ]; then  # keeps the model's output; model.json, which readers open first, is moved last
      find "$model.new" -type f ! -name model.json -exec mv -t "$model" {} +
      mv "$model.new/model.json" "$model"
      rmdir "$model.new"
    else
      mv "$model.new" "$model"
    fi
  elif [ -f "$model/model.json" ]; then
    fail "$model is the bundled model; remove it, or give --pretrained true"
  fi
done
