"""The figures of a run, update by update: `progress.csv`, and the same for TensorBoard."""

from __future__ import annotations

import csv
import io
import threading
from pathlib import Path
from types import TracebackType

from torch.utils.tensorboard import SummaryWriter

from euphoria_agents.files import read_text, write_whole

FILE = "progress.csv"


class RunLog:
    """Writes the figures of a run. A context manager; what is written first decides the columns of the table.

    Args:
        folder: of the run.
        update: the last update that counts; rows of later ones, which a resumed run repeats, are removed.
    """

    def __init__(self, folder: Path, update: int) -> None:
        self._path = folder / FILE
        self._columns: list[str] = []
        self._tensorboard = SummaryWriter(str(folder / "tensorboard"), purge_step=update + 1 if update else None)
        if update and self._path.exists():
            rows = list(csv.DictReader(io.StringIO(read_text(self._path))))
            kept = [row for row in rows if row.get("update", "").isdigit() and int(row["update"]) <= update]
            self._columns = list(rows[0]) if rows else []
            write_whole(
                self._path, "".join(self._line(row) for row in [dict(zip(self._columns, self._columns, strict=True)), *kept])
            )

    def write(self, update: int, figures: dict[str, float]) -> None:
        """Adds a row."""
        if not self._columns:
            self._columns = ["update", *figures]
            write_whole(self._path, self._line({name: name for name in self._columns}))
        row = {"update": str(update), **{name: f"{figure:.6g}" for name, figure in figures.items()}}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(self._line(row))
        self.mark(update, figures)

    def mark(self, update: int, figures: dict[str, float]) -> None:
        """Shows figures in TensorBoard alone."""
        for name, figure in figures.items():
            self._tensorboard.add_scalar(name, figure, update)

    def _line(self, row: dict[str, str]) -> str:
        text = io.StringIO()
        csv.DictWriter(text, self._columns, extrasaction="ignore", restval="", lineterminator="\n").writerow(row)
        return text.getvalue()

    def __enter__(self) -> RunLog:
        """Leaves it to the main thread to tell of a full disk: TensorBoard's own would fail first, and print a traceback."""
        self._hook = threading.excepthook
        threading.excepthook = lambda failed: None if isinstance(failed.exc_value, OSError) else self._hook(failed)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Closes the files."""
        try:
            self._tensorboard.close()
        except OSError:
            if error is None:
                raise
        finally:
            threading.excepthook = self._hook
