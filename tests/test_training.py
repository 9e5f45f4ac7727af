"""Checkpoints, the network, the league, and runs that are interrupted and resumed."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from euphoria_agents import load
from euphoria_agents.agent import Agent
from euphoria_agents.training.league import FLOOR, League
from euphoria_env import Batch, Rules, actions, observations

pytest.importorskip("safetensors.numpy")
from euphoria_agents.network import checkpoint  # noqa: E402
from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint  # noqa: E402
from euphoria_agents.players import ppo  # noqa: E402
from euphoria_agents.players.ppo import PPO  # noqa: E402


def positions(n: int, players: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of games under way."""
    batch, rng, weights = Batch(n, Rules(num_players=players), seed=1), np.random.default_rng(0), load("weights")
    for _ in range(60):
        batch.step(weights.act_batch(batch.observation, batch.mask, rng))
    return batch.observation.copy(), batch.mask.copy()


# ------------------------------------------------------------------------------------------------------- checkpoints


def network() -> dict[str, np.ndarray]:
    """Tensors of a small network; some of its features are -1 where the observation is 0."""
    rng = np.random.default_rng(0)
    f = 1500
    tensors = {
        "features.source": np.sort(rng.integers(observations.OBS_SIZE, size=f)),
        "features.offset": rng.choice([0.0, 0.5, 1.5], f),
        "features.scale": rng.choice([0.2, 2.0], f),
    }
    shapes = {"trunk.0": (8, f), "policy.0": (6, 8), "policy.1": (actions.NUM_ACTIONS, 6), "value.0": (1, 8)}
    for name, shape in shapes.items():
        tensors |= {f"{name}.weight": rng.normal(size=shape), f"{name}.bias": rng.normal(size=shape[0])}
    return tensors


