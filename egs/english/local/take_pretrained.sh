#!/usr/bin/env bash
# usage: local/take_pretrained.sh true|false SYSTEM …
# true: copies the models that ship to exp/SYSTEM, where what a recipe trains is. Fails if exp/SYSTEM is of the other kind.
set -euo pipefail
pretrained=$1
fail() {
  echo "$0: $*" >&2
  exit 1
}
for system in "${@:2}"; do
  model=exp/$system
  if [ "$pretrained" = true ]; then
    [ ! -f "$model/model.json" ] || continue
    [ ! -e "$model" ] || fail "$model was trained here; remove it, or leave out --pretrained true"
    rm -rf "$model.new"
    mkdir -p exp
    cp -r "$PUNC_ROOT/punc/pretrained/$system" "$model.new"
    mv "$model.new" "$model"
  elif [ -f "$model/model.json" ]; then
    fail "$model is the model that ships; remove it, or give --pretrained true"
  fi
done
