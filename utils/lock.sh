# Sourced by recipe.sh and transcript.sh, which define `fail`: a lock for scripts that run many commands in a directory.
# shellcheck shell=bash

# unlock_directory: called at the end. Removes the lock, and the directory if lock_directory made it and it is empty.
unlock_directory() {
  rm -f "$_lock"
  [ -z "${_made-}" ] || rmdir "${_lock%/*}" 2>/dev/null || :
}

# lock_directory DIR COMMAND …: makes the directory and locks it until the script ends. If another script holds the
# lock, fails with a message that names the other script.
# 
# The lock is flock(2) on DIR/.run.lock, open as file descriptor 9. So it is released when this script and all commands
# that it started on this machine have ended, for whatever reason. Each command also locks its output directory
# (punc/base/lock.py).
lock_directory() {
  local host pid command status=0
  [ -d "$1" ] || _made=$1
  { mkdir -p "$1" && _lock=$(cd "$1" && pwd)/.run.lock && : >>"$_lock"; } 2>/dev/null ||
    fail "$1: cannot be written; change its permissions, or give another directory"
  exec 9>>"$_lock"
  flock -n 9 2>/dev/null || status=$?
  case $status in
    0)
      # If this fails, the last holder has just removed the file, and others would not see this lock: try again.
      [ /dev/fd/9 -ef "$_lock" ] || { lock_directory "$@" && return; }
      printf '%s %s %s\n' "${HOSTNAME:-?}" $$ "${*:2}" >"$_lock"
      trap unlock_directory EXIT
      ;;
    1)
      read -r host pid command <"$_lock" || :
      fail "$1: process ${pid:-?} on ${host:-?} is writing here (${command:-?}); wait until it ends, or give another directory"
      ;;
    *) echo "$0: warning: $1: no locks here; do not start a second run" >&2 ;;
  esac
}
