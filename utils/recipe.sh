# Sourced by a recipe's run.sh after its default values, cmd.sh and path.sh. Reads the options of the command line (see
# parse_options.sh), and has the functions that recipes share. They use run.sh's stage, stop_stage, systems, and
#
#   cmd, nj          the work on a data directory is shared: by nj processes on this machine if cmd is run.pl; by nj jobs of
#                    cmd, each with one process, if it is slurm.pl or another one. Both make the same files
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

data=data exp=exp label_file=conf/labels.txt decode_options=() score_options=()
# Whether $cmd takes jobs to other machines, and how many processes a command has.
case ${cmd%% *} in run.pl | */run.pl) cluster=false processes=$nj ;; *) cluster=true processes=1 ;; esac

# What starts a training in several processes. The job expands Slurm's variables.
launch=()
if [ "$train_nodes" -gt 1 ]; then
  # shellcheck disable=SC2016
  launch=(srun --kill-on-bad-exit=1 --cpus-per-task '${SLURM_CPUS_PER_TASK:-1}'
    torchrun --nnodes "$train_nodes" --nproc-per-node "$train_ranks" --rdzv-backend c10d --rdzv-id '$SLURM_JOB_ID'
    --rdzv-endpoint '$SLURMD_NODENAME:$((20000+SLURM_JOB_ID%10000))' --no-python)
elif [ "$train_ranks" -gt 1 ]; then
  launch=(torchrun --standalone --nproc-per-node "$train_ranks" --no-python)
fi

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

# choose_systems [TABLE]: reads the table of systems, conf/systems, and checks that --systems has only names from it. A line is
#
#   NAME STAGE STORE [NEED …]
#
# A need is a system further up, which is trained too, or a program or data that run.sh knows. A NAME in parentheses is no
# row of the results: others need it.
_systems=()
declare -A stage_of store_of needs_of
choose_systems() {
  local name stage store needs rows=()
  while read -r name stage store needs; do
    case $name in '' | '#'*) continue ;; '('*) name=${name//[()]/} ;; *) rows+=("$name") ;; esac
    _systems+=("$name") stage_of[$name]=$stage store_of[$name]=$store needs_of[$name]=$needs
  done <"${1-conf/systems}"
  choose systems "${rows[@]}"
}

# asked NAME: whether --systems has the system NAME, or one that reads the store NAME, or needs the program or data NAME.
asked() {
  local system
  for system in $systems; do
    case $1 in "$system" | "${store_of[$system]-}") return 0 ;; esac
    [ -n "${stage_of[$1]-}" ] || [[ " ${needs_of[$system]-} " != *" $1 "* ]] || return 0
  done
  return 1
}

# leave_out NEED REASON: takes the systems that need what is not there out of --systems, and says so.
leave_out() {
  local system kept='' left=''
  for system in $systems; do
    case " ${needs_of[$system]} " in *" $1 "*) left+=" $system" ;; *) kept+=" $system" ;; esac
  done
  systems=${kept# }
  [ -z "$left" ] || echo "$0: $2, so no$left" >&2
}

# runs STAGE: whether --stage and --stop-stage have it.
runs() { [ "$stage" -le "$1" ] && [ "$stop_stage" -ge "$1" ]; }

