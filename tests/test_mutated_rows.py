"""Rows with changed bytes lead to nothing worse than a `ValueError`; `make test-bounds` checks every index besides."""

from __future__ import annotations

from tests.tools.mutate_rows import PLAYED, TRIED, USED, run

ROWS = 20_000


def test_changed_rows_are_refused_or_played_on() -> None:
    tally, refusals, faults = run(0, ROWS, seed=1, games=2)
    assert not faults
    assert tally[TRIED] == ROWS and tally[USED] > ROWS / 4 and tally[PLAYED] > 2 * ROWS
    assert len(refusals) > 2
