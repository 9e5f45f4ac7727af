"""Tables of results: for terminals of any width, for files and as Markdown; no number is ever cropped."""

from __future__ import annotations

import dataclasses
import os
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Console

NUMBER, TEXT, NAME = "number", "text", "name"
GAP = "  "  # between columns
INDENT = "  "  # before the figures, if their names stand above them


class Column(NamedTuple):
    """A column of a table."""

    heading: str  # the heading, which may have several lines
    # NUMBER: aligned on the right; TEXT: on the left; NAME: also on the left, but if the table is too wide, a name gets a
    # line of its own above its figures
    kind: str = NUMBER
    drop: int = 0  # if that is not enough, columns are left out, those with the highest `drop` first; 0: this one never is


@dataclasses.dataclass
class ResultTable:
    """A table under a title."""

    title: str
    columns: Sequence[Column]
    rows: list[list[str]] = dataclasses.field(default_factory=list)

    def show(self, console: Console) -> None:
        """Prints the table: to a terminal within its width, elsewhere as wide as it needs to be."""
        wide = not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit()
        title, *lines = self.lines(None if wide else console.width)
        console.print(title, style="bold", highlight=False, soft_wrap=True)
        console.print("\n".join(lines), highlight=False, soft_wrap=True)

    def lines(self, width: int | None = None) -> list[str]:
        """Returns title and table as lines of at most `width` characters, unless one name is wider; None: lines of any width."""
        inline, left_out = self._fit(width)
        above = [k for k, column in enumerate(self.columns) if column.kind == NAME and k not in inline]
        indent = INDENT if above else ""
        headings = [self.columns[k].heading.split("\n") for k in inline]
        height = max(map(len, headings), default=0)
        lines = [self.title, ""] if self.title else []
        lines += [
            self._line(inline, row, indent) for row in zip(*([""] * (height - len(one)) + one for one in headings), strict=True)
        ]
        lines.append(indent + "-" * self._width(inline))
        for row in self.rows:
            names = [f"{self.columns[k].heading} {row[k]}" if n else row[k] for n, k in enumerate(above) if row[k]]
            lines += [", ".join(names)] if names else []
            lines.append(self._line(inline, [row[k] for k in inline], indent))
        if left_out and width:
            names = [self.columns[k].heading.replace("\n", " ") for k in left_out]
            lines += textwrap.wrap(f"(not shown in {width} columns: {', '.join(names)})", width)
        return lines

    def _line(self, columns: list[int], cells: Iterable[str], indent: str) -> str:
        """Returns a line of the table; numbers are aligned on the right, all else on the left."""
        padded = [
            cell.rjust(self._width([k])) if self.columns[k].kind == NUMBER else cell.ljust(self._width([k]))
            for k, cell in zip(columns, cells, strict=True)
        ]
        return (indent + GAP.join(padded)).rstrip()

    def _width(self, columns: list[int]) -> int:
        """Returns the width of some columns side by side, gaps included."""
        cells = ([*self.columns[k].heading.split("\n"), *(row[k] for row in self.rows)] for k in columns)
        return sum(max(map(len, column)) for column in cells) + len(GAP) * max(0, len(columns) - 1)

    def _fit(self, width: int | None) -> tuple[list[int], list[int]]:
        """Returns the columns that stand side by side and those that are left out; the others are names, above their figures."""
        every = list(range(len(self.columns)))
        if width is None or self._width(every) <= width:
            return every, []
        inline = [k for k in every if self.columns[k].kind != NAME]
        left_out = list[int]()
        for k in sorted((k for k in inline if self.columns[k].drop), key=lambda k: -self.columns[k].drop):
            if len(INDENT) + self._width(inline) > width:
                inline.remove(k)
                left_out.append(k)
        return inline, sorted(left_out)

    def markdown(self) -> str:
        """Returns the table as Markdown."""
        rule = ["---:" if column.kind == NUMBER else "---" for column in self.columns]
        headings = [column.heading.replace("\n", " ") for column in self.columns]
        lines = [f"| {' | '.join(row)} |" for row in (headings, rule, *self.rows)]
        return "\n".join([f"**{self.title}**", "", *lines, ""])
