# Sourced by a recipe's run.sh after its default values, cmd.sh and path.sh. Reads the options of the command line (see
# parse_options.sh), and has the functions that recipes share. They use run.sh's stage, stop_stage, systems, and
#
#   cmd, nj          the work on a data directory is shared: by nj processes on this machine if cmd is run.pl; by nj jobs of
#                    cmd, each with one process, if it is slurm.pl or another one. Both make the same files
#
# and
#
#   data, exp        where the data and the systems are
#   label_file       the label set
#   decode_options   options of punc punctuate for all systems
#   score_options    options of punc score for all systems
# shellcheck shell=bash disable=SC2154

fail() {
  echo "$0: $*" >&2
  exit 1
}

train_ranks=1  # --train-ranks: processes on a machine that train a model together
train_nodes=1  # --train-nodes: machines of a Slurm job that train a model together, each by --train-ranks processes
train_cmd=${train_cmd-}  # $cmd of trainings, if they need other resources
keep_rows=false  # --keep-rows true: the pages keep the published rows of systems that are not in exp
seeds=1  # --seeds "1 2 3": a system is trained with each, and is exp/SYSTEM, exp/SYSTEM.seed2, exp/SYSTEM.seed3

_arguments=("$@")
_start_dir=${OLDPWD:-$PWD}  # run.sh has changed to its own directory
. "$(dirname "${BASH_SOURCE[0]}")/quote.sh"
. "$(dirname "${BASH_SOURCE[0]}")/parse_options.sh"
[ $# = 0 ] || fail "'$1' is not an option; see $0 --help"
for _option in stage stop_stage; do
  [[ ${!_option-0} =~ ^-?[0-9]+$ ]] || fail "--${_option//_/-} '${!_option}' is not a number; stages are 0 to 7"
done
[[ ${nj=1} =~ ^[1-9][0-9]*$ ]] || fail "--nj $nj is not a number of processes or jobs; give 1 or more"
for _option in train_ranks train_nodes; do
  [[ ${!_option} =~ ^[1-9][0-9]*$ ]] || fail "--${_option//_/-} ${!_option}; it is 1 or more"
done

[[ $seeds =~ ^[1-9][0-9]*(\ [1-9][0-9]*)*$ ]] || fail "--seeds '$seeds'; write whole numbers, as --seeds '1 2 3'"

# One run at a time: a second one would write the same files. Only runs of stage 4 alone can stand side by side, to train
# several systems at once: punc train locks the directory of its system.
. "$(dirname "${BASH_SOURCE[0]}")/lock.sh"
[ "${stage-0} ${stop_stage-}" = "4 4" ] || lock_directory exp "$0" "${_arguments[@]}"

# cluster: whether $cmd takes jobs to other machines.
cluster() { case ${cmd%% *} in run.pl | */run.pl) false ;; esac; }
if cluster; then processes=1; else processes=$nj; fi  # of a command

data=data exp=exp label_file=conf/labels.txt decode_options=() score_options=()

