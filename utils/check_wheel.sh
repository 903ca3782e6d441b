#!/usr/bin/env bash
# usage: utils/check_wheel.sh
# Builds the wheel and the source archive, checks their metadata, and runs the wheel's punc in a fresh environment. The
# variable PYTHON names the Python to use (default: python3). Needs access to a package index.
set -euo pipefail
cd "$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"${PYTHON:-python3}" -m venv "$place/build"
"$place/build/bin/pip" install --quiet --disable-pip-version-check build twine
"$place/build/bin/python" -m build --outdir "$place/dist" .
"$place/build/bin/twine" check --strict "$place"/dist/*
"${PYTHON:-python3}" -m venv "$place/env"
"$place/env/bin/pip" install --quiet --disable-pip-version-check "$place"/dist/*.whl
cd "$place"
said=$(echo "good morning everyone do you have any questions" | env/bin/punc punctuate en -)
echo "$said"
[ "$said" = "Good morning, everyone. Do you have any questions?" ]
