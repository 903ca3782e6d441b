#!/usr/bin/env bash
# Synthesises the texts of the corpus, aligns the speech, and recognises it:
#
#   local/make_speech.sh [--nj N] TEXT-DIR WORK-DIR OUT-DIR
#
# reads TEXT-DIR/NAME.txt, one paragraph or turn per line, and writes OUT-DIR/ref.ctm.gz, the forced alignment, and
# OUT-DIR/asr.ctm.gz, the ASR output with confidences. WORK-DIR keeps the speech and times of each text; unchanged texts
# are not processed again. The same texts give the same files.
#
# The speech differs from the text (see hesitate.py). A quarter of the commas and a twentieth of the full stops are
# silent. At every fortieth slot without a mark, the speaker hesitates: with silence, and in a third of cases first with
# "um" or "uh". Fillers are not in the text, so their time counts as a pause in ref.ctm.gz; ASR may recognise them. The
# name of a text determines its voices (two alternating speakers in interviews and calls), its tempo and its noise
# (synthesise.py). The recogniser does not know the texts. Words that cannot be aligned, even with faint noise and wider
# beams, are reported and have no time.
#
# On one processor, this takes about a quarter of the duration of the speech. Needs flite, sox, and pocketsphinx for
# Python.
set -euo pipefail

nj=1        # number of processes
cmd=run.pl
help_message="usage: $0 [--nj N] [--cmd run.pl] TEXT-DIR WORK-DIR OUT-DIR"

. quote.sh
. parse_options.sh

if [ $# != 3 ]; then
  echo "$help_message" >&2
  exit 1
fi
texts=$1 work=$2 out=$3
here=$(dirname "$0")
export LC_ALL=C PYTHONPATH=$here/../../../utils${PYTHONPATH:+:$PYTHONPATH}  # for speech.py

fail() {
  echo "$0: $*" >&2
  exit 1
}

missing=
for program in flite sox; do
  command -v $program >/dev/null || missing="$missing $program"
done
[ -z "$missing" ] || fail "no$missing; on Debian and Ubuntu: apt-get install$missing"
python -c 'import pocketsphinx' 2>/dev/null ||
  fail "no pocketsphinx; install it: pip install -c constraints.txt -e '.[speech]' in the repository"
names=$(cd "$texts" 2>/dev/null && find . -maxdepth 1 -name '*.txt' | sed 's/^..//; s/\.txt$//' | sort)
[ -n "$names" ] || fail "no *.txt in $texts"

quote "$here/make_speech.py" "$texts" "$work"
# shellcheck disable=SC2086
$cmd JOB=1:"$nj" "$work/log/speech.JOB.log" python "${quoted[0]}" JOB "$nj" "${quoted[@]:1}"

# WORK-DIR may still have files of removed texts. These files are left out.
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
