"""A headless Chromium, driven over a pipe: pages are opened, asked and pictured; conditions are waited for, never times."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--disable-dev-shm-usage", "--remote-debugging-pipe",
    "--disable-quic", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
)  # fmt: skip
LOADED_AGAIN = ("navigated or closed", "context was destroyed", "was collected", "Cannot find context")
SILENCE = 240  # seconds: what takes longer does not come
AWAIT = "new Promise((found) => { const look = () => (%s) ? found(true) : setTimeout(look, 5); look(); })"


class Browser:
    """One browser with one page. ``errors`` are exceptions and console errors, ``requests`` what was asked for."""

    def __init__(self, profile: Path) -> None:
        to_browser, from_browser = os.pipe(), os.pipe()

        def pipes() -> None:  # the browser reads from 3 and writes to 4
            reading, writing = os.dup(to_browser[0]), os.dup(from_browser[1])
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, pass_fds=(3, 4), preexec_fn=pipes, **quiet)
        os.close(to_browser[0])
        os.close(from_browser[1])
        self.output, self.input = os.fdopen(to_browser[1], "wb", buffering=0), os.fdopen(from_browser[0], "rb", buffering=0)
        self.rest, self.number = b"", 0
        self.events: list[dict[str, Any]] = []
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session: str | None = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.input.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        self.output.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, page: Path | str, *, width: int = 1200, height: int = 900, phone: bool = False) -> None:
        """Open a file, or an address, and return when it has been loaded whole."""
        self.errors.clear()
        self.requests.clear()
        self.events.clear()
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self._next()

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression, a promise's when it is kept."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, condition: str) -> Any:
        """Return as soon as a JavaScript condition holds, also in a page that loads itself again meanwhile."""
        while True:
            try:
                return self.ask(AWAIT % condition)
            except AssertionError as error:
                if not any(words in str(error) for words in LOADED_AGAIN):
                    raise

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the page, also of what is below the screen."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            assert select.select([self.input], [], [], SILENCE)[0], f"the browser has said nothing for {SILENCE} s"
            read = self.input.read(1 << 16)
            assert read, "the browser has ended"
            self.rest += read
        text, _, self.rest = self.rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        self.events.append(message)
        return message

    def _note(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.errors.append(json.dumps(parameters["args"])[:500])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
