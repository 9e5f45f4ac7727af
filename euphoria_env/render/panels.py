"""The players in the picture: a panel for each, with what they have and what their cards do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from euphoria_env.board import FACTIONS, GOODS, KNOWLEDGE_LIMIT, STARS, TRACK_END
from euphoria_env.cards.recruits import FACTION_OF, recruit_number
from euphoria_env.render.canvas import (
    BADGE_SIZE,
    BODY,
    DIE_WIDTH,
    LARGE,
    PLAYER_COLOURS,
    SMALL,
    Canvas,
    cut,
    text_width,
    wrap,
)
from euphoria_env.render.view import PlayerView, RecruitView
from euphoria_env.words import dilemma_words, recruit_words, short_title, tile_words, title

PANEL_WIDTH = 418  # the least
PANEL_HEIGHT = 246  # the least
_ABOVE_CARDS = 116  # name, stars, tracks, workers and goods
_LINE = 1.3  # from base line to base line, in sizes
_WAYS = ((15, True), (BODY, True), (SMALL, True), (SMALL, False))  # sizes of the texts of cards; penalties in words or not
_SYMBOLS = (
    *((name, name) for name in (*GOODS, "artifact")),
    ("commodity", "any commodity"),
    ("resource", "any resource"),
    ("flag", "allegiance"),
    ("worker", "new worker"),
    ("eye", "shows hidden recruits"),
)


def legend(c: Canvas, x: float, y: float, w: float) -> float:
    """The symbols in words; returns where they end."""
    left = x
    for icon, name in _SYMBOLS:
        width = 20 + text_width(name, SMALL)
        if left + width > x + w:
            left, y = x, y + 21
        c.icon(left, y + 3, icon, 15)
        c.text(left + 20, y + 15, name, SMALL, c.theme.dim)
        left += width + 13
    return y + 21


@dataclass
class _Entry:
    """A paragraph of a panel; `title` has all its words. That of a recruit begins with a mark of their faction and their name."""

    title: str
    lines: list[str]
    colour: str
    recruit: RecruitView | None = None
    first: float = 0  # where the first line begins


def panel(c: Canvas, player: PlayerView, name: str, goal: int, x: float, y: float, w: float, height: float) -> None:
    """A player."""
    fill, _ = PLAYER_COLOURS[player.seat]
    with c.group("panel", name, seat=player.seat):
        outline, width = (c.theme.ink, 3) if player.deciding else (c.theme.frame, 1)
        c.rect(x, y, w, height, c.theme.panel, 10, outline, width=width)
        c.rect(x, y, 6, height, fill, 3)
        left, room = x + 16, w - 16 - 10
        below = _name_and_stars(c, player, name, goal, left, y, room)
        _tracks_and_workers(c, player, left, below)
        _goods(c, player, left, below + 38, room)
        _cards(c, player, left, y + _ABOVE_CARDS, room, height - 6 - _ABOVE_CARDS)


def panel_height(c: Canvas, player: PlayerView, w: float) -> float:
    """How high the panel of a player is in which all words fit."""
    lines = sum(len(entry.lines) for entry in _entries(c, player, w - 26, SMALL, told=True))
    return max(PANEL_HEIGHT, _ABOVE_CARDS + 7 + lines * SMALL * _LINE)


def _name_and_stars(c: Canvas, player: PlayerView, name: str, goal: int, x: float, y: float, room: float) -> float:
    """Returns where they end."""
    c.badge(x, y + 7, player.seat)
    placed = STARS - player.stars
    shown = max(goal, placed)  # who passes the mark shows more (R17.5)
    stars_at = x + room - 17 * shown
    for k in range(shown):
        colour = c.theme.gold if k < placed else c.theme.panel
        c.star(stars_at + 17 * k, y + 11, colour, 16, "none" if k < placed else c.theme.faint)
    state = " · ".join([*_state(player), f"{placed} of {goal} stars"])
    c.text(x + room, y + 43, state, SMALL, c.theme.ink if player.deciding else c.theme.dim, anchor="end")
    left = x + BADGE_SIZE + 8
    first, second = stars_at - 8 - left, x + room - text_width(state, SMALL) - 10 - left
    size = LARGE if text_width(name, LARGE, 700) <= first else BODY
    for k, line in enumerate(cut(wrap(name, second, size, 700, first), 2, second, size, 700)):
        c.text(left, y + 25 + 18 * k, line, size, weight=700)
    return y + 52


def _state(player: PlayerView) -> Iterator[str]:
    """Whether it is the player's turn, and how near they are to losing a worker (R5.3)."""
    if player.rank:
        yield f"rank {player.rank}"
        return
    if player.deciding or player.active:
        yield "decides" if player.deciding else "on turn"
    if player.workers and player.knowledge:
        yield f"check {player.knowledge + sum(player.workers)} of {KNOWLEDGE_LIMIT}"


