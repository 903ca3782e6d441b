"""usage: make_podcasts.py REPOSITORY >OUT

Writes the Markdown transcripts in REPOSITORY as prose: a line for each paragraph, `#doc NAME` before each document, and
`#speaker NAME` before each paragraph that names its speaker. For podcasts/changelog.txt, REPOSITORY is a clone of
github.com/thechangelog/transcripts; for podcasts/bitcoin.txt, it is a clone of
github.com/bitcointranscripts/bitcointranscripts.

- A paragraph names its speaker if it begins with a name and a colon, in bold (`**Name:**`) or plain (`Name:`).
- Headings, lists, quotes, tables, images, code, front matter and URLs are left out. A link is replaced by its text.
  Bracketed notes and times are removed: `[laughter]`, `\\[03:54\\]`.
- A document is left out if it has fewer than 300 words; if it has fewer than 6 or more than 35 marks per 100 words; if
  it is a translation (`NAME.zh.md`); or if its front matter says that a machine transcribed it or that it needs a
  review. README.md, CONTRIBUTING.md and files whose names begin with `_` are also left out.

The repositories grow, so a file made today has more lines than the file used for RESULTS.md, and stage 0 of run.sh
stops. To use the longer file, write `~` before its entry in conf/en/corpus.txt: then stage 0 only prints a warning.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from punc.base.errors import InputError
from punc.bin.script import run_script

MIN_WORDS, MIN_MARKS, MAX_MARKS = 300, 0.06, 0.35
TRANSLATION = re.compile(r"\.[a-z]{2}(?:-[a-z]{2})?$", re.IGNORECASE)
MACHINE = re.compile(r"(?im)^(?:needs-review:\s*true|transcript_by:.*(?:tstbtc|whisper|otter\.ai|machine|automatic))")
FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.DOTALL | re.MULTILINE)
LEFT_OUT = re.compile(r"\s*(?:#|[-*+]\s|\d+[.)]\s|>|\||!\[|<|---|\s{4})")
BOLD_SPEAKER = re.compile(r"\*\*([^*]{1,60}?):?\*\*:?\s*")
PLAIN_SPEAKER = re.compile(r"([A-Z][\w.’'-]*(?: [\w.’'()-]+){0,4}):\s+(?=\S)")
LINK = re.compile(r"!?\[([^][]*)\]\([^()]*\)")
NOTE = re.compile(r"\\?\[[^][]*\\?\]")
ADDRESS = re.compile(r"<?https?://\S+>?")
EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|`|<[^<>]*>|\\(?=[^\w\s])")
MARK = re.compile(r"[.,;:?!](?=\s|$)")


def paragraphs(text: str) -> Iterator[str]:
    """Yield the spoken paragraphs of a Markdown text, and `#speaker NAME` before a paragraph that names its speaker."""
    text = CODE.sub("", FRONT.sub("", text))
    for block in re.split(r"\n\s*\n", text):
        if LEFT_OUT.match(block):
            continue
        line = " ".join(block.split())
        if found := BOLD_SPEAKER.match(line) if ":**" in line[:70] or "**:" in line[:70] else PLAIN_SPEAKER.match(line):
            yield f"#speaker {found[1].strip()}"
            line = line[found.end():]
        line = " ".join(EMPHASIS.sub("", ADDRESS.sub("", NOTE.sub("", LINK.sub(r"\1", line)))).split())
        if re.search(r"\w", line):
            yield line


def is_speech(name: str, text: str, lines: list[str]) -> bool:
    """Return whether a document is kept (see the top of this file)."""
    front = FRONT.match(text)
    if TRANSLATION.search(name) or (front and MACHINE.search(front[0])):
        return False
    spoken = [line for line in lines if not line.startswith("#speaker")]
    words = sum(len(line.split()) for line in spoken)
    marks = sum(len(MARK.findall(line)) for line in spoken)
    return words >= MIN_WORDS and MIN_MARKS * words <= marks <= MAX_MARKS * words


def main(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError("no such directory", "clone the repository, or give its directory", folder)
    documents = words = 0
    for path in sorted(folder.rglob("*.md")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if path.name.upper() in ("README.MD", "CONTRIBUTING.MD") or path.name.startswith("_"):
            continue
        text = path.read_text(encoding="utf-8", errors="ignore").replace("\r\n", "\n")
        lines = list(paragraphs(text))
        if is_speech(name, text, lines):
            sys.stdout.write("\n".join([f"#doc {name.replace('/', '-')}", *lines]) + "\n")
            documents += 1
            words += sum(len(line.split()) for line in lines if not line.startswith("#speaker"))
    print(f"{folder}: {documents} documents, {words} words", file=sys.stderr)


if __name__ == "__main__":
    run_script(main, __doc__)
