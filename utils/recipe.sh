# Sourced by a recipe's run.sh after its default values, cmd.sh and path.sh. Reads the options of the command line (see
# parse_options.sh), and defines the functions that recipes share. If cmd is run.pl, --nj is the number of processes for
# text on this machine; otherwise, it is the number of jobs, each with one process. Both give the same files. A recipe
# may set data, exp, label_file, decode_options (for punc punctuate) and score_options (for punc score).
# shellcheck shell=bash disable=SC2154

fail() {
  echo "$0: $*" >&2
  exit 1
}

train_ranks=1  # --train-ranks: number of processes on a machine that train a model together
train_nodes=1  # --train-nodes: number of machines of a Slurm job that train a model, each with --train-ranks processes
train_cmd=${train_cmd-}  # like $cmd, for training jobs that need other resources
keep_rows=false  # --keep-rows true: the pages keep the published rows of systems that are not in exp
seeds=1  # --seeds "1 2 3": train each system with each seed, as exp/SYSTEM, exp/SYSTEM.seed2 and exp/SYSTEM.seed3

_arguments=("$@")
_start_dir=${OLDPWD:-$PWD}  # run.sh has changed to its own directory
. "$(dirname "${BASH_SOURCE[0]}")/quote.sh"
. "$(dirname "${BASH_SOURCE[0]}")/parse_options.sh"
[ $# = 0 ] || fail "'$1' is not an option; see $0 --help"
[ -z "${PUNC_ROOT-}" ] || bash "$PUNC_ROOT/utils/setup.sh" --train || exit 1  # recipes need PyTorch; bundled models alone do not
for _option in stage stop_stage; do
  [[ ${!_option-0} =~ ^-?[0-9]+$ ]] || fail "--${_option//_/-} '${!_option}' is not a number; stages are 0 to 7"
done
[[ ${nj=1} =~ ^[1-9][0-9]*$ ]] || fail "--nj $nj is not a number of processes or jobs; give 1 or more"
for _option in train_ranks train_nodes; do
  [[ ${!_option} =~ ^[1-9][0-9]*$ ]] || fail "--${_option//_/-} ${!_option}; give 1 or more"
done
[[ $seeds =~ ^[1-9][0-9]*(\ [1-9][0-9]*)*$ ]] || fail "--seeds '$seeds'; write whole numbers, as --seeds '1 2 3'"

# Only one run (or one per language) is allowed at a time, because a second one would write the same files. Runs of only
# stage 4 are an exception: they can train several systems at once, because punc train locks its output directory.
. "$(dirname "${BASH_SOURCE[0]}")/lock.sh"
[ "${stage-0} ${stop_stage-}" = "4 4" ] || lock_directory "exp${language:+/$language}" "$0" "${_arguments[@]}"

data=data exp=exp label_file=conf/labels.txt decode_options=() score_options=()
# cluster: whether $cmd sends jobs to other machines; processes: how many processes each command may use.
case ${cmd%% *} in run.pl | */run.pl) cluster=false processes=$nj ;; *) cluster=true processes=1 ;; esac

. "$(dirname "${BASH_SOURCE[0]}")/train.sh"

