#!/usr/bin/env bash
# Sets up the environment if necessary; checks the style of all shell and Python files, and the type hints of punc/.
set -eu
cd "$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)"
bash utils/setup.sh --train
. ./path.sh
status=0
# run.pl and slurm.pl are Python scripts; run.pl says why.
ruff check --extension pl:python . utils/run.pl utils/slurm.pl || status=1
mypy &  # keeps one core busy for half a minute
# Sourced files are searched for next to the file that sources them. data/ and exp/ are outputs of recipes.
find .ci/run ./*.sh utils egs tests -name .venv -prune -o \( -name '*.sh' -o -path .ci/run \) \
  -not -path '*/data/*' -not -path '*/exp/*' -print0 |
  xargs -0 shellcheck -x --source-path=SCRIPTDIR --source-path=utils || status=1
wait $! || status=1
exit $status