# absolute OPTION …: makes an option that is a path absolute; the user's paths are relative to where the user is.
absolute() {
  local name
  for name in "$@"; do
    case ${!name} in '' | /*) ;; *) printf -v "$name" %s "$_start_dir/${!name}" ;; esac
  done
}

# choose OPTION NAME …: checks that the option has only these names, with blanks between; empty or `all` is all of them.
choose() {
  local name
  case ${!1} in '' | all) printf -v "$1" %s "${*:2}" ;; esac
  for name in ${!1}; do
    case " ${*:2} " in *" $name "*) ;; *) fail "--${1//_/-}: there is no '$name'; choose from ${*:2}" ;; esac
  done
}

# asked SYSTEM: whether --systems has it.
asked() { case " $systems " in *" $1 "*) ;; *) false ;; esac }

# leave_out REASON SYSTEM …: takes systems out of --systems, and says so.
leave_out() {
  local system left=
  for system in "${@:2}"; do
    asked "$system" || continue
    systems=" $systems " left+=" $system"
    systems=${systems/" $system "/ }
  done
  [ -z "$left" ] || echo "$0: $1, so no$left" >&2
}

# need_lmplz SYSTEM …: builds lmplz if one of these systems is asked for and lmplz is not there.
need_lmplz() {
  local system
  for system in "$@"; do
    ! asked "$system" || command -v lmplz >/dev/null || bash "$PUNC_ROOT/utils/install_lmplz.sh"
  done
}

# runs STAGE: whether --stage and --stop-stage have it.
runs() { [ "$stage" -le "$1" ] && [ "$stop_stage" -ge "$1" ]; }

# newer FILE OTHER …: whether FILE is there and newer than all others.
newer() {
  local other
  for other in "${@:2}"; do [ "$1" -nt "$other" ] || return 1; done
}

# make_file FILE COMMAND …: writes what the command prints to FILE, whole or not at all.
make_file() { "${@:2}" >"$1.new" && mv "$1.new" "$1"; }

# two_at_a_time COMMAND ARGUMENT …: runs the command with each argument, two at the same time; stops if one fails.
two_at_a_time() {
  local first second
  while [ $# -gt 1 ]; do
    second=
    "$1" "$2" &
    first=$!
    if [ $# -gt 2 ]; then
      "$1" "$3" &
      second=$!
    fi
    wait "$first" || { wait $second || :; return 1; }
    [ $# -eq 2 ] || wait "$second" || return 1
    set -- "$1" "${@:4}"
  done
}

# one_job LOG COMMAND ARGUMENT …: runs a command by $cmd, with these very arguments.
one_job() {
  local quoted
  quote "${@:2}"
  $cmd "$1" "${quoted[@]}"
}

# in_jobs LOG OUT-DIR punc COMMAND ARGUMENT …: runs a command, of which one argument is the directory OUT-DIR to make, in
# --nj jobs of $cmd, and joins their parts. The logs are LOG.JOB.log and LOG.log.
in_jobs() {
  local log=$1 out=$2 parts=$2.parts job argument joined=() arguments=() quoted
  for argument in "${@:5}"; do
    if [ "$argument" = "$out" ]; then quote "$parts/" && quoted+=JOB; else quote "$argument"; fi
    arguments+=("${quoted[@]}")
  done
  for ((job = 1; job <= nj; job++)); do joined+=("$parts/$job"); done
  rm -rf "$parts"  # left by a run that was killed
  $cmd JOB=1:"$nj" "$log.JOB.log" "$3" "$4" --jobs "$nj" --job JOB "${arguments[@]}" &&
    one_job "$log.log" punc join "$out" "${joined[@]}" && rm -rf "$parts"
}

# share LOG OUT-DIR punc punctuate ARGUMENT …: in_jobs, if $cmd takes jobs to other machines; otherwise one_job.
share() { if cluster; then in_jobs "$@"; else one_job "$1.log" "${@:3}"; fi; }

# away LOG COMMAND ARGUMENT …: one_job, if $cmd takes jobs to other machines; otherwise the command, here.
away() { if cluster; then one_job "$@"; else "${@:2}"; fi; }
export -f cluster quote one_job in_jobs share away  # for the scripts in local/, with --nj "$processes"
export cmd nj processes label_file

# prepare OUT-DIR OPTION … FILE …: punc prepare with the label set, in --nj processes.
prepare() { away "${1%/*}/log/prepare_${1##*/}.log" punc prepare --nj "$processes" --labels "$label_file" "${@:2}" "$1"; }

# label_lines FILE: the labels of a label set, without comments, with one blank between columns.
label_lines() { awk '!/^#/ && NF { $1 = $1; print }' "$1"; }

# check_labels DATA-DIR: fails if the data directory was made with another label set, which is in its punct.labels.
check_labels() {
  if [ ! -f "$1/punct.labels" ] || [ "$(label_lines "$1/punct.labels")" = "$(label_lines "$label_file")" ]; then return 0; fi
  fail "$1 was made with another label set than $label_file; remove the data, and what was made of them: rm -r $data $exp"
}

# prepare_set SET [OPTION …] FILE …: the data directory of a set, if it is not there yet.
prepare_set() { if [ -f "$data/$1/text" ]; then check_labels "$data/$1"; else prepare "$data/$1" "${@:2}"; fi; }

