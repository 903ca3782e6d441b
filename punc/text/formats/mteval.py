"""XML of machine translation: each `<doc docid="…">` is a stream, and each `<seg>` is an utterance of prose.

Text outside segments, such as `<title>`, is left out. Its words are counted.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator

from punc.text.formats import prose
from punc.text.passages import Passage, Unreadable

TAG = re.compile(r"<doc\b([^<>]*)>|<seg\b[^<>]*>([^<]*(?:<(?!/?seg\b)[^<]*)*)</seg\s*>", re.IGNORECASE)
MARKUP = re.compile(r"<[A-Za-z/!?][^<>]*>")  # does not match `a < b`
OUTSIDE = "words outside a <seg>, left out"
DOCID = re.compile(r"""docid\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)


class Format(prose.Format):
    """Reads the segments of documents."""

    takes = ("labels", "lowercase", "clitics", "abbreviations", "remove", "clean", "independent", "prefix", "nj")
    lines_as_utterances = False
    delimiter = b"</seg>"
    has_utterances = True

    def passages(self, text: str, line_start: bool, repairs: Counter[str]) -> Iterator[Passage]:
        stream, matches, end = None, list(TAG.finditer(text)), 0
        opened = {match.start() for match in re.finditer(r"<seg\b", text, re.IGNORECASE)}
        if broken := opened.difference(match.start() for match in matches):
            raise Unreadable("a <seg> without its </seg>", "fix the file: it is cut short or broken",
                             text[min(broken):])
        for match in matches:
            repairs[OUTSIDE] += len(plain(text[end:match.start()]).split())
            end = match.end()
            if match[2] is None:
                stream = document_name(match)
                continue
            yield self.passage(self.said(plain(match[2]), repairs), repairs)._replace(stream=stream, end=True)
            stream = None
        repairs[OUTSIDE] += len(plain(text[end:]).split())


def plain(text: str) -> str:
    return html.unescape(MARKUP.sub(" ", text.replace("<![CDATA[", " ").replace("]]>", " ")))


def document_name(match: re.Match[str]) -> str:
    docid = DOCID.search(match[1])
    return next(filter(None, docid.groups()), "") if docid else ""


def documents_and_segments(text: str) -> Iterator[tuple[str, str]]:
    """Yield (docid, "") for each `<doc>` with a docid, and ("", segment) for each `<seg>`, in the order of the text."""
    for match in TAG.finditer(text):
        if match[2] is not None:
            yield "", html.unescape(match[2])
        elif name := document_name(match):
            yield name, ""


