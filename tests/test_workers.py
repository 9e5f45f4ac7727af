"""Training in several processes: equal runs, exact resumption, and what happens when somebody goes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
import torch.distributed as dist  # noqa: E402
from rich.console import Console  # noqa: E402

from euphoria_agents.network.checkpoint import read_checkpoint  # noqa: E402
from euphoria_agents.progress import Progress  # noqa: E402
from euphoria_agents.training import workers  # noqa: E402
from euphoria_agents.training.config import Options  # noqa: E402
from euphoria_agents.training.run import Trained, open_job, open_run, reopen, train  # noqa: E402
from euphoria_agents.training.workers import Group, WorkerLost  # noqa: E402
from tests.tools.small_runs import arguments, assert_same, options, state_of  # noqa: E402

pytestmark = pytest.mark.slow

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def small(run: Path, **changed: Any) -> Options:
    """A run in two processes."""
    return options(run, **({"workers": 2, "envs": 42, "decisions": 4 * 42 * 8} | changed))


def go(chosen: Options, updates: int | None = None) -> Trained:
    """Trains silently, with all its workers."""
    return train(chosen, Console(quiet=True), updates)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four updates in two processes, without interruption."""
    folder = tmp_path_factory.mktemp("straight") / "run"
    trained = go(small(folder))
    assert trained[:3] == (folder, 4 * 42 * 8, 4) and len(trained.spent) >= 4 and not trained.interrupted
    return folder


@pytest.mark.parametrize("rank", [0, 1])
def test_only_the_first_worker_rates_what_is_due(rank: int, straight: Path) -> None:
    """Ratings that a run was stopped over are made by one worker, not by each."""
    job = reopen(Options(resume=straight), straight)
    assert job.state is not None
    metadata, arrays = job.state
    network = read_checkpoint(straight / "ppo.safetensors")[1]
    metadata.ratings.due = [(3, 1008, 0.1)]
    state = metadata, arrays | {f"rating.3.{name}": tensor for name, tensor in network.items()}
    group = Group()
    group.rank, group.size = rank, 2  # nobody is asked for anything
    run = open_run(job._replace(state=state), Progress(Console(quiet=True), "training", "decisions"), group)
    assert [due.update for due in run.ratings.due] == [3] * (rank == 0)


def test_the_workers_share_the_games_and_the_network(straight: Path) -> None:
    facts, arrays = state_of(straight)
    assert facts["decisions"] == 4 * 42 * 8 and len(facts["workers"]) == 2
    first, second = (arrays[f"worker.{rank}.games.0.games"] for rank in (0, 1))
    assert len(first) == len(second) == 14 and not np.array_equal(first, second)
    assert not np.array_equal(arrays["worker.0.torch"], arrays["worker.1.torch"])
    rated = {(one["decisions"], one["against"]) for one in facts["ratings"]["results"]}
    assert rated == {(n * 42 * 8, name) for n in (0, 3, 4) for name in ("random", "weights")}
    assert facts["ratings"]["due"] == []


def test_a_run_in_two_processes_resumes_exactly(straight: Path, tmp_path: Path) -> None:
    go(small(tmp_path / "run"), updates=2)
    assert state_of(tmp_path / "run")[0]["decisions"] == 2 * 42 * 8
    go(Options(resume=tmp_path / "run"))  # with the workers that it had
    assert_same(state_of(tmp_path / "run"), state_of(straight))


@pytest.mark.long
def test_torchrun_starts_the_same_run(straight: Path, tmp_path: Path) -> None:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "--"]
    command = ["euphoria_agents", "train", *arguments(small(tmp_path / "run", workers=1))]  # torchrun starts two
    subprocess.run([*torchrun, *command], check=True, capture_output=True, env=ENVIRONMENT, timeout=300)
    assert_same(state_of(tmp_path / "run"), state_of(straight))


