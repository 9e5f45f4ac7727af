"""Checkpoints, the network, the league, and runs that are interrupted and resumed."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from euphoria_agents import load
from euphoria_agents.players.greedy import look_ahead
from euphoria_agents.training.league import FLOOR, League
from euphoria_env import Batch, Game, Rules, actions, observations
from euphoria_env.engine.chance import random_bits
from euphoria_env.engine.tape import empty_tape
from euphoria_env.trajectories import ENDED, OPEN, Trajectories, estimate_advantages

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
    layers = {"trunk": 1, "policy": 2, "value": 1, "outlook": 0, "afterstates": 0}
    assert header["training"] == {"reward": "win"} and header["network"] == layers
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
    with pytest.raises(ValueError, match=f"is not a checkpoint of version {checkpoint.CHECKPOINT_VERSION}"):
        load(f"ppo:{path}")
    path.write_bytes(whole)
    with monkeypatch.context() as other:
        other.setattr(checkpoint, "CHECKPOINT_VERSION", 4)
        with pytest.raises(ValueError, match="is a checkpoint of version 3; this is version 4"):
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


def league(share: float = 0.8) -> League:
    return League(["random", "weights"], share)


def test_the_shares_of_the_league(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("euphoria_agents.training.league.PAST_SELVES", 3)
    one = league()
    assert one.chances() == [0.5, 0.5]  # nobody else is there yet
    one.add("0")
    assert one.chances() == pytest.approx([5 / 26, 5 / 26, 8 / 13])  # baselines 0.2 and newest 0.32, in proportion
    one.add("1")
    assert one.chances() == pytest.approx([0.1, 0.1, 0.48, 0.32])
    one.add("2")
    for _ in range(3000):
        one.record("0", 1.0)  # always beaten: hardly met any more
        one.record("1", 0.0)
    chances = dict(zip([member.name for member in one.members], one.chances(), strict=True))
    assert chances["0"] == pytest.approx(0.48 * FLOOR / (FLOOR + 1 + FLOOR), abs=1e-3)
    assert sum(chances.values()) == pytest.approx(1) and chances["2"] == pytest.approx(0.32)
    one.add("3")  # no room: the easiest leaves, never the baselines
    assert [member.name for member in one.members] == ["random", "weights", "1", "2", "3"]
    one.record("0", 1.0)  # a game of this member may still end
    again = league()
    again.restore(one.members, [member.name for member in one.members])
    assert again.members == one.members and again.chances() == one.chances()


def test_shares_that_leave_nothing_to_the_baselines() -> None:
    one = league(1.0)
    for k in range(3):
        chances = one.chances()
        assert min(chances) >= 0 and sum(chances) == pytest.approx(1)
        one.add(str(k))
    assert one.chances()[:2] == [0, 0]


def test_a_game_counts_against_everybody_in_it() -> None:
    one = league()
    one.record_game("me", ["random", "me", "weights", "random"], [2, 2, 1, 4])
    scores = {member.name: (member.games, member.score) for member in one.members}
    assert scores["random"] == (2, pytest.approx((0.5 * 2 + 0.5) / 3 * 3 / 4 + 1 / 4))
    assert scores["weights"] == (1, pytest.approx(0.5 * 2 / 3))


def test_each_seat_of_the_learner_counts_and_none_against_another() -> None:
    one = league()
    one.record_game("me", ["me", "weights", "me"], [1, 2, 3])
    assert [(member.games, member.score) for member in one.members] == [
        (0, 0.5),
        (2, pytest.approx(((0.5 * 2 + 1) / 3 * 3 + 0) / 4)),
    ]
    one.record_game("me", ["me", "me"], [1, 2])
    assert [member.games for member in one.members] == [0, 2]


# ------------------------------------------------------------------------------------------------------- the network

pytest.importorskip("torch")
import torch  # noqa: E402

from euphoria_agents.network.features import make_features  # noqa: E402
from euphoria_agents.training import rollout, trainer, win_probs  # noqa: E402
from euphoria_agents.training.config import Options  # noqa: E402
from euphoria_agents.training.learner import Learner  # noqa: E402
from euphoria_agents.training.network import Network  # noqa: E402
from euphoria_agents.training.play_kernels import LEARNER_NUMBER, show_decisions  # noqa: E402
from euphoria_agents.training.rollout import LEARNER, Actor  # noqa: E402
from euphoria_agents.training.saved_run import RUN_FORMAT  # noqa: E402
from euphoria_agents.training.trainer import Trainer, train  # noqa: E402
from tests.tools.small_runs import arguments, assert_same, go, logged, options, state_of  # noqa: E402


def test_the_player_the_trainer_and_the_formula_agree(tmp_path: Path) -> None:
    """The record of playing, what PyTorch makes of it, what the file plays, and the head of `network.checkpoint`."""
    run = go(options(tmp_path / "run", afterstates=0))
    agent, (_, tensors) = load(f"ppo:{tmp_path}/run/ppo.safetensors"), read_checkpoint(tmp_path / "run" / "ppo.safetensors")
    seen, mask = positions(100)
    assert np.exp(agent.log_chances(seen, mask)) == pytest.approx(formula(tensors, seen, mask), abs=1e-4)
    for actor in run.actors:
        actor.collected()
    run.play()
    for actor in run.actors:
        before, first, n = actor.games.rows.copy(), int(actor.record.size[0]), len(actor.games.rows)
        (decided,) = np.nonzero(actor.games.seating[np.arange(n), before["player"]] == LEARNER_NUMBER)
        actor.games.left[:] = 1
        while actor.step():
            pass
        seen, masks = np.empty((n, observations.OBS_SIZE), np.int8), np.empty((n, actions.NUM_ACTIONS), np.bool_)
        show_decisions(before, np.arange(n), seen, masks)
        moves, log_probs = (array[first : actor.record.size[0]] for array in (actor.record.move, actor.record.log_prob))
        chances = agent.log_chances(seen, masks)
        assert len(decided) == len(moves) > 4 and masks[decided, moves].all()
        assert log_probs == pytest.approx(chances[decided, moves], abs=1e-4)
    other = Network(make_features(), [16, 12])
    other.load(run.network.tensors())
    assert all(np.allclose(tensor, other.tensors()[name], atol=1e-6) for name, tensor in run.network.tensors().items())
    with pytest.raises(ValueError, match="another network: trunk.1.weight differs"):
        other.load(Network(make_features(), [16]).tensors())
    scaled = run.network.tensors()["features.scale"] / 2
    with pytest.raises(ValueError, match="another network: features.scale differs"):
        other.load({**run.network.tensors(), "features.scale": scaled})
    with pytest.raises(ValueError, match="trunk.0 are missing or do not fit"):
        other.load({**run.network.tensors(), "trunk.0.weight": np.zeros((3, 3))})


@pytest.mark.parametrize("reward", ["stars", "rank"])
def test_rewards_and_links_are_those_of_trajectories(reward: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The learner plays all seats; the same moves are played in a batch. At a cut-off only `rank` pays, and ends a trajectory."""
    games, steps, rules = 6, 300, Rules(num_players=3, max_turns=40, stars_to_win=1)
    torch.manual_seed(0)
    network = Network(make_features(), [16])
    monkeypatch.setattr(rollout, "ROLLOUT_STEPS", steps)
    actor = Actor([(games, rules)], reward, 7, {}, network.first.rows)
    actor.seat({}, {LEARNER: 1.0})
    actor.begin_games()
    actor.begin(network.player())
    while actor.step():
        pass
    found = actor.collected()
    batch = Batch(games, rules, seed=7, reward=reward)
    expected, cut = Trajectories(batch, games * steps), np.zeros(games * steps, bool)
    for moves in found.move.reshape(games, steps).T:
        expected.add(np.arange(games))
        batch.step(moves)
        latest = expected.following[: expected.size] == OPEN
        expected.credit()
        cut[: expected.size] |= latest & batch.truncated[expected.game[: expected.size]]
    number = np.arange(games * steps).reshape(games, steps).T.ravel()  # of the decisions of the batch, in the rollout
    following = np.where(expected.following >= 0, number[expected.following], expected.following)
    assert len(actor.ended()) == (following == ENDED).sum() / 3 and ENDED in following[~cut] and cut.any()
    following[cut & (reward == "stars")] = OPEN
    assert np.array_equal(found.following[number], following) and found.reward[number] == pytest.approx(expected.reward)
    assert actor.record.size[0] == games * 3, "of each game that goes on; what was cut off does not stay"
    ones = np.ones(len(number), np.float32)
    returns = ones + estimate_advantages(ones, 0 * ones, found.following, 1.0, 1.0)
    after = np.flatnonzero(found.following >= 0)
    assert (returns[after] == returns[found.following[after]]).all(), "the value of the last decision, if there is no true end"
    assert (returns == 0).sum() > 0 and (returns[number][cut] == (reward == "stars")).all()


