"""`euphoria play` in a thread, with a terminal in memory: what it writes, and what is typed there."""

from __future__ import annotations

import re
import sys
import threading
from queue import SimpleQueue

import pytest

from euphoria_agents.commands.play import run
from euphoria_agents.commands.shared_arguments import TableOptions
from euphoria_agents.dataclass_arguments import parse_options


class Terminal:
    """`euphoria play` with these words; the game reads from this object and writes to it.

    Attributes:
        written: all that the game wrote, and what was typed.
        first: what it wrote before it asked for the first time.
        error: what ended the game; None: it was left, or is over.
    """

    def __init__(self, words: str) -> None:
        self.written, self.error = "", None
        self._read = 0
        self._typed, self._asked = SimpleQueue[str | BaseException](), SimpleQueue[bool]()
        options = parse_options(TableOptions, "euphoria play", words.split())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", self)
            patch.setattr(sys, "stdout", self)
            self._thread = threading.Thread(target=self._play, args=[options], daemon=True)
            self._thread.start()
            self.first = self._answer()

    def _play(self, options: TableOptions) -> None:
        try:
            run(options)
        except BaseException as error:
            self.error = error
        finally:
            self._asked.put(False)

    def _answer(self) -> str:
        self._asked.get(timeout=120)
        text, self._read = plain(self.written[self._read :]), len(self.written)
        return text

    def type(self, line: str | BaseException) -> str:
        """Types a line, or raises an error where one is read; what is written until the next prompt, or the end."""
        self._typed.put(line if isinstance(line, BaseException) else f"{line}\n")
        return self._answer()

    def close(self) -> None:
        """Ends the input."""
        while self._thread.is_alive():
            self._typed.put("")
            self._thread.join(0.1)

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        pass

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def readline(self) -> str:
        self._asked.put(True)
        typed = self._typed.get()
        if isinstance(typed, BaseException):
            raise typed
        self.written += typed
        return typed


def plain(text: str) -> str:
    """The output without colours."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
