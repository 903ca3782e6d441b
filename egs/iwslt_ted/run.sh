#!/usr/bin/env bash
# IWSLT 2011 TED talks: T-LSTM (Tilk & Alumäe 2015), DNN, CNN-1 and CNN-2 on windows of word vectors (Che et al. 2016), and
# a word CRF, trained on text, scored on reference and ASR transcripts.
#
#   ./run.sh                     # downloads the corpus first
#   ./run.sh --corpus DIR        # a local copy: train2012 dev2012 test2011 test2011asr, and the ASR source (README.md)
#   ./run.sh --vectors FILE      # GloVe's or others; else word2vec learns them from train2012, and from DIR/train_extra
#                                # and --europarl FILE where there
#   ./run.sh --systems ""        # the others too: they take hours; gensim where no --vectors are given, python-crfsuite
#   ./run.sh --stage 6           # from there on; what is finished is not done again
set -euo pipefail
from=$PWD
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=               # data/corpus, downloaded, if empty
vectors=              # word vectors in GloVe's or word2vec's text format; data/vectors.txt, made in stage 3, if empty
europarl=             # more text for vectors: Europarl in English, a text with lines of #doc and #speaker
systems=T-LSTM        # names of conf/*.conf with blanks between; all if empty
min_count=5           # occurrences of a word that the vocabulary has; chosen on dev2012, see RESULTS.md
nj=2                  # processes for text
help_message="usage: $0 [--corpus DIR] [--vectors FILE] [--europarl FILE] [--stage N] [--stop-stage N]
  [--systems NAMES] [--cmd run.pl] [--nj N]"

. ./cmd.sh
. ./path.sh
. parse_options.sh
. recipe.sh