def test_greedy_plays_in_compiled_games_as_its_agent_does() -> None:
    """Both judge the same deals; the actor draws a number for its policies first, then the seed of the deals."""
    network, agent = Network(make_features(), [16]), load("greedy:2")
    actor = Actor([(8, Rules(num_players=3))], "stars", 7, {"greedy:2": agent}, network.first.rows)
    actor.seat({}, {"greedy:2": 1.0})
    actor.begin_games()
    actor.begin(network.player())
    decided, chosen, values = 0, np.empty(actions.NUM_ACTIONS, np.int64), np.empty((actions.NUM_ACTIONS, 6))
    for _ in range(60):
        games = actor.games
        before, generators, seating = games.rows.copy(), games.generator.copy(), games.seating.copy()
        games.left[:] = 1
        while actor.step():
            pass
        for k in np.flatnonzero(seating[np.arange(len(before)), before["player"]] != LEARNER_NUMBER):
            random_bits(generators[k])
            n = look_ahead(before[k : k + 1], 2, int(random_bits(generators[k])), empty_tape(), chosen, values)
            game = Game.taking(before[k : k + 1])
            game.play(int(chosen[values[:n, game.player].argmax()]))
            decided += n > 1
            assert game.over or game.states[0].tobytes() == games.rows[k].tobytes()
    assert decided > 50


