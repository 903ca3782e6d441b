# Estonian: novels.
# shellcheck shell=bash disable=SC2034
sources="novels:estonian/fiction_ebooks.txt"
every=10
tokens=(--token-type subword --vocab-size 8000)
