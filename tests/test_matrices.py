"""The tables of payoffs of results and tournaments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("openskill")

from benchmarks import matrices
from benchmarks.leaderboard import read_results, standings
from euphoria_agents.benchmark.tasks import TASKS

RESULTS = [*read_results(Path(__file__).parents[1] / "benchmarks" / "results").values()]


@pytest.mark.parametrize("task", ["duel-v1", "any-v1", "partners-v1"])
def test_the_table_of_a_task_has_the_figures_of_the_leaderboard(task: str) -> None:
    table, rows = matrices.of_results(task, RESULTS), standings(task, RESULTS)
    assert table.against == list(TASKS[task].opponents) and len(table.agents) == len(rows)
    for one in rows:
        k = table.agents.index(f"{one.name} {one.budget}".strip())
        assert table.rates[k] == pytest.approx(one.against, abs=2e-6)
    assert (np.diff(table.rates.mean(1)) <= 0).all(), "the best first"


def test_the_table_of_a_tournament() -> None:
    found = [
        {"agent": "a", "beaten": {"b": [30.0, 40], "c": [10, 40]}},
        {"agent": "b", "beaten": {"a": [10.0, 40], "c": [30, 40]}},
        {"agent": "c", "beaten": {"a": [30.0, 40], "b": [10, 40]}},
    ]
    table = matrices.of_tournament("2 players", found, {"a": "first"})
    assert table.agents == table.against == ["first", "b", "c"]
    assert table.rates.tolist() == [[0.5, 0.75, 0.25], [0.25, 0.5, 0.75], [0.75, 0.25, 0.5]]
