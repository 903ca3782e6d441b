#!/usr/bin/env bash
# Europarl, TED talks and CoNLL-2003: punctuation and capitals in one model, BLSTM-CRF (Bansal 2019).
#
#   ./run.sh --corpus DIR                      # DIR has europarl/, iwslt_ted/ and conll2003/ (README.md)
#   ./run.sh --corpus DIR --vectors FILE       # GloVe's 300 numbers or others; else word2vec learns them, by gensim
#   ./run.sh --corpus DIR --systems "BLSTM-CRF-TED" --epochs 6
#   ./run.sh --corpus DIR --stage 6            # from there on; what is finished is not done again
set -euo pipefail
from=$PWD
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # where the corpora are
europarl=2000000      # words of Europarl, the latest ones, beside all of TED and CoNLL in the training text; 0: all, 15.6 million
vectors=              # word vectors in GloVe's or word2vec's text format; data/vectors.txt, made in stage 3, if empty
systems=              # names of conf/*.conf with blanks between; all if empty
epochs=               # at most; as the conf files say if empty
min_count=2           # occurrences of a word that the vocabulary has; first guess
threads=2             # of PyTorch
nj=2                  # processes for text and decoding
help_message="usage: $0 --corpus DIR [--europarl WORDS] [--vectors FILE] [--systems NAMES] [--epochs N] [--stage N] [--stop-stage N]
  [--threads N] [--nj N] [--cmd run.pl]"

. ./cmd.sh
. ./path.sh
. parse_options.sh
. recipe.sh

