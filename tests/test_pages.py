"""Page data is written and read. Result pages are rendered and published. Committed pages agree with their tables."""

import re
import shutil
from pathlib import Path

import pytest
from conftest import cells

from punc.base.errors import InputError
from punc.bin import results
from punc.bin.main import main
from punc.results import page_data as page_data_module
from punc.results.findings import filled
from punc.results.page_data import Cost, PageData, PairedTest, Published, publish, read_page_data, write_page_data
from punc.results.pages import MOST_COLUMNS, MOST_ROWS, Settings, render
from punc.scoring.significance import Interval

NAN = float("nan")


@pytest.fixture
def data():
    metrics = {("A", "ref"): {"COMMA.F1": Interval(61.25, 50.5, 70.125), "Err": Interval(5, NAN, NAN)},
               ("B", "asr"): {"Err": Interval(NAN, NAN, NAN)}}
    return PageData(metrics, {("A", "ref"): "labels:O+COMMA|slots:10", ("B", "asr"): "labels:N+C|slots:9"},
                    [PairedTest("A", "B", "ref", "Err", 21.22, 10.04, 30.06, 0.0005)],
                    {"A": Cost("A", 7, 390, 14321), "B": Cost("B", NAN, 7500, NAN)}, "./run.sh\n./run.sh --again", [])


def test_page_data_is_read_back(tmp_path, data):
    write_page_data(tmp_path, data)
    (tmp_path / "results/pauses.png").write_bytes(b"")
    again = read_page_data(tmp_path)
    assert str(again) == str(data).replace("pictures=[]", "pictures=['pauses.png']").replace(
        "epochs=7,", "epochs=7.0,").replace("390,", "390.0,").replace("14321", "14321.0").replace(
        "7500,", "7500.0,").replace("value=5,", "value=5.0,")


def test_write_page_data_without_empty_tables(tmp_path, data):
    write_page_data(tmp_path, PageData(data.metrics, data.signatures))
    assert {path.name for path in (tmp_path / "results").iterdir()} == {"signatures.tsv"}


def test_read_page_data_missing_table_raises(tmp_path, data):
    write_page_data(tmp_path, data)
    (tmp_path / "results/signatures.tsv").unlink()
    with pytest.raises(InputError, match=r"signatures\.tsv: no such file"):
        read_page_data(tmp_path)


def test_published_f1_is_the_harmonic_mean_of_p_and_r(pytestconfig):
    paths = list(pytestconfig.rootpath.glob("egs/*/conf/published.tsv"))
    assert paths
    for path in paths:
        of = {(row.system, row.set, row.metric): row.value for row in page_data_module.read_published(path)}
        for (system, set, metric), f1 in of.items():
            p, r = (of.get((system, set, metric.replace(".F1", part))) for part in (".P", ".R"))
            if metric.endswith(".F1") and p and r:
                # If a paper rounds P, R and F1 to integers, each has an error of up to 0.5.
                rounding = 1.0 if f1 % 1 == p % 1 == r % 1 == 0 else 0.16
                assert f1 == pytest.approx(2 * p * r / (p + r), abs=rounding), (system, set, metric)


def write(root, **files):
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def tree(root):
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def exp(tmp_path):
    root = tmp_path / "exp"
    write(root, RESULTS_md="new", RESULTS_tsv="new", results__ref_md="new", results__tests_tsv="new",
          results__pauses_png="new", TLSTM__final_pt="model")
    return root


def test_publish_replaces_and_removes(exp, tmp_path):
    target = tmp_path / "recipe"
    write(target, RESULTS_md="old", results__dev_md="old", results__ref_md="old", results__old_png="old",
          results__4__RESULTS_md="another page", run_sh="old")
    names = publish(exp, target)
    assert tree(target) == {
        "RESULTS.md": "new", "RESULTS.tsv": "new", "results/ref.md": "new", "results/tests.tsv": "new",
        "results/pauses.png": "new", "results/4/RESULTS.md": "another page", "run.sh": "old"}
    assert sorted(names) == ["RESULTS.md", "RESULTS.tsv", "results/pauses.png", "results/ref.md", "results/tests.tsv"]
    assert publish(exp, target) == names


