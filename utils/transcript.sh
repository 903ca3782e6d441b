# Sourced by punctuate_ctm.sh, punctuate_decode.sh and punctuate_text.sh: their options, and how they run.
#
# They are called from a Kaldi recipe through a link to this directory, so punc's own .venv is found from where the
# link leads to, the current directory stays, and a run.pl, queue.pl or slurm.pl of the recipe goes before punc's.
# shellcheck shell=bash

cmd=run.pl       # run.pl, queue.pl or slurm.pl, with its options
nj=1             # jobs, each of which takes some of the recordings
scale=           # LABEL=FACTOR,…: what posteriors of labels are multiplied with
lowercase=false  # write all words in lower case first

# shellcheck source=utils/parse_options.sh
. "$(dirname "${BASH_SOURCE[0]}")/parse_options.sh"

fail() {
  echo "$0: $*" >&2
  exit 1
}

# usage COUNT ARGUMENT …: whether there are so many arguments
usage() {
  [ $(($# - 1)) -eq "$1" ] || fail "$(($# - 1)) arguments, not $1; ${help_message%%\\n*}"
  [[ $nj =~ ^[1-9][0-9]*$ ]] || fail "--nj $nj is no number of jobs; give 1 or more"
}

read -ra command <<<"$cmd"
program=$(command -v -- "${command[0]-}") || program=
# shellcheck source=path.sh
. "$(CDPATH='' cd -- "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)/../path.sh" || exit 1
punc=$PUNC_ROOT/.venv/bin/punc
command[0]=${program:-$(command -v -- "${command[0]-}")} || fail "--cmd '$cmd': no such program; give run.pl, say"

# punctuate DATA-DIR MODEL-DIR OUT-DIR [OPTION …]: options of punc transcript
punctuate() {
  local data=$1 model=$2 out=$3 job
  shift 3
  [ ! "$out" -ef "$data" ] || fail "$out: this is the data directory too; name another one"
  mkdir -p "$out/log" || exit 1
  rm -rf "$out"/.parts.*  # of a run that was killed
  parts=$out/.parts.$$
  trap 'rm -rf "$parts"' EXIT
  [ -z "$scale" ] || set -- "$@" --scale "$scale"
  rm -f "$out"/log/punctuate.*.log
  if ! "${command[@]}" JOB=1:"$nj" "$out/log/punctuate.JOB.log" "$punc" transcript --nj "$nj" --job JOB \
      --lowercase "$lowercase" "$@" "$model" "$data" "$parts/JOB" 2>"$out/log/cmd.log"; then
    # What a user can mend is one line; of several jobs, one is enough.
    job=$(cat "$out"/log/punctuate.*.log 2>/dev/null | sed -n 's/^punc transcript: //p' | head -n 1)
    [ -z "$job" ] || fail "$job"
    cat "$out/log/cmd.log" >&2
    fail "a job failed; see $out/log"
  fi
  cat "$out/log/cmd.log" >&2
  cat "$out"/log/punctuate.*.log | grep '^warning: ' | head -n 1 >&2 || :
  set --
  for ((job = 1; job <= nj; job++)); do set -- "$@" "$parts/$job"; done
  "$punc" join-transcripts "$out" "$@"
}
