#!/usr/bin/env bash
# Makes a recipe for a new corpus, ready to run. Lines that you may edit are marked EDIT. See docs/new-corpus.md.
#
#   utils/new_recipe.sh egs/talks --text DIR                   # DIR/NAME.txt: punctuated texts, one per recording
#   utils/new_recipe.sh egs/talks --text DIR --times FILE.ctm  # word times: a CTM, or a folder of CTMs, TextGrids or
#                                                              # Gentle's JSON
#   utils/new_recipe.sh egs/talks --text DIR --audio DIR       # recordings, NAME.wav, which stage 2 aligns
#   utils/new_recipe.sh egs/talks --text DIR --asr FILE.ctm    # ASR output: a CTM, or a folder of CTMs
#   utils/new_recipe.sh egs/talks --text DIR --speakers FILE   # who speaks: lines TEXT SPEAKER …, or utt2spk
#   utils/new_recipe.sh ~/asr/talks/punc --text DIR            # a recipe can be anywhere
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)

text=
times=
audio=
asr=
speakers=
help_message="usage: utils/new_recipe.sh RECIPE-DIR --text DIR [--times TIMES | --audio DIR] [--asr CTM-OR-DIR] [--speakers FILE]"

fail() {
  echo "utils/new_recipe.sh: $*" >&2
  exit 1
}

recipe=
case ${1-} in '' | -*) ;; *) recipe=$1 && shift ;; esac
. "$root/utils/parse_options.sh"
[ -n "$recipe" ] || [ $# = 0 ] || { recipe=$1 && shift; }
[ -n "$recipe" ] && [ -n "$text" ] && [ $# = 0 ] || fail "$help_message"
[ ! -e "$recipe" ] || fail "$recipe: this directory exists; remove it, or give another directory"

. "$root/path.sh"
[[ $(basename "$recipe") =~ ^[A-Za-z0-9._-]+$ ]] || fail "$recipe: name it with letters, digits and . _ -"
for name in text times audio asr speakers; do case ${!name} in '' | /*) ;; *) printf -v $name %s "$PWD/${!name}" ;; esac; done
[ -z "$speakers" ] || [ -f "$speakers" ] || fail "$speakers: no such file; give the file that says who speaks"
check_texts.py ${times:+--times "$times"} ${audio:+--audio "$audio"} ${asr:+--asr "$asr"} "$text"

# The recipe is written to a temporary directory and then renamed, so it is either complete or does not exist.
mkdir -p "$(dirname "$recipe")"
place=$(cd "$(dirname "$recipe")" && pwd -P)/$(basename "$recipe")
tmp=$(mktemp -d "$(dirname "$place")/.$(basename "$place").XXXXXX")
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
cp -R "$root/utils/templates/recipe/." "$tmp"
cp "$PUNC_ROOT/punc/text/abbreviations.txt" "$tmp/conf/abbreviations.txt"
case $(dirname "$place") in
  "$root/egs") path=../../path.sh ;;
  *) path=$(printf %q "$root/path.sh") ;;
esac

# fill FILE NAME=VALUE…: replaces each @NAME@ by its value. In bash, unlike sed, values have no special characters.
fill() {
  local content pair
  content=$(cat "$1")
  for pair in "${@:2}"; do content=${content//"@${pair%%=*}@"/"${pair#*=}"}; done
  printf '%s\n' "$content" >"$1"
}
name=$(basename "$place")
for file in README.md conf/results.conf; do fill "$tmp/$file" "NAME=$name"; done
values=()
for option in text times audio asr speakers; do values+=("${option^^}=${!option:+$(printf %q "${!option}")}"); done
fill "$tmp/run.sh" "NAME=$name" "${values[@]}"
printf '# shellcheck shell=bash\n. %s\n' "$path" >"$tmp/path.sh"
mv "$tmp" "$place"
trap - EXIT
echo "$recipe: made; run $recipe/run.sh; the lines to edit are marked: grep -rn EDIT $recipe" >&2