# prepare_listed SET [OPTION …]: the data directory of the texts in data/split/SET. A list that was edited since is refused:
# other sets, the stores and the models are made from the old lists, too.
prepare_listed() {
  local files
  [ ! -f "$data/$1/text" ] || [ "$data/$1/text" -nt "$data/split/$1" ] ||
    fail "$data/split/$1 is newer than $data/$1; remove all that was made from the old lists, but $data/split, and $exp"
  mapfile -t files <"$data/split/$1"
  prepare_set "$1" "${@:2}" "${files[@]}"
}

# make_store [OPTION …] STORE-DIR DATA-DIR …: punc make-store with the label set, in --nj processes.
make_store() {
  local options=()
  while [[ $1 = --* ]]; do options+=("$1" "$2") && shift 2; done
  away "${1%/*}/log/${1##*/}.log" punc make-store --nj "$processes" --labels "$label_file" "${options[@]}" "$@"
}
export -f make_store

# prepare_lines [OPTION …]: prepares and checks a set of each data/raw/SET.txt, where each line is a stream of its own.
prepare_lines() {
  local text set
  for text in "$data"/raw/*.txt; do
    set=$(basename "$text" .txt)
    prepare_set "$set" --utt-words 0 --independent true "$@" "$text"
    validate "$set"
  done
}

# add_pauses SET [OPTION …] TIMES: the pauses of a set, if it has none yet.
add_pauses() { [ -f "$data/$1/pauses.scp" ] || punc pauses "${@:2:$#-2}" "$data/$1" "${*: -1}"; }

# validate SET …: checks data directories.
validate() {
  local set
  for set in "$@"; do punc validate --labels "$label_file" "$data/$set"; done
}

# project REFERENCE-SET ASR-SET OUT-SET: the ASR output with the labels of the reference, if it is not there yet.
project() {
  if [ -f "$data/$3/text" ]; then check_labels "$data/$3" && return; fi
  punc project --labels "$label_file" "$data/$1" "$data/$2" "$data/$3" 2>&1 | tee "$data/$3.wer" >&2
}

# prepare_asr CTM-OR-DIR: the set test_asr, the ASR output for the recordings of test_ref with the labels of test_ref.
prepare_asr() {
  if [ -f "$data/test_asr/text" ]; then check_labels "$data/test_asr" && return; fi
  if [ -d "$1" ]; then cat "$1"/*.ctm; else cat "$1"; fi |
    awk 'NR == FNR { test[$1]; next } $1 in test' "$data/test_ref/spk2utt" - >"$data/test_asr.ctm"
  away "$data/log/prepare_test_asr.log" \
    punc prepare --format ctm "$data/test_asr.ctm" "$data/test_asr_words"
  project test_ref test_asr_words test_asr
}

# plot_pauses TITLE SET: a picture of the pauses of a set by label.
plot_pauses() {
  newer "$exp/results/pauses.png" "$data/$2/pauses.scp" && return
  mkdir -p "$exp/results"
  punc plot-pauses --title "$1" "$data/$2" "$exp/results/pauses.png"
}

# plot_labels TITLE SET …: a picture of the labels of sets, with or without pauses.
plot_labels() {
  local directories=("${@:2}")
  directories=("${directories[@]/#/$data/}")
  newer "$exp/results/labels.png" "${directories[@]/%//punct}" && return
  mkdir -p "$exp/results"
  punc plot-labels --labels "$label_file" --title "$1" "${directories[@]}" "$exp/results/labels.png"
}

# conf_files CONF: a conf file and all that it includes.
conf_files() {
  local included
  echo "$1"
  while read -r included; do
    case $included in /*) ;; *) included=$(dirname "$1")/$included ;; esac
    conf_files "$included"
  done < <(sed -nE 's/^--config(=|[[:space:]]+)([^[:space:]]+).*/\2/p' "$1")
}

