"""Environments refuse unknown names, and chance beside the deals changes no later deal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

from euphoria_env import Batch, Game, IllegalMove, Rules, env, raw_env, text_env
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.text import EuphoriaTextEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv

ROOT = Path(__file__).parent.parent
POSITION = {"rules": {"num_players": 4}, "players": [{"workers": [3]}] * 4}
ID = "euphoria_env/Euphoria-v0"


def sb3_reset(games: Any, options: Any) -> None:
    games.set_options(options)
    games.reset()


def stable_baselines() -> Any:
    return pytest.importorskip("euphoria_env.envs.sb3").EuphoriaVecEnv(3, num_players=4)


def given(games: Any, options: Any) -> None:
    games.reset(options=options)


ENVIRONMENTS: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], None]]] = {
    "raw_env": (partial(raw_env, num_players=4), given),
    "env": (partial(env, num_players=4), given),
    "text_env": (partial(text_env, num_players=4), given),
    "single": (partial(EuphoriaEnv, num_players=4), given),
    "text": (partial(EuphoriaTextEnv, num_players=4), given),
    "vector": (partial(EuphoriaVectorEnv, 3, num_players=4), given),
    "made": (partial(gymnasium.make, ID, num_players=4), given),
    "made vector": (partial(gymnasium.make_vec, ID, num_envs=3, num_players=4), given),
    "stable baselines": (stable_baselines, sb3_reset),
}


# ------------------------------------------------------------------------------------------------------- unknown names


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("key", ["positon", "Position", "seed", "seat", "", 5, "reset-mask"])
def test_an_unknown_option_is_refused_by_name(name: str, key: Any) -> None:
    make, reset = ENVIRONMENTS[name]
    made = make()
    for options in ({key: POSITION}, {"position": POSITION, key: None}):
        with pytest.raises(ValueError, match=f"^options.{key}: no such option; allowed is position"):
            reset(made, options)
    with pytest.raises(ValueError, match="^options must be a dict or None"):
        reset(made, [key]) if name != "stable baselines" else made.games.reset(options=[key])
    reset(made, {"position": POSITION})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Game(Rules(), load={"die": [3]}), "die"),
        (lambda: Game.from_dict({"player": 0, "playr": 1}), "playr"),
        (lambda: Game.from_dict({"players": [{"worker": [3]}]}), "worker"),
        (lambda: Game(Rules(), seed=1).load(dices=[3]), "dices"),
        (lambda: Rules.from_dict({"tradng": True}), "tradng"),
        (lambda: EuphoriaEnv(reward={"goodz": 1.0}), "goodz"),
        (lambda: Batch(2, Rules(), reward={"potential": {"stars": 1.0}, "gama": 1.0}), "gama"),
        (lambda: EuphoriaEnv(tradng=True), "tradng"),
        (lambda: EuphoriaTextEnv(trys=3), "trys"),
        (lambda: raw_env(rewards="win"), "rewards"),
        (lambda: EuphoriaVectorEnv(2, max_episode_steps=5), "max_episode_steps"),
        (lambda: gymnasium.make_vec(ID, num_envs=2, max_episode_steps=5), "max_turns ends games"),
    ],
)
def test_an_unknown_name_is_told(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("action", [True, False, np.True_, np.False_, np.array(True)], ids=repr)
def test_a_truth_value_is_no_action(action: Any) -> None:
    one, raw, single = (make(num_players=2) for make in (env, raw_env, EuphoriaEnv))
    vector, batch = EuphoriaVectorEnv(1, num_players=2), Batch(1, seed=1)
    for made in (one, raw, single, vector):
        made.reset(seed=1)
    calls = [(one.step, AssertionError), (raw.step, IllegalMove), (single.step, IllegalMove), (Game(seed=1).play, IllegalMove)]
    calls += [
        (lambda given: vector.step(np.array([given])), ValueError),
        (lambda given: batch.step(np.array([given])), ValueError),
    ]
    before = one.game, raw.game, single.game, batch.game(0)
    for call, error in calls:
        with pytest.raises(error):
            call(action)
    assert before == (one.game, raw.game, single.game, batch.game(0)) and not any(one.terminations.values())


HOSTILE = """
assert False  # which python -O leaves out
import numpy as np
from euphoria_env import IllegalMove, env, text_env

