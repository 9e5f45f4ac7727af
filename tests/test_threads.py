"""Threads that share the work of a run: their order, their errors, and runs that are equal bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from euphoria_agents.machine import usable_cores

pytest.importorskip("torch")
from euphoria_agents.training.threads import Threads  # noqa: E402
from tests.tools.small_runs import assert_same, go, options, state_of  # noqa: E402


@pytest.fixture(params=[1, 2, 4])
def threads(request: pytest.FixtureRequest) -> Iterator[Threads]:
    made = Threads(request.param)
    yield made
    made.close()


def test_usable_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3}, raising=False)
    assert usable_cores() == 1
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    assert usable_cores() == 6


def test_an_error_comes_out_and_nothing_more_is_begun(threads: Threads) -> None:
    def fail() -> None:
        raise IndexError("lost")

    done: list[int] = []
    for failing in ([fail], [fail, *[lambda: None] * 20, fail]):
        with pytest.raises(IndexError, match="lost"):
            threads.run(failing)
        threads.run([lambda k=k: done.append(k) for k in range(20)])  # type: ignore[misc]  # it can be used again
        assert sorted(done) == [*range(20)]
        done.clear()


@pytest.mark.parametrize("threads", [2, 3])
def test_equal_numbers_of_threads_give_equal_runs(threads: int, tmp_path: Path) -> None:
    for name in ("one", "other"):
        go(options(tmp_path / name, threads=threads))
    assert_same(state_of(tmp_path / "one"), state_of(tmp_path / "other"))
