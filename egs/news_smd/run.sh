#!/usr/bin/env bash
# Newswire and short messages: character-level and word-level punctuation models (Gale & Parthasarathy 2017).
#
#   ./run.sh --corpus DIR                        # DIR has news_smd/, europarl/, iwslt_ted/ and podcasts/ (README.md)
#   ./run.sh --corpus DIR --experiments "1 2"    # the paper's tables 1 and 2; 4 means tables 4 and 5
#   ./run.sh --corpus DIR --systems "Delay Bi-LSTM" --seeds "1 2 3" --stage 4     # starts at stage 4
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # directory of the corpora
experiments="1 2 3 4" # 1 news and synthetic texts, 2 with in-domain data, 3 matched sentences, 4 matched longer texts
systems=              # names separated by spaces; all if empty
news=0                # sentences of news in the mixture; 0: all
synthetic=0           # informal texts in the mixture; 0: so many that 18.9 % of news and informal texts are questions
conversation=100000   # sentences of podcasts in the mixture, 18.9 % questions; 0: as many as the questions allow
train=400000          # maximum number of matched training sentences; in practice, the questions limit it
held_out=20000        # matched sentences each in dev and test, as in the paper
rates="0.001 0.002"   # learning rates to try on dev; others follow while the lowest or highest one is best
trial=4               # a trial reads one of this many equal parts of the system's text
penalties="c1=0.5,c2=0.01 c1=0,c2=0.3 c1=0,c2=1"  # weight penalties that Word-CRF tries on dev
min_count=2           # minimum count of a word in the neural word models; not tuned
threads=1             # threads of PyTorch
nj=2                  # number of processes for text; if --cmd is not run.pl, number of jobs
help_message="usage: $0 --corpus DIR [--experiments '1 2 3 4'] [--systems NAMES] [--seeds '1 2 3'] [--stage N] [--stop-stage N]"

. ./cmd.sh
. ./path.sh
. recipe.sh
. local/rows.sh

absolute corpus
choose experiments 1 2 3 4
choose_systems
decode_options=(--posteriors false)

# For each experiment: the name of its sets, and the page of its rows. conf/PAGE/ROW.conf configures a row; exp/PAGE has
# the models.
sets_of=("" mixture in_domain matched multi)
pages=("" mixture mixture matched multi)

# each COMMAND: runs COMMAND SYSTEM ROW SETS for each requested row.
each() {
  local number system row exp
  for number in $experiments; do
    exp=exp/${pages[number]}
    for system in $systems; do
      if [ "$number" = 2 ]; then row=$system+in-domain; else row=$system; fi
      [ ! -f "conf/${pages[number]}/$row.conf" ] || "$1" "$system" "$row" "${sets_of[number]}"
    done
  done
}

# Stage 0: check that the corpora are those listed in README.md.
if runs 0; then check_corpus.sh "$corpus" conf/corpus.txt; fi

# Stage 1: make the texts of all sets and their data directories. Each text is a separate stream.
if runs 1; then
  local/prepare_texts.sh "$corpus" "$news" "$synthetic" "$conversation" "$train" "$held_out"
  for text in data/raw/*.txt; do
    set=$(basename "$text" .txt)
    prepare_set "$set" --format prose --utt-words 0 --independent true "$text"
    validate "$set"
  done
fi

# Stage 2: count the texts, words and marks of the sets. There is no audio to align.
if runs 2; then
  local/count_sets.py data/{train,dev}_{mixture,in_domain} data/{test_messages,europarl} \
    data/{train,dev,test}_{matched,multi} | tee data/counts.md
fi

# Stage 3: make the vocabularies, and convert all texts to token numbers. The CRF needs all words.
if runs 3; then
  store() { make_store --train "train_$1" "${@:3}" "data/$2_$1" data/{train,dev}_"$1"; }
  for number in ${experiments/#2/1 2}; do store "${sets_of[number]}" store_char --token-type char; done
  if [[ $experiments = *1* ]]; then
    store mixture store_word --token-type word --min-count "$min_count"
    make_store --token-type form --vocab-size 1000000 data/store_form_mixture data/{train,dev}_mixture data/europarl
  fi
fi

# Stage 4: choose the learning rate or the penalties on dev, and train. There is no stage 5: these texts have no pauses.
if runs 4; then
  ! asked lmplz || install_lmplz.sh
  each train_row
fi

# Stage 6: punctuate the test sets and score them. Texts of several sentences are also scored without their last slot.
if runs 6; then each test_row; fi

# Stage 7: write the pages, with the published figures. The main page shows single sentences.
if runs 7; then
  for number in ${experiments/#1 2/1}; do
    exp=exp/${pages[number]} page=conf/results-${pages[number]}.conf
    [ ! -d "$exp" ] || collect_results "${page/-matched/}"  # otherwise no row of this page has been trained
  done
fi
