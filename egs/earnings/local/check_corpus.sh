#!/usr/bin/env bash
# usage: local/check_corpus.sh DIR
# Checks that the corpora are in DIR. Warns if their sizes differ from those of the corpora used for RESULTS.md.
set -eu
dir=$1
status=0

# check EXPECTED COUNT WHAT
check() {
  if [ "$2" = 0 ]; then
    echo "$0: $dir/$3: no such file; README.md says where to get it" >&2
    status=1
  elif [ "$2" = "$1" ]; then
    echo "$0: $3: $2" >&2
  else
    echo "$0: $3: $2, not the $1 of RESULTS.md; the figures will differ" >&2
  fi
}

# files EXPECTED PATTERN
files() {
  check "$1" "$(find "$dir/${2%/*}" -maxdepth 1 -name "${2##*/}" 2>/dev/null | wc -l | tr -d ' ')" "$2"
}

# bytes EXPECTED FILE
bytes() {
  check "$1" "$(if [ -f "$dir/$2" ]; then wc -c <"$dir/$2" | tr -d ' '; else echo 0; fi)" "$2"
}

files 125 'earnings/earnings22/transcripts/force_aligned_nlp_references/*.aligned.nlp'
files 33 'earnings/earnings21/transcripts/nlp_references/*.nlp'
files 34 'earnings/earnings21/output/rev/kaldi/ctm/*.ctm'
files 33 'earnings/earnings21/output/kaldi_org/librispeech/ctm/*.ctm'
if [ -d "$dir/podcasts" ]; then
  bytes 116620593 podcasts/changelog.txt
  bytes 27124503 podcasts/bitcoin.txt
fi
bytes 99261423 europarl/europarl.en.txt
exit $status
