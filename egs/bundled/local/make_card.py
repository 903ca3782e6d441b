"""usage: make_card.py SYSTEM CARDS TEMPLATE RESULTS.tsv SCALE-FILE

Prints the card of a bundled model: what the model is, what it was trained on, and how well it performs.

CARDS     one line per system: its name, its use, and its architecture, separated by tabs
TEMPLATE  the text of the card, with the placeholders {system}, {use}, {model}, {scale} and {columns}; a line
          `| {SET} description |` becomes a row of SYSTEM's figures, or is left out if RESULTS.tsv has none for SET
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import open_input, read_lines
from punc.bin.script import run_script
from punc.scoring.report import read_tsv

HEADER = ("system", "set", "metric", "value", "low", "high")
COLUMNS = ("COMMA.F1", "PERIOD.F1", "QUESTION.F1", "overall.F1", "Err", "case.F1", "opening.F1")
ROW = re.compile(r"^\| \{(\w+)\} (.*) \|\n", re.MULTILINE)


def main(system: str, cards: Path, template: Path, results: Path, scale: Path) -> None:
    values: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, test, metric, value, _, _ in read_tsv(results, HEADER, HEADER[3:]):
        if name == system:
            values[test][metric] = value
    if not values:
        raise InputError(f"no results for {system}", "run stages 6 and 7", results)
    lines = [line.split("\t") for _, line in read_lines(cards)]
    use, model = next((line[1:] for line in lines if line[0] == system), ("", ""))
    columns = [column for column in COLUMNS if any(column in row for row in values.values())]

    def row(match: re.Match) -> str:
        if match[1] not in values:
            return ""
        # If the reference has nothing to score, for example no capitals, F1 is 0 or NaN, and the card shows a dash.
        figures = [f"{values[match[1]].get(column) or float('nan'):.1f}".replace("nan", "–") for column in columns]
        return f"| {' | '.join([match[2], *figures])} |\n"

    with open_input(template) as file, open_input(scale, "run stage 6") as factor:
        text = ROW.sub(row, file.read().decode())
        number = factor.read().decode().split("=")[-1].strip()
    header = " | ".join(column.removesuffix(".F1") for column in columns) + " |\n|---|" + "---:|" * len(columns)
    for name, content in (("system", system), ("use", use), ("model", model), ("scale", number), ("columns |", header)):
        text = text.replace(f"{{{name}}}" if name != "columns |" else "{columns} |", content)
    sys.stdout.write(text)


if __name__ == "__main__":
    run_script(main, __doc__)
