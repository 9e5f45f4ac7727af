"""The picture can be read: texts apart, on their ground, large, in contrast."""

from __future__ import annotations

import itertools
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from euphoria_env import Game, Rules
from euphoria_env.board import AREAS, ARTIFACT_MARKETS, ICARUS, MARKETS, SLOTS, TANK, TUNNEL_ENDS, TUNNELS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.render import board_svg
from euphoria_env.render.lettering import FONT_FILE, text_width
from euphoria_env.render.sheet import SMALL
from euphoria_env.render.svg import PICTURE_HEIGHT, PICTURE_WIDTH, WIDE
from euphoria_env.words import recruit_words, short_name, space_words, title

NAMES = ("Ann", "mcts:1000:ppo", "A rather long name of a person", "weights:/a/folder/best.safetensors", "greedy", "Øyvind Æ.")
LAST = "Player 2 placed the 4 on the Generator: 2 energy and 1 knowledge, and that was what happened last of all"
SVG = "{http://www.w3.org/2000/svg}"


# ---------------------------------------------------------------------------------------------------- reading a picture


@dataclass
class Shape:
    """A rectangle, a disc, a star or a symbol, or a text: what it covers, and how it is painted."""

    kind: str
    box: tuple[float, float, float, float]  # left, top, right, bottom
    fill: str = "none"
    stroke: str = "none"
    text: str = ""
    size: float = 0


def shapes(svg: str) -> list[Shape]:
    """The painted shapes, in the order of painting; outlines of the land and marks, which are paths, apart."""
    root = ET.fromstring(svg)
    return list(_painted(root, 0, 0, 1, {symbol.get("id", ""): symbol for symbol in root.iter(f"{SVG}symbol")}))


def _painted(element: ET.Element, x: float, y: float, scale: float, symbols: dict[str, ET.Element]) -> Iterator[Shape]:
    for child in element:
        tag, at = child.tag.removeprefix(SVG), dict(child.attrib)

        def box(left: float, top: float, w: float, h: float) -> tuple[float, float, float, float]:
            return x + scale * left, y + scale * top, x + scale * (left + w), y + scale * (top + h)

        if tag == "g":
            moved = re.fullmatch(r"translate\((\S+) (\S+)\)(?: scale\((\S+)\))?", at.get("transform", "translate(0 0)"))
            assert moved
            left, top, factor = (float(part or 1) for part in moved.groups())
            yield from _painted(child, x + scale * left, y + scale * top, scale * factor, symbols)
        elif tag == "use":
            left, top, w, h = (float(at.get(key, 0)) for key in ("x", "y", "width", "height"))
            symbol = symbols[at["href"].removeprefix("#")]
            if at["href"].startswith("#icon-"):
                yield Shape("symbol", box(left, top, w, h), stroke=at.get("stroke", "none"))
            else:
                factor = w / float(symbol.get("viewBox", "").split()[2])
                yield from _painted(symbol, x + scale * left, y + scale * top, scale * factor, symbols)
        elif tag == "rect":
            left, top, w, h = (float(at.get(key, 0)) for key in ("x", "y", "width", "height"))
            yield Shape("rect", box(left, top, w, h), at["fill"], at.get("stroke", "none"))
        elif tag == "circle":
            cx, cy, r = (float(at[key]) for key in ("cx", "cy", "r"))
            yield Shape("disc", box(cx - r, cy - r, 2 * r, 2 * r), at["fill"], at.get("stroke", "none"))
        elif tag == "polygon":
            points = np.array([[float(n) for n in point.split(",")] for point in at["points"].split()])
            (left, top), (right, bottom) = points.min(0), points.max(0)
            yield Shape("star", box(left, top, right - left, bottom - top), at["fill"], at.get("stroke", "none"))
        elif tag == "text":
            size, weight, text = float(at["font-size"]), int(at.get("font-weight", 400)), child.text or ""
            wide = text_width(text, size, weight)
            left = float(at["x"]) - {"start": 0, "middle": wide / 2, "end": wide}[at.get("text-anchor", "start")]
            where = box(left, float(at["y"]) - 0.75 * size, wide, 0.95 * size)
            yield Shape("text", where, at["fill"], text=text, size=size * scale)


