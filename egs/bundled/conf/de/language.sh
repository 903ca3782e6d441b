# German: debates of the Bundestag, and plays.
# shellcheck shell=bash disable=SC2034,SC2154
pack_options[de]="--int8 true"
sources="debates:german/bundestag.txt plays:german/dramen.txt"
tokens+=(--join "adapt=debates,plays,plays")
