"""A headless Chromium, spoken to through the WebDriver protocol of chromedriver (W3C WebDriver)."""

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromedriver")
LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # by no proxy


def missing() -> str:
    """Which of the programs this machine lacks; empty where it has both."""
    return " and ".join(name for name in PROGRAMS if shutil.which(name) is None)


class Browser:
    """One window. `script` returns what a script returns; `errors` what the console says so far."""

    def __init__(self, address: str):
        self.address = address
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options = {"args": flags, "binary": shutil.which("chromium")}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self._ask("", {"capabilities": {"alwaysMatch": wanted}}, whole=True)
        self.session = f"/{made['sessionId']}"

    def _ask(self, path: str, body: dict | None, whole: bool = False) -> Any:
        data = None if body is None else json.dumps(body).encode()
        where = self.address if whole else f"{self.address}{self.session}{path}"
        request = urllib.request.Request(where, data, {"Content-Type": "application/json"})
        with LOCAL.open(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, file: Path, width: int = 1400) -> None:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        command = {"cmd": "Emulation.setDeviceMetricsOverride", "params": size}
        self._ask("/goog/cdp/execute", command)
        self._ask("/url", {"url": file.resolve().as_uri()})

    def script(self, code: str, *arguments: Any) -> Any:
        return self._ask("/execute/sync", {"script": code, "args": list(arguments)})

    def move(self, x: float, y: float) -> None:
        """The pointer to a place of the window."""
        step = {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}
        mouse = {"type": "pointer", "id": "mouse", "actions": [step]}
        self._ask("/actions", {"actions": [mouse]})

    def press(self, *keys: str) -> None:
        """Keys by their codes, each down and up."""
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self._ask("/se/log", {"type": "browser"})]


@contextmanager
def browser() -> Iterator[Browser]:
    """Starts chromedriver on a port of its own choice and a window in it, and ends both."""
    driver = subprocess.Popen(
        [shutil.which("chromedriver"), "--port=0"], stdout=subprocess.PIPE, text=True
    )
    try:
        port = _port(driver)
        window = Browser(f"http://127.0.0.1:{port}/session")
        try:
            yield window
        finally:
            request = urllib.request.Request(f"{window.address}{window.session}", method="DELETE")
            LOCAL.open(request, timeout=30).close()
    finally:
        driver.terminate()
        driver.wait(10)
        driver.stdout.close()


def _port(driver: subprocess.Popen) -> str:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        line = driver.stdout.readline()
        if "successfully on port " in line:
            return line.rsplit(" ", 1)[1].strip().rstrip(".")
    raise TimeoutError("chromedriver does not say on which port it listens")