@dataclass
class Layers:
    """The places of the shapes of a picture, one painted over the other; shapes of `GROUNDS` are under others."""

    painted: list[Shape]

    GROUNDS = ("rect", "disc", "star")

    def __post_init__(self) -> None:
        self.left, self.top, self.right, self.bottom = np.array([shape.box for shape in self.painted]).T
        self.grounds = np.array([shape.kind in self.GROUNDS for shape in self.painted])
        self.filled = self.grounds & np.array([shape.fill != "none" for shape in self.painted])

    def containing(self, box: tuple[float, float, float, float], slack: float = 0.5) -> np.ndarray:
        """The shapes that contain a whole box."""
        a, b, c, d = box
        return (self.left <= a + slack) & (self.top <= b + slack) & (self.right >= c - slack) & (self.bottom >= d - slack)

    def apart(self, box: tuple[float, float, float, float], slack: float = 0.5) -> np.ndarray:
        """The shapes that have nothing in common with a box."""
        a, b, c, d = box
        return (self.right <= a + slack) | (c <= self.left + slack) | (self.bottom <= b + slack) | (d <= self.top + slack)

    def in_the_way(self, k: int) -> list[Shape]:
        """The shapes a text overlaps that are neither its ground, whole and below it, nor hidden by its ground."""
        fine = self.apart(self.painted[k].box) | (self.grounds & self.containing(self.painted[k].box))
        fine[k] = True
        fine[: np.flatnonzero((self.filled & self.containing(self.painted[k].box))[:k])[-1]] = True
        fine[k + 1 :] = self.apart(self.painted[k].box)[k + 1 :]
        return [self.painted[i] for i in np.flatnonzero(~fine)]

    def ground(self, k: int) -> str:
        """The colour under a shape: that of the last filled one painted before it that contains it."""
        return self.painted[np.flatnonzero((self.filled & self.containing(self.painted[k].box))[:k])[-1]].fill


# --------------------------------------------------------------------------------------------------------------- colours


@cache
def light(colour: str) -> np.ndarray:
    """Linear red, green and blue."""
    c = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


