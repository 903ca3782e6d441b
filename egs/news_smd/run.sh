#!/usr/bin/env bash
# Newswire and short messages: character-level models for punctuation, and word-level ones (Gale & Parthasarathy 2017).
#
#   ./run.sh --corpus DIR                                      # DIR has news_smd/, europarl/ and iwslt_ted/ (README.md)
#   ./run.sh --corpus DIR --experiments "1 2"                  # of the paper's tables; 4 is tables 4 and 5
#   ./run.sh --corpus DIR --systems "Delay Bi-LSTM" --epochs 2 --stage 4   # from stage 4 on
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # where the corpora are
experiments="1 2 3 4" # 1 news and synthetic texts, 2 with in-domain data, 3 matched sentences, 4 matched longer texts
systems=              # names with blanks between; all if empty
epochs=               # this many, with a learning rate that falls to 0; as the conf says if empty
news=0                # sentences of news in the mixture; 0: all
synthetic=0           # informal texts in the mixture; 0: as many as make 18.9 % of the mixture questions
train=100000          # matched sentences to train on, at most; the questions set the limit
held_out=10000        # matched sentences of dev, and of test
clusters=             # Brown clusters of words for the CRF, with paths like wcluster's; made of the mixture if empty
text_model=           # a 4-gram for features of the CRF, trained on other text with the same vocabulary; none if empty
min_count=2           # how often a word of the word models' vocabulary occurs at least; not tuned
threads=1             # of PyTorch
nj=2                  # processes for text; with a --cmd that is not run.pl, jobs
help_message="usage: $0 --corpus DIR [--experiments '1 2 3 4'] [--systems NAMES] [--epochs N] [--stage N]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus clusters text_model
clusters=${clusters:-data/clusters.txt}
words="Word-CRF Word-CRF-no-triggers Word-Delay Word-N-gram" characters="Delay N-gram"
cnns="CNN-Feature CNN-Feature-440 CNN-Ngram CNN-Ngram-440 Dilated-CNN"
choose experiments 1 2 3 4
# shellcheck disable=SC2086
choose systems $words $characters $cnns Bi-LSTM
decode_options=(--posteriors false)

systems_of=("" "$words Delay" Delay "$characters $cnns Bi-LSTM" "$characters Bi-LSTM")  # the systems of each experiment
sets_of=("" mixture in_domain matched multi)                   # what they are trained on: train_… and dev_…
test_of=("" test_messages test_messages test_matched test_multi)

# each COMMAND: runs it with SYSTEM SETS TEST ROW for each system of each experiment, if they are asked for.
each() {
  local number system
  for number in $experiments; do
    for system in ${systems_of[number]}; do
      ! asked "$system" || "$1" "$system" "${sets_of[number]}" "${test_of[number]}" \
        "$system$([ "$number" != 2 ] || echo +in-domain)"
    done
  done
}

# Stage 0: check that the corpora are those of README.md.
if runs 0; then check_corpus.sh "$corpus" conf/corpus.txt; fi

# Stage 1: make the texts of all sets, and their data directories; each text is a stream of its own.
if runs 1; then
  local/prepare_texts.sh "$corpus" "$news" "$synthetic" "$train" "$held_out"
  prepare_lines --format prose
fi

# Stage 2: there is no audio to align; count what is in the sets.
if runs 2; then
  local/count_sets.py data/{train,dev}_{mixture,in_domain} data/test_messages data/{train,dev,test}_{matched,multi} |
    tee data/counts.md
fi

# Stage 3: make the vocabularies, and write all texts as numbers. The CRF needs all words; it leaves out rare features.
if runs 3; then
  store() { make_store --train "train_$1" "${@:3}" data/{"$2",train,dev}_"$1"; }
  for number in $experiments; do store "${sets_of[number]}" store_char --token-type char; done
  [[ $experiments != *1* ]] || {
    store mixture store_word --token-type word --min-count "$min_count"
    store mixture store_all_words --token-type word; }
fi

# Stage 4: train; the CRF reads clusters of words. There is no stage 5, because these texts have no pauses.
train_system() {
  local store=store_char options=(--threads "$threads" ${epochs:+--epochs "$epochs" --schedule linear})
  case $1 in
    Word-CRF*) store=store_all_words options=(--clusters "$clusters" ${text_model:+--text-model "$text_model"})
      [ -s "$clusters" ] || one_job data/log/clusters.log local/train_clusters.py "data/train_$2" "$clusters" ;;
    Word-*) store=store_word ;;
  esac
  train_model "exp/$2/$1" "data/${store}_$2" "conf/$1.conf" "${options[@]}" --train-set "train_$2" --dev-set "dev_$2"
}
if runs 4; then each train_system; fi

# Stage 6: punctuate the test sets and score them; texts of several sentences also without the slot at their end.
decode_system() {
  decode "exp/$2/$1" "data/$3" "exp/$4/decode_$3"
  score "data/$3" "exp/$4/decode_$3" "exp/$4/decode_$3"
  [ "$3" != test_multi ] || score "data/$3" "exp/$4/decode_$3" "exp/$4/decode_${3}_mid" --last-slot false
}
if runs 6; then each decode_system; fi

# Stage 7: write the pages, with the published figures.
if runs 7; then collect_results; fi
