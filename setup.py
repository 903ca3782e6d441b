"""Adds what pyproject.toml cannot express: a wheel contains the scripts for Kaldi recipes."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class Build(build_py):
    """In a wheel the scripts are in punc/kaldi; in a checkout they are in utils/."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            # Not imported, because its modules do not exist yet when this runs.
            names = re.search(r"^SCRIPTS = \((.+?)\)", Path("punc/bin/kaldi_scripts.py").read_text(), re.S | re.M)[1]
            target = Path(self.build_lib) / "punc/kaldi"
            target.mkdir(parents=True, exist_ok=True)
            for name in re.findall(r'"(.+?)"', names):
                shutil.copy(Path("utils") / name, target / name)


setup(cmdclass={"build_py": Build})
