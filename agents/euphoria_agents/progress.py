"""Shows the progress of a long job: a bar in a terminal, otherwise a line on stderr every 30 seconds."""

from __future__ import annotations

import datetime
import sys
import threading
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

EVERY = 30.0  # seconds between two lines


class Progress:
    """The progress of a job, shown while the `with` statement lasts.

    Args:
        console: shows a bar if it is a terminal; a quiet console shows nothing.
        total: how many units there are to do; None: unknown.
    """

    def __init__(self, console: Console, name: str, unit: str, total: int | None = None) -> None:
        self.console, self.total = console, total
        self._name, self._unit = name, unit
        self._done, self._note = 0, ""
        self._base: tuple[float, int] | None = None  # the first report, which may contain earlier work
        self._over = threading.Event()
        told = TextColumn("{task.fields[told]}", markup=False)
        columns = TextColumn(name, markup=False), BarColumn(20), told, TimeElapsedColumn(), TimeRemainingColumn()
        self._bar = Bar(*columns, console=console, transient=True) if console.is_terminal and not console.quiet else None
        self._task = self._bar.add_task(name, total=total, told="") if self._bar else None

    def __enter__(self) -> Progress:
        self._start = time.monotonic()
        if self._bar:
            self._bar.start()
        elif not self.console.quiet:
            threading.Thread(target=self._print_lines, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        if self._bar:
            self._bar.stop()

    def advance(self, more: int = 1) -> None:
        """Adds to the number of units that are done."""
        self.show(self._done + more)

    def show(self, done: int, note: str = "") -> None:
        """Sets the number of units that are done, and the note that follows it."""
        self._done, self._note = done, note or self._note
        self._base = self._base or (time.monotonic(), done)
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done, total=self.total, told=self._amount())

    def line(self) -> str:
        """Returns the progress as one line."""
        now = time.monotonic()
        parts = [self._amount(), _duration(now - self._start)]
        if self._base and self.total and self._base[1] < self._done < self.total:
            begun, before = self._base
            parts.append(f"about {_duration((now - begun) / (self._done - before) * (self.total - self._done))} left")
        return f"{self._name}: {', '.join(parts)}"

    def _amount(self) -> str:
        of = "" if self.total is None else f" of {self.total:,}"
        return f"{self._done:,}{of} {self._unit}" + (f" ({self._note})" if self._note else "")

    def _print_lines(self) -> None:
        while not self._over.wait(EVERY):
            print(self.line(), file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    return str(datetime.timedelta(seconds=round(seconds)))