# keep_log LOG: renames a log of training, NAME.log to NAME.1.log, NAME.2.log …, because $cmd begins a log anew. The log
# of a run that found the model finished is not kept.
keep_log() {
  local number=1
  if [ ! -s "$1" ] || grep -q ' is finished$' "$1"; then return 0; fi
  while [ -e "${1%.log}.$number.log" ]; do number=$((number + 1)); done
  mv "$1" "${1%.log}.$number.log"
}

# launch: prints what starts a training in several processes. The job expands Slurm's variables.
launch() {
  if [ "$train_nodes" -gt 1 ]; then
    # shellcheck disable=SC2016
    echo 'srun --kill-on-bad-exit=1 --cpus-per-task ${SLURM_CPUS_PER_TASK:-1}' \
      "torchrun --nnodes $train_nodes --nproc-per-node $train_ranks" --rdzv-backend c10d --rdzv-id '$SLURM_JOB_ID' \
      --rdzv-endpoint '$SLURMD_NODENAME:$((20000+SLURM_JOB_ID%10000))' --no-python
  elif [ "$train_ranks" -gt 1 ]; then
    echo "torchrun --standalone --nproc-per-node $train_ranks --no-python"
  fi
}

# dir_of_seed SEED DIR: the directory of a model, or of a row of the results, for a seed: DIR for seed 1.
dir_of_seed() { if [ "$1" = 1 ]; then echo "$2"; else echo "$2.seed$1"; fi; }

# options_of_seed SEED CONF [OPTION …]: the options that train a model with another seed than 1. A model on which it is
# built, by an option --…-model, is that of the same seed, if there is one.
options_of_seed() {
  local argument option='' model
  echo "--seed $1"
  { # what comes first holds: the command line, the conf, what it includes
    for argument in "${@:3}"; do
      case $option in --*-model) echo "$option $argument" ;; esac
      option=$argument
    done
    conf_files "$2" | xargs -d '\n' sed -nE 's/^(--[a-z-]+-model)=([^[:space:]]+).*/\1 \2/p'
  } | awk '!seen[$1]++' | while read -r option model; do
    [ ! -f "$model.seed$1/final.pt" ] || echo "$option $model.seed$1"
  done
}

# fitted CONF: whether its model is not trained by gradient. It has no random weights, so it is trained with one seed.
fitted() { conf_files "$1" | xargs -d '\n' grep -qhE '^--model=(ngram|ngram_dt|word_crf)([[:space:]]|$)'; }

# train_model MODEL-DIR STORE CONF [OPTION …]: punc train, once for each of --seeds. Keeps a finished model that is newer
# than its store, its conf and what tune chose for it; a run that was stopped goes on where it was, and the logs of its
# parts are train.1.log … train.log.
train_model() {
  local model store=$2 conf=$3 files seed of_seed quoted
  for seed in $seeds; do
    model=$(dir_of_seed "$seed" "$1") of_seed=()
    if [ "$seed" != 1 ]; then
      ! fitted "$conf" || continue
      mapfile -t of_seed < <(options_of_seed "$seed" "${@:3}" | tr ' ' '\n')
    fi
    mapfile -t files < <(conf_files "$conf")
    [ ! -f "$1/tuned.conf" ] || files+=("$1/tuned.conf")
    # A run that was killed in its last moment has left its progress: punc train sees that it is finished, and removes it.
    newer "$model/final.pt" "$store/conf" "${files[@]}" && [ ! -e "$model/progress.pt" ] && continue
    keep_log "$model/log/train.log"
    quote punc train --config "$conf" "${@:4}" "${of_seed[@]}" "$store" "$model"
    # shellcheck disable=SC2046
    ${train_cmd:-$cmd} "$model/log/train.log" $(launch) "${quoted[@]}" || return
  done
}

