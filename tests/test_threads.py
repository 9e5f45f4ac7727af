"""Threads that share the work of a run: their order, their errors, and runs that are equal bit for bit."""

from __future__ import annotations

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
