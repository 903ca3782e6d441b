#!/usr/bin/env bash
# usage: local/make_pieces.sh ENCODER LABELS STORE
# STORE: what a fine-tuned encoder, as a teacher, reads of data, in pieces of ENCODER: train, 6 million words, which are
# three fifths of `text`, the calls with and without fillers, and the text of calls that are hardly aligned; dev, a share
# of the dev sets. What is finished is not made again.
set -eu
encoder=$1 labels=$2 store=$3
here=$(dirname "$0")

take() { [ -f "data/$2/text" ] || python "$here/take_streams.py" "data/$1" "data/$2" "${@:3}"; }
take text text_share 3 5
take calls_text calls_rest 1 1 data/calls
take dev_podcasts dev_podcasts_share 1 10
take dev_europarl dev_europarl_share 1 10
take dev_calls dev_calls_share 1 5
take dev_calls_clean dev_calls_clean_share 1 5
punc make-store --labels "$labels" --token-type encoder --vocab "$encoder" \
  --join train=text_share,calls_rest,calls,calls_clean \
  --join dev=dev_podcasts_share,dev_europarl_share,dev_calls_share,dev_calls_clean_share \
  "$store" data/{text_share,calls_rest,calls,calls_clean,dev_{podcasts,europarl,calls,calls_clean}_share}
