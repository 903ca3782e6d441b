# Sourced by scripts that run jobs: quotes words for the command line of run.pl, slurm.pl and queue.pl.
#
# These programs turn their arguments into one line for bash. They copy an argument without spaces unchanged, and put an
# argument with spaces into double quotes, in which bash would run a $(…). Kaldi's queue.pl and slurm.pl also write the
# line to a here-document, where bash runs $(…) even in single quotes. JOB becomes the job's number wherever it occurs.
# shellcheck shell=bash disable=SC2034

# quote WORD …: sets the array `quoted` to words that reach the command unchanged. All bytes except some harmless ones
# become $'\xHH', which has no spaces and no special meaning in a here-document; JOB becomes J$'\x4f'B.
quote() {
  local LC_ALL=C safe='[A-Za-z0-9_./:=@%+,-]' word char code result i
  quoted=()
  for word; do
    result=
    for ((i = 0; i < ${#word}; i++)); do
      char=${word:i:1}
      # shellcheck disable=SC2254
      case $char in
        $safe) ;;
        *) printf -v code %d "'$char" && printf -v char "\$'\\\\x%02x'" $((code & 255)) ;;
      esac
      result+=$char
    done
    quoted+=("${result//JOB/"J\$'\\x4f'B"}")
  done
}
