#!/usr/bin/env bash
# The corpus' texts as speech, the times of their words, and what a real recogniser hears:
#
#   local/make_speech.sh [--nj N] TEXT-DIR WORK-DIR OUT-DIR
#
# reads TEXT-DIR/NAME.txt, a paragraph or a turn a line, and writes OUT-DIR/ref.ctm.gz, the forced alignment, and
# OUT-DIR/asr.ctm.gz, the recognition with confidences. WORK-DIR keeps each text's speech and times; a text that has
# them, and was not changed since, is not done again. The same texts give the same files.
#
# What is said is not quite what is written (hesitate.py has the figures). A quarter of the commas and a twentieth of the
# full stops are read over. At every fortieth slot without a mark the speaker hesitates: a third of the times with "um"
# or "uh" and a silence, else with a silence. A hesitation word is not in the text, so not in ref.ctm.gz, and its time
# counts as a pause there; the recogniser may well hear it. A text's name settles its voices (in interviews and calls two
# speakers take turns), its tempo and its noise (synthesise.py). Recognition does not know the texts. Words that could not
# be aligned, even with faint noise and wider beams, are named and have no time.
#
# It takes about a quarter of the speech's own time on one processor. Needed: flite, sox, and pocketsphinx for Python.
set -euo pipefail

nj=1        # processes
cmd=run.pl
help_message="usage: $0 [--nj N] [--cmd run.pl] TEXT-DIR WORK-DIR OUT-DIR"

. parse_options.sh

if [ $# != 3 ]; then
  echo "$help_message" >&2
  exit 1
fi
texts=$1 work=$2 out=$3
here=$(dirname "$0")
export LC_ALL=C

fail() {
  echo "$0: $*" >&2
  exit 1
}

missing=
for program in flite sox; do
  command -v $program >/dev/null || missing="$missing $program"
done
[ -z "$missing" ] || fail "no$missing; on Debian and Ubuntu: apt-get install$missing"
python -c 'import pocketsphinx' 2>/dev/null || fail "no pocketsphinx; install it: pip install -c constraints.txt -e '.[speech]' in the repository"
names=$(cd "$texts" 2>/dev/null && find . -maxdepth 1 -name '*.txt' | sed 's/^..//; s/\.txt$//' | sort)
[ -n "$names" ] || fail "no *.txt in $texts"

# shellcheck disable=SC2086
$cmd JOB=1:"$nj" "$work/log/speech.JOB.log" python "$here/make_speech.py" JOB "$nj" "$texts" "$work"

# What is in WORK-DIR of a text that is no longer there stays out.
mkdir -p "$out"
for kind in ref asr; do
  for name in $names; do cat "$work/$kind/$name.ctm"; done | gzip -9n >"$out/$kind.ctm.gz.new"
  mv "$out/$kind.ctm.gz.new" "$out/$kind.ctm.gz"
done
for name in $names; do cat "$work/info/$name"; done | awk -F'\t' -v program="$0" '
  { seconds += $5; words += $6; untimed += $7; if ($7) names = names " " $1 }
  END {
    printf "%s: %d texts, %d words, %.1f minutes of speech\n", program, NR, words, seconds / 60
    if (untimed) printf "%s: %d words have no time, in%s\n", program, untimed, names
  }' >&2
