# shellcheck shell=bash
. ../../path.sh