def test_a_critic_values_decisions_by_its_win_probabilities() -> None:
    network, critic = Network(make_features(), [16]), load("ppo")
    actor = Actor([(8, Rules(num_players=3))], "win", 7, {}, network.first.rows, ppo.SHIPPED)
    actor.seat({}, {LEARNER: 1.0})
    actor.begin_games()
    actor.begin(network.player())
    for k in range(40):
        before = actor.games.rows.copy()
        actor.games.left[:] = 1
        while actor.step():
            pass
        for row, value in zip(before, actor.record.value[8 * k : 8 * k + 8], strict=True):
            game = Game.taking(row.reshape(1))
            seats = critic.explain(game.observation(game.player), game.mask(), np.random.default_rng(0), game)["seats"]
            assert value == pytest.approx((3 * seats[game.player] - 1) / 2, abs=1e-4)


def test_the_value_head_judges_games_with_others_than_networks() -> None:
    network, found = Network(make_features(), [16]), []
    for critic in (None, ppo.SHIPPED):
        actor = Actor([(8, Rules(num_players=3))], "win", 7, {"random": load("random")}, network.first.rows, critic)
        actor.seat({}, {"random": 1.0})
        actor.begin_games()
        actor.begin(network.player())
        actor.play()
        found.append(actor.collected())
    assert len(found[0].value) > 50 and np.array_equal(found[0].value, found[1].value)


# ------------------------------------------------------------------------------------------------------- runs


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four updates without interruption."""
    folder = tmp_path_factory.mktemp("straight") / "run"
    assert go(options(folder)).update == 4
    return folder


@pytest.fixture
def copied(straight: Path, tmp_path: Path) -> Path:
    """A copy of that run."""
    return Path(shutil.copytree(straight, tmp_path / "copied"))


def test_a_run_leaves_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(win_probs, "WIDTHS", [4])
    run = tmp_path / "run"
    go(options(run, rating_games=4, win_probs_games=8))
    facts, _ = state_of(run)
    assert {path.name for path in run.iterdir()} == {
        "config.json", "league", "ppo.safetensors", "progress.csv", "ratings.json", "state.safetensors", "tensorboard"
    }  # fmt: skip
    rows, last = logged(run), facts["decisions"]
    assert [row["update"] for row in rows] == ["1", "2", "3", "4"] and int(rows[-1]["decisions"]) == last
    rated = json.loads((run / "ratings.json").read_text())
    assert [(one["players"], one["against"], one["games"]) for one in rated] == [(2, "random", 4), (2, "weights", 4)]
    assert all(0 <= one["wins"] <= 4 and 1 <= one["rank"] <= 2 for one in rated)
    assert [member["name"] for member in facts["league"]][:2] == ["random", "weights"]
    header, tensors = read_checkpoint(run / "ppo.safetensors")
    assert header["training"]["decisions_learnt"] == last and header["training"]["reward"] == "stars"
    assert header["training"]["outlook"]["games"] == 8 and tensors["outlook.0.weight"].shape[0] == 4


def rates_of(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The learning rates of the updates to come."""
    rates: list[float] = []
    update = Learner.update

    def noted(self: Any, rollout: Any, rate: float, *others: Any) -> dict[str, float]:
        rates.append(rate)
        return update(self, rollout, rate, *others)

    monkeypatch.setattr(Learner, "update", noted)
    return rates


