"""The pages as HTML, with all options and the Python interface: sphinx-build -W docs OUT (the extra `docs`)."""

import contextlib
import io
import re
import shutil
from pathlib import Path
from typing import Any

from punc import __version__
from punc.bin.main import main

project, copyright, release = "punc", "the punc contributors", __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "alabaster"
html_theme_options = {"description": "punctuation for speech transcripts", "fixed_sidebar": True}
html_show_copyright = False
myst_heading_anchors = 2
suppress_warnings = ["myst.xref_missing"]  # links to files outside docs/; tests/test_docs.py follows them
autodoc_default_options = {"undoc-members": False}
autodoc_preserve_defaults = True


def help_of(*command: str) -> str:
    """Return what a command line prints with --help."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main([*command, "--help"])
    return printed.getvalue()


def put_options(app: Any, name: str, source: list[str]) -> None:
    """Write the help of all subcommands into the page of options."""
    if name == "options":
        names = re.findall(r"^  ([a-z-]+) ", help_of(), re.MULTILINE)
        sections = [f"## punc {name}\n\n```text\n{help_of(name)}```\n" for name in names]
        source[0] = source[0].replace("OPTIONS\n", "\n".join(sections))


def keep_lines(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Docstrings here are plain text: a sentence, and tables of names by indentation."""
    if not lines:
        return
    rest = [f"    {line}" for line in lines[1:]]
    lines[:] = [lines[0].replace("`", "``"), "", *(["::", "", *rest, ""] if any(map(str.strip, rest)) else [])]


def copy_images(app: Any, exception: Exception | None) -> None:
    """Copy the pictures, which pages show in HTML of their own, one for light and one for dark."""
    if exception is None:
        shutil.copytree(Path(app.srcdir, "images"), Path(app.outdir, "images"), dirs_exist_ok=True)


def setup(app: Any) -> None:
    """Connect the functions of this page to Sphinx."""
    app.connect("build-finished", copy_images)
    app.connect("source-read", put_options)
    app.connect("autodoc-process-docstring", keep_lines)
