# Puts `punc` and utils/ on PATH, and installs what is missing. Every recipe sources it (`. ../../path.sh`). You can
# source it too, in bash, from any directory.
# shellcheck shell=bash disable=SC2128  # zsh and sh have no array BASH_SOURCE

PUNC_ROOT=$(CDPATH='' cd -- "$(dirname "${BASH_SOURCE:-$0}")" && pwd -P)
bash "$PUNC_ROOT/utils/setup.sh" || return 1
export PUNC_ROOT
case :$PATH: in
  *":$PUNC_ROOT/.venv/bin:$PUNC_ROOT/utils:"*) ;;
  *) export PATH=$PUNC_ROOT/.venv/bin:$PUNC_ROOT/utils:$PATH ;;
esac
# sort and join order bytes, as Kaldi expects; Python still reads and writes UTF-8.
export LC_ALL=C PYTHONUTF8=1 PYTHONIOENCODING=utf-8
