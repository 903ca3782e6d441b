# English: podcasts, debates and calls; teachers as large as BERT; tests on ASR output.
# shellcheck shell=bash disable=SC2034,SC2046,SC2086,SC2154
ships="en en-live en-large"
# In int8, the labels of en-live would depend on which streams are decoded together.
pack_options[en]="--int8 true" pack_options[en-large]="--int8 true"
counted=text
engines="amazon google microsoft speechmatics"
export PYTHONPATH=$PUNC_ROOT/utils/calls:$PYTHONPATH  # for the scripts in local/en
$teacher || leave_out teacher "--teacher false"
[ -n "$mpnet" ] || leave_out mpnet "no --mpnet (README.md)"
$pretrained || [ -n "$mpnet" ] || leave_out taught "no --mpnet (README.md)"
$pretrained || [ -n "$minilm" ] || leave_out minilm "no --minilm (README.md)"
[ -f "$corpus/iwslt_ted/train_extra" ] || leave_out ted "no text of TED (README.md)"

dev_of() {
  case $1 in *-TED) (cd "$data" && echo dev_ted*) ;; *) echo dev_podcasts dev_europarl dev_calls dev_calls_clean ;; esac
}
tests_of() {  # encoders are slow, so they punctuate the words of only one engine
  case $1 in
    *-TED) ;;
    en-large | *-MPNet) echo earnings_ref earnings_asr earnings_speechmatics podcasts europarl ;;
    *) echo earnings_ref earnings_asr $(printf 'earnings_%s ' $engines) podcasts europarl ;;
  esac
  echo iwslt_ref iwslt_asr
}

prepare_data() { local/en/prepare_data.sh "$corpus"; }

# Finds the pauses of the references, and projects their labels onto the recognisers' words.
prepare_tests() {
  local engine
  [ -f "$data/earnings_ref/pauses.scp" ] || punc pauses --by-label true "$data/earnings_ref" "$data/kaldi_ctm"
  [ -f "$data/kaldi_words/pauses.scp" ] || punc pauses "$data/kaldi_words" "$data/kaldi_ctm"
  project earnings_ref kaldi_words earnings_asr
  for engine in $engines; do project earnings_ref ${engine}_words earnings_$engine; done
}

# A joined set is the concatenation of several sets, some of them two or three times. `calls_text` has no pauses, and
# `calls_clean` has no fillers. Encoders read half of text_more.
make_stores() {
  local ted=("$data"/ted*)
  make_store --vocab-size 48000 --min-count 3 --train text,text_more,calls_text \
    --join train=text,text_half,calls_text,calls,calls,calls_clean,calls_clean \
    --join adapt=text,calls_text,calls,calls,calls,calls_clean,calls_clean,calls_clean \
    --join dev=dev_podcasts,dev_europarl,dev_calls,dev_calls_clean \
    "$data/store" "$data"/{text,text_more,text_half,calls_text,calls,calls_clean} \
    "$data"/dev_{podcasts,europarl,calls,calls_clean}
  ! asked store_ted || make_store --vocab "$data/store/vocab" --join "train=$(printf '%s\n' "${ted[@]##*/}" | paste -sd,)" \
    "$data/store_ted" "${ted[@]}" "$data/dev_ted"
  ! asked store_mpnet || local/en/make_pieces.sh "$mpnet" "$data/store_mpnet"
  $pretrained || ! (asked store_minilm || asked learner) ||
    local/en/make_pieces.sh "${minilm:-$PUNC_ROOT/punc/pretrained/en-large}" "$data/store_minilm"
}

add_options() {
  case ${store_of[$1]} in *_mpnet) options+=(--encoder "$mpnet") ;; *_minilm) options+=(--encoder "$minilm") ;; esac
}

# targets TEACHER STORE SET …: writes the teacher's posteriors for these sets, for its students. If the teacher was not
# trained here, it is a bundled model.
targets() {
  local model=$exp/$1
  [ -d $model ] || model=$1
  punc soft-targets --context 32 $model $data/$2 $data/targets_$1 "${@:3}"
}

# Train the teachers, en-large, and the systems that learn from en-large, in this order.
train_systems() {
  local system texts="text calls_text calls calls_clean"
  for system in $(in_stage 4a); do
    case $system in
      en-fifth-*) seeds=1 train_system $system ;;
      *) [ -z "$mpnet" ] || train_system $system ;;  # bundled models need no teacher
    esac
  done
  ! asked en-fifth-wide || targets en-fifth-wide store $texts
  [ ! -f $exp/en-MPNet/final.pt ] || targets en-MPNet store_mpnet $texts text_half
  two_at_a_time train_system $(in_stage 4b)
  $pretrained || ! asked learner || targets en-large store_minilm $texts text_half
  two_at_a_time train_system $(in_stage 4c)
}

train_on() {
  two_at_a_time train_system $(in_stage 5a)
  two_at_a_time train_system $(in_stage 5b)
}

# Score the engines' own marks.
score_others() {
  local engine
  for engine in $engines; do score_all "$data/earnings_$engine" "$data/$engine" "$exp/$engine/decode_earnings_$engine"; done
}
