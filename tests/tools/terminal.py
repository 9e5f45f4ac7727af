"""A command in a pseudo-terminal: what it writes, and what is typed there."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PATHS = os.pathsep.join(str(Path(__file__).parents[2] / part) for part in (".", "agents"))
LIMIT = 300.0  # seconds for an answer; a busy machine compiles, too
PROMPT = re.compile(r"(^|\n)(\d+/\d+)?> $|[.)?:] $")


class Terminal:
    """`euphoria` with these words, in a terminal of its own.

    Args:
        words: the command line.
        columns: how wide the terminal is.
        folder: where it runs.
        environment: what is set beside what is usual.
    """

    def __init__(self, words: Sequence[object], columns: int, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.written = ""
        self._pid, self._end = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            command = [sys.executable, "-m", "euphoria_agents", *map(str, words)]
            usual = {"TERM": "xterm-256color", "PYTHONPATH": PATHS, "INPUTRC": "/dev/null"}
            kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
            os.execve(sys.executable, command, kept | usual | dict(environment or {}))
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def type(self, line: str, end: str = "\n") -> str:
        """Types a line, and gives what is written until the next prompt."""
        self.send(line + end)
        return self.until_prompt()

    def send(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._end, keys.encode())

    def until_prompt(self) -> str:
        """What is written until something is asked, or until the end."""
        return self.until(PROMPT)

    def until(self, pattern: str | re.Pattern[str]) -> str:
        """What is written until it matches, or until the end."""
        text, deadline = "", time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self._end], [], [], 0.03)
            if not ready:
                if re.search(pattern, plain(text)):
                    break
                continue
            try:
                piece = os.read(self._end, 65536).decode(errors="replace")
            except OSError:  # it has ended
                piece = ""
            if not piece:
                break
            text += piece
        else:
            raise AssertionError(f"nothing like {pattern!r} after {LIMIT:g} s, but {text[-500:]!r}")
        self.written += text
        return plain(text)

    def status(self) -> int:
        """The exit status; negative: the signal that ended it."""
        self.until(r"(?!)")
        _, how = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(how)

    def close(self) -> None:
        """Ends it, wherever it is."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._end)


def plain(text: str) -> str:
    """What was written without colours and carriage returns."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "")
