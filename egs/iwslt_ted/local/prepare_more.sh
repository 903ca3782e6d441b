#!/usr/bin/env bash
# usage: local/prepare_more.sh LABELS CORPUS EUROPARL
# More text for word vectors: data/train_extra, of CORPUS/train_extra, and data/europarl, of the file EUROPARL, if these are
# there. What is finished is not made again. away is a function of recipe.sh.
# shellcheck disable=SC2154  # recipe.sh exports processes
set -eu
labels=$1 corpus=$2 europarl=$3

# add SET [OPTION …] FILE: a data directory.
add() {
  [ -f "data/$1/text" ] ||
    away "data/log/prepare_$1.log" punc prepare --nj "$processes" --labels "$labels" "${@:2}" "data/$1"
}
[ ! -f "$corpus/train_extra" ] || add train_extra --format lrec "$corpus/train_extra"
[ -z "$europarl" ] || add europarl --format prose --document-prefix '#doc' --skip-prefix '#speaker' \
  --clitics conf/clitics.txt "$europarl"
