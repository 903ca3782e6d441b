#!/usr/bin/env bash
# shellcheck disable=SC2046,SC2086  # lists of names
# English speech: the models that ship, `en` and `en-large` (read both ways) and `en-live` (four words of look-ahead), from
# free text.
#   ./run.sh --corpus DIR            # DIR: see README.md; with --pretrained true, score the models that ship, in minutes
set -euo pipefail
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # where the corpora are
systems=              # names with blanks between; all if empty
pretrained=false      # true: en, en-live and en-large are the models that ship, and are not trained
mpnet=                # directory of all-mpnet-base-v2, the teacher (README.md); without it no en-MPNet, and no student of it
minilm=               # directory of all-MiniLM-L6-v2, of which en-large is made
teacher=false         # true: also train the systems of en-fifth (README.md)
threads=1             # of PyTorch; two models are trained at a time
nj=2                  # processes for text; with a --cmd that is not run.pl, jobs
help_message="usage: $0 --corpus DIR [--systems NAMES] [--stage N]"

. ./cmd.sh
. ./path.sh
. recipe.sh

absolute corpus mpnet minilm
export PYTHONPATH=$PUNC_ROOT/utils/calls${PYTHONPATH:+:$PYTHONPATH}  # for the scripts in local/
choose_systems
$teacher || leave_out teacher "--teacher false"
[ -n "$mpnet" ] || leave_out mpnet "no --mpnet (README.md)"
$pretrained || [ -n "$mpnet" ] || leave_out taught "no --mpnet (README.md)"
$pretrained || [ -n "$minilm" ] || leave_out minilm "no --minilm (README.md)"
[ -f "$corpus/iwslt_ted/train_extra" ] || leave_out ted "no text of TED (README.md)"
ted=(data/ted*)
engines="amazon google microsoft speechmatics"
tests="earnings_ref earnings_asr earnings_${engines// / earnings_} iwslt_ref iwslt_asr podcasts europarl"
marks=O=O+CAP,COMMA=COMMA+CAP_COMMA,PERIOD=PERIOD+CAP_PERIOD,QUESTION=QUESTION+CAP_QUESTION
case=O=O+COMMA+PERIOD+QUESTION,CAPITAL=CAP+CAP_COMMA+CAP_PERIOD+CAP_QUESTION
decode_options=(--context 64 --posteriors false --casing data/casing.txt)

# Stage 0: check the corpora.
if runs 0; then check_corpus.sh "$corpus" conf/corpus.txt; fi
# Stage 1: make the data directories: texts, calls with pauses, and test sets.
if runs 1; then local/prepare_data.sh "$corpus"; fi

# Stage 2: find the pauses of the references; project their labels onto ASR output; learn words with more than one capital.
if runs 2; then
  [ -f data/earnings_ref/pauses.scp ] || punc pauses --by-label true data/earnings_ref data/kaldi_ctm
  [ -f data/kaldi_words/pauses.scp ] || punc pauses data/kaldi_words data/kaldi_ctm
  project earnings_ref kaldi_words earnings_asr
  for engine in $engines; do project earnings_ref ${engine}_words earnings_$engine; done
  [ -s data/casing.txt ] || learn_casing.py conf/labels.txt data/written data/casing.txt conf/caps.txt
  [ -s data/transitions.txt ] || learn_transitions.py conf/labels.txt data/text 0.1 data/transitions.txt
fi

