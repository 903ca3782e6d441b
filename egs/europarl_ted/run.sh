#!/usr/bin/env bash
# Europarl, TED talks and CoNLL-2003: punctuation and capitals in one model, BLSTM-CRF (Bansal 2019).
#
#   ./run.sh --corpus DIR                  # DIR has europarl/, iwslt_ted/ and conll2003/ (README.md)
#   ./run.sh --corpus DIR --vectors FILE   # GloVe's vectors, or others; without --vectors, gensim learns them
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # directory of the corpora
vectors=              # word vectors in GloVe's or word2vec's text format; if empty, stage 3 makes data/vectors.txt
systems=              # names separated by spaces; all of them if empty or `all`
min_count=2           # minimum count of a word in the vocabulary; not tuned
threads=2             # threads of PyTorch
nj=2                  # number of processes for text; if --cmd is not run.pl, number of jobs
help_message="usage: $0 --corpus DIR [--vectors FILE] [--systems NAMES] [--stage N] [--stop-stage N]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus vectors
own_vectors=$vectors vectors=${vectors:-data/vectors.txt}
choose_systems
marks=marks:O=O+CAP+QUOTATION+CAP_QUOTATION,COMMAS=COMMA+CAP_COMMA,PERIODS=PERIOD+CAP_PERIOD
marks+=,QUESTIONMARKS=QUESTIONMARK+CAP_QUESTIONMARK
case=case:O=O+QUOTATION+COMMA+PERIOD+QUESTIONMARK,CAPITAL=CAP+CAP_QUOTATION+CAP_COMMA+CAP_PERIOD+CAP_QUESTIONMARK
decode_options=(--context 64 --posteriors false --casing data/casing.txt --clitics conf/clitics.txt)
score_options=(--match streams --collapse "$marks" --collapse "$case")

# Stage 0: check that the corpora are those listed in README.md.
if runs 0; then check_corpus.sh "$corpus" conf/corpus.txt; fi

# Stage 1: make the texts of all sets and their data directories. Each debate, talk or article is a stream.
if runs 1; then local/prepare_texts.sh "$corpus"; fi

# Stage 2: learn how to write words with capitals after the first letter. There is no audio to align.
if runs 2; then [ -s data/casing.txt ] || learn_casing.py conf/labels.txt data/train_cased data/casing.txt; fi

# Stage 3: make vocabularies; convert texts to token numbers, in some stores with the letters of unknown words; learn vectors.
if runs 3; then
  words() { make_store --clitics conf/clitics.txt "$@"; }
  words --min-count "$min_count" --train train data/store data/train data/dev
  for kind in sentences ted; do words --vocab data/store/vocab data/store_$kind data/{train,dev}_$kind; done
  [ ! -d data/train_more ] || words --vocab data/store/vocab data/store_more data/train_more data/dev_ted
  spelled() { make_store --token-type spelled --min-count "$min_count" --train "$2" "data/$1" "data/$2" "data/$3"; }
  for kind in 1m all; do spelled store_$kind train_$kind dev; done
  spelled store_spelled train dev
  spelled store_quotes train_quotes dev_quotes
  spelled store_all_quotes_sentences {train_all,dev}_quotes_sentences
  texts=(data/train_all)
  [ ! -d data/train_extra ] || texts+=(data/train_extra)
  [ -n "$own_vectors" ] || [ -s "$vectors" ] || one_job data/log/vectors.log \
    train_vectors.py --dimensions 300 --window 1 "${texts[@]}" "$vectors"
fi
[ "$stop_stage" -lt 4 ] || [ -d data/store_more ] || leave_out more_ted "no more text of TED (README.md)"

# Stage 4: train the models. There is no stage 5, because these texts have no pauses.
if runs 4; then
  for system in $(in_stage 4); do
    train "conf/$system.conf" "data/${store_of[$system]}" "exp/$system" --vectors "$vectors" --threads "$threads"
  done
fi

# decode_sets SYSTEM SUFFIX [OPTION …]: punctuates and scores the test sets for the row SYSTEM+SUFFIX. Only the systems
# that are compared on single sentences punctuate them.
decode_sets() {
  local set out=exp/$1$2/decode sets="test_mix test_ref test_asr test2011 test2011asr test_europarl test_conll"
  case $1$2 in
    BLSTM-CRF) sets="test_mix_sentences $sets" ;;
    *-quotes-sentences) sets=test_mix_quotes_sentences ;;
    *-sentences) sets=test_mix_sentences ;;
    *-quotes) sets="test_mix_quotes test_conll_quotes" ;;
    *+*) sets=${sets% test_europarl test_conll} ;;
  esac
  for set in $sets; do
    decode "exp/$1" "data/$set" "${out}_$set" "${@:3}"
    score "data/${set/test_asr/test_ref}" "${out}_$set" "${out}_$set"
  done
  case $1 in *-TED*) make_file "${out}_test2011asr/score/near_errors.md" near_errors.py conf/labels.txt "$marks" \
    data/test2011 data/test2011asr "${out}_test2011asr" ;; esac  # slots next to correct words, and next to wrong words
}

# Stage 6: punctuate the test sets and score them: all labels, marks, and case. +case: a capital follows each sentence end; +slots:
# the best label of each slot, not the best sequence; +half: labels without a mark count half (Che et al. 2016, section 3.4).
if runs 6; then
  half=O=0.5,CAP=0.5,QUOTATION=0.5,CAP_QUOTATION=0.5
  for system in $systems; do
    decode_sets "$system" ""
    case $system in BLSTM-CRF | BLSTM-softmax | *-all | *-TED) decode_sets "$system" +case --case-rule true ;; esac
    case $system in BLSTM-CRF | BLSTM-CRF-TED) decode_sets "$system" +slots --viterbi false ;; esac
    case $system in *-TED*) decode_sets "$system" +half --scale $half ;; esac
  done
fi

# Stage 7: write the pages, with the published figures; show how often a small letter follows a sentence end.
if runs 7; then
  collect_results
  ! compgen -G "exp/*/decode_test_mix" >/dev/null || local/count_lowercase_starts.sh exp/*/decode_test_mix
fi