# tune MODEL-DIR STORE CONF 'CHOICE …' [OPTION …]: trains a model with each choice, such as learning-rate=0.001 or
# c1=1,c2=0.1, with seed 1, and writes the choice with the lowest dev loss to MODEL-DIR/tuned.conf, and all losses.
tune() {
  local model=$1 choice options loss losses=() seeds=1
  for choice in $4; do
    read -ra options <<<"--${choice//,/ --}"
    train_model "$model/tune/$choice" "$2" "$3" "${@:5}" "${options[@]}" || return
    loss=$(cat "$model/tune/$choice"/log/train*.log | grep -o 'dev loss [0-9.e-]*' | sort -g -k 3 | head -n 1) || return
    losses+=("$loss $choice")
  done
  choice=$(printf '%s\n' "${losses[@]}" | sort -g -k 3 | head -n 1)
  choice=${choice##* }
  read -ra options <<<"--${choice//,/ --}"
  choice=$(printf '%s\n' "${losses[@]/#/# }" "${options[@]}")
  [ "$(cat "$model/tuned.conf" 2>/dev/null)" = "$choice" ] || make_file "$model/tuned.conf" echo "$choice"
}

# tune_rate MODEL-DIR STORE CONF 'RATE …' [OPTION …]: tune with each learning rate, which go from low to high. While the
# lowest is the best, half of it is tried too; while the highest is, twice as much.
tune_rate() {
  local rates=$4
  while tune "$1" "$2" "$3" "learning-rate=${rates// / learning-rate=}" "${@:5}" || return; do
    case $(tuned "$1") in
      "--learning-rate=${rates%% *}") rates="$(awk "BEGIN { print ${rates%% *} / 2 }") $rates" ;;
      "--learning-rate=${rates##* }") rates+=" $(awk "BEGIN { print ${rates##* } * 2 }")" ;;
      *) break ;;
    esac
  done
}

# tuned MODEL-DIR: the options that tune found.
tuned() { grep '^--' "$1/tuned.conf"; }

# take_trial MODEL-DIR: the trial that tune chose becomes the model, if its trials are whole trainings.
take_trial() {
  local trial
  trial=$1/tune/$(tuned "$1" | sed 's/^--//' | paste -sd ,)
  ! newer "$1/final.pt" "$1/tuned.conf" "$trial/final.pt" || return 0
  # The model is there when all other files are.
  tar -C "$trial" --exclude ./final.pt -c . | tar -C "$1" -x && make_file "$1/final.pt" cat "$trial/final.pt"
}

# train SYSTEM STORE [OPTION …]: trains conf/SYSTEM.conf.
train() { train_model "$exp/$1" "$data/$2" "conf/$1.conf" "${@:3}"; }

# train_asked SYSTEM STORE [OPTION …]: the same, if --systems has it.
train_asked() { ! asked "$1" || train "$@"; }

# is_packed MODEL-DIR: whether the model is one of `punc pack`, as those that ship are.
is_packed() { [ -f "$1/model.json" ]; }

# decode MODEL-DIR DATA-DIR OUT-DIR [OPTION …]: punc punctuate, in --nj processes or jobs, if OUT-DIR is older than the
# model or the data. OUT-DIR is ROW/NAME; the model of another seed than 1 makes ROW.seedN/NAME.
decode() {
  local seed model
  for seed in $seeds; do
    model=$(dir_of_seed "$seed" "$1")
    [ "$seed" = 1 ] || [ -f "$model/final.pt" ] || continue  # models that are fitted have one seed
    _decode "$model" "$2" "$(dir_of_seed "$seed" "${3%/*}")/${3##*/}" "${@:4}" || return
  done
}

_decode() {
  local log=${3%/*}/log/${3##*/} weights=final.pt
  ! is_packed "$1" || weights=model.json
  ! newer "$3/text" "$1/$weights" "$2/text" || return 0
  share "$log" "$3" punc punctuate --nj "$processes" "${decode_options[@]}" "${@:4}" "$1" "$2" "$3"
}

