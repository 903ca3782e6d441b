#!/usr/bin/env bash
# usage: local/prepare_texts.sh BOOKS WORKS POSTS LINE-BREAKS TEST DEV SEED [SENTENCES …]
# Makes the texts of all sets, data/raw/SET.txt, one text per line. Finished texts are kept if they were made with the
# same arguments. SENTENCES are files; the other arguments are options of run.sh.
set -euo pipefail
books=$1 works=$2 posts=$3 line_breaks=$4 test=$5 dev=$6 seed=$7
shift 7
made="books '$books' ($works), posts '$posts', sentences '$*', $line_breaks, $test, $dev, $seed"
if [ ! -f data/raw/.made ]; then
  mkdir -p data
  "$(dirname "$0")"/make_texts.py --labels conf/labels.txt --books "$books" --works "$works" --posts "$posts" \
    --line-breaks "$line_breaks" --test "$test" --dev "$dev" --seed "$seed" data/raw "$@" | tee data/sentences.log
  echo "$made" >data/raw/.made
elif [ "$(cat data/raw/.made)" != "$made" ]; then
  echo "$0: data was made with other arguments ($(cat data/raw/.made)); remove data and exp, or give the same arguments" >&2
  exit 1
fi