def test_publish_command_makes_the_target(exp, tmp_path, capsys):
    assert main(["publish", str(exp), str(tmp_path / "results/4-europarl")]) == 0
    assert capsys.readouterr().err == f"punc publish: 5 files in {tmp_path}/results/4-europarl\n"
    assert (tmp_path / "results/4-europarl/RESULTS.md").read_text() == "new"


def test_publish_without_pages_keeps_the_target(exp, tmp_path, capsys):
    write(tmp_path, RESULTS_md="old", results__ref_md="old")
    (exp / "RESULTS.tsv").unlink()
    before = tree(tmp_path)
    assert main(["publish", str(exp), str(tmp_path)]) == 1
    assert capsys.readouterr().err == (f"punc publish: {exp}/RESULTS.tsv: no such file; make it with punc results\n")
    assert tree(tmp_path) == before
    with pytest.raises(InputError):
        publish(tmp_path / "none", tmp_path)


ROOT = Path(__file__).parents[1]
SIGNATURE = "labels:O+COMMA|slots:10"


def page_data():
    """Return page data: scores of A and B on ref and asr and of C on asr, a paired test of A and B, and the costs of
    training A and B."""
    values = {("A", "ref"): 61.26, ("B", "ref"): 40.04, ("A", "asr"): 55.8, ("B", "asr"): 55.84, ("C", "asr"): NAN}
    metrics = {key: {"COMMA.P": Interval(value, NAN, NAN), "COMMA.R": Interval(50, 40, 60),
                     "COMMA.F1": Interval(value, value - 5, value + 5), "overall.F1": Interval(value, 1, 99),
                     "Err": Interval(100 - value, 2, 98), "O.F1": Interval(90, 89, 91)}
               for key, value in values.items()}
    return PageData(metrics, dict.fromkeys(metrics, SIGNATURE),
                    [PairedTest("A", "B", "ref", "overall.F1", 21.22, 10.04, 30.06, 0.0005)],
                    {"A": Cost("A", 7, 390, 14321), "B": Cost("B", NAN, 7500, NAN)}, "./run.sh", ["pauses.png"])


PUBLISHED = [Published("A", "ref", "overall.F1", 58, "X 2001"), Published("D", "ref", "overall.F1", 70.5, "Y 2002")]


def test_render_main_page():
    settings = Settings("Toys", "Two sets.", main=["A", "B", "D"], main_columns=["overall.F1@ref", "Err@asr"],
                        published=PUBLISHED, findings="- A is best.\n", links=["other.md another page"])
    text = render(page_data(), settings)["RESULTS.md"]
    assert text.startswith("# Toys\n\nTwo sets.\n\nMade by\n\n```sh\n./run.sh\n```\n\n| system |")
    assert cells(text, "system") == ["system", "overall F1, ref", "published", "Err, asr", "training"]
    assert cells(text, "A") == ["A", "**61.3** (1.0–99.0)", "58.0", "**44.2** (2.0–98.0)", "7 epochs, 6 min"]
    assert cells(text, "B") == ["B", "40.0 (1.0–99.0)", "", "**44.2** (2.0–98.0)", "2 h 5 min"]
    assert cells(text, "D") == ["D", "", "70.5", "", ""]
    assert "a figure without ± is one run" in text
    assert "## What we found\n\n- A is best.\n\n## More" in text
    for link in ("(results/ref.md)", "(results/asr.md)", "(RESULTS.tsv)", "(results/pauses.png)", "(other.md)"):
        assert link in text


