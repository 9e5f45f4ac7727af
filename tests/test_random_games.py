"""Random games at every player count and with every option: invariants at every decision."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from euphoria_env import Game, IllegalMove, Rules, actions, observations
from tests.tools.playing import all_rules, conserved, prefer, random_game, random_move

DECISIONS = 500
RULES = list(all_rules())
_SIZES, _LOWS, _HIGHS = np.array([field[1:] for field in observations.fields().values()]).T
_LOW, _HIGH, _SCALE = np.repeat(_LOWS, _SIZES), np.repeat(_HIGHS, _SIZES), observations.scale()


def _id(rules: Rules) -> str:
    options = [name for name, value in rules.to_dict().items() if value is True]
    return "-".join([str(rules.num_players), *options])


@pytest.mark.parametrize("policy", [random_move, prefer], ids=["uniform", "preferring"])
@pytest.mark.parametrize("rules", RULES, ids=_id)
def test_invariants_at_every_decision(rules: Rules, policy) -> None:
    rng = random.Random(repr(rules))
    game = Game(rules, seed=rng.getrandbits(32))
    for _ in range(DECISIONS):
        legal = game.legal()
        if not legal:
            break
        assert [actions.name(a) for a in game.legal_actions()] == legal == sorted(legal, key=actions.parse)
        assert np.array_equal(np.flatnonzero(game.mask()), [actions.parse(move) for move in legal])
        assert len(set(legal)) == len(legal)
        assert game.prompt and 0 <= game.player < rules.num_players
        if rng.random() < 0.2:
            _check_position(game, rng)
        game.play(policy(game, rng))
    record = game.to_record()
    replayed = Game.from_record(record)
    assert replayed == game and replayed.to_record() == record
    assert replayed.fingerprint() == game.fingerprint()


def _check_position(game: Game, rng: random.Random) -> None:
    d = game.to_dict()
    conserved(game.describe())
    copy = game.clone()
    assert copy == game and copy.fingerprint() == game.fingerprint()
    assert json.loads(json.dumps(d)) == d
    assert Game.from_dict(d) == game
    for player in range(game.rules.num_players):
        observation = game.observation(player)
        assert observation.dtype == np.int8 and observation.shape == (observations.OBS_SIZE,)
        assert (observation >= _LOW).all() and (observation <= _HIGH).all() and (np.abs(observation / _SCALE) <= 1).all()
    other = game.determinize(rng.randrange(game.rules.num_players), rng.getrandbits(40))
    other.play(rng.choice(other.legal()))
    assert copy == game


def test_fields_and_scale_cover_the_observation() -> None:
    fields, names = observations.fields(), [field.name for field in observations.table()]
    ends = [start + size for start, size, _, _ in fields.values()]
    assert [*fields] == names and [start for start, *_ in fields.values()] == [0, *ends[:-1]]
    assert fields["player_1.knowledge"] == (194, 1, 0, 6)
    assert _SCALE.dtype == np.float32 and _SCALE.shape == (ends[-1],) == (observations.OBS_SIZE,) and _SCALE[194] == 6


@pytest.mark.parametrize("n", range(2, 7))
def test_games_end_and_then_nobody_has_a_move(n: int) -> None:
    rng = random.Random(n)
    game = Game(Rules(num_players=n), seed=n)
    while game.legal():
        game.play(prefer(game, rng))
    conserved(game.to_dict())
    assert game.over and not game.truncated
    assert game.ranking is not None and game.ranking[game.winner] == 1 and game.ranking.count(1) == 1
    assert game.describe()["players"][game.winner]["stars"] == 0
    assert not game.mask().any() and len(game.legal_actions()) == 0
    assert Game.from_dict(game.to_dict()) == game
    before = game.to_dict()
    with pytest.raises(IllegalMove, match="ended"):
        game.play("place 1 farm")
    assert game.to_dict() == before


@pytest.mark.parametrize("n", range(2, 7))
def test_truncated_after_max_turns(n: int) -> None:
    rng = random.Random(n)
    game = Game(Rules(num_players=n, max_turns=7), seed=n)
    while game.legal():
        game.play(random_move(game, rng))
    assert game.truncated and not game.over and game.winner is None and game.turn == 7
    assert game.ranking is not None and min(game.ranking) == 1
    assert Game.from_dict(game.to_dict()) == game


@pytest.mark.parametrize("rules", RULES[:10:3], ids=_id)
def test_outcomes_loaded_into_another_game_make_the_same_game(rules: Rules) -> None:
    """In long games more is drawn than the log of a game holds at once."""
    game = random_game(rules, seed=5)
    load: dict[str, list] = {}
    for kind, value in game.outcomes:
        load.setdefault(kind, []).append(value)
    twin = Game(rules, seed=6, load=load)
    for line in game.history:
        twin.play(line.split(" | ")[0])
    assert twin.outcomes == game.outcomes
    a, b = game.to_dict(), twin.to_dict()
    assert a | {"generator": None} == b | {"generator": None}


def test_equal_seeds_make_equal_games_and_others_do_not() -> None:
    assert Game(Rules(), seed=3) == Game(Rules(), seed=3)
    assert Game(Rules(), seed=3) != Game(Rules(), seed=4)
    assert Game(Rules(), seed=3) != Game(Rules(trading=True), seed=3)
    assert Game(Rules(), seed=-1).fingerprint() == Game(Rules(), seed=-1).fingerprint()
