#!/usr/bin/env bash
# Punctuates the text of a Kaldi data directory: writes punctuated text and paragraphs. Runs in any Kaldi recipe.
#
#   ln -s /path/to/punc/utils punc
#   punc/punctuate_text.sh --cmd "$cmd" --nj 4 data/test /path/to/punc-model transcripts/test
#
# If the directory has a pauses.scp (from punc pauses), models that read pauses use it.
set -euo pipefail
help_message="usage: $0 [--cmd run.pl] [--nj 1] [--scale LABEL=FACTOR,…] \
<data-dir> <punc-model-dir> <out-dir>"
. "$(dirname "${BASH_SOURCE[0]}")/transcript.sh"
check_usage 3 "$@"
punctuate "$1" "$2" "$3"
