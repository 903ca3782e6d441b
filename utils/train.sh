# Sourced by recipe.sh: trains a model with each of --seeds, in one or several processes. Uses seeds, train_ranks,
# train_nodes, train_cmd and cmd of recipe.sh.
# shellcheck shell=bash disable=SC2154

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

# conf_files CONF: a conf file and all files that it includes.
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

# options_of_seed SEED CONF [OPTION …]: the options to train a model with a seed other than 1. A model that it is built
# on, named by an option --…-model, is that of the same seed, if it exists.
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

# train CONF STORE MODEL-DIR [OPTION …]: punc train, once for each of --seeds. Keeps a finished model that is newer than
# its store, its conf and its tuned options. A stopped run continues where it was; the logs of its parts are train.1.log
# … train.log. A model that is not trained by gradient has no random weights, so one seed is enough.
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
    # A run killed at the last moment has left its progress; punc train sees that it is finished, and removes it.
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
