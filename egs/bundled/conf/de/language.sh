# German: debates of the Bundestag, and plays.
# shellcheck shell=bash disable=SC2034
ships=de
sources="debates:german/bundestag.txt plays:german/dramen.txt"
every=40
tokens=(--token-type subword --vocab-size 24000)
transitions=0.1
declare -A merges
merges[marks]=O=O+CAP,COMMA=COMMA+CAP_COMMA,PERIOD=PERIOD+CAP_PERIOD,QUESTION=QUESTION+CAP_QUESTION
merges[case]=O=O+COMMA+PERIOD+QUESTION,CAPITAL=CAP+CAP_COMMA+CAP_PERIOD+CAP_QUESTION
