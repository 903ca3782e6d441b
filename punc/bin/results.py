"""`punc results`: collect scores into RESULTS.tsv and RESULTS.md."""

import sys
from collections.abc import Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.base.options import OptionParser
from punc.scoring.results import collect, read_published, write_results


def parser() -> OptionParser:
    """The options of `punc results`."""
    options = OptionParser(
        "punc results [options] EXP-DIR OUT-PREFIX",
        "Collect EXP-DIR/SYSTEM/decode_SET/score into OUT-PREFIX.tsv (system, set, metric, value, low, high) and "
        "OUT-PREFIX.md, with published figures beside them.",
        "punc results --title 'TED talks' --command './run.sh' --published conf/published.tsv "
        "--compare T-LSTM,CNN-2A exp RESULTS")
    options.add_argument("--title", default="Results", metavar="TEXT", help="heading of the page")
    options.add_argument("--command", default="", metavar="TEXT", help="the command that made the figures")
    options.add_argument("--systems", default="", metavar="NAMES", help="order of the systems; others follow, sorted")
    options.add_argument("--sets", default="", metavar="NAMES", help="order of the sets; others follow, sorted")
    options.add_argument("--published", metavar="FILE",
                         help="published figures: system, set, metric, value, source, with tabs between")
    options.add_argument("--columns", default="", metavar="NAMES",
                         help="columns of the tables, as 'PERIOD overall Err'; default: all but the empty label's")
    options.add_argument("--compare", action="append", default=[], metavar="SYSTEM,SYSTEM",
                         help="a paired test of two systems; can be given again")
    options.add_argument("--tested", default="", metavar="NAMES",
                         help="what paired tests are of, as 'overall.F1 Err'; default: all")
    options.add_argument("--notes", metavar="FILE", help="Markdown to append as it is")
    options.add_argument("exp", metavar="EXP-DIR", help="where the systems' directories are")
    options.add_argument("prefix", metavar="OUT-PREFIX", help="path of the results without .tsv and .md")
    return options


def main(arguments: Sequence[str]) -> None:
    """Run `punc results`. Raises InputError for a user's mistake."""
    options = parser().parse(arguments)
    pairs = [tuple(pair.split(",")) for pair in options.compare]
    for pair, text in zip(pairs, options.compare):
        if len(pair) != 2:
            raise InputError(f"--compare={text} is not a pair", "write SYSTEM,SYSTEM")
    scores = collect(options.exp, options.systems.split(), options.sets.split())
    published = read_published(options.published) if options.published else []
    write_results(options.prefix, scores, options.title, options.command, published, pairs,
                  options.columns.split(), _notes(options.notes), options.tested.split())
    for path in sorted(Path(options.exp).glob("*/decode_*")):
        if not (path / "score" / "figures.tsv").is_file():
            print(f"punc results: {path} has no score: left out", file=sys.stderr)
    print(f"punc results: {len(scores)} scores in {options.prefix}.tsv and {options.prefix}.md", file=sys.stderr)


def _notes(path: str | None) -> str:
    if path is None:
        return ""
    with open_input(path) as file:
        return "\n".join(decode_line(line, path, number) for number, line in enumerate(file, 1))
