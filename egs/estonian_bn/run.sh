#!/usr/bin/env bash
# Estonian broadcast news: two-stage training with real pauses (Tilk & Alumäe 2015), on reference transcripts.
#
#   ./run.sh --corpus DIR             # DIR has raw_data/ and the texts of the first stage (README.md)
#   ./run.sh --corpus DIR --own DIR2  # your own broadcasts: DIR2/train, DIR2/dev, DIR2/test (README.md)
#   ./run.sh --stage 6                # starts at stage 6; finished work is not repeated
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # directory of the corpus
own=                  # your own transcripts and word times: a directory with train, dev and test (README.md)
lowercase=true        # false: keep capitals
systems=              # names separated by spaces; all of them if empty or `all`
min_count=5           # minimum count of a word in the first stage's vocabulary; chosen on dev
own_min_count=10      # minimum count for T-LSTM-p, which has no first stage
threads=1             # threads of PyTorch; 1 is nearly as fast as 2, and is not slowed down by other jobs
nj=2                  # number of processes for text; if --cmd is not run.pl, number of jobs
help_message="usage: $0 --corpus DIR [--own DIR] [--lowercase true|false] [--systems NAMES] [--stage N] [--stop-stage N]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus own
choose_systems
prose=(--format prose --document-prefix '#doc' --lowercase "$lowercase")

# Stage 0: cut the corpus into documents and news items, and hold out some of them as the dev set.
if runs 0; then
  [ -f data/raw/pauses.test.txt ] || local/prepare_corpus.py "$corpus" data/raw
fi

# Stage 1: make the data directories: each source of text, all sources together, and the sets with pauses.
if runs 1; then
  for source in bn edt estner fiction; do prepare_set "$source" "${prose[@]}" "data/raw/$source.train.txt"; done
  for set in train dev; do prepare_set text_$set "${prose[@]}" data/raw/{bn,edt,estner,fiction}.$set.txt; done
  for set in train dev test; do
    if [ -z "$own" ]; then
      prepare_set $set --format sil --document-prefix '#doc' --lowercase "$lowercase" "data/raw/pauses.$set.txt"
    elif [ ! -f "data/$set/text" ]; then
      local/own_data.py --labels $label_file --lowercase "$lowercase" "$own/$set" "data/$set"
    fi
  done
fi

# Stage 2: find the pauses of your own data in a CTM or TextGrids (the corpus has them in its text). Plot the pauses.
if runs 2; then
  for set in train dev test; do
    [ -z "$own" ] || [ -f data/$set/pauses.scp ] || punc pauses data/$set "$(local/own_data.py --times "$own/$set")"
  done
  validate train dev test
  newer exp/results/pauses.png data/train/pauses.scp ||
    punc plot-pauses --title "Estonian broadcast news: pauses by label" data/train exp/results/pauses.png
fi

# Stage 3: make the first stage's vocabulary and convert all sets to token numbers. Do the same for the sets with pauses.
if runs 3; then
  make_store --min-count "$min_count" --train text_train data/store_text \
    data/text_train data/text_dev data/{bn,edt,estner,fiction} data/train data/dev
  make_store --min-count "$own_min_count" --train train data/store_pauses data/train data/dev
fi

# Stage 4: train the models without pauses.
if runs 4; then
  ! asked lmplz || install_lmplz.sh
  for system in $(in_stage 4); do
    train "conf/$system.conf" "data/${store_of[$system]}" "exp/$system" --threads "$threads"
  done
fi

# Stage 5: train on the set with pauses: models without a first stage, and second stages on the text models.
if runs 5; then
  for system in $(in_stage 5); do
    train "conf/$system.conf" "data/${store_of[$system]}" "exp/$system" --threads "$threads"
  done
fi

# Stage 6: punctuate and score the test set (one broadcast), and the dev set, on which options were chosen.
if runs 6; then
  for system in $systems; do decode_and_score "exp/$system" "exp/$system" "dev test"; done
fi

# Stage 7: plot how TA-LSTM-p uses a pause, and write the pages, with the published figures.
if runs 7; then
  plot_posteriors.sh exp/TA-LSTM-p/decode_test data/test exp/4-gram+DT-p exp/results/posteriors.png
  collect_results
fi