# A user's path is relative to where the user is.
for path in corpus vectors europarl; do
  case ${!path} in
    '' | /*) ;;
    *) printf -v "$path" %s "$from/${!path}" ;;
  esac
done
[ -n "$corpus" ] || corpus=data/corpus
own_vectors=$vectors
[ -n "$vectors" ] || vectors=data/vectors.txt
[ -n "$systems" ] || systems=$(basename -a -s .conf conf/*.conf)
labels=conf/labels.txt
tests="test_ref test_asr"
is_window_model() { grep -q '^--model=window_' "conf/$1.conf"; }
vectors_of() { sed -n 's/^--vectors=//p' "conf/$1.conf"; } # data/vectors_<million words>M.txt, or nothing
with_vectors=         # whether one of the systems is a window model
with_crf=
for system in $systems; do
  ! is_window_model "$system" || with_vectors=true
  [ "$system" != CRF ] || with_crf=true
done

# Stage 0: get the corpus, and see that it is the one that the published figures are about.
if runs 0; then
  [ "$corpus" != data/corpus ] || local/download_data.sh "$corpus"
  check_corpus.sh "$corpus" conf/corpus.txt
fi

# Stage 1: data directories. Every set is one long column of words, so one stream.
if runs 1; then
  while read -r raw set; do
    [ -f "data/$set/punct" ] || punc prepare --format lrec --labels $labels --nj "$nj" "$corpus/$raw" "data/$set"
    punc validate --labels $labels "data/$set"
  done <<EOF
train2012    train2012
dev2012      dev2012
test2011     test_ref
test2011asr  test_asr
EOF
  # Text that nothing but word vectors learns from.
  if [ -n "$with_vectors" ] && [ -z "$own_vectors" ]; then
    [ ! -f "$corpus/train_extra" ] || [ -f data/train_extra/punct ] ||
      punc prepare --format lrec --labels $labels --nj "$nj" "$corpus/train_extra" data/train_extra
    [ -z "$europarl" ] || [ -f data/europarl/punct ] ||
      punc prepare --format prose --document-prefix '#doc' --skip-prefix '#speaker' --clitics conf/clitics.txt --labels $labels \
        --nj "$nj" "$europarl" data/europarl
  fi
fi

# Stage 2: there is no audio to align; see that our projection of labels onto ASR words gives the published test set.
if runs 2; then
  [ -f data/projection.txt ] || {
    local/check_projection.py "$corpus" $labels >data/projection.txt.new
    mv data/projection.txt.new data/projection.txt
  }
  cat data/projection.txt
fi

# train_vectors FILE [option …]: learn vectors from the texts, if the file is not there.
train_vectors() {
  [ -s "$1" ] || $cmd "data/log/$(basename "$1" .txt).log" \
    python local/train_vectors.py --labels $labels --window 1 "${@:2}" "${texts[@]}" "$1"
}

# Stage 3: the vocabulary of the training text, without the words that are too rare to learn, and all of it as numbers.
# Vectors are not learned from this text: window models know every word that has one.
if runs 3; then
  punc make-store --token-type word --min-count $min_count --labels $labels --train train2012 --nj "$nj" \
    data/store_word data/train2012 data/dev2012
  [ -z "$with_crf" ] || # it leaves out rare features by itself
    punc make-store --token-type word --labels $labels --nj "$nj" data/store_all data/train2012 data/dev2012
  if [ -n "$with_vectors" ]; then
    texts=(data/train2012)
    for set in train_extra europarl; do [ ! -f "data/$set/punct" ] || texts+=("data/$set"); done
    [ -n "$own_vectors" ] || train_vectors "$vectors"
    for system in $systems; do # some have vectors of their own, learned from the first words of the text
      file=$(vectors_of "$system")
      [ -z "$file" ] || train_vectors "$file" --words "$(tr -dc 0-9 <<<"$file")000000"
    done
    local/vectors_vocab.sh "$vectors" data/train2012/text data/vocab_vectors
    punc make-store --token-type word --vocab data/vocab_vectors --labels $labels --nj "$nj" \
      data/store_vectors data/train2012 data/dev2012
  fi
fi

# Stage 4: train the text models.
if runs 4; then
  for system in $systems; do
    store=data/store_word options=()
    if is_window_model "$system"; then
      store=data/store_vectors
      [ -n "$(vectors_of "$system")" ] || options=(--vectors "$vectors")
    fi
    [ "$system" != CRF ] || store=data/store_all
    train_model "exp/$system" $store "conf/$system.conf" "${options[@]}" --train-set train2012 --dev-set dev2012
  done
fi

# Stage 5: models with pauses; these texts have none.

# Stage 6: punctuate the test sets, the reference words and the ASR's, and score them.
# decode ROW SYSTEM [option …]: a row of the tables, made by a system with these options of punc punctuate.
decode() {
  local row=$1 system=$2 set out
  for set in $tests; do
    out=exp/$row/decode_$set
    [ "$out/punct" -nt "exp/$system/final.pt" ] ||
      $cmd "exp/$row/log/decode_$set.log" punc punctuate "${@:3}" "exp/$system" "data/$set" "$out"
    $cmd "exp/$row/log/score_$set.log" \
      punc score --labels $labels --collapse 3-class:FULLSTOP=PERIOD+QUESTION "data/$set" "$out" "$out/score"
  done
}
if runs 6; then
  for system in $systems; do
    decode "$system" "$system"
    case $system in # the posterior of O halved (Che et al. 2016, section 3.3)
      DNN | DNN-512) decode "${system/DNN/DNN-A}" "$system" --scale O=0.5 ;;
      CNN-2 | CNN-2-512) decode "${system/CNN-2/CNN-2A}" "$system" --scale O=0.5 ;;
    esac
  done
fi

# Stage 7: all figures into RESULTS.tsv, and with the published ones beside them into RESULTS.md.
if runs 7; then
  rows="T-LSTM DNN DNN-A CNN-1 CNN-2 CNN-2A DNN-512 DNN-A-512 CNN-1-512 CNN-2-512 CNN-2A-512"
  rows+=" DNN-256 DNN-256-float32 DNN-256-squared DNN-256-eq1 DNN-256-2M DNN-256-7M DNN-256-m7 DNN-256-m11"
  rows+=" DNN-256-m15 DNN-256-m21 DNN-256-m11-left DNN-256-m21-left CRF"
  punc results --title "IWSLT 2011 TED talks" --command "./run.sh --corpus DIR --systems NAME --europarl FILE" \
    --published conf/published.tsv --systems "$rows" \
    --sets "$tests" --columns "COMMA PERIOD QUESTION overall 3-class 2-class Err SER" --notes conf/notes.md exp RESULTS
  cat RESULTS.md
fi
