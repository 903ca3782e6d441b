#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2046,SC2086,SC2154  # lists of names; conf/LANGUAGE/language.sh sets and uses some variables
# The bundled models, one language at a time, from free text. Everything specific to a language is in conf/LANGUAGE.
#   ./run.sh --language en --corpus DIR   # DIR: see README.md; with --pretrained true, score the bundled models, in minutes
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
language=en           # a directory of conf/
corpus=corpus         # directory of the corpora
systems=              # names separated by spaces; all if empty
pretrained=false      # true: copy the bundled models instead of training them
mpnet=                # en: directory of all-mpnet-base-v2, the teacher (README.md); if empty, its systems are left out
minilm=               # en: directory of all-MiniLM-L6-v2, which is fine-tuned to en-large
teacher=false         # en: if true, also train the systems of en-fifth (README.md)
threads=1             # threads of PyTorch; two models are trained at a time
nj=2                  # number of processes for text; if --cmd is not run.pl, number of jobs
help_message="usage: $0 --language LANGUAGE --corpus DIR [--systems NAMES] [--stage N] [--stop-stage N]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus mpnet minilm
export conf=conf/$language
[ -f "$conf/language.sh" ] || fail "--language '$language': there is no conf/$language/language.sh"
data=data/$language exp=exp/$language label_file=$conf/labels.txt
decode_options=(--posteriors false)
choose_systems "$conf/systems"

# shellcheck source=egs/bundled/local/language.sh
. local/language.sh
# shellcheck source=/dev/null
. "$conf/language.sh"
export cased
! $cased || decode_options+=(--casing "$data/casing.txt")

# Stage 0: check the corpora.
if runs 0; then check_corpus.sh "$corpus" "$conf/corpus.txt"; fi
# Stage 1: make the data directories for training, dev and test.
if runs 1; then mkdir -p "$data/raw" && prepare_data; fi
# Stage 2: finish the test sets; learn the spelling of words with several capitals, and the frequencies of label pairs.
if runs 2; then
  prepare_tests
  ! $cased || [ -s "$data/casing.txt" ] ||
    learn_casing.py "$label_file" "$data/written" "$data/casing.txt" $(ls "$conf/caps.txt" 2>/dev/null)
  [ -s "$data/transitions.txt" ] ||
    learn_transitions.py "$label_file" "$data/${counted:-$(names '' | head -n 1)}" 0.1 "$data/transitions.txt"
fi
# Stage 3: make the vocabulary and convert all sets to token numbers.
if runs 3; then make_stores; fi
# Stage 4: copy the bundled models, or train models. Stage 5: train them further.
if runs 4; then
  local/take_pretrained.sh "$pretrained" "$exp" $ships
  train_systems
fi
if runs 5; then train_on; fi

# Stage 6: punctuate the test sets with the scale that is best on dev, and score them.
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

# Stage 7: write the pages; pack the models in int8, each with its card, in the format of the bundled models.
if runs 7; then
  page=conf/results-$language.conf
  case $systems in en-fifth*) page=conf/results-fifth.conf ;; esac
  [ -f "$page" ] || page=conf/results.conf
  collect_results "$page"
  for system in $ships; do ! asked $system || [ -f "$exp/$system/model.json" ] || local/pack.sh $system ${pack_options[$system]-}; done
fi
