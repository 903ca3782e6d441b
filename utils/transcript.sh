# Sourced by punctuate_ctm.sh, punctuate_decode.sh and punctuate_text.sh: the options and functions that they share.
#
# Kaldi recipes call the scripts in one of two places: through a link to this directory, by which they find punc and its
# .venv; or in a directory made by punc kaldi-scripts, where installed.sh names the punc to run. The scripts do not
# change the current directory. They prefer the recipe's run.pl, queue.pl or slurm.pl to punc's.
# shellcheck shell=bash

cmd=run.pl       # run.pl, queue.pl or slurm.pl, with its options
nj=1             # number of jobs, each for a part of the recordings
scale=           # LABEL=FACTOR,…: multiply the posteriors of labels

# shellcheck source=utils/parse_options.sh
. "$(dirname "${BASH_SOURCE[0]}")/parse_options.sh"
# shellcheck source=utils/quote.sh
. "$(dirname "${BASH_SOURCE[0]}")/quote.sh"

fail() {
  echo "$0: $*" >&2
  exit 1
}
# shellcheck source=utils/lock.sh
. "$(dirname "${BASH_SOURCE[0]}")/lock.sh"

# check_usage COUNT ARGUMENT …: checks --nj and the number of arguments.
check_usage() {
  [ $(($# - 1)) -eq "$1" ] || fail "$(($# - 1)) arguments, not $1; ${help_message%%\\n*}"
  [[ $nj =~ ^[1-9][0-9]*$ ]] || fail "--nj $nj is not a number of jobs; give 1 or more"
}

# is_ours: whether $cmd is punc's run.pl or slurm.pl. These accept any log name; Kaldi's pass the name to a shell.
is_ours() {
  local name
  for name in run.pl slurm.pl; do [ ! "${command[0]}" -ef "$scripts/$name" ] || return 0; done
  return 1
}

read -ra command <<<"$cmd"
program=$(command -v -- "${command[0]-}") || program=
scripts=$(CDPATH='' cd -- "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
if [ -f "$scripts/installed.sh" ]; then
  # shellcheck source=/dev/null
  . "$scripts/installed.sh"
  [ -x "$punc" ] || fail "$punc: no such program; run punc kaldi-scripts again"
  export PATH=${punc%/*}:$PATH:$scripts LC_ALL=C PYTHONUTF8=1 PYTHONIOENCODING=utf-8
else
  # shellcheck source=path.sh
  . "$scripts/../path.sh" || exit 1
  punc=$PUNC_ROOT/.venv/bin/punc
fi
command[0]=${program:-$(command -v -- "${command[0]-}")} || fail "--cmd '$cmd': no such program; give run.pl, for example"

# From here on, arguments are paths. A path that begins with a dash gets ./, so that it is not read as an option.
for path; do
  shift
  case $path in
    -*) path=./$path ;;
    *[[:cntrl:]]*) fail "$(printf %q "$path"): a path with control characters; rename it" ;;
  esac
  set -- "$@" "$path"
done

# punctuate DATA-DIR MODEL-DIR OUT-DIR [OPTION …]: runs punc transcript with these options, in jobs.
punctuate() {
  local data=$1 model=$2 out=$3 number=JOB job quoted
  shift 3
  is_ours || [[ $out != *[!A-Za-z0-9_./:=@%+,-]* ]] ||
    fail "$out: ${command[0]} cannot write its logs there; name it with letters, digits and . _ / : = @ % + , -"
  while [[ $out = *$number* ]]; do number+=_; done  # a placeholder for the job's number that does not occur in OUT-DIR
  [ ! "$out" -ef "$data" ] || fail "$out: the output is the data directory; give another directory"
  lock_directory "$out" "$0" "$@"
  mkdir -p "$out/log" || exit 1
  rm -rf "$out"/.parts.*  # a killed run may have left parts
  parts=$out/.parts.$$
  trap 'rm -rf "$parts"; unlock_directory' EXIT
  [ -z "$scale" ] || set -- "$@" --scale "$scale"
  rm -f "$out"/log/punctuate.*.log
  quote "$punc" transcript --jobs "$nj" "$@" "$model" "$data" "$parts/"
  quoted[${#quoted[@]}-1]+=$number
  if ! "${command[@]}" "$number=1:$nj" "$out/log/punctuate.$number.log" "${quoted[@]}" --job "$number" \
      2>"$out/log/cmd.log"; then
    # An error that the user can fix is one line. Print this line of only one job.
    job=$(cat "$out"/log/punctuate.*.log 2>/dev/null | sed -n 's/^punc transcript: //p' | head -n 1)
    [ -z "$job" ] || fail "$job"
    cat "$out/log/cmd.log" >&2
    fail "a job failed; see $out/log"
  fi
  cat "$out/log/cmd.log" >&2
  cat "$out"/log/punctuate.*.log | grep '^warning: ' | head -n 1 >&2 || :
  set --
  for ((job = 1; job <= nj; job++)); do set -- "$@" "$parts/$job"; done
  "$punc" join "$out" "$@"
}
