"""scripts/train_single_file.py, for some thousand decisions and with small networks."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from euphoria_agents import load, play_match
from euphoria_env import Batch, Rules
from tests.tools.scripts import run

SCRIPT = Path(__file__).parents[1] / "scripts" / "train_single_file.py"
SMALL = {"decisions": 3000, "envs": 32, "rollout": 16, "batch": 128, "epochs": 1, "width": 16, "save_every": 2, "max_turns": 60}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[SCRIPT.stem] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


def arrays(path: Path) -> dict[str, np.ndarray]:
    """The content of a player's file."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def test_equal_seeds_train_equal_players_that_play(script: ModuleType, tmp_path: Path) -> None:
    paths = [tmp_path / "deep" / f"{k}.npz" for k in range(3)]
    shorter = {**SMALL, "decisions": 1500}  # past selves play in the last of three updates
    for path, seed in zip(paths, (5, 5, 6), strict=True):
        script.train(script.Arguments(out=path, seed=seed, **shorter))
    one, same, other = map(arrays, paths)
    assert one.keys() == same.keys() and all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one["policy.weight"], other["policy.weight"])
    left = {f"{k}.{kind}" for k in range(3) for kind in ("csv", "npz")}
    assert {file.name for file in paths[0].parent.iterdir()} == left, "nothing else is left"
    curve = np.genfromtxt(paths[0].with_suffix(".csv"), delimiter=",", names=True)
    assert curve.dtype.names == ("decisions", "mean_return", "won") and curve["decisions"].tolist() == [1024, 1536]

    player = script.Player(str(paths[0]))
    match = play_match([player, load("random")], 4, Rules(num_players=2, max_turns=60))
    assert match.games == 4 and match.decisions > 100


def test_a_player_makes_legal_moves_and_prefers_what_its_network_does(script: ModuleType) -> None:
    script.torch.manual_seed(0)
    player, rng, batch = script.Player(script.Network(3, 16)), np.random.default_rng(0), Batch(64, Rules(num_players=3), seed=1)
    for _ in range(200):
        moves = player.act_batch(batch.observation, batch.mask, rng)
        assert batch.mask[np.arange(64), moves].all()
        batch.step(moves)
    observation, mask = batch.observation[0].copy(), batch.mask[0].copy()
    observation.flags.writeable = mask.flags.writeable = False
    assert mask[player.act(observation, mask, rng)]

    two = np.flatnonzero(np.ones_like(mask))[[3, 7]]
    with script.torch.no_grad():
        player.network.policy.bias[two[1]] += 20
    mask = np.zeros_like(mask)
    mask[two] = 1
    assert {player.act(observation, mask, rng) for _ in range(20)} == {two[1]}


def test_advantages_follow_their_definition(script: ModuleType) -> None:
    rng, args, torch = np.random.default_rng(0), script.Arguments(gamma=0.9, gae_lambda=0.8), script.torch
    reward, value, done = rng.normal(size=(6, 2)), rng.normal(size=(7, 2)), rng.random((6, 2)) < 0.3
    found = script.estimate_advantages(args, *map(torch.from_numpy, (reward, value[:-1], value[-1], done)))
    for game in range(2):
        for t in range(6):
            expected, weight = 0.0, 1.0
            for k in range(t, 6):
                going = not done[k, game]
                expected += weight * (reward[k, game] + 0.9 * value[k + 1, game] * going - value[k, game])
                weight *= 0.9 * 0.8 * going
            assert float(found[t, game]) == pytest.approx(expected)


def test_the_command_trains_reports_and_rates(tmp_path: Path) -> None:
    options = [text for name, value in SMALL.items() for text in (f"--{name.replace('_', '-')}", value)]
    status, printed, told = run(SCRIPT, "--out", tmp_path / "player.npz", "--rating-games", 2, "--players", 3, *options)
    assert status == 0, told
    lines = printed.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["1,024", "2,048", "3,072"]
    assert lines[3].startswith("against 2 random: ") and lines[4].startswith("against 2 weights: ")
    assert "of 2 games won" in lines[4]
    assert arrays(tmp_path / "player.npz")["players"] == 3


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("players", 7, "players must"),
        ("gamma", float("nan"), "gamma must"),
        ("width", 1, "width must be from 2"),
        ("reward", "fame", "reward must"),
        ("baselines", ["nobody"], "no agent is called 'nobody'"),
    ],
)
def test_a_wrong_argument_is_named(script: ModuleType, tmp_path: Path, name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        script.train(script.Arguments(**{"out": tmp_path / "player.npz", **SMALL, name: value}))


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for arguments, message in (
        (["--envs", "0"], "error: envs must"),
        (["--out", tmp_path / "file" / "player.npz", "--envs", "2"], "error: "),
    ):
        status, _, told = run(SCRIPT, *arguments)
        assert status == 2 and told.startswith(message) and told.count("\n") == 1


def test_only_players_of_this_version_are_read(script: ModuleType, tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.npz", tmp_path / "player.npz"
    script.Network(2, 16).write(whole)
    good = arrays(whole)
    bad = [
        {"layout": good["layout"] + 1},
        {"width": np.array(32)},
        {"players": np.array("two")},
        {"policy.bias": np.zeros(3, np.float32)},
        {"policy.bias": np.array([{}], object)},
    ]
    for changed in bad:
        np.savez(path, **(good | changed))
        with pytest.raises(ValueError, match=r"player\.npz cannot be read as a player"):
            script.Player(path)
    for content in (b"", b"no player", whole.read_bytes()[:-100]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"player\.npz cannot be read as a player"):
            script.Player(path)
    with pytest.raises(ValueError, match="cannot be read as a player"):
        script.Player(tmp_path / "missing.npz")
