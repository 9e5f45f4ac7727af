"""Events: the public ones say all that is public, nobody learns from theirs what they cannot know, none cost nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest

from euphoria_env import Game, words
from euphoria_env.event_kinds import KIND_ROWS
from euphoria_env.events import KINDS, Event, EventKind
from tests.tools.playing import all_rules, prefer
from tests.tools.positions import any_position

GYMNASIUM_ID = "euphoria_env:euphoria_env/Euphoria-v0"


def names(some: list[Event]) -> list[str]:
    return [KINDS[event.kind] for event in some]


def starts(rng: random.Random, positions: int) -> Iterator[Game]:
    """Games of all player counts and options from their setup, and games from positions."""
    yield from (Game(rules, seed=rng.getrandbits(40)) for rules in all_rules())
    yield from (Game.from_dict({**any_position(rng), "seed": rng.getrandbits(30)}) for _ in range(positions))


# ----------------------------------------------------------------------------------------------------------- what is hidden


def check_pair(game: Game, observer: int, rng: random.Random) -> bool:
    """Deals again what the observer cannot know, plays the same moves in both games, and compares what that player is told.

    Hidden cards that are shown at last, and cards that are drawn, may differ: then the pair ends. Returns whether a move was
    compared.
    """
    one, other = game.determinize(observer, rng.getrandbits(30)), game.determinize(observer, rng.getrandbits(30))

    def shown(twin: Game) -> list[Event]:
        """The cards and lots that the player saw so far."""
        cards = [event for event in twin.events_for(observer) if KIND_ROWS[EventKind(event.kind)].outcome and event.a >= 0]
        return cards + [event for event in twin.events if event.kind in (EventKind.PAID, EventKind.DISCARDED)]

    dice, compared = [rng.randint(1, 6) for _ in range(40)], False
    for twin in (one, other):
        twin.load(dice=dice)
    for _ in range(6):
        both = [move for move in one.legal() if move in other.legal()]
        if not both or one.player != other.player:
            break
        move = rng.choice(both)
        one.play(move)
        other.play(move)
        if not np.array_equal(one.observation(observer), other.observation(observer)) or shown(one) != shown(other):
            break
        assert one.events_for(observer) == other.events_for(observer), (move, names(one.events), names(other.events))
        assert words.log(one, observer) == words.log(other, observer), move
        compared = True
    return compared


def pairs(seed: int, decisions: int, positions: int) -> tuple[int, int]:
    rng, compared, seen = random.Random(seed), 0, 0
    for game in starts(rng, positions):
        for _ in range(decisions):
            if not game.legal():
                break
            for observer in range(game.rules.num_players):
                compared += check_pair(game, observer, rng)
            game.play(prefer(game, rng))
        log = game.events
        for player in range(game.rules.num_players):
            seen += log != game.events_for(player)
    return compared, seen


def test_nobody_is_told_what_they_cannot_know() -> None:
    compared, seen = pairs(seed=5, decisions=8, positions=60)
    assert compared > 800 and seen > 100


@pytest.mark.long
def test_nobody_is_told_what_they_cannot_know_in_20_000_pairs() -> None:
    compared, seed = 0, 6
    while compared < 20_000:
        compared += pairs(seed, decisions=30, positions=200)[0]
        seed += 1


# ------------------------------------------------------------------------------------------------------------ observations


def test_gymnasium_shows_the_learner_their_events() -> None:
    one = gymnasium.make(GYMNASIUM_ID, opponents="random", num_players=2, events=6, seat=1, stars_to_win=1)
    rng = random.Random(1)
    observation, info = one.reset(seed=1)
    assert {*observation} == {"observation", "events"}
    seen = Counter[int]()
    done = False
    while not done:
        assert one.observation_space.contains(observation)
        seen.update(observation["events"][:, 1].tolist())
        move = rng.choice(np.flatnonzero(info["action_mask"]).tolist())
        observation, _, terminated, truncated, info = one.step(move)
        done = terminated or truncated
    assert seen[0] and seen[1]
    assert KINDS[observation["events"][-1, 0]] == "rank" and one.observation_space.contains(observation)
    masked = gymnasium.make(GYMNASIUM_ID, opponents="random", num_players=2, events=6, mask="observation")
    assert {*masked.reset(seed=1)[0]} == {"observation", "action_mask", "events"}


@pytest.mark.parametrize(("pays", "way"), [("clay", True), ("gold", False)])
def test_a_payment_names_the_recruit_without_whom_it_would_not_be_possible_and_no_other(pays: str, way: bool) -> None:
    recruits = [{"name": "michael_the_engineer", "active": True}]
    player = {"workers": [4], "goods": {pays: 1}, "recruits": recruits}
    game = Game.from_dict({"rules": {"num_players": 2}, "players": [player, {"workers": [2]}], "seed": 1})
    before = len(game.events)
    game.play("place 4 euphorian_site_1_2")
    ways = [event for event in game.events[before:] if event.kind == EventKind.WAY]
    assert len(ways) == way
