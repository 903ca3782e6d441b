"""XML of machine translation: `<doc docid="…">` is a stream, `<seg>` an utterance of prose."""

import html
import re
from collections import Counter
from collections.abc import Iterator

from punc.text.formats import prose
from punc.text.passages import Passage, Unreadable

TAG = re.compile(r"<doc\b([^>]*)>|<seg\b[^>]*>([^<]*(?:<(?!/?seg\b)[^<]*)*)</seg\s*>", re.IGNORECASE)
DOCID = re.compile(r"""docid\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)


class Format(prose.Format):
    """Reads the segments of documents."""

    takes = ("labels", "lowercase", "clitics", "remove", "independent", "prefix", "nj")
    lines_as_utterances = False
    delimiter = b"</seg>"

    @property
    def has_utterances(self) -> bool:
        return True

    def passages(self, text: str, line_start: bool, repairs: Counter[str]) -> Iterator[Passage]:
        stream, matches = None, list(TAG.finditer(text))
        check_segments(text, [match.start() for match in matches if match[2] is not None])
        for match in matches:
            if match[2] is None:
                docid = DOCID.search(match[1])
                stream = next(filter(None, docid.groups()), "") if docid else ""
                continue
            part = self.without_removed(html.unescape(re.sub(r"<[^<>]*>", " ", match[2])))
            yield self.passage(part, repairs)._replace(stream=stream, end=True)
            stream = None


def check_segments(text: str, begins: list[int]) -> None:
    """Raise Unreadable if a `<seg>` is not among those whole segments that begin at `begins`."""
    opened = [match.start() for match in re.finditer(r"<seg\b", text, re.IGNORECASE)]
    if len(begins) != len(opened):
        cut = min(set(opened) - set(begins), default=0)
        raise Unreadable("a <seg> without its </seg>", "fix the file: it is cut short or broken", text[cut:])
