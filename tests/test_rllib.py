"""Beyond one machine: tournaments on a Ray cluster whose workers and nodes die, and RLlib on the same environment.

Ray needs an environment of its own (requirements-rllib.lock); elsewhere these tests are skipped.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

from agents.cluster import on_ray  # noqa: E402
from agents.processes import ATTEMPTS, in_processes  # noqa: E402
from agents.tournament import Chunk, Journal, play, play_chunk, sources  # noqa: E402
from euphoria_env import Rules  # noqa: E402

ROOT = Path(__file__).parent.parent
# Ray leaves processes and sockets to its own shutdown.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.filterwarnings("default")]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two nodes of a core each on this machine; the first one cannot be missed."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def chunks(number: int) -> list[Chunk]:
    lineup = ("weights", "random")
    return [Chunk(lineup, k, 5, 4, Rules(num_players=2), sources(lineup)) for k in range(number)]


def played(found: dict[Chunk, Any]) -> dict[Chunk, Any]:
    return {chunk: result.played for chunk, result in found.items()}


def die_once(folder: Path, chunk: Chunk) -> Any:
    """Plays a chunk; the first worker who tries one with an even number is killed."""
    try:
        (folder / str(chunk.number)).touch(exist_ok=False)
    except FileExistsError:
        return play_chunk(chunk)
    if chunk.number % 2 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return play_chunk(chunk)


def linger(folder: Path, chunk: Chunk) -> Any:
    """Plays a chunk at leisure, and says where."""
    (folder / f"{chunk.number}-{time.monotonic_ns()}").write_text(ray.get_runtime_context().get_node_id())
    time.sleep(0.5)
    return play_chunk(chunk)


def die(chunk: Chunk) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_killed_workers_lose_nothing(cluster: Any, tmp_path: Path) -> None:
    wanted = chunks(6)
    found = dict(on_ray(partial(die_once, tmp_path), wanted, cluster.address))
    assert played(found) == played({chunk: play_chunk(chunk) for chunk in wanted})
    with pytest.raises(RuntimeError, match=r"on the cluster, Chunk.*number=0"):
        list(on_ray(die, wanted[:1], cluster.address))


def test_a_node_that_dies_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    wanted = chunks(12)
    doomed = [*cluster.worker_nodes][0]
    journal = Journal(tmp_path / "chunks.jsonl", tmp_path / "records")
    places = tmp_path / "places"
    places.mkdir()
    running = on_ray(partial(linger, places), wanted, cluster.address)
    found = dict(next(running) for _ in range(2))
    deadline = time.monotonic() + 60
    while doomed.node_id not in {file.read_text() for file in places.iterdir()} and time.monotonic() < deadline:
        time.sleep(0.05)
    cluster.remove_node(doomed, allow_graceful=False)
    found |= dict(running)
    assert played(found) == played({chunk: play_chunk(chunk) for chunk in wanted})
    assert len({file.read_text() for file in places.iterdir()}) == 2, "both nodes have played"
    assert len([*places.iterdir()]) > len(wanted), "what the dead node was playing was played again"
    again = play(wanted, journal, partial(on_ray, address=cluster.address))
    assert played(again) == played(found) and len([*(tmp_path / "records").iterdir()]) == 96


def test_the_command_gives_the_results_of_the_local_one(cluster: Any, tmp_path: Path) -> None:
    def run(folder: str, *options: str) -> Path:
        command = [sys.executable, str(ROOT / "scripts" / "tournament.py"), "--players", "2", "3", "--games", "60"]
        done = subprocess.run([*command, "--out", str(tmp_path / folder), *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return tmp_path / folder / "results.json"

    local, far = run("local", "--processes", "1"), run("far", "--ray", "--ray-address", cluster.address)
    assert local.read_bytes() == far.read_bytes()
