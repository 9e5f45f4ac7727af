"""Writes the figures of a run, update by update, to `progress.csv` and for TensorBoard."""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
import threading
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from euphoria_agents.files import append_line, read_text, write_whole
from euphoria_agents.machine import commit, machine, versions
from euphoria_agents.training.config import CONFIG, Options, plain
from euphoria_env.json_reader import read_json

FILE = "progress.csv"


class RunLog:
    """Writes the figures of a run; a context manager. The first figures that are written determine the columns of the table.

    Args:
        folder: the folder of the run.
        update: the last update that counts; rows of later ones, which a resumed run repeats, are removed.
    """

    def __init__(self, folder: Path, update: int) -> None:
        self._path = folder / FILE
        self._columns: list[str] = []  # the names of the columns after the first one, the number of the update
        self._tensorboard = SummaryWriter(str(folder / "tensorboard"), purge_step=update + 1 if update else None)
        if update and self._path.exists():
            header, *rows = list(csv.reader(io.StringIO(read_text(self._path)))) or [[]]
            kept = [row for row in rows if row and row[0].isdigit() and int(row[0]) <= update]
            self._columns = header[1:]
            write_whole(self._path, "".join(f"{_line(row)}\n" for row in [header, *kept] if row))

    def write(self, update: int, figures: dict[str, float]) -> None:
        """Adds the figures of an update."""
        if not self._columns:
            self._columns = list(figures)
            write_whole(self._path, _line(["update", *self._columns]) + "\n")
        row = [f"{figures[name]:.6g}" if name in figures else "" for name in self._columns]
        append_line(self._path, _line([str(update), *row]))
        for name, figure in figures.items():
            self._tensorboard.add_scalar(name, figure, update)

    def __enter__(self) -> RunLog:
        """Silences disk errors of TensorBoard's thread, which would print a traceback; the main thread reports a full disk."""
        self._hook = threading.excepthook
        threading.excepthook = lambda failed: None if isinstance(failed.exc_value, OSError) else self._hook(failed)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Closes the files."""
        try:
            self._tensorboard.close()
        except OSError:
            if error is None:
                raise
        finally:
            threading.excepthook = self._hook


def write_config(options: Options, resumed: bool) -> None:
    """Writes how a run is made into its folder: options, versions, commit, machine, and the commands that began or resumed it."""
    path, before = options.run / CONFIG, list[Any]()
    if resumed and path.exists():
        before = read_json(read_text(path)).get("commands", [])
    about = {
        "format": "euphoria-config",
        "options": {name: value for name, value in plain(options).items() if name not in ("run", "resume", "config")},
        "commands": [*before, " ".join(map(shlex.quote, sys.argv))],
        "seed": options.seed,
        "versions": versions(),
        "commit": commit(),
        "machine": machine(),
    }
    write_whole(path, json.dumps(about, indent=1) + "\n")


def _line(cells: list[str]) -> str:
    """Returns a row of the table as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()
