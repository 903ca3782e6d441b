#!/usr/bin/env bash
# Japanese without word boundaries: FC-LSTM, Bi-LSTM and Bi-LSTM with local attention on characters (Chen, Wu & Su), and
# on subwords of several characters; trained on single sentences and on texts of several sentences.
#
#   ./run.sh --posts FILE                  # your own posts, one a line
#   ./run.sh --corpus DIR                  # DIR has posts and sentences, or one of the two (README.md)
#   ./run.sh --corpus DIR --systems "Bi-LSTM Bi-LSTM-A" --texts multi
#   ./run.sh --corpus DIR --stage 6        # from stage 6 on; finished work is not repeated
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=               # where the corpora are
posts=                # posts, one a line; those of the corpus if empty
line_breaks=stop      # what __BR__ is in a post: stop, the end of a sentence, or drop, nothing
test=10000            # sentences of the test set
dev=5000              # sentences of the development set
texts="single multi"  # what systems are trained on: single sentences, texts of 2 to 5
systems=              # names with blanks between; all if empty
characters=6797       # of the vocabulary, at most (section 3.1 of the paper)
min_count=2           # how often a character of the vocabulary occurs at least; not tuned
subwords=8000           # of the vocabulary of Subword-Bi-LSTM; not tuned
epochs=               # at most; as the conf says if empty
threads=2             # of PyTorch
seed=1                # of the random split into sets
nj=2                  # processes for text; with a --cmd that is not run.pl, jobs
help_message="usage: $0 --posts FILE | --corpus DIR [--texts NAMES] [--systems NAMES] [--epochs N] [--stage N] [--nj N]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus posts
[ -n "$posts" ] || [ ! -f "$corpus/open2ch_posts.txt" ] || posts=$corpus/open2ch_posts.txt
choose texts single multi
choose systems FC-LSTM-w{1,2,4} Bi-LSTM Bi-LSTM-A Bi-LSTM-A{9,15,31,-sum} Subword-Bi-LSTM
decode_options=(--posteriors false)
sentences=()
for name in tatoeba_manythings tanaka_small_parallel_enja; do
  [ ! -f "$corpus/$name.txt" ] || sentences+=("$corpus/$name.txt")
done

# each COMMAND: runs it with SYSTEM TEXTS ROW for each system that is asked for, on each kind of text.
each() {
  local kind system
  for kind in $texts; do
    for system in $systems; do "$1" "$system" "$kind" "$system$(case $kind in multi) echo +multi; esac)"; done
  done
}

# Stage 0: check that there is some text.
if runs 0; then [ -n "$posts${sentences[*]}" ] || fail "no text; give --posts FILE or --corpus DIR"; fi

# Stage 1: make sentences and texts, no sentence in two sets. In the data, a character is a word, and a text a stream.
if runs 1; then
  local/prepare_texts.sh $label_file "$posts" "$line_breaks" "$test" "$dev" "$seed" "${sentences[@]}"
  prepare_lines --format characters
fi

# Stage 2: there is no audio to align. Cut the texts into subwords, and count the marks inside them.
# shellcheck disable=SC2086
if runs 2 && asked Subword-Bi-LSTM; then local/make_subwords.sh "$subwords" $texts; fi

# Stage 3: make the vocabulary of characters, with a token for Latin words and one for numbers; write texts as numbers.
if runs 3; then
  store() { make_store --token-type class --min-count "$min_count" "$@"; }
  for kind in $texts; do
    store --vocab-size "$characters" "data/store_$kind" "data/train_$kind" "data/dev_$kind"
    ! asked Subword-Bi-LSTM || store --vocab-size "$subwords" \
      "data/store_subwords_$kind" "data/train_${kind}_subwords_$kind" "data/dev_${kind}_subwords_$kind"
  done
fi

# Stage 4: train. There is no stage 5, because these texts have no pauses.
train_system() {
  local store=store_$2 suffix=
  case $1 in Subword-*) store=store_subwords_$2 suffix=_subwords_$2 ;; esac
  train_model "exp/$3" "data/$store" "conf/$1.conf" ${epochs:+--epochs "$epochs"} --threads "$threads" \
    --train-set "train_$2$suffix" --dev-set "dev_$2$suffix"
}
if runs 4; then each train_system; fi

# Stage 6: punctuate the test sets and score them; texts of several sentences also without the slot at their end.
decode_system() {
  local set out=exp/$3/decode
  for set in test_single test_multi; do
    case $1 in
      Subword-*) decode "exp/$3" "data/${set}_subwords_$2" "exp/$3/subwords_$set"
        local/subwords.py detokenize "data/$set" "exp/$3/subwords_$set" "${out}_$set" ;;
      *) decode "exp/$3" "data/$set" "${out}_$set" ;;
    esac
    score "data/$set" "${out}_$set" "${out}_$set"
  done
  score data/test_multi "${out}_test_multi" "${out}_test_multi_mid" --last-slot false
}
if runs 6; then each decode_system; fi

# Stage 7: write the pages, with the published figures.
if runs 7; then collect_results; fi
