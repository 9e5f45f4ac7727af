"""scripts/train_single_file.py, for some thousand decisions and with small networks."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from euphoria_agents import load
from euphoria_env import Batch, Rules
from tests.tools.scripts import SCRIPTS, run

SCRIPT = SCRIPTS / "train_single_file.py"
SMALL = {"decisions": 2000, "games": 32, "steps": 16, "batch": 128, "width": 16, "ratings": 2, "rating_games": 2}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPTS)
        return importlib.import_module(SCRIPT.stem)


def test_equal_seeds_train_equal_players(script: ModuleType, tmp_path: Path) -> None:
    paths = [tmp_path / "deep" / f"{k}.safetensors" for k in range(3)]
    for path, seed in zip(paths, (5, 5, 6), strict=True):
        script.train(script.Options(out=path, seed=seed, **SMALL))
    one, same, other = (path.read_bytes() for path in paths)
    assert one == same != other and len(one) == len(other)
    assert len(list(paths[0].parent.iterdir())) == 6  # a player and a curve each, and nothing beside them


def test_the_file_plays_as_the_network_does(script: ModuleType, tmp_path: Path) -> None:
    options = script.Options(out=tmp_path / "player.safetensors", rating_games=0)
    torch = script.torch
    torch.manual_seed(0)
    network, rng, batch = script.Network(3, 16), np.random.default_rng(0), Batch(16, Rules(num_players=3), seed=1)
    with torch.no_grad():
        network.policy[0].weight *= 100
    script.save_and_rate(network, options, batch.rules, 0)
    player = load(f"ppo:{options.out}")
    for _ in range(150):
        with torch.no_grad():
            expected = network(torch.tensor(batch.observation), torch.tensor(batch.mask))[0].numpy()
        found = player.log_chances(batch.observation, batch.mask)  # type: ignore[attr-defined]
        assert found[batch.mask] == pytest.approx(expected[batch.mask], abs=1e-3) and (expected[~batch.mask] < -20).all()
        batch.step(batch.sample(rng))


def test_the_loss_is_that_of_the_paper(script: ModuleType) -> None:
    learner = script.Learner(script.Options(games=64, width=16, entropy=0.25), Rules(num_players=2))
    torch, rng, batch, rows = script.torch, np.random.default_rng(0), learner.batch, np.arange(64)
    seen, mask, move = (torch.tensor(array) for array in (batch.observation, batch.mask, batch.mask.argmax(1)))
    old, advantage, target = (torch.tensor(rng.normal(size=64) / 3, dtype=torch.float32) for _ in range(3))
    with torch.no_grad():
        log_probs, value = (tensor.double().numpy() for tensor in learner.network(seen, mask))
        found = float(learner.loss(seen, mask, move, old - np.log(4), advantage, target))  # four recruits to choose from
    ratio, gain = np.exp(log_probs[rows, move] - old.numpy() + np.log(4)), advantage.numpy()
    assert (ratio < 0.8).any() and (ratio > 1.2).any()
    surrogate = np.minimum(ratio * gain, np.clip(ratio, 0.8, 1.2) * gain)
    legal = np.where(mask, log_probs, 0)
    entropy = -(np.exp(legal) * legal).sum(1)
    assert found == pytest.approx(float(((value - target.numpy()) ** 2 / 2 - surrogate - 0.25 * entropy).mean()), abs=1e-5)


def test_the_command_trains_rates_and_keeps_the_curve(tmp_path: Path) -> None:
    options = [text for name, value in SMALL.items() for text in (f"--{name.replace('_', '-')}", value)]
    status, printed, told = run(SCRIPT, "--out", tmp_path / "player.safetensors", "--players", 3, *options)
    assert status == 0, told
    assert [line.split()[0] for line in printed.splitlines()] == ["1,024", "2,048"]
    with (tmp_path / "player.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["decisions"]) for row in rows] == [1024, 2048] and all(0 <= float(row["won"]) <= 1 for row in rows)
    assert 0 < float(rows[0]["processor_seconds"]) <= float(rows[1]["processor_seconds"])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("players", 7, "error: players: expected int <= 6"),
        ("steps", 1, "error: steps: expected int >= 8"),
        ("gamma", "nan", "error: gamma: expected float"),
        ("reward", "fame", "error: reward must"),
        ("rules", '{"tradin": true}', "error: rules.tradin"),
        ("out", "file/player.safetensors", "error: "),
    ],
)
def test_the_command_refuses_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    given = {**SMALL, "out": "player.safetensors", name: value}
    status, _, told = run(SCRIPT, *(text for key, one in given.items() for text in (f"--{key.replace('_', '-')}", one)))
    assert status == 2 and told.startswith(message) and told.count("\n") == 1, told
    assert not Path("player.safetensors").exists()
