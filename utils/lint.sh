#!/usr/bin/env bash
# Checks the style of all shell and Python files, and the type hints of punc/. Sets up the environment if necessary.
set -eu
cd "$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)"
bash utils/setup.sh --train
. ./path.sh
status=0
# run.pl and slurm.pl are Python scripts, for the reason given in run.pl.
ruff check --extension pl:python . utils/run.pl utils/slurm.pl || status=1
mypy &  # needs a core for half a minute
# Sourced files are expected next to the file that sources them. data/ and exp/ are outputs of recipes.
find .ci/run ./*.sh utils egs tests -name .venv -prune -o \( -name '*.sh' -o -path .ci/run \) \
  -not -path '*/data/*' -not -path '*/exp/*' -print0 |
  xargs -0 shellcheck -x --source-path=SCRIPTDIR --source-path=utils || status=1
wait $! || status=1
exit $status
