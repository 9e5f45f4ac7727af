"""The value-based baseline: its files play without Tianshou; training needs an environment of its own (requirements-dqn.lock)."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")
pytest.importorskip("rich")

from euphoria_agents import load, play_match  # noqa: E402
from euphoria_agents.benchmark.tasks import TASKS  # noqa: E402
from euphoria_agents.players.ppo import SHIPPED  # noqa: E402
from euphoria_env import Game, Rules  # noqa: E402
from tests.tools.scripts import SCRIPTS, call  # noqa: E402

RULES = Rules(num_players=2, stars_to_win=3)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("train_masked_dqn")


def test_a_file_plays_without_the_library(script: Any, tmp_path: Path) -> None:
    torch.manual_seed(1)
    network, out = script.Network(), tmp_path / "player.safetensors"
    safetensors.save_file(network.state_dict(), out)
    agent = load(f"train_masked_dqn:Player:{out}")
    results = [play_match([agent, load("random")], 4, RULES, seed=1, records=True) for _ in range(2)]
    assert results[0].records == results[1].records and "tianshou" not in sys.modules
    game = Game(RULES, seed=1)
    observation, mask = game.observation(game.player), game.mask()
    values = network(observation[None])[0][0].detach().numpy()
    best = max(np.flatnonzero(mask), key=lambda move: values[move])
    assert agent.act(observation, mask, np.random.default_rng(1)) == best


@pytest.mark.parametrize("content", [b"", SHIPPED.read_bytes()], ids=["empty", "another player"])
def test_what_is_no_player_is_refused(script: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(ValueError, match="cannot be read as a player"):
        load(f"train_masked_dqn:Player:{tmp_path / 'other'}")


def test_trainings_are_by_the_rules_and_of_a_million_at_most(script: Any) -> None:
    baseline = importlib.import_module("baselines").BASELINES["tianshou-dqn"]
    assert baseline.tasks == ("duel-v1", "short-v1") and baseline.most == 1_000_000
    for task in map(TASKS.get, baseline.tasks):
        options = script.parse_options(script.Options, arguments=baseline.arguments(task, 1000, 1, Path("runs"))[1:])
        assert (options.decisions, options.seed, (options.players,)) == (1000, 1, task.players)
        assert Rules(num_players=2, **json.loads(options.rules)) == Rules(num_players=2, **task.training)
    assert baseline.is_installed == (importlib.util.find_spec("tianshou") is not None)


def test_without_the_library_it_says_so() -> None:
    if importlib.util.find_spec("tianshou"):
        pytest.skip("it is here")
    assert "tianshou-dqn needs tianshou, which is not installed" in call("baselines", "--algorithms", "tianshou-dqn", code=2)


def test_training_with_equal_seeds_gives_equal_players(script: Any, tmp_path: Path) -> None:
    pytest.importorskip("tianshou")
    files = [tmp_path / name for name in ("a", "b", "c")]
    for file, seed in zip(files, ("1", "1", "2"), strict=True):
        rules = json.dumps({"stars_to_win": 3})
        assert "608 decisions; written" in call(
            "train_masked_dqn", "--out", str(file), "--decisions", "600", "--seed", seed, "--rules", rules
        )
    first, again, other = (file.read_bytes() for file in files)
    assert first == again != other
    assert play_match([load(f"train_masked_dqn:Player:{files[0]}"), load("random")], 4, RULES, seed=1).scores[0].games == 4
