# German: debates of the Bundestag, and plays.
# shellcheck shell=bash disable=SC2034
sources="debates:german/bundestag.txt plays:german/dramen.txt"
