"""The command line: one module for each subcommand of `punc`; `script` for the scripts of recipes."""
