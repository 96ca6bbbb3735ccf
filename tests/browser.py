"""A headless browser for the tests, spoken to over the DevTools protocol: no package is needed.

https://chromedevtools.github.io/devtools-protocol/; with --remote-debugging-pipe the browser reads
JSON from its descriptor 3 and writes it to 4, each message ended by a zero byte.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

Message = dict[str, Any]

PROGRAMS = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser")
# Only pages that the tests wrote are opened; a sandbox needs rights that containers do not have.
ARGUMENTS = ("--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
             "--hide-scrollbars", "about:blank")  # fmt: skip
PATIENCE_S = 60.0
WATCHED = ("Page", "Runtime", "Log", "Network")
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "ArrowDown": (40, ""), "End": (35, "")}
"""Each key's code on Windows, which the protocol asks for, and the text it types."""
READ_MOST_BYTES = 2**20


def browser_program() -> str | None:
    """Find a browser; None where there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class BrowserError(Exception):
    """What the browser, or a script in the page, said went wrong."""


@dataclass(slots=True)
class Browser:
    """One browser with one page."""

    pid: int
    to_browser: int
    from_browser: int
    session: str | None = None
    events: list[Message] = field(default_factory=list)
    _calls: int = 0
    _unread: bytes = b""

    @classmethod
    def start(cls, program: str, profile: Path) -> Self:
        """Start it in a session of its own, with a profile of its own."""
        its_input, to_browser = map(_raised, os.pipe())
        from_browser, its_output = map(_raised, os.pipe())
        pid = os.posix_spawn(
            program,
            (program, f"--user-data-dir={profile}", *ARGUMENTS),
            os.environ,
            file_actions=(
                (os.POSIX_SPAWN_DUP2, its_input, 3),
                (os.POSIX_SPAWN_DUP2, its_output, 4),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ),
            setsid=True,
        )
        os.close(its_input)
        os.close(its_output)
        started = cls(pid, to_browser, from_browser)
        started._attach()
        return started

    def _attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in WATCHED:
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End it and whatever it started; it is its own group's leader until it is waited for."""
        os.close(self.to_browser)
        os.close(self.from_browser)
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    # The protocol.

    def call(self, method: str, **parameters: object) -> Message:
        """Ask for something and wait for the answer; events that come first are kept."""
        self._calls += 1
        order: Message = {"id": self._calls, "method": method, "params": parameters}
        if self.session is not None:
            order["sessionId"] = self.session
        _write_all(self.to_browser, json.dumps(order).encode() + b"\0")
        answer = self._next(lambda message: message.get("id") == self._calls)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        result: Message = answer["result"]
        return result

    def _next(self, wanted: Callable[[Message], bool]) -> Message:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            message = self._read(deadline)
            if wanted(message):
                return message
            self.events.append(message)

    def _read(self, deadline: float) -> Message:
        while b"\0" not in self._unread:
            ready, _, _ = select.select(
                [self.from_browser], [], [], max(0.0, deadline - time.monotonic())
            )
            part = os.read(self.from_browser, READ_MOST_BYTES) if ready else b""
            if not part:
                raise BrowserError("it ended" if ready else f"no answer in {PATIENCE_S} s")
            self._unread += part
        line, self._unread = self._unread.split(b"\0", 1)
        message: Message = json.loads(line)
        return message

    # What a reader does.

    def open(self, page: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        if not self.told("Page.loadEventFired"):
            self.events.append(self._next(lambda m: m.get("method") == "Page.loadEventFired"))

    def look(self, *, width: int, height: int = 900, dark: bool = False, media: str = "") -> None:
        """Give the page a width in CSS pixels, a colour scheme, and "print" as its medium."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def run(self, expression: str) -> Any:  # noqa: ANN401  (whatever the page's script gives)
        """Evaluate a script in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def click(self, element: str) -> None:
        """Click on the middle of the element that an expression names, with the mouse."""
        self.run(f"({element}).scrollIntoView({{block: 'center', inline: 'center'}})")
        box = self.run(f"({element}).getBoundingClientRect().toJSON()")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        code, text = KEYS[key]
        which = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **which)
        self.call("Input.dispatchKeyEvent", type="keyUp", **which)

    # What is seen.

    def told(self, method: str) -> list[Message]:
        """Give what the events of a kind said since the page was opened."""
        return [event["params"] for event in self.events if event.get("method") == method]

    def complaints(self) -> list[Message]:
        """Give what the console shows: messages, warnings, errors, refusals of the policy."""
        self.run("0")
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [told for kind in kinds for told in self.told(kind)]

    def requests(self) -> list[str]:
        """Give the addresses that were asked for since the page was opened, its own included."""
        self.run("0")
        return [told["request"]["url"] for told in self.told("Network.requestWillBeSent")]

    def picture(self) -> bytes:
        """Take a picture of the whole page, as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def printed(self) -> bytes:
        """Print the page, as PDF."""
        paper = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(paper["data"])


def _raised(descriptor: int) -> int:
    """Move a descriptor out of the way of 3 and 4, which the browser's own will be."""
    raised = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return raised


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
