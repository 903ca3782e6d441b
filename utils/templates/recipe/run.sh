#!/usr/bin/env bash
# @NAME@: from punctuated texts, and word times or recordings if they exist, to exp/RESULTS.md.
#
#   ./run.sh                    # everything; finished work is not repeated
#   ./run.sh --stage 6          # starts at stage 6
#   ./run.sh --systems T-LSTM   # one row of the results, or several separated by spaces
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
# EDIT: text: a folder of punctuated texts, NAME.txt. times: the times of their words, a CTM, or a folder of CTMs,
# TextGrids or Gentle's JSON. audio: instead of times, recordings NAME.wav, which stage 2 aligns with the options in
# conf/align.conf. asr: ASR output for the texts, a CTM or a folder of CTMs. speakers: the speakers of each text, lines
# TEXT SPEAKER …, or utt2spk. NAME is the id in all of them. All except text may be empty.
text=@TEXT@
times=@TIMES@
audio=@AUDIO@
asr=@ASR@
speakers=@SPEAKERS@
# EDIT: the kinds of text to remove because nobody said them. punc prepare counts and shows other text that looks
# unspoken: urls, round-brackets, stars and headings. See punc prepare --help.
clean=entities,tags,square-brackets,curly-brackets,timestamps,speaker-labels
systems=              # names separated by spaces; all if empty
min_count=2           # EDIT: minimum count of a word in the vocabulary
threads=1             # threads of PyTorch
nj=2                  # number of processes for text; if --cmd is not run.pl, number of jobs
help_message="usage: $0 [--text DIR] [--times TIMES | --audio DIR] [--asr CTM-OR-DIR] [--systems NAMES] [--stage N]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute text times audio asr speakers
choose_systems
[ -n "$times$audio" ] || leave_out times "no word times"
command -v lmplz >/dev/null || leave_out lmplz "no lmplz (utils/install_lmplz.sh builds it)"
sets="train rest tree dev test_ref"

# Stage 0: check the texts, the word times, the recordings and the ASR output. Split the texts into sets, so that no
# speaker is in two sets: a tenth of the words each for test and dev, the rest for training. data/split has the counts,
# and a list for each set, which you may edit. EDIT: --leave-out 5 removes sentences of five or more words from training
# if another set has them.
if runs 0; then
  check_texts.py ${times:+--times "$times"} ${audio:+--audio "$audio"} ${asr:+--asr "$asr"} "$text"
  split_texts.py --nj "$nj" ${speakers:+--speakers "$speakers"} "$text" data/split
fi

# Stage 1: make the data directories. EDIT: conf/abbreviations.txt has English words whose periods are not marks; for
# other texts, punc abbreviations can learn such words. The set train consists of the set tree, on which the tree of
# 4-gram+DT-p is trained, and the set rest, for its 4-gram.
if runs 1; then
  for set in $sets; do
    prepare_listed "$set" --format prose --keep-names true --abbreviations conf/abbreviations.txt --clean "$clean" \
      --speaker '#speaker (.*)'
  done
fi

# Stage 2: align the recordings, find the pause after each word, and plot labels and pauses. Project the labels of the
# test texts onto their ASR output.
if runs 2; then
  if [ -n "$audio" ] && [ -z "$times" ]; then
    times=data/align/times
    [ -f data/test_ref/pauses.scp ] ||
      align_audio.sh --config conf/align.conf --nj "$nj" --cmd "$cmd" "$audio" data/align data/{train,dev,test_ref}
  fi
  for set in $sets; do [ -z "$times" ] || [ -f "data/$set/pauses.scp" ] || punc pauses "data/$set" "$times"; done
  # shellcheck disable=SC2086
  validate $sets
  newer exp/results/labels.png data/{train,dev,test_ref}/punct ||
    punc plot-labels --labels conf/labels.txt data/{train,dev,test_ref} exp/results/labels.png
  [ -z "$times" ] || newer exp/results/pauses.png data/train/pauses.scp ||
    punc plot-pauses --title "@NAME@: pauses by label" data/train exp/results/pauses.png
  [ -z "$asr" ] || prepare_asr "$asr"
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
  for system in $systems; do decode_and_score "exp/$system" "exp/$system" "test_ref${asr:+ test_asr}"; done
fi

# Stage 7: write the pages.
if runs 7; then collect_results; fi
