"""Networks that meet cards by their features: all cards share what makes their weights, also cards of no game of training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from euphoria_agents import load
from euphoria_env import actions, cards
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.observations import OBS_SIZE, start_of

torch = pytest.importorskip("torch")
from euphoria_agents.network.checkpoint import read_checkpoint  # noqa: E402
from euphoria_agents.training import kernels  # noqa: E402
from euphoria_agents.training.config import Options  # noqa: E402
from tests.test_training import positions  # noqa: E402
from tests.tools.small_runs import assert_same, go, options, state_of  # noqa: E402

POOL = {"recruits": RECRUIT_NAMES[::2], "markets": TILES[::2]}
RECRUITS, MARKETS = (table / np.maximum(np.abs(table).max(0), 1e-9) for table in cards.features()[:2])
RECRUITS, MARKETS = (table / np.abs(table).sum(1).mean() for table in (RECRUITS, MARKETS))


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four updates, with half of the cards."""
    folder = tmp_path_factory.mktemp("described") / "run"
    go(options(folder, cards="features", game=POOL, save_every=1))
    return folder


def first_layer(tensors: dict[str, np.ndarray], **entries: int) -> np.ndarray:
    """The output of a checkpoint's first layer for an observation with these entries, and zeros."""
    seen = np.zeros(OBS_SIZE)
    for name, value in entries.items():
        field, _, number = name.rpartition("__")
        seen[start_of(field.replace("__", ".")) + int(number)] = value
    x = (seen[tensors["features.source"]] - tensors["features.offset"]) * tensors["features.scale"]
    made: np.ndarray = tensors["trunk.0.weight"] @ np.clip(x, -1, 1)
    return made


def test_the_weights_are_descriptions_times_what_all_share(tmp_path: Path) -> None:
    run = go(options(tmp_path / "run", cards="features", trunk=[64]), updates=0)
    policy, tensors = run.network, run.network.tensors()
    shared = [one.detach().numpy() for one in policy.first.parametrizations.weight[0].shared]
    recruits = np.array([tensors["trunk.0.weight"][:, tensors["features.source"] == start_of("recruits") + k] for k in range(48)])
    used = np.abs(RECRUITS).max(0) > 0
    assert recruits[:, :, 0] == pytest.approx(RECRUITS[:, used] @ shared[0], abs=1e-5)
    used = np.abs(MARKETS).max(0) > 0
    first = first_layer(tensors, tile__2=1)
    for tile in range(1, len(TILES)):
        difference = first_layer(tensors, tile__2=tile + 1) - first
        assert difference == pytest.approx((MARKETS[tile] - MARKETS[0])[used] @ shared[-4], abs=1e-4)
    logits = policy.head.parametrizations.weight[0].shared[2].detach().numpy()
    rows = [actions.parse(f"choose {name}") for name in TILES]
    assert tensors["policy.0.weight"][rows] == pytest.approx(MARKETS[:, used] @ logits, abs=1e-6)


def test_a_step_of_adam_moves_the_weights_of_cards_as_far_as_others(tmp_path: Path) -> None:
    policy = go(options(tmp_path / "run", cards="features", trunk=[64]), updates=0).network
    before, optimizer = policy.tensors(), torch.optim.Adam(policy.parameters(), lr=1e-3)
    for one in policy.parameters():
        one.grad = torch.ones_like(one)
    optimizer.step()
    moved = before["policy.0.weight"] - policy.tensors()["policy.0.weight"]
    rows = [actions.parse(f"choose {name}") for name in RECRUIT_NAMES]
    assert moved[actions.parse("skip")] == pytest.approx(1e-3, rel=1e-3)
    assert moved[rows].mean() == pytest.approx(1e-3, rel=0.01) and moved[rows].max() < 5e-3


def test_cards_that_were_never_seen_learn_from_the_others(straight: Path) -> None:
    before = read_checkpoint(straight / "league" / "000000.safetensors")[1]
    after = read_checkpoint(straight / "ppo.safetensors")[1]
    unseen = [actions.parse(f"choose {name}") for name in RECRUIT_NAMES[1::2]]
    heads = [name for name in before if name.startswith("policy.")][-2:]
    assert all(np.abs(after[name] - before[name])[unseen].max() > 1e-6 for name in heads)
    for entry in ("recruits__41", "own_recruits__41", "player_1__recruits__41", "markets__15"):
        made = [first_layer(tensors, **{entry: 1}) - first_layer(tensors) for tensors in (before, after)]
        assert np.abs(made[1] - made[0]).max() > 1e-6, entry


def test_the_checkpoint_plays_as_the_network(straight: Path) -> None:
    run = go(Options(resume=straight), updates=0)
    seen, mask = positions(50)
    ends, rows = np.zeros(51, np.int64), np.zeros(seen.size, np.int16)
    kernels.record_observations(seen, run.network.first.begins, ends, rows)
    logits, _ = run.network(torch.from_numpy(ends), torch.from_numpy(rows[: ends[-1]].astype(np.int64)))
    found = logits.masked_fill(torch.from_numpy(~mask), -torch.inf).softmax(1).detach().numpy()
    agent = load(f"ppo:{straight / 'ppo.safetensors'}")
    assert found == pytest.approx(np.exp(agent.log_chances(seen, mask)), abs=1e-5)


def test_a_resumed_run_is_the_one_that_was_not_interrupted(straight: Path, tmp_path: Path) -> None:
    changes = {"cards": "features", "game": POOL, "save_every": 1}
    go(options(tmp_path / "run", **changes), updates=2)
    go(Options(resume=tmp_path / "run"))
    assert_same(state_of(tmp_path / "run"), state_of(straight))


def test_what_cannot_be(straight: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cards must"):
        go(options(tmp_path / "run", cards="colours"))
    with pytest.raises(ValueError, match="a network that meets cards by their features begins untrained"):
        go(options(tmp_path / "run", cards="features", start=straight / "ppo.safetensors"))
