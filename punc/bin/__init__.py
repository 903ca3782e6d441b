"""The subcommands of `punc`, one per module. The module `script` runs the scripts of recipes."""