def refused(error, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except error:
        return
    raise SystemExit(f"{call} took {arguments} {named}")

for make in (env, text_env):
    refused(AssertionError, make().step, 0)
    refused(AssertionError, make().agent_iter)
game = env(num_players=2)
refused(AssertionError, game.last)
game.reset(seed=1)
for action in (10**6, -1, "a", None, True, np.True_, 1.5, [0], np.zeros(2, int), np.uint64(2**63), object()):
    refused(AssertionError, game.step, action)
    if any(game.terminations.values()):
        raise SystemExit(f"{action!r} ended the game")
turns = game.agent_iter()
next(turns)
refused(AssertionError, next, turns)
refused(ValueError, game.reset, options={"positon": {}})
refused(ValueError, game.reset, seed="a")
told = text_env(num_players=2)
told.reset(seed=1)
refused(ValueError, told.step, 5)
print("all refused")
"""


def test_checks_stay_without_assertions() -> None:
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-O", "-c", HOSTILE], cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert done.stdout == "all refused\n", done.stdout + done.stderr


# ------------------------------------------------------------------------------------------- chance beside the deals


def deal(game: Game) -> list[Any]:
    """Returns the dilemmas of the players, which a game deals once and for all."""
    return [one["dilemma"]["artifact"] for one in game.describe()["players"]]


def deals_after(made: Any, play: Callable[[Any], None], games: int = 4) -> list[Any]:
    """The deals of the games that an environment begins after the first one, which `play` plays."""
    made.reset(seed=7)
    play(made)
    found = []
    for _ in range(games):
        made.reset()
        found.append([deal(made.learners.batch.game(i)) for i in range(3)] if hasattr(made, "learners") else deal(made.game))
    return found


def answers(*texts: str) -> Callable[[Any], None]:
    def play(made: Any) -> None:
        for text in texts:
            made.step(text or legal(made)[-1])

    return play


def legal(made: Any) -> list[str]:
    return list(made.game.legal())


def test_unreadable_answers_change_no_later_deal() -> None:
    options = {"num_players": 4, "tries": 1, "illegal": "random"}
    for make in (partial(text_env, **options), partial(EuphoriaTextEnv, opponents="random", **options)):
        found = [deals_after(make(), answers(*texts)) for texts in ((), ("?",), ("?", "?", "?"), ("", "", ""), ("", "?"))]
        assert all(one == found[0] for one in found[1:]) and found[0][0] != found[0][1]


def moves(which: int, number: int) -> Callable[[Any], None]:
    """Plays some legal moves, the first or the last of each decision."""

    def play(made: Any) -> None:
        for _ in range(number):
            masks = made.action_masks() if hasattr(made, "learners") else np.array([made._mask])
            chosen = [np.flatnonzero(mask)[which] for mask in masks]
            ended = made.step(np.array(chosen) if hasattr(made, "learners") else chosen[0])
            if ended is not None and not hasattr(made, "learners") and (ended[2] or ended[3]):
                return

    return play


@pytest.mark.parametrize("seat", [0, "random"])
def test_neither_moves_nor_opponents_nor_seats_change_a_later_deal(seat: Any) -> None:
    one = {"num_players": 4, "max_turns": 6, "seat": seat}
    for make in (EuphoriaEnv, partial(EuphoriaVectorEnv, 3)):
        found = [
            deals_after(make(opponents=opponents, **one), moves(which, number))
            for opponents in ("random", {"random": 1.0, "weights": 2.0})
            for which, number in ((0, 1), (-1, 12))
        ]
        assert all(one == found[0] for one in found[1:]) and found[0][0] != found[0][1]


def test_an_illegal_move_changes_no_later_deal() -> None:
    def wrong(made: Any) -> None:
        made.step(int(np.flatnonzero(made._mask == 0)[0]))

    for make in (partial(env, num_players=4), partial(EuphoriaEnv, num_players=4, opponents="random", seat=1)):
        assert deals_after(make(), wrong) == deals_after(make(), lambda made: None) == deals_after(make(), moves(0, 3))


def test_a_game_that_nobody_is_asked_in_changes_no_later_deal() -> None:
    """With two turns at most, many games end before the learner of the last seat decides."""
    start = {**POSITION, "player": 0, "rules": {"num_players": 4, "max_turns": 3}}
    made, other = (EuphoriaEnv(num_players=4, max_turns=3, seat=3, opponents=who) for who in ("random", "weights"))
    for one in (made, other):
        one.reset(seed=3)
        for _ in range(3):
            try:
                one.reset(options={"position": start})
            except ValueError as error:
                assert "games in a row ended" in str(error)
    made.reset(), other.reset()
    assert deal(made.game) == deal(other.game)


# ------------------------------------------------------------------------------------------------ a seed with a mask


@pytest.mark.parametrize("seed", [5, [5, 6, 7], [2**40, 0, 3]], ids=str)
@pytest.mark.parametrize("mask", [[True, False, False], [False, True, True], [True, True, True], [False, False, True]], ids=str)
@pytest.mark.parametrize("opponents", ["weights", {"weights": 1.0, "random": 0.0}])
def test_a_seed_deals_the_same_with_a_mask(seed: Any, mask: list[bool], opponents: Any) -> None:
    chosen = np.array(mask)
    plain, masked = (EuphoriaVectorEnv(3, opponents, num_players=4) for _ in range(2))
    expected, told = plain.reset(seed=seed)
    masked.reset(seed=99)
    moves(-1, 5)(masked)
    before, old = masked.learners.batch.observation.copy(), masked.learners.seats.copy()
    found, infos = masked.reset(seed=seed, options={"reset_mask": chosen})
    assert np.array_equal(found[chosen], expected[chosen]) and np.array_equal(found[~chosen], before[~chosen])
    assert np.array_equal(infos["seat"], np.where(chosen, told["seat"], old))
    for i in np.flatnonzero(chosen):
        assert deal(plain.learners.batch.game(i)) == deal(masked.learners.batch.game(i))
    if chosen.all():
        for one in (plain, masked):
            moves(0, 20)(one)
        assert np.array_equal(plain.learners.batch.states, masked.learners.batch.states)


def test_gymnasiums_vector_deals_the_same_with_a_mask() -> None:
    plain, masked = (SyncVectorEnv([partial(EuphoriaEnv, num_players=4)] * 3) for _ in range(2))
    expected, _ = plain.reset(seed=5)
    masked.reset(seed=99)
    chosen = np.array([True, False, True])
    found, _ = masked.reset(seed=5, options={"reset_mask": chosen})
    assert np.array_equal(found[chosen], expected[chosen])
