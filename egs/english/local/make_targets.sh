#!/usr/bin/env bash
# usage: local/make_targets.sh TEACHER SET …
# Makes the soft targets of joined sets of data/store, exp/TEACHER/targets_SET: punctuates the data directories of their
# members with the teacher, each once. What is finished is not made again. in_jobs is a function of recipe.sh.
# shellcheck disable=SC2154  # recipe.sh exports processes
set -euo pipefail
teacher=exp/$1
for set in "${@:2}"; do
  punctuated=()
  for member in $(sed -n "s/^--join=$set=//p" data/store/conf | tr , ' '); do
    out=$teacher/posteriors_$member
    punctuated+=("$out")
    [ "$out/text" -nt "$teacher/final.pt" ] && [ "$out/text" -nt "data/$member/text" ] ||
      in_jobs "$teacher/log/posteriors_$member" "$out" \
        punc punctuate --nj "$processes" --context 64 "$teacher" "data/$member" "$out"
  done
  punc soft-targets "$teacher" data/store "$set" "$teacher/targets_$set" "${punctuated[@]}"
done
