"""Rewards of one's own, against plain Python that reads the positions before and after each decision."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import euphoria_env
from euphoria_env import Batch, Game, Rules, actions
from euphoria_env.board import COMMODITIES, FACTIONS, GOODS, RESOURCES
from euphoria_env.cards.recruits import RECRUITS
from euphoria_env.envs.aec import env, raw_env
from euphoria_env.envs.sb3 import EuphoriaVecEnv
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.text import EuphoriaTextEnv, text_env
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.trajectories import ENDED, OPEN, Trajectories
from tests.tools.playing import all_rules, everything, expected_rewards, prefer, stars

TABLE = euphoria_env.rewards.table()
FACTION_OF = {recruit.name: FACTIONS[recruit.faction] for recruit in RECRUITS}
EVERYTHING = {row.name: 0.3 * (k + 1) * (-1) ** k for k, row in enumerate(TABLE)}
SHAPED = {"potential": {"stars": 1.0, "goods": 0.02, "knowledge": -0.1}, "gamma": 0.9, "end": "win"}
REWARDS = [EVERYTHING, *({"potential": EVERYTHING, "gamma": 0.8, "end": end} for end in ("win", "rank", "stars"))]
SHORT = {"num_players": 3, "max_turns": 8}


def quantities(game: Game, seat: int) -> dict[str, int]:
    """All quantities of a player, from the position as JSON."""
    d = game.describe()
    player, built = d["players"][seat], [market for market in d["markets"].values() if market["built"]]
    held = {good: player["goods"].get(good, 0) for good in GOODS}
    sums = {"goods": GOODS, "commodities": COMMODITIES, "resources": RESOURCES}
    active = [recruit["name"] for recruit in player["recruits"] if recruit["active"]]
    away = [owner for there in d["workers"].values() for owner, _ in there] + game.states["back_owner"][0].tolist()
    return held | {name: sum(held[good] for good in group) for name, group in sums.items()} | {
        "stars": 10 - player["stars"],
        "artifacts": sum(player["artifacts"].values()),
        "knowledge": player["knowledge"],
        "morale": player["morale"],
        "workers": 2 if d["status"] == "setup" else len(player["workers"]) + away.count(seat),
        "available": len(player["workers"]),
        "recruits": len(active),
        "allegiance": sum(d["allegiance"][faction] for faction in {FACTION_OF[name] for name in active}),
        "miners": sum(d["miners"].values()),
        "markets": sum(seat in market["stars"] for market in built),
        "territories": sum(seat in owners for owners in d["territories"].values()),
        "penalties": sum(seat not in market["stars"] for market in built),
    }  # fmt: skip


def worth(reward: dict[str, Any], game: Game, seat: int) -> float:
    """The weighted quantities of a player; a potential is 0 once everything has been paid."""
    if "potential" in reward and (game.over or (game.truncated and reward["end"] == "rank")):
        return 0.0
    found = quantities(game, seat)
    return float(sum(weight * found[name] for name, weight in reward.get("potential", reward).items()))


def paid(reward: dict[str, Any], before: Game, after: Game) -> list[float]:
    """Returns what all players get for a decision."""
    n, gamma = before.rules.num_players, reward.get("gamma", 1.0)
    named = expected_rewards(reward["end"], after, stars(before)) if "end" in reward else np.zeros(n)
    old = [worth(reward, before, p) * (1 if p == before.player else gamma) for p in range(n)]
    return [named[p] + gamma * worth(reward, after, p) - old[p] for p in range(n)]


@pytest.mark.parametrize("reward", REWARDS, ids=["weights", "win", "rank", "stars"])
def test_what_is_paid(reward: dict[str, Any]) -> None:
    """In `raw_env` and in `Batch`, whose game goes on from elsewhere; with every quantity and number of players."""
    ends, ranges = set(), {row.name: set[int]() for row in TABLE}
    for seed, rules in enumerate(all_rules()):
        rules, rng = Rules(**{**rules.to_dict(), "max_turns": 25, "stars_to_win": 1 + seed % 3}), random.Random(seed)
        aec = raw_env(**vars(rules), reward=reward)
        aec.reset(seed=seed)
        batch = Batch(2, rules, seed=seed, reward=reward)
        batch.restart([1], {1: aec.game})
        while aec.agents and not any((*aec.terminations.values(), *aec.truncations.values())):
            before = aec.game
            move = actions.parse(prefer(before, rng))
            aec.step(move)
            batch.step(np.array([batch.mask[0].argmax(), move]))
            expected = paid(reward, before, aec.game)
            assert list(aec.rewards.values()) == pytest.approx(expected, abs=1e-4)
            assert batch.rewards[1].tolist() == pytest.approx(expected, abs=1e-4)
            for name, value in quantities(before, before.player).items():
                ranges[name].add(value)
        ends.add(aec.game.over)
    assert ends == {True, False}
    assert all({row.range[0] <= value <= row.range[1] for value in ranges[row.name]} == {True} for row in TABLE)
    assert all(len(found) > 1 for found in ranges.values())


@pytest.mark.parametrize("players", [2, 3])
def test_discounted_sums_are_those_of_the_named_reward(players: int) -> None:
    """So a potential changes no best policy: what it adds up to does not depend on the moves (Ng et al. 1999)."""
    rules = Rules(num_players=players, max_turns=40, stars_to_win=1)
    shaped, plain = (Batch(3, rules, seed=3, reward=reward) for reward in (SHAPED, "win"))
    made, rng = [Trajectories(batch, 10_000) for batch in (shaped, plain)], np.random.default_rng(1)
    old, ends = [], {}
    for _ in range(600):
        old += [worth(SHAPED, shaped.game(i), int(shaped.player[i])) for i in range(3)]
        latest, moves = made[0]._latest.copy(), shaped.sample(rng)
        latest[np.arange(3), shaped.player] = range(made[0].size, made[0].size + 3)
        for batch, one in zip((shaped, plain), made, strict=True):
            one.add(np.arange(3))
            batch.step(moves)
            one.credit()
        for i, row in zip(shaped.ended, shaped.end_states[:, None], strict=True):
            ends |= {k: worth(SHAPED, Game.taking(row), p) for p, k in enumerate(latest[i].tolist()) if k >= 0}
    added = made[0].reward - made[1].reward
    following, first = made[0].following[: made[0].size], np.ones(made[0].size, np.bool_)
    first[following[following >= 0]] = False
    for k in first.nonzero()[0].tolist():
        total, factor, at = 0.0, 1.0, k
        while at >= 0:
            total += factor * added[at]
            factor, last, at = factor * SHAPED["gamma"], at, int(following[at])
        if at == ENDED:
            assert total == pytest.approx(factor * ends[last] - old[k], abs=1e-4)
    assert {0.0} < set(ends.values()) and OPEN in following


def test_learners_get_it_from_one_of_their_decisions_to_the_next() -> None:
    """In one game; tests/test_vector.py compares many games with it."""
    for reward in (SHAPED, EVERYTHING):
        learner, rng = EuphoriaEnv("random", seat=1, reward=reward, **SHORT), random.Random(1)
        for seed in range(4):
            learner.reset(seed=seed)
            over = False
            while not over:
                before = learner.game
                _, found, terminated, truncated, _ = learner.step(actions.parse(prefer(before, rng)))
                assert found == pytest.approx(paid(reward, before, learner.game)[1], abs=1e-4)
                over = terminated or truncated


def test_copies_are_paid_alike(tmp_path: Any) -> None:
    given = copy.deepcopy(SHAPED)
    batch, rng = Batch(3, Rules(**SHORT), seed=1, reward=given), np.random.default_rng(1)
    given["potential"]["stars"] = 5.0
    assert batch.reward == SHAPED
    for _ in range(40):
        twin, moves = pickle.loads(pickle.dumps(batch)), batch.sample(rng)
        twin.step(moves)
        batch.step(moves)
        assert everything(twin) == everything(batch)


def test_only_what_is_paid_at_the_end_ends_a_game_for_stable_baselines() -> None:
    for reward, waits in ((EVERYTHING, True), (SHAPED, True), ({**SHAPED, "end": "rank"}, False)):
        games, infos = EuphoriaVecEnv(1, "random", reward=reward, seed=1, num_players=2, max_turns=2), [{}]
        games.reset()
        while not infos[0]:
            infos = games.step(games.action_masks().argmax(axis=1))[3]
        assert infos[0]["TimeLimit.truncated"] is waits


# --------------------------------------------------------------------------------------------------------------- functions


class Function:
    """Pays the weights of a dict, and plays on in the games that it gets; it fails at one call, if that is given."""

    def __init__(self) -> None:
        self.calls: list[tuple[Game, Game, int]] = []
        self.fail_at, self.failure, self.__qualname__ = -1, None, "my_reward"

    def __call__(self, before: Game, after: Game, seat: int) -> Any:
        self.calls.append((before.clone(), after.clone(), seat))
        if len(self.calls) == self.fail_at:
            if isinstance(self.failure, BaseException):
                raise self.failure
            return self.failure
        found = worth(EVERYTHING, after, seat) - worth(EVERYTHING, before, seat)
        for game in (before, after):
            if game.legal():
                game.play(game.legal()[0])
        return found


def test_a_function_pays_each_seat_for_each_decision() -> None:
    function = Function()
    own, dict_ = (raw_env(**SHORT, reward=reward) for reward in (function, EVERYTHING))
    own.reset(seed=1)
    dict_.reset(seed=1)
    while not own.game.ranking:
        before, move = own.game, int(own.game.legal_actions()[-1])
        function.calls.clear()
        own.step(move)
        dict_.step(move)
        assert function.calls == [(before, own.game, p) for p in range(3)]
        assert list(own.rewards.values()) == [worth(EVERYTHING, own.game, p) - worth(EVERYTHING, before, p) for p in range(3)]
        assert list(own.rewards.values()) == pytest.approx(list(dict_.rewards.values()), abs=1e-4)


FAILURES = [np.nan, -np.inf, None, "1", True, 10**400, KeyError("oh"), KeyboardInterrupt()]


def shown(environment: raw_env | EuphoriaEnv) -> list[Any]:
    """All that an environment shows."""
    aec = isinstance(environment, raw_env)
    seen = [environment.last(), environment.rewards, environment._cumulative_rewards] if aec else [environment.action_masks()]
    return [environment.game.fingerprint(), environment._tape.tolist(), str(seen)]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: repr(failure)[:9])
@pytest.mark.parametrize("make", [raw_env, partial(EuphoriaEnv, "random", seat=0)])
def test_a_function_that_fails_changes_nothing(make: Callable[..., Any], failure: Any) -> None:
    """Also when it fails after a decision of an opponent, who then draws the same numbers again."""
    function = Function()
    environment = make(num_players=3, reward=function, events=4)
    environment.reset(seed=3)
    rng = random.Random(1)
    for _ in range(12):
        function.calls.clear()
        twin, before = copy.deepcopy(environment), shown(environment)
        move = int(environment.game.legal_actions()[0])
        twin.step(move)
        at = rng.randint(1, len(twin._function.calls))
        function.fail_at, function.failure = at, failure
        with pytest.raises(type(failure) if isinstance(failure, BaseException) else ValueError) as found:
            environment.step(move)
        function.calls.clear()
        named = f"what my_reward returns for seat {(at - 1) % 3} must be a number"
        assert found.value is failure or (named in str(found.value) and repr(failure)[:200] in str(found.value))
        assert shown(environment) == before
        function.fail_at = -1
        environment.step(move)
        assert shown(environment) == shown(twin)


# --------------------------------------------------------------------------------------------------------------- bad input

MAKES = {
    "raw_env": raw_env, "env": env, "single": partial(EuphoriaEnv, "random"), "batch": lambda reward: Batch(1, reward=reward),
    "vector": partial(EuphoriaVectorEnv, 1, "random"), "sb3": partial(EuphoriaVecEnv, 1, "random"),
    "text_env": text_env, "text": partial(EuphoriaTextEnv, "random"),
}  # fmt: skip
LIMITS = "must be a number from -1000000.0 to 1000000.0"
WRONG = [
    ({"fame": 1.0}, r"reward\.fame: no such key; allowed are " + ", ".join(row.name for row in TABLE)),
    ({}, "reward must have at least one weight"),
    *(({"stars": weight}, rf"reward\.stars {LIMITS}") for weight in (np.nan, np.inf, -2e6, "1", True, None)),
    ({"potential": {"stars": 1.0}, "gamma": 0.9}, "reward must have all of potential, gamma, end"),
    ({"gamma": 0.9}, "reward must have all of"),
    ({**SHAPED, "stars": 1.0}, r"reward\.stars: no such key; allowed are potential, gamma, end"),
    ({**SHAPED, "potential": {}}, r"reward\.potential must have at least one weight"),
    ({**SHAPED, "potential": {"fame": 1}}, r"reward\.potential\.fame: no such key"),
    ({**SHAPED, "potential": 3}, r"reward\.potential must be an object"),
    *(({**SHAPED, "gamma": gamma}, r"reward\.gamma must be") for gamma in (0, -0.1, 1.01, np.nan, "1", None)),
    *(({**SHAPED, "end": end}, r"reward\.end: .* is not one of win, rank, stars") for end in ("fame", None, 0)),
    *((reward, "reward must be one of win, rank, stars") for reward in ("fame", None, 3, [("stars", 1.0)])),
]


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_bad_rewards(make: Callable[..., Any]) -> None:
    for reward, message in WRONG:
        with pytest.raises(ValueError, match=message):
            make(reward=reward)
    make(reward={"stars": np.float32(1), "goods": np.int64(2)})
    make(reward={**SHAPED, "gamma": 1})


@pytest.mark.parametrize("name", ["env", "batch", "vector", "sb3", "text_env", "text"])
def test_who_takes_functions(name: str) -> None:
    with pytest.raises(ValueError, match="only raw_env and EuphoriaEnv take a function"):
        MAKES[name](reward=lambda before, after, seat: 0.0)
