"""Searches in which several threads share one tree: nothing is lost, and one thread searches as it would alone."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import pytest

from euphoria_agents import load
from euphoria_agents.machine import usable_cores
from euphoria_agents.players.search import searcher, tree
from euphoria_agents.players.search.atomics import fetch_add, lock_row, unlock_row
from euphoria_agents.players.search.searcher import Budget, Searcher, read_budget
from euphoria_agents.players.search.tree import BEGUN, Tree
from euphoria_env import Rules
from tests.test_explain import RULES, column, decisions, said

SPECS = ("mcts:800*3:ppo", "mcts:500*3:greedy", "mcts:300*3:ppo+greedy", "mcts:150*3:greedy+ppo", "mcts:20*3:weights")
SPECS += ("boardspace:60*3",)


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """More threads than cores are slow, and otherwise the same."""
    monkeypatch.setattr(searcher, "usable_cores", lambda: 4)


def searching(spec: str) -> Searcher:
    agent = load(spec)
    assert isinstance(agent, Searcher)
    return agent


def chain(rows: np.ndarray, first: int, following: str) -> Iterator[int]:
    """The numbers of rows that follow one another."""
    while first >= 0:
        yield first
        first = int(rows[first][following])


def check_tree(tree: Tree) -> None:
    """Every node belongs to one move, every edge to one node; moves are sorted, and visited at least as often as what follows."""
    nodes, edges = tree.nodes[: tree.used[0]], tree.edges
    of_nodes = [list(chain(edges, int(node["first"]), "next")) for node in nodes]
    visits = [int(edges["visits"][found].sum()) for found in of_nodes]
    children = [0]
    for found in of_nodes:
        assert (np.diff(edges["move"][found]) > 0).all()
        for row in edges[found]:
            beside = list(chain(nodes, int(row["child"]), "sibling"))
            children += beside
            assert len(set(nodes["decision"][beside])) == len(beside)
            assert sum(visits[child] for child in beside) <= row["visits"] <= row["availability"] or not row["availability"]
    assert sorted(children) == list(range(len(nodes)))
    used = [edge for found in of_nodes for edge in found]
    assert len(set(used)) == len(used) <= tree.used[1] <= len(edges)
    assert "lock" not in (nodes.dtype.names or ()) or not nodes["lock"].any()


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: str(rules.num_players))
def test_nothing_is_lost(spec: str, rules: Rules) -> None:
    agent = searching(spec)
    for game in decisions(rules, 2):
        explanation = said(agent, game)
        visits = column(explanation, "visits")
        assert sum(visits) == agent.budget.simulations - 1
        assert [value is None for value in column(explanation, "value")] == [number == 0 for number in visits]
        assert sum(explanation["seats"] or []) == pytest.approx(1) and sum(column(explanation, "prior")) == pytest.approx(1)
        check_tree(agent._tree)


@pytest.mark.parametrize("spec", SPECS)
def test_a_tree_without_room(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, room in (("NODES", 60), ("EDGES", 900), ("SEEN", 500)):
        monkeypatch.setattr(tree, name, room)
    agent = searching(spec)
    for game in decisions(RULES[0], 3):
        said(agent, game)
        check_tree(agent._tree)
        assert (agent._tree.used[:BEGUN] <= (60, 900, 500)).all()


@pytest.mark.parametrize("spec", SPECS)
def test_one_thread_searches_alike_in_both_kinds_of_tree(spec: str) -> None:
    shared, own = searching(spec), searching(spec.replace("*3", ""))
    shared._others.clear()
    assert "lock" in (shared._tree.nodes.dtype.names or ()) and "lock" not in (own._tree.nodes.dtype.names or ())
    for rules in RULES:
        for game in decisions(rules, 2):
            assert said(shared, game) == said(own, game)
            trees = [agent._tree.edges[: agent._tree.used[1]] for agent in (shared, own)]
            assert trees[0].tobytes() == trees[1].tobytes()
            check_tree(own._tree)


def test_a_budget_in_seconds_ends_all_threads() -> None:
    agent, game, before = searching("mcts:0.02s*2:ppo"), next(decisions(RULES[0])), threading.active_count()
    assert sum(column(said(agent, game), "visits")) > 0
    assert threading.active_count() == before
    check_tree(agent._tree)


@pytest.mark.parametrize("spec", ["mcts:100000000*3", "mcts:1000s*2"])
def test_an_interrupt_ends_all_threads(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game, agent, parts, search = next(decisions(RULES[0])), searching(spec), list[int](), searcher.search_together
    main, before = threading.get_ident(), threading.active_count()

    def interrupted(*arguments: Any) -> Any:
        if threading.get_ident() == main:
            parts.append(arguments[-2])
            if len(parts) == 4:
                _thread.interrupt_main()
        return search(*arguments)

    said(searching("mcts:1*2"), game)  # compiles, which can be interrupted
    monkeypatch.setattr(searcher, "search_together", interrupted)
    with pytest.raises(KeyboardInterrupt):
        said(agent, game)
    assert len(parts) == 4 and threading.active_count() == before


def test_an_error_in_another_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    search, main = searcher.search_together, threading.get_ident()

    def failing(*arguments: Any) -> Any:
        if threading.get_ident() != main:
            raise RuntimeError("in another thread")
        return search(*arguments)

    monkeypatch.setattr(searcher, "search_together", failing)
    with pytest.raises(RuntimeError, match="in another thread"):
        said(searching("mcts:50*2"), next(decisions(RULES[0])))


def test_threads_wait_for_each_other() -> None:
    """Each of several threads adds to a number in a locked row, and to a count: no addition is lost."""
    rows, counts, each = np.zeros(3, [("number", np.int64), ("lock", np.int64)]), np.zeros(2, np.int64), 200_000

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator]
    def add(rows: Any, counts: Any, times: int) -> None:
        for _ in range(times):
            lock_row(rows, 1)
            rows[1]["number"] += 1
            unlock_row(rows, 1)
            fetch_add(rows, counts, 1, 2)

    add(rows, counts, 0)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, [rows] * 4, [counts] * 4, [each] * 4))
    assert rows["number"].tolist() == [0, 4 * each, 0] and counts.tolist() == [0, 8 * each]
    assert not rows["lock"].any()


# ------------------------------------------------------------------------------------------------------------------------ specs


def test_threads_in_a_budget() -> None:
    assert read_budget("200") == read_budget("200*1") == Budget(200, float("inf"), 1)
    for text in ("200*2", "0.5s*4"):
        assert read_budget(text).threads == int(text[-1]) and str(read_budget(text)) == text
    assert str(read_budget("7*1")) == "7"


@pytest.mark.parametrize("number", ["0", "-1", "5", "1.5", "x", "", "2*2", "1000000000000", "٣"])
@pytest.mark.parametrize("spec", ["mcts:200*{}", "mcts:0.5s*{}:ppo", "boardspace:20*{}"])
def test_threads_that_cannot_be(spec: str, number: str) -> None:
    with pytest.raises(ValueError, match=r": a search has from 1 to 4 threads, as many as there are cores, not '") as raised:
        load(spec.format(number))
    assert str(raised.value).endswith(f"not {number!r}") and "\n" not in str(raised.value)


def test_more_threads_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher, "usable_cores", usable_cores)
    cores = usable_cores()
    assert read_budget(f"9*{cores}").threads == cores
    with pytest.raises(ValueError, match=rf"9\*{cores + 1}: .* 1 to {cores} threads, .* not '{cores + 1}'"):
        load(f"mcts:9*{cores + 1}")


@pytest.mark.parametrize("budget", ["*2", "0*2", "x*2", "0s*2"])
def test_budgets_that_are_none(budget: str) -> None:
    with pytest.raises(ValueError, match="number of simulations such as 200 or a time such as"):
        load(f"mcts:{budget}")


def test_a_single_core_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3}, raising=False)
    assert usable_cores() == 1
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    assert usable_cores() == 6


def test_strangers_get_no_more_time_for_more_threads() -> None:
    from euphoria_agents.play.web.agents import MAX_SECONDS, check_budget

    check_budget(f"mcts:{MAX_SECONDS:g}s")
    check_budget(f"mcts:{MAX_SECONDS / 2:g}s*2")
    with pytest.raises(ValueError, match="thinks too long"):
        check_budget(f"mcts:{MAX_SECONDS:g}s*2")
