#!/usr/bin/env bash
# Japanese, without word boundaries: LSTMs on characters (Chen, Wu & Su) or subwords, on single or several sentences.
#
#   ./run.sh --posts FILE                  # your own posts, one per line
#   ./run.sh --corpus DIR                  # DIR has books, posts and sentences, or some of them (README.md)
#   ./run.sh --corpus DIR --systems "Bi-LSTM Bi-LSTM-A" --texts multi --seeds "1 2 3"
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=               # directory of the corpora
posts=                # file of posts, one per line; if empty, the corpus's posts
books=                # file of books: a paragraph per line, `#doc NAME` before each book; if empty, the corpus's books
works=0               # maximum number of books in the training set; 0: all
line_breaks=stop      # how __BR__ in a post is read: stop (as the end of a sentence), or drop (ignored)
test=10000            # sentences in the test set of each kind (books, posts, others), as in the paper
dev=3000              # number of sentences of each kind in the dev set
texts="single multi"  # training texts: single sentences; texts of 2 to 5 sentences
systems=              # names separated by spaces; all if empty
characters=6797       # maximum size of the vocabulary (section 3.1 of the paper)
min_count=2           # minimum count of a character in the vocabulary; not tuned
subwords=8000           # vocabulary size of Subword-Bi-LSTM; not tuned
threads=2             # threads of PyTorch
split_seed=1          # seed of the random split into sets
nj=2                  # number of processes for text; if --cmd is not run.pl, number of jobs
help_message="usage: $0 --corpus DIR [--texts NAMES] [--systems NAMES] [--seeds '1 2 3'] [--stage N] [--stop-stage N] [--nj N]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus posts books
[ -n "$posts" ] || [ ! -f "$corpus/open2ch_posts.txt" ] || posts=$corpus/open2ch_posts.txt
[ -n "$books" ] || [ ! -f "$corpus/aozora.txt" ] || books=$corpus/aozora.txt
choose texts single multi
choose_systems
decode_options=(--posteriors false)
mapfile -t sentences < <(compgen -G "$corpus/ta[tn]*.txt" | sort -r)  # the files of Tatoeba and Tanaka

# each COMMAND: runs COMMAND SYSTEM TEXTS ROW for each requested row. conf/TEXTS/SYSTEM.conf has the options of a row.
each() {
  local kind system
  for kind in $texts; do
    for system in $systems; do "$1" "$system" "$kind" "$system$(case $kind in multi) echo +multi; esac)"; done
  done
}

# Stage 0: check that there is some text.
if runs 0; then [ -n "$books$posts${sentences[*]}" ] || fail "no text; give --corpus DIR, or --books or --posts FILE"; fi

# Stage 1: make sentences and texts; no sentence is in two sets. Each character is a word, and each text a stream.
if runs 1; then
  local/prepare_texts.sh "$books" "$works" "$posts" "$line_breaks" "$test" "$dev" "$split_seed" \
    "${sentences[@]}"
  for text in data/raw/*.txt; do
    set=$(basename "$text" .txt)
    prepare_set "$set" --format characters --utt-words 0 --independent true "$text"
    validate "$set"
  done
fi

# Stage 2: cut the texts into subwords, and count the marks inside subwords. There is no audio to align.
# shellcheck disable=SC2086
if runs 2 && asked Subword-Bi-LSTM; then local/make_subwords.sh "$subwords" $texts; fi

# Stage 3: make the vocabulary of characters, with a token for Latin words and one for numbers; convert texts to token numbers.
if runs 3; then
  store() { make_store --token-type class --min-count "$min_count" "$@"; }
  for kind in $texts; do
    store --vocab-size "$characters" "data/store_$kind" "data/train_$kind" "data/dev_$kind"
    ! asked Subword-Bi-LSTM || store --vocab-size "$subwords" \
      "data/store_subwords_$kind" "data/train_${kind}_subwords_$kind" "data/dev_${kind}_subwords_$kind"
  done
fi

# Stage 4: train. There is no stage 5, because these texts have no pauses.
train_system() { train "conf/$2/$1.conf" "data/${store_of[$1]}_$2" "exp/$3" --threads "$threads"; }
if runs 4; then each train_system; fi

# Stage 6: punctuate the test sets and score them. Texts of several sentences are also scored without their last slot.
decode_system() {
  local text set seed out=exp/$3/decode
  for text in data/raw/test_*.txt; do
    set=$(basename "$text" .txt)
    case $1 in
      Subword-*) decode "exp/$3" "data/${set}_subwords_$2" "exp/$3/subwords_$set"
        for seed in $seeds; do
          local/subwords.py detokenize "data/$set" "$(dir_of_seed "$seed" "exp/$3")"/{subwords,decode}"_$set"
        done ;;
      *) decode "exp/$3" "data/$set" "${out}_$set" ;;
    esac
    score "data/$set" "${out}_$set" "${out}_$set"
    case $set in *_multi) score "data/$set" "${out}_$set" "${out}_${set}_mid" --last-slot false ;; esac
  done
}
if runs 6; then each decode_system; fi

# Stage 7: write the pages, with the published figures.
if runs 7; then collect_results; fi
