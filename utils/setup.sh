#!/usr/bin/env bash
# Makes the virtual environment .venv of this checkout, with punc and the versions of constraints.txt in it.
# path.sh calls it, so nobody has to; done once, it is done until constraints.txt or setup.py changes.
# The Python is the first of python3, python3.14 … python3.10 that is new enough, or PYTHON=….
set -eu

cd "$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)"

fail() {
  echo "utils/setup.sh: $*" >&2
  exit 1
}

is_done() {
  [ -x .venv/bin/punc ] && [ "$(cat .venv/.stamp 2>/dev/null)" = "$stamp" ]
}

find_python() {
  local python
  for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11 python3.10; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
      fail "$python has no venv module; install it (on Debian and Ubuntu: apt install python3-venv)"
    echo "$python"
    return
  done
  fail "no Python of 3.10 or newer; install one, or name it: PYTHON=/path/to/python3"
}

pip() {
  # A bar for each download where somebody watches, nothing where nobody does.
  if [ -t 2 ]; then set -- "$@" --progress-bar on; else set -- "$@" --quiet --quiet; fi
  .venv/bin/python -m pip --disable-pip-version-check --no-input "$@" >&2
}

# The plain torch wheel for Linux needs gigabytes of CUDA; the one with "+cpu" in its version does not.
install_torch() {
  local version
  version=$(sed -n 's/^torch==//p' constraints.txt)
  if .venv/bin/python -c "from importlib.metadata import version; assert version('torch').split('+')[0] == '$version'" \
      2>/dev/null; then
    return
  elif [ "$(uname -s)" != Linux ]; then
    pip install --no-deps "torch==$version"
  elif ! pip install --no-deps "torch==$version+cpu" 2>/dev/null; then
    pip install --no-deps --index-url https://download.pytorch.org/whl/cpu "torch==$version+cpu"
  fi
}

stamp="$PWD $(cat constraints.txt setup.py utils/setup.sh | cksum)"
is_done && exit

# Two recipes started at once must not both set up. The lock ends with the process, however that ends.
python=$(find_python)
mkdir -p .venv
exec 9>>.venv/.lock
"$python" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
is_done && exit

echo "Setting up .venv: about 200 MB to download, once." >&2
rm -f .venv/.stamp
# An environment that is half made, or was moved here, does not work; what a user put there stays otherwise.
if ! .venv/bin/python -m pip --version >/dev/null 2>&1 || ! grep -qF "$PWD/.venv" .venv/bin/activate; then
  rm -rf .venv/*
  "$python" -m venv .venv || fail "no virtual environment in $PWD/.venv; see the message above"
fi
install_torch || fail "pip could not install torch; see the message above and docs/install.md"
pip install --constraint constraints.txt --editable '.[test,plot,tree]' ||
  fail "pip could not install the packages; see the message above and docs/install.md"
.venv/bin/punc --help >/dev/null || fail ".venv/bin/punc does not start; remove .venv and try again"
echo "$stamp" >.venv/.stamp.new
mv .venv/.stamp.new .venv/.stamp
echo "Set up." >&2
