# shellcheck shell=bash disable=SC2034,SC2046,SC2086,SC2154  # run.sh sets and uses them
# Sourced by ../run.sh: variables and functions that most languages share. conf/LANGUAGE/language.sh redefines those
# that differ in a language.

sources=                                                # names with their files, NAME:FILE
every=40                                                # one in this many documents is test, another one dev
format=(--format prose)                                 # options of punc prepare
cased=true                                              # whether the language has capitals
tokens=(--token-type subword --vocab-size 24000)        # options of punc make-store
counted=                                                # the set whose transitions are learned; if empty, the first source
ships=$language                                         # bundled models
declare -A pack_options=()                              # options of punc pack for a bundled model
declare -A merges=(                                     # what is scored: values of punc score's --merge
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
train_system() {  # a bundled model, and its first stage, are not trained
  local options=(--threads "$threads")
  add_options "$1"
  [ -f "$exp/${1%-first}/model.json" ] || train "$conf/$1.conf" "$data/${store_of[$1]}" "$exp/$1" "${options[@]}"
}
train_systems() { two_at_a_time train_system $(in_stage 4); }
train_on() { two_at_a_time train_system $(in_stage 5); }
score_others() { :; }

# score_all REFERENCE DECODED OUT: scores each entry of merges: marks in OUT/score, others in OUT/score_NAME.
score_all() {
  local part score_name
  for part in "${!merges[@]}"; do
    score_name=score_$part score_name=${score_name%_marks}
    score "$@" --match streams --merge "${merges[$part]}"
  done
}

# fit_labels MODEL-DIR: copies the weights of label transitions, which decoding uses, to the models of all seeds. A
# bundled model already contains these weights.
fit_labels() {
  local seed model
  for seed in $seeds; do
    model=$(dir_of_seed $seed "$1")
    [ ! -d $model ] || [ -f $model/model.json ] || cp "$data/transitions.txt" $model/transitions.txt
  done
}
