"""`punc results`: collect the scores of an experiment into RESULTS.tsv and pages."""

import logging
import shlex
import shutil
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import atomic_dir, decoded_lines
from punc.base.options import OptionParser, boolean
from punc.results import page_data
from punc.results.collect import collect_scores, paired_tests, read_cost
from punc.results.findings import filled
from punc.results.page_data import PageData, dropped_rows, keep_rows, pictures, read_page_data, write_page_data
from punc.results.pages import Settings, render
from punc.scoring.report import METRICS

logger = logging.getLogger(__name__)


def parser() -> OptionParser:
    options = OptionParser(
        "punc results [options] EXP-DIR",
        "Collects EXP-DIR/SYSTEM/decode_SET/score into EXP-DIR/RESULTS.tsv (system, set, metric, value, low, high), "
        "the page EXP-DIR/RESULTS.md, and EXP-DIR/results with a page for each set: all rows, paired tests, "
        "signatures. punc publish copies these to a recipe's directory.",
        "punc results --config conf/results.conf --command './run.sh' exp")
    options.add_argument("--title", default="Results", metavar="TEXT", help="heading of the page")
    options.add_argument("--about", default="", metavar="TEXT", help="a sentence or two: what is scored")
    options.add_argument("--command", default="", metavar="TEXT", help="the command that made the figures")
    options.add_argument("--systems", default="", metavar="NAMES", help="order of the systems; others follow, sorted")
    options.add_argument("--sets", default="", metavar="NAMES", help="order of the sets; all others follow, sorted")
    options.add_argument("--main", default="", metavar="NAMES",
                         help="systems in the table of RESULTS.md, at most ten; they may include published systems; "
                              "quote names with spaces; default: our first ten systems")
    options.add_argument("--main-columns", default="", metavar="NAMES",
                         help="columns of the table in RESULTS.md, such as 'overall.F1@test_ref Err@test_ref'; "
                              "default: overall.F1")
    options.add_argument("--columns", default="", metavar="NAMES",
                         help="columns of the sets' tables, such as 'PERIOD overall Err'; default: all except the "
                              "empty label")
    options.add_argument("--published", metavar="FILE",
                         help="published figures: system, set, metric, value, source, separated by tabs")
    options.add_argument("--compare", action="append", default=[], metavar="SYSTEM,SYSTEM",
                         help="test two systems against each other; can be repeated; tests of other pairs, from "
                              "earlier runs, are then left out")
    options.add_argument("--tested", default="", metavar="NAMES",
                         help="metrics of the paired tests, such as 'overall.F1 Err'; default: as in --columns")
    options.add_argument("--findings", metavar="FILE",
                         help="Markdown for 'What we found'; references in it, such as {SYSTEM SET METRIC}, are "
                              "replaced by figures: punc/results/findings.py lists the kinds of reference")
    options.add_argument("--link", action="append", default=[], metavar="'PATH TEXT'",
                         help="another page to link, relative to RESULTS.md; can be repeated")
    options.add_argument("--keep", metavar="DIR",
                         help="directory of published pages; if a system is not in EXP-DIR, its rows in DIR are kept, "
                              "so systems can be trained on several machines")
    options.add_argument("--render", type=boolean, default=False, metavar="BOOL",
                         help="only rewrite the pages, from EXP-DIR/RESULTS.tsv and EXP-DIR/results/*.tsv")
    options.add_argument("exp", metavar="EXP-DIR", help="where the systems' directories are")
    return options


def main(arguments: Sequence[str]) -> None:
    options = parser().parse(arguments)
    settings = Settings(options.title, options.about, options.columns.split(), _names(options.main),
                        options.main_columns.split(), links=options.link)
    settings.published = page_data.read_published(options.published) if options.published else ()
    if options.keep and options.render:
        raise InputError("--keep cannot be combined with --render", "leave one of them out")
    pairs = _pairs(options.compare)
    data = read_page_data(options.exp) if options.render else _collect(options, pairs)
    if options.keep:
        kept = read_page_data(options.keep)
        if dropped := dropped_rows(data, kept):
            logger.warning("punc results: %s are removed from the pages: %s has these systems, but not with these "
                           "seeds or on these sets; train and score them there to keep the rows",
                           ", ".join(f"{system} on {name}" for system, name in dropped), options.exp)
        data = keep_rows(data, kept, options.keep, options.systems.split(), options.sets.split())
    if pairs:  # earlier runs may have tested other pairs of systems
        data.tests = [test for test in data.tests if (test.this, test.other) in pairs]
        for pair in dict.fromkeys(pairs):
            if not any((test.this, test.other) == pair for test in data.tests):
                logger.info("punc results: no set has scores of both %s and %s: their test is left out", *pair)
    if options.findings:
        declared = {*options.systems.split(), *options.sets.split()}
        settings.findings = filled(_text(options.findings), data, settings.published, declared, options.findings)
    pages = render(data, settings)
    # With --render, RESULTS.md is written last, because `punc publish` refuses a directory without it. The tables
    # are inputs of --render; they are kept, so a killed run can be repeated.
    key, stale = "RESULTS.md", ["results/*.md"]
    if not options.render:
        key, stale = page_data.KEY, [*stale, "results/tests.tsv", "results/costs.tsv", "results/command.txt"]
    with atomic_dir(options.exp, key, stale) as tmp:
        (tmp / "results").mkdir()
        for name, text in pages.items():
            (tmp / name).write_text(text, encoding="utf-8")
        if options.render:
            return
        write_page_data(tmp, data)
        for name in set(data.pictures) - set(pictures(options.exp)):
            shutil.copyfile(Path(options.keep, "results", name), tmp / "results" / name)
    logger.info("punc results: %d scores in %s/RESULTS.tsv and %s/RESULTS.md", len(data.metrics), options.exp,
                options.exp)


def _text(path: str) -> str:
    return "\n".join(line for _, line in decoded_lines(path))


def _collect(options: Namespace, pairs: Sequence[tuple[str, str]]) -> PageData:
    scores = collect_scores(options.exp, options.systems.split(), options.sets.split())
    for path in sorted(Path(options.exp).glob("*/decode_*")):
        if not (path / "score" / METRICS).is_file():
            logger.info("punc results: %s has no score: left out", path)
    costs = [read_cost(Path(options.exp, system)) for system in dict.fromkeys(score.system for score in scores)]
    keys = [(score.system, score.set) for score in scores]
    return PageData(dict(zip(keys, (score.metrics for score in scores))),
                    dict(zip(keys, (score.signature for score in scores))),
                    paired_tests(scores, pairs, options.tested.split(), options.columns.split()),
                    {cost.system: cost for cost in costs if cost}, options.command, pictures(options.exp))


def _pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        this, comma, other = text.partition(",")
        if not comma or "," in other:
            raise InputError(f"--compare={text} is not a pair", "write SYSTEM,SYSTEM")
        pairs.append((this, other))
    return pairs


def _names(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"--main '{text}': {error}", "put quotes around a name with spaces") from None