@cache
def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it, 1 to 21."""
    dark, bright = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ light(colour)) for colour in (one, other))
    return (bright + 0.05) / (dark + 0.05)


# --------------------------------------------------------------------------------------------------------------- positions


def positions(num_players: int) -> Iterator[Game]:
    """Random games at some of their decisions, and the fullest board."""
    for seed in range(2):
        game = Game(Rules(num_players=num_players, trading=seed == 1, max_turns=150), seed=seed)
        rng = random.Random(seed)
        for number in itertools.count():
            if number % 61 == 0 or game.deciding in ("trade", "reply") and number % 5 == 0:
                yield game.clone()
            if not game.legal():
                break
            game.play(rng.choice(game.legal()))
        yield game
    yield fullest(num_players)


def fullest(n: int) -> Game:
    """All markets built, with the longest names of tiles and recruits; every worker in one area."""
    tiles = sorted(TILES, key=lambda name: -len(name))
    recruits = sorted(RECRUIT_NAMES, key=lambda name: -len(name))
    workers = (4, 4, 3, 4, 4, 4)
    return Game.from_dict(
        {
            "rules": {"num_players": n},
            "player": 0,
            "turn": 1234,
            "players": [
                {
                    "knowledge": 6,
                    "morale": 6,
                    "workers": [6] * (4 - workers[p]),
                    "goods": {"energy": 10_000, "water": 100, "food": 99, "bliss": 21, "gold": 1000, "stone": 3, "clay": 10_000},
                    "artifacts": {"bifocals": 2, "balloons": 1, "bear": 1, "book": 1, "box": 1} if p == 2 % n else {"bat": 1},
                    "recruits": [
                        {"name": name, "active": True, "star": k == 0} for k, name in enumerate(recruits[4 * p : 4 * p + 4])
                    ],
                    "dilemma": {"artifact": ("balloons", "bat", "bear", "bifocals", "book", "box")[p], "resolved": "recruit"},
                }
                for p in range(n)
            ],
            "workers": {"farm": [[p, 1 + k] for p in range(n) for k in range(workers[p])]},
            "allegiance": dict.fromkeys(("euphorian", "subterran", "wastelander", "icarite"), 11),
            "miners": {"subterran": 9, "euphorian": 9, "wastelander": 5},
            "markets": {market: {"tile": tile, "built": True, "stars": []} for market, tile in zip(MARKETS, tiles, strict=False)},
        }
    )


def assert_readable(game: Game, num_players: int, **options) -> None:
    layers = Layers(shapes(board_svg(game, game.player, names=NAMES[:num_players], last=LAST, **options)))
    for k, shape in enumerate(layers.painted):
        if shape.kind == "text":
            assert not layers.in_the_way(k), shape
            assert contrast(shape.fill, layers.ground(k)) >= 4.5, shape
            assert shape.size >= SMALL or shape.text.isdecimal(), shape
        elif shape.stroke != "none":
            assert contrast(shape.stroke, layers.ground(k)) >= 3, shape
        elif shape.kind in ("disc", "star"):
            assert contrast(shape.fill, layers.ground(k)) >= 3, shape


@pytest.mark.parametrize("num_players", range(2, 7))
def test_texts_are_apart_on_their_ground_and_in_contrast(num_players):
    games = list(positions(num_players))
    for game in games[::2]:
        assert_readable(game, num_players)
    for options in ({"theme": "light"}, {"theme": "print"}, {"width": 1000}):  # below 1300 the players are below the board
        for game in (games[3], games[-1]):
            assert_readable(game, num_players, **options)


# ------------------------------------------------------------------------------------------------------- what is on it


def texts(svg: str) -> str:
    """All that is written, in the order of painting."""
    return " ".join(shape.text for shape in shapes(svg) if shape.kind == "text")


def groups(svg: str, kind: str) -> list[ET.Element]:
    return [group for group in ET.fromstring(svg).iter(f"{SVG}g") if kind in group.get("class", "").split()]


def titled(group: ET.Element) -> str:
    return group.findtext(f"{SVG}title", "")


@pytest.mark.parametrize("num_players", range(2, 7))
def test_every_space_can_be_pointed_at(num_players):
    fixed = {*AREAS, *TUNNELS, *TUNNEL_ENDS, *TANK, *ARTIFACT_MARKETS, *ICARUS}
    fresh = groups(board_svg(Game(Rules(num_players=num_players), seed=1)), "space")
    assert sorted(group.get("data-space", "") for group in fresh) == sorted({*fixed, *SLOTS})
    for group in fresh:
        name, _, words = titled(group).partition(": ")
        assert name[0].isupper() and words.lower() == space_words(group.get("data-space", "")).lower()
    game = fullest(num_players)
    built = groups(board_svg(game), "space")
    assert sorted(group.get("data-space", "") for group in built) == sorted({*fixed, *MARKETS})
    tiles = sorted(TILES, key=lambda name: -len(name))
    for market, tile in zip(MARKETS, tiles, strict=False):
        assert [titled(group) for group in built if group.get("data-space") == market][0].startswith(f"{title(tile)}: ")
    assert [group.get("data-seat") for group in groups(board_svg(game), "panel")] == [str(p) for p in range(num_players)]


@pytest.mark.parametrize("num_players", range(2, 7))
def test_names_of_cards_and_their_words_are_at_hand(num_players):
    recruits = sorted(RECRUIT_NAMES, key=lambda name: -len(name))[: 4 * num_players]
    for width, named in ((None, short_name), (700, title)):
        svg = board_svg(fullest(num_players), width=width)
        written, told = texts(svg), {titled(group) for group in groups(svg, "card")}
        for name in recruits:
            assert named(name) in written and f"{title(name)}: {recruit_words(name)}" in told
        assert ("When you" in written) == (width == 700 or num_players > 4)  # some players are below the board


def test_names_and_the_last_move():
    game = Game(Rules(num_players=3), seed=2)
    svg = board_svg(game, names=["Ann", "mcts:500", "<Bob> & Co"], last="Ann chose \u2026")
    assert all(text in texts(svg) for text in ("Ann", "mcts:500", "<Bob> & Co", "last: Ann chose \u2026"))
    assert not re.search(r"[Pp]layer \d", texts(svg)) and "Player 1" in texts(board_svg(game))
    assert [titled(group) for group in groups(svg, "panel")] == ["Ann", "mcts:500", "<Bob> & Co"]
    assert "<desc>Ann: choose the active recruit. Ann: 0 of 10 stars, knowledge 3, morale 1" in svg
    assert "<title>Euphoria, setup</title>" in svg and 'role="img"' in svg


def test_every_die_star_and_panel_has_the_number_of_its_player():
    """As people count, from 1; data and notation count from 0."""

    def number(node: ET.Element) -> str:
        return str(int(node.get("data-seat", "")) + 1)

    board = {"workers": {"farm": [[p, 1 + p] for p in range(6)]}, "territories": {"icarite_territory": [*range(6)]}}
    game = Game.from_dict({"rules": {"num_players": 6}, "players": [{"workers": [6]} for _ in range(6)], **board})
    svg = board_svg(game)
    numbers = {symbol.get("id"): symbol.findtext(f"{SVG}text") for symbol in ET.fromstring(svg).iter(f"{SVG}symbol")}
    dice = groups(svg, "die")
    shown = [(p, f"{int(p) + 1}") for p in "012345"] + [(p, "6") for p in "012345"]
    assert [(die.get("data-seat"), die.get("data-face")) for die in dice] == shown
    for node in (*dice, *groups(svg, "star")):
        assert [numbers[use.get("href", "")[1:]] for use in node.iter(f"{SVG}use")] == [number(node)]
    assert [star.get("data-seat") for star in groups(svg, "star")] == [*"012345"]
    for panel in groups(svg, "panel"):
        assert numbers[next(panel.iter(f"{SVG}use")).get("href", "")[1:]] == number(panel)


# --------------------------------------------------------------------------------------------------------- sizes, refusals


def test_sizes():
    game = Game(seed=0)
    for width, drawn, height in ((None, "1500 758", 758), (3000, "1500 758", 1516), (WIDE, "1500 758", 657), (200, "1124 ", 197)):
        assert re.search(rf'width="{width or 1500}" height="{height}" viewBox="0 0 {drawn}', board_svg(game, width=width))
    assert (PICTURE_WIDTH, PICTURE_HEIGHT) == (1500, 758)
    assert board_svg(game) == board_svg(game, None, None, None, "", "dark") == game._repr_svg_()


WRONG = {
    "width": (99, 10_001, True, 800.0),
    "theme": ("pink", []),
    "names": (["Ann"], "abcd", ["a", "b", "c", 4], ["a", "b", "c", "\x00"], 4),
    "last": ("a\nb", None),
    "seat": (4,),
    "changed": (["moon"], "farm", None),
}


@pytest.mark.parametrize(("option", "value"), [(option, value) for option, values in WRONG.items() for value in values])
def test_refusals(option, value):
    with pytest.raises(ValueError, match=f"{option} must"):
        board_svg(Game(seed=0), **{option: value})


def test_texts_are_no_wider_than_reckoned():
    """In our own font, and in DejaVu Sans, if it is installed: the widest of the fonts that are named."""
    fonts = pytest.importorskip("PIL.ImageFont")
    own = {weight: fonts.truetype(str(FONT_FILE), 1000) for weight in (400, 700)}
    own[700].set_variation_by_axes([700])
    for weight, file in ((400, FONT_FILE), (700, FONT_FILE), (400, "DejaVuSans.ttf"), (700, "DejaVuSans-Bold.ttf")):
        try:
            font = own[weight] if file == FONT_FILE else fonts.truetype(file, 1000)
        except OSError:
            pytest.skip(f"{file} is not installed")
        for text in ("Place the 4 on the Generator: 12 energy", "".join(map(chr, range(32, 127))), "\u2192 \u00b7 \u00d8yvind"):
            assert font.getlength(text) / 10 <= text_width(text, 100, weight) + 1
