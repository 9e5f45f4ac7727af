"""How far a training is."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def progress(console: Console) -> Progress:
    """A bar, and what there is to say: the field `report` of its task."""
    return Progress(
        BarColumn(20), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[report]}"), console=console
    )
