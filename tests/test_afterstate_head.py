"""The afterstate head: it corrects the policy by what each move changes, wherever the game is known."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load
from euphoria_agents.agent_process import AgentProcess
from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint
from euphoria_agents.network.compiled_layers import SETTLED
from euphoria_agents.players.compiled import line_up
from euphoria_agents.players.ppo import PPO, SHIPPED
from euphoria_env import Batch, Game, Rules, afterstates
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.agent_protocol import query
from tests.tools.playing import all_rules
from tests.tools.scripts import call

BASE = {name: one for name, one in read_checkpoint(SHIPPED)[1].items() if not name.startswith("afterstates.")}
WIDTH, HIDDEN = BASE["policy.0.weight"].shape[1], 5
INPUTS = len(afterstates.NAMES) + NUM_ACTIONS + WIDTH


def with_head(spread: float = 1.0) -> dict[str, np.ndarray]:
    """The network that ships with a head drawn at random."""
    rng = np.random.default_rng(0)
    shapes = {"0.weight": (HIDDEN, INPUTS), "0.bias": (HIDDEN,), "1.weight": (1, HIDDEN), "1.bias": (1,)}
    head = {f"afterstates.{name}": rng.normal(0, spread, shape).astype(np.float32) for name, shape in shapes.items()}
    return {**{name: one for name, one in BASE.items() if not name.startswith("outlook.")}, **head}


TENSORS = with_head()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_checkpoint(tmp_path_factory.mktemp("head") / "head.safetensors", TENSORS, {"reward": "win"})


@functools.cache
def positions() -> list[Game]:
    """Positions under all kinds of rules."""
    agent, found = PPO.of(BASE), list[Game]()
    for k, rules in enumerate(list(all_rules())[:12]):
        batch, rng = Batch(3, rules, seed=k), np.random.default_rng(k)
        for _ in range(40 + k):
            batch.step(agent.act_batch(batch.observation, batch.mask, rng))
        found += [batch.game(i) for i in range(3)]
    return found


def formula(game: Game) -> np.ndarray:
    """The log-probabilities of the legal moves, by the plain formula."""
    agent, legal = PPO.of(TENSORS), game.legal_actions()
    alone = agent.log_chances(game.observation(game.player), game.mask())[0, legal].astype(np.float64)
    if alone.max() >= np.log(SETTLED):
        return alone
    x = np.clip(
        (game.observation(game.player)[BASE["features.source"]] - BASE["features.offset"]) * BASE["features.scale"], -1, 1
    )
    for k in range(2):
        x = np.maximum(BASE[f"trunk.{k}.weight"] @ x + BASE[f"trunk.{k}.bias"], 0)
    inputs = np.concatenate([game.afterstates(), np.eye(NUM_ACTIONS)[legal], np.tile(x, (len(legal), 1))], axis=1)
    hidden = np.maximum(inputs @ TENSORS["afterstates.0.weight"].T + TENSORS["afterstates.0.bias"], 0)
    logits = alone + (hidden @ TENSORS["afterstates.1.weight"].T)[:, 0]
    return logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()


def test_it_adds_a_small_network_of_what_each_move_changes_to_the_logits() -> None:
    agent, corrected = PPO.of(TENSORS), 0
    for game in positions():
        found = agent.log_chances_in(game.states)[0]
        assert np.isfinite(found).nonzero()[0].tolist() == game.legal_actions().tolist()
        expected = formula(game)
        assert found[game.legal_actions()] == pytest.approx(expected, abs=1e-3)
        alone = agent.log_chances(game.observation(game.player), game.mask())[0, game.legal_actions()]
        corrected += np.abs(alone - expected).max() > 0.1
    assert 5 < corrected < 36  # in some positions a move is settled


def test_games_that_differ_in_secrets_alone_get_equal_moves() -> None:
    agent = PPO.of(TENSORS)
    for game in positions():
        for seed in range(3):
            assert np.array_equal(
                agent.log_chances_in(game.determinize(game.player, seed).states), agent.log_chances_in(game.states)
            )


def test_it_is_asked_wherever_agents_play(network: Path) -> None:
    """With equal numbers all ways of asking give equal moves; without a game the policy plays alone."""
    agent, base = load(f"ppo:{network}"), PPO.of(BASE)
    games = [game for game in positions() if len(game.legal_actions()) > 1]
    seen, masks = np.stack([game.observation(game.player) for game in games]), np.stack([game.mask() for game in games])

    def deal(k: int) -> Game:
        return games[k].determinize(games[k].player, k)

    def rng() -> np.random.Generator:
        return np.random.default_rng(3)

    moves, _ = query(agent, seen, masks, rng(), deal)
    alone = agent.act_batch(seen, masks, rng())
    assert np.array_equal(alone, base.act_batch(seen, masks, rng())) and (moves != alone).any()
    assert [agent.act(seen[0], masks[0], rng(), deal(0)), agent.act(seen[0], masks[0], rng())] == [
        query(agent, seen[:1], masks[:1], rng(), deal)[0][0], base.act(seen[0], masks[0], rng())
    ]  # fmt: skip
    with AgentProcess(f"ppo:{network}") as process:
        assert np.array_equal(query(process, seen, masks, rng(), deal)[0], moves)
    said = agent.explain(seen[0], masks[0], rng(), games[0])["moves"]
    assert [one["prior"] for one in said] == pytest.approx(np.exp(formula(games[0])).tolist(), abs=1e-3)
    assert line_up([agent]).size == HIDDEN and line_up([base]).size == 0


def test_a_search_has_the_priors_of_the_policy_alone(network: Path) -> None:
    game = next(game for game in positions() if np.exp(formula(game)).max() < 0.5)
    seen, mask = game.observation(game.player), game.mask()
    chances = np.exp(0.3 * PPO.load(network).log_chances(seen, mask)[0, np.flatnonzero(mask)])
    said = load(f"mcts:2:ppo:{network}").explain(seen, mask, np.random.default_rng(0), game)["moves"]
    assert np.allclose([one["prior"] for one in said], chances / chances.sum(), atol=1e-3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"afterstates.0.weight": np.zeros((HIDDEN, INPUTS - 1))}, "the tensors of afterstates.0 are missing or do not fit"),
        ({"afterstates.1.weight": np.zeros((2, HIDDEN)), "afterstates.1.bias": np.zeros(2)}, "has two layers and one output"),
        ({"afterstates.1.weight": np.full((1, HIDDEN), np.nan)}, "the tensors of afterstates.1 are not finite"),
        ({"afterstates.2.weight": np.zeros((1, 1)), "afterstates.2.bias": np.zeros(1)}, "has two layers and one output"),
    ],
)
def test_heads_that_do_not_fit_are_refused(changed: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PPO.of({**TENSORS, **{name: array.astype(np.float32) for name, array in changed.items()}})


def test_training_begins_with_a_player_with_or_without_a_head(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from euphoria_agents.network.features import make_features
    from euphoria_agents.training.config import Options
    from euphoria_agents.training.network import Network
    from tests.tools.small_runs import go, options

    start = save_checkpoint(tmp_path / "base.safetensors", BASE, {})
    run = go(options(tmp_path / "run", start=start, trunk=[256, 128], afterstates=HIDDEN), updates=0)
    rows = Game(Rules(num_players=3), 1).states
    found = PPO.of(run.network.tensors())
    assert found.policy.afterstates.out.shape == (HIDDEN,)
    assert np.allclose(found.log_chances_in(rows), PPO.of(BASE).log_chances_in(rows), atol=1e-5)
    start = save_checkpoint(tmp_path / "head.safetensors", TENSORS, {})
    run = go(options(tmp_path / "other", start=start, trunk=[256, 128], afterstates=0), updates=0)
    assert np.allclose(PPO.of(run.network.tensors()).log_chances_in(rows), PPO.of(TENSORS).log_chances_in(rows), atol=1e-4)
    assert go(Options(resume=tmp_path / "other", decisions=900), updates=0).options.afterstates == HIDDEN
    with pytest.raises(ValueError, match="is of another network: afterstates"):
        go(options(tmp_path / "third", start=start, trunk=[256, 128], afterstates=HIDDEN + 1), updates=0)
    made = Network(make_features(), [256, 128], HIDDEN)
    made.load(TENSORS)
    assert np.allclose(PPO.of(made.tensors()).log_chances_in(rows), PPO.of(TENSORS).log_chances_in(rows), atol=1e-4)
    for size, tensors in ((HIDDEN + 1, TENSORS), (0, TENSORS), (HIDDEN, BASE)):
        with pytest.raises(ValueError, match="is of another network: afterstates"), torch.no_grad():
            Network(make_features(), [256, 128], size).load(tensors)


def test_the_script_learns_a_head_from_searches(tmp_path: Path) -> None:
    """It keeps what the searches said, refuses it for another player or other options, and goes on from a head that is there."""
    pytest.importorskip("torch")
    labels, first, second = tmp_path / "labels", tmp_path / "first.safetensors", tmp_path / "second.safetensors"
    base = save_checkpoint(tmp_path / "base.safetensors", BASE, {"reward": "win"})
    small = "--player", base, "--players", 2, "--positions", 1000, "--simulations", 2, "--epochs", 1, "--labels", labels

    def ask(*given: Any, code: int = 0) -> str:
        return call("afterstate_head", *small, *given, code=code)

    assert "with the head: " in ask("--out", first, "--hidden", 4)
    (kept,) = labels.iterdir()
    before = kept.stat().st_mtime_ns
    assert ask("--out", second, "--hidden", 4).replace(second.name, first.name).startswith("with the head: ")
    assert first.read_bytes() == second.read_bytes() and kept.stat().st_mtime_ns == before
    assert PPO.load(first).policy.afterstates.out.shape == (4,)
    assert "has labels of another player or of other options" in ask("--player", first, "--out", second, code=2)
    assert first.read_bytes() == second.read_bytes()
