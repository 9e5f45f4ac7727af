"""The engine and the referee play the same games; and the tool that plays them finds what it should."""

from __future__ import annotations

import os
import random

import pytest

from euphoria_env import Game, Rules
from tests.referee import Referee, tracks
from tests.referee.tables import RECRUITS, TILES
from tests.tools.differential import CHUNK, NEVER_LEGAL, Pair, normal, play_chunks, play_game
from tests.tools.positions import any_position
from tests.tools.scenario_runner import read_text, run

SEED = 2024


@pytest.mark.slow
@pytest.mark.parametrize("decisions", [10_000, pytest.param(200_000, marks=pytest.mark.long)])
def test_the_engine_and_the_referee_agree(decisions: int):
    """`python -m tests.tools.differential DECISIONS` for more of this."""
    whole = play_chunks(SEED, range(decisions // CHUNK), os.cpu_count() or 1)
    if whole.scenarios:
        pytest.fail("\n".join(whole.scenarios), pytrace=False)
    assert whole.decisions >= decisions and whole.ended > decisions // 100
    asked = {f"use {recruit}" for recruit in RECRUITS} - NEVER_LEGAL
    assert len(asked) == 26 and asked <= {*whole.moves}, "some recruits were never used"
    assert not {*whole.moves} & NEVER_LEGAL


def test_random_positions_are_valid_and_read_as_they_are():
    rng = random.Random(5)
    for _ in range(100):
        position = any_position(rng)
        assert normal(Game.from_dict(position).to_dict()) == normal(position)
        assert normal(Referee.from_dict(position).describe()) == normal(position)


# --- R17.6: pools; R1.2 ---

POOL = [name for name, faction in RECRUITS.items() if faction == "wastelander"]
OUTSIDER = "zong_the_astronomer"
SIX, TILE_OUTSIDE = list(TILES)[:6], list(TILES)[6]


@pytest.mark.parametrize(("kind", "name"), [("recruits", OUTSIDER), ("markets", TILE_OUTSIDE)])
def test_a_card_that_is_not_in_the_game_cannot_be_loaded(kind, name):
    rules = Rules(num_players=2, recruits=POOL, markets=SIX)
    game = Game(rules, seed=1)
    before = game.fingerprint()
    with pytest.raises(ValueError, match=f"(?s){kind}.*{name}|{name}.*{kind}"):
        game.load(**{kind: [name]})
    assert game.fingerprint() == before
    with pytest.raises(ValueError, match=name):
        Game(rules, seed=1, load={kind: [name]})


def test_the_cards_in_the_game_are_kept_in_their_order():
    rules = {"num_players": 2, "recruits": POOL[::-1], "markets": SIX[::-1]}
    for position in (Game(Rules(**rules), seed=1).describe(), Referee.new(rules, seed=1).describe()):
        assert (position["rules"]["recruits"], position["rules"]["markets"]) == (POOL, SIX)
    assert Rules(recruits=list(RECRUITS), markets=tuple(TILES)) == Rules()


@pytest.mark.parametrize("tiles", [None, list(TILES)[:8]], ids=["all-tiles", "smallest-pool"])
def test_tiles_are_loaded_in_a_market_draft(tiles):
    """A tile that is out of the game changes places with one of those to be drawn."""
    dealt = list(TILES)[:4]
    rules = {"num_players": 2, "market_draft": True, "markets": tiles}
    pair = Pair({"new": {"rules": rules, "seed": 3}}, {"markets": dealt})
    while pair.compare()[0] != f"choose {dealt[0]}":
        pair.play(pair.compare()[0])
    pair.play(f"choose {dealt[0]}")  # the second one goes out of the game
    pair.engine.load(markets=[dealt[1], *list(TILES)[4:7]])  # the missing four: with the one that was put out
    pair.play(f"choose {dealt[3]}")
    pair.compare()
    on_sites = {market["tile"] for market in pair.engine.describe()["markets"].values()}
    assert on_sites == {dealt[0], dealt[1], dealt[3], *list(TILES)[4:7]}


@pytest.fixture
def faulty_referee(monkeypatch):
    """A referee in which nobody gains more than one morale at once."""
    gain_morale = tracks.gain_morale
    monkeypatch.setattr(tracks, "gain_morale", lambda table, player, points: gain_morale(table, player, min(points, 1)))


def test_a_difference_is_found_and_written_as_a_scenario(faulty_referee):
    text = next(one for k in range(200) for one in play_game(random.Random(k)).scenarios)
    (found,) = read_text(text)
    assert "morale" in text
    run(found)  # the moves can be played on the engine
