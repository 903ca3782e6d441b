"""`punc kaldi-scripts`: put the scripts for Kaldi recipes into a directory."""

import logging
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import punc
from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.base.options import OptionParser, boolean

logger = logging.getLogger(__name__)

PACKAGE = Path(punc.__file__).parent
# Where the scripts are: in an installed package, or in a checkout.
FOLDERS = (PACKAGE / "kaldi", PACKAGE.parent / "utils")
SCRIPTS = ("punctuate_ctm.sh", "punctuate_decode.sh", "punctuate_text.sh", "transcript.sh", "parse_options.sh",
           "quote.sh", "lock.sh", "run.pl", "slurm.pl", "jobs.py", "slurm_conf.py")
INSTALLED = "installed.sh"  # the file next to the scripts that tells them which punc to run


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc kaldi-scripts [options] DIR",
        f"Puts the scripts that run next to a Kaldi recipe ({', '.join(SCRIPTS[:3])}) into DIR, with what they need. "
        "The scripts run the copy of punc that put them there. Run this again after you move or update punc.",
        "punc kaldi-scripts egs/ami/s5/punc")
    parser.add_argument("--copy", type=boolean, default=False, metavar="BOOL",
                        help="copy the scripts instead of linking them")
    parser.add_output("directory", metavar="DIR", help="directory to make, usually punc in the recipe's directory")
    args = parser.parse(arguments)
    put_scripts(Path(args.directory), args.copy)


def put_scripts(directory: Path, copy: bool = False) -> None:
    """Put links to the scripts (with `copy`, copies) into a directory. Raises InputError if the directory is a link, or
    if there is no command `punc`."""
    if directory.is_symlink():
        raise InputError("this is a link", "remove it, or give another directory", directory)
    command = Path(sys.prefix) / "bin/punc"
    if not command.is_file() and not (command := Path(sys.argv[0]).absolute()).is_file():
        raise InputError("there is no command punc", "install punc with pip", command)
    source = next(folder for folder in FOLDERS if (folder / SCRIPTS[0]).is_file())
    with atomic_dir(directory, INSTALLED, SCRIPTS) as tmp:
        for name in SCRIPTS:
            if copy:
                shutil.copy(source / name, tmp / name)
            else:
                (tmp / name).symlink_to(source.resolve() / name)
        (tmp / INSTALLED).write_text(f"# Written by punc kaldi-scripts: the punc that the scripts here run.\n"
                                     f"# shellcheck shell=bash disable=SC2034\npunc={shlex.quote(str(command))}\n",
                                     encoding="utf-8")
    logger.info("%s: %s", directory, " ".join(SCRIPTS[:3]))