def _tracks_and_workers(c: Canvas, player: PlayerView, x: float, y: float) -> None:
    for k, (name, value) in enumerate((("knowledge", player.knowledge), ("morale", player.morale))):
        left = x + 106 * k
        c.text(left, y + 12, name, SMALL, c.theme.dim)
        c.text(left + 93, y + 12, str(value or "-"), BODY, weight=700, anchor="end")
        for step in range(TRACK_END):
            c.rect(left + 16 * step, y + 18, 13, 12, c.theme.ink if step < value else c.theme.slot, 3, c.theme.faint, width=1)
    left = x + 216
    for face in player.workers:
        c.die(left, y + 4, player.seat, face)
        left += DIE_WIDTH + 3
    if player.on_board:
        c.text(left + 4, y + 22, f"+{player.on_board} out", SMALL, c.theme.dim)


def _goods(c: Canvas, player: PlayerView, x: float, y: float, room: float) -> None:
    pitch = room / (len(GOODS) + 1)
    for k, name in enumerate((*GOODS, "artifact")):
        n = player.hand_size if name == "artifact" else player.goods.get(name, 0)
        left = x + pitch * k
        with c.group("good", f"{n} {name}"):
            c.icon(left, y, name, 18, 1 if n else 0.5)
            shown = str(n) if n < 1000 else f"{n // 1000}k"
            c.text(left + 19, y + 15, shown, BODY, c.theme.ink if n else c.theme.dim, 700 if n else 400)


def _cards(c: Canvas, player: PlayerView, x: float, y: float, room: float, height: float) -> None:
    """Recruits and what they do, the dilemma and the like, and penalties: all the names, and as many words as fit."""
    for size, told in _WAYS:
        entries = _entries(c, player, room, size, told)
        most = int(height // (size * _LINE))
        if sum(len(entry.lines) for entry in entries) <= most:
            break
    for entry, kept in zip(entries, _shares([len(entry.lines) for entry in entries], most), strict=True):
        lines = cut(entry.lines, kept, room - (entry.first if kept == 1 else 0), size)
        with c.group("card", entry.title):
            if entry.recruit:
                _recruit_name(c, entry.recruit, x, y + size, size)
            for k, line in enumerate(lines):
                if line:
                    c.text(x + (0 if k else entry.first), y + size, line, size, entry.colour)
                y += size * _LINE


def _entries(c: Canvas, player: PlayerView, room: float, size: int, told: bool) -> list[_Entry]:
    entries = [_recruit(c, recruit, room, size) for recruit in player.recruits]
    remarks = _remarks(player)
    entries.append(_Entry(remarks, wrap(remarks, room, size), c.theme.dim))
    if player.penalties:
        whole = [f"{short_title(tile)} ({tile_words(tile)})" for tile in player.penalties]
        shown = whole if told else [short_title(tile) for tile in player.penalties]
        entries.append(_Entry(", ".join(whole), wrap("penalties: " + ", ".join(shown), room, size), c.theme.warning))
    return entries


def _shares(wanted: list[int], most: int) -> list[int]:
    """The lines for each, `most` in all: the longest gives way first, down to one."""
    kept = wanted.copy()
    while sum(kept) > most and max(kept) > 1:
        longest = max(range(len(kept)), key=lambda k: kept[k])
        kept[longest] -= 1
    return kept


def _recruit(c: Canvas, recruit: RecruitView, room: float, size: int) -> _Entry:
    first = size + 7 + text_width(_shown_name(recruit), size, 700) + (size + 7 if recruit.star else 6)
    words = recruit_words(recruit.name)
    return _Entry(words, wrap(words, room, size, first=room - first), c.theme.dim, recruit, first)


def _shown_name(recruit: RecruitView) -> str:
    return title(recruit.name) + ("" if recruit.active else " (hidden)")


def _recruit_name(c: Canvas, recruit: RecruitView, x: float, y: float, size: int) -> None:
    """A mark with the first letter of the faction, the name, and the recruit's star."""
    faction = FACTION_OF[recruit_number(recruit.name)]
    colour = c.theme.factions[faction]
    c.rect(x, y - size + 1, size + 2, size + 2, colour if recruit.active else "none", 4, stroke=colour, width=1)
    letter = c.theme.paper if recruit.active else colour
    c.text(x + size / 2 + 1, y, FACTIONS[faction][0].upper(), size, letter, 700, "middle")
    c.text(x + size + 7, y, _shown_name(recruit), size, weight=700)
    if recruit.star:
        c.star(x + size + 9 + text_width(_shown_name(recruit), size, 700), y - size + 1, c.theme.gold, size + 1)


def _remarks(player: PlayerView) -> str:
    remarks = [f"{player.hidden} hidden recruit{'s' if player.hidden > 1 else ''}"] if player.hidden else []
    if player.artifacts:
        remarks.append("hand: " + ", ".join(f"{n} {name}" for name, n in player.artifacts.items()))
    remarks += player.notes
    if player.resolved:
        remarks.append(f"dilemma {player.dilemma}: became a {player.resolved}")
    elif player.dilemma:
        remarks.append(f"dilemma {player.dilemma}: {dilemma_words(player.dilemma)}")
    else:
        remarks.append("dilemma open")
    return " · ".join(remarks)