def formula(tensors: dict[str, np.ndarray], seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The probabilities of all moves, as the head of `network.checkpoint` says."""
    x = (seen[:, tensors["features.source"]] - tensors["features.offset"]) * tensors["features.scale"]
    x = np.clip(x, -1, 1)
    layers = [f"{part}.{k}" for part in ("trunk", "policy") for k in range(5) if f"{part}.{k}.weight" in tensors]
    for name in layers:
        x = x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]
        x = x if name == layers[-1] else np.maximum(x, 0)
    chances = np.where(mask, np.exp(x - x.max(axis=1, keepdims=True)), 0)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def test_a_checkpoint_plays_what_its_tensors_say(tmp_path: Path) -> None:
    tensors = network()
    path = save_checkpoint(tmp_path / "new" / "a.safetensors", tensors, {"reward": "win"})
    assert [file.name for file in path.parent.iterdir()] == ["a.safetensors"]
    header = read_checkpoint(path)[0]
    assert header["training"] == {"reward": "win"} and header["network"] == {"trunk": 1, "policy": 2, "value": 1, "outlook": 0}
    agent = load(f"ppo:{path}")
    assert isinstance(agent, PPO)
    seen, mask = positions(200)
    expected = formula(tensors, seen, mask)
    assert np.exp(agent.log_chances(seen, mask)) == pytest.approx(expected, abs=1e-4)
    moves = agent.act_batch(np.repeat(seen[:1], 4000, 0), np.repeat(mask[:1], 4000, 0), np.random.default_rng(0))
    counts = np.bincount(moves, minlength=actions.NUM_ACTIONS) / 4000
    assert mask[0].sum() > 1 and counts == pytest.approx(expected[0], abs=0.03)
    assert (
        agent.act(seen[0], mask[0], np.random.default_rng(3)) == agent.act_batch(seen[:1], mask[:1], np.random.default_rng(3))[0]
    )
    with pytest.raises(ValueError, match="no legal move"):
        agent.act(seen[0], np.zeros_like(mask[0]), np.random.default_rng(0))


def test_damaged_and_foreign_checkpoints_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from safetensors.numpy import save_file

    path = save_checkpoint(tmp_path / "a.safetensors", network(), {})
    whole = path.read_bytes()
    for damaged in (b"", whole[:4], whole[: len(whole) // 2], whole[:-1], pickle.dumps({"a": 1}), b"x" * 100):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="cannot be read as a checkpoint"):
            load(f"ppo:{path}")
    with pytest.raises(ValueError, match="cannot be read"):
        load(f"ppo:{tmp_path / 'missing'}")
    save_file({"a": np.zeros(3)}, path)
    with pytest.raises(ValueError, match=f"is no checkpoint of version {checkpoint.CHECKPOINT_VERSION}"):
        load(f"ppo:{path}")
    path.write_bytes(whole)
    with monkeypatch.context() as other:
        other.setattr(checkpoint.observations, "OBS_SIZE", 17)
        with pytest.raises(ValueError, match="another version of the environment: its observations is"):
            load(f"ppo:{path}")
    with monkeypatch.context() as other:
        other.setattr(checkpoint, "CHECKPOINT_VERSION", 4)
        with pytest.raises(ValueError, match="is a checkpoint of version 3, older than 4"):
            load(f"ppo:{path}")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("features.source", np.zeros(3), "features"),
        ("features.source", np.full(1500, observations.OBS_SIZE), "must ascend"),
        ("features.source", np.arange(1500)[::-1] % 7, "must ascend"),
        ("features.scale", np.full(1500, np.inf), "not finite"),
        ("policy.0.weight", np.zeros((6, 9)), "policy.0"),
        ("policy.0.bias", np.zeros(5), "policy.0"),
        ("trunk.0.bias", np.full(8, np.nan), "not finite"),
        ("policy.1.weight", np.zeros((6, 6)), "policy.1"),
        ("value.0.weight", np.zeros((2, 8)), "value.0"),
    ],
)
def test_tensors_that_do_not_fit(tmp_path: Path, name: str, value: np.ndarray, message: str) -> None:
    path = save_checkpoint(tmp_path / "a.safetensors", {**network(), name: value}, {})
    with pytest.raises(ValueError, match=message):
        load(f"ppo:{path}")


def test_the_checkpoint_that_ships_is_named_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ppo, "SHIPPED", tmp_path / "a.safetensors")
    with pytest.raises(ValueError, match="no checkpoint ships"):
        load("ppo")
    save_checkpoint(ppo.SHIPPED, network(), {})
    assert isinstance(load("ppo"), PPO)


def test_without_safetensors_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError, match=r"trained players need safetensors: pip install 'euphoria-env\[play\]'"):
        load("ppo")


# ------------------------------------------------------------------------------------------------------- the league


def league(newest: float = 0.4, older: float = 0.4) -> League:
    return League({"random": load("random"), "weights": load("weights")}, 3, newest, older)


def test_the_shares_of_the_league() -> None:
    one = league()
    assert one.chances() == [0.5, 0.5]  # nobody else is there yet
    selves: list[Agent] = [load("random") for _ in range(5)]
    one.add("0", selves[0])
    assert one.chances() == pytest.approx([1 / 6, 1 / 6, 2 / 3])  # baselines 0.2 and newest 0.4, in proportion
    one.add("1", selves[1])
    assert one.chances() == pytest.approx([0.1, 0.1, 0.4, 0.4])
    one.add("2", selves[2])
    for _ in range(3000):
        one.record("0", 1.0)  # always beaten: hardly met any more
        one.record("1", 0.0)
    chances = dict(zip([member.name for member in one], one.chances(), strict=True))
    assert chances["0"] == pytest.approx(0.4 * FLOOR / (FLOOR + 1 + FLOOR), abs=1e-3)
    assert sum(chances.values()) == pytest.approx(1) and chances["2"] == pytest.approx(0.4)
    one.add("3", selves[3])  # no room: the easiest leaves, never the baselines
    assert [member.name for member in one] == ["random", "weights", "1", "2", "3"]
    one.record("0", 1.0)  # a game of this member may still end
    again = league()
    again.restore(one.state(), {member.name: member.agent for member in one})
    assert again.members == one.members and again.chances() == one.chances()


@pytest.mark.parametrize(("newest", "older"), [(0.8, 0.2), (0.9, 0.1), (1.0, 0.0), (0.0, 1.0)])
def test_shares_that_leave_nothing_to_the_baselines(newest: float, older: float) -> None:
    one = league(newest, older)
    for k in range(3):
        chances = one.chances()
        assert min(chances) >= 0 and sum(chances) == pytest.approx(1)
        one.add(str(k), load("random"))
    assert one.chances()[:2] == [0, 0]


def test_a_game_counts_against_everybody_in_it() -> None:
    one = league()
    one.record_game(1, [2, 2, 1, 4], ["random", "random", "weights", "random"])
    scores = {member.name: (member.games, member.score) for member in one}
    assert scores["random"] == (2, pytest.approx((0.5 * 2 + 0.5) / 3 * 3 / 4 + 1 / 4))
    assert scores["weights"] == (1, pytest.approx(0.5 * 2 / 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(({}, 3, 0.5, 0.5), "baseline"), (({"a": None}, 0, 0.5, 0.5), "room"), (({"a": None}, 3, 0.7, 0.5), "shares")],
)
def test_leagues_that_cannot_be(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        League(*arguments)


# ------------------------------------------------------------------------------------------------------- the network

pytest.importorskip("sb3_contrib")
from euphoria_agents.training.config import Options  # noqa: E402
from euphoria_agents.training.model import make_envs, make_model  # noqa: E402
from euphoria_agents.training.run import RUN_FORMAT, Run, train  # noqa: E402
from tests.tools.small_runs import arguments, assert_same, go, options, state_of  # noqa: E402


def test_torch_and_the_player_agree(tmp_path: Path) -> None:
    import torch

    run = go(options(tmp_path / "run", rating_games=0))
    policy, agent = run.learner.policy, load(f"ppo:{tmp_path}/run/ppo.safetensors")
    seen, mask = positions(100)
    moves = load("weights").act_batch(seen, mask, np.random.default_rng(0))
    chances = agent.log_chances(seen, mask)
    tensors = torch.from_numpy(seen), torch.from_numpy(moves), torch.from_numpy(mask)
    values, chosen, entropy = policy.evaluate_actions(*tensors)
    assert chosen.detach().numpy() == pytest.approx(chances[np.arange(100), moves], abs=1e-4)
    p = np.exp(chances)
    assert entropy.detach().numpy() == pytest.approx(-np.sum(p * np.where(mask, chances, 0), axis=1), abs=1e-4)
    assert p == pytest.approx(formula(read_checkpoint(tmp_path / "run" / "ppo.safetensors")[1], seen, mask), abs=1e-4)
    drawn, _, their = policy(tensors[0], action_masks=mask)
    assert mask[np.arange(100), drawn.numpy()].all()
    assert their.numpy() == pytest.approx(chances[np.arange(100), drawn.numpy()], abs=1e-4)
    dense = policy.get_distribution(tensors[0], mask).distribution.logits.detach().numpy()
    assert np.where(mask, dense, 0) == pytest.approx(np.where(mask, chances, 0), abs=1e-4)
    other = make_model(run.options, run._envs).policy
    other.load(policy.tensors())
    again = other.evaluate_actions(*tensors)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip((values, chosen, entropy), again, strict=True))
    with pytest.raises(ValueError, match="another network: trunk.1.weight differs"):
        other.load(small_policy("Policy").tensors())
    with pytest.raises(ValueError, match="trunk.0 are missing or do not fit"):
        other.load({**policy.tensors(), "trunk.0.weight": np.zeros((3, 3))})


def test_a_network_of_fewer_features_goes_on() -> None:
    """That of a player of an older version, which looks at less; what it plays stays what it was."""
    import torch

    one, other = small_policy("Policy"), small_policy("Policy")
    tensors = one.tensors()
    kept = np.random.default_rng(0).random(len(tensors["features.source"])) < 0.9
    fewer = {name: tensor[kept] if name.startswith("features.") else tensor for name, tensor in tensors.items()}
    fewer["trunk.0.weight"] = tensors["trunk.0.weight"][:, kept]
    other.load(fewer)
    seen, mask = positions(50)
    found = other.get_distribution(torch.from_numpy(seen), mask).distribution.probs.detach().numpy()
    assert found == pytest.approx(np.exp(PPO.of(fewer).log_chances(seen, mask)), abs=1e-5)
    fewer["features.offset"] = fewer["features.offset"] + 1
    with pytest.raises(ValueError, match="features that this one does not have"):
        other.load(fewer)


def small_policy(kind: str) -> Any:
    """An untrained network, `Policy` or `DensePolicy`, the same every time."""
    import torch
    from gymnasium import spaces

    from euphoria_agents.training import policy
    from euphoria_env.envs.observation_space import observation_box

    torch.manual_seed(0)
    space = observation_box(), spaces.Discrete(actions.NUM_ACTIONS)
    shape = {"features": policy.make_features(True), "trunk": [16], "branch": [12]}
    return getattr(policy, kind)(*space, lambda _: 1e-3, **shape)


def gradients(policy: Any, judged: Any) -> list[Any]:
    """Those of a sum of all that is judged: values, logarithms of probabilities and entropies."""
    import torch

    policy.zero_grad()
    sum(torch.randn(50, generator=torch.manual_seed(k)) @ part.flatten() for k, part in enumerate(judged)).backward()
    found = [parameter.grad.clone() for parameter in policy.parameters()]
    assert all(gradient.abs().max() > 0 for gradient in found)
    return found


@pytest.mark.parametrize("kind", ["Policy", "DensePolicy"])
def test_the_gradients_are_those_of_the_dense_network(kind: str) -> None:
    import torch

    policy = small_policy(kind)
    seen, mask = positions(50)
    moves = torch.from_numpy(load("weights").act_batch(seen, mask, np.random.default_rng(0)))
    legal, features = torch.from_numpy(mask), policy.first.features
    judged = policy.evaluate_actions(torch.from_numpy(seen), moves, legal)
    mine = gradients(policy, judged)
    x = np.clip((seen[:, features.source] - features.offset) * features.scale, -1, 1) - features.rest
    shared = torch.relu(torch.from_numpy(x).float() @ policy.first.weight + policy.first.bias)
    hidden, valued = torch.relu(policy.policy[0](shared)), torch.relu(policy.value[0](shared))
    chances = policy.head(hidden).masked_fill(~legal, -torch.inf).log_softmax(1)
    entropy = -(chances.exp() * chances.masked_fill(~legal, 0)).sum(1)
    expected = policy.value_head(valued), chances.gather(1, moves[:, None])[:, 0], entropy
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(judged, expected, strict=True))
    assert all(torch.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in zip(mine, gradients(policy, expected), strict=True))


def test_the_dense_policy_is_the_sparse_one() -> None:
    import torch

    sparse, dense = small_policy("Policy"), small_policy("DensePolicy")
    with torch.no_grad():
        sparse.first.bias += torch.randn(16)
    dense.load_state_dict(sparse.state_dict())
    assert all(np.array_equal(tensor, dense.tensors()[name]) for name, tensor in sparse.tensors().items())
    seen, mask = positions(50)
    tensors = torch.from_numpy(seen), torch.from_numpy(load("random").act_batch(seen, mask, np.random.default_rng(0)))
    mine, theirs = (policy.evaluate_actions(*tensors, torch.from_numpy(mask)) for policy in (sparse, dense))
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(mine, theirs, strict=True))
    pairs = zip(gradients(sparse, mine), gradients(dense, theirs), strict=True)
    assert all(torch.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in pairs)
    answers = []
    for policy in (sparse, dense):
        torch.manual_seed(1)
        with torch.no_grad():
            answers.append(policy(tensors[0], action_masks=mask))
    assert mask[np.arange(50), answers[1][0]].all() and torch.equal(answers[0][0], answers[1][0])
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(answers[0][1:], answers[1][1:], strict=True))


def test_the_sparse_buffer_gives_the_batches_of_the_dense_one() -> None:
    import torch

    from euphoria_agents.training.buffers import RolloutBuffer, SparseBuffer

    policy = small_policy("Policy")
    sizes = {"buffer_size": 5, "n_envs": 10, "observation_space": policy.observation_space, "action_space": policy.action_space}
    dense, sparse = RolloutBuffer(device="cpu", **sizes), SparseBuffer(features=policy.first.features, device="cpu", **sizes)
    seen, mask = positions(50)
    moves, rng = load("weights").act_batch(seen, mask, np.random.default_rng(0)), np.random.default_rng(0)
    for _ in range(2):  # they can be used again
        for buffer in (dense, sparse):
            buffer.reset()
        for k in range(0, 50, 10):
            rewards, starts, values, chances = rng.random((4, 10))
            for buffer in (dense, sparse):
                tensors = torch.from_numpy(values), torch.from_numpy(chances)
                buffer.add(seen[k : k + 10], moves[k : k + 10], rewards, starts, *tensors, action_masks=mask[k : k + 10])
        batches = []
        for buffer in (dense, sparse):
            np.random.seed(1)
            buffer.compute_returns_and_advantage(torch.ones(10), np.zeros(10))
            batches.append([batch for _ in range(2) for batch in buffer.get(16)])
        assert [len(batch.actions) for batch in batches[1]] == [16, 16, 16, 2] * 2
        for theirs, mine in zip(*batches, strict=True):
            for name in ("actions", "old_values", "old_log_prob", "advantages", "returns"):
                assert torch.equal(getattr(mine, name).flatten(), getattr(theirs, name).flatten()), name
            judged = [
                policy.evaluate_actions(batch.observations, batch.actions.flatten(), batch.action_masks)
                for batch in (theirs, mine)
            ]
            assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*judged, strict=True))


def test_an_update_is_that_of_sb3_contrib() -> None:
    import torch
    from sb3_contrib import MaskablePPO

    from euphoria_agents.training.learner import Learner
    from euphoria_env.envs.sb3 import EuphoriaVecEnv

    torch.set_num_threads(1)
    found = []
    for kind in (MaskablePPO, Learner):
        shape = {"net_arch": [8], "optimizer_kwargs": {"eps": 1e-2}}  # so that no rounding of a small gradient is a whole step
        sizes = {"n_steps": 12, "batch_size": 20, "n_epochs": 3, "ent_coef": 0.01, "clip_range": 0.01, "learning_rate": 1e-2}
        model = kind("MlpPolicy", EuphoriaVecEnv(5, "random", max_turns=20), seed=3, device="cpu", policy_kwargs=shape, **sizes)
        model.learn(120)
        found.append((model.policy.state_dict(), dict(model.logger.name_to_value)))
    (theirs, said), (mine, say) = found
    del said["train/loss"], say["train/loss"]  # theirs is that of the last batch, ours the mean
    assert all(torch.allclose(mine[name], theirs[name], rtol=1e-3, atol=1e-5) for name in theirs)
    assert say == pytest.approx(said, rel=1e-3, abs=1e-5) and say["train/clip_fraction"] > 0


def test_gradients_may_be_averaged(tmp_path: Path) -> None:
    import torch

    chosen = options(tmp_path / "run", decisions=168)
    model = make_model(chosen, make_envs(chosen, [load("random")]))
    before = {name: tensor.clone() for name, tensor in model.policy.state_dict().items()}
    largest = []

    def average(parameters: list[Any]) -> None:
        assert [id(one) for one in parameters] == [id(one) for one in model.policy.parameters()]
        largest.append(max(float(one.grad.abs().max()) for one in parameters))
        for one in parameters:
            one.grad.zero_()

    model.average = average
    model.learn(168)
    assert len(largest) == 2 * 3 and min(largest) > 0  # 2 epochs of 168 decisions, 64 at a time
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.policy.state_dict().items())


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "meta", ""])
def test_a_device_that_is_not_here(device: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"device must be one that is here \(cpu.*\), not '{device}'"):
        go(options(tmp_path / "run", device=device))


def test_a_card_trains_the_dense_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the processor, which stands for the card."""
    from euphoria_agents.training import model as made

    monkeypatch.setattr(made, "devices", lambda: ["cpu", "cpu:0"])
    chosen = options(tmp_path / "run", device="cpu:0")
    model = make_model(chosen, make_envs(chosen, [load("random")]))
    before = model.policy.tensors()
    model.learn(168)
    after = model.policy.tensors()
    assert isinstance(model.policy, made.DensePolicy)
    assert all(np.array_equal(before[name], after[name]) == name.startswith("features.") for name in before)


# ------------------------------------------------------------------------------------------------------- runs


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four updates without interruption."""
    folder = tmp_path_factory.mktemp("straight") / "run"
    go(options(folder))
    return folder


def test_a_run_leaves_what_it_promises(straight: Path) -> None:
    facts, _ = state_of(straight)
    assert {path.name for path in straight.iterdir()} == {
        "curves.png", "league", "ppo.safetensors", "ratings.json", "state.safetensors", "tensorboard"
    }  # fmt: skip
    assert (straight / "curves.png").read_bytes().startswith(b"\x89PNG")
    rated = Counter(
        (one["decisions"], one["players"], one["against"]) for one in json.loads((straight / "ratings.json").read_text())
    )
    last = facts["decisions"]
    assert set(rated) == {(n, 2, name) for n in (0, last * 3 // 4, last) for name in ("random", "weights")}
    assert [member["name"] for member in facts["league"]][:2] == ["random", "weights"]
    header = read_checkpoint(straight / "ppo.safetensors")[0]
    assert header["training"]["decisions_learnt"] == last and header["training"]["reward"] == "stars"


@pytest.mark.parametrize(("decisions", "rates"), [(4 * 168, [1, 0.75, 0.5, 0.25]), (3 * 168 - 1, [1, 2 / 3, 1 / 3]), (1, [1])])
def test_the_learning_rate_goes_down_and_stays_above_0(decisions: int, rates: list[float], tmp_path: Path) -> None:
    chosen = options(tmp_path / "run", decisions=decisions)
    model = make_model(chosen, make_envs(chosen, [load("random")]))
    assert model.n_steps * model.n_envs == 168
    # As Stable-Baselines3 counts: after the decisions of an update.
    left = [1 - 168 * (k + 1) / decisions for k in range(len(rates))]
    assert [model.lr_schedule(one) / chosen.learning_rate for one in left] == pytest.approx(rates, abs=2e-3)


def test_a_resumed_run_is_the_one_that_was_not_interrupted(straight: Path, tmp_path: Path) -> None:
    go(options(tmp_path / "run"), updates=2)
    assert state_of(tmp_path / "run")[0]["decisions"] == 2 * 21 * 8
    np.random.seed(99)  # whatever else happened to the generators meanwhile
    go(Options(resume=tmp_path / "run"))
    assert_same(state_of(tmp_path / "run"), state_of(straight))


def test_a_finished_run_says_so_and_goes_on_with_more_decisions(straight: Path, tmp_path: Path) -> None:
    run, output = tmp_path / "run", io.StringIO()
    shutil.copytree(straight, run)
    train(Options(resume=run), Console(file=output, width=200))
    assert f"has made its 672 decisions, and nothing is left to do: --resume {run} --decisions N" in output.getvalue()
    assert_same(state_of(run), state_of(straight))
    with pytest.raises(ValueError, match="decisions: the run in .* has made 672 already, more than 600"):
        train(Options(resume=run, decisions=600), Console(quiet=True))
    trained = train(Options(resume=run, decisions=6 * 168), Console(quiet=True))
    assert (trained.decisions, trained.update) == (6 * 168, 6)
    facts, _ = state_of(run)
    assert {one["decisions"] for one in facts["ratings"]["results"]} == {0, 504, 672, 1008}
    assert checkpoint.read_tensors(run / "state.safetensors", RUN_FORMAT)[0]["options"]["decisions"] == 6 * 168


def test_a_killed_run_loses_no_more_than_since_its_last_save(straight: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "euphoria_agents", "train", *arguments(options(run))]
    trainer = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    while trainer.poll() is None and not (run / "state.safetensors").exists():
        time.sleep(0.005)
    trainer.send_signal(signal.SIGKILL)
    trainer.wait()
    assert trainer.returncode == -signal.SIGKILL
    assert state_of(run)[0]["decisions"] < options(run).decisions
    go(Options(resume=run))
    assert_same(state_of(run), state_of(straight))


def test_ctrl_c_ends_the_update_and_saves(straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = iter(range(1000))
    on_step = Run._on_step

    def interrupted(self: Any) -> bool:
        if next(steps) == 11:  # in the middle of the second update
            signal.raise_signal(signal.SIGINT)
        return bool(on_step(self))

    monkeypatch.setattr(Run, "_on_step", interrupted)
    go(options(tmp_path / "run"))
    monkeypatch.undo()
    assert state_of(tmp_path / "run")[0]["decisions"] == 2 * 21 * 8
    go(Options(resume=tmp_path / "run"))
    assert_same(state_of(tmp_path / "run"), state_of(straight))


def test_a_second_ctrl_c_stops_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = iter(range(1000))
    on_step = Run._on_step

    def interrupted(self: Any) -> bool:
        if next(steps) in (9, 11):  # in the middle of the second update
            signal.raise_signal(signal.SIGINT)
        return bool(on_step(self))

    monkeypatch.setattr(Run, "_on_step", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        go(options(tmp_path / "run"))
    assert state_of(tmp_path / "run")[0]["decisions"] == 21 * 8
    assert next(steps) == 12 and signal.getsignal(signal.SIGINT) is before


def test_a_run_may_begin_with_the_network_of_another(straight: Path, tmp_path: Path) -> None:
    start = tmp_path / "start.safetensors"
    start.write_bytes((straight / "ppo.safetensors").read_bytes())
    run = go(options(tmp_path / "run", start=start, reward="win", rating_games=0), updates=0)
    mine, theirs = run.learner.policy.tensors(), read_checkpoint(start)[1]
    assert all(mine[name] == pytest.approx(theirs[name], abs=1e-5) for name in theirs)
    start.unlink()  # the run has all it needs
    go(Options(resume=tmp_path / "run"), updates=0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"players": [7]}, r"players\[0\]: expected int <= 6"),
        ({"envs": 2}, "envs: must be"),
        ({"reward": "fun"}, "reward must be"),
        ({"baselines": ["nobody"]}, "no agent is called"),
        ({"baselines": []}, "at least one baseline"),
        ({"newest": 0.8}, "shares"),
        ({"newest": 1.5}, "newest"),
        ({"envs": True}, "envs"),
        ({"seed": -1}, "seed"),
        ({"rollout": 10**6}, r"envs \* rollout must be at most"),
        ({"game": {"seat": 0}}, "game.seat"),
        ({"start": Path("missing")}, "cannot be read"),
        ({"resume": Path("missing")}, "cannot be read"),
        ({"trunk": []}, "trunk"),
        ({"decisions": 0}, "decisions: expected int >= 1"),
        ({"players": []}, "players: expected array of length >= 1"),
        ({"same_opponent_prob": 2.0}, "same_opponent_prob"),
        ({"batch": 1}, "batch: expected int >= 2"),
        ({"batch": 167}, "leave no single one of its 168"),
        ({"gamma": float("nan")}, "gamma"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"minutes": 0.0}, "minutes"),
        ({"rating_players": [9]}, "rating_players"),
    ],
)
def test_wrong_options(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        go(options(tmp_path / "run", **changed))


def test_no_run_is_overwritten_and_no_other_file_resumed(straight: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is a run in"):
        go(options(straight))
    (tmp_path / "state.safetensors").write_bytes((straight / "ppo.safetensors").read_bytes())
    with pytest.raises(ValueError, match=r"no checkpoint of version \d+ of this project .euphoria-run"):
        go(Options(resume=tmp_path))


# ------------------------------------------------------------------------------------------ a run that somebody else made


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of one update against an agent of one's own, in the working folder; importing the agent leaves a trace."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    (tmp_path / "my_baselines.py").write_text(
        "from pathlib import Path\n"
        "Path('trace').touch()\n"
        "class Mine:\n"
        "    def act(self, observation, mask, rng, game=None):\n"
        "        return int(mask.argmax())\n"
    )
    go(options(Path("run"), baselines=["my_baselines:Mine"], rating_games=0), updates=1)
    monkeypatch.delitem(sys.modules, "my_baselines")
    Path("trace").unlink()
    return tmp_path / "run"


def test_agents_from_elsewhere_must_be_named_again(mine: Path) -> None:
    with pytest.raises(ValueError, match=r"'my_baselines:Mine' is not built in.*--baselines my_baselines:Mine"):
        go(Options(resume=mine))
    assert not Path("trace").exists(), "nothing of it was run"
    go(Options(resume=mine, baselines=["my_baselines:Mine"]), updates=2)
    assert Path("trace").exists()


def forge(run: Path, changed_arrays: dict[str, Any] | None = None, **changed: Any) -> None:
    """Changes what the file of a run says; an array that is None is left out."""
    facts, arrays = checkpoint.read_tensors(run / "state.safetensors", RUN_FORMAT)
    arrays = {name: array for name, array in {**arrays, **(changed_arrays or {})}.items() if array is not None}
    checkpoint.write_tensors(run / "state.safetensors", RUN_FORMAT, arrays, {**facts, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"league": [{"name": "../../secret", "past": True, "score": 0.5, "games": 0}]}, "no past self is called"),
        ({"league": [{}]}, "is damaged"),
        ({"options": {"decisions": "many"}}, "is damaged"),
        ({"options": {"baselines": ["ppo:secret.safetensors"]}}, "is not built in, or names a file"),
        ({"options": None}, "is damaged"),
    ],
)
def test_forged_runs_open_nothing(straight: Path, tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(straight, run)
    forge(run, **changed)
    with pytest.raises(ValueError, match=message):
        go(Options(resume=run))


def small(array: np.ndarray, value: float, kind: Any = None) -> np.ndarray:
    """The array with another first value, or of another type."""
    array = array.astype(kind or array.dtype)
    array.flat[0] = value
    return array


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("policy.value.0.weight", None, "policy.value.0.weight must be .*, but is missing"),
        ("policy.value.0.weight", lambda a: a[:, :1], "policy.value.0.weight must be .*, not float32 of shape"),
        ("policy.head.bias", lambda a: small(a, np.nan), "policy.head.bias must be finite"),
        ("policy.first.weight", lambda a: small(a, 3e38), "the tensors of trunk.0 are so great"),
        ("optimizer.0.exp_avg", None, "optimizer.0.exp_avg must be .*, but is missing"),
        ("optimizer.0.exp_avg_sq", lambda a: small(a, -1), "optimizer.0.exp_avg_sq must be finite numbers from 0"),
        ("optimizer.0.step", lambda a: small(a, 0), "optimizer.0.step must be finite numbers from 1"),
        ("worker.0.torch", lambda a: np.zeros_like(a), "torch: is no state of its generator"),
        ("worker.0.numpy.position", lambda a: small(a, 625), "numpy.position must be finite numbers from 0 to 624"),
        ("worker.0.starts", lambda a: a.astype(np.int8), "starts must be bool .*, not int8"),
        ("worker.0.games.0.seats", lambda a: small(a, 1 - a.flat[0]), "worker.0.games.0: seats: some games do not wait"),
        ("worker.0.games.0.seats", lambda a: small(a, 2), "worker.0.games.0: seats must be finite numbers from 0 to 1"),
        ("worker.0.games.1.sitting", lambda a: small(a, -1), "worker.0.games.1: sitting must be"),
        ("worker.0.games.1.next", lambda a: small(a, 99), "worker.0.games.1: next must be"),
        ("worker.0.games.0.chances", lambda a: small(a, np.nan), "worker.0.games.0: chances must be"),
        ("worker.0.games.0.chances", lambda a: a / 2, "worker.0.games.0: chances: do not add up to 1"),
        ("worker.0.games.0.same_opponent_prob", lambda a: small(a, np.nan), "worker.0.games.0: same_opponent_prob must be"),
        ("worker.0.games.0.returns", lambda a: small(a, np.inf), "worker.0.games.0: returns must be"),
        ("worker.0.games.0.lengths", lambda a: small(a, -1), "worker.0.games.0: lengths must be"),
        ("worker.0.games.0.episodes", lambda a: small(a, 2**63 - 1), "worker.0.games.0: the state must count the episodes"),
        ("worker.0.games.0.games", lambda a: a[:1], "options.envs"),
    ],
)
def test_arrays_of_a_run_that_cannot_be(straight: Path, tmp_path: Path, name: str, change: Any, message: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(straight, run)
    array = checkpoint.read_tensors(run / "state.safetensors", RUN_FORMAT)[1][name]
    forge(run, {name: None if change is None else change(array)})
    with pytest.raises(ValueError, match=f"^{run / 'state.safetensors'} is damaged, or of another kind: .*{message}"):
        go(Options(resume=run))


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("decisions", lambda v: v + 1, "decisions: .* are not those of"),
        ("decisions", lambda v: True, "decisions: expected int, got bool"),
        ("seconds", lambda v: float("nan"), "seconds: expected float"),
        ("workers", lambda v: [], "workers: must have 1 entries"),
        ("workers", lambda v: [{**v[0], "generators": v[0]["generators"][:1]}], r"workers\[0\].generators: must have 2 entries"),
        ("workers", lambda v: [{**v[0], "generators": [{}, {}]}], "generator.bit_generator"),
        ("workers", lambda v: [{**v[0], "opponents": []}], r"workers\[0\].generators: must have 0 entries"),
        ("workers", lambda v: [{"generators": [], "opponents": []}], r"workers\[0\].opponents: must have 2 entries"),
        (
            "workers",
            lambda v: [{**v[0], "opponents": [["random"], [["random"]]]}],
            r"workers\[0\].opponents\[1\]\[0\]: expected str",
        ),
        ("league", lambda v: v[1:], "league: must be random, weights"),
        ("league", lambda v: [*v, v[-1]], "league: must be random, weights"),
        ("league", lambda v: [{**v[0], "score": float("nan")}, *v[1:]], r"league\[0\].score: expected float"),
        ("ratings", lambda v: v | {"results": [{**v["results"][0], "games": 0}]}, r"results\[0\].games: expected int >= 1"),
        ("ratings", lambda v: v | {"results": [{**v["results"][0], "against": 1}]}, r"results\[0\].against: expected str"),
        ("ratings", lambda v: v | {"strengths": {"random": [1]}}, r"ratings.strengths\[...\]: expected array of length 2"),
        ("ratings", lambda v: v | {"due": [[1, 2]]}, r"ratings.due\[0\]: expected array of length 3"),
        ("ratings", lambda v: v | {"due": [[1, 2, 0.5]]}, "rating.1: the tensors of features are missing"),
        ("options", lambda v: v | {"envs": 10**5}, "options.envs"),
        ("options", lambda v: v | {"trunk": [2**14] * 50}, "options.trunk"),
        ("options", lambda v: v | {"epochs": True}, "epochs: expected int"),
    ],
)
def test_facts_of_a_run_that_cannot_be(straight: Path, tmp_path: Path, key: str, change: Any, message: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(straight, run)
    forge(run, **{key: change(checkpoint.read_tensors(run / "state.safetensors", RUN_FORMAT)[0][key])})
    with pytest.raises(ValueError, match=f"^{run / 'state.safetensors'} is damaged, or of another kind: .*{message}"):
        go(Options(resume=run))


def test_a_start_of_numbers_beyond_all_measure_is_refused(straight: Path, tmp_path: Path) -> None:
    header, tensors = read_checkpoint(straight / "ppo.safetensors")
    tensors["policy.0.weight"] = np.full_like(tensors["policy.0.weight"], np.nan)
    start = save_checkpoint(tmp_path / "start", tensors, header["training"])
    with pytest.raises(ValueError, match=f"^{start}: the tensors of policy.0 are not finite"):
        go(options(tmp_path / "run", start=start))


def test_a_network_that_diverged_is_not_saved(tmp_path: Path) -> None:
    run = go(options(tmp_path / "run", rating_games=0), updates=1)
    saved = (tmp_path / "run" / "state.safetensors").read_bytes()
    run.learner.policy.head.bias.data[0] = float("nan")
    with pytest.raises(ValueError, match="after update 1: the tensors of policy.1 are not finite"):
        run._between_updates(last=True)
    assert (tmp_path / "run" / "state.safetensors").read_bytes() == saved
