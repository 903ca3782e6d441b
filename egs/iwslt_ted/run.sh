#!/usr/bin/env bash
# IWSLT 2011 TED talks: T-LSTM, window models, a word CRF and fine-tuned encoders, on reference and ASR transcripts.
#   ./run.sh                     # downloads the corpus first; --corpus DIR: a local copy (README.md)
#   ./run.sh --systems ""        # all systems, in hours: needs gensim (without --vectors) and python-crfsuite
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=               # data/corpus, downloaded, if empty
asr_pairs=            # training talks and their ASR output (README.md): systems with noise learn errors from them
vectors=              # word vectors in GloVe's or word2vec's text format; data/vectors.txt, made in stage 3, if empty
europarl=             # more text for word vectors, besides the corpus's train_extra: Europarl in English
encoder=              # the Hugging Face directory of all-MiniLM-L6-v2; without it no MiniLM
systems=T-LSTM        # names with blanks between; all if empty
min_count=5           # how often a word of the vocabulary occurs at least; chosen on dev2012
threads=2             # of PyTorch
nj=2                  # processes for text; with a --cmd that is not run.pl, jobs
help_message="usage: $0 [--corpus DIR] [--asr-pairs DIR] [--vectors FILE] [--europarl FILE] [--encoder DIR] …"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus asr_pairs vectors europarl encoder
own_vectors=$vectors corpus=${corpus:-data/corpus} vectors=${vectors:-data/vectors.txt}
choose systems {T-LSTM,BLSTM-CRF}{,-noise} T-LSTM-{fluent,talks{,-noise,-fluent,-asr}} {DNN,CNN-{1,2}}{,-512} CRF \
  MiniLM{,-{noise{,-half},fluent-half,TED}} DNN-256{,-{float32,squared,eq1,2M,7M,m{7,15,{11,21}{,-left}}}}
[ -n "$asr_pairs" ] || leave_out "no --asr-pairs (README.md)" {T-LSTM,BLSTM-CRF,MiniLM}-noise \
  T-LSTM-{fluent,talks{,-noise,-fluent,-asr}} MiniLM-{noise,fluent}-half
[ -n "$encoder" ] || leave_out "no --encoder (README.md)" MiniLM{,-{noise{,-half},fluent-half,TED}}
case $systems in *NN*) with_vectors=true ;; *) with_vectors=false ;; esac
score_options=(--collapse 3-class:FULLSTOP=PERIOD+QUESTION)

# Stage 0: get the corpus, and check that it is the one that the published figures are about.
if runs 0 && [ "$corpus" = data/corpus ]; then local/download_data.sh "$corpus"; fi
if runs 0; then check_corpus.sh "$corpus" conf/corpus.txt; fi

# Stage 1: make the data directories. Each set is one column of words, so one stream. Word vectors learn from more text.
if runs 1; then
  for set in train2012 dev2012; do prepare_set $set --format lrec "$corpus/$set"; done
  for kind in ref asr; do prepare_set test_$kind --format lrec "$corpus/test2011${kind#ref}"; done
  validate train2012 dev2012 test_ref test_asr
  [ -z "$asr_pairs" ] || prepare_set dev_asr --format lrec "$asr_pairs/dev2012.asr.lrec.txt"
  if $with_vectors && [ -z "$own_vectors" ]; then local/prepare_more.sh $label_file "$corpus" "$europarl"; fi
fi

# Stage 2: check that our label projection gives the published labels of the ASR output; learn a recogniser's errors.
if runs 2; then
  [ -f data/projection.txt ] || make_file data/projection.txt local/check_projection.py "$corpus" $label_file
  cat data/projection.txt
  [[ $systems != *-@(noise|fluent|talks)* ]] || local/learn_confusions.sh "$asr_pairs" $label_file data/confusions.txt
fi

# Stage 3: make the vocabularies, and write texts as numbers. The CRF has all words, window models those with a vector.
if runs 3; then
  store() { make_store --token-type word --clitics conf/clitics.txt "$@" data/train2012 data/dev2012; }
  store --min-count "$min_count" --train train2012 data/store_word
  ! asked CRF || store data/store_all
  if $with_vectors; then
    [ -n "$own_vectors" ] || local/learn_vectors.sh $label_file "$vectors"
    for n in 2 7; do ! asked DNN-256-${n}M || local/learn_vectors.sh $label_file data/vectors_${n}M.txt $n; done
    local/vectors_vocab.sh "$vectors" data/train2012/text data/vocab_vectors
    store --vocab data/vocab_vectors data/store_vectors
  fi
  case $systems in *talks*) local/make_talks.sh $label_file ;; esac
  case $systems in *MiniLM*) local/make_pieces.sh "$encoder" $label_file "$corpus" "$asr_pairs" ;; esac
fi

# Stage 4: train the models. There is no stage 5, because these texts have no pauses.
if runs 4; then
  for system in $systems; do
    case $system in
      T-LSTM-talks*) options=(store_talks) ;;
      T-LSTM* | BLSTM*) options=(store_word) ;;  # confs of systems with noise name the confusions
      CRF) options=(store_all) ;;
      MiniLM*) options=(store_encoder --encoder "$encoder") ;;
      *-[27]M) options=(store_vectors) ;;  # their confs name their vectors
      *) options=(store_vectors --vectors "$vectors") ;;
    esac
    train "$system" "${options[@]}" --threads "$threads"
  done
fi

# Stage 6: punctuate and score. DNN-A, CNN-2A: half of P(O) (Che et al. 2016, 3.3); other -A: tuned on dev.
if runs 6; then
  for system in $systems; do
    decode_and_score "$system" test_ref test_asr
    case $system in
      T-LSTM* | BLSTM* | MiniLM*) [ -z "$asr_pairs" ] || tuned_row "$system-A" "$system" dev_asr "test_ref test_asr" ;;
      DNN | DNN-512) decode_row "${system/DNN/DNN-A}" "exp/$system" "test_ref test_asr" --scale O=0.5 ;;
      CNN-2 | CNN-2-512) decode_row "${system/CNN-2/CNN-2A}" "exp/$system" "test_ref test_asr" --scale O=0.5 ;;
    esac
  done
  local/near_errors.sh $label_file exp/*/decode_test_asr
fi

# Stage 7: write the pages, with the published figures; those of encoders and of ASR noise are pages of their own.
case $systems in *talks*) page=-talks ;; *-noise | *-fluent | *-half) page=-noise ;; MiniLM*) page=-encoder ;; *) page= ;; esac
if runs 7; then collect_results "conf/results$page.conf"; fi
