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
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from euphoria_agents.__main__ import main
from tests.tools.forking import become_a_parent

PATHS = os.pathsep.join(str(Path(__file__).parents[2] / part) for part in (".", "agents"))
PROMPT = re.compile(r"(^|\n)(\d+/\d+)?> $|[.)?:] $")


class Terminal:
    """`euphoria` with these words, in a terminal and a process of its own.

    Args:
        words: the command line.
        columns: how wide the terminal is.
        folder: where it runs.
        environment: what is set beside what is usual.
    """

    def __init__(self, words: Sequence[object], columns: int, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.written = ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads, none of which works on what follows
            self._pid, self._end = pty.fork()
        if self._pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            _become([*map(str, words)], folder, environment or {})

    def type(self, line: str, end: str = "\n") -> str:
        """Types a line, and gives what is written until the next prompt."""
        self.send(line + end)
        return self.until_prompt()

    def send(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._end, keys.encode())

    def until_prompt(self) -> str:
        """The output until something is asked, or until the end."""
        return self.until(PROMPT)

    def until(self, pattern: str | re.Pattern[str]) -> str:
        """The output until it matches, or until the end."""
        text = ""
        while True:
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


def _become(words: list[str], folder: Path, environment: Mapping[str, str]) -> NoReturn:
    """Makes `euphoria` of this process, whose parent has imported all of it."""
    status = 1
    try:
        become_a_parent()
        os.chdir(folder)
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            os.environ.pop(name, None)
        os.environ.update({"TERM": "xterm-256color", **environment})
        sys.argv, sys.path[:0] = ["euphoria", *words], [str(folder)]
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
        status = 0
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def plain(text: str) -> str:
    """The output without colours and carriage returns."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "")
