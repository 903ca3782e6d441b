#!/usr/bin/env bash
# usage: local/near_errors.sh LABELS-FILE DECODE-DIR
# Scores punctuated ASR output of the test talks where the words are right, and near errors: DECODE-DIR/near_errors.md.
set -euo pipefail
near_errors.py "$1" "" data/test_ref data/test_asr "$2" >"$2/near_errors.md.new"
mv "$2/near_errors.md.new" "$2/near_errors.md"
