"""usage: make_card.py SYSTEM RESULTS.tsv >OUT

Prints the card of a model that ships: what it is, what it was trained on, and how well it does, from the recipe's
table.
"""

import sys
from collections import defaultdict
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.bin.script import run_script
from punc.scoring.tables import read_tsv

HEADER = ("system", "set", "metric", "value", "low", "high")
COLUMNS = ("COMMA.F1", "PERIOD.F1", "QUESTION.F1", "overall.F1", "Err", "case.F1")
WHAT = {"en": ("reads both ways: for files", "bi_lstm"),
        "en-live": ("reads four words ahead: for streams", "delay"),
        "en-large": ("reads both ways: for files; a small encoder that learned from a large one", "encoder")}
SETS = {"earnings_ref": "calls (Earnings-21), reference words, pauses by alignment",
        "earnings_asr": "the same, words and pauses of an ASR system (13 % of the words wrong)",
        "earnings_speechmatics": "the same, words and pauses of a commercial engine",
        "iwslt_ref": "TED talks (IWSLT 2011), no pauses; no TED text was seen in training",
        "iwslt_asr": "the same, ASR output", "podcasts": "podcasts, no pauses", "europarl": "debates, no pauses"}
TEXT = """# {system}

English speech: restores `, . ?` and capitals in lower-case words; {use}. Pauses help where word times are known.

- Language: English (`en`).
- Architecture: `punc/models/{model}.py`, 48,000 words, 5 million weights; made by `egs/english` of `punc`.
- Training: podcasts and talks (github.com/thechangelog/transcripts, CC BY-SA 4.0; github.com/bitcointranscripts, MIT),
  debates of the European Parliament (Europarl, no restriction known), calls (Earnings-22, Rev.com, CC BY-SA 4.0).
- Licence of the weights: **CC BY-SA 4.0**.
- Limits: it writes three marks, no quotes, no colons; capitals of names that it has not seen are often missing; long
  sentences of prepared speeches get too few commas. What it is bad at is on the recipe's page.

F1 in percent; Err: wrong slots in percent; case: words with a capital. Where no mark is written, the posterior is
multiplied by {scale}.

| test set | {names} |
|---|{rule}
{rows}
"""


def main(system: str, results: Path) -> None:
    values: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, test, metric, value, _, _ in read_tsv(results, HEADER, HEADER[3:]):
        if name == system:
            values[test][metric] = value
    if not values:
        raise InputError(f"no figures of {system}", "run stages 6 and 7", results)
    rows = ["| " + " | ".join([what, *(f"{values[test].get(column, float('nan')):.1f}".replace("nan", "–")
                                       for column in COLUMNS)]) + " |" for test, what in SETS.items() if test in values]
    with open_input(results.parent / system / "scale", "run stage 6") as file:
        scale = file.read().decode().split("=")[-1].strip()
    use, model = WHAT[system]
    sys.stdout.write(TEXT.format(system=system, use=use, model=model, scale=scale, rows="\n".join(rows),
                                 names=" | ".join(name.removesuffix(".F1") for name in COLUMNS),
                                 rule="---:|" * len(COLUMNS)))


if __name__ == "__main__":
    run_script(main, __doc__)
