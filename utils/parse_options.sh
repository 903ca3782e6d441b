# Sourced by a script after its default values. Every variable that the script has set becomes an option.
#
#   stage=0
#   . parse_options.sh          # --stage 3 sets stage=3; --stop-stage sets stop_stage
#
# As in Kaldi, --config FILE is read first, and the command line overrides it; an unknown option ends the script with
# status 1; a variable that is true or false takes only these values; --help prints $help_message; all other arguments
# remain in $@. Unlike in Kaldi, an option without a value is an error, a value is never evaluated, and a variable of
# the environment is not an option. The lines of a config file are --name=value or name=value.
# shellcheck shell=bash

_po_fail() {
  echo "$0: $*" >&2
  exit 1
}

# _po_check NAME PLACE: fails unless the script has set the variable. Variables of the environment do not count.
_po_check() {
  local _po_attributes
  if [[ $1 =~ ^[A-Za-z][A-Za-z0-9_-]*$ ]] && _po_attributes=$(declare -p "${1//-/_}" 2>/dev/null); then
    grep -qsE "^(export |readonly )?${1//-/_}=" "${_po_scripts[@]}" && return
    [[ $1 =~ [[:lower:]] && ! $_po_attributes =~ ^declare\ -[a-zA-Z]*x ]] && return
  fi
  _po_fail "${2}unknown option --$1; see $0 --help or its first lines"
}

# _po_set NAME VALUE PLACE
_po_set() {
  local _po_name=${1//-/_}
  _po_check "$1" "$3"
  case ${!_po_name-}:$2 in
    true:true | true:false | false:true | false:false) ;;
    true:* | false:*) _po_fail "${3}--$1 takes true or false, not '$2'" ;;
  esac
  printf -v "$_po_name" %s "$2"
}

# _po_read_config FILE
_po_read_config() {
  local _po_line _po_value _po_number=0
  [ -f "$1" ] || _po_fail "there is no config file '$1'; give one that exists"
  while IFS= read -r _po_line || [ -n "$_po_line" ]; do
    _po_number=$((_po_number + 1))
    _po_line=${_po_line#"${_po_line%%[![:space:]]*}"}
    _po_line=${_po_line%"${_po_line##*[![:space:]]}"}
    case $_po_line in
      '' | '#'*) continue ;;
      *=*) ;;
      *) _po_fail "$1:$_po_number: '$_po_line' is not an option; write --name=value" ;;
    esac
    _po_value=${_po_line#*=}
    case $_po_value in
      \"*\" | \'*\') _po_value=${_po_value:1:${#_po_value}-2} ;;
    esac
    _po_line=${_po_line%%=*}
    _po_set "${_po_line#--}" "$_po_value" "$1:$_po_number: "
  done <"$1"
}

# The files that may set variables: the script, and the files through which it sources this one. A recipe has changed to
# its own directory, so if a relative path is no longer valid, only the file name is used.
_po_scripts=("$0" "${BASH_SOURCE[@]:1}")
for _po_i in "${!_po_scripts[@]}"; do
  [ -f "${_po_scripts[_po_i]}" ] || _po_scripts[_po_i]=${_po_scripts[_po_i]##*/}
done

for ((_po_i = 1; _po_i < $#; _po_i += 2)); do
  case ${!_po_i} in
    --config)
      _po_value=$((_po_i + 1))
      _po_read_config "${!_po_value}"
      ;;
    --help | --*=*) break ;;
    --*) ;;
    *) break ;;
  esac
done

while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      printf '%b\n' "${help_message:-$0 has no help; see its first lines}" >&2
      exit 0
      ;;
    --*=*) _po_fail "an option is written --name value, not '$1'" ;;
    --*)
      [ "$1" = --config ] || _po_check "${1#--}" ""
      [ $# -gt 1 ] || _po_fail "$1 needs a value; write $1 VALUE"
      [ "$1" = --config ] || _po_set "${1#--}" "$2" ""
      shift 2
      ;;
    *) break ;;
  esac
done
unset -v _po_i _po_value _po_scripts
unset -f _po_fail _po_check _po_set _po_read_config