def test_the_learning_rate_goes_down_with_the_decisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = rates_of(monkeypatch)
    go(options(tmp_path / "run"))
    done = [0, *(int(row["decisions"]) for row in logged(tmp_path / "run"))]
    assert rates == pytest.approx([7e-4 * (1 - before / 800) for before in done[:-1]]) and done[-1] >= 800


def test_the_learning_rate_goes_down_with_the_time_that_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An update takes half of the 2 minutes here."""
    rates = rates_of(monkeypatch)
    monkeypatch.setattr(Trainer, "_elapsed", lambda self: 30.0 * self.update)
    output = io.StringIO()
    run = train(options(tmp_path / "run", decisions=10**6, total_minutes=2.0), Console(file=output, width=200))
    assert run.update == 4 and rates == pytest.approx([7e-4 * left for left in (1, 0.75, 0.5, 0.25)])
    assert run._bar.total == run.decisions, "the last report should have expected the end by the time"
    monkeypatch.undo()
    train(Options(resume=tmp_path / "run"), Console(file=output, width=200))
    assert f"the run has had its 2 minutes; --resume {tmp_path / 'run'} --total-minutes N goes on" in output.getvalue()
    assert go(Options(resume=tmp_path / "run", total_minutes=10.0), updates=5).update == 5


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"random_rules": 0.6},
        {"threads": 2, "save_every": 2},
        {"threads": 3, "save_every": 2},
        {"reward": "win", "critic": ppo.SHIPPED},
    ],
)
def test_a_resumed_run_is_the_one_that_was_not_interrupted(changed: dict[str, Any], tmp_path: Path) -> None:
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    go(options(straight, **changed))
    for updates in (0, 1, 3, None):
        trainer = go(options(broken, **changed) if updates == 0 else Options(resume=broken), updates=updates)
        assert updates in (None, trainer.update)
        np.random.seed(99)  # anything may have happened to the generators meanwhile
        torch.manual_seed(99)
    assert_same(state_of(broken), state_of(straight))
    assert [row["update"] for row in logged(broken)] == [row["update"] for row in logged(straight)] != []


def test_a_finished_run_says_so_and_goes_on_with_more_decisions(straight: Path, copied: Path) -> None:
    run, output, made = copied, io.StringIO(), state_of(copied)[0]["decisions"]
    train(Options(resume=run), Console(file=output, width=200))
    assert f"nothing is left to do: the run has made its {made:,} decisions; --resume {run} --decisions N" in output.getvalue()
    assert_same(state_of(run), state_of(straight))
    with pytest.raises(ValueError, match=f"decisions: the run in .* has made {made:,} already, more than 300"):
        train(Options(resume=run, decisions=300), Console(quiet=True))
    trained = train(Options(resume=run, decisions=made + 150), Console(quiet=True))
    assert trained.decisions >= made + 150 and [int(row["update"]) for row in logged(run)] == [*range(1, trained.update + 1)]
    assert checkpoint.read_tensors(run / "state.safetensors", RUN_FORMAT)[0]["options"]["decisions"] == made + 150


def test_a_run_that_was_killed_at_its_end_gets_what_is_left(
    straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rating, and the win probabilities of its player; with more decisions the rating is that of the new player."""
    chosen = options(tmp_path / "run", rating_games=2, win_probs_games=4)

    class Killed(BaseException):
        pass

    def killed(*_: Any) -> None:
        raise Killed

    for at, asked in (("rate_player", chosen), ("learn_win_probs", Options(resume=chosen.run))):
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(trainer, at, killed)
            go(asked)
    ratings = chosen.run / "ratings.json"
    assert ratings.exists() and not any(name.startswith("outlook") for name in read_checkpoint(chosen.run / "ppo.safetensors")[1])
    output = io.StringIO()
    train(Options(resume=chosen.run), Console(file=output, width=200))
    assert "nothing is left" not in output.getvalue()
    assert "outlook.0.weight" in read_checkpoint(chosen.run / "ppo.safetensors")[1]
    assert go(Options(resume=chosen.run, decisions=2000), updates=5).update == 5 and not ratings.exists()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_killed_run_loses_no_more_than_since_its_last_save(threads: int, tmp_path: Path) -> None:
    run, straight = tmp_path / "run", tmp_path / "straight"
    chosen = options(run, threads=threads, decisions=4000)
    command = [sys.executable, "-m", "euphoria_agents", "train", *arguments(chosen)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    while process.poll() is None and not (run / "state.safetensors").exists():
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL
    assert state_of(run)[0]["decisions"] < 4000
    go(Options(resume=run))
    go(options(straight, threads=threads, decisions=4000))
    assert_same(state_of(run), state_of(straight))
    table = [[row[name] for name in row if name != "decisions_per_second"] for row in logged(run)]
    assert table == [[row[name] for name in row if name != "decisions_per_second"] for row in logged(straight)]


def interrupting(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Sends interrupts in the middle of the second update, one for each step of the games, each once the one before was heard."""
    play, step, lock, handler = Trainer.play, Actor.step, threading.Lock(), signal.getsignal(signal.SIGINT)
    updates, sent = list[Trainer](), list[int]()

    def counted(self: Trainer) -> Any:
        updates.append(self)
        return play(self)

    def interrupted(self: Any) -> bool:
        with lock:
            due = len(updates) == 2 and len(sent) < times
            if due:
                sent.append(len(sent))
                while len(sent) > 1 and signal.getsignal(signal.SIGINT) is not handler:
                    time.sleep(0.001)
                signal.raise_signal(signal.SIGINT)
        return step(self)

    monkeypatch.setattr(Trainer, "play", counted)
    monkeypatch.setattr(Actor, "step", interrupted)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_the_update_and_saves_and_a_second_one_stops_at_once(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, before, there = tmp_path / "run", signal.getsignal(signal.SIGINT), threading.active_count()
    with monkeypatch.context() as patch:
        interrupting(patch, 1)
        assert go(options(run, threads=threads)).interrupted
    assert state_of(run)[0]["updates"] == 2 and threading.active_count() == there
    interrupting(monkeypatch, 2)
    with pytest.raises(KeyboardInterrupt):
        go(options(tmp_path / "other", threads=threads))
    assert state_of(tmp_path / "other")[0]["updates"] == 1
    assert signal.getsignal(signal.SIGINT) is before and threading.active_count() == there


def test_a_run_may_begin_with_the_network_of_another(straight: Path, tmp_path: Path) -> None:
    start = tmp_path / "start.safetensors"
    start.write_bytes((straight / "ppo.safetensors").read_bytes())
    run = go(options(tmp_path / "run", start=start, reward="win"), updates=0)
    mine, theirs = run.network.tensors(), read_checkpoint(start)[1]
    assert all(mine[name] == pytest.approx(theirs[name], abs=1e-5) for name in theirs)
    start.unlink()  # the run has all it needs
    go(Options(resume=tmp_path / "run"), updates=0)


def test_an_update_without_a_decision_to_learn_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody decides twice in the first step of the games, so every decision is still open."""
    monkeypatch.setattr(rollout, "ROLLOUT_STEPS", 1)
    run = go(options(tmp_path / "run", players=[2], envs=2, decisions=10))
    first, *_, last = logged(tmp_path / "run")
    assert (first["decisions"], first["train/entropy"]) == ("0", "nan") and int(last["decisions"]) == run.decisions >= 10


def test_the_league_counts_the_games_that_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[str], list[int]]] = []
    ended = Actor.ended

    def noted(self: Any) -> list[tuple[list[str], list[int]]]:
        found = ended(self)
        seen.extend(found)
        return found

    monkeypatch.setattr(Actor, "ended", noted)
    run = go(options(tmp_path / "run", threads=2, decisions=2000, self_play=0.3))
    assert sum(names.count(LEARNER) for names, _ in seen) > len(seen) > 50
    assert all(LEARNER in names and len(names) == len(ranking) in (2, 3) and min(ranking) == 1 for names, ranking in seen)
    for member in run.league.members:
        against = [
            np.sign(ranking[k] - ranking[seat])
            for names, ranking in seen
            for seat in range(len(names))
            for k in range(len(names))
            if names[seat] == LEARNER and names[k] == member.name
        ]
        assert member.games == len(against)
    assert {name for names, _ in seen for name in names} >= {LEARNER, "random", "weights", "000000"}