def test_render_set_page():
    settings = Settings("Toys", "Two sets.", columns=["COMMA", "Err"], published=PUBLISHED)
    pages = render(page_data(), settings)
    assert set(pages) == {"RESULTS.md", "results/ref.md", "results/asr.md"}
    text = pages["results/ref.md"]
    assert text.startswith("# Toys: ref\n\nTwo sets.\n")
    assert cells(text, "**A**") == ["**A**", "61.3 / 50.0 / 61.3 (56.3–66.3)", "38.7 (2.0–98.0)"]
    assert cells(text, "D, published [2]") == ["D, published [2]", "", ""]
    assert "| A | B | overall.F1 | 61.3 | 40.0 | +21.2 (+10.0 … +30.1) | 0.0005 |" in text
    assert "\n1. X 2001\n2. Y 2002\n" in text
    assert text.endswith(f"- A, B: `{SIGNATURE}`\n")
    assert "Paired tests" not in pages["results/asr.md"]
    assert "published" not in pages["results/asr.md"]
    assert cells(pages["results/asr.md"], "**C**")[1] == "– / 50.0 / –"


def test_render_set_page_shows_each_run_of_several():
    """All runs are shown, because a mean can hide that the runs fall into two groups."""
    data = page_data()
    for name, value in (("A.seed2", 40.0), ("A.seed3", NAN)):
        data.metrics[name, "ref"] = dict.fromkeys(data.metrics["A", "ref"], Interval(value, NAN, NAN))
        data.signatures[name, "ref"] = SIGNATURE
    pages = render(data, Settings(columns=["COMMA", "Err"]))
    section = pages["results/ref.md"].partition("\n## Each run\n")[2].partition("\n## ")[0]
    assert section.endswith("\n\n| system | COMMA | Err |\n|---|---|---|\n| A | 61.3, 40.0, – | 38.7, 40.0, – |\n")
    assert "Each run" not in pages["results/asr.md"]


@pytest.mark.parametrize(("settings", "message"), [
    (Settings(columns=["DASH"]), "no score has a column 'DASH'; there are COMMA overall Err O"),
    (Settings(main_columns=["overall.F1"]), "'overall.F1' names no set; write METRIC@SET"),
    (Settings(main_columns=["Err@ref"] * 7), "has 2 rows and 9 columns; .* at most 10 rows and 7 columns"),
    (Settings(published=[Published(str(i), "ref", "overall.F1", i, "X 2001") for i in range(11)],
              main=[*map(str, range(11))]), "has 11 rows and 4 columns"),
])
def test_render_wrong_settings_raises(settings, message):
    with pytest.raises(InputError, match=message):
        render(page_data(), settings)


def findings_data():
    """Return page data: scores of T-X (three seeds) and Y on ref, scores of Y on asr, and tests of T-X against Y."""
    values = {("T-X", "ref"): 60.0, ("T-X.seed2", "ref"): 62.0, ("T-X.seed3", "ref"): 61.0, ("Y", "ref"): 59.2,
              ("Y", "asr"): 4.26}
    metrics = {key: {"COMMA.F1": Interval(NAN, NAN, NAN), "overall.F1": Interval(value, 0, 0),
                     "Err": Interval(value / 10, 0, 0)} for key, value in values.items()}
    return PageData(metrics, {}, [PairedTest("T-X", "Y", "ref", "overall.F1", 1.5, 0.1, 2, 0.00001),
                                  PairedTest("T-X", "Y", "ref", "Err", 0.15, -0.1, 2, 0.2089),
                                  PairedTest("T-X", "Y", "ref", "SER", 1.1, -0.1, 2, 0.2089)])


def fill(text, declared=("4-gram", "test2011")):
    quoted = [Published("Y", "ref", "Err", 9.67, "Z 2001"), Published("W (our marks)", "ref", "Err", 5, "Z 2001")]
    return filled(text, findings_data(), quoted, declared, "findings.md")


