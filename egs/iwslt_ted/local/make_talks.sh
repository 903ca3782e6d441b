#!/usr/bin/env bash
# usage: local/make_talks.sh
# Makes data/store_talks, with the vocabulary of data/store_word. `talks` has the reference transcripts of --asr-pairs.
# `talks_asr` has the recogniser's output for these talks, with projected labels. Finished sets are kept.
set -euo pipefail
[ -d data/talks ] || { rm -rf data/talks.new; cp -R data/pairs_ref data/talks.new; mv data/talks.new data/talks; }
[ -f data/talks_asr/text ] || punc project --labels conf/labels.txt data/pairs_ref data/pairs_asr data/talks_asr
punc make-store --labels conf/labels.txt --token-type word --clitics conf/clitics.txt --vocab data/store_word/vocab \
  data/store_talks data/talks data/talks_asr data/dev2012
