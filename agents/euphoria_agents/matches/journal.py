"""Work that can be interrupted and resumed: the plan of a folder, and units of work whose results are kept at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from euphoria_agents.files import read_text, write_whole


class Unit(Protocol):
    """A unit of work: some games, whose result depends on nothing but the fields of the unit."""

    @property
    def games(self) -> int:
        """The number of games."""


Work = TypeVar("Work", bound=Unit)
Result = TypeVar("Result")
Run = Callable[[Callable[[Work], Result], Iterable[Work]], Iterator[tuple[Work, Result]]]  # `in_processes`, or on a cluster


def pin_plan(folder: Path, plan: dict[str, Any]) -> None:
    """Writes into a folder what its results are for, so that it never holds results of two plans.

    Args:
        folder: made if it does not exist.
        plan: JSON values by name.

    Raises:
        ValueError: the folder holds the results of another plan, or a damaged plan; names what differs.
        OSError: the plan cannot be written.
    """
    path = folder / "plan.json"
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: choose another --out")
    try:
        before = json.loads(read_text(path)) if path.exists() else plan
        other = [name for name, value in plan.items() if before.get(name) != value]
    except (ValueError, AttributeError):
        raise ValueError(f"{path} is damaged: choose another --out, or delete the folder") from None
    if other:
        raise ValueError(f"{folder} holds the results of another {', '.join(other)}: choose another --out, or delete it")
    write_whole(path, json.dumps(plan, indent=1) + "\n")


def resume_work(
    units: Sequence[Work],
    finished: Collection[Work],
    work: Callable[[Work], Result],
    run: Run[Work, Result],
    keep: Callable[[Work, Result], None],
    progress: Callable[[int], None] | None = None,
    resumable: bool = True,
) -> None:
    """Does the units of work that are not finished, and keeps each result as soon as it is there.

    Args:
        units: all of them.
        finished: those whose results were kept before.
        work: does one.
        run: calls `work` for many of them.
        keep: writes a result.
        progress: called with a number of games: at first those that are finished, then those of each result.
        resumable: whether `keep` lasts, so that an interrupt says that the same command continues.
    """
    report = progress or (lambda games: None)
    report(sum(unit.games for unit in finished))
    try:
        for unit, result in run(work, [unit for unit in units if unit not in finished]):
            keep(unit, result)
            report(unit.games)
    except KeyboardInterrupt as interrupt:
        if resumable:
            interrupt.add_note("the same command continues where it stopped")
        raise
