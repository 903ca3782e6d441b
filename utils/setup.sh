#!/usr/bin/env bash
# usage: utils/setup.sh [--train]
# Makes the virtual environment .venv of this checkout and installs punc with the versions of constraints.txt: the
# packages for bundled models and, with --train, also PyTorch and the packages for recipes and tests. path.sh calls this
# script; recipes and utils/test.sh call it with --train. It installs only once, and again if constraints.txt,
# pyproject.toml or this script changes.
#
#   PYTHON=/path/to/python3   the Python; default: the first of python3, python3.14 … python3.10 that is 3.10 or newer
#   PUNC_TORCH=cu130          the build of torch; default: cpu
#   PUNC_EXTRAS=crf,encoder   additional extras of pyproject.toml, if the environment is made or updated now
set -eu

cd "$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)"

fail() {
  echo "utils/setup.sh: $*" >&2
  exit 1
}

is_done() {
  [ -x .venv/bin/punc ] && [ "$(cat .venv/.stamp$train 2>/dev/null)" = "$stamp" ] &&
    { [ -z "$train" ] || [ -z "${PUNC_TORCH-}" ] || compgen -G ".venv/lib/python3*/site-packages/torch-*+$PUNC_TORCH.dist-info" >/dev/null; }
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
  fail "no Python 3.10 or newer; install it, or name it: PYTHON=/path/to/python3"
}

pip() {
  # On a terminal, show a progress bar for each download. Otherwise, show nothing.
  if [ -t 2 ]; then set -- "$@" --progress-bar on; else set -- "$@" --quiet --quiet; fi
  .venv/bin/python -m pip --disable-pip-version-check --no-input "$1" --no-compile "${@:2}" >&2
}

# Installs the build PUNC_TORCH of torch: cpu, cu130 or another that PyTorch offers. The default is the installed build
# or, if there is none, cpu. PyPI's plain wheel is the last choice, a CUDA build of gigabytes on Linux.
install_torch() {
  local installed build=cpu torch
  torch=$(sed -n 's/^torch==//p' constraints.txt)
  installed=$(.venv/bin/python -c "from importlib.metadata import version; print(version('torch'))" 2>/dev/null) || installed=
  case $installed in *+*) build=${installed#*+} ;; esac
  build=${PUNC_TORCH:-$build}
  if [ "$installed" = "$torch+$build" ] || { [ -z "${PUNC_TORCH-}" ] && [ "$installed" = "$torch" ]; }; then
    return
  elif [[ $OSTYPE != linux* ]]; then
    pip install --no-deps "torch==$torch"
  elif pip install --no-deps "torch==$torch+$build" 2>/dev/null ||
      pip install --no-deps --index-url "https://download.pytorch.org/whl/$build" "torch==$torch+$build" 2>/dev/null; then
    return
  elif [ "$build" != cpu ]; then
    fail "no torch==$torch+$build; https://download.pytorch.org/whl/torch lists the builds, see also docs/install.md"
  else
    echo "No torch==$torch+cpu in pip's index, and no https://download.pytorch.org: installing the plain wheel." >&2
    echo "On x86 it includes CUDA, several gigabytes more to download and to store. It works the same." >&2
    pip install --no-deps "torch==$torch"
  fi
}

case $*:${PUNC_TORCH-} in
  :) train= ;;
  :* | --train:*) train=-train ;;  # whoever names a build of torch wants torch
  *) fail "usage: utils/setup.sh [--train]" ;;
esac
[[ $OSTYPE = linux* ]] || PUNC_TORCH=  # other systems have only one build
[[ ${PUNC_TORCH-} =~ ^[a-z0-9.]*$ ]] || fail "PUNC_TORCH='$PUNC_TORCH' is not a build of torch; give cpu or cu130, say"
stamp="$PWD $(cat constraints.txt pyproject.toml setup.py utils/setup.sh | cksum)"
is_done && exit

# If two recipes start at once, one sets up and the other waits. The lock is released when the process ends for any
# reason.
python=$(find_python)
mkdir -p .venv 2>/dev/null && [ -w .venv ] ||
  fail "$PWD/.venv cannot be written by $(id -un); run its owner's bash utils/setup.sh${train:+ --train} once"
exec 9>>.venv/.lock
"$python" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
is_done && exit

size=60 extras=${PUNC_EXTRAS-} modules=onnxruntime
if [ "$train" ]; then
  size=250 extras=train,test,plot,report,tree,onnx${PUNC_EXTRAS:+,$PUNC_EXTRAS}
  modules=onnxruntime,torch,onnx,sklearn.tree,matplotlib.pyplot
fi
echo "Setting up .venv: about $size MB to download, once." >&2
rm -f .venv/.stamp$train
# An incomplete or moved environment does not work, so it is made again. Any other environment keeps its packages.
if ! .venv/bin/python -m pip --version >/dev/null 2>&1 || ! grep -qF "$PWD/.venv" .venv/bin/activate; then
  rm -rf .venv/*
  "$python" -m venv .venv || fail "could not make a virtual environment in $PWD/.venv; see the message above"
fi
# An old pip also works, but takes four times as long to read the indexes.
pip install "$(grep '^pip==' constraints.txt)" 2>/dev/null || echo "pip is not updated: no newer version could be installed." >&2
[ -z "$train" ] || install_torch || fail "pip could not install torch; see the message above and docs/install.md"
pip install --constraint constraints.txt --editable ".${extras:+[$extras]}" ||
  fail "pip could not install the packages; see the message above and docs/install.md"
# pip would compile all modules, although most of torch's are never imported. Instead, Python compiles the
# needed modules when they are imported here, so that a Python without write permission need not compile them each time.
PYTHONDONTWRITEBYTECODE='' .venv/bin/python -c "import $modules" ||
  fail "what pip has installed cannot be imported; remove .venv and try again"
.venv/bin/punc --help >/dev/null || fail ".venv/bin/punc does not start; remove .venv and try again"
for name in .stamp ${train:+.stamp$train}; do
  echo "$stamp" >.venv/.stamp.new
  mv .venv/.stamp.new ".venv/$name"
done
echo "Set up." >&2
