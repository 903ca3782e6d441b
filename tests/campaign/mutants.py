"""Mutation tests: changes one place at a time in modules whose mistakes could lose data. Then a test must fail.

    python tests/campaign/mutants.py [--sample N] [--seed N] [MODULE …]

Needs cosmic-ray (pip install cosmic-ray), which makes one mutant at a time in a clone of the checkout. Prints the
counts, and a diff for each mutant that no test caught. Read these mutants to see which of them behave like the
original, for example because they only read larger blocks.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome

ROOT = Path(__file__).parents[2]
SECONDS = 300  # s; time limit for the tests of a mutant
MODULES = {  # modules of punc, with their tests
    "timing/align": "align", "timing/pauses": "pauses", "transcripts/ctm": "ctm",
    "transcripts/transcript": "transcripts", "transcripts/cues": "transcripts",
    "transcripts/json_reader": "json_formats", "transcripts/json_file": "json_formats",
    "scoring/project": "project", "scoring/counts": "counts", "scoring/significance": "metrics",
    "text/passages": "cutter prepare", "text/prose": "prose", "text/format": "formats prepare",
    "data/block_reader": "block_reader store", "data/datadir": "datadir",
    "data/kaldi_io": "kaldi_io", "data/tables": "validate", "tokens/chunks": "batching", "tokens/store": "store",
    "tokens/store_set": "store", "live/stream": "live", "live/words": "live",
    "live/session": "live_words live",
}


def mutants_of(module: str, place: Path) -> list:
    with use_db(str(place / f"{module.replace('/', '.')}.sqlite"), WorkDB.Mode.create) as database:
        init([Path(f"punc/{module}.py")], database, {})
        return list(database.work_items)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=10, help="number of mutants of each module")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("modules", nargs="*", default=list(MODULES), help="modules, such as timing/align")
    args = parser.parse_args()
    caught = tried = 0
    with tempfile.TemporaryDirectory(prefix="mutants.") as folder:
        clone = Path(folder) / "punc"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        os.chdir(clone)
        os.environ["PYTHONPATH"] = str(clone)
        for module in args.modules:
            tests = " ".join(f"tests/test_{name}.py" for name in MODULES[module].split())
            command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider --hypothesis-seed=1 {tests}"
            mutants = mutants_of(module, Path(folder))
            for mutant in random.Random(args.seed).sample(mutants, min(args.sample, len(mutants))):
                result = mutate_and_test(mutant.mutations, command, SECONDS)
                tried += 1
                if result.test_outcome == TestOutcome.SURVIVED:
                    print(result.diff, flush=True)
                else:
                    caught += 1
            print(f"{module}: {caught} of {tried} caught so far", flush=True)
    return int(caught < 0.8 * tried)


if __name__ == "__main__":
    sys.exit(main())
