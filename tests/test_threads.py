"""Threads that share the work of a run: their order, their errors, and runs that are equal bit for bit."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
from euphoria_agents.training.config import Options  # noqa: E402
from euphoria_agents.training.threads import Threads  # noqa: E402
from tests.tools.small_runs import assert_same, go, options, state_of  # noqa: E402


@pytest.fixture(params=[1, 2, 4])
def threads(request: pytest.FixtureRequest) -> Iterator[Threads]:
    made = Threads(request.param)
    yield made
    made.close()


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
