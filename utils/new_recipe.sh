#!/usr/bin/env bash
# Makes the recipe of a new corpus, ready to run; what to edit in it is marked EDIT. docs/new-corpus.md shows how.
#
#   utils/new_recipe.sh egs/talks --text DIR                   # DIR/NAME.txt: punctuated texts, one a recording
#   utils/new_recipe.sh egs/talks --text DIR --times FILE.ctm  # word times: a CTM, or a folder of CTMs or TextGrids
#   utils/new_recipe.sh egs/talks --text DIR --asr FILE.ctm    # a recogniser's words: a CTM, or a folder of CTMs
#   utils/new_recipe.sh ~/asr/talks/punc --text DIR            # a recipe may be anywhere
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)

text=
times=
asr=
help_message="usage: utils/new_recipe.sh RECIPE-DIR --text DIR [--times CTM-OR-DIR] [--asr CTM-OR-DIR]"

fail() {
  echo "utils/new_recipe.sh: $*" >&2
  exit 1
}

recipe=
case ${1-} in '' | -*) ;; *) recipe=$1 && shift ;; esac
. "$root/utils/parse_options.sh"
[ -n "$recipe" ] || [ $# = 0 ] || { recipe=$1 && shift; }
[ -n "$recipe" ] && [ -n "$text" ] && [ $# = 0 ] || fail "$help_message"
[ ! -e "$recipe" ] || fail "$recipe: is there already; remove it, or name another directory"

. "$root/path.sh"
[[ $(basename "$recipe") =~ ^[A-Za-z0-9._-]+$ ]] || fail "$recipe: name it with letters, digits and . _ -"
for name in text times asr; do case ${!name} in '' | /*) ;; *) printf -v $name %s "$PWD/${!name}" ;; esac; done
check_texts.py ${times:+--times "$times"} ${asr:+--asr "$asr"} "$text"

# Made beside its place and then renamed, so that it is there whole or not at all.
mkdir -p "$(dirname "$recipe")"
place=$(cd "$(dirname "$recipe")" && pwd -P)/$(basename "$recipe")
beside=$(mktemp -d "$(dirname "$place")/.$(basename "$place").XXXXXX")
trap 'rm -rf "$beside"' EXIT
chmod 755 "$beside"
cp -R "$root/utils/templates/recipe/." "$beside"
case $(dirname "$place") in
  "$root/egs") path=../../path.sh ;;
  *) path=$(printf %q "$root/path.sh") ;;
esac

# fill FILE NAME=VALUE…: writes the values for @NAME@; bash takes them as they are, which sed does not.
fill() {
  local content pair
  content=$(cat "$1")
  for pair in "${@:2}"; do content=${content//"@${pair%%=*}@"/"${pair#*=}"}; done
  printf '%s\n' "$content" >"$1"
}
name=$(basename "$place")
fill "$beside/README.md" "NAME=$name"
fill "$beside/run.sh" "NAME=$name" "TEXT=$(printf %q "$text")" "TIMES=${times:+$(printf %q "$times")}" \
  "ASR=${asr:+$(printf %q "$asr")}"
printf '# shellcheck shell=bash\n. %s\n' "$path" >"$beside/path.sh"
mv "$beside" "$place"
trap - EXIT
echo "$recipe: made; run $recipe/run.sh, and edit what is marked: grep -rn EDIT $recipe" >&2