class Raises:
    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        raise KeyError("lost the map")


class Cheats:
    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        return int(mask.argmin())


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("agent", "error", "message"), [("Raises", KeyError, "lost the map"), ("Cheats", ValueError, "Cheats")])
def test_a_baseline_that_fails_ends_the_run(agent: str, error: Any, message: str, threads: int, tmp_path: Path) -> None:
    there = threading.active_count()
    with pytest.raises(error, match=message):
        go(options(tmp_path / "run", threads=threads, baselines=[f"tests.test_training:{agent}"]))
    assert threading.active_count() == there


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"players": [7]}, r"players\[0\]: expected int <= 6"),
        ({"envs": 2}, "envs must"),
        ({"threads": 8}, "envs must"),
        ({"threads": 0}, "threads: expected int >= 1"),
        ({"reward": "fun"}, "reward must be"),
        ({"baselines": ["nobody"]}, "no agent is called"),
        ({"baselines": []}, "at least one baseline"),
        ({"self_play": 1.5}, "self_play"),
        ({"envs": True}, "envs"),
        ({"seed": -1}, "seed"),
        ({"envs": 10**6}, "envs: expected int <= 65536"),
        ({"game": {"seat": 0}}, "game.seat"),
        ({"start": Path("missing")}, "cannot be read"),
        ({"resume": Path("missing")}, "cannot be read"),
        ({"critic": ppo.SHIPPED}, "a critic says who wins: it needs the reward win, not 'stars'"),
        ({"critic": Path("missing"), "reward": "win"}, "cannot be read"),
        ({"trunk": []}, "trunk"),
        ({"decisions": 0}, "decisions: expected int >= 1"),
        ({"players": []}, "players: expected array of length >= 1"),
        ({"batch": 1}, "batch: expected int >= 2"),
        ({"gamma": float("nan")}, "gamma"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"total_minutes": 0.0}, "total_minutes"),
        ({"win_probs_games": -1}, "win_probs_games"),
    ],
)
def test_wrong_options(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    there = threading.active_count()
    with pytest.raises(ValueError, match=message):
        go(options(tmp_path / "run", **changed))
    assert threading.active_count() == there and not (tmp_path / "run").exists()


def test_a_critic_without_win_probabilities_is_refused(straight: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ppo.safetensors: a critic needs win probabilities, and this player has none"):
        go(options(tmp_path / "run", critic=straight / "ppo.safetensors", reward="win"))
    assert not (tmp_path / "run").exists()


def test_a_run_keeps_its_critic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    critic, learnt = Path(shutil.copy(ppo.SHIPPED, tmp_path / "mine.safetensors")), []
    monkeypatch.setattr(trainer, "learn_win_probs", lambda options, *_: learnt.append(options.critic))
    go(options(tmp_path / "whole", critic=critic, reward="win", decisions=1, win_probs_games=1))
    assert learnt == [tmp_path / "whole" / "critic.safetensors"], "the original may have changed since the run began"
    go(options(tmp_path / "run", critic=critic, reward="win"), updates=1)
    critic.unlink()
    assert go(Options(resume=tmp_path / "run"), updates=2).update == 2
    (tmp_path / "run" / "critic.safetensors").unlink()
    with pytest.raises(ValueError, match="critic.safetensors cannot be read"):
        go(Options(resume=tmp_path / "run"))


def test_no_run_is_overwritten_and_no_other_file_resumed(straight: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is a run in"):
        go(options(straight))
    (tmp_path / "state.safetensors").write_bytes((straight / "ppo.safetensors").read_bytes())
    with pytest.raises(ValueError, match=r"not a checkpoint of version \d+ of this project .euphoria-run"):
        go(Options(resume=tmp_path))


# ------------------------------------------------------------------------------------------ a run that somebody else made


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of one update against an agent of your own, in the working folder; importing the agent leaves a trace."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    (tmp_path / "my_baselines.py").write_text(
        "from pathlib import Path\n"
        "Path('trace').touch()\n"
        "class Mine:\n"
        "    def act(self, observation, mask, rng, game=None):\n"
        "        return int(mask.argmax())\n"
    )
    go(options(Path("run"), baselines=["my_baselines:Mine"]), updates=1)
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


def small(array: np.ndarray, value: float, kind: Any = None) -> np.ndarray:
    """The array with another first value, or of another type."""
    array = array.astype(kind or array.dtype)
    array.flat[0] = value
    return array


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("network.head.bias", lambda a: small(a, np.nan), "network.head.bias must be finite"),
        ("network.first.weight", lambda a: small(a, 3e38), "the tensors of trunk.0 are so large"),
        ("adam.mean", lambda a: small(a, np.nan), "adam.mean must be finite"),
        ("adam.mean", lambda a: small(a, 0.6), "adam.mean must"),
        ("adam.square", lambda a: small(a, -1), "adam.square must"),
        (".0.seating", lambda a: small(a, -1), "seating must be"),
        (".0.seating", lambda a: small(a, 99), "seating must be"),
        (".0.generators", lambda a: small(a, -1), "generators must be"),
        (".0.episodes", lambda a: small(a, 2**63 - 1), "episodes must"),
        (".0.games", lambda a: a[:1], "options.envs"),
        (".0.games", lambda a: a[::-1], "games with other rules"),
        (".0.latest", lambda a: small(a, 9999), "latest must be"),
        (".0.latest", lambda a: np.full_like(a, -1), "latest must have each open decision once"),
        (".0.decisions.reward", lambda a: small(a, np.nan), "reward must be finite"),
        (".0.decisions.log_prob", lambda a: small(a, 1), "log_prob must be"),
        (".0.decisions.move", lambda a: small(a, 664), "move must"),
        (".0.decisions.move", lambda a: small(a, 663 if a[0] != 663 else 0), "move must"),
        (".0.decisions.following", lambda a: small(a, len(a)), "following must"),
        (".0.decisions.following", lambda a: small(a, -3), "following must"),
        (".0.decisions.following", lambda a: small(a, 0), "following: a decision is followed by an earlier one"),
        (".0.decisions.row", lambda a: small(a, -1), "row must"),
        (".0.decisions.row", lambda a: small(a, 2**15 - 1), "row must"),
        (".0.decisions.row", lambda a: a[:-1], "row_ends must be"),
        (".0.decisions.row", lambda a: np.append(a, a[:1]), "row must"),
        (".0.decisions.row_ends", lambda a: small(a, 1), "row_ends must ascend from 0"),
        (".0.decisions.row_ends", lambda a: np.r_[a[:2], a[1] - 1, a[3:]], "row_ends must ascend from 0"),
        (".0.decisions.row_ends", lambda a: small(a, -5), "row_ends must"),
        (".0.decisions.legal", lambda a: small(a, 664), "legal must"),
        (".0.decisions.legal_ends", lambda a: np.r_[a[:-1], a[-1] + 9], "legal_ends must be"),
    ],
)
def test_arrays_of_a_run_that_cannot_be(copied: Path, name: str, change: Any, message: str) -> None:
    if name.startswith("."):
        name, message = f"actor{name}", message if "options" in message else f"actor{name[:2]}: .*{message}"
    array = checkpoint.read_tensors(copied / "state.safetensors", RUN_FORMAT)[1][name]
    forge(copied, {name: change(array)})
    with pytest.raises(ValueError, match=f"^{copied / 'state.safetensors'} is damaged, or of another kind: .*{message}"):
        go(Options(resume=copied))


