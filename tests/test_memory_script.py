"""scripts/train_with_memory.py, for a few hundred decisions with small networks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.scripts import run

pytest.importorskip("torch")

SCRIPT = Path(__file__).parents[1] / "scripts" / "train_with_memory.py"
SMALL = (
    *("--decisions", 600, "--envs", 16, "--rollout", 16, "--batch", 64, "--epochs", 1),
    *("--width", 16, "--size", 4, "--rating-games", 4, "--report", 1),
)


def test_the_script_is_short() -> None:
    assert len(SCRIPT.read_text().splitlines()) <= 300


@pytest.mark.parametrize("events", ["0", "8"])
def test_it_trains_and_plays_with_and_without_a_memory(events: str) -> None:
    status, printed, told = run(SCRIPT, *SMALL, "--events", events, "--opponents", "random", "--rate-against", "random")
    assert status == 0, told
    assert "768 decisions" in printed and "of 4 games won" in printed.splitlines()[-1]


def test_a_wrong_number_of_events_is_one_line() -> None:
    status, printed, told = run(SCRIPT, *SMALL, "--events", "-1")
    assert (status, printed) == (2, "")
    assert told.splitlines()[-1] == "error: events must be an integer from 0 (none) to 1024, not -1"