@pytest.mark.parametrize(("text", "shown"), [
    ("T-X has {T-X ref overall.F1}, Y {Y asr Err}.", "T-X has 61.0, Y 0.4."),
    ("T-X: {± T-X ref overall.F1}, Y: {± Y ref overall.F1}", "T-X: 61.0 ± 1.0, Y: 59.2 (one run)"),
    ('Y has {published Y ref Err}, W (our marks) {published "W (our marks)" ref Err}',
     "Y has 9.7, W (our marks) 5.0"),
    ("T-X, Y: {T-X - Y ref overall.F1}, {Y - T-X ref overall.F1}, {Y - published Y ref Err}",
     "T-X, Y: +1.8, −1.8, −3.8"),
    ("T-X, Y: {T-X > Y ref overall.F1}, {Y < published Y ref Err}",
     "T-X, Y: 61.0 against 59.2 (p < 0.0001), 5.9 against 9.7"),
    ('T-X, Y, W (our marks): {T-X > Y published "W (our marks)" ref Err}', ""),  # not significant, so left out
    ("T-X, Y: {Y < T-X published Y ref overall.F1}", None),  # there is no published figure
    ("T-X, Y: {p Y T-X ref Err}", "T-X, Y: p = 0.2089"),
    ("T-X, Y: {tests Y T-X ref}", "T-X, Y: overall F1 −1.5 (p < 0.0001), Err −0.1 (p = 0.2089)"),
    ("T-X has F1s of 2001 on `1,760 words` of test2011, as 4-gram, Earnings-21 and `--rate 3`.",
     "T-X has F1s of 2001 on `1,760 words` of test2011, as 4-gram, Earnings-21 and `--rate 3`."),
])
def test_findings_are_filled_in(text, shown):
    if shown is None:
        with pytest.raises(InputError, match=r"findings\.md:1: "):
            fill(text)
    else:
        assert fill(text) == shown


@pytest.mark.parametrize(("wrong", "message"), [
    ("57.0", "57.0: a figure was typed; refer to its cell: {SYSTEM SET METRIC}"),
    ("57", "57: a figure was typed"),
    ("`57.0 points`", "57.0: a figure was typed"),
    ("`57`", "57: a figure was typed"),
    ("5-fold", "5-fold: a figure was typed"),
    ("half a point", "half a point: a figure was typed"),
    ("{Y ref Err", "{: a figure was typed"),
    ("{Y ref}", "{Y ref}: not a reference"),
    ("{Z ref Err}", "{Z ref Err}: the page has no Z; choose from"),
    ("{Y reff Err}", "{Y reff Err}: the page has no reff; did you mean ref?"),
    ("{Y ref Er}", "Y has no Er on ref; did you mean Err?"),
    ("{T-X ref Err}", "{T-X ref Err}: the finding does not name T-X; say whose figure it is"),
    ("T-X-2: {T-X ref Err}", "the finding does not name T-X"),
    ("{published Y ref SER}", "published Y has no SER on ref"),
    ("T-X {p T-X Y ref COMMA}", "T-X has no COMMA on ref; did you mean COMMA.F1?"),
])
def test_findings_that_are_wrong_raise_with_file_and_line(wrong, message):
    with pytest.raises(InputError) as error:
        fill(f"Text.\n\n- Y has\n  {wrong}.\n")
    assert str(error.value).startswith("findings.md:4: ")
    assert message in str(error.value)


