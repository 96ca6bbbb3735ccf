"""JSON objects that come in line by line from another process."""

import json
import os
from typing import Any

Message = dict[str, Any]
"""One JSON object; what it holds is checked where it is used."""


class Lines:
    """The whole lines that a pipe has delivered so far."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.closed = False
        self._rest = b""
        os.set_blocking(fd, False)

    def fileno(self) -> int:
        """Give the descriptor, for a selector."""
        return self.fd

    def read(self) -> list[Message]:
        """Give the messages that arrived; a line that is no JSON object is left out."""
        self._fill()
        *whole, self._rest = self._rest.split(b"\n")
        return [message for line in whole if (message := parse(line)) is not None]

    def _fill(self) -> None:
        while not self.closed:
            try:
                chunk = os.read(self.fd, 65536)
            except BlockingIOError:
                return
            self._rest += chunk
            self.closed = not chunk


def parse(line: bytes | str) -> Message | None:
    """Read one line; None when it is torn or no JSON object."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None
