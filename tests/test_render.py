"""The pictures of the board: they are complete, well-formed, and show nothing hidden (R19)."""

import random
import re
import sys
import xml.etree.ElementTree as ET

import pytest

from euphoria_env import Game, Rules
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.phrases import templates
from euphoria_env.render import board_array, board_svg, board_text
from euphoria_env.render.board import board_fragment
from euphoria_env.render.text import TEXT_WIDTH, short_board
from euphoria_env.render.view import view_of
from euphoria_env.words import recruit_words, short_title, title
from tests.tools.playing import random_game

POSITION = {
    "rules": {"num_players": 3},
    "seed": 5,
    "player": 1,
    "turn": 17,
    "players": [
        {
            "knowledge": 5,
            "morale": 4,
            "workers": [2, 5],
            "goods": {"energy": 7, "clay": 2},
            "artifacts": {"bifocals": 2, "box": 1},
            "recruits": [{"name": "nick_the_understudy", "active": True}, {"name": "ray_the_foreman", "active": False}],
            "dilemma": {"artifact": "bat"},
        },
        {"workers": [6], "recruits": [{"name": "maggie_the_outlaw", "active": True, "star": True}]},
        {"workers": [1], "dilemma": {"artifact": "book", "resolved": "star"}},
    ],
    "workers": {"farm": [[0, 3], [1, 4]], "wastelander_site_1_2": [[2, 6]], "subterran_tunnel_end": [[1, 2]]},
    "allegiance": {"subterran": 11, "icarite": 3},
    "miners": {"subterran": 9, "euphorian": 4},
    "markets": {"euphorian_market_2": {"tile": "spa_of_fleeting_pleasure", "built": True, "stars": [2]}},
    "territories": {"icarite_territory": [0, 2]},
    "discards": {"bear": 4},
}
NAMES = ["Ann", "Bob", "You"]  # the last one as the page calls who has not said their name


def games(num_players: int, moves: int, **rules) -> list[Game]:
    """A game at several of its decisions, setup included."""
    game = Game(Rules(num_players=num_players, **rules), seed=moves)
    rng = random.Random(moves)
    seen = [game.clone()]
    for _ in range(moves):
        if game.over:
            break
        game.play(rng.choice(game.legal()))
        seen.append(game.clone())
    return [*seen[:24], *seen[24::31], seen[-1]]


@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_text_contains_the_facts(seat):
    text = " ".join(board_text(Game.from_dict(POSITION), seat).split())
    for fact in (
        "knowledge 5 morale 4 stars 1/10 workers 2 5 (and 1 on the board)",
        "7 energy, 2 clay; 3 artifacts",
        f"nick_the_understudy: {recruit_words('nick_the_understudy')}",
        "dilemma book: became a star",
        "penalties: spa_of_fleeting_pleasure",
        "farm P0:3 P1:4 (sum 7)",
        "subterran_tunnel_end P1:2 -> 3 food",
        "euphorian_tunnel_end closed",
        "1: ---- 1 stone | 2: P2:6 1 clay",
        "1 of 2 workers that build the market",
        "subterran allegiance 11/11",
        "euphorian_market_2 ---- 4 water, 1 artifact",
        "icarite_territory stars: P0 P2 --",
        "artifact deck 29 cards",
    ):
        assert fact in text


def test_the_short_board_has_a_line_for_each_region_and_player():
    assert short_board(view_of(Game.from_dict(POSITION), None, NAMES), NAMES, 120).splitlines() == [
        "Euphoria, turn 17: Bob",
        "Icarus      allegiance 3 | Cloud Mine | stars Ann, You",
        "Euphoria    allegiance 0 | Generator | tunnel 4/9 | Spa, stars You",
        "Wastelands  allegiance 0 | Farm 7 (Ann 3, Bob 4) | tunnel 0/9 | site 1 1/2 (You 6)",
        "Subterra    allegiance 11 | Aquifer | tunnel 9/9 | its end (Bob 2)",
        "Worker tank by energy | by water | 29 cards in the deck",
        "      stars dice check kn mo energy water food bliss gold stone clay cards",
        "  Ann  1/10  2 5 12/16  5  4      7     -    -     -    -     -    2     3",
        "> Bob  1/10    6  9/16  3  1      -     -    -     -    -     -    -     -",
        "  You  3/10    1  4/16  3  1      -     -    -     -    -     -    -     -",
    ]


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("num_players", [2, 6])
def test_the_short_board_fits(num_players, width):
    names = ["Ann", "greedy 1", "A long name", "You", "\u00d8yvind", "Fay"][:num_players]
    for game in games(num_players, 250)[::9]:
        text = short_board(view_of(game, game.player), names, width)
        assert max(map(len, text.splitlines())) <= width and (width < 120 or len(text.splitlines()) <= 18)
        assert all(name.split()[-1] in text for name in names)