def start(run: Path) -> subprocess.Popen[str]:
    """Starts the command with a run without end, and returns once it has saved."""
    command = [sys.executable, "-m", "euphoria_agents", "train", *arguments(small(run, decisions=10_000_000, rating_games=0))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    until = time.monotonic() + 300
    while not (run / "state.safetensors").exists():
        assert process.poll() is None and time.monotonic() < until, process.communicate()
        time.sleep(0.01)
    return process


def trainers(pid: int) -> list[int]:
    """The workers that a process has started, in the order of their ranks."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def await_end(pids: list[int]) -> None:
    """Waits until these processes have ended."""
    until = time.monotonic() + 300
    while any(Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" for pid in pids):
        assert time.monotonic() < until, "a worker goes on alone"
        time.sleep(0.05)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_worker_that_is_killed_stops_the_others_and_nothing_is_lost(tmp_path: Path) -> None:
    process = start(tmp_path / "run")
    others = trainers(process.pid)
    assert len(others) == 2
    os.kill(others[1], signal.SIGKILL)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "worker 1 has gone: it was killed (SIGKILL); the run is as it was last saved: --resume" in said
    await_end(others)
    assert state_of(tmp_path / "run")[0]["decisions"] % (42 * 8) == 0  # it can be read, and is whole


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_ctrl_c_ends_the_update_in_all_workers_and_saves(tmp_path: Path) -> None:
    process = start(tmp_path / "run")
    before, others = state_of(tmp_path / "run")[0]["decisions"], trainers(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert (process.returncode, said.strip()) == (130, f"stopped; --resume {tmp_path / 'run'} goes on where it was")
    await_end(others)
    assert state_of(tmp_path / "run")[0]["decisions"] >= before


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_the_workers_end_with_the_command(tmp_path: Path) -> None:
    process = start(tmp_path / "run")
    others = trainers(process.pid)
    process.kill()
    process.communicate()
    await_end(others)


@pytest.mark.long
def test_what_goes_wrong_in_another_worker_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "their_baseline.py").write_text(
        "import os\n"
        "class Theirs:\n"
        "    def act(self, observation, mask, rng, game=None):\n"
        "        if os.environ.get('RANK') == '1':\n"
        "            raise KeyError('lost the map')\n"
        "        return int(mask.argmax())\n"
    )
    with pytest.raises(WorkerLost, match=r"^worker 1: KeyError: 'lost the map'.*their_baseline.*--resume"):
        go(small(tmp_path / "run", baselines=["their_baseline:Theirs"], rating_games=0))
    assert multiprocessing.active_children() == []


def test_numbers_of_workers_that_cannot_be(straight: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="workers: expected int >= 1"):
        go(small(tmp_path / "run", workers=0))
    with pytest.raises(ValueError, match="envs: must be at least 1 for each of players and workers, not 42 .* and 15 workers"):
        go(small(tmp_path / "run", workers=15))
    with pytest.raises(ValueError, match="batch must be at least 2 for each worker.*not 3 for 2"):
        go(small(tmp_path / "run", batch=3))
    with pytest.raises(ValueError, match="the run has 2 workers, but 3 were started"):
        open_job(Options(resume=straight), 3)
    assert not (tmp_path / "run").exists()


def _three(rank: int, port: int, answers: Any) -> None:
    """One of three workers: what it gets from the others."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), TORCHELASTIC_RUN_ID="", RANK=str(rank), WORLD_SIZE="3")
    os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "True"  # that the test has made
    group = Group.launched()
    one, none, two = (torch.nn.Parameter(torch.zeros(shape)) for shape in ((2, 3), (5,), (4,)))
    one.grad, two.grad = torch.full((2, 3), float(rank)), torch.arange(4.0) * rank
    group.average([one, none, two])
    got = one.grad.tolist(), none.grad, two.grad.tolist(), group.gather(rank), group.share(f"from {rank}")
    workers.version = lambda name: "1.0" if rank == 2 and name == "numba" else "2.0"
    fault = ""
    try:
        group.agree()
    except ValueError as error:
        fault = str(error)
    answers.put((rank, got, fault))
    group.close()


@pytest.mark.long
def test_what_workers_tell_each_other() -> None:
    store = dist.TCPStore("127.0.0.1", 0, 3, is_master=True, wait_for_workers=False)
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    processes = [context.Process(target=_three, args=(rank, store.port, answers)) for rank in range(3)]
    for process in processes:
        process.start()
    got = sorted(answers.get(timeout=300) for _ in processes)
    for process in processes:
        process.join()
    mean = [1.0] * 3
    expected = [mean, mean], None, [0.0, 1.0, 2.0, 3.0], [0, 1, 2], "from 0"
    assert [one[:2] for one in got] == [(rank, expected) for rank in range(3)]
    assert [one[2] for one in got] == ["worker 2 has numba 1.0, the first one 2.0: they must be the same", "", ""]


def test_one_worker_needs_nobody() -> None:
    group, one = Group(), torch.nn.Parameter(torch.zeros(2))
    one.grad = torch.tensor([1.0, 2.0])
    group.average([one])
    assert one.grad.tolist() == [1.0, 2.0] and group.first and not dist.is_initialized()
    assert group.gather("a") == ["a"] and group.share("b") == "b"
