#!/usr/bin/env bash
# usage: local/prepare_more.sh CORPUS EUROPARL
# Prepares more text for word vectors: data/train_extra from CORPUS/train_extra, and data/europarl from the file
# EUROPARL, if these exist. Finished sets are kept. prepare_set is a function of recipe.sh.
set -eu
corpus=$1 europarl=$2
[ ! -f "$corpus/train_extra" ] || prepare_set train_extra --format lrec "$corpus/train_extra"
[ -z "$europarl" ] || prepare_set europarl --format prose --document-prefix '#doc' --skip-prefix '#speaker' \
  --clitics conf/clitics.txt "$europarl"
