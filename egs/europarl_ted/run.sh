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

# Stage 1: the texts of all sets, and their data directories. A debate, a talk, an article is a stream.
if runs 1; then local/prepare_texts.sh "$corpus" "$europarl" $labels "$nj"; fi

# Stage 2: there is no audio to align; learn of all training text how words are written that have more capitals than the
# first letter's.
if runs 2; then [ -s data/casing.txt ] || local/learn_casing.py $labels data/train_cased data/casing.txt; fi

# Stage 3: the words of the training texts, without those that are too rare to learn, all texts as numbers, and vectors,
# of all of Europarl and more talks too.
if runs 3; then
  store() { punc make-store --token-type word --labels $labels --nj "$nj" "$@"; }
  store --min-count "$min_count" --train train data/store data/train data/dev
  store --vocab data/store/vocab data/store_sentences data/train_sentences data/dev_sentences
  store --vocab data/store/vocab data/store_ted data/train_ted data/dev_ted
  [ ! -d data/train_more ] || store --vocab data/store/vocab data/store_more data/train_more data/dev_ted
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
    local/near_errors.py $labels "$marks" data/test2011 data/test2011asr "exp/$row/decode_test2011asr" \
      >"exp/$row/decode_test2011asr/score/near_errors.md" ;;
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
  ! compgen -G "exp/*/decode_test_mix" >/dev/null || local/count_lowercase_starts.sh exp/*/decode_test_mix
fi
