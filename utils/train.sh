# Sourced by recipe.sh: trains a model with each of --seeds, in one or several processes. Uses the variables seeds,
# train_ranks, train_nodes, train_cmd and cmd of recipe.sh.
# shellcheck shell=bash disable=SC2154

# launch: the command that starts a training in several processes. Slurm's variables are expanded in the job.
launch=()
if [ "$train_nodes" -gt 1 ]; then
  # shellcheck disable=SC2016
  launch=(srun --kill-on-bad-exit=1 --cpus-per-task '${SLURM_CPUS_PER_TASK:-1}'
    torchrun --nnodes "$train_nodes" --nproc-per-node "$train_ranks" --rdzv-backend c10d --rdzv-id '$SLURM_JOB_ID'
    --rdzv-endpoint '$SLURMD_NODENAME:$((20000+SLURM_JOB_ID%10000))' --no-python)
elif [ "$train_ranks" -gt 1 ]; then
  launch=(torchrun --standalone --nproc-per-node "$train_ranks" --no-python)
fi

# conf_files CONF: prints a conf file and all files that it includes.
conf_files() {
  local included
  echo "$1"
  while read -r included; do
    case $included in /*) ;; *) included=$(dirname "$1")/$included ;; esac
    conf_files "$included"
  done < <(sed -nE 's/^--config(=|[[:space:]]+)([^[:space:]]+).*/\2/p' "$1")
}

# dir_of_seed SEED DIR: prints the directory of a model or results row for a seed: DIR itself for seed 1.
dir_of_seed() { if [ "$1" = 1 ]; then echo "$2"; else echo "$2.seed$1"; fi; }

# options_of_seed SEED CONF [OPTION …]: prints the options for training a model with a seed other than 1. If the model
# is built on another model, which an option --…-model names, uses that model with the same seed, if it exists.
options_of_seed() {
  local argument option='' model
  echo "--seed $1"
  { # the first value counts: from the command line, the conf, and the files that the conf includes
    for argument in "${@:3}"; do
      case $option in --*-model) echo "$option $argument" ;; esac
      option=$argument
    done
    conf_files "$2" | xargs -d '\n' sed -nE 's/^(--[a-z-]+-model)=([^[:space:]]+).*/\1 \2/p'
  } | awk '!seen[$1]++' | while read -r option model; do
    [ ! -f "$model.seed$1/final.pt" ] || echo "$option $model.seed$1"
  done
}

# train CONF STORE MODEL-DIR [OPTION …]: runs punc train once for each of --seeds. Keeps a finished model that is newer
# than its store, its conf and its tuned options. A stopped run is continued; its logs are train.1.log … train.log. A
# model that is not trained by gradient has no random weights, so it is trained with only one seed.
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
    # A run that was killed just before its end leaves progress.pt. punc train then finds the training finished, and
    # removes this file.
    newer "$model/final.pt" "$store/conf" "${files[@]}" && [ ! -e "$model/progress.pt" ] && continue
    log=$model/log/train.log number=1
    if [ -s "$log" ] && ! grep -q ' is finished$' "$log"; then  # keep the log, which $cmd would overwrite
      while [ -e "${log%.log}.$number.log" ]; do number=$((number + 1)); done
      mv "$log" "${log%.log}.$number.log"
    fi
    quote punc train --config "$conf" "${@:4}" "${of_seed[@]}" "$store" "$model"
    ${train_cmd:-$cmd} "$log" "${launch[@]}" "${quoted[@]}" || return
  done
}
