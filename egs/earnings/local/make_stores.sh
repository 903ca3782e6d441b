#!/usr/bin/env bash
# usage: local/make_stores.sh DATA MIN_COUNT ENCODER "ENGINE …" "STORE …" MPNET
# Makes the stores of a variant in DATA:
#   store_sources  the texts that define the first stage's vocabulary
#   store_text     the sets that use this vocabulary
#   store_calls    the calls, with their own vocabulary
#   STORE …        sets cut into the pieces of ENCODER or MPNET, for the systems that need them
# If ENGINEs are given, store_text and store_pieces also get the calls without fillers.
# shellcheck disable=SC2086  # lists of names
set -eu
data=$1 min_count=$2 encoder=$3 engines=$4 stores=$5 mpnet=$6
clean=${engines:+$data/train_pauses_clean $data/dev_clean}

make_store --min-count "$min_count" --train text_europarl,text_earnings22 "$data/store_sources" \
  "$data"/{text_europarl,text_earnings22,dev}
make_store --min-count "$min_count" --train train_pauses "$data/store_calls" "$data/train_pauses" "$data/dev"
make_store --vocab "$data/store_sources/vocab" "$data/store_text" "$data"/{train_text,train_pauses,dev} $clean

pieces() { make_store --token-type encoder --vocab "$@"; }
for store in $stores; do
  case $store in
    store_pieces) pieces "$encoder" "$data"/{store_pieces,train_pauses,dev} $clean ;;
    store_mpnet) pieces "$mpnet" "$data"/{store_mpnet,train_pauses,dev} ;;
    store_talk) pieces "$encoder" "$data"/{store_talk,text_podcasts,dev_clean} ;;
  esac
done
