"""The page of `punc serve` in headless chromium, which is controlled with its DevTools protocol."""

import base64
import importlib.util
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
from websockets.sync.client import connect

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium")
PICTURES = os.environ.get("PUNC_PICTURES")  # a directory for screenshots
SRT = "1\n00:00:01,000 --> 00:00:03,000\nhow are you i am fine\n"


class Page:
    def __init__(self, socket, folder):
        self._socket, self.folder, self._ids, self.complaints = socket, folder, itertools.count(), []
        for domain in ("Page", "Runtime", "Log"):
            self(f"{domain}.enable")

    def __call__(self, method, **parameters):
        id = next(self._ids)
        self._socket.send(json.dumps({"id": id, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=20))
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(message["params"])
            if message.get("id") == id:
                assert "error" not in message, message
                return message["result"]

    def see(self, expression):
        found = self("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, expression):
        """Wait until the value of an expression is true. Return the value."""
        until = time.monotonic() + 15
        while not (value := self.see(expression)):
            assert time.monotonic() < until, (expression, self.see("document.body.innerText"))
            time.sleep(0.02)
        return value

    def type(self, text):
        self("Input.insertText", text=text)

    def key(self, name, modifiers=0, code=0):
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=name, modifiers=modifiers, windowsVirtualKeyCode=code,
                 text="\r" if name == "Enter" else "")

    def picture(self, name):
        if PICTURES:
            shot = self("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            Path(PICTURES, f"{name}.png").write_bytes(base64.b64decode(shot))


@pytest.fixture(scope="module")
def url():
    code = "import sys; from punc.bin.main import main; sys.exit(main())"
    with subprocess.Popen([sys.executable, "-c", code, "serve", "--port=0"], stderr=subprocess.PIPE,
                          text=True) as process:
        yield process.stderr.readline().split()[-1]
        process.terminate()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    profile = tmp_path_factory.mktemp("browser")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
               f"--user-data-dir={profile}", "--no-first-run", "--disable-extensions", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    port = profile / "DevToolsActivePort"
    while not (port.is_file() and len(port.read_text().split()) == 2):
        assert process.poll() is None
        time.sleep(0.02)
    number, _ = port.read_text().split()
    with urllib.request.urlopen(f"http://127.0.0.1:{number}/json/list") as answer:
        target = next(target for target in json.loads(answer.read()) if target["type"] == "page")
    with connect(target["webSocketDebuggerUrl"], max_size=None) as socket:
        page = Page(socket, profile)
        page("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(profile))
        yield page
        page("Browser.close")
        process.wait(timeout=10)


@pytest.fixture
def page(browser, url):
    browser.complaints.clear()
    browser("Page.navigate", url=url)
    browser.wait("document.body?.dataset.ready")
    return browser


def paste(page, text, key=True):
    page.see("input.focus(); input.select()")
    page.type(text)
    if key:
        page.key("Enter", modifiers=2, code=13)  # Ctrl+Enter


def drop(page, name, text):
    page.see(f"""(() => {{
      const data = new DataTransfer();
      data.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));
      input.dispatchEvent(new DragEvent("drop", {{ dataTransfer: data, bubbles: true }}));
    }})()""")


def shown(page):
    """Return the visible words of the result without their percentages."""
    return page.see("[...result.querySelectorAll('.word')].map((word) => word.firstChild && [...word.childNodes]"
                    ".filter((one) => one.tagName !== 'SMALL').map((one) => one.textContent).join('')).join(' ')")


def test_text_is_pasted_and_shown_with_probabilities(page):
    paste(page, "how are you i am fine\n\nthank you")
    page.wait("result.querySelectorAll('.word').length === 8")
    assert shown(page) == "How are you? I am fine. Thank you."
    assert page.see("[...result.querySelectorAll('.capital')].map((one) => one.textContent).join('')") == "HIT"
    assert "\n\n" in page.see("result.textContent")
    assert page.see("result.querySelectorAll('.sure2').length") > 0
    assert page.see("$('status').textContent").startswith("8 words, ")
    assert page.see("getComputedStyle(result.querySelector('small')).display") == "none"
    page.see("$('numbers').click()")
    assert page.see("getComputedStyle(result.querySelector('small')).display") == "inline"
    page.see("$('numbers').click()")
    assert page.complaints == []


def test_file_is_dropped_and_downloaded(page):
    drop(page, "talk.srt", SRT)
    page.wait("result.querySelectorAll('.word').length === 6")
    assert shown(page) == "How are you? I am fine."
    downloads = page.folder
    for ending, said in (("srt", "00:00:01,000 --> "), ("vtt", "WEBVTT"), ("txt", "How are you? I am fine."),
                         ("json", '"label_probability"')):
        page.see(f"document.querySelector('[data-to={ending.replace('txt', 'text')}]').click()")
        until = time.monotonic() + 10
        while not (downloads / f"talk.{ending}").is_file():
            assert time.monotonic() < until, ending
            time.sleep(0.02)
        assert said in (downloads / f"talk.{ending}").read_text()
    assert page.complaints == []


def test_error_is_shown_with_its_remedy(page):
    paste(page, "how are you")
    page.wait("!$('output').hidden")
    page.see("document.querySelector('[data-to=srt]').click()")
    assert page.wait("!$('error').hidden && $('error').textContent").startswith("no times for --to srt; use --to text")
    drop(page, "talk.pdf", "%PDF-1.4 and more")
    page.wait("$('error').textContent === 'not text: a document or an archive; save it as plain text'")


def test_words_appear_while_they_are_typed(page):
    page.see("input.focus(); $('live').click()")
    for word in "good morning everyone my name is john smith do you have any questions".split():  # noqa: SIM905
        page.type(f"{word} ")
    page.wait("result.querySelectorAll('.word').length >= 9")
    assert shown(page).startswith("Good morning, everyone. My name is John Smith.")
    page.wait("result.querySelectorAll('.word').length === 13")  # the last words come after a second of silence
    assert page.see("result.querySelector('.waiting').textContent") == ""
    page.see("input.value = 'thank you '; input.oninput()")  # a new text begins a new stream
    page.wait("result.querySelectorAll('.word').length === 2")
    assert shown(page).lower().startswith("thank you")
    assert page.complaints == []


@pytest.mark.skipif(not importlib.util.find_spec("axe_core_python"), reason="no axe-core (the extra accessibility)")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 1000), ("light", 360)])
def test_page_is_accessible(page, scheme, width):
    page("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
    paste(page, "so good morning everyone my name is john smith and i am from new york do you have any questions "
                "yes we do thank you well i think that iphone sales were up in the third quarter")
    page.wait("!$('output').hidden")
    place = importlib.util.find_spec("axe_core_python").submodule_search_locations[0]
    page.see(Path(place, "axe.min.js").read_text(encoding="utf-8"))
    found = page.see("axe.run({resultTypes: ['violations']}).then(({ violations }) => violations.map("
                     "(one) => [one.id, one.impact, one.nodes[0].html]))")
    page.picture(f"{scheme}-{width}")
    assert [one for one in found if one[1] in ("serious", "critical")] == []
    assert page.see("document.documentElement.scrollWidth") <= width
    page.see("input.focus()")
    stops = []
    for _ in range(10):
        page.key("Tab", code=9)
        stops.append(page.see("document.activeElement.id || document.activeElement.dataset.to"))
    assert stops == ["go", "file", "model", "live", "result", "numbers", "text", "srt", "vtt", "json"]