def test_every_array_of_a_run_is_checked(copied: Path) -> None:
    """Each is missed by its name, and refused in another shape and as another type."""
    run = copied
    facts, arrays = checkpoint.read_tensors(run / "state.safetensors", RUN_FORMAT)
    assert len(arrays) > 20
    kinds = {re.sub(r"\d+", "", name): name for name in arrays}  # one of those that differ in a number alone
    for name in kinds.values():
        array = arrays[name]
        changes = {"missing": None, "flat": np.append(array.ravel(), array.ravel()[:1]), "typed": array.astype(np.uint16)}
        for how, change in changes.items():
            kept = {key: value for key, value in {**arrays, name: change}.items() if value is not None}
            checkpoint.write_tensors(run / "state.safetensors", RUN_FORMAT, kept, facts)
            with pytest.raises(ValueError, match=r"is damaged, or of another kind: ") as refused:
                go(Options(resume=run))
            told = str(refused.value).partition("kind: ")[2]
            size = name.endswith((".games", ".bias")) and "options." in told
            missing_size = name.endswith("decisions.move") and "decisions" in told  # its length is found by those of others
            assert size or missing_size or name.rpartition(".")[2].removesuffix("_ends") in told, (name, how, told)


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("decisions", lambda v: True, "decisions: expected int, got bool"),
        ("updates", lambda v: -1, "updates: expected int >= 0"),
        ("steps", lambda v: "many", "steps: expected int"),
        ("seconds", lambda v: float("nan"), "seconds: expected float"),
        ("generator", lambda v: {}, "generator.bit_generator"),
        ("actors", lambda v: [], "actors must have 1 entries"),
        ("actors", lambda v: [{"generator": {}, "opponents": []}], "actor.0: opponents must begin with learner"),
        ("actors", lambda v: [{**v[0], "opponents": [["random"]]}], r"actors\[0\].opponents\[0\]: expected str"),
        ("league", lambda v: [{**v[0], "name": "../../secret", "past": True}], "no past self is called"),
        ("league", lambda v: [{}], r"league\[0\]"),
        ("league", lambda v: v[1:], "league must"),
        ("league", lambda v: [*v, v[-1]], "league must"),
        ("league", lambda v: [{**v[0], "score": float("nan")}, *v[1:]], r"league\[0\].score: expected float"),
        ("options", lambda v: None, "options"),
        ("options", lambda v: v | {"envs": 10**4}, "options.envs"),
        ("options", lambda v: v | {"threads": 3}, "options.envs: 9 for 3 threads"),
        ("options", lambda v: v | {"trunk": [2**14] * 50}, "options.trunk"),
        ("options", lambda v: v | {"batch": True}, "batch: expected int"),
    ],
)
def test_facts_of_a_run_that_cannot_be(copied: Path, key: str, change: Any, message: str) -> None:
    forge(copied, **{key: change(checkpoint.read_tensors(copied / "state.safetensors", RUN_FORMAT)[0][key])})
    with pytest.raises(ValueError, match=f"^{copied / 'state.safetensors'} is damaged, or of another kind: .*{message}"):
        go(Options(resume=copied))


