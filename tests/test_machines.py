"""Training on several machines: one process each by `torchrun`, exact resumption, and what happens when somebody goes."""

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
import torch.distributed as dist  # noqa: E402

from euphoria_agents.training import machines  # noqa: E402
from euphoria_agents.training.machines import Group  # noqa: E402
from tests.tools.small_runs import arguments, assert_same, options, state_of  # noqa: E402

pytestmark = pytest.mark.slow

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
DRIVER = """
import sys
from pathlib import Path
from euphoria_agents.training.config import Options
from tests.tools.small_runs import go, options

run = Path(sys.argv[1])
chosen = dict(threads=2, envs=42, decisions=1600, rating_games=4)
if sys.argv[2] == "straight":
    go(options(run, **chosen))
elif sys.argv[2] == "broken":
    go(options(run, **chosen), updates=2)
else:
    go(Options(resume=run))
"""


def torchrun(folder: Path, run: Path, what: str) -> None:
    """Trains in two processes."""
    (folder / "driver.py").write_text(DRIVER)
    command = [*TORCHRUN, str(folder / "driver.py"), str(run), what]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr[-3000:]


def test_two_processes_share_the_games_and_resume_exactly(tmp_path: Path) -> None:
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    torchrun(tmp_path, straight, "straight")
    facts, arrays = state_of(straight)
    assert len(facts["processes"]) == 2 and facts["decisions"] >= 1600
    first, second = (arrays[f"process.{rank}.actor.0.games"] for rank in (0, 1))
    assert len(first) == len(second) == 21 and not np.array_equal(first, second)
    assert facts["processes"][0]["generator"] != facts["processes"][1]["generator"]
    assert facts["ratings"]["due"] == [] and facts["ratings"]["results"][-1]["decisions"] == facts["decisions"]
    torchrun(tmp_path, broken, "broken")
    assert state_of(broken)[0]["updates"] == 2 < facts["updates"]
    torchrun(tmp_path, broken, "on")
    assert_same(state_of(broken), state_of(straight))


def await_end(pids: list[int]) -> None:
    """Waits until these processes have ended."""
    while any(Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" for pid in pids):
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_process_that_is_killed_stops_the_others_and_nothing_is_lost(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [*TORCHRUN, "-m", "--", "euphoria_agents", "train", *arguments(options(run, decisions=10_000_000))]
    launcher = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    while not (run / "state.safetensors").exists():
        assert launcher.poll() is None, launcher.communicate()
        time.sleep(0.01)
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
    processes = [int(child) for child in children if b"euphoria_agents" in Path(f"/proc/{child}/cmdline").read_bytes()]
    assert len(processes) == 2
    os.kill(processes[1], signal.SIGKILL)
    launcher.communicate()
    assert launcher.returncode != 0
    await_end(processes)
    facts, _ = state_of(run)
    assert facts["updates"] >= 1 and len(facts["processes"]) == 2  # it can be read, and is whole


def _three(rank: int, port: int, answers: Any) -> None:
    """One of three processes: what it gets from the others."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), TORCHELASTIC_RUN_ID="", RANK=str(rank), WORLD_SIZE="3")
    os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "True"  # that the test has made
    group = Group()
    gradient = torch.arange(4.0) * rank
    group.average(gradient)
    got = gradient.tolist(), group.gather(rank), group.share(f"from {rank}")
    machines.version = lambda name: "1.0" if rank == 2 and name == "numba" else "2.0"
    fault = ""
    try:
        group.agree()
    except ValueError as error:
        fault = str(error)
    answers.put((rank, got, fault))
    group.close()


@pytest.mark.long
def test_what_processes_tell_each_other() -> None:
    store = dist.TCPStore("127.0.0.1", 0, 3, is_master=True, wait_for_workers=False)
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    processes = [context.Process(target=_three, args=(rank, store.port, answers)) for rank in range(3)]
    for process in processes:
        process.start()
    got = sorted(answers.get() for _ in processes)
    for process in processes:
        process.join()
    expected = [0.0, 1.0, 2.0, 3.0], [0, 1, 2], "from 0"
    assert [one[:2] for one in got] == [(rank, expected) for rank in range(3)]
    assert [one[2] for one in got] == ["process 2 has numba 1.0, the first one 2.0: they must be the same", "", ""]


def test_one_process_needs_nobody() -> None:
    group = Group()
    assert group.first and group.size == 1 and not dist.is_initialized()
    assert group.gather("a") == ["a"] and group.share("b") == "b"
    group.agree()
    group.close()
