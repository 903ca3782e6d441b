#!/usr/bin/env bash
# The whole of punc on a small corpus that is in the repository: some minutes, no corpus to get, no audio tools.
#
#   ./run.sh                    # everything; what is finished is not done again
#   ./run.sh --stage 6          # from there on
#   ./run.sh --from-audio true  # makes speech, alignment and recognition again: flite, sox, pocketsphinx
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
text=corpus/text      # NAME.txt: the punctuated texts
from_audio=false      # make the word times again, rather than take those of corpus/{ref,asr}.ctm.gz
systems="T-LSTM TA-LSTM TA-LSTM-p 4-gram 4-gram+DT-p"
min_count=2           # occurrences of a word that the vocabulary has
threads=1             # of PyTorch
nj=2                  # processes for text
results=RESULTS       # .md and .tsv
help_message="usage: $0 [--stage N] [--stop-stage N] [--systems NAMES] [--from-audio true]"

. ./cmd.sh
. ./path.sh
. parse_options.sh
. recipe.sh

labels=conf/labels.txt
tests="test_ref test_asr"
sets="train rest tree dev test_ref"

if asked 4-gram && ! command -v lmplz >/dev/null; then
  echo "$0: no lmplz (utils/install_lmplz.sh builds it), so no 4-gram and no 4-gram+DT-p" >&2
  systems=${systems/ 4-gram 4-gram+DT-p/}
fi

# Stage 0: the texts' word times, by forced alignment, and what a recogniser heard; which text is in which set: of every
# ten, in the order of their names, the first is for the test and the second for development.
if runs 0; then
  times=corpus
  if $from_audio; then
    local/make_speech.sh --nj "$nj" --cmd "$cmd" "$text" data/speech data/from_audio
    times=data/from_audio
  fi
  mkdir -p data
  for kind in ref asr; do
    [ data/$kind.ctm -nt $times/$kind.ctm.gz ] || { gunzip -c $times/$kind.ctm.gz >data/$kind.ctm.new &&
      mv data/$kind.ctm.new data/$kind.ctm; }
  done
  check_texts.py --split data/split --times data/ref.ctm --asr data/asr.ctm "$text"
fi

# Stage 1: data directories. 4-gram+DT-p has its tree from every fifth text of the training set, its 4-gram from the rest.
if runs 1; then
  for set in $sets; do
    mapfile -t files <"data/split/$set"
    [ -f "data/$set/punct" ] ||
      punc prepare --format prose --keep-names true --labels $labels --nj "$nj" "${files[@]}" "data/$set"
  done
fi

# Stage 2: the pause after each word; the recogniser's words for the test texts, with the labels of these; and a picture.
if runs 2; then
  for set in $sets; do
    [ -f "data/$set/pauses.scp" ] || punc pauses "data/$set" data/ref.ctm
    punc validate --labels $labels "data/$set"
  done
  [ -f data/test_asr/punct ] || {
    awk 'NR == FNR { test[$1]; next } $1 in test' data/test_ref/spk2utt data/asr.ctm >data/test_asr.ctm
    punc prepare --format ctm data/test_asr.ctm data/test_asr_words
    punc project --labels $labels data/test_ref data/test_asr_words data/test_asr
  }
  [ pauses.png -nt data/train/pauses.scp ] ||
    punc plot-pauses --title "mini: pauses by label" data/train pauses.png
fi

# Stage 3: the vocabulary of the training set, and all of it as numbers.
if runs 3; then
  punc make-store --labels $labels --min-count "$min_count" --train train --nj "$nj" data/store \
    data/{train,rest,tree,dev}
fi

train() { train_model "exp/$1" data/store "conf/$1.conf" --threads "$threads"; }

# Stage 4: the models of text, which those of stage 5 build on.
if runs 4; then
  train T-LSTM
  ! asked 4-gram || train 4-gram
  ! asked 4-gram+DT-p || train 4-gram-rest
fi

# Stage 5: the rest: the second stage, without and with pauses, and the decision tree.
if runs 5; then for system in $systems; do train "$system"; done; fi

# Stage 6: punctuate the test sets, and score them.
if runs 6; then
  for system in $systems; do
    for set in $tests; do
      decode=exp/$system/decode_$set
      [ "$decode/score/figures.tsv" -nt "exp/$system/final.pt" ] && continue
      $cmd "exp/$system/log/decode_$set.log" punc punctuate --nj "$nj" "exp/$system" "data/$set" "$decode"
      $cmd "exp/$system/log/score_$set.log" punc score --labels $labels "data/$set" "$decode" "$decode/score"
    done
  done
fi

# Stage 7: all figures into RESULTS.tsv and RESULTS.md; a recogniser's words, punctuated, to read.
if runs 7; then
  compare=()
  for other in TA-LSTM 4-gram+DT-p; do
    ! asked TA-LSTM-p || ! asked $other || compare+=(--compare "TA-LSTM-p,$other")
  done
  punc results --title "The mini corpus" --command "./run.sh" --systems "$systems" --sets "$tests" \
    --columns "COMMA PERIOD QUESTION overall Err SER" "${compare[@]}" \
    --notes conf/notes.md exp "$results"

  # The calls and talks of the test as they were heard, with punctuation: text, subtitles, paragraphs to be read.
  [ exp/transcripts/text -nt exp/TA-LSTM-p/final.pt ] ||
    punctuate_ctm.sh --cmd "$cmd" data/test_asr_words data/test_asr.ctm exp/TA-LSTM-p exp/transcripts
  cat "$results.md"
  transcripts=(exp/transcripts/txt/*.txt)
  head -n 12 "${transcripts[0]}"
fi
