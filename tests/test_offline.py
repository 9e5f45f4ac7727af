"""scripts/offline.py: players from a data set alone, a small one here."""

from __future__ import annotations

import functools
import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow")

import torch

from euphoria_agents import load as load_agent
from euphoria_agents.data import load
from euphoria_agents.data.collecting import collect, parts_of
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.network.checkpoint import read_checkpoint
from euphoria_env import Rules
from tests.tools.scripts import SCRIPTS, call

SMALL = ("--epochs", 8, "--batch", 64, "--width", 32, "--learning-rate", 0.01)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of short games."""
    path = tmp_path_factory.mktemp("data") / "set"
    parts = parts_of(["weights", "random"], Rules(num_players=2, stars_to_win=2), 12, 1, "win")
    collect(path, parts, functools.partial(in_processes, processes=1))
    return path


def test_it_learns_moves_and_values(folder: Path, tmp_path: Path) -> None:
    said = call("offline", "--data", folder, *SMALL, "--out", tmp_path / "bc.safetensors")
    lines = [line.split() for line in said.splitlines()]
    losses, errors = [[float(line[k].strip(",")) for line in lines] for k in (-7, -1)]
    assert losses[-1] < losses[0] - 0.1 and errors[-1] < errors[0] - 0.1, said
    player = load_agent(f"ppo:{tmp_path / 'bc.safetensors'}")
    game = next(iter(load(folder)))
    chances = player.log_chances(game["observation"], game["action_mask"])  # type: ignore[attr-defined]
    uniform = -np.log(game["action_mask"].sum(1))
    assert chances[np.arange(len(chances)), game["action"]].mean() > uniform.mean() + 0.1, "better than guessing"


def test_equal_seeds_give_equal_players(folder: Path, tmp_path: Path) -> None:
    found = []
    for name, method, seed in (("a", "awr", 1), ("b", "awr", 1), ("c", "awr", 2), ("d", "bc", 1)):
        path = tmp_path / f"{name}.safetensors"
        call("offline", "--data", folder, *SMALL, "--method", method, "--seed", seed, "--out", path)
        found.append(read_checkpoint(path)[1]["policy.0.weight"])
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2]) and not np.array_equal(found[0], found[3])


@pytest.mark.parametrize("max_turns", [20, 2000])
def test_returns_go_on_where_a_game_was_cut_off(max_turns: int, tmp_path: Path) -> None:
    rules = Rules(num_players=2, stars_to_win=3, max_turns=max_turns)
    collect(tmp_path, parts_of(["weights"], rules, 5, 1, "stars"), functools.partial(in_processes, processes=1))
    script, data = runpy.run_path(str(SCRIPTS / "offline.py")), load(tmp_path)
    network = script["Network"](script["make_features"](2), 8)
    returns = script["Returns"](data)
    for game in data:
        found = returns.of(game, network).numpy()
        for t, seat in enumerate(game["seat"]):
            later = np.flatnonzero((game["seat"] == seat) & (game["index"] >= t))
            expected = game["reward"][later].sum()
            if max_turns == 20:
                assert game["truncated"][later[-1]]
                expected += network.values(torch.from_numpy(game["final_observation"][later[-1:]])).item()
            assert found[t] == pytest.approx(expected, abs=1e-5)
