#!/usr/bin/env bash
# Punctuates a Kaldi decode directory: runs punctuate_ctm.sh on the CTM with the best WER.
#
#   ln -s /path/to/punc/utils punc
#   steps/get_ctm.sh data/test data/lang exp/tri3/decode_test     # or get_ctm_conf.sh: writes score_*/test.ctm
#   punc/punctuate_decode.sh --cmd "$cmd" --nj 4 data/test exp/tri3/decode_test /path/to/punc-model transcripts/test
#
# scoring_kaldi/best_wer names the CTM with the best WER. --lmwt, --wip and --score-dir choose another CTM.
set -euo pipefail
lmwt=       # language model weight, as in score_10
wip=        # word insertion penalty, as in score_10_0.5
score_dir=  # name of a directory, such as score_10
help_message="usage: $0 [--cmd run.pl] [--nj 1] [--scale LABEL=FACTOR,…] [--lmwt N] [--wip P] \
[--score-dir NAME] <data-dir> <decode-dir> <punc-model-dir> <out-dir>"
. "$(dirname "${BASH_SOURCE[0]}")/transcript.sh"
check_usage 4 "$@"
ctm=$("$punc" find-ctm --lmwt="$lmwt" --wip="$wip" --score-dir="$score_dir" "$1" "$2")
echo "$ctm" >&2
punctuate "$1" "$3" "$4" --ctm "$ctm"
