#!/usr/bin/env bash
# usage: local/prepare_texts.sh CORPUS
# Makes data/raw, the texts of all sets, and the data directories; validates them and counts their labels. Finished
# parts are kept. prepare_set and validate are functions of recipe.sh.
# shellcheck disable=SC2154  # recipe.sh exports processes
set -euo pipefail
corpus=$1
here=$(dirname "$0")

prepare() { prepare_set "$2" --format prose --document-prefix '#doc' --clitics conf/clitics.txt "${@:3}" "$1"; }
# prepare_marks FILE SET: makes a set with marks but without case; does nothing if FILE is not in the corpus.
prepare_marks() {
  [ ! -f "data/$2/text" ] && [ -f "$corpus/$1" ] || return 0
  LC_ALL=C sed 's/QUESTION/QUESTIONMARK/' "$corpus/$1" >"data/raw/$2"
  prepare_set "$2" --format lrec "data/raw/$2"
}

[ -f data/raw/test_conll.txt ] || "$here"/texts.py "$corpus" data/raw # texts.py writes this file last
if [ ! -f data/raw/test_conll_quotes.txt ]; then # texts with quotation marks are made last
  for part in train_all dev test; do cat "data/raw/${part%_all}"_{europarl,ted,conll}.txt >"data/raw/$part.txt"; done
  # Make smaller training texts from the latest documents: 4.2 and 1.05 million words.
  last() { "$here"/last_documents.sh "$1" "data/raw/train_$2.txt"; }
  last 2000000 europarl | cat - data/raw/train_{ted,conll}.txt >data/raw/train.txt
  { last 500000 europarl; last 500000 ted; last 50000 conll; } >data/raw/train_1m.txt
  # In these texts, the word U+02BA stands for a quotation mark.
  for part in train train_all dev test test_conll; do
    LC_ALL=C sed -E '/^#doc/! s/(“|”|„|")/" ʺ /g' "data/raw/$part.txt" >"data/raw/${part}_quotes.new"
    mv "data/raw/${part}_quotes.new" "data/raw/${part}_quotes.txt"
  done
fi
prepare data/raw/train_all.txt train_all
prepare data/raw/train_all.txt train_cased --lowercase false # for the casing table
prepare data/raw/train.txt train
prepare data/raw/train_1m.txt train_1m
prepare data/raw/dev.txt dev
prepare data/raw/test.txt test_mix
for set in train train_all dev test_conll; do prepare data/raw/${set}_quotes.txt ${set}_quotes; done
prepare data/raw/test_quotes.txt test_mix_quotes
prepare data/raw/train_ted.txt train_ted
prepare data/raw/dev_ted.txt dev_ted
prepare data/raw/test_europarl.txt test_europarl
prepare data/raw/test_conll.txt test_conll
prepare data/raw/test_ted.txt test_ref
# Only the words of the ASR output are kept; scoring projects the labels of test_ref onto them.
[ -f data/test_asr/text ] || {
  punc prepare --format mteval --clitics conf/clitics.txt --labels conf/labels.txt --nj "$processes" \
    "$corpus/iwslt_ted/IWSLT12.TED.SLT.tst2011.en-fr.en.system0.comma.xml" data/test_asr.new
  rm data/test_asr.new/punct
  mv data/test_asr.new data/test_asr
}
# The published sets are in lower case without quotes, so they are used only for punctuation. More talks and ASR output
# of talks, if the corpus has them, are for vectors and, with guessed case, for BLSTM-CRF-TED-more.
prepare_marks iwslt_ted/test2011 test2011
prepare_marks iwslt_ted/test2011asr test2011asr
prepare_marks iwslt_ted/train_extra train_extra
prepare_marks ted_asr/train.asr.lrec.txt train_asr
prepare_marks ted_asr/dev2012.asr.lrec.txt dev_asr
more=()
for set in train_extra train_asr; do [ ! -d data/$set ] || more+=("data/$set"); done
[ -f data/train_more/text ] || [ ${#more[@]} = 0 ] ||
  "$here"/guess_case.py conf/labels.txt data/train_ted data/train_more "${more[@]}"
for set in train dev test_mix train_all_quotes dev_quotes test_mix_quotes; do
  [ -f data/${set}_sentences/text ] || "$here"/sentences.py conf/labels.txt data/$set data/${set}_sentences
done
sets=(train_all train train_1m dev train_ted dev_ted {train,dev}_quotes test_mix test_europarl test_conll)
sets+=(test_mix_quotes test_conll_quotes test_ref test2011 test2011asr)
validate "${sets[@]}" test_mix_sentences test_mix_quotes_sentences
punc validate data/test_asr
"$here"/count_labels.sh conf/labels.txt "${sets[@]/#/data/}" ${more[@]+"${more[@]}"}
