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
INDENT = "  "  # of figures below their names


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        heading: may have several lines.
        kind: a NUMBER stands on the right; a NAME is on a line of its own above its figures where the table is too wide.
        drop: where that is not enough, columns are left out, those with the highest number first; 0: never.
    """

    heading: str
    kind: str = NUMBER
    drop: int = 0


@dataclasses.dataclass
class ResultTable:
    """A table under a title."""

    title: str
    columns: Sequence[Column]
    rows: list[list[str]] = dataclasses.field(default_factory=list)

    def show(self, console: Console) -> None:
        """Prints the table: within the width of a terminal, otherwise as wide as it needs to be."""
        wide = not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit()
        title, *lines = self.lines(None if wide else console.width)
        console.print(title, style="bold", highlight=False, soft_wrap=True)
        console.print("\n".join(lines), highlight=False, soft_wrap=True)

    def lines(self, width: int | None = None) -> list[str]:
        """The title and the lines of the table, each at most so wide, unless a name alone is wider."""
        inline, left_out = self._fitting(width)
        widths = self._widths(inline)
        apart = [k for k, column in enumerate(self.columns) if column.kind == NAME and k not in inline]
        headings = [self.columns[k].heading.split("\n") for k in inline]
        height = max(map(len, headings), default=0)
        heads = [[([""] * height + heading)[row - height] for heading in headings] for row in range(height)]
        indent = INDENT if apart else ""
        lines = [self.title, ""] if self.title else []
        lines += [self._line(inline, widths, head, indent) for head in heads]
        lines.append(indent + "-" * (sum(widths) + len(GAP) * (len(widths) - 1)))
        for row in self.rows:
            names = [f"{self.columns[k].heading} {row[k]}" if n else row[k] for n, k in enumerate(apart) if row[k]]
            lines += [", ".join(names)] * bool(names)
            lines.append(self._line(inline, widths, [row[k] for k in inline], indent))
        if left_out and width:
            names = [_one_line(self.columns[k].heading) for k in left_out]
            lines += textwrap.wrap(f"(not shown in {width} columns: {', '.join(names)})", width)
        return lines

    def _line(self, columns: list[int], widths: list[int], cells: Iterable[str], indent: str) -> str:
        placed = [
            cell.rjust(width) if self.columns[k].kind == NUMBER else cell.ljust(width)
            for k, width, cell in zip(columns, widths, cells, strict=True)
        ]
        return (indent + GAP.join(placed)).rstrip()

    def _widths(self, columns: list[int]) -> list[int]:
        cells = [[row[k] for row in self.rows] + self.columns[k].heading.split("\n") for k in columns]
        return [max(map(len, column)) for column in cells]

    def _fitting(self, width: int | None) -> tuple[list[int], list[int]]:
        """The columns that stand side by side, and those that are left out; names that are in neither stand above."""

        def fits(columns: list[int], indent: str = "") -> bool:
            widths = self._widths(columns)
            return width is None or len(indent) + sum(widths) + len(GAP) * (len(widths) - 1) <= width

        every = list(range(len(self.columns)))
        if fits(every):
            return every, []
        inline, left_out = [k for k in every if self.columns[k].kind != NAME], list[int]()
        for k in sorted((k for k in inline if self.columns[k].drop), key=lambda k: -self.columns[k].drop):
            if fits(inline, INDENT):
                break
            inline.remove(k)
            left_out.append(k)
        return inline, sorted(left_out)

    def markdown(self) -> str:
        """The table as Markdown."""
        rule = ["---:" if column.kind == NUMBER else "---" for column in self.columns]
        headings = [_one_line(column.heading) for column in self.columns]
        lines = [f"| {' | '.join(row)} |" for row in (headings, rule, *self.rows)]
        return "\n".join([f"**{self.title}**", "", *lines, ""])


def _one_line(heading: str) -> str:
    return heading.replace("\n", " ")
