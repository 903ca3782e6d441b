#!/usr/bin/env bash
# Punctuates what is in a Kaldi decode directory, by the CTM of its best weights, as punctuate_ctm.sh does.
#
#   ln -s /path/to/punc/utils punc
#   steps/get_ctm.sh data/test data/lang exp/tri3/decode_test     # or get_ctm_conf.sh: writes score_*/test.ctm
#   punc/punctuate_decode.sh --cmd "$cmd" --nj 4 data/test exp/tri3/decode_test /path/to/punc-model transcripts/test
#
# The best weights are those of scoring_kaldi/best_wer, if --lmwt, --wip or --score-dir do not say which.
set -euo pipefail
lmwt=       # language-model weight, as in score_10
wip=        # word insertion penalty, as in score_10_0.5
score_dir=  # the directory's name, as score_10
help_message="usage: $0 [--cmd run.pl] [--nj 1] [--scale LABEL=FACTOR,…] [--lowercase false] [--lmwt N] [--wip P] \
[--score-dir NAME] <data-dir> <decode-dir> <punc-model-dir> <out-dir>"
. "$(dirname "${BASH_SOURCE[0]}")/transcript.sh"
usage 4 "$@"
ctm=$("$punc" find-ctm --lmwt="$lmwt" --wip="$wip" --score-dir="$score_dir" "$1" "$2")
echo "$ctm" >&2
punctuate "$1" "$3" "$4" --ctm "$ctm"
