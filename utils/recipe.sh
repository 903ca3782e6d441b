# Sourced by a recipe's run.sh behind parse_options.sh: what the stages of all recipes have in common. It reads the
# variables stage, stop_stage, systems and cmd.
# shellcheck shell=bash disable=SC2154

# runs STAGE: whether --stage and --stop-stage have it.
runs() { [ "$stage" -le "$1" ] && [ "$stop_stage" -ge "$1" ]; }

# asked SYSTEM: whether --systems has it.
asked() { case " $systems " in *" $1 "*) ;; *) false ;; esac }

# train_model EXP STORE CONF [OPTION …]: punc train. A finished model that is younger than its store and conf is kept; a
# run that was stopped goes on where it was.
train_model() {
  local exp=$1 store=$2 conf=$3
  # A run that was killed in its last moment left its progress: punc train sees that it is finished, and removes it.
  [ "$exp/final.pt" -nt "$store/conf" ] && [ "$exp/final.pt" -nt "$conf" ] && [ ! -e "$exp/progress.pt" ] && return
  $cmd "$exp/log/train.log" punc train --config "$conf" "${@:4}" "$store" "$exp"
}
