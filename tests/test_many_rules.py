"""Games of different rules in one `Batch` or vector environment, and mixtures of opponents."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from euphoria_env import Batch, Rules
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.envs.opponents import Opponents
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.sb3 import EuphoriaVecEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.observations import start_of
from euphoria_env.trajectories import Trajectories
from tests.tools.playing import SHOWN, everything

KINDS = [Rules(num_players=2, max_turns=15, recruits=RECRUIT_NAMES[:20])]
KINDS += [Rules(num_players=n, max_turns=20 - n, trading=n % 2 == 1) for n in range(3, 7)]
MIXED = [KINDS[i % 5] for i in range(10)]
BY_SEAT = ("rewards", "ranking", "final_observation")


def drawn(rng: np.random.Generator) -> Rules:
    """Rules in which many numbers of the generator show."""
    pool, turns = rng.permutation(RECRUIT_NAMES)[:30].tolist(), int(rng.integers(3, 9))
    return Rules(num_players=int(rng.integers(2, 5)), recruits=pool, max_turns=turns)


class Failing:
    """Draws rules, as long as there is no other answer: an error to raise, or a value to return."""

    answer: Any = None

    def __call__(self, rng: np.random.Generator) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer or drawn(rng)


@pytest.mark.parametrize("reward", ["rank", "stars"])
def test_a_game_is_the_same_as_in_a_batch_of_its_rules(reward: str) -> None:
    batches = [Batch(10, rules, seed=3, reward=reward, events=3) for rules in (MIXED, *KINDS)]
    trajectories, rng, mixed = [Trajectories(batch, 3000) for batch in batches], np.random.default_rng(0), batches[0]
    assert mixed.rules == MIXED and mixed.rewards.shape == mixed.ranking.shape == (10, 6)
    assert mixed.num_players.dtype == np.int8 and mixed.num_players.tolist() == [2, 3, 4, 5, 6] * 2
    for _ in range(300):
        moves = mixed.sample(rng)
        trajectories[0].add(np.arange(10))
        mixed.step(moves)
        for k, single in enumerate(batches[1:]):
            games = [k, k + 5]
            trajectories[k + 1].add(games)
            single.step(moves, np.isin(np.arange(10), games))
            for name in SHOWN:
                one, other = getattr(mixed, name)[games], getattr(single, name)[games]
                if name in BY_SEAT:
                    assert not one[:, k + 2 :].any(), "there is something for absent players"
                    one = one[:, : k + 2]
                assert one.tobytes() == other.tobytes(), (name, k)
        for decisions in trajectories:
            decisions.credit()
        last = mixed.num_players[mixed.ended] - 1
        assert np.array_equal(mixed.seen_at_end(last)[0], mixed.final_observation[mixed.ended, last])
        if len(last):
            with pytest.raises(ValueError, match="a player of each"):
                mixed.seen_at_end(last + 1)
    assert mixed._episodes.min() > 3 and [mixed.game(i).rules for i in range(10)] == MIXED
    for k, decisions in enumerate(trajectories[1:]):
        for name in ("game", "seat", "turn", "reward", "elapsed"):
            kept = getattr(trajectories[0], name)[trajectories[0].game % 5 == k]
            assert np.array_equal(kept, getattr(decisions, name)[: decisions.size]), name


def test_rules_by_a_function_depend_on_seed_game_and_restart_alone() -> None:
    small, large, threaded = Batch(3, drawn, seed=9), *(Batch(600, drawn, seed=9, threads=k) for k in (1, 2))
    assert threaded.threads == 2 and small.rules is drawn
    for number in range(120):
        moves = large.sample(np.random.default_rng(number))
        for batch in (small, large, threaded):
            batch.step(moves[: batch.n])
            if number == 50:
                batch.restart([2, 0])
        assert large.states.tobytes() == threaded.states.tobytes() and large.states[:3].tobytes() == small.states.tobytes()
        small = pickle.loads(pickle.dumps(small)) if number == 60 else small
    assert everything(large) == everything(threaded)
    assert large._episodes.min() >= 1 and len({large.game(i).rules for i in range(600)}) > 590


def test_a_curriculum_grows_and_shrinks() -> None:
    calls, stage = 0, 2

    def lesson(rng: np.random.Generator) -> Rules:
        nonlocal calls
        calls += 1
        return Rules(num_players=stage, max_turns=8)

    batch, rng = Batch(20, lesson, seed=0, reward={"available": 1.0}), np.random.default_rng(0)
    for stage in (2, 4, 3):
        for _ in range(150):
            before = batch.num_players.copy()
            batch.step(batch.sample(rng))
            assert ((batch.ranking[batch.ended] > 0).sum(axis=1) == before[batch.ended]).all()
            assert not batch.rewards[np.arange(6) >= before[:, None]].any(), "absent players get nothing"
        assert (batch.num_players == stage).all()
    assert calls == 20 + batch._episodes.sum(), "it is called once for each game that begins"


@pytest.mark.parametrize(("answer", "message"), [(KeyError("x"), r"failed: KeyError\('x'\)"), ([4], "must return a Rules")])
def test_a_function_that_fails(answer: Any, message: str) -> None:
    """At first nothing is changed; in a step the moves count, and the games that ended can be restarted."""
    rules, rng = Failing(), np.random.default_rng(0)
    batch, expected = Batch(10, rules, seed=5, events=2), Batch(10, drawn, seed=5, events=2)
    while not len(expected.ended):
        moves = expected.sample(rng)
        expected.step(moves)
        if not len(expected.ended):
            batch.step(moves)
    rules.answer, before, ended = answer, everything(batch), expected.ended
    for first, call in ((0, lambda: Batch(10, rules)), (7, lambda: batch.restart([7, 3]))):
        with pytest.raises(ValueError, match=f"game {first}: .*{message}"):
            call()
        assert everything(batch) == before
    with pytest.raises(ValueError, match=f"game {ended[0]}: .*{message}"):
        batch.step(moves)
    for name in ("ended", "rewards", "truncated", "ranking", "final_observation"):
        assert np.array_equal(getattr(batch, name), getattr(expected, name)), name
    assert not batch.mask[ended].any() and (batch.sample(rng)[ended] == -1).all()
    batch.step(np.zeros(10, int), np.zeros(10, bool))
    assert not len(batch.ended), "a game ends once"
    rules.answer = None
    batch.restart(ended)
    assert batch.states.tobytes() == expected.states.tobytes() and np.array_equal(batch.mask, expected.mask)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("rules", [MIXED, drawn], ids=["list", "function"])
def test_the_vector_environments_tell_the_number_of_players(rules: Any, mode: str) -> None:
    same_step, rng, ends = mode == "SameStep", np.random.default_rng(0), 0
    env, again = (EuphoriaVectorEnv(10, "random", rules=rules, autoreset_mode=mode) for _ in range(2))
    sb3 = EuphoriaVecEnv(10, "random", rules=rules, seed=4)
    seen, infos = env.reset(seed=4)
    assert np.array_equal(seen, again.reset(seed=4)[0]) and np.array_equal(sb3.reset(), seen) and env.rules == sb3.rules == rules
    for _ in range(100):
        players = infos["num_players"]
        assert np.array_equal(seen[:, start_of("num_players")], players) and (infos["seat"] < players).all()
        moves = sample(infos["action_mask"] | ~infos["action_mask"].any(axis=1, keepdims=True), rng)
        seen, _, terminated, truncated, infos = env.step(moves)
        assert np.array_equal(again.step(moves)[0], seen)
        assert not same_step or np.array_equal(sb3.step(moves)[0], seen)
        for i in np.flatnonzero(terminated | truncated):
            final, n, ends = infos["final_info"] if same_step else infos, players[i], ends + 1
            assert final["num_players"][i] == n and (final["ranking"][i] > 0).tolist() == [True] * n + [False] * (6 - n)
            assert final["winner"][i] == (final["ranking"][i].tolist().index(1) if terminated[i] else -1)
    assert ends > 20


def test_seeds_positions_and_a_failure_in_the_vector_environment() -> None:
    rules = Failing()
    env = EuphoriaVectorEnv(3, "random", rules=rules, seat=0)
    env.reset(seed=[5, 6, 5])
    one, other, same = (env.learners.ready.game(i).rules for i in range(3))
    assert one == same != other
    _, infos = env.reset(seed=1, options={"position": [None, {"rules": {"num_players": 5}}, {"player": 0}]})
    assert infos["num_players"].tolist()[1:] == [5, 4]
    rules.answer, before = ZeroDivisionError(), str(env.np_random.bit_generator.state)
    for seed in (None, 2):
        with pytest.raises(ValueError, match="ZeroDivisionError"):
            env.reset(seed=seed)
        assert (str(env.np_random.bit_generator.state), env.np_random_seed) == (before, 1)
    with pytest.raises(ValueError, match="ZeroDivisionError"):
        while True:
            *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    with pytest.raises(ResetNeeded, match="the function `rules` failed"):
        env.step(infos["action_mask"].argmax(axis=1))


# ------------------------------------------------------------------------------------------------------------------ mixtures


class Player:
    """An opponent that cannot be a key of a dict."""

    __hash__ = None  # type: ignore[assignment]

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        return int(mask.argmax())


def test_a_mixture_is_drawn_by_its_weights_and_changes_in_games_that_begin() -> None:
    def begin(games: int) -> np.ndarray:
        opponents.seat(np.arange(games), np.zeros(games, int), np.full(games, 4), np.random.default_rng(0).random)
        return np.array([[agents.index(type(agent).__name__) for agent in opponents.at(i)[1:]] for i in range(1000)])

    agents = ["Player", "Weights", "Uniform"]
    opponents = Opponents(1000, 4, [(Player(), 3), ("weights", np.float32(1)), ("random", 0)])
    first = begin(1000)
    assert np.bincount(first.ravel()) / 3000 == pytest.approx([0.75, 0.25], abs=0.03)
    assert np.mean(first[:, 0] == first[:, 1]) == pytest.approx(0.625, abs=0.05), "seat by seat"
    with pytest.raises(ValueError, match="nobody"):
        opponents.set({"random": 1, "nobody": 1})
    assert np.array_equal(begin(1000), first)
    opponents.set({"random": 2})
    later = begin(400)
    assert (later[:400] == 2).all() and np.array_equal(later[400:], first[400:])