case $corpus in /*) ;; *) corpus=$from/$corpus ;; esac
own_vectors=$vectors
case $vectors in '') vectors=data/vectors.txt ;; /*) ;; *) vectors=$from/$vectors ;; esac
labels=conf/labels.txt
order="BLSTM-CRF-1-layer BLSTM-CRF BLSTM-softmax BLSTM-CRF-words BLSTM-CRF-fixed BLSTM-CRF-sentences BLSTM-CRF-TED
  BLSTM-CRF-TED-more"
systems=${systems:-$order}
tests="test_mix_sentences test_mix test_europarl test_conll test_ref test_asr test2011 test2011asr"
# What a system is trained on: the sets train<of> and dev<of> of the store data/store<of>.
of() { case $1 in *-TED) echo _ted ;; *-more) echo _more ;; *-sentences) echo _sentences ;; esac; }

# Stage 0: see that the corpora are there, and that they are those of README.md.
if runs 0; then check_corpus.sh "$corpus" conf/corpus.txt; fi

# Stage 1: data directories. A debate, a talk, an article is a stream.
# prepare TEXT SET [option …]
prepare() {
  [ -f "data/$2/text" ] ||
    punc prepare --format prose --doc '#doc' --clitics conf/clitics.txt --labels $labels --nj "$nj" "${@:3}" "$1" "data/$2"
}
# prepare_marks FILE SET: words and marks in lower case; nothing, where there is no such file.
prepare_marks() {
  [ ! -f "data/$2/punct" ] && [ -f "$corpus/$1" ] || return 0
  LC_ALL=C sed 's/QUESTION/QUESTIONMARK/' "$corpus/$1" >"data/raw/$2"
  punc prepare --format lrec --labels $labels --nj "$nj" "data/raw/$2" "data/$2"
}
if runs 1; then
  [ -f data/raw/test_conll.txt ] || local/texts.py "$corpus" data/raw # the last one that it writes
  if [ ! -f data/raw/.europarl ]; then
    for part in train_all dev test; do cat "data/raw/${part%_all}"_{europarl,ted,conll}.txt >"data/raw/$part.txt"; done
    local/latest.sh "$europarl" data/raw/train_europarl.txt | cat - data/raw/train_{ted,conll}.txt >data/raw/train.txt
    echo "$europarl" >data/raw/.europarl
  elif [ "$(cat data/raw/.europarl)" != "$europarl" ]; then
    echo "$0: data has $(cat data/raw/.europarl) words of Europarl; remove data and exp, or give --europarl that" >&2
    exit 1
  fi
  prepare data/raw/train_all.txt train_all
  prepare data/raw/train.txt train
  prepare data/raw/dev.txt dev
  prepare data/raw/test.txt test_mix
  prepare data/raw/train_ted.txt train_ted
  prepare data/raw/dev_ted.txt dev_ted
  prepare data/raw/test_europarl.txt test_europarl
  prepare data/raw/test_conll.txt test_conll
  prepare data/raw/test_ted.txt test_ref
  # The recogniser's words; test_ref's labels are projected onto them when they are scored.
  [ -f data/test_asr/text ] || {
    punc prepare --format mteval --clitics conf/clitics.txt --labels $labels --nj "$nj" \
      "$corpus/iwslt_ted/IWSLT12.TED.SLT.tst2011.en-fr.en.system0.comma.xml" data/test_asr.new
    rm data/test_asr.new/punct
    mv data/test_asr.new data/test_asr
  }
  # The published sets, for punctuation alone: lower case, no quotes. If they are there, more talks, and what a recogniser
  # made of talks: for vectors, and with a guess of their case for BLSTM-CRF-TED-more.
  prepare_marks iwslt_ted/test2011 test2011
  prepare_marks iwslt_ted/test2011asr test2011asr
  prepare_marks iwslt_ted/train_extra train_extra
  prepare_marks ted_asr/train.asr.lrec.txt train_asr
  prepare_marks ted_asr/dev2012.asr.lrec.txt dev_asr
  more=()
  for set in train_extra train_asr; do [ ! -d data/$set ] || more+=("data/$set"); done
  [ -f data/train_more/punct ] || [ ${#more[@]} = 0 ] ||
    local/guess_case.py $labels data/train_ted data/train_more "${more[@]}"
  for set in train dev test_mix; do
    [ -f data/${set}_sentences/punct ] || local/sentences.py $labels data/$set data/${set}_sentences
  done
  for set in train_all train dev ${tests/test_asr/} train_ted dev_ted; do punc validate --labels $labels "data/$set"; done
  punc validate data/test_asr
  local/count_labels.sh $labels \
    data/{train_all,train,dev,train_ted,dev_ted,test_mix,test_europarl,test_conll,test_ref,test2011,test2011asr} \
    ${more[@]+"${more[@]}"}
fi

# Stage 2: there is no audio to align; learn of all training text how words are written that have more capitals than the
# first letter's.
if runs 2; then
  prepare data/raw/train_all.txt train_cased --lowercase false
  [ -s data/casing.txt ] || local/learn_casing.py $labels data/train_cased data/casing.txt
fi

# Stage 3: the words of the training texts, without those that are too rare to learn, all texts as numbers, and vectors,
# of all of Europarl and more talks too.
if runs 3; then
  punc make-store --unit word --min-count "$min_count" --labels $labels --train train --nj "$nj" data/store \
    data/train data/dev
  punc make-store --unit word --vocab data/store/vocab --labels $labels --nj "$nj" data/store_sentences \
    data/train_sentences data/dev_sentences
  punc make-store --unit word --vocab data/store/vocab --labels $labels --nj "$nj" data/store_ted \
    data/train_ted data/dev_ted
  [ ! -d data/train_more ] ||
    punc make-store --unit word --vocab data/store/vocab --labels $labels --nj "$nj" data/store_more data/train_more data/dev_ted
  texts=(data/train_all)
  [ ! -d data/train_extra ] || texts+=(data/train_extra)
  [ -n "$own_vectors" ] || [ -s "$vectors" ] || $cmd data/log/vectors.log \
    python ../iwslt_ted/local/train_vectors.py --dimensions 300 --window 1 "${texts[@]}" "$vectors"
fi

# has_text SYSTEM: whether what it is trained on is there, of the text that not everybody has.
has_text() { [ "$(of "$1")" != _more ] || [ -d data/store_more ]; }

# Stage 4: train the models.
if runs 4; then
  for system in $systems; do
    set=$(of "$system")
    has_text "$system" || { echo "$0: $system is left out: no text for it (README.md)" >&2; continue; }
    train_model "exp/$system" "data/store$set" "conf/$system.conf" --vectors "$vectors" --threads "$threads" \
      --train-set "train$set" --dev-set "dev${set/_more/_ted}" ${epochs:+--epochs "$epochs"}
  done
fi

# Stage 5: models with pauses; these texts have none.

# Stage 6: punctuate the test sets and score them: all labels; marks alone, whatever the case; case alone.
marks=marks:O=O+CAP+QUOTATION+CAP_QUOTATION,COMMAS=COMMA+CAP_COMMA,PERIODS=PERIOD+CAP_PERIOD
marks+=,QUESTIONMARKS=QUESTIONMARK+CAP_QUESTIONMARK
case=case:O=O+QUOTATION+COMMA+PERIOD+QUESTIONMARK
case+=,CAPITAL=CAP+CAP_QUOTATION+CAP_COMMA+CAP_PERIOD+CAP_QUESTIONMARK
# decode ROW SYSTEM [option …]: a row of the tables, made by a system with these options of punc punctuate.
decode() {
  local row=$1 system=$2 set out reference
  for set in $tests; do
    case $row:$set in # sentences for the system of sentences, and for the one that it is compared with
      BLSTM-CRF:* | *-sentences:*_sentences) ;;
      *-sentences:* | *:*_sentences | *+*:test_europarl | *+*:test_conll) continue ;;
    esac
    out=exp/$row/decode_$set reference=data/$set
    [ "$set" != test_asr ] || reference=data/test_ref
    [ "$out/punct" -nt "exp/$system/final.pt" ] ||
      $cmd "exp/$row/log/decode_$set.log" punc punctuate --nj "$nj" --context 64 \
        --posteriors false --casing data/casing.txt --clitics conf/clitics.txt "${@:3}" "exp/$system" "data/$set" "$out"
    $cmd "exp/$row/log/score_$set.log" punc score --labels $labels --match streams \
      --collapse "$marks" --collapse "$case" "$reference" "$out" "$out/score"
  done
  case $row in *-TED*) # where the recogniser is right, and where it is not
    local/beside_errors.py $labels "$marks" data/test2011 data/test2011asr "exp/$row/decode_test2011asr" \
      >"exp/$row/decode_test2011asr/score/beside_errors.md" ;;
  esac
}
if runs 6; then
  for system in $systems; do
    has_text "$system" || continue
    decode "$system" "$system"
    case $system in # marks and capitals that agree
      BLSTM-CRF | BLSTM-softmax | BLSTM-CRF-TED) decode "$system+case" "$system" --case-rule true ;;
    esac
    case $system in # the most probable label of each slot, not the most probable sequence
      BLSTM-CRF | BLSTM-CRF-TED) decode "$system+slots" "$system" --viterbi false ;;
    esac
    case $system in # no mark is half as probable, as in Che et al. 2016, section 3.4
      *-TED*) decode "$system+half" "$system" --scale O=0.5,CAP=0.5,QUOTATION=0.5,CAP_QUOTATION=0.5 ;;
    esac
  done
fi

# Stage 7: all figures into RESULTS.tsv, and with the published ones beside them into RESULTS.md.
if runs 7; then
  rows=
  for system in $order; do rows+=" $system $system+slots $system+case $system+half"; done
  compare=()
  for pair in BLSTM-CRF,BLSTM-softmax BLSTM-CRF,BLSTM-CRF-words BLSTM-CRF,BLSTM-CRF-fixed BLSTM-CRF,BLSTM-CRF-1-layer \
    BLSTM-CRF,BLSTM-CRF+case BLSTM-CRF,BLSTM-CRF+slots BLSTM-CRF-TED-more,BLSTM-CRF-TED; do
    [ ! -d "exp/${pair%,*}/decode_test_mix/score" ] || [ ! -d "exp/${pair#*,}/decode_test_mix/score" ] ||
      compare+=(--compare "$pair")
  done
  columns="CAP CAP_COMMA CAP_PERIOD CAP_QUOTATION CAP_QUESTIONMARK COMMA PERIOD QUOTATION QUESTIONMARK O overall"
  columns+=" marks marks.COMMAS marks.PERIODS marks.QUESTIONMARKS case"
  punc results --title "Europarl, TED talks and CoNLL-2003" --command "./run.sh --corpus DIR --systems NAME" \
    --systems "$rows" --sets "$tests" --columns "$columns" --published conf/published.tsv \
    ${compare[@]+"${compare[@]}"} --tested "overall.F1 Err" --notes conf/notes.md exp RESULTS
  cat RESULTS.md
  ! compgen -G "exp/*/decode_test_mix" >/dev/null || local/clashes.sh exp/*/decode_test_mix
fi
