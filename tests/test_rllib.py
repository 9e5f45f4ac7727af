"""Beyond one machine: tournaments on a Ray cluster whose workers and nodes die, and the example for RLlib.

Ray needs an environment of its own (requirements-rllib.lock); elsewhere these tests are skipped.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

import euphoria_agents  # noqa: E402
from euphoria_agents.matches.ray_cluster import on_ray  # noqa: E402
from euphoria_agents.matches.work import Journal, WorkUnit, play_unit, play_units, sources  # noqa: E402
from euphoria_env import Game, Rules  # noqa: E402
from tests.tools.commands import PATHS  # noqa: E402
from tests.tools.scripts import SCRIPTS, call  # noqa: E402

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


def chunks(number: int) -> list[WorkUnit]:
    lineup = ("weights", "random")
    return [WorkUnit(lineup, k, 5, 4, Rules(num_players=2), sources(lineup)) for k in range(number)]


def played(found: dict[WorkUnit, Any]) -> dict[WorkUnit, Any]:
    return {chunk: result.played for chunk, result in found.items()}


def die_once(folder: Path, chunk: WorkUnit) -> Any:
    """Plays a chunk; the first worker who tries one with an even number is killed."""
    try:
        (folder / str(chunk.number)).touch(exist_ok=False)
    except FileExistsError:
        return play_unit(chunk)
    if chunk.number % 2 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return play_unit(chunk)


def stick(folder: Path, doomed: str, chunk: WorkUnit) -> Any:
    """Plays a chunk; on one of the nodes it never ends, and on the others it waits for that."""
    if ray.get_runtime_context().get_node_id() == doomed:
        (folder / str(chunk.number)).touch()
        time.sleep(3600)
    while not [*folder.iterdir()]:
        time.sleep(0.05)
    return play_unit(chunk)


def die(chunk: WorkUnit) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_killed_workers_lose_nothing(cluster: Any, tmp_path: Path) -> None:
    wanted = chunks(6)
    found = dict(on_ray(partial(die_once, tmp_path), wanted, cluster.address))
    assert played(found) == played({chunk: play_unit(chunk) for chunk in wanted})
    with pytest.raises(RuntimeError, match=r"on the cluster, WorkUnit.*number=0"):
        list(on_ray(die, wanted[:1], cluster.address))


def test_workers_run_the_code_of_their_parent(cluster: Any) -> None:
    assert dict(on_ray(home_of, [0], cluster.address)) == {0: euphoria_agents.__file__}


def home_of(_: int) -> Any:
    return euphoria_agents.__file__


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
    assert played(found) == played({chunk: play_unit(chunk) for chunk in wanted})
    again = play_units(wanted, journal, partial(on_ray, address=cluster.address))
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


def test_training_plays_legal_moves_and_rates(tmp_path: Path) -> None:
    out = tmp_path / "player.safetensors"
    told = ("--decisions", "1", "--players", "3", "--rules", '{"stars_to_win": 3}', "--rating-games", "6")
    lines = call("train_rllib", "--out", str(out), *told).splitlines()  # an illegal move would be an error
    assert [line.split(", mean")[0] for line in lines if ", mean return " in line] == ["8,192 decisions"]
    assert [line.split(":")[0] for line in lines[-2:]] == ["against 2 random", "against 2 weights"]


def test_a_file_plays_as_the_network_that_was_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch, safetensors = pytest.importorskip("torch"), pytest.importorskip("safetensors.torch")
    monkeypatch.syspath_prepend(SCRIPTS)
    script = importlib.import_module("train_rllib")
    algorithm = script.build(script.Options())
    network = algorithm.get_module()
    safetensors.save_file(network.state_dict(), tmp_path / "player.safetensors")
    player = script.Player(tmp_path / "player.safetensors")
    game = Game(Rules(num_players=2), seed=1)
    seen = script.seen(game.observation(game.player)[None], game.mask()[None])
    batch = {name: torch.from_numpy(array) for name, array in seen.items()}
    with torch.no_grad():
        same = player.network(batch["observations"])[0]
        logits = network.forward_inference({"obs": batch})["action_dist_inputs"][0]
    legal = game.legal_actions()
    assert torch.allclose(logits[legal], same[legal], atol=1e-5)
    algorithm.stop()
