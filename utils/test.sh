#!/usr/bin/env bash
# Sets up the environment if necessary and runs the tests: bash utils/test.sh [pytest's options]
set -eu
cd "$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)"
bash utils/setup.sh --train
. ./path.sh
exec python -m pytest "$@"
