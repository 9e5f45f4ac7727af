"""The drawing of the board that pages move about: its ids, where things are, its colours, what it says and what it does not."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection

import pytest

from euphoria_env import Game, Rules
from euphoria_env.board import FACTIONS, MARKETS, SLOTS, SPACES, TERRITORIES, TUNNEL_ENDS
from euphoria_env.render.board import board_fragment, places
from euphoria_env.render.layout import PLACES, standing
from euphoria_env.render.symbols import DIE_HEIGHT, DIE_WIDTH, symbols
from euphoria_env.render.theme import PAGE, THEMES, variables
from euphoria_env.render.view import view_of
from tests.test_picture import SVG, fullest, positions


def drawn(game: Game, changed: Collection[str] = (), theme: str = PAGE, seat: int | None = None) -> ET.Element:
    return ET.fromstring(board_fragment(view_of(game, seat), changed, theme))


def ids(root: ET.Element) -> list[str]:
    return [name for element in root.iter() if (name := element.get("id"))]


def of_class(root: ET.Element, kind: str) -> list[ET.Element]:
    return [element for element in root.iter() if kind in element.get("class", "").split()]


@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_ids_are_unique_and_those_of_the_contract_are_there(num_players):
    for game in positions(num_players):
        view = view_of(game)
        found = ids(drawn(game))
        assert len(found) == len(set(found))
        built = {market for market, about in view.markets.items() if about.tile}
        spaces = set(SPACES) - set(MARKETS) - set(SLOTS) | built
        spaces |= {slot for k, slot in enumerate(SLOTS) if MARKETS[k // 4] not in built}
        expected = {f"space-{space}" for space in spaces} | {f"tile-{market}" for market in MARKETS} | {"deck", "discards"}
        for kind in ("allegiance", "territory", "region"):
            expected |= {f"{kind}-{faction}" for faction in FACTIONS}
        expected |= {f"miner-{faction}" for faction in FACTIONS[:3]}
        on_board = Counter(seat for there in view.workers.values() for seat, _ in there)
        expected |= {f"die-{seat}-{k}" for seat, n in on_board.items() for k in range(n)}
        expected |= {f"star-{market}-{seat}" for market, about in view.markets.items() for seat in about.stars}
        for territory, stars in view.territories.items():
            for seat, n in Counter(stars).items():
                expected |= {f"star-{territory}-{seat}", *(f"star-{territory}-{seat}-{k}" for k in range(2, n + 1))}
        assert set(found) == expected


def test_what_moves_lies_in_a_layer_and_is_placed_by_its_transform_alone():
    stars = {"territories": {"icarite_territory": [0, 1, 0]}, "workers": {"farm": [[0, 3], [2, 1]]}}
    root = drawn(Game.from_dict({"rules": {"num_players": 6}, **stars}))
    layers = {"dice": "die", "stars": "star", "markers": ""}
    for layer, kind in layers.items():
        (group,) = of_class(root, layer)
        assert len(group) > 0 and all(node.get("transform") for node in group)
        assert all(kind in node.get("class", "") for node in group)
    roots = []
    for space, steps in (("farm", 2), ("wind_salon", 3)):
        board = {"workers": {space: [[0, 3]]}, "allegiance": {"icarite": steps}, "miners": {"subterran": steps}}
        roots.append(drawn(Game.from_dict({"rules": {"num_players": 2}, "players": [{"workers": [2]}] * 2, **board})))
    for name in ("die-0-0", "allegiance-icarite", "miner-subterran"):
        was, now = ({element.get("id"): element for element in root.iter()}[name] for root in roots)
        assert was.get("transform") != now.get("transform")


@pytest.mark.parametrize("space", [*SPACES])
def test_dice_stand_apart_within_their_space(space):
    left, top, w, h = PLACES[space]
    for n in range(1, 25 if space in ("generator", "aquifer", "farm", "cloud_mine") else 2):
        boxes = [(x, y, x + DIE_WIDTH * scale, y + DIE_HEIGHT * scale) for x, y, scale in standing(space, n)]
        assert all(left <= a and top <= b and c <= left + w and d <= top + h for a, b, c, d in boxes)
        for (a, b, c, d), (e, f, g, i) in itertools.combinations(boxes, 2):
            assert c <= e or g <= a or d <= f or i <= b
    x, y = places()[space]
    assert left < x < left + w and top < y < top + h


def test_marks():
    game = Game.from_dict(
        {"rules": {"num_players": 2}, "players": [{"workers": [2]}, {"workers": [3]}], "miners": {"subterran": 9}}
    )
    root = drawn(game, ["farm"], seat=0)
    marked = {
        kind: [g.get("data-space") for g in of_class(root, kind) if g.tag == f"{SVG}g"] for kind in ("changed", "legal", "closed")
    }
    assert marked["changed"] == ["farm"]
    assert sorted(marked["legal"]) == sorted(move.split()[2] for move in game.legal() if move.startswith("place"))
    assert marked["closed"] == [TUNNEL_ENDS[0], TUNNEL_ENDS[2]]
    assert len(of_class(root, "corner")) == 1
    assert not of_class(drawn(game, seat=1), "legal")
    for space in of_class(root, "space"):
        assert space[0].get("class") == "ground" and space.get("aria-label") and space.get("data-x") and space.get("data-y")


def test_a_page_has_its_colours_as_variables_and_its_symbols_apart():
    text = board_fragment(view_of(fullest(6)), ["farm"])
    used = set(re.findall(r"var\(--([a-z0-9-]+)\)", text + symbols(PAGE)))
    for theme in THEMES:
        assert used <= set(THEMES[theme]) and set(re.findall(r"--([a-z0-9-]+):", variables(theme))) == set(THEMES[theme])
    assert (
        "<style" not in text and " style=" not in text and "<symbol" not in text
    )  # a strict content policy allows no style in it
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(re.findall(r'<symbol id="([^"]+)"', symbols(PAGE)))
    assert 'href="#icon-energy"' in text and text.count("<title>") == 0


def test_dice_and_stars_are_named():
    game = Game.from_dict({"rules": {"num_players": 2}, "workers": {"farm": [[1, 4]]}, "territories": {"icarite_territory": [0]}})
    for names, told in (
        (("Ann", "Bob & Co"), {"a 4 of Bob & Co", "a star of Ann"}),
        ((), {"a 4 of player 2", "a star of player 1"}),
    ):
        root = ET.fromstring(board_fragment(view_of(game), names=names))
        assert {g.get("aria-label") for g in (*of_class(root, "die"), *of_class(root, "star"))} == told


def test_everything_on_the_board_has_a_place():
    assert {*SPACES, *TERRITORIES, "deck", "discards", *(f"rail-{faction}" for faction in FACTIONS)} <= set(places())
    root = drawn(Game(Rules(num_players=2), seed=1))
    at = {g.get("data-space"): (float(g.get("data-x", 0)), float(g.get("data-y", 0))) for g in of_class(root, "space")}
    assert all(at[space] == pytest.approx(places()[space], abs=0.01) for space in at)
