#!/usr/bin/env bash
# usage: local/prepare_texts.sh CORPUS NEWS SYNTHETIC CONVERSATION TRAIN HELD-OUT
# Makes the texts of all sets, data/raw/SET.txt, one per line. Finished parts are kept. data/raw/log has the counts. The
# other arguments are options of run.sh.
set -euo pipefail
corpus=$1 news=$2 synthetic=$3 conversation=$4 train=$5 held_out=$6
here=$(dirname "$0")
sizes="news $news, synthetic $synthetic, conversation $conversation, train $train, held-out $held_out"
if [ -f data/raw/.done ]; then
  [ "$(cat data/raw/.done)" = "$sizes" ] && exit
  echo "$0: data has other sizes ($(cat data/raw/.done)); remove data, or give the same sizes" >&2
  exit 1
fi
mkdir -p data/raw
[ -s data/sentences/words.txt ] || python "$here/sentences.py" "$corpus" data/sentences | tee data/raw/log
python "$here/messages.py" "$corpus" data/sentences/words.txt data/messages.txt | tee -a data/raw/log
python "$here/mixture.py" data/sentences data/messages.txt data/raw "$news" "$synthetic" "$conversation" | tee -a data/raw/log
python "$here/matched.py" data/sentences data/raw "$train" "$held_out" | tee -a data/raw/log
echo "$sizes" >data/raw/.done
