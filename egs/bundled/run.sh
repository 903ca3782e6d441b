#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2046,SC2086,SC2154  # lists of names; conf/LANGUAGE/language.sh sets and uses some variables
# The models that ship, a language at a time, from free text. What a language has of its own is in conf/LANGUAGE.
#   ./run.sh --language en --corpus DIR   # DIR: see README.md; with --pretrained true, score the models that ship, in minutes
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
language=en           # a directory of conf/
corpus=corpus         # where the corpora are
systems=              # names with blanks between; all if empty
pretrained=false      # true: the models that ship are not trained
mpnet=                # en: directory of all-mpnet-base-v2, the teacher (README.md); without it no en-MPNet, and no student of it
minilm=               # en: directory of all-MiniLM-L6-v2, of which en-large is made
teacher=false         # en: true: also train the systems of en-fifth (README.md)
threads=1             # of PyTorch; two models are trained at a time
nj=2                  # processes for text; with a --cmd that is not run.pl, jobs
help_message="usage: $0 --language LANGUAGE --corpus DIR [--systems NAMES] [--stage N]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus mpnet minilm
export conf=conf/$language
[ -f "$conf/language.sh" ] || fail "--language '$language': there is no conf/$language/language.sh"
data=data/$language exp=exp/$language label_file=$conf/labels.txt
decode_options=(--context 64 --posteriors false)
choose_systems "$conf/systems"

# What a language does otherwise than by these variables and functions, it has in its language.sh.
sources=                                                # names with their files, NAME:FILE
every=40                                                # one document in so many is a test
format=(--format prose)                                 # options of punc prepare
cased=true                                              # whether the language has capitals
tokens=(--token-type subword --vocab-size 24000)        # options of punc make-store
counted=                                                # the set whose transitions are learned; that of the first source if empty
ships=$language                                         # models that ship
declare -A merges=(                                     # what is scored, as --merge of punc score
  ["marks"]="O=O+CAP,COMMA=COMMA+CAP_COMMA,PERIOD=PERIOD+CAP_PERIOD,QUESTION=QUESTION+CAP_QUESTION"
  ["case"]="O=O+COMMA+PERIOD+QUESTION,CAPITAL=CAP+CAP_COMMA+CAP_PERIOD+CAP_QUESTION")
export PYTHONPATH=$PWD/local${PYTHONPATH:+:$PYTHONPATH}  # for the scripts in local/LANGUAGE
names() { for source in $sources; do echo "$1${source%%:*}"; done; }
dev_of() { names dev_; }
tests_of() { names test_; }
prepare_texts() { python local/prepare_texts.py "$every" "$corpus" "$data/raw" $sources; }
prepare_data() {
  local set
  [ -f "$data/raw/finished" ] || { prepare_texts && touch "$data/raw/finished"; }
  for set in $(names '' && names dev_ && names test_); do
    prepare_set "$set" "${format[@]}" --document-prefix '#doc' "$data/raw/$set.txt"
    validate "$set"
  done
  ! $cased ||
    prepare_set written "${format[@]}" --document-prefix '#doc' --lowercase false $(names "$data/raw/" | sed 's/$/.txt/')
}
prepare_tests() { :; }
make_stores() {
  local train dev
  train=$(names '' | paste -sd,) dev=$(names dev_ | paste -sd,)
  make_store "${tokens[@]}" --train "$train" --join "train=$train" --join "dev=$dev" "$data/store" \
    $(names "$data/" && names "$data/dev_")
}
add_options() { :; }
train_system() {
  local options=(--threads "$threads")
  add_options "$1"
  [ -f "$exp/$1/model.json" ] || train "$conf/$1.conf" "$data/${store_of[$1]}" "$exp/$1" "${options[@]}"
}
train_systems() { two_at_a_time train_system $(in_stage 4); }
train_on() { :; }
score_others() { :; }
# shellcheck source=/dev/null
. "$conf/language.sh"
export cased
! $cased || decode_options+=(--casing "$data/casing.txt")

# Stage 0: check the corpora.
if runs 0; then check_corpus.sh "$corpus" "$conf/corpus.txt"; fi
# Stage 1: make the data directories of what is trained on, dev and test.
if runs 1; then mkdir -p "$data/raw" && prepare_data; fi
# Stage 2: finish the test sets; learn words with more than one capital, and how labels of neighbours fit together.
if runs 2; then
  prepare_tests
  ! $cased || [ -s "$data/casing.txt" ] ||
    learn_casing.py "$label_file" "$data/written" "$data/casing.txt" $(ls "$conf/caps.txt" 2>/dev/null)
  [ -s "$data/transitions.txt" ] ||
    learn_transitions.py "$label_file" "$data/${counted:-$(names '' | head -n 1)}" 0.1 "$data/transitions.txt"
fi
# Stage 3: make the vocabulary, and write all sets as numbers.
if runs 3; then make_stores; fi
# Stage 4: take the models that ship, or train; stage 5: go on with other text.
if runs 4; then
  local/take_pretrained.sh "$pretrained" "$exp" $ships
  train_systems
fi
if runs 5; then train_on; fi

# score_all REFERENCE DECODED OUT: all that is in merges; the first of them, marks, is the score, others are score_NAME.
score_all() {
  local part score_name
  for part in "${!merges[@]}"; do
    score_name=score_$part score_name=${score_name%_marks}
    score "$@" --match streams --merge "${merges[$part]}"
  done
}

# fit_labels MODEL-DIR: its models, of all seeds, choose labels of neighbouring words that fit together; one that ships
# has its own weights.
fit_labels() {
  local seed model
  for seed in $seeds; do
    model=$(dir_of_seed $seed "$1")
    [ ! -d $model ] || [ -f $model/model.json ] || cp "$data/transitions.txt" $model/transitions.txt
  done
}

# Stage 6: punctuate the test sets and score them. The scale is the best on dev.
if runs 6; then
  for system in $systems; do
    fit_labels "$exp/$system"
    tune_scale "$exp/$system" $(dev_of $system)
    for set in $(tests_of $system); do
      out=$exp/$system/decode_$set
      decode "$exp/$system" "$data/$set" "$out" --scale "$(cat "$exp/$system/scale")"
      score_all "$data/$set" "$out" "$out"
    done
  done
  score_others
fi

# Stage 7: write the pages; pack the models in int8 with their cards, as they ship.
if runs 7; then
  page=conf/results-$language.conf
  case $systems in en-fifth*) page=conf/results-fifth.conf ;; esac
  [ -f "$page" ] || page=conf/results.conf
  collect_results "$page"
  for system in $ships; do ! asked $system || [ -f "$exp/$system/model.json" ] || local/pack.sh $system; done
fi