@pytest.mark.parametrize(("finding", "why"), [
    ("Y and T-X: {Y > T-X ref overall.F1}", "overall.F1 on ref is 59.2 for Y, but 61.0 (p < 0.0001) for T-X"),
    ("Y and T-X: {Y > T-X ref Err}", "Err on ref is 5.9 for Y, but 6.1 (p = 0.2089) for T-X"),
    ("Y and T-X: {T-X > Y ref Err}", "Err on ref is 6.1 for T-X, but 5.9 (p = 0.2089) for Y"),
    ("4-gram has {4-gram ref Err}", "the page has no row of 4-gram on ref"),
    ("T-X has {T-X asr Err}", "the page has no row of T-X on asr"),
    ("Y has {Y test2011 Err}", "the page has no row of Y on test2011"),
    ("T-X and Y: {p T-X Y ref COMMA.F1}", "the page does not test T-X and Y on ref: --compare=T-X,Y"),
    ("T-X.seed2 and Y: {tests T-X.seed2 Y ref}", "the page does not test T-X.seed2 and Y on ref"),
    ("Y has {Y ref COMMA.F1}", "COMMA.F1 of Y on ref is undefined"),
])
def test_finding_that_the_page_does_not_bear_out_is_left_out(finding, why, caplog):
    assert fill(f"Text.\n\n- Y has {{Y ref Err}}.\n- {finding}\n  or so.\n- Last.\n") == (
        "Text.\n\n- Y has 5.9.\n- Last.\n")
    assert f"findings.md:4: this finding is left out: {why}" in caplog.text


def conf_of(page):
    recipe = recipe_of(page)
    if variant := page.relative_to(recipe).parent.name:
        return recipe / f"conf/results-{variant}.conf"
    first = recipe / "conf/results.conf"
    return first if first.exists() else recipe / "conf/results-3-europarl.conf"


def recipe_of(page):
    return next(path for path in page.parents if path.parent.name == "egs")


PAGES = sorted(path for path in ROOT.glob("egs/**/RESULTS.md") if not {"exp", "data"} & set(path.parts))
IDS = [str(path.parent.relative_to(ROOT / "egs")) for path in PAGES]