# in_stage STAGE: the systems to train in a stage, as they stand in the table: those of --systems, and those that they need.
in_stage() {
  local system number wanted=" $systems "
  for ((number = ${#_systems[@]} - 1; number >= 0; number--)); do  # what a system needs is further up
    system=${_systems[number]}
    [[ $wanted != *" $system "* ]] || wanted+="${needs_of[$system]} "
  done
  for system in "${_systems[@]}"; do
    [[ $wanted != *" $system "* ]] || [ "${stage_of[$system]}" != "$1" ] || echo "$system"
  done
}

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

# in_jobs LOG OUT-DIR punc COMMAND ARGUMENT …: one_job, with the log LOG.log; if $cmd takes jobs to other machines, --nj of
# them make parts of the directory OUT-DIR, one of the arguments, and are joined. Their logs are LOG.JOB.log.
in_jobs() {
  local log=$1 out=$2 parts=$2.parts job argument joined=() arguments=() quoted
  if ! $cluster; then one_job "$log.log" "${@:3}"; return; fi
  for argument in "${@:5}"; do
    if [ "$argument" = "$out" ]; then quote "$parts/" && quoted+=JOB; else quote "$argument"; fi
    arguments+=("${quoted[@]}")
  done
  for ((job = 1; job <= nj; job++)); do joined+=("$parts/$job"); done
  rm -rf "$parts"  # left by a run that was killed
  $cmd JOB=1:"$nj" "$log.JOB.log" "$3" "$4" --jobs "$nj" --job JOB "${arguments[@]}" &&
    one_job "$log.log" punc join "$out" "${joined[@]}" && rm -rf "$parts"
}

# text_job LOG COMMAND …: one_job, if $cmd takes jobs to other machines; otherwise the command, here.
text_job() { if $cluster; then one_job "$@"; else "${@:2}"; fi; }

# check_labels DATA-DIR: fails if the data directory was made with another label set, which is in its punct.labels.
check_labels() {
  local one_form='/^#/d; s/[[:space:]]+/ /g; s/^ | $//g; /^$/d'  # of a label set, without comments, one blank between columns
  [ ! -f "$1/punct.labels" ] || cmp -s <(sed -E "$one_form" "$1/punct.labels") <(sed -E "$one_form" "$label_file") ||
    fail "$1 was made with another label set than $label_file; remove the data, and what was made of them: rm -r $data $exp"
}

# prepare_set SET [OPTION …] FILE …: punc prepare, the data directory of a set, if it is not there yet.
prepare_set() {
  if [ -f "$data/$1/text" ]; then check_labels "$data/$1" && return; fi
  text_job "$data/log/prepare_$1.log" punc prepare --nj "$processes" --labels "$label_file" "${@:2}" "$data/$1"
}

# prepare_listed SET [OPTION …]: the data directory of the texts in data/split/SET. A list that was edited since is refused:
# other sets, the stores and the models are made from the old lists, too.
prepare_listed() {
  local files
  [ ! -f "$data/$1/text" ] || [ "$data/$1/text" -nt "$data/split/$1" ] ||
    fail "$data/split/$1 is newer than $data/$1; remove all that was made from the old lists, but $data/split, and $exp"
  mapfile -t files <"$data/split/$1"
  prepare_set "$1" "${@:2}" "${files[@]}"
}

# make_store [OPTION …] STORE-DIR DATA-DIR …: punc make-store with the label set.
make_store() {
  local options=()
  while [[ $1 = --* ]]; do options+=("$1" "$2") && shift 2; done
  text_job "${1%/*}/log/${1##*/}.log" punc make-store --nj "$processes" --labels "$label_file" "${options[@]}" "$@"
}

# validate SET …: checks data directories.
validate() {
  local set
  for set in "$@"; do punc validate --labels "$label_file" "$data/$set"; done
}

# For the scripts in local/, which make data and stores too.
export -f fail quote one_job in_jobs text_job check_labels prepare_set make_store validate newer make_file
export cmd nj cluster processes data exp label_file

# project REFERENCE-SET ASR-SET OUT-SET: the ASR output with the labels of the reference, if it is not there yet.
project() {
  if [ -f "$data/$3/text" ]; then check_labels "$data/$3" && return; fi
  punc project --labels "$label_file" "$data/$1" "$data/$2" "$data/$3" 2>&1 | tee "$data/$3.wer" >&2
}

# prepare_asr CTM-OR-DIR: the set test_asr, the ASR output for the recordings of test_ref with the labels of test_ref.
prepare_asr() {
  if [ ! -f "$data/test_asr_words/text" ]; then
    if [ -d "$1" ]; then cat "$1"/*.ctm; else cat "$1"; fi |
      awk 'NR == FNR { test[$1]; next } $1 in test' "$data/test_ref/spk2utt" - >"$data/test_asr.ctm"
    text_job "$data/log/prepare_test_asr.log" punc prepare --format ctm "$data/test_asr.ctm" "$data/test_asr_words"
  fi
  project test_ref test_asr_words test_asr
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

# train CONF STORE MODEL-DIR [OPTION …]: punc train, once for each of --seeds. Keeps a finished model that is newer than its
# store, its conf and what was tuned for it. A run that was stopped goes on where it was; the logs of its parts are
# train.1.log … train.log. A model that is not trained by gradient has no random weights, so one seed will do.
train() {
  local conf=$1 store=$2 model log number files seed of_seed quoted
  mapfile -t files < <(conf_files "$conf")
  for seed in $seeds; do
    model=$(dir_of_seed "$seed" "$3") of_seed=()
    if [ "$seed" != 1 ]; then
      ! grep -qhE '^--model=(ngram|ngram_dt|word_crf)([[:space:]]|$)' "${files[@]}" || continue
      mapfile -t of_seed < <(options_of_seed "$seed" "$conf" "${@:4}" | tr ' ' '\n')
    fi
    [ ! -f "$3/tuned.conf" ] || files+=("$3/tuned.conf")
    # A run that was killed in its last moment has left its progress: punc train sees that it is finished, and removes it.
    newer "$model/final.pt" "$store/conf" "${files[@]}" && [ ! -e "$model/progress.pt" ] && continue
    log=$model/log/train.log number=1
    if [ -s "$log" ] && ! grep -q ' is finished$' "$log"; then  # $cmd begins a log anew
      while [ -e "${log%.log}.$number.log" ]; do number=$((number + 1)); done
      mv "$log" "${log%.log}.$number.log"
    fi
    quote punc train --config "$conf" "${@:4}" "${of_seed[@]}" "$store" "$model"
    ${train_cmd:-$cmd} "$log" "${launch[@]}" "${quoted[@]}" || return
  done
}

# decode MODEL-DIR DATA-DIR OUT-DIR [OPTION …]: punc punctuate, if OUT-DIR is older than the model or the data. OUT-DIR is
# ROW/NAME; the model of another seed than 1 makes ROW.seedN/NAME. A packed model has model.json, others final.pt.
decode() {
  local seed model out weights
  for seed in $seeds; do
    model=$(dir_of_seed "$seed" "$1") out=$(dir_of_seed "$seed" "${3%/*}")/${3##*/}
    [ "$seed" = 1 ] || [ -f "$model/final.pt" ] || continue  # some models have one seed
    if [ -f "$model/model.json" ]; then weights=model.json; else weights=final.pt; fi
    newer "$out/text" "$model/$weights" "$2/text" || in_jobs "${out%/*}/log/${out##*/}" "$out" \
      punc punctuate --nj "$processes" "${decode_options[@]}" "${@:4}" "$model" "$2" "$out" || return
  done
}

# score REFERENCE-DIR DECODED-DIR OUT-DIR [OPTION …]: punc score into OUT-DIR/score, if that is older than what is
# scored, or than run.sh, which has the options. OUT-DIR is ROW/decode_SET, for another seed than 1 ROW.seedN/decode_SET,
# and so is DECODED-DIR. With score_name=score_NAME set, the score is another one of the same output, NAME.
score() {
  local seed decoded out name=${score_name-score}
  for seed in $seeds; do
    decoded=$(dir_of_seed "$seed" "${2%/*}")/${2##*/} out=$(dir_of_seed "$seed" "${3%/*}")/${3##*/}
    [ "$seed" = 1 ] || [ -f "$decoded/punct" ] || continue
    newer "$out/$name/metrics.tsv" "$1/punct" "$decoded/punct" run.sh ||
      one_job "${out%/*}/log/${name}_${out##*/decode_}.log" punc score --labels "$label_file" "${score_options[@]}" \
        "${@:4}" "$1" "$decoded" "$out/$name" || return
  done
}

# decode_and_score MODEL-DIR ROW-DIR 'SET …' [OPTION …]: punctuates sets with these options, as ROW-DIR/decode_SET, and scores
# them: one row of the results.
decode_and_score() {
  local set
  for set in $3; do
    decode "$1" "$data/$set" "$2/decode_$set" "${@:4}"
    score "$data/$set" "$2/decode_$set" "$2/decode_$set"
  done
}

# tune_scale MODEL-DIR SET …: writes MODEL-DIR/scale, the --scale of the labels without a mark that is best on sets. A packed
# model has its scale in it, so that of the file is none.
tune_scale() {
  local set pairs=() seeds=1
  if [ -f "$1/model.json" ]; then make_file "$1/scale" : && return; fi
  for set in "${@:2}"; do
    decode "$1" "$data/$set" "$1/tune_$set" --posteriors true || return
    pairs+=("$data/$set" "$1/tune_$set")
  done
  make_file "$1/scale" tune_scale.py "$label_file" "${pairs[@]}"
}

# collect_results [CONF]: writes the pages of all systems that have been scored, and prints the first, RESULTS.md.
# report.html shows the same scores with plots and with the errors in the text. conf/results-PAGE.conf is of the pages in
# results/PAGE, or of those of the recipe if it has no conf/results.conf and there are none in results/PAGE.
collect_results() {
  local conf=${1-conf/results.conf} published=. kept=() argument line=./run.sh
  case $conf in */results-*) published=results/${conf##*/results-} published=${published%.conf} ;; esac
  [ -d "$published" ] || [ -f conf/results.conf ] || published=.
  if $keep_rows && [ -f "$published/RESULTS.tsv" ]; then kept=(--keep "$published"); fi
  for argument in "${_arguments[@]}"; do  # the command of this run, as it can be given again
    [[ $argument =~ ^[A-Za-z0-9_.,:/=+@%-]+$ ]] || argument="'${argument//\'/\'\\\'\'}'"
    line+=" $argument"
  done
  punc results --config "$conf" "${kept[@]}" --command "$line" "$exp"
  punc report --title "$(sed -n 's/^--title=//p' "$conf")" --data "$data" "$exp" "$exp/report.html"
  cat "$exp/RESULTS.md"
}
