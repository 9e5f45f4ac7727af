"""Threads that share the work of a run: their order, their errors, and runs that are equal bit for bit."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from euphoria_agents.machine import usable_cores

pytest.importorskip("torch")
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


def test_usable_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3}, raising=False)
    assert usable_cores() == 1
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    assert usable_cores() == 6


def test_all_tasks_are_done(threads: Threads) -> None:
    done: list[int] = []
    for _ in range(3):
        threads.run([lambda k=k: done.append(k) for k in range(20)])  # type: ignore[misc]
        assert sorted(done) == [*range(20)]
        done.clear()
    threads.run([])


def test_an_error_comes_out_and_nothing_more_is_begun(threads: Threads) -> None:
    def fail() -> None:
        raise IndexError("lost")

    done: list[int] = []
    for failing in ([fail], [fail, *[lambda: None] * 20, fail]):
        with pytest.raises(IndexError, match="lost"):
            threads.run(failing)
        threads.run([lambda: done.append(1)])  # it can be used again
    assert done == [1, 1]


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
        threads.run(tasks)
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
