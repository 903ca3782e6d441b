#!/usr/bin/env bash
# usage: local/near_errors.sh LABELS-FILE DECODE-DIR …
# Scores punctuated ASR output of the test talks where the words are right, and near errors: DECODE-DIR/near_errors.md.
set -euo pipefail
for decoded in "${@:2}"; do
  near_errors.py "$1" "" data/test_ref data/test_asr "$decoded" >"$decoded/near_errors.md.new"
  mv "$decoded/near_errors.md.new" "$decoded/near_errors.md"
done