# absolute OPTION …: makes the paths in these options absolute. They are relative to the user's current directory.
absolute() {
  local name
  for name in "$@"; do
    case ${!name} in '' | /*) ;; *) printf -v "$name" %s "$_start_dir/${!name}" ;; esac
  done
}

# choose OPTION NAME …: checks that the option's value has only these names, separated by spaces. An empty value or
# `all` becomes all names.
choose() {
  local name
  case ${!1} in '' | all) printf -v "$1" %s "${*:2}" ;; esac
  for name in ${!1}; do
    case " ${*:2} " in *" $name "*) ;; *) fail "--${1//_/-}: there is no '$name'; choose from ${*:2}" ;; esac
  done
}

# choose_systems [TABLE]: reads the table of systems, conf/systems, and checks that --systems has only names from it.
# Its lines are NAME STAGE STORE [NEED …]. A NEED is either a system of an earlier line, which is then trained, too, or
# the name of a program or data that run.sh checks for. A system whose NAME is in parentheses is not in the results.
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

# asked NAME: whether NAME is a system in --systems, or a store, program or data that one of these systems needs.
asked() {
  local system
  for system in $systems; do
    case $1 in "$system" | "${store_of[$system]-}") return 0 ;; esac
    [ -n "${stage_of[$1]-}" ] || [[ " ${needs_of[$system]-} " != *" $1 "* ]] || return 0
  done
  return 1
}

# leave_out NEED REASON: removes the systems with this NEED from --systems, and prints a message.
leave_out() {
  local system kept='' left=''
  for system in $systems; do
    case " ${needs_of[$system]} " in *" $1 "*) left+=" $system" ;; *) kept+=" $system" ;; esac
  done
  systems=${kept# }
  [ -z "$left" ] || echo "$0: $2, so no$left" >&2
}

# runs STAGE: whether this stage is between --stage and --stop-stage.
runs() { [ "$stage" -le "$1" ] && [ "$stop_stage" -ge "$1" ]; }

# in_stage STAGE: prints the systems to train in a stage, in table order: those in --systems, and those that they need.
in_stage() {
  local system number wanted=" $systems "
  for ((number = ${#_systems[@]} - 1; number >= 0; number--)); do  # backwards, because needed systems are above
    system=${_systems[number]}
    [[ $wanted != *" $system "* ]] || wanted+="${needs_of[$system]} "
  done
  for system in "${_systems[@]}"; do
    [[ $wanted != *" $system "* ]] || [ "${stage_of[$system]}" != "$1" ] || echo "$system"
  done
}

# newer FILE OTHER …: whether FILE exists and is newer than all others.
newer() {
  local other
  for other in "${@:2}"; do [ "$1" -nt "$other" ] || return 1; done
}

# make_file FILE COMMAND …: writes the output of the command to FILE, completely or not at all.
make_file() { "${@:2}" >"$1.new" && mv "$1.new" "$1"; }

# two_at_a_time COMMAND ARGUMENT …: runs the command once for each argument, two at a time. Stops if one fails.
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

# one_job LOG COMMAND ARGUMENT …: runs a command through $cmd, with exactly these arguments.
one_job() {
  local quoted
  quote "${@:2}"
  $cmd "$1" "${quoted[@]}"
}

# in_jobs LOG OUT-DIR punc COMMAND ARGUMENT …: runs the command through one_job, with the log LOG.log. If $cmd sends
# jobs to other machines, --nj jobs with the logs LOG.JOB.log make parts of OUT-DIR, which is one of the arguments. The
# parts are then joined.
in_jobs() {
  local log=$1 out=$2 parts=$2.parts job argument joined=() arguments=() quoted
  if ! $cluster; then one_job "$log.log" "${@:3}"; return; fi
  for argument in "${@:5}"; do
    if [ "$argument" = "$out" ]; then quote "$parts/" && quoted+=JOB; else quote "$argument"; fi
    arguments+=("${quoted[@]}")
  done
  for ((job = 1; job <= nj; job++)); do joined+=("$parts/$job"); done
  rm -rf "$parts"  # a killed run may have left parts
  $cmd JOB=1:"$nj" "$log.JOB.log" "$3" "$4" --jobs "$nj" --job JOB "${arguments[@]}" &&
    one_job "$log.log" punc join "$out" "${joined[@]}" && rm -rf "$parts"
}

# text_job LOG COMMAND …: runs the command, through one_job if $cmd sends jobs to other machines.
text_job() { if $cluster; then one_job "$@"; else "${@:2}"; fi; }

# check_labels DATA-DIR: fails if the data directory was made with another label set, as its punct.labels shows.
check_labels() {
  local one_form='/^#/d; s/[[:space:]]+/ /g; s/^ | $//g; /^$/d'  # no comments, one space between columns
  [ ! -f "$1/punct.labels" ] || cmp -s <(sed -E "$one_form" "$1/punct.labels") <(sed -E "$one_form" "$label_file") ||
    fail "$1 was made with another label set than $label_file; remove the data and everything made from them: cd $(printf %q "$PWD") && rm -r $data $exp"
}

# prepare_set SET [OPTION …] FILE …: makes the data directory of a set with punc prepare, if it does not exist.
prepare_set() {
  if [ -f "$data/$1/text" ]; then check_labels "$data/$1" && return; fi
  text_job "$data/log/prepare_$1.log" punc prepare --nj "$processes" --labels "$label_file" "${@:2}" "$data/$1"
}

# prepare_listed SET [OPTION …]: makes the data directory of the texts listed in data/split/SET. Fails if the list has
# been edited since, because other sets, the stores and the models were made from the old lists.
prepare_listed() {
  local files
  [ ! -f "$data/$1/text" ] || [ "$data/$1/text" -nt "$data/split/$1" ] ||
    fail "$data/split/$1 is newer than $data/$1; remove $exp and everything in $data except split"
  mapfile -t files <"$data/split/$1"
  prepare_set "$1" "${@:2}" "${files[@]}"
}

# make_store [OPTION …] STORE-DIR DATA-DIR …: runs punc make-store with the label set.
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

# Exported for the scripts in local/, which also make data and stores.
export -f fail quote one_job in_jobs text_job check_labels prepare_set make_store validate newer make_file
export cmd nj cluster processes data exp label_file

# project REFERENCE-SET ASR-SET OUT-SET: makes the set of ASR output with the reference's labels, if it does not exist.
project() {
  if [ -f "$data/$3/text" ]; then check_labels "$data/$3" && return; fi
  punc project --labels "$label_file" "$data/$1" "$data/$2" "$data/$3" 2>&1 | tee "$data/$3.wer" >&2
}

# prepare_asr CTM-OR-DIR: makes the set test_asr: ASR output for the recordings of test_ref, with projected labels.
prepare_asr() {
  if [ ! -f "$data/test_asr_words/text" ]; then
    if [ -d "$1" ]; then cat "$1"/*.ctm; else cat "$1"; fi |
      awk 'NR == FNR { test[$1]; next } $1 in test' "$data/test_ref/spk2utt" - >"$data/test_asr.ctm"
    text_job "$data/log/prepare_test_asr.log" punc prepare --format ctm "$data/test_asr.ctm" "$data/test_asr_words"
  fi
  project test_ref test_asr_words test_asr
}

# decode MODEL-DIR DATA-DIR OUT-DIR [OPTION …]: runs punc punctuate if OUT-DIR is older than the model or the data.
# OUT-DIR is ROW/NAME or, for seeds other than 1, ROW.seedN/NAME. Packed models have model.json, others final.pt.
decode() {
  local seed model out weights
  for seed in $seeds; do
    model=$(dir_of_seed "$seed" "$1") out=$(dir_of_seed "$seed" "${3%/*}")/${3##*/}
    [ "$seed" = 1 ] || [ -f "$model/final.pt" ] || continue  # some models have only one seed
    if [ -f "$model/model.json" ]; then weights=model.json; else weights=final.pt; fi
    newer "$out/text" "$model/$weights" "$2/text" || in_jobs "${out%/*}/log/${out##*/}" "$out" \
      punc punctuate --nj "$processes" "${decode_options[@]}" "${@:4}" "$model" "$2" "$out" || return
  done
}