def test_a_run_of_another_version_is_refused(copied: Path) -> None:
    forge(copied, layout="other")
    how = f"begin a new run with its player: --start {copied / 'ppo.safetensors'}"
    with pytest.raises(ValueError, match=f"another version of the environment began this run, .*: {how}$"):
        go(Options(resume=copied))


def test_a_baseline_from_a_file_is_not_opened(copied: Path) -> None:
    facts = checkpoint.read_tensors(copied / "state.safetensors", RUN_FORMAT)[0]
    forge(copied, options=facts["options"] | {"baselines": ["ppo:secret.safetensors"]})
    with pytest.raises(ValueError, match="is not built in, or names a file"):
        go(Options(resume=copied))


def test_a_start_of_numbers_beyond_all_measure_is_refused(straight: Path, tmp_path: Path) -> None:
    header, tensors = read_checkpoint(straight / "ppo.safetensors")
    tensors["policy.0.weight"] = np.full_like(tensors["policy.0.weight"], np.nan)
    start = save_checkpoint(tmp_path / "start", tensors, header["training"])
    with pytest.raises(ValueError, match=f"^{start}: the tensors of policy.0 are not finite"):
        go(options(tmp_path / "run", start=start))


def test_a_network_that_diverged_is_not_saved(tmp_path: Path) -> None:
    run = go(options(tmp_path / "run"), updates=1)
    saved = (tmp_path / "run" / "state.safetensors").read_bytes()
    run.network.head.bias.data[0] = float("nan")
    with pytest.raises(ValueError, match="after update 1: the tensors of policy.0 are not finite"):
        run._after_update({}, None)  # type: ignore[arg-type]
    assert (tmp_path / "run" / "state.safetensors").read_bytes() == saved
