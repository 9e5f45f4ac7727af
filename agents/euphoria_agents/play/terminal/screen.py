"""Reads from and writes to the terminal: lines that fit, colours where it has them, completion by Tab."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

NARROWEST, NO_TERMINAL = 20, 80  # columns
WIDEST_TEXT = 100  # columns of running text: longer lines are hard to read
HEADING, QUIET, WARNING = "bold", "dim", "bold red"


class Screen:
    """A terminal, or a pair of files in its place.

    Attributes:
        interactive: whether a person uses it.
        styles: the style of each name, wherever it is written.
    """

    def __init__(self, typed: TextIO | None = None, written: TextIO | None = None) -> None:
        self._typed = typed or sys.stdin or io.StringIO()  # which both may be closed
        self._written = written or sys.stdout or io.StringIO()
        if isinstance(self._written, io.TextIOWrapper):
            self._written.reconfigure(errors="replace")  # a name may have letters that the terminal has not
        self._console = Console(file=self._written, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self.interactive = self._typed.isatty() and self._written.isatty()
        self.styles: Mapping[str, str] = {}
        self._words: Sequence[str] = ()
        self._found: list[str] = []
        self._readline = self.interactive and self._typed is sys.stdin and self._set_completion()

    @property
    def width(self) -> int:
        """The columns of a line, as they are now."""
        if not self._written.isatty():
            return NO_TERMINAL
        try:
            columns = os.get_terminal_size(self._written.fileno()).columns
        except OSError:
            columns = 0
        return max(NARROWEST, columns or shutil.get_terminal_size().columns)

    def say(self, text: str = "", style: str = "", label: str = "") -> None:
        """Writes a text in lines that fit; after a label, further lines are indented under it."""
        text = "".join(c if c.isprintable() else " " for c in text)  # no error text may control the terminal
        width, indent = min(self.width, WIDEST_TEXT), len(label)
        if indent > width // 3:
            indent = 4
        lines = textwrap.wrap(text, width, initial_indent=label, subsequent_indent=" " * indent, break_on_hyphens=False)
        self.show("\n".join(lines or [label.rstrip()]), style)

    def show(self, block: str, style: str = "") -> None:
        """Writes lines as they are, with the names in their styles."""
        text = Text(block, style)
        for name, look in self.styles.items():
            text.highlight_regex(rf"(?<!\w){re.escape(name)}(?!\w)", look)
        self._console.print(text)
        self._written.flush()

    def show_markdown(self, text: str) -> None:
        """Writes a text in Markdown, in lines that are comfortable to read."""
        self._console.print(Markdown(text), width=min(self.width, WIDEST_TEXT), soft_wrap=False)
        self._written.flush()

    def clear(self) -> None:
        """Clears the screen, and where the terminal allows it also its history."""
        if self._readline:
            import readline

            readline.clear_history()  # the next player must not see what this one typed
        if not self.interactive or os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
            self._written.write("\n" * (shutil.get_terminal_size().lines if self.interactive else 1))
        else:
            self._written.write("\x1b[H\x1b[2J\x1b[3J")
        self._written.flush()

    def ask(self, prompt: str, words: Iterable[str] = ()) -> str:
        """A line that is typed, without spaces around it.

        Args:
            prompt: written before it.
            words: that Tab completes.

        Raises:
            EOFError: the input has ended.
        """
        self._words = sorted(words)
        if self.interactive and self._typed is sys.stdin:
            return " ".join(input(prompt).split())
        self._written.write(prompt)
        self._written.flush()
        line = self._typed.readline()
        self._written.write("\n")  # nobody pressed Enter
        if not line:
            raise EOFError("the input ended before the game did")
        return " ".join(line.split())

    def _set_completion(self) -> bool:
        """Lets Tab complete whole lines; returns whether this Python can."""
        try:
            import readline
        except ImportError:  # on Windows
            return False
        readline.set_completer_delims("")
        readline.set_completer(self._complete)
        if "libedit" in (readline.__doc__ or ""):
            readline.parse_and_bind("bind ^I rl_complete")
        else:
            readline.parse_and_bind("tab: complete")
            readline.parse_and_bind("set enable-bracketed-paste off")  # its codes are noise where a session is recorded
        return True

    def _complete(self, begun: str, k: int) -> str | None:
        """The k-th completion of what is typed; None if there are fewer."""
        if k == 0:
            self._found = [word for word in self._words if word.startswith(begun.lower().lstrip())]
        return self._found[k] if k < len(self._found) else None
