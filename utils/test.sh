#!/usr/bin/env bash
# Runs the tests: bash utils/test.sh [pytest's options]. Sets up the environment if necessary.
set -eu
cd "$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)"
bash utils/setup.sh --train
. ./path.sh
exec python -m pytest "$@"
