"""Tables of payoffs: Nash equilibria, alpha-rank, and the tables of results and tournaments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("openskill")

from benchmarks import matrices
from benchmarks.leaderboard import read_results, standings
from benchmarks.metagame import RESAMPLES, alpha_rank, interval, nash, resampled
from euphoria_agents.benchmark.tasks import NETWORKS, TASKS

CYCLE = np.array([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]])  # each beats the next


def test_known_equilibria() -> None:
    row, column = nash(CYCLE)
    assert row == pytest.approx([1 / 3] * 3) and column == pytest.approx([1 / 3] * 3)
    row, column = nash(np.array([[0.9, 0.6], [0.8, 0.5]]))  # the first row is always better, the second column always worse
    assert row == pytest.approx([1, 0], abs=1e-6) and column == pytest.approx([0, 1], abs=1e-6)
    row, column = nash(np.array([[1.0, 0.0], [0.0, 0.5]]))  # the row makes the column indifferent: p = 0.5 (1 - p)
    assert row == pytest.approx([1 / 3, 2 / 3], abs=1e-3) and column == pytest.approx([1 / 3, 2 / 3], abs=1e-3)
    row, column = nash(np.array([[0.7, 0.4, 0.4], [0.1, 0.2, 0.3]]))  # two columns are the same for the row that is played
    assert row == pytest.approx([1, 0], abs=1e-6) and column[1] > 0.4 and column[2] > 0.4, "the one of largest entropy"


@pytest.mark.parametrize("shape", [(2, 2), (5, 5), (11, 4), (12, 12)])
def test_nobody_gains_by_leaving_the_equilibrium(shape: tuple[int, int]) -> None:
    tables = np.random.default_rng(1).random((100, *shape))
    row, column = nash(tables)
    gains = (tables @ column[..., None]).max((-2, -1)) - (row[:, None] @ tables).min((-2, -1))
    assert gains.shape == (100,) and gains.max() < 2e-3
    assert all(np.allclose(one, many[0], atol=1e-6) for one, many in zip(nash(tables[0]), (row, column), strict=True))


def test_a_copy_of_an_agent_changes_no_score() -> None:
    """Nash averaging as it is meant: redundant agents have no weight (Balduzzi et al. 2018)."""
    table = np.random.default_rng(2).random((4, 4))
    row, column = nash(table)
    doubled, _ = nash(np.vstack([table, table[:1]]))
    assert doubled[0] + doubled[4] == pytest.approx(row[0], abs=5e-3) and doubled[0] == pytest.approx(doubled[4], abs=1e-6)


def test_alpha_rank_of_known_tables() -> None:
    assert alpha_rank(2 * CYCLE - 1) == pytest.approx([1 / 3] * 3)
    assert alpha_rank(np.zeros((4, 4))) == pytest.approx([0.25] * 4)
    better = np.array([[0.0, 0.4, 0.4], [-0.4, 0.0, 0.2], [-0.4, -0.2, 0.0]])
    assert alpha_rank(better) == pytest.approx([1, 0, 0], abs=1e-6)
    assert alpha_rank(better[::-1, ::-1]) == pytest.approx([0, 0, 1], abs=1e-6)
    stable = np.array([[0.0, -0.1], [-0.1, 0.0]])  # neither can enter a population of the other
    assert alpha_rank(stable) == pytest.approx([0.5, 0.5])
    found = alpha_rank(np.stack([better, better[::-1, ::-1]]))
    assert np.allclose(found, [[1, 0, 0], [0, 0, 1]], atol=1e-6)


def test_alpha_rank_is_the_stationary_distribution() -> None:
    """With two agents it is known: the chances to take over, one to the other."""
    gap, intensity, size = 0.003, 100.0, 50
    enters = (1 - np.exp(-intensity * gap)) / (1 - np.exp(-intensity * size * gap))
    leaves = (1 - np.exp(intensity * gap)) / (1 - np.exp(intensity * size * gap))
    found = alpha_rank(np.array([[0.0, gap], [-gap, 0.0]]), intensity, size)
    assert found == pytest.approx(np.array([enters, leaves]) / (enters + leaves))


def test_intervals_are_those_of_the_errors() -> None:
    rates, errors = np.array([0.5, 1.0]), np.array([0.01, 0.0])
    samples = resampled(rates, errors)
    assert samples.shape == (RESAMPLES, 2) and np.array_equal(samples, resampled(rates, errors))
    low, high = interval(samples)
    assert low == pytest.approx([0.48, 1], abs=4e-3) and high == pytest.approx([0.52, 1], abs=4e-3)


# ----------------------------------------------------------------------------------------------------- results, tournaments

OPPONENTS = TASKS["duel-v1"].opponents
RESULTS = [*read_results(Path(__file__).parents[1] / "benchmarks" / "results").values()]


@pytest.mark.parametrize("task", ["duel-v1", "any-v1", "partners-v1"])
def test_the_table_of_a_task_has_the_figures_of_the_leaderboard(task: str) -> None:
    table, rows = matrices.of_results(task, RESULTS), standings(task, RESULTS)
    assert table.against == list(TASKS[task].opponents) and len(table.agents) == len(rows)
    for one in rows:
        k = table.agents.index(f"{one.name} {one.budget}".strip())
        assert table.rates[k].mean(-1) == pytest.approx(one.against, abs=2e-6)
    assert (table.errors > 0).all() and table.errors.max() < 0.2
    means = table.rates.mean((1, 2))
    assert (np.diff(means) <= 0).all(), "the best first"


def test_scores_of_a_task() -> None:
    duel = matrices.of_results("duel-v1", RESULTS)
    found = matrices.scores(duel)
    assert found.opponents[0] == pytest.approx([0, 0, 0, 1], abs=1e-3), "the network is the hardest for all"
    network, mean = duel.agents.index(NETWORKS["network"]), duel.rates[..., 0]
    assert found.averages[0] == pytest.approx(mean[:, 3], abs=1e-3)
    assert (found.averages[1] <= found.averages[0] + 1e-9).all() and (found.averages[0] <= found.averages[2] + 1e-9).all()
    assert found.ranks[0, network] == pytest.approx(1) and not np.isnan(found.ranks).any()
    several = matrices.of_results("any-v1", RESULTS)
    known = ~np.isnan(matrices.scores(several).ranks[0])
    assert {name for name, one in zip(several.agents, known, strict=True) if one} == set(OPPONENTS)


def test_advantages_are_over_each_of_the_others() -> None:
    """With four players a quarter of the games is what equals win."""
    agents = [*OPPONENTS]
    rates = np.full((4, 4, 1), 0.25)
    table = matrices.Payoffs("x", agents, agents, (4,), rates, np.zeros_like(rates))
    assert matrices.scores(table).ranks[0] == pytest.approx([0.25] * 4)
    rates[0, 1:], rates[1:, 0] = 0.3, 0.2
    assert matrices.scores(table).ranks[0] == pytest.approx([1, 0, 0, 0], abs=1e-2)


def test_ranks_are_unknown_until_all_opponents_have_been_judged() -> None:
    rates = np.array([[[0.5], [0.7]]])
    found = matrices.scores(matrices.Payoffs("x", ["a"], ["a", "b"], (2,), rates, np.zeros_like(rates)))
    assert np.isnan(found.ranks).all() and found.averages[0] == pytest.approx([0.5], abs=1e-3)


def test_the_table_of_a_tournament() -> None:
    found = [
        {"agent": "a", "beaten": {"b": [30.0, 40], "c": [10, 40]}},
        {"agent": "b", "beaten": {"a": [10.0, 40], "c": [30, 40]}},
        {"agent": "c", "beaten": {"a": [30.0, 40], "b": [10, 40]}},
    ]
    table = matrices.of_tournament("2 players", found, {"a": "first"})
    assert table.agents == table.against == ["first", "b", "c"]
    assert table.rates[..., 0].tolist() == [[0.5, 0.75, 0.25], [0.25, 0.5, 0.75], [0.75, 0.25, 0.5]]
    scores = matrices.scores(table)
    assert scores.opponents[0] == pytest.approx([1 / 3] * 3, abs=1e-3) and scores.ranks[0] == pytest.approx([1 / 3] * 3)
    assert scores.averages[1].max() < 0.5 < scores.averages[2].min()
    assert matrices.percent(scores.averages[:, 0]).startswith("50.0 (")
