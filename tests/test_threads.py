"""Threads that share the work of a run: their order, their errors, and runs that are equal bit for bit."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
from euphoria_agents.training.config import Options  # noqa: E402
from euphoria_agents.training.threads import Threads, ranges  # noqa: E402
from tests.tools.small_runs import assert_same, go, options, state_of  # noqa: E402


@pytest.fixture(params=[1, 2, 4])
def threads(request: pytest.FixtureRequest) -> Iterator[Threads]:
    made = Threads(request.param)
    yield made
    made.close()


@pytest.mark.parametrize(("size", "parts"), [(10, 3), (2, 4), (0, 2), (7, 7), (5, 1)])
def test_ranges_are_all_of_it_in_order(size: int, parts: int) -> None:
    found = ranges(size, parts)
    assert len(found) == parts and [k for first, last in found for k in range(first, last)] == [*range(size)]
    sizes = [last - first for first, last in found]
    assert max(sizes) - min(sizes) <= 1


def test_all_tasks_are_done(threads: Threads) -> None:
    done: list[int] = []
    for _ in range(3):
        threads.run([lambda k=k: done.append(k) for k in range(20)])  # type: ignore[misc]
        assert sorted(done) == [*range(20)]
        done.clear()
    threads.run([])


def test_tasks_in_the_background_go_on_until_they_are_done(threads: Threads) -> None:
    left = {name: 5 for name in "abc"}
    working: set[str] = set()

    def work(name: str) -> bool:
        assert name not in working, "one task, two threads"
        working.add(name)
        left[name] -= 1
        working.discard(name)
        return left[name] > 0

    urgent: list[int] = []
    threads.start([lambda name=name: work(name) for name in left])  # type: ignore[misc]
    threads.run([lambda k=k: urgent.append(k) for k in range(10)])  # type: ignore[misc]
    assert sorted(urgent) == [*range(10)]
    threads.finish()
    assert set(left.values()) == {0}


def test_urgent_tasks_come_first() -> None:
    threads, order = Threads(1), list[str]()
    threads.start([lambda: order.append("background")])
    threads.run([lambda: order.append("urgent")])
    threads.finish()
    threads.close()
    assert order == ["urgent", "background"]


@pytest.mark.parametrize("where", ["run", "start"])
def test_an_error_comes_out_and_nothing_more_is_begun(where: str, threads: Threads) -> None:
    def fail() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        if where == "run":
            threads.run([fail])
        else:
            threads.start([fail, *[lambda: True] * threads.size])  # these would never end
            threads.finish()
    done: list[int] = []
    threads.run([lambda: done.append(1)])  # it can be used again
    assert done == [1]


def test_closing_ends_what_is_in_the_background() -> None:
    there, threads = threading.active_count(), Threads(3)
    threads.start([lambda: True])
    threads.close()
    assert threading.active_count() == there


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no threads")
@pytest.mark.parametrize(("size", "pinned"), [(1, False), (2, True), (3, False)])
def test_each_thread_has_a_core_of_its_own_while_it_works(size: int, pinned: bool) -> None:
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("one core alone")
    two = set(sorted(allowed)[-2:])
    os.sched_setaffinity(0, two)  # the process may not use all cores
    try:
        threads, meeting, found = Threads(size), threading.Barrier(min(size, 2)), list[set[int]]()

        def look() -> None:
            meeting.wait()  # so that no thread does the work of another
            found.append(os.sched_getaffinity(0))

        tasks = [look] * min(size, 2)
        threads.run(tasks)
        threads.start(tasks)
        threads.finish()
        assert os.sched_getaffinity(0) == two, "what the caller starts may run anywhere"
        threads.close()
        rounds = [found[: len(tasks)], found[len(tasks) :]]
        expected = [{core} for core in sorted(two)] if pinned else [two] * len(tasks)
        assert [sorted(one, key=sorted) for one in rounds] == [expected] * 2
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize("threads", [2, 3])
def test_equal_numbers_of_threads_give_equal_runs(threads: int, tmp_path: Path) -> None:
    for name in ("one", "other"):
        go(options(tmp_path / name, threads=threads))
    assert_same(state_of(tmp_path / "one"), state_of(tmp_path / "other"))


@pytest.mark.parametrize("shape", [{}, {"cards": "features"}])
def test_a_run_with_several_threads_resumes_exactly(shape: dict[str, object], tmp_path: Path) -> None:
    for threads in (2, 3):
        straight, broken = tmp_path / f"straight{threads}", tmp_path / f"broken{threads}"
        chosen = {"threads": threads, "save_every": 2, **shape}
        go(options(straight, **chosen))
        for updates in (0, 1, 3):
            trainer = go(options(broken, **chosen) if not updates else Options(resume=broken), updates=updates)
            assert trainer.update == updates
        go(Options(resume=broken))
        assert_same(state_of(broken), state_of(straight))


def test_several_threads_learn_with_a_lag_of_one_update(tmp_path: Path) -> None:
    """The decisions that are saved were made by the network before the last update."""
    go(options(tmp_path / "one", threads=1), updates=1)
    go(options(tmp_path / "two", threads=2), updates=1)
    one, two = (state_of(tmp_path / name)[1] for name in ("one", "two"))
    open_, waiting = (arrays["process.0.actor.0.decisions.following"] for arrays in (one, two))
    assert (open_ == -1).all() and (waiting != -1).any()
