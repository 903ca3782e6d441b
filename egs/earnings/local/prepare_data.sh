#!/usr/bin/env bash
# usage: local/prepare_data.sh CORPUS DATA LABELS REPEAT "ENGINE …" [podcasts]
# Makes the data directories of a variant in DATA, all in spoken words: the calls with pauses, the text of the
# first stage, the podcasts if requested, the test calls with ASR output, and the output of the ENGINEs. Finished
# directories are kept. LABELS and REPEAT are options of run.sh.
set -eu
corpus=$1 data=$2 labels=$3 repeat=$4 engines=$5 podcasts=$6
here=$(dirname "$0")

[ -f "$data/earnings22.txt" ] || python "$here/prepare_earnings22.py" "$corpus/earnings/earnings22" "$labels" "$data"
"$here/prepare_text.sh" "$corpus" "$data" "$repeat" "$podcasts"
[ -f "$data/test_asr_libri_words/text" ] || python "$here/prepare_earnings21.py" "$corpus/earnings/earnings21" \
  "$labels" "$data" test_asr=rev/kaldi test_asr_libri=kaldi_org/librispeech
# shellcheck disable=SC2086
[ -z "$engines" ] || [ -f "$data/speechmatics_words/text" ] ||
  python "$here/prepare_engines.py" "$corpus/earnings/earnings21" "$data/test_ref" "$labels" "$data" $engines
