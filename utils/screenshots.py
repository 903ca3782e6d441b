#!/usr/bin/env python3
"""usage: utils/screenshots.py REPORT.html OUT-DIR

Takes screenshots of the error browser in a page of punc report, and of the page of punc serve, in a light and a dark
theme: OUT-DIR/report_light.png, report_dark.png, serve_light.png and serve_dark.png. The committed files
were made with `utils/screenshots.py egs/mini/exp/report.html docs/images`. Needs chromium and the extra `serve`.
"""

import base64
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from punc.base.errors import InputError
from punc.bin.script import run_script

TEXT = ("good morning everyone my name is john smith and i work for the city of leeds do you have any questions yes we "
        "do how long will the new road take and what does it cost")
WIDTH, HEIGHT = 900, 600
SHOW_ERRORS = "document.querySelector('#browser').scrollIntoView(); true"
PUNCTUATE = f"input.value = {json.dumps(TEXT)}; go.click(); true"


def main(report: Path, out: Path) -> None:
    if not report.is_file():
        raise InputError("no such file", "make it with punc report", report)
    out.mkdir(parents=True, exist_ok=True)
    with browser() as call, served() as url:
        call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
        for theme in ("light", "dark"):
            call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            take(call, report.resolve().as_uri(), SHOW_ERRORS, "true", out / f"report_{theme}.png")
            take(call, url, PUNCTUATE, "!document.querySelector('#output').hidden", out / f"serve_{theme}.png")


def take(call: Any, url: str, action: str, done: str, path: Path) -> None:
    """Open a page, run the JavaScript `action` there, and save a picture when the expression `done` is true."""
    call("Page.navigate", url=url)
    wait(call, "document.readyState === 'complete'")
    time.sleep(1)  # let the page's scripts run
    call("Runtime.evaluate", expression=action)
    wait(call, done)
    time.sleep(1)
    path.write_bytes(base64.b64decode(call("Page.captureScreenshot", format="png")["data"]))


def wait(call: Any, expression: str) -> None:
    until = time.monotonic() + 30
    while not call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value"):
        if time.monotonic() > until:
            raise InputError(f"{expression} is not true after 30 s", "look at the page")
        time.sleep(0.1)


@contextmanager
def served() -> Iterator[str]:
    """Run punc serve during the with block. Yield its URL."""
    with subprocess.Popen(["punc", "serve", "--port=0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        yield process.stderr.readline().split()[-1]
        process.terminate()


@contextmanager
def browser() -> Iterator[Any]:
    """Yield a function that calls a method of the DevTools protocol in a headless chromium and returns its result."""
    from websockets.sync.client import connect

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not program:
        raise InputError("no chromium", "apt-get install chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                   "--remote-debugging-port=0", f"--window-size={WIDTH},{HEIGHT}", f"--user-data-dir={profile}"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = Path(profile, "DevToolsActivePort")
        while not (port.is_file() and len(port.read_text().split()) == 2):
            if process.poll() is not None:
                raise InputError(f"{program} ended", "run it by hand to see why")
            time.sleep(0.1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port.read_text().split()[0]}/json/list") as answer:
            target = next(one for one in json.loads(answer.read()) if one["type"] == "page")
        numbers = itertools.count()
        with connect(target["webSocketDebuggerUrl"], max_size=None) as socket:
            def call(method: str, **parameters: Any) -> Any:
                number = next(numbers)
                socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
                while (message := json.loads(socket.recv(timeout=60))).get("id") != number:
                    pass
                if "error" in message:
                    sys.exit(f"{method}: {message['error']}")
                return message["result"]
            yield call
            call("Browser.close")
        process.wait(timeout=10)


if __name__ == "__main__":
    run_script(main, __doc__)
