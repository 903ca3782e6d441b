# Spanish: debates of the Congreso.
# shellcheck shell=bash disable=SC2034
ships=es
sources="debates:spanish/congreso.txt"
every=40
tokens=(--token-type subword --vocab-size 24000)
transitions=0.1
plain=O+COMMA+PERIOD+QUESTION capital=CAP+CAP_COMMA+CAP_PERIOD+CAP_QUESTION
declare -A merges
merges[marks]=O=O+CAP+OPEN+CAP_OPEN,COMMA=COMMA+CAP_COMMA+OPEN_COMMA+CAP_OPEN_COMMA,PERIOD=PERIOD+CAP_PERIOD,QUESTION=QUESTION+CAP_QUESTION+OPEN_QUESTION+CAP_OPEN_QUESTION
merges[case]=O=$plain+OPEN+OPEN_COMMA+OPEN_QUESTION,CAPITAL=$capital+CAP_OPEN+CAP_OPEN_COMMA+CAP_OPEN_QUESTION
merges[opening]=O=$plain+$capital,OPEN=OPEN+CAP_OPEN+OPEN_COMMA+CAP_OPEN_COMMA+OPEN_QUESTION+CAP_OPEN_QUESTION
