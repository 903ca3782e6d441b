"""The page of `punc report` in headless chromium, if it is installed.

A script at the end of the page acts like a user, and then writes what it has seen into an element.
"""

import html
import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from experiment import HOSTILE

from punc.bin.report import main

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium")

FIRST = """<script>
const complaints = [];
addEventListener("error", (event) => complaints.push(event.message));
addEventListener("securitypolicyviolation", (event) => complaints.push(event.violatedDirective));
for (const name of ["error", "warn"]) console[name] = (...what) => complaints.push(what.join(" "));
</script>"""
LAST = """<script>
addEventListener("load", async () => {
  const seen = {}, $ = (text) => document.querySelector(text), $$ = (text) => [...document.querySelectorAll(text)];
  try { %s } catch (error) { complaints.push(String(error)); }
  const made = document.createElement("pre");
  made.id = "seen";
  made.textContent = JSON.stringify({ ...seen, complaints, title: document.title });
  document.body.append(made);
});
</script>"""
ACT = Path(__file__).with_name("page_actions.js").read_text(encoding="utf-8")
AXE = """
  const result = await axe.run(%s);
  seen.violations = result.violations.map((one) => [one.id, one.impact, one.nodes[0].html]);
  seen.passes = result.passes.length;
"""


@pytest.fixture(scope="module")
def page(experiment, tmp_path_factory):
    out = tmp_path_factory.mktemp("browser") / "report.html"
    main([str(experiment), str(out)])
    return out


def visit(page, name, act, *options, before=""):
    text = page.read_text(encoding="utf-8").replace("<title>", FIRST + "<title>", 1)
    copy = page.with_name(name)
    copy.write_text(text.replace("</body>", before + LAST.replace("%s", act) + "</body>"), encoding="utf-8")
    shown = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000",
                            f"--user-data-dir={page.parent / 'profile'}", *options, "--dump-dom", copy.as_uri()],
                           capture_output=True, text=True, timeout=100)
    found = re.search(r'<pre id="seen">(.*?)</pre>', shown.stdout, re.DOTALL)
    assert found, shown.stderr[-2000:]
    return json.loads(html.unescape(found[1]))


def test_page_filters_keys_and_links(page):
    seen = visit(page, "act.html", ACT)
    assert seen["complaints"] == []
    assert seen["title"] == "Report"
    assert seen["hostile"] == HOSTILE
    assert seen["slots"] == 240
    assert seen["first"][0] == seen["first"][1] >= 0
    for name, (text, wanted, marked) in seen["kinds"].items():
        assert wanted > 0, name
        assert text == f"{wanted} slots found."
        assert marked == wanted
    assert seen["walk"][0] == seen["walk"][1]
    assert seen["around"][0] == seen["around"][1]
    assert seen["marked"] == 2  # the slot is marked in the reference and in A
    assert seen["inView"]
    assert re.search(r"rec02, slot \d+reference: \w+; pause: (\d\.\d\d s|not known); (\d+) of \2 foundA: \w+, "
                     r"(insertion|deletion|substitution) · B: \w+ \(posterior 0\.\d\d\)", seen["detail"])
    assert seen["closed"]
    for name in ("pair", "label", "sure"):
        text, wanted = seen[name]
        assert text == f"{wanted} slots found."
        assert 0 < wanted < 240
    assert seen["columns"] == 3
    assert seen["recording"] == ["80 slots found.", 2, 6]
    assert seen["search"] == "6 slots found."
    assert seen["focus"]
    assert seen["typed"] == -1  # in a text field, n is only a letter
    assert (seen["spoken"][0:2], seen["wrong"]) == (" [", 6)
    assert seen["link"] == ["test_ref", "B", "rec02", "error"]
    first, direction, second = seen["sorted"]
    assert direction == "descending"
    assert first == sorted(first, reverse=True)
    assert second == sorted(first)


@pytest.mark.skipif(not importlib.util.find_spec("axe_core_python"), reason="no axe-core (the extra accessibility)")
@pytest.mark.parametrize(("scheme", "rules"), [
    ("light", "{resultTypes: ['violations']}"),
    ("dark", "{runOnly: ['color-contrast'], resultTypes: ['violations']}")])
def test_page_is_accessible(page, scheme, rules):
    place = importlib.util.find_spec("axe_core_python").submodule_search_locations[0]
    axe = Path(place, "axe.min.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    act = "document.querySelectorAll('details').forEach((one) => { one.open = true; }); step(1);" + AXE % rules
    seen = visit(page, f"{scheme}.html", act, f"--blink-settings=preferredColorScheme={int(scheme == 'light')}",
                 before=f"<script>{axe}</script>")
    assert [one for one in seen["violations"] if one[1] in ("serious", "critical")] == []
    assert seen["complaints"] == []
    assert seen["passes"] >= (10 if scheme == "light" else 1)
