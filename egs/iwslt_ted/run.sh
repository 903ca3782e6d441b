#!/usr/bin/env bash
# IWSLT 2011 TED talks: T-LSTM, window models, a word CRF and fine-tuned encoders, on reference and ASR transcripts.
#   ./run.sh                     # downloads the corpus first; --corpus DIR: a local copy (README.md)
#   ./run.sh --systems ""        # all systems; takes hours, and needs gensim (without --vectors) and python-crfsuite
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=               # directory of the corpus; if empty, it is downloaded to data/corpus
asr_pairs=            # training talks and their ASR output (README.md), from which systems with noise learn errors
vectors=              # word vectors in GloVe's or word2vec's text format; if empty, stage 3 makes data/vectors.txt
europarl=             # English Europarl: more text for word vectors, in addition to the corpus's train_extra
encoder=              # the Hugging Face directory of all-MiniLM-L6-v2; if empty, MiniLM systems are left out
mpnet=                # the Hugging Face directory of all-mpnet-base-v2; if empty, MPNet systems are left out
systems=T-LSTM        # names separated by spaces; all if empty
min_count=5           # minimum count of a word in the vocabulary; chosen on dev2012
threads=2             # threads of PyTorch
nj=2                  # number of processes for text; if --cmd is not run.pl, number of jobs
help_message="usage: $0 [--corpus DIR] [--asr-pairs DIR] [--vectors FILE] [--europarl FILE] [--encoder DIR] …"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus asr_pairs vectors europarl encoder mpnet
own_vectors=$vectors corpus=${corpus:-data/corpus} vectors=${vectors:-data/vectors.txt}
choose_systems
for need in asr_pairs encoder mpnet; do [ -n "${!need}" ] || leave_out $need "no --${need/_/-} (README.md)"; done
score_options=(--collapse 3-class:FULLSTOP=PERIOD+QUESTION)

# Stage 0: get the corpus, and check that it is the one used for the published figures.
if runs 0; then
  [ "$corpus" != data/corpus ] || local/download_data.sh "$corpus"
  check_corpus.sh "$corpus" conf/corpus.txt
fi

# Stage 1: make the data directories. Each set is a single stream. Word vectors use more text.
if runs 1; then
  for set in train2012 dev2012; do prepare_set $set --format lrec "$corpus/$set"; done
  prepare_set test_ref --format lrec "$corpus/test2011"
  prepare_set test_asr --format lrec "$corpus/test2011asr"
  validate train2012 dev2012 test_ref test_asr
  [ -z "$asr_pairs" ] || prepare_set dev_asr --format lrec "$asr_pairs/dev2012.asr.lrec.txt"
  if asked store_vectors && [ -z "$own_vectors" ]; then local/prepare_more.sh "$corpus" "$europarl"; fi
fi

# Stage 2: compare our label projection with the published labels of the ASR output; learn the recogniser's errors.
if runs 2; then
  [ -f data/projection.txt ] || make_file data/projection.txt local/check_projection.py "$corpus" conf/labels.txt
  cat data/projection.txt
  ! asked asr_pairs || learn_confusions.sh "$asr_pairs" conf/labels.txt data/confusions.txt
fi

# Stage 3: make the vocabularies, and convert texts to token numbers. The CRF's vocabulary has all words of train2012; the
# vocabulary of window models also has all words with a vector.
if runs 3; then
  words() { make_store --token-type word --clitics conf/clitics.txt "$@"; }
  words --min-count "$min_count" --train train2012 data/store_word data/train2012 data/dev2012
  ! asked store_all || words data/store_all data/train2012 data/dev2012
  ! asked store_talks || local/make_talks.sh
  ! asked store_encoder || local/make_pieces.sh "$encoder" "$corpus" "$asr_pairs" data/store_encoder
  ! asked store_mpnet || local/make_pieces.sh "$mpnet" "$corpus" "$asr_pairs" data/store_mpnet
  if asked store_vectors; then
    [ -n "$own_vectors" ] || local/learn_vectors.sh "$vectors"
    for n in 2 7; do ! asked "DNN-256-${n}M" || local/learn_vectors.sh "data/vectors_${n}M.txt" $n; done
    local/vectors_vocab.sh "$vectors" data/train2012/text data/vocab_vectors
    words --vocab data/vocab_vectors data/store_vectors data/train2012 data/dev2012
  fi
fi

# Stage 4: train the models. There is no stage 5, because these texts have no pauses.
if runs 4; then
  for system in $(in_stage 4); do
    options=(--threads "$threads")
    case ${needs_of[$system]} in
      *vectors*) options+=(--vectors "$vectors") ;;
      *encoder*) options+=(--encoder "$encoder") ;;
      *mpnet*) options+=(--encoder "$mpnet") ;;
    esac
    train "conf/$system.conf" "data/${store_of[$system]}" "exp/$system" "${options[@]}"
  done
fi

# Stage 6: punctuate and score. DNN-A and CNN-2A halve P(O) (Che et al. 2016, section 3.3); other rows with -A use
# the scale that is best on dev_asr.
if runs 6; then
  for system in $systems; do
    decode_and_score "exp/$system" "exp/$system" "test_ref test_asr"
    case $system in
      DNN | DNN-512) decode_and_score "exp/$system" "exp/${system/DNN/DNN-A}" "test_ref test_asr" --scale O=0.5 ;;
      CNN-2) decode_and_score exp/CNN-2 exp/CNN-2A "test_ref test_asr" --scale O=0.5 ;;
      T-LSTM* | BLSTM* | MiniLM*)
        [ -n "$asr_pairs" ] || continue
        tune_scale "exp/$system" dev_asr
        decode_and_score "exp/$system" "exp/$system-A" "test_ref test_asr" --scale "$(cat "exp/$system/scale")" ;;
    esac
  done
  for decoded in exp/*/decode_test_asr; do  # score slots near recognition errors, and other slots
    make_file "$decoded/near_errors.md" near_errors.py conf/labels.txt "" data/test_ref data/test_asr "$decoded"
  done
fi

# Stage 7: write the pages, with the published figures; encoders and ASR noise have their own pages.
if runs 7; then
  case $systems in *talks*) page=-talks ;; *-noise | *-fluent | *-half) page=-noise ;; MiniLM* | MPNet*) page=-encoder ;; *) page= ;; esac
  collect_results "conf/results$page.conf"
fi
