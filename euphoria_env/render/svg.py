"""The picture of a game as self-contained SVG: the board, and the players with their cards.

In pictures of the width `WIDE` or more the players are beside the board, in smaller ones below it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from euphoria_env.board import SPACES, STARS
from euphoria_env.json_reader import shown
from euphoria_env.render.board import draw_board
from euphoria_env.render.layout import BOARD
from euphoria_env.render.lettering import text_width
from euphoria_env.render.panels import PANEL_WIDTH, legend, panel, panel_height
from euphoria_env.render.sheet import BODY, HUGE, LARGE, Box, Sheet
from euphoria_env.render.theme import THEMES
from euphoria_env.render.view import PlayerView, View, view_of
from euphoria_env.words import question

if TYPE_CHECKING:
    from euphoria_env.game import Game

PICTURE_WIDTH, PICTURE_HEIGHT = 1500, 758  # the size with up to four players; with more the picture is taller
SMALLEST_WIDTH, LARGEST_WIDTH = 100, 10_000
WIDE = 1300  # the smallest width in pixels with players beside the board
_WIDTHS = f"width must be an integer from {SMALLEST_WIDTH} to {LARGEST_WIDTH}"
_MARGIN, _GAP = 12, 8
_TOP = 60  # the top edge of the board
_MOST_BESIDE = 4  # up to this number, all players are beside the board
_BESIDE = 3  # with more players, this number is beside the board, and the others are below


class Drawing(NamedTuple):
    """A picture: a sheet, the part of it that is shown, the size in pixels, title and description."""

    sheet: Sheet
    box: Box
    size: tuple[int, int]
    title: str
    description: str


def board_svg(
    game: Game,
    seat: int | None = None,
    width: int | None = None,
    names: Sequence[str] | None = None,
    last: str = "",
    theme: str = "dark",
    changed: Collection[str] = (),
) -> str:
    """Returns the board as SVG, as everybody may see it, or with a seat's cards and marks on the spaces open to its workers.

    The groups of the board and their ids are those of `euphoria_env.render.board`; groups of class "panel" have the number of the
    player as `data-seat`; all of them have tooltips.

    Args:
        game: the game.
        seat: the seat whose private cards are shown too; None: nobody's.
        width: the width of the picture in pixels, 100 to 10,000; None: 1500. Below 1300 the players are below the board.
        names: the names of the players by seat; None: "Player 1", "Player 2", ...
        last: a sentence about the last event.
        theme: "dark", "light", or "print" for white paper.
        changed: spaces that get a mark, because something happened there.

    Raises:
        ValueError: a seat, width, theme or space is not allowed, or `names` does not have one printable line for each player.
    """
    drawing = draw(game, seat, width, names, last, theme, changed)
    return drawing.sheet.svg(drawing.box, drawing.title, drawing.description, drawing.size)


def draw(
    game: Game,
    seat: int | None,
    width: int | None,
    names: Sequence[str] | None,
    last: str,
    theme: str,
    changed: Collection[str] = (),
) -> Drawing:
    """Returns the picture that `board_svg` writes, with its parts."""
    n, wide = game.rules.num_players, PICTURE_WIDTH if width is None else width
    named = names is None or (isinstance(names, Sequence) and _texts(names) and len(names) == n)
    _check(named, f"names must be {n} texts of one line", names)
    _check(type(wide) is int and SMALLEST_WIDTH <= wide <= LARGEST_WIDTH, _WIDTHS, width)
    _check(isinstance(theme, str) and theme in THEMES, f"theme must be one of {', '.join(THEMES)}", theme)
    _check(_texts([last]), "last must be a text of one line", last)
    _check(_texts(changed) and set(changed) <= set(SPACES), "changed must be names of spaces", changed)
    called = [f"Player {p + 1}" for p in range(n)] if names is None else list(names)
    view = view_of(game, seat, called)
    asked = question(game, seat, called)
    s, across = Sheet(theme, called), PICTURE_WIDTH if wide >= WIDE else int(BOARD.w) + 2 * _MARGIN
    with s.group("board", at=(_MARGIN, _TOP)):
        draw_board(s, view, changed)
    _header(s, view, asked, last, across - 2 * _MARGIN)
    bottom = _players(s, view, called, across)
    box = Box(0, 0, across, math.ceil(bottom) + _MARGIN)
    tall = math.ceil(box.h * wide / box.w)
    return Drawing(s, box, (wide, tall), f"Euphoria, {view.headline}", _description(view, asked, called))


def _check(allowed: bool, message: str, value: object) -> None:
    if not allowed:
        raise ValueError(f"{message}, not {shown(value)}")


def _texts(values: object) -> bool:
    """Returns whether these are texts of one printable line each."""
    if isinstance(values, str) or not isinstance(values, Collection):
        return False
    return all(isinstance(value, str) and value.isprintable() for value in values)


def _header(s: Sheet, view: View, asked: str, last: str, room: float) -> None:
    """Draws the name of the game; beside it the turn, the question, and the current offer or the last event."""
    left = _MARGIN + 2 + text_width("EUPHORIA", HUGE, 700) + 20
    room -= left - _MARGIN
    s.text(_MARGIN + 2, 42, "EUPHORIA", HUGE, weight=700)
    s.new_run()
    s.line(left, 26, room, str(view.headline), LARGE, weight=700)
    s.new_run()
    beside = left + text_width(str(view.headline), LARGE, 700) + 16
    s.line(beside, 26, room - beside + left, asked, BODY)
    s.new_run()
    s.line(left, 46, room, str(view.offer) or (last and f"last: {last}"), BODY, "dim")


def _players(s: Sheet, view: View, names: Sequence[str], across: float) -> float:
    """Draws the legend below the board, and the players beside and below both; returns the bottom edge."""
    s.new_run()
    bottom = legend(s, _MARGIN + 2, _TOP + BOARD.h + 4, BOARD.w)
    n, x = len(view.players), _MARGIN + BOARD.w + _GAP + 4
    beside = 0 if across < PICTURE_WIDTH else n if n <= _MOST_BESIDE else _BESIDE
    height = (bottom - _TOP - _GAP * (beside - 1)) / max(1, beside)
    boxes = [Box(x, _TOP + k * (height + _GAP), across - _MARGIN - x, height) for k in range(beside)]
    below = list(_rows(view.players[beside:], view.stars_to_win, bottom + _GAP, across - 2 * _MARGIN))
    for player, box in zip(view.players, boxes + below, strict=True):
        panel(s, player, names[player.seat], view.stars_to_win, box)
    return below[-1].y + below[-1].h if below else bottom


def _rows(players: Sequence[PlayerView], goal: int, y: float, w: float) -> Iterator[Box]:
    """Yields the boxes of panels in rows of about equal length."""
    rows = math.ceil(len(players) / int((w + _GAP) // (PANEL_WIDTH + _GAP)))
    across = math.ceil(len(players) / max(1, rows))
    for first in range(0, len(players), across or 1):
        row = players[first : first + across]
        width = (w - _GAP * (across - 1)) / across
        height = max(panel_height(player, goal, width) for player in row)
        yield from (Box(_MARGIN + (width + _GAP) * k, y, width, height) for k in range(len(row)))
        y += height + _GAP


def _description(view: View, asked: str, names: Sequence[str]) -> str:
    """Returns the players in words, for people who cannot see the picture."""
    facts = [
        f"{name}: {STARS - player.stars} of {view.stars_to_win} stars, knowledge {player.knowledge}, morale {player.morale}, "
        f"workers {' '.join(map(str, player.workers)) or 'none'} and {player.on_board} on the board."
        for name, player in zip(names, view.players, strict=True)
    ]
    return " ".join([f"{asked}.", *facts])
