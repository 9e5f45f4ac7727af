"""Any input from outside gives a ValueError, or a game that is valid and can be played on; changed ones: test_fuzz_files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from euphoria_env import Game, Rules
from euphoria_env.board import ARTIFACTS, FACTIONS, GOODS, MARKETS, SPACES, TERRITORIES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from tests.tools import fuzz
from tests.tools.playing import is_sound
from tests.tools.positions import random_rules

FUZZ = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
NAMES = (*ARTIFACTS, *FACTIONS, *GOODS, *MARKETS, *SPACES, *TERRITORIES, *RECRUIT_NAMES, *TILES)
SCALARS = st.sampled_from(fuzz.SCALARS) | st.integers(-3, 13) | st.floats() | st.text(max_size=5) | st.sampled_from(NAMES)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES + fuzz.KEYS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


GAMES = st.builds(fuzz.game_under_way, st.randoms(use_true_random=False))


TWO = {"num_players": 2}
REFUSED_WHEN_DRAWN: list[tuple[dict[str, Any], dict[str, list[Any]], str]] = [
    ({"num_players": 3}, {"dice": [1, 1, 6, 6, 6, 6], "lots": [0]}, "not among the tied"),
    # One tile is dealt to a player and then drawn again to make up the six.
    ({**TWO, "market_draft": True}, {"markets": [*TILES[:4], TILES[0]]}, f"markets '{TILES[0]}'"),
    # One tile is laid that nobody put in the game.
    ({**TWO, "market_draft": True}, {"markets": [*TILES[:4], *TILES[4:8], TILES[9]]}, f"markets '{TILES[9]}'"),
]


@pytest.mark.parametrize(("rules", "load", "message"), REFUSED_WHEN_DRAWN)
def test_loaded_outcomes_that_turn_out_impossible_when_they_are_drawn(rules, load, message) -> None:
    game = Game(Rules(**rules), seed=1, load=load)
    with pytest.raises(ValueError, match=message):
        while game.turn == 0:
            before = game.fingerprint()
            game.play(int(game.legal_actions()[0]))
    assert game.turn == 0 and game.fingerprint() == before


@FUZZ
@given(ANYTHING | st.dictionaries(st.sampled_from(list(Rules().to_dict())), SCALARS))
def test_rules(d: Any) -> None:
    try:
        rules = Rules.from_dict(d)
    except ValueError as error:
        assert "rules" in str(error)
    else:
        assert Rules.from_dict(rules.to_dict()) == rules
        game = Game(rules, seed=1)
        assert game.rules == rules
        if rules.max_turns is None or rules.max_turns < 2000:
            is_sound(game)


LOADS = st.dictionaries(
    st.sampled_from(["dice", "artifacts", "recruits", "markets", "dilemmas", "lots"]) | st.text(max_size=3),
    st.lists(st.sampled_from(NAMES) | st.integers(-1, 7) | SCALARS, max_size=6)
    | st.lists(st.integers(1, 6), max_size=80)
    | st.lists(st.sampled_from(ARTIFACTS), max_size=70)
    | st.lists(st.sampled_from(RECRUIT_NAMES), max_size=10)
    | st.lists(st.sampled_from(TILES), max_size=8)
    | ANYTHING,
    max_size=4,
)


@FUZZ
@given(GAMES, LOADS)
def test_load(game: Game, outcomes: dict[str, Any]) -> None:
    before, waiting = game.fingerprint(), game.describe()["load"]
    try:
        game.load(**outcomes)
    except ValueError:
        assert game.fingerprint() == before
    else:
        loaded = game.describe()["load"]
        for kind in {*outcomes, *waiting}:
            assert loaded.get(kind, []) == [*waiting.get(kind, []), *outcomes.get(kind, [])]
        is_sound(game)


@FUZZ
@given(st.builds(random_rules, st.randoms(use_true_random=False)), LOADS | ANYTHING, st.integers() | ANYTHING)
def test_a_new_game(rules: dict[str, Any], outcomes: Any, seed: Any) -> None:
    try:
        game = Game(Rules.from_dict(rules), seed, outcomes)
    except ValueError:
        return
    is_sound(game)


def test_an_ended_game_with_hidden_recruits_of_revealed_factions_is_dealt_whole() -> None:
    """It ended before they became active; all four factions are revealed, so that no card would be left to deal."""
    dealt = set()
    for seed, mine in enumerate(RECRUIT_NAMES[1:]):
        players = [{"recruits": [{"name": name, "active": False}]} for name in (mine, RECRUIT_NAMES[0])]
        d = {"rules": {"num_players": 2}, "players": players, "allegiance": dict.fromkeys(FACTIONS, 8), "status": "over"}
        game = Game.from_dict({**d, "winner": 0, "ranking": [1, 2], "seed": 1})
        game._rows["revealed"] = 2 ** len(FACTIONS) - 1
        own, other = (one["recruits"][0]["name"] for one in game.determinize(0, seed).describe()["players"])
        assert own == mine != other
        dealt.add(other)
    assert len(dealt) > 20
