#!/usr/bin/env bash
# Punctuates a CTM: writes punctuated text, a punctuated CTM, subtitles and paragraphs. Runs in any Kaldi recipe.
#
#   ln -s /path/to/punc/utils punc
#   punc/punctuate_ctm.sh --cmd "$cmd" --nj 4 data/test exp/tri3/decode_test/ctm /path/to/punc-model transcripts/test
#
# The ids of the CTM are utterances or recordings of the data directory, as get_train_ctm.sh, get_ctm.sh and
# get_ctm_conf.sh write them. The script reads utt2spk, segments and reco2file_and_channel of the data directory.
set -euo pipefail
help_message="usage: $0 [--cmd run.pl] [--nj 1] [--scale LABEL=FACTOR,…] \
<data-dir> <ctm> <punc-model-dir> <out-dir>"
. "$(dirname "${BASH_SOURCE[0]}")/transcript.sh"
check_usage 4 "$@"
punctuate "$1" "$3" "$4" --ctm "$2"