# score REFERENCE-DIR DECODED-DIR OUT-DIR [OPTION …]: punc score into OUT-DIR/score, if that is older than what is
# scored, or than run.sh, which has the options. OUT-DIR is ROW/decode_SET, for another seed than 1 ROW.seedN/decode_SET,
# and so is DECODED-DIR. With score_name=score_NAME set, the score is another one of the same output, NAME.
score() {
  local seed decoded
  for seed in $seeds; do
    decoded=$(dir_of_seed "$seed" "${2%/*}")/${2##*/}
    [ "$seed" = 1 ] || [ -f "$decoded/punct" ] || continue
    _score "$1" "$decoded" "$(dir_of_seed "$seed" "${3%/*}")/${3##*/}" "${@:4}" || return
  done
}

_score() {
  local name=${score_name-score} log
  log=${3%/*}/log/${name}_${3##*/decode_}
  ! newer "$3/$name/metrics.tsv" "$1/punct" "$2/punct" run.sh || return 0
  set -- "$3/$name" punc score --labels "$label_file" "${score_options[@]}" "${@:4}" "$1" "$2" "$3/$name"
  one_job "$log.log" "${@:2}"
}

# decode_row ROW MODEL-DIR SETS [OPTION …]: punctuates sets with these options, and scores them: one row of the results.
decode_row() {
  local set
  for set in $3; do
    decode "$2" "$data/$set" "$exp/$1/decode_$set" "${@:4}"
    score "$data/$set" "$exp/$1/decode_$set" "$exp/$1/decode_$set"
  done
}

# tune_scale SYSTEM SET …: writes exp/SYSTEM/scale, the --scale of the labels without a mark that is best on sets. A packed
# model has its scale in it, so that of the file is none.
tune_scale() {
  local set pairs=()
  if is_packed "$exp/$1"; then make_file "$exp/$1/scale" : && return; fi
  for set in "${@:2}"; do
    _decode "$exp/$1" "$data/$set" "$exp/$1/tune_$set" --posteriors true || return
    pairs+=("$data/$set" "$exp/$1/tune_$set")
  done
  make_file "$exp/$1/scale" tune_scale.py "$label_file" "${pairs[@]}"
}

# tuned_row ROW SYSTEM DEV-SET SETS: decode_row, with the --scale that is best on DEV-SET.
tuned_row() { tune_scale "$2" "$3" && decode_row "$1" "$exp/$2" "$4" --scale "$(cat "$exp/$2/scale")"; }

# decode_and_score SYSTEM SET …: the row of a system.
decode_and_score() { decode_row "$1" "$exp/$1" "${*:2}"; }

# plot_posteriors SYSTEM SET: a picture of P(PERIOD) against the pause, with the thresholds of 4-gram+DT-p.
plot_posteriors() {
  local tree=$exp/4-gram+DT-p thresholds=
  [ -f "$exp/$1/decode_$2/post.ark" ] || return 0
  [ ! -f "$tree/final.pt" ] || thresholds=$(python -c \
    'import sys; from punc.models.base import load; print(*load(sys.argv[1]).thresholds()[:, 0])' "$tree")
  mkdir -p "$exp/results"
  punc plot-pauses --decode "$exp/$1/decode_$2" --thresholds "$thresholds" \
    --title "$1: P(PERIOD) against the pause" "$data/$2" "$exp/results/posteriors.png"
}

# command_line: the command of this run, as it can be given again.
command_line() {
  local argument line=./run.sh
  for argument in "${_arguments[@]}"; do
    [[ $argument =~ ^[A-Za-z0-9_.,:/=+@%-]+$ ]] || argument="'${argument//\'/\'\\\'\'}'"
    line+=" $argument"
  done
  echo "$line"
}

# collect_results [CONF]: writes the pages of all systems that have been scored, and prints the first, RESULTS.md.
# report.html shows the same scores with plots and with the errors in the text. conf/results-PAGE.conf is of the pages in
# results/PAGE, or of those of the recipe if it has no conf/results.conf and there are none in results/PAGE.
collect_results() {
  local conf=${1-conf/results.conf} published=. kept=()
  case $conf in */results-*) published=results/${conf##*/results-} published=${published%.conf} ;; esac
  [ -d "$published" ] || [ -f conf/results.conf ] || published=.
  if $keep_rows && [ -f "$published/RESULTS.tsv" ]; then kept=(--keep "$published"); fi
  punc results --config "$conf" "${kept[@]}" --command "$(command_line)" "$exp"
  punc report --title "$(sed -n 's/^--title=//p' "$conf")" --data "$data" "$exp" "$exp/report.html"
  cat "$exp/RESULTS.md"
}
