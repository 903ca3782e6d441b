#!/usr/bin/env bash
# Installs tools that some tests need and the set-up does not install: Slurm, sclite, flite, sox and Chromium (as root
# on Debian or Ubuntu), the extras of pyproject.toml, and KenLM's lmplz. If a tool cannot be installed, this is printed,
# and the tests that need it are skipped.
set -u
cd "$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)" || exit 1

lacking() {
  echo "tests/install_tools.sh: $*; the tests that need it are skipped" >&2
}

# install PACKAGE …: install missing Debian packages.
install() {
  if dpkg --status "$@" >/dev/null 2>&1; then return; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    lacking "not root with apt-get, so no $*"
    return
  fi
  export DEBIAN_FRONTEND=noninteractive
  { timeout 200 apt-get install -qq -y --no-install-recommends "$@" ||
    { timeout 100 apt-get update -qq && timeout 200 apt-get install -qq -y --no-install-recommends "$@"; }
  } >/dev/null 2>&1 || lacking "apt-get could not install $*"
}

# Steps that do not need .venv run in the background: lmplz compiles while apt-get and pip download.
tools() {
  local for_lmplz
  read -ra for_lmplz <<<"$(bash utils/install_lmplz.sh --packages)"
  install "${for_lmplz[@]}"
  timeout 400 bash utils/install_lmplz.sh &
  install slurm-wlm munge sctk flite sox
  install chromium
  wait $! || lacking "no lmplz"
}

tools &
extras=crf,clusters,vectors,speech,accessibility,completion,onnx,serve,encoder
modules="pycrfsuite brown_clustering gensim pocketsphinx axe_core_python argcomplete onnx onnxruntime starlette uvicorn websockets transformers"
PUNC_EXTRAS=$extras bash utils/setup.sh --train || bash utils/setup.sh --train || exit 1
.venv/bin/python -c "from importlib.util import find_spec; assert all(map(find_spec, '$modules'.split()))" 2>/dev/null ||
  timeout 300 .venv/bin/python -m pip install -qq --constraint constraints.txt --editable ".[$extras]" ||
  lacking "pip could not install the extras ${extras//,/, }"
wait
