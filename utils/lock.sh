# Sourced by recipe.sh and transcript.sh, which have `fail`: a lock for scripts that run many commands in a directory.
# shellcheck shell=bash

# unlock_directory: at the end; removes a directory made here that has nothing else.
unlock_directory() {
  rm -f "$_lock"
  [ -z "${_made-}" ] || rmdir "${_lock%/*}" 2>/dev/null || :
}

# lock_directory DIR COMMAND …: makes the directory and takes its lock until the script ends; fails with its holder
# if another script has it.
#
# The lock is flock(2) on the open file 9, DIR/.run.lock, so it ends with this script and the commands that it has started
# on this machine, however they end. Each command also locks the directory that it writes (punc/base/lock.py).
lock_directory() {
  local host pid command status=0
  [ -d "$1" ] || _made=$1
  { mkdir -p "$1" && _lock=$(cd "$1" && pwd)/.run.lock && : >>"$_lock"; } 2>/dev/null ||
    fail "$1: cannot be written; change its permissions, or name another directory"
  exec 9>>"$_lock"
  flock -n 9 2>/dev/null || status=$?
  case $status in
    0)
      # Else the last holder has removed the file in between, and others would not see this lock.
      [ /dev/fd/9 -ef "$_lock" ] || { lock_directory "$@" && return; }
      printf '%s %s %s\n' "${HOSTNAME:-?}" $$ "${*:2}" >"$_lock"
      trap unlock_directory EXIT
      ;;
    1)
      read -r host pid command <"$_lock" || :
      fail "$1: process ${pid:-?} on ${host:-?} is writing here (${command:-?}); wait until it ends, or name another directory"
      ;;
    *) echo "$0: warning: $1: no locks here; do not start a second run" >&2 ;;
  esac
}
