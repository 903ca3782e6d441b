#!/usr/bin/env bash
# usage: local/en/make_pieces.sh ENCODER STORE
# Makes STORE with the data for fine-tuning an encoder, cut into the encoder's pieces. The set train has 28 million
# words: `text`, half of `text_more`, and the calls. The set dev_share is a part of the dev sets. Finished sets are
# kept. make_store is a function of recipe.sh.
# shellcheck disable=SC2154  # variables of run.sh
set -eu
encoder=$1 store=$2
here=$(dirname "$0")

take() { [ -f "$data/$2/text" ] || python "$here/take_streams.py" "$data/$1" "$data/$2" "${@:3}"; }
take dev_podcasts dev_podcasts_share 1 10
take dev_europarl dev_europarl_share 1 10
take dev_calls dev_calls_share 1 5
take dev_calls_clean dev_calls_clean_share 1 5
make_store --token-type encoder --vocab "$encoder" \
  --join train=text,text_half,calls_text,calls,calls,calls_clean,calls_clean \
  --join dev_share=dev_podcasts_share,dev_europarl_share,dev_calls_share,dev_calls_clean_share \
  "$store" "$data"/{text,text_half,calls_text,calls,calls_clean,dev_{podcasts,europarl,calls,calls_clean}_share}
