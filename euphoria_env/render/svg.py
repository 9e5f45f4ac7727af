"""The board as a picture: a self-contained SVG of own design.

As wide as `PICTURE_WIDTH`, or nearly, the players stand beside the board; narrower, everything flows in rows below each other,
so that texts keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from euphoria_env.board import FACTIONS, STARS
from euphoria_env.json_reader import shown
from euphoria_env.render.canvas import BODY, SMALL, THEMES, Canvas, cut, text_width, wrap
from euphoria_env.render.move_list import move_list
from euphoria_env.render.panels import PANEL_WIDTH, legend, panel, panel_height
from euphoria_env.render.regions import GAP, region, strip
from euphoria_env.render.view import View, view_of
from euphoria_env.words import legal_moves, question

if TYPE_CHECKING:
    from euphoria_env.game import Game

PICTURE_WIDTH, PICTURE_HEIGHT = 1600, 1120  # with up to four players; more make it taller
SMALLEST_WIDTH, LARGEST_WIDTH = 100, 10_000
_LEAST_WIDE = 1400  # from here on the wide picture, at its scale
_NARROWEST = 440  # of what is drawn; smaller pictures are that one made smaller
_MARGIN = 12
_BOARD_WIDTH = 1146
_TOP = 88  # where the board begins
_MOST_BESIDE = 4  # players beside the board; of more players ...
_BESIDE = 3  # ... three are beside it, and the others below
_TALLEST_PANEL = 340


def board_svg(
    game: Game,
    seat: int | None = None,
    width: int | None = None,
    names: Sequence[str] | None = None,
    last: str = "",
    theme: str = "dark",
) -> str:
    """The board as SVG: what everybody may see, or what the player of a seat may see, with their legal moves.

    Groups of class "space" have the name of the space as `data-space`, those of class "panel" the number of the player as
    `data-seat`; all of them have a text for who points at them.

    Args:
        game: the game.
        seat: whose private cards are shown too; None: nobody's.
        width: of the picture in pixels, 100 to 10,000; None: 1600. Below 1400 it flows, and grows taller.
        names: what the players are called, in the order of their seats; None: "Player 0", "Player 1", ...
        last: what happened last, in a sentence.
        theme: "dark", or "print" for white paper.

    Raises:
        ValueError: no such seat, width or theme, or names that are not one for each player in one printable line.
    """
    return draw(game, seat, width, names, last, theme)[0]


def draw(
    game: Game, seat: int | None, width: int | None, names: Sequence[str] | None, last: str, theme: str
) -> tuple[str, int, int]:
    """The picture as of `board_svg`, its width and its height."""
    view = view_of(game, seat)
    asked = question(game, seat)
    moves = [] if seat is None else legal_moves(game, seat)
    called = _names(names, len(view.players))
    wide = PICTURE_WIDTH if width is None else _width(width)
    if not isinstance(theme, str) or theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(THEMES)}, not {shown(theme)}")
    if wide >= _LEAST_WIDE:
        c = Canvas(PICTURE_WIDTH, THEMES[theme])
        _side_by_side(c, view, asked, called, _line(last))
    else:
        c = Canvas(max(wide, _NARROWEST), THEMES[theme])
        _in_rows(c, view, asked, called, _line(last))
    if moves:
        c.height = move_list(c, asked, moves, _MARGIN, c.height - _MARGIN + GAP, c.width - 2 * _MARGIN) + _MARGIN
    tall = math.ceil(c.height * wide / c.width)
    return c.svg(f"Euphoria, {view.headline}", _description(view, asked, called), wide, tall), wide, tall


def _width(width: object) -> int:
    if isinstance(width, bool) or not isinstance(width, int) or not SMALLEST_WIDTH <= width <= LARGEST_WIDTH:
        raise ValueError(f"width must be an integer from {SMALLEST_WIDTH} to {LARGEST_WIDTH}, not {shown(width)}")
    return width


def _names(names: Sequence[str] | None, n: int) -> list[str]:
    if names is None:
        return [f"Player {p}" for p in range(n)]
    listed = isinstance(names, Sequence) and not isinstance(names, str) and len(names) == n
    if not listed or not all(isinstance(name, str) and name.isprintable() for name in names):
        raise ValueError(f"names must be {n} texts of one line, not {shown(names)}")
    return list(names)


def _line(last: object) -> str:
    if not isinstance(last, str) or not last.isprintable():
        raise ValueError(f"last must be a text of one line, not {shown(last)}")
    return last


def _side_by_side(c: Canvas, view: View, asked: str, names: Sequence[str], last: str) -> None:
    _header(c, view, asked, last, _MARGIN + 2, 0, _BOARD_WIDTH)
    beside = _MARGIN + _BOARD_WIDTH + GAP
    legend(c, beside + 4, 4, c.width - _MARGIN - beside - 4)
    bottom = _board(c, view, _MARGIN, _TOP, _BOARD_WIDTH)
    n = len(view.players)
    among = n if n <= _MOST_BESIDE else _BESIDE
    height = min(_TALLEST_PANEL, (bottom - _TOP - GAP * (among - 1)) / among)
    for k, player in enumerate(view.players[:among]):
        y = _TOP + k * (height + GAP)
        panel(c, player, names[k], view.stars_to_win, beside, y, c.width - _MARGIN - beside, height)
    c.height = _panels(c, view, names, among, _MARGIN, bottom + GAP, c.width - 2 * _MARGIN) - GAP + _MARGIN


def _in_rows(c: Canvas, view: View, asked: str, names: Sequence[str], last: str) -> None:
    room = c.width - 2 * _MARGIN
    y = _header(c, view, asked, last, _MARGIN + 2, 0, room)
    y = legend(c, _MARGIN + 2, y, room) + GAP
    y = _board(c, view, _MARGIN, y, room) + GAP
    c.height = _panels(c, view, names, 0, _MARGIN, y, room) - GAP + _MARGIN


def _header(c: Canvas, view: View, asked: str, last: str, x: float, y: float, w: float) -> float:
    """The headline after the name of the game, or below it where there is no room; returns where it ends."""
    c.text(x, y + 38, "EUPHORIA", 30, c.theme.gold, 700)
    named = text_width("EUPHORIA", 30, 700) + 20
    narrow = w < 3 * named
    left, room, y = (x, w - 4, y + 64) if narrow else (x + named, w - named - 4, y + 21)
    lines = (
        (view.headline, 17, c.theme.ink, 700),
        (asked, BODY, c.theme.ink, 400),
        (view.offer, BODY, c.theme.gold, 400),
        (last and f"last: {last}", SMALL, c.theme.dim, 400),
    )
    for text, size, colour, weight in lines:
        for line in cut(wrap(text, room, size, weight), 3 if narrow else 1, room, size, weight) if text else ():
            c.text(left, y, line, size, colour, weight)
            y += 20
    return y - 8


def _board(c: Canvas, view: View, x: float, y: float, w: float) -> float:
    for faction in range(len(FACTIONS)):
        y = region(c, view, faction, x, y, w) + GAP
    return strip(c, view, x, y, w)


def _panels(c: Canvas, view: View, names: Sequence[str], first: int, x: float, y: float, w: float) -> float:
    """The panels from some player on in rows; returns where the next row would begin."""
    players = view.players[first:]
    if not players:
        return y
    across = min(len(players), max(1, int((w + GAP) // (PANEL_WIDTH + GAP))))
    width = (w - GAP * (across - 1)) / across
    for row in range(0, len(players), across):
        height = max(panel_height(c, player, width) for player in players[row : row + across])
        for k, player in enumerate(players[row : row + across]):
            panel(c, player, names[player.seat], view.stars_to_win, x + (width + GAP) * k, y, width, height)
        y += height + GAP
    return y


def _description(view: View, asked: str, names: Sequence[str]) -> str:
    """The players in words, for who cannot see the picture."""
    facts = [
        f"{name}: {STARS - player.stars} of {view.stars_to_win} stars, knowledge {player.knowledge}, morale {player.morale}, "
        f"workers {' '.join(map(str, player.workers)) or 'none'} and {player.on_board} on the board."
        for name, player in zip(names, view.players, strict=True)
    ]
    return " ".join([f"{asked}.", *facts])
