#!/usr/bin/env bash
# usage: local/train_crf_parts.sh CMD STORE SETS CLUSTERS LM-DIR
# What the word CRF reads beside the text: Brown clusters of the words of data/train_SETS, the file CLUSTERS, and a 4-gram
# of STORE, in LM-DIR. What is there is kept.
set -euo pipefail
cmd=$1 store=$2 sets=$3 clusters=$4 lm=$5
[ -s "$clusters" ] || $cmd data/log/clusters.log python "$(dirname "$0")/train_clusters.py" "data/train_$sets" "$clusters"
[ "$lm/final.pt" -nt "$store/conf" ] && [ "$lm/final.pt" -nt conf/4-gram.conf ] && exit
command -v lmplz >/dev/null || bash ../../utils/install_lmplz.sh
$cmd "$lm/log/train.log" punc train --config conf/4-gram.conf --train-set "train_$sets" --dev-set "dev_$sets" "$store" "$lm"
