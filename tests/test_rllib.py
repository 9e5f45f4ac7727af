"""Beyond one machine: tournaments on a Ray cluster whose workers and nodes die, and RLlib on the same environment.

Ray needs an environment of its own (requirements-rllib.lock); elsewhere these tests are skipped.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

from euphoria_agents.matches.cluster import on_ray  # noqa: E402
from euphoria_agents.matches.tournament import Chunk, Journal, play, play_chunk, sources  # noqa: E402
from euphoria_env import Rules  # noqa: E402

PATHS = os.pathsep.join(filter(None, sys.path))
TRAIN = [sys.executable, "-m", "euphoria_agents.training.rllib_run"]
# Ray leaves processes and sockets to its own shutdown.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.filterwarnings("default")]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two nodes of a core each on this machine; the first one cannot be missed."""
    monkeypatch.setenv("PYTHONPATH", PATHS)
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


def stick(folder: Path, doomed: str, chunk: Chunk) -> Any:
    """Plays a chunk; on one of the nodes it never ends, and on the others it waits for that."""
    if ray.get_runtime_context().get_node_id() == doomed:
        (folder / str(chunk.number)).touch()
        time.sleep(3600)
    while not [*folder.iterdir()]:
        time.sleep(0.05)
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
    wanted, (doomed,) = chunks(6), cluster.worker_nodes
    stuck = tmp_path / "stuck"
    stuck.mkdir()

    def bury() -> None:
        while not [*stuck.iterdir()]:
            time.sleep(0.05)
        cluster.remove_node(doomed, allow_graceful=False)

    undertaker = threading.Thread(target=bury)
    undertaker.start()
    journal = Journal(tmp_path / "chunks.jsonl", tmp_path / "records")
    found = dict(on_ray(partial(stick, stuck, doomed.node_id), wanted, cluster.address))
    undertaker.join()
    assert played(found) == played({chunk: play_chunk(chunk) for chunk in wanted})
    again = play(wanted, journal, partial(on_ray, address=cluster.address))
    assert played(again) == played(found) and len([*(tmp_path / "records").iterdir()]) == 48


def test_the_command_gives_the_results_of_the_local_one(cluster: Any, tmp_path: Path) -> None:
    def run(folder: str, *options: str) -> Path:
        command = [sys.executable, "-m", "euphoria_agents", "tournament", "--players", "2", "3", "--games", "60"]
        done = subprocess.run([*command, "--out", str(tmp_path / folder), *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return tmp_path / folder / "results.json"

    local, far = run("local", "--processes", "1"), run("far", "--ray", "--ray-address", cluster.address)
    assert local.read_bytes() == far.read_bytes()


# ------------------------------------------------------------------------------------------------------- RLlib


def test_the_environment_for_rllib() -> None:
    """One who must decide observes; in the end all do; whatever they may do is legal."""
    from euphoria_agents.training.rllib import EuphoriaMultiAgentEnv

    env = EuphoriaMultiAgentEnv({"num_players": 3, "reward": "stars", "max_turns": 60})
    rng, returns, acting = np.random.default_rng(0), dict.fromkeys(env.possible_agents, 0.0), set()
    seen, _ = env.reset(seed=1)
    ended = False
    while not ended:
        ((agent, view),) = seen.items()
        acting.add(agent)
        assert env.get_observation_space(agent).contains(view)
        with pytest.raises(ValueError, match="illegal"):
            env.step({agent: int(view["action_mask"].argmin())})
        seen, rewards, terminated, truncated, _ = env.step({agent: int(rng.choice(view["action_mask"].nonzero()[0]))})
        returns = {name: returns[name] + rewards[name] for name in returns}
        ended = terminated["__all__"] or truncated["__all__"]
    assert acting == set(seen) == set(env.possible_agents)
    assert truncated["__all__"] and not any(view["action_mask"].any() for view in seen.values())
    assert sum(returns.values()) == pytest.approx(0, abs=1e-5)
    assert env.reset(seed=1)[0].keys() == {"player_0"}


def test_training_learns_masked_and_goes_on_where_it_was(tmp_path: Path) -> None:
    def run(*options: str, status: int = 0) -> str:
        command = [*TRAIN, "--run", str(tmp_path / "run"), "--decisions", "200"]
        small = ["--batch", "100", "--epochs", "1", "--hidden", "16", "--rating-games", "4", "--max-turns", "30"]
        done = subprocess.run(
            [*command, *small, *options], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PATHS}
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    assert "against 1 weights" in run("--updates", "1")
    first = json.loads((tmp_path / "run" / "latest.json").read_text())
    run("--updates", "2")
    second = json.loads((tmp_path / "run" / "latest.json").read_text())
    assert (first["updates"], second["updates"]) == (1, 2) and first["options"] == second["options"]
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == ["latest.json", second["folder"]]
    assert "begun with another seed" in run("--updates", "3", "--seed", "7", status=2)
    (tmp_path / "run" / "latest.json").write_text("{}")
    assert "does not name a checkpoint" in run(status=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--players 7", "num_players must be"),
        ("--reward money", "reward must be win, rank or stars"),
        ("--updates 0", "updates must be at least 1"),
        ("--ray-address 127.0.0.1:1", "no Ray cluster at '127.0.0.1:1'"),
    ],
)
def test_bad_input_is_told_in_a_line(options: str, message: str, tmp_path: Path) -> None:
    command = [*TRAIN, "--run", str(tmp_path), *options.split()]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PATHS})
    assert done.returncode == 2 and done.stderr.startswith("error: ") and message in done.stderr
    assert done.stderr.count("\n") == 1