def test_parts_of_the_board_are_told_by_their_names_and_by_who_is_there():
    labels = re.findall('aria-label="([^"]*)"', board_fragment(view_of(Game.from_dict(POSITION)), names=NAMES))
    (farm,) = (label for label in labels if label.startswith("Farm: free. Add the numbers"))
    assert farm.endswith("; a 3 of Ann; a 4 of Bob")
    for told in ("a 3 of Ann", "a star of You", "territory of Icarus; a star of Ann; a star of You"):
        assert told in labels
    for told in ("allegiance of Subterra: 11 of 11", "tunnel of Euphoria: 4 of 9 steps dug", "miner of Subterra: 9 of 9"):
        assert told in labels


def test_names_in_the_headline_and_the_offer():
    game = Game.from_dict(POSITION)
    told = [str(view_of(game, seat, names).headline) for seat in (None, 1) for names in (None, NAMES)]
    assert told == ["turn 17: player 1", "turn 17: Bob", "turn 17: player 1", "turn 17: you"]
    over = random_game(Rules(num_players=3, stars_to_win=1), 3)
    assert [str(view_of(over, seat, NAMES).headline).split()[:2] for seat in (None, over.winner)] == [
        [NAMES[over.winner], "has"],
        ["you", "have"],
    ]
    rich = {"workers": [6], "goods": {"energy": 2, "water": 2}}
    trade = Game.from_dict({"rules": {"num_players": 3, "trading": True}, "player": 1, "players": [rich] * 3})
    trade.play("trade +1")
    assert str(view_of(trade, None, NAMES).offer) == "Bob offers you nothing yet for nothing yet"
    with pytest.raises(ValueError, match="names must"):
        view_of(game, 0, ["Ann"])


def test_public_text_hides_what_a_seat_sees():
    game = Game.from_dict(POSITION)
    secrets = ("ray_the_foreman", "bifocals", "dilemma bat")
    assert [secret in board_text(game, 0) for secret in secrets] == [True] * 3
    for seat in (None, 1, 2):
        assert [secret in board_text(game, seat) for secret in secrets] == [False] * 3
    assert "legal moves" in board_text(game, 1) and "legal moves" not in board_text(game, 0)


def test_a_recruit_chosen_as_the_active_one_is_not_marked_hidden():
    """R2.2: the first choice is the active recruit, which nobody else sees before all have chosen."""
    game = Game(Rules(num_players=2), seed=3)
    for _ in range(2):
        game.play(game.legal()[0])
    active, hidden = (recruit["name"] for recruit in game.describe()["players"][0]["recruits"])
    own, other = board_text(game, 0), board_text(game, 1)
    assert active in own and f"{active} (hidden)" not in own and f"{hidden} (hidden)" in own
    assert active not in other and hidden not in other


def test_an_offer_and_the_end_are_shown():
    rich = [{"goods": {"food": 9}, "workers": [2]}, {"goods": {"gold": 3}, "workers": [3]}]
    game = Game.from_dict({"rules": {"num_players": 2, "trading": True}, "players": rich})
    for move in ("trade +1", "give food", "ask gold"):  # the first food is forced (R18.1)
        game.play(move)
    assert "player 0 offers player 1 2 food for 1 gold" in board_text(game)
    assert "Player 1 offers Player 2 2 food for 1 gold" in board_svg(game)
    game = Game.from_dict({"rules": {"num_players": 2, "max_turns": 1}, "players": [{"workers": [1]}]})
    game.play("place 1 farm")
    assert game.truncated and "rank 1" in board_text(game)
    assert all("cut off after turn 1" in picture(game) for picture in (board_text, board_svg))


@pytest.mark.parametrize("rules", [{}, {"recruit_draft": True, "market_draft": True, "track_draft": True, "trading": True}])
@pytest.mark.parametrize("num_players", range(2, 7))
def test_pictures_are_sound_and_hide_what_is_hidden(num_players, rules):
    pictures = (board_text, board_svg, view_of)
    for k, game in enumerate(games(num_players, 250, **rules)[::2]):
        assert max(map(len, board_text(game, game.player).splitlines())) <= TEXT_WIDTH
        assert ET.fromstring(board_svg(game, game.player)).tag.endswith("svg")
        assert str(game) == board_text(game) and game._repr_svg_() == board_svg(game)
        for player in range(num_players):
            other = game.determinize(player, seed=k)
            for picture in pictures:
                assert picture(other) == picture(game) and picture(other, player) == picture(game, player)


@pytest.mark.parametrize("missing", ["resvg_py", "PIL"])
def test_array_without_what_it_needs(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)  # importing it raises ImportError
    with pytest.raises(ImportError, match=r"resvg_py and Pillow: pip install .*\[render\]"):
        board_array(Game(seed=0))


def test_names():
    assert {f"card.{tile}" for tile in TILES} <= set(templates("en"))
    assert len({short_title(tile) for tile in TILES}) == len(TILES)
    assert len({title(name) for name in RECRUIT_NAMES}) == len(RECRUIT_NAMES)
