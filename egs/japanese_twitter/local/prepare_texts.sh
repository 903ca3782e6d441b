#!/usr/bin/env bash
# usage: local/prepare_texts.sh LABELS BOOKS WORKS POSTS LINE-BREAKS TEST DEV SEED [SENTENCES …]
# The texts of all sets, data/raw/SET.txt, one text a line. Finished texts are kept if they were made with the same
# arguments. All arguments but LABELS and SENTENCES, the files of sentences, are run.sh's options.
set -euo pipefail
labels=$1 books=$2 works=$3 posts=$4 line_breaks=$5 test=$6 dev=$7 seed=$8
shift 8
made="books '$books' ($works), posts '$posts', sentences '$*', $line_breaks, $test, $dev, $seed"
if [ ! -f data/raw/.made ]; then
  mkdir -p data
  "$(dirname "$0")"/make_texts.py --labels "$labels" --books "$books" --works "$works" --posts "$posts" \
    --line-breaks "$line_breaks" --test "$test" --dev "$dev" --seed "$seed" data/raw "$@" | tee data/sentences.log
  echo "$made" >data/raw/.made
elif [ "$(cat data/raw/.made)" != "$made" ]; then
  echo "$0: data was made of other texts ($(cat data/raw/.made)); remove data and exp, or give those" >&2
  exit 1
fi
