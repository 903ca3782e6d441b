#!/usr/bin/env bash
# Punctuates the words of a CTM: punctuated text and CTM, subtitles, paragraphs. Runs in any Kaldi recipe.
#
#   ln -s /path/to/punc/utils punc
#   punc/punctuate_ctm.sh --cmd "$cmd" --nj 4 data/test exp/tri3/decode_test/ctm /path/to/punc-model transcripts/test
#
# The CTM's ids are utterances or recordings of the data directory, as get_train_ctm.sh, get_ctm.sh and
# get_ctm_conf.sh write them. Of the data directory, utt2spk, segments and reco2file_and_channel are read.
set -euo pipefail
help_message="usage: $0 [--cmd run.pl] [--nj 1] [--scale LABEL=FACTOR,…] [--lowercase false] \
<data-dir> <ctm> <punc-model-dir> <out-dir>"
. "$(dirname "${BASH_SOURCE[0]}")/transcript.sh"
usage 4 "$@"
punctuate "$1" "$3" "$4" --ctm "$2"
