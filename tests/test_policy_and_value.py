"""What a network answers to many positions at once, the same as a PyTorch module, and back to a player."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from euphoria_agents import load, play_match, save_checkpoint
from euphoria_agents.benchmark.tasks import PARTNERS
from euphoria_env import Batch, Game, Rules

torch = pytest.importorskip("torch")

from euphoria_agents.training.policy_and_value import PolicyAndValue  # noqa: E402

RULES = Rules(num_players=3)


def positions(moves: int = 60, n: int = 40) -> Batch:
    batch, rng = Batch(n, RULES, seed=1), np.random.default_rng(1)
    for _ in range(moves):
        batch.step(batch.sample(rng))
    return batch


@pytest.mark.parametrize("spec", ["ppo", PARTNERS["rank"]])
def test_the_module_answers_as_the_player(spec: str, tmp_path: Path) -> None:
    """`rank` has layers of its own for policy and value."""
    batch, ppo = positions(), load(spec)
    logs, values = ppo.policy_and_values(batch.observation, batch.mask)
    assert logs.dtype == values.dtype == np.float32 and values.shape == (40,)
    assert (np.isneginf(logs) == ~batch.mask).all() and np.allclose(np.exp(logs).sum(1), 1, atol=1e-5)
    module = ppo.as_torch()
    with torch.no_grad():
        again, judged = module(torch.from_numpy(batch.observation.copy()), torch.from_numpy(batch.mask.copy()))
    assert np.allclose(again.numpy()[batch.mask], logs[batch.mask], atol=1e-3) and np.allclose(judged.numpy(), values, atol=1e-4)
    assert values.std() > 0.01 and np.abs(values).max() < 1.5

    saved = load(f"ppo:{save_checkpoint(module, tmp_path / 'same.safetensors')}")
    for one, other in zip(saved.policy_and_values(batch.observation, batch.mask), (logs, values), strict=True):
        assert np.array_equal(one, other)
    assert saved.training == ppo.training


def test_a_module_that_has_learned_is_another_player(tmp_path: Path) -> None:
    torch.manual_seed(1)
    batch, module = positions(), PolicyAndValue.new((64,))
    seen, mask = torch.from_numpy(batch.observation.copy()), torch.from_numpy(batch.mask.copy())
    target = mask.float().argmax(1)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    for _ in range(80):
        logs, values = module(seen, mask)
        loss = -logs.gather(1, target[:, None]).mean() + values.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    player = load(f"ppo:{save_checkpoint(module, tmp_path / 'mine.safetensors')}")
    logs, _ = player.policy_and_values(batch.observation, batch.mask)
    assert np.exp(logs[np.arange(40), target.numpy()]).mean() > 0.9
    assert play_match([player, load("random"), load("random")], 3, RULES, seed=1).games == 3
    with pytest.raises(ValueError, match="this network has no win probabilities"):
        player.win_probabilities([Game(RULES, seed=1)])
    with torch.no_grad():
        module.trunk[0].bias[0] = torch.nan
    with pytest.raises(ValueError, match=r"trunk\.0 are not finite"):
        save_checkpoint(module, tmp_path / "mine.safetensors")
    with pytest.raises(TypeError, match="takes a PolicyAndValue, such as"):
        save_checkpoint(torch.nn.Linear(1, 1), tmp_path / "other.safetensors")


def test_win_probabilities() -> None:
    batch, ppo = positions(), load("ppo")
    found = ppo.win_probabilities(batch)
    assert found.dtype == np.float32 and found.shape == (40, 6) and np.allclose(found.sum(1), 1, atol=1e-5)
    assert (found[:, :3] > 0).all() and not found[:, 3:].any()
    games = [batch.game(i) for i in range(40)]
    assert np.array_equal(ppo.win_probabilities(games), found)
    seats = np.arange(40) % 3
    others = ppo.win_probabilities(games, seats)
    dealt = [game.determinize(int(seat), 5) for game, seat in zip(games, seats, strict=True)]
    assert np.array_equal(ppo.win_probabilities(dealt, seats), others), "only what the seat may know counts"
    assert not np.array_equal(others, found)
    thoughts = ppo.explain(games[0].observation(games[0].player), games[0].mask(), np.random.default_rng(1), games[0])
    assert np.allclose(thoughts["seats"], found[0, :3], atol=1e-6)
    assert ppo.win_probabilities([]).shape == (0, 6)
    for wrong in ([3] * 40, [-1] * 40, [0]):
        with pytest.raises(ValueError, match="seats must be a seat of each of the 40 games"):
            ppo.win_probabilities(games, wrong)


def test_wrong_shapes_are_refused() -> None:
    batch, ppo = positions(), load("ppo")
    with pytest.raises(ValueError, match="there are 40 observations, but 39 masks"):
        ppo.policy_and_values(batch.observation, batch.mask[1:])
    with pytest.raises(ValueError, match="must be of shape"):
        ppo.policy_and_values(batch.observation[:, 1:], batch.mask)
    with pytest.raises(ValueError, match="has no legal move"):
        ppo.policy_and_values(batch.observation, np.zeros_like(batch.mask))
