"""Reads from and writes to the terminal: lines that fit, in colours where it has them."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Mapping

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

NARROWEST, NO_TERMINAL = 20, 80  # columns: the least that are used, and the number if there is no terminal
WIDEST_TEXT = 100  # columns of running text: longer lines are hard to read
HEADING, QUIET, WARNING = "bold", "dim", "bold red"


class Screen:
    """The terminal, or whatever stands in its place."""

    def __init__(self) -> None:
        self._typed, self._written = sys.stdin or io.StringIO(), sys.stdout or io.StringIO()  # None if closed
        self._console = Console(file=self._written, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self.interactive = self._typed.isatty() and self._written.isatty()  # whether input and output are a terminal
        self.styles: Mapping[str, str] = {}  # the style of each name, wherever it is written

    @property
    def width(self) -> int:
        """The present number of columns."""
        return max(NARROWEST, shutil.get_terminal_size().columns) if self._written.isatty() else NO_TERMINAL

    def say(self, text: str = "", style: str = "", label: str = "") -> None:
        """Writes a text in lines that fit; lines after the first are indented by the width of the label."""
        text = "".join(c if c.isprintable() else " " for c in text)  # no error text may control the terminal
        width, indent = min(self.width, WIDEST_TEXT), len(label)
        if indent > width // 3:
            indent = 4
        lines = textwrap.wrap(text, width, initial_indent=label, subsequent_indent=" " * indent, break_on_hyphens=False)
        self.show("\n".join(lines or [label.rstrip()]), style)

    def show(self, block: str, style: str = "") -> None:
        """Writes lines without wrapping them, with the names in their styles."""
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
        """Clears the screen, and if the terminal allows it also the lines that have scrolled away."""
        if self.interactive and os.environ.get("TERM", "dumb") not in ("dumb", "unknown"):
            self._written.write("\x1b[H\x1b[2J\x1b[3J")
        else:
            self._written.write("\n" * (shutil.get_terminal_size().lines if self.interactive else 1))
        self._written.flush()

    def ask(self, prompt: str) -> str:
        """Returns the line that is typed after a prompt, stripped; raises an `EOFError` if the input has ended."""
        self._written.write(prompt)
        self._written.flush()
        line = self._typed.readline()
        if not self._typed.isatty():
            self._written.write("\n")  # nobody pressed Enter
        if not line:
            raise EOFError("the input ended before the game did")
        return " ".join(line.split())
