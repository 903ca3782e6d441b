"""What every other package uses. Nothing here knows of punctuation.

errors      InputError, a user's mistake in one line; checks of arguments
files       reading with clear errors; writing whole or not at all
options     command-line options and conf files; completion has the shell's side
log         messages on standard error
parallel    the process pool
lookup      tokens in bytes to numbers, without a Python step per token
idtable     numbers by id, for millions of ids
memory      keeps freed memory with the process
bfloat16    whether this machine computes in bfloat16
"""
