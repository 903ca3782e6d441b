#!/usr/bin/env bash
# Runs all of punc on a small corpus in the repository, in a few minutes. Its speech is synthetic; its pauses are
# simulated from the marks.
#
#   ./run.sh                    # everything; finished work is not repeated
#   ./run.sh --stage 6          # starts at stage 6
#   ./run.sh --from-audio true  # makes the speech, its alignment and the ASR output again: flite, sox, pocketsphinx
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
text=corpus/text      # directory with the punctuated texts, NAME.txt
from_audio=false      # true: make the word times and the ASR output instead of using corpus/{ref,asr}.ctm.gz
systems=              # names separated by spaces; all if empty
min_count=2           # minimum count of a word in the vocabulary
threads=1             # threads of PyTorch
nj=2                  # number of processes for text; if --cmd is not run.pl, number of jobs
help_message="usage: $0 [--stage N] [--stop-stage N] [--systems NAMES] [--from-audio true]"

. ./cmd.sh
. ./path.sh
. recipe.sh

choose_systems
command -v lmplz >/dev/null || leave_out lmplz "no lmplz (utils/install_lmplz.sh builds it)"
sets="train rest tree dev test_ref"

# Stage 0: get the word times of the texts and the ASR output; split the texts into sets.
if runs 0; then
  ctms=corpus
  if $from_audio; then
    local/make_speech.sh --nj "$nj" --cmd "$cmd" "$text" data/speech data/from_audio
    ctms=data/from_audio
  fi
  mkdir -p data
  for name in ref asr; do
    newer data/$name.ctm $ctms/$name.ctm.gz || make_file data/$name.ctm gunzip -c $ctms/$name.ctm.gz
  done
  check_texts.py --times data/ref.ctm --asr data/asr.ctm "$text"
  split_texts.py --by texts "$text" data/split
fi

# Stage 1: make the data directories. The set train consists of the set tree, on which the tree of 4-gram+DT-p is
# trained, and the set rest, for its 4-gram.
if runs 1; then
  for set in $sets; do prepare_listed "$set" --format prose --keep-names true; done
fi

# Stage 2: find the pause after each word, and plot the pauses; project the labels of the test texts onto their ASR output.
if runs 2; then
  for set in $sets; do [ -f "data/$set/pauses.scp" ] || punc pauses "data/$set" data/ref.ctm; done
  # shellcheck disable=SC2086
  validate $sets
  newer exp/results/pauses.png data/train/pauses.scp ||
    punc plot-pauses --title "mini: pauses by label" data/train exp/results/pauses.png
  prepare_asr data/asr.ctm
fi

# Stage 3: make the vocabulary of the training set, and convert all sets to token numbers.
if runs 3; then
  make_store --min-count "$min_count" --train train data/store data/{train,rest,tree,dev}
fi

# Stage 4: train the models without pauses.
if runs 4; then
  for system in $(in_stage 4); do
    train "conf/$system.conf" "data/${store_of[$system]}" "exp/$system" --threads "$threads"
  done
fi

# Stage 5: train the second stages, without and with pauses, and the decision tree.
if runs 5; then
  for system in $(in_stage 5); do
    train "conf/$system.conf" "data/${store_of[$system]}" "exp/$system" --threads "$threads"
  done
fi

# Stage 6: punctuate the test sets, and score them.
if runs 6; then
  for system in $systems; do decode_and_score "exp/$system" "exp/$system" "test_ref test_asr"; done
fi

# Stage 7: write the pages. Write the ASR output of the test texts as subtitles and paragraphs; show the start of one.
if runs 7; then
  collect_results
  if [ -f exp/TA-LSTM-p/final.pt ]; then
    newer exp/transcripts/text exp/TA-LSTM-p/final.pt ||
      punctuate_ctm.sh --cmd "$cmd" data/test_asr_words data/test_asr.ctm exp/TA-LSTM-p exp/transcripts
    transcripts=(exp/transcripts/txt/*.txt)
    printf '\n%s, the beginning:\n\n' "${transcripts[0]}"
    head -n 12 "${transcripts[0]}"
  fi
  echo "The speech of this corpus is synthetic and its pauses are simulated from the marks, so its figures say nothing about real speech."
fi