def test_committed_pages_of_every_recipe():
    assert len(PAGES) >= 9
    assert {recipe_of(path).name for path in PAGES} == {path.parent.name for path in ROOT.glob("egs/*/conf")
                                                        if (path.parent / "RESULTS.tsv").exists()}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_committed_page_is_rendered_from_its_tables(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(recipe_of(page))
    shutil.copyfile(page.with_name("RESULTS.tsv"), tmp_path / "RESULTS.tsv")
    shutil.copytree(page.parent / "results", tmp_path / "results",
                    ignore=lambda folder, names: [name for name in names if name.endswith(".md") or "." not in name
                                                  or Path(folder, name).is_dir()])
    assert main(["results", "--config", str(conf_of(page)), "--render", "true", str(tmp_path)]) == 0
    assert "this finding is left out" not in capsys.readouterr().err
    made = {path.relative_to(tmp_path): path.read_bytes() for path in [*tmp_path.glob("*.md"),
                                                                       *tmp_path.glob("results/*.md")]}
    there = {path.relative_to(page.parent): path.read_bytes() for path in [page, *page.parent.glob("results/*.md")]}
    assert made == there, "publish again, or punc results --render true"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_committed_page_is_short(page):
    table = page.read_text(encoding="utf-8").partition("\n| ")[2].partition("\n\n")[0].splitlines()
    assert 1 <= len(table) - 2 <= MOST_ROWS
    assert table[0].strip("|").count("|") + 1 <= MOST_COLUMNS
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 100


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_committed_page_has_no_targets_and_no_diary(page):
    for path in [page, *page.parent.glob("results/*.md")]:
        found = re.search(r"(?i)\b(required|wanted|missed by|target|was to be|commit [0-9a-f]{7}|by hand)\b",
                          path.read_text(encoding="utf-8"))
        assert not found, f"{path}: {found[0]}"


def page_of(page):
    options = results.parser().parse(["--config", str(conf_of(page)), "--render", "true", str(page.parent)])
    published = page_data_module.read_published(recipe_of(page) / options.published) if options.published else []
    return options, read_page_data(page.parent), published


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_committed_findings_follow_their_cells(page):
    """If a cell changes, the findings that use it change. Figures typed by hand and references to missing cells are
    errors."""
    options, data, published = page_of(page)
    text = (recipe_of(page) / options.findings).read_text(encoding="utf-8")
    declared = {*options.systems.split(), *options.sets.split()}

    def findings(text):
        return filled(text, data, published, declared, options.findings)

    before = findings(text)
    assert before.strip() in page.read_text(encoding="utf-8")
    cells = [cell for cell in re.findall(r"\{([^{} ]+) ([^{} ]+) ([^{} ]+)\}", text) if cell[:2] in data.metrics]
    for system, name, metric in dict.fromkeys(cells):
        value = data.metrics[system, name][metric]
        data.metrics[system, name][metric] = value._replace(value=value.value + 0.7)
        assert findings(text) != before, (system, name, metric)
        data.metrics[system, name][metric] = value
    references = list(re.finditer(r"\{([^{}]*)\}", text))
    assert len(references) > 3
    for found in references:
        for wrong in ("57.0", f"{{{found[1]}x}}"):
            with pytest.raises(InputError, match=re.escape(options.findings)):
                findings(text[:found.start()] + wrong + text[found.end():])


def readme_rows():
    """Yield the rows of the results table in README.md: page, metric, sets, and four columns of figures."""
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Results\n")[2].partition("\n## ")[0]
    for line in table.splitlines():
        if line.startswith("| ["):
            recipe, _, measured, *figures = (cell.strip() for cell in line.strip("|").split("|"))
            metric, sets = measured.split(", ")
            yield ROOT / re.search(r"\((.*)\)", recipe)[1], metric, sets.split(" / "), figures


def test_readme_table_has_every_published_recipe():
    shown = {path.relative_to(ROOT / "egs").parts[0] for path, *_ in readme_rows()}
    assert shown == {path.parent.name for path in ROOT.glob("egs/*/RESULTS.tsv")} - {"mini"}


def expected(entry, kind, metric, sets, data, published):
    """Return an entry of README's table, `NAME FIGURE / FIGURE`, with its figures taken from the page data. A missing
    published figure is `–`."""
    name = re.fullmatch(r"(.+?) [\d.]+(?: .*)?", entry)[1]
    figures = []
    for one in sets:
        if kind == "published " and not any((row.system, row.set, row.metric) == (name, one, metric)
                                            for row in published):
            figures.append("–")
        else:
            figures.append(filled(f'{name}{{{kind}"{name}" {one} {metric}}}', data, published, (), entry)[len(name):])
    runs = " (one run)" * all(text.endswith(" (one run)") for text in figures)
    return f"{name} " + " / ".join(text.removesuffix(" (one run)") for text in figures) + runs


def test_readme_table_has_the_figures_of_the_pages():
    rows = list(readme_rows())
    recipes = {path.parents[1] for path in ROOT.glob("egs/*/conf/findings*.md")} - {ROOT / "egs/mini"}
    assert {recipe_of(path) for path, *_ in rows} == recipes
    for path, metric, sets, columns in rows:
        _, data, published = page_of(path)
        for kind, column in zip(("± ", "", "published ", "published "), columns, strict=True):
            for entry in filter(None, column.split("; ")):
                assert entry == expected(entry, kind, metric, sets, data, published), path


def test_readme_fits_on_two_screens():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 90


def test_readme_output_of_mini_is_that_of_its_page():
    page = (ROOT / "egs/mini/RESULTS.md").read_text(encoding="utf-8")
    shown = (ROOT / "README.md").read_text(encoding="utf-8").partition("```\n\nWithout KenLM")[0].rpartition("```\n")[2]
    rows = [line for line in shown.splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    for row in rows:
        assert row in page


def test_committed_pages_of_mini_say_that_its_speech_is_synthetic():
    for path in [ROOT / "egs/mini/RESULTS.md", *ROOT.glob("egs/mini/results/*.md")]:
        assert "The speech is synthetic and its pauses are simulated from the marks" in path.read_text(encoding="utf-8")
