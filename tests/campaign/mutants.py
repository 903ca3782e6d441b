"""Mutants: a module that loses data when it is wrong is changed in one place, and its own tests must fail.

    python tests/campaign/mutants.py                                          # all modules of MODULES
    python tests/campaign/mutants.py --sample 30 --seed 2 timing/align        # 30 mutants of one
    run.pl JOB=1:4 exp/mutants.JOB.log python tests/campaign/mutants.py --jobs 4 --job JOB

A mutant has another operator, number, string, condition, slice or statement (`mutations.py`). The tests run in a fork,
in which the package is a copy with this one change. A mutant is caught if a test fails, or if the tests take LONGER
times as long as without it. `equivalent_mutants.tsv` lists mutants that do the same as the module, and the reason. For
each module, prints how many mutants there are, the processor time of their tests, and the survivors. The exit status is
1 if fewer than 95 % of the others are caught.
"""

import argparse
import ast
import contextlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from mutations import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.tsv")  # module, line, line of the mutant, reason
NEEDED = 95.0  # percent
LONGER, LEAST = 5, 20  # a mutant's tests may take so many times as long as the module's, and these seconds at least
MODULES = {  # of punc, and the tests of each
    "timing/align": "align",
    "timing/pauses": "pauses gentle",
    "timing/ctm": "ctm",
    "timing/fast_ctm": "fast_ctm ctm",
    "timing/stm": "stm",
    "timing/textgrids": "textgrids",
    "scoring/project": "project",
    "scoring/counts": "counts",
    "scoring/stream_counts": "stream_counts",
    "scoring/significance": "significance",
    "text/format": "format formats",
    "text/text_format": "formats text_format prepare characters prepared_parts",
    "text/prose_reader": "prose_reader",
    "text/cutter": "cutter prepare",
    "text/formats/characters": "formats characters",
    "text/formats/ctm": "ctm_format formats prepared_parts",
    "text/formats/lrec": "formats",
    "text/formats/mteval": "formats",
    "text/formats/prose": "formats prose_reader",
    "text/formats/sil": "formats",
    "text/formats/trs": "trs formats",
    "data/block_reader": "block_reader",
    "data/datadir": "datadir",
    "data/datadir_writer": "datadir",
    "data/kaldi_io": "kaldi_io",
    "data/tables": "tables",
    "tokens/batches": "batches",
    "tokens/chunks": "chunks batches",
    "tokens/joined": "joined",
    "tokens/store": "store",
    "tokens/store_parts": "store_parts",
    "tokens/store_set": "store_set store store_parts",
}


def run_tests(tree: Path, tests: list[str], seconds: float) -> bool:
    """Whether the tests pass within this time, in a fork that has the package of `tree`."""
    child = os.fork()
    if child == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        sys.path.insert(0, str(tree))
        os.environ |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        status = 1
        try:
            status = test_session(tests)
        finally:
            os._exit(status)
    end = time.monotonic() + seconds
    done = status = 0
    while not done and time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests have left, too
    if not done:
        os.waitpid(child, 0)
    return bool(done) and status == 0


def test_session(tests: list[str]) -> int:
    import hypothesis
    import pytest
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # a failure is enough, it need not be small
    hypothesis.settings.register_profile("mutants", phases=phases, database=None, deadline=None)
    hypothesis.settings.load_profile("mutants")
    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1", f"--rootdir={ROOT}", *tests]))


def equivalents() -> set[tuple[str, str, str]]:
    """(module, line, line of the mutant) of the mutants that do the same."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines()
    return {(module, before, after) for module, before, after, _ in (line.split("\t") for line in lines)}


def processor_time() -> float:
    """The seconds of a processor that the forks have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def survivors(module: str, tests: list[str], mutants: list[Mutant]) -> list[Mutant]:
    """The mutants of a module that its tests do not catch."""
    with tempfile.TemporaryDirectory(prefix="mutants.") as folder:
        tree = Path(folder)
        shutil.copytree(ROOT / "punc", tree / "punc", ignore=shutil.ignore_patterns("__pycache__"))
        path, begin = tree / f"punc/{module}.py", time.monotonic()
        path.write_text(ast.unparse(ast.parse(path.read_text(encoding="utf-8"))), encoding="utf-8")
        if not run_tests(tree, tests, 600):
            sys.exit(f"mutants.py: {' '.join(tests)}: the tests fail without a change; mend them first")
        seconds = time.monotonic() - begin
        found = []
        for mutant in mutants:
            path.write_text(mutant.source, encoding="utf-8")
            if run_tests(tree, tests, max(LEAST, LONGER * seconds)):
                found.append(mutant)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=0, help="how many mutants of each module; 0: all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=1, help="jobs that share the mutants")
    parser.add_argument("--job", type=int, default=1, help="which of them this is, from 1")
    parser.add_argument("modules", nargs="*", default=list(MODULES), help="as timing/align")
    args = parser.parse_args()
    import hypothesis  # noqa: F401 (forks then have them)
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import torch  # noqa: F401
    same, caught, all_tried = equivalents(), 0, 0
    print("module                    mutants  equivalent   tried  caught  CPU s")
    for module in args.modules:
        tests = [str(ROOT / f"tests/test_{name}.py") for name in MODULES[module].split()]
        mutants = list(mutants_of((ROOT / f"punc/{module}.py").read_text(encoding="utf-8")))
        others = [m for m in mutants if (module, m.before, m.after) not in same]
        drawn = random.Random(args.seed).sample(others, min(args.sample or len(others), len(others)))
        tried = drawn[args.job - 1::args.jobs]
        begin = processor_time()
        left = survivors(module, tests, tried)
        print(f"{module:<26}{len(mutants):7}{len(mutants) - len(others):12}{len(tried):8}{len(tried) - len(left):8}"
              f"{processor_time() - begin:7.0f}", flush=True)
        for mutant in left:
            print(f"  {module}.py:{mutant.line}\t{mutant.before}\t{mutant.after}", flush=True)
        caught, all_tried = caught + len(tried) - len(left), all_tried + len(tried)
    percent = 100 * caught / max(all_tried, 1)
    print(f"{caught} of {all_tried} caught, {percent:.1f} %")
    return int(percent < NEEDED)


if __name__ == "__main__":
    sys.exit(main())
