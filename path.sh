# Sourced by every recipe (`. ../../path.sh`) or by you, from any directory, in bash: puts `punc` and utils/ on PATH
# after setting them up if that has not been done.
# shellcheck shell=bash

PUNC_ROOT=$(CDPATH='' cd -- "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
bash "$PUNC_ROOT/utils/setup.sh" || return 1
export PUNC_ROOT
case :$PATH: in
  *":$PUNC_ROOT/.venv/bin:$PUNC_ROOT/utils:"*) ;;
  *) export PATH=$PUNC_ROOT/.venv/bin:$PUNC_ROOT/utils:$PATH ;;
esac
# Kaldi's order of bytes for sort and join; Python reads and writes UTF-8 all the same.
export LC_ALL=C PYTHONUTF8=1 PYTHONIOENCODING=utf-8
