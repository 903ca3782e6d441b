"""Reads the configuration of slurm.pl, in the format of Kaldi's slurm.conf, and converts slurm.pl's options to options
of sbatch."""

import os
import re
import shlex

from jobs import Call, fail

DEFAULTS = """
command sbatch
option time=* --time $0
option nodes=* --nodes $0 --ntasks-per-node 1
option mem=* --mem-per-cpu $0
option mem=0
option num_threads=* --cpus-per-task $0
default gpu=0
option gpu=0
option gpu=* --gres=gpu:$0
"""


def read_config(path: str | None) -> tuple[str, dict[tuple[str, str], str], dict[str, str]]:
    """Read a configuration. Return the submit command, {(option, value): options of sbatch}, and {option: default}.

    Without a path, read conf/slurm.conf or, if there is no such file, DEFAULTS. Exits if a line is invalid.
    """
    command, options, defaults = None, {}, {}
    lines = DEFAULTS.splitlines()
    if path or os.path.exists("conf/slurm.conf"):
        path = path or "conf/slurm.conf"
        try:
            with open(path) as file:
                lines = file.read().splitlines()
        except OSError as error:
            fail(f"{path}: cannot be read: {error.strerror}; give a file with --config")
    for number, line in enumerate(lines, 1):
        line = re.sub(r"\s*#.*", "", line).strip()
        match = re.fullmatch(r"(command) (.+)|(option) ([^=\s]+)=(\S+)\s*(.*)|(default) ([^=\s]+)=(\S+)", line)
        if match and match[1]:
            command = match[2]
        elif match and match[3]:
            options[match[4], match[5]] = match[6]
        elif match:
            defaults[match[8]] = match[9]
        elif line:
            fail(f"{path}:{number}: '{line}' is not a line of a configuration; write command, option or default")
    if not command:
        fail(f"{path}: no line with the command; write: command sbatch")
    return command, options, defaults


def sbatch_options(call: Call) -> tuple[list[str], int]:
    """Return two values: the submit command with options for the requested resources, and the number of threads."""
    asked, short = {}, []
    for option, values in call.options:
        if option.startswith("--"):
            asked[option[2:].replace("-", "_")] = values[0]
        elif option == "-pe":  # GridEngine's form: -pe smp 4
            asked["num_threads"] = values[1]
        elif option not in ("-sync", "-V"):
            short += [option, *values]
    command, options, defaults = read_config(asked.pop("config", None))
    result = _words(command)
    for option, value in (defaults | asked).items():
        meaning = options.get((option, value), options.get((option, "*")))
        if meaning is None:
            fail(f"--{option.replace('_', '-')} {value}: the configuration has no option of sbatch for it; "
                 f"add a line: option {option}=* ... $0")
        result += _words(meaning.replace("$0", value))
    threads = asked.get("num_threads", "1")
    if not re.fullmatch("[1-9][0-9]*", threads):
        fail(f"--num-threads needs a number, not {threads}")
    return result + short, int(threads)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        fail(f"a quotation mark is not closed in the configuration: {text}")
