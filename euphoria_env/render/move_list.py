"""The legal moves in the picture, each with its cost, gain and risk."""

from __future__ import annotations

from collections.abc import Sequence

from euphoria_env.render.lettering import wrap
from euphoria_env.render.panels import PANEL_WIDTH
from euphoria_env.render.sheet import BODY, LARGE, SMALL, Box, Sheet
from euphoria_env.words import Move

_PAD, _BETWEEN = 16, 24
_LINE, _APART = 18, 8

_Paragraph = list[tuple[str, float, str, int]]  # lines: text, size, colour, weight


def move_list(s: Sheet, question: str, moves: Sequence[Move], x: float, y: float, w: float) -> float:
    """Draws the moves in columns below the question; returns the bottom edge."""
    across = min(len(moves), max(1, int((w - 2 * _PAD + _BETWEEN) // (PANEL_WIDTH + _BETWEEN))))
    room = (w - 2 * _PAD - _BETWEEN * (across - 1)) / across
    paragraphs = [_paragraph(move, room) for move in moves]
    columns = _columns([_LINE * len(paragraph) + _APART for paragraph in paragraphs], across)
    height = 44 + max(top + _LINE * len(paragraph) for (_, top), paragraph in zip(columns, paragraphs, strict=True)) + 6
    s.rect(Box(x, y, w, height), "panel", 10, "legal", 2)
    s.text(x + _PAD, y + 27, question, LARGE, weight=700)
    for move, (column, top), paragraph in zip(moves, columns, paragraphs, strict=True):
        with s.group("move", action=move.action, space=move.space):
            for k, (text, size, colour, weight) in enumerate(paragraph):
                s.text(x + _PAD + (room + _BETWEEN) * column, y + 44 + top + _LINE * k + BODY, text, size, colour, weight)
    return y + height


def _paragraph(move: Move, room: float) -> _Paragraph:
    """The action, its cost and gain, and its risk."""
    parts = ((move.text, BODY, "ink", 700), (move.told, SMALL, "dim", 400), (move.risk, SMALL, "played", 400))
    return [
        (line, size, colour, weight) for text, size, colour, weight in parts if text for line in wrap(text, room, size, weight)
    ]


def _columns(heights: Sequence[float], across: int) -> list[tuple[int, float]]:
    """The column and the top of each paragraph, which fill `across` columns of the least height one after the other."""
    most = max([*heights, sum(heights) / across])
    while True:
        places, column, top = [], 0, 0.0
        for height in heights:
            if top + height > most and top:
                column, top = column + 1, 0.0
            places.append((column, top))
            top += height
        if column < across:
            return places
        most += _LINE