# Stage 3: make the vocabulary, and write all sets as numbers. A set that is joined is sets end to end, some twice or
# three times; in `calls_text` the calls have no pauses, in `calls_clean` no fillers. Encoders read half of text_more.
if runs 3; then
  make_store --vocab-size 48000 --min-count 3 --train text,text_more,calls_text \
    --join train=text,text_half,calls_text,calls,calls,calls_clean,calls_clean \
    --join adapt=text,calls_text,calls,calls,calls,calls_clean,calls_clean,calls_clean \
    --join dev=dev_podcasts,dev_europarl,dev_calls,dev_calls_clean \
    data/store data/{text,text_more,text_half,calls_text,calls,calls_clean} data/dev_{podcasts,europarl,calls,calls_clean}
  names=${ted[*]#data/}
  join_ted=(--join train="${names// /,}")
  ! asked store_ted || make_store --vocab data/store/vocab "${join_ted[@]}" data/store_ted "${ted[@]}" data/dev_ted
  ! asked store_mpnet || local/make_pieces.sh "$mpnet" data/store_mpnet
  [ -z "$minilm" ] || ! asked store_minilm || local/make_pieces.sh "$minilm" data/store_minilm
  ! asked store_ted_mpnet ||
    make_store --token-type encoder --vocab "$mpnet" "${join_ted[@]}" data/store_ted_mpnet "${ted[@]}" data/dev_ted
fi

# train_system SYSTEM: trains it, unless it is a model that ships.
train_system() {
  local options=(--threads "$threads")
  case ${store_of[$1]} in *_mpnet) options+=(--encoder "$mpnet") ;; *_minilm) options+=(--encoder "$minilm") ;; esac
  [ -f exp/$1/model.json ] || train conf/$1.conf data/${store_of[$1]} exp/$1 "${options[@]}"
}

# targets TEACHER STORE SET …: the teacher's posteriors for sets, which its students learn.
targets() { punc soft-targets --context 64 exp/$1 data/$2 exp/$1/targets "${@:3}"; }

# Stage 4: take the models that ship; train teachers to their end, and make their targets; train the others on all texts.
texts="text calls_text calls calls_clean"
if runs 4; then
  local/take_pretrained.sh "$pretrained" en en-live en-large
  for system in $(in_stage 4a); do
    case $system in
      en-fifth-*) seeds=1 train_system $system ;;
      *) [ -z "$mpnet" ] || train_system $system ;;  # models that ship need no teacher
    esac
  done
  ! asked en-fifth-wide || targets en-fifth-wide store $texts
  [ ! -f exp/en-MPNet/final.pt ] || targets en-MPNet store_mpnet $texts text_half
  two_at_a_time train_system $(in_stage 4b)
fi

# Stage 5: go on with TED.
if runs 5; then
  for system in $(in_stage 5a); do [ -z "$mpnet" ] || train_system $system; done
  [ ! -f exp/en-MPNet-TED/final.pt ] || targets en-MPNet-TED store_ted_mpnet "${ted[@]#data/}"
  two_at_a_time train_system $(in_stage 5)
fi

# score_both REFERENCE DECODED OUT: the marks, whatever the case, and the capitals, which IWSLT 2011 has none of.
score_both() {
  score "$@" --match streams --merge $marks
  case $1 in */iwslt_*) ;; *) score_name=score_case score "$@" --match streams --merge $case ;; esac
}

# fit_labels MODEL-DIR: its models, of all seeds, choose labels of neighbouring words that fit together; one that ships
# has its own weights.
fit_labels() {
  local seed model
  for seed in $seeds; do
    model=$(dir_of_seed $seed "$1")
    [ ! -d $model ] || [ -f $model/model.json ] || cp data/transitions.txt $model/transitions.txt
  done
}

# Stage 6: punctuate the test sets and score them; score the engines' output. The scale is the best on dev.
if runs 6; then
  for system in $systems; do
    fit_labels exp/$system
    dev="dev_podcasts dev_europarl dev_calls dev_calls_clean" sets=$tests
    case $system in *-TED) dev=$(cd data && echo dev_ted*) sets="iwslt_ref iwslt_asr" ;; esac
    tune_scale exp/$system $dev
    for set in $sets; do
      decode exp/$system data/$set exp/$system/decode_$set --scale "$(cat exp/$system/scale)"
      score_both data/$set exp/$system/decode_$set{,}
    done
  done
  for engine in $engines; do score_both data/earnings_$engine data/$engine exp/$engine/decode_earnings_$engine; done
fi

# Stage 7: write the pages; pack the models in int8 with their cards, as they ship.
if runs 7; then
  case $systems in en-fifth*) collect_results conf/results-fifth.conf ;; *) collect_results ;; esac
  for system in en{,-live,-large}; do ! asked $system || [ -f exp/$system/model.json ] || local/pack.sh $system; done
fi
