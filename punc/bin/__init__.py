"""The command line: one module for each subcommand of `punc`, and `script` for the scripts of recipes."""