# score REFERENCE-DIR DECODED-DIR OUT-DIR [OPTION …]: runs punc score if OUT-DIR/score is older than its inputs, or than
# run.sh, which contains the options. OUT-DIR and DECODED-DIR are ROW/decode_SET or, for seeds other than 1,
# ROW.seedN/decode_SET. score_name=score_NAME writes another score of the same output, OUT-DIR/score_NAME.
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

# decode_and_score MODEL-DIR ROW-DIR 'SET …' [OPTION …]: makes a row of the results: punctuates each set into
# ROW-DIR/decode_SET with these options, and scores it.
decode_and_score() {
  local set
  for set in $3; do
    decode "$1" "$data/$set" "$2/decode_$set" "${@:4}"
    score "$data/$set" "$2/decode_$set" "$2/decode_$set"
  done
}

# tune_scale MODEL-DIR SET …: finds the scale of the labels without a mark that is best on these sets, and writes it to
# MODEL-DIR/scale. For a packed model, which contains its scale, the file is empty.
tune_scale() {
  local set pairs=() seeds=1
  if [ -f "$1/model.json" ]; then make_file "$1/scale" : && return; fi
  for set in "${@:2}"; do
    decode "$1" "$data/$set" "$1/tune_$set" --posteriors true || return
    pairs+=("$data/$set" "$1/tune_$set")
  done
  make_file "$1/scale" tune_scale.py "$label_file" "${pairs[@]}"
}

# collect_results [CONF]: writes the pages of all systems that have been scored, prints RESULTS.md, and writes
# report.html, with plots and the errors in the text. With --keep-rows and conf/results-PAGE.conf, published rows come
# from results/PAGE, or from the recipe's own RESULTS.md if results/PAGE and conf/results.conf do not exist.
collect_results() {
  local conf=${1-conf/results.conf} published=. kept=() argument line=./run.sh
  case $conf in */results-*) published=results/${conf##*/results-} published=${published%.conf} ;; esac
  [ -d "$published" ] || [ -f conf/results.conf ] || published=.
  if $keep_rows && [ -f "$published/RESULTS.tsv" ]; then kept=(--keep "$published"); fi
  for argument in "${_arguments[@]}"; do  # the command of this run, so that it can be repeated
    [[ $argument =~ ^[A-Za-z0-9_.,:/=+@%-]+$ ]] || argument="'${argument//\'/\'\\\'\'}'"
    line+=" $argument"
  done
  punc results --config "$conf" "${kept[@]}" --command "$line" "$exp"
  punc report --title "$(sed -n 's/^--title=//p' "$conf")" --data "$data" "$exp" "$exp/report.html"
  cat "$exp/RESULTS.md"
}
