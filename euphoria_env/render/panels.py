"""The panels of the players in the picture: possessions and cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from euphoria_env.board import ARTIFACTS, FACTIONS, GOODS, KNOWLEDGE_LIMIT, STARS
from euphoria_env.cards.recruits import FACTION_OF, recruit_number
from euphoria_env.render.lettering import cut, text_width, wrap
from euphoria_env.render.sheet import BODY, LARGE, LINE, SMALL, Box, Sheet
from euphoria_env.render.symbols import BADGE_SIZE, DIE_WIDTH
from euphoria_env.render.view import PlayerView, RecruitView, remarks
from euphoria_env.words import recruit_words, short_name, short_title, tile_words, title

PANEL_WIDTH = 364  # the smallest width
PANEL_HEIGHT = 166  # the smallest height
_ABOVE_CARDS = 84  # the height of name, stars, tracks, workers and goods
_PAD = 12
_STAR = 14  # the width of each star in the row of stars
_HIDDEN = " (hidden)"  # after the name of a recruit
_ability = cache(recruit_words)
_SYMBOLS = (
    *((name, name) for name in (*GOODS, "artifact")),
    ("pair", "a pair"),
    ("commodity", "any commodity"),
    ("other commodity", "any but bliss"),
    ("resource", "any resource"),
    ("flag", "allegiance"),
    ("worker", "new worker"),
    ("knowledge", "knowledge"),
    ("morale", "morale"),
    ("eye", "shows hidden recruits"),
)


def legend(s: Sheet, x: float, y: float, w: float) -> float:
    """Draws the symbols with their names; returns the bottom edge."""
    left = x
    for icon, name in _SYMBOLS:
        width = 19 + text_width(name, SMALL)
        if left + width > x + w:
            left, y = x, y + 21
        s.icon(left, y + 3, icon, 14)
        s.text(left + 19, y + 15, name, SMALL, "dim")
        left += width + 14
    return y + 21


def panel(s: Sheet, player: PlayerView, name: str, goal: int, box: Box) -> None:
    """Draws the panel of a player."""
    seat = player.seat
    with s.group("panel", name, f"panel-{seat}", seat=seat):
        line, width = (f"seat-{seat}-line", 3) if player.deciding else ("frame", 1)
        s.rect(box, "panel", 10, line, width)
        s.rect(Box(box.x, box.y + 10, 5, box.h - 20), f"seat-{seat}", 2)
        x, y, room = box.x + _PAD + 4, box.y, box.w - 2 * _PAD - 4
        s.new_run()
        _name_and_stars(s, player, name, goal, x, y + 7, room)
        s.new_run()
        _workers_and_tracks(s, player, x, y + 34, room)
        _goods(s, player, x, y + 64, room)
        _cards(s, player, goal, Box(x, y + _ABOVE_CARDS, room, box.h - 4 - _ABOVE_CARDS))


def panel_height(player: PlayerView, goal: int, w: float) -> float:
    """Returns the height that a player's panel needs to show all texts in full."""
    return max(PANEL_HEIGHT, _ABOVE_CARDS + 8 + _lines(_entries(player, goal, w - 2 * _PAD - 4)) * SMALL * LINE)


def _name_and_stars(s: Sheet, player: PlayerView, name: str, goal: int, x: float, y: float, room: float) -> None:
    s.badge(x, y, player.seat)
    placed = STARS - player.stars
    shown = max(goal, placed)  # a player may place more stars than the goal (R17.5)
    stars = x + room - _STAR * shown
    for k in range(shown):
        fill, line = ("star", "none") if k < placed else ("slot", "faint")
        s.icon(stars + _STAR * k, y + 5, "star", _STAR - 1, fill, line=line)
    left = x + BADGE_SIZE + 8
    size = LARGE if text_width(name, LARGE, 700) <= stars - 8 - left else BODY
    s.line(left, y + 18, stars - 8 - left, name, size, weight=700)


def _workers_and_tracks(s: Sheet, player: PlayerView, x: float, y: float, room: float) -> None:
    """Draws the available workers, knowledge, morale and the knowledge check."""
    left = x
    for face in player.workers:
        s.die(left, y, player.seat, face)
        left += DIE_WIDTH + 3
    if player.on_board:
        s.text(left + (4 if player.workers else 0), y + 18, f"+{player.on_board} out", SMALL, "dim")
    s.new_run()
    at = x + room - 144
    for number, name in ((player.knowledge, "knowledge"), (player.morale, "morale")):
        s.icon(at, y + 5, name)
        s.text(at + 20, y + 18, str(number or "-"), BODY, weight=700)
        at += 37
    if player.knowledge:
        _knowledge_check(s, player.knowledge + sum(player.workers), Box(x + room - 62, y + 20, 62, 5))


def _knowledge_check(s: Sheet, total: int, bar: Box) -> None:
    """Draws the sum of the knowledge check as a number and as a bar (R5.3)."""
    near = total + 6 >= KNOWLEDGE_LIMIT
    with s.group("check", f"knowledge check: {total}, a worker is lost at {KNOWLEDGE_LIMIT}"):
        s.text(bar.x + bar.w, bar.y - 6, f"{total} of {KNOWLEDGE_LIMIT}", BODY, weight=700 if near else 400, anchor="end")
        s.rect(bar, "slot", 2, "faint", 1)
        s.rect(bar._replace(w=bar.w * min(1, total / KNOWLEDGE_LIMIT)), "ink", 2)


def _goods(s: Sheet, player: PlayerView, x: float, y: float, room: float) -> None:
    """Draws the goods and the number of artifacts, in columns that move right after long numbers."""
    end = x
    for k, name in enumerate((*GOODS, "artifact")):
        n = player.hand_size if name == "artifact" else player.goods.get(name, 0)
        left = max(end, x + room / (len(GOODS) + 1) * k)
        with s.group("good", f"{n} {name}"):
            s.icon(left, y, name, opacity=1 if n else 0.45)
            shown = str(n) if n < 1000 else f"{n // 1000}k"
            end = 4 + s.text(left + 18, y + 13, shown, BODY, "ink" if n else "dim", 700 if n else 400)


def _cards(s: Sheet, player: PlayerView, goal: int, box: Box) -> None:
    """Draws recruits, remarks and penalties: in full if there is room, or else only the names of the cards."""
    y, room = box.y + SMALL, int(box.h // (SMALL * LINE))
    entries = _entries(player, goal, box.w)
    if _lines(entries) > room:
        named = _recruit_names(s, player.recruits, box)
        y, room = y + named * SMALL * LINE, room - named
        entries = _remarks_and_penalties(player, goal, box.w, room)
    for entry in entries:
        with s.group("card", entry.title):
            left = _recruit_name(s, entry.recruit, title(entry.recruit.name), box.x, y) if entry.recruit else box.x
            for line in entry.lines:
                s.text(left, y, line, SMALL, "dim")
                left, y = box.x, y + SMALL * LINE


class _Entry(NamedTuple):
    """A paragraph of a panel: its tooltip, its lines, and the recruit whose name comes before the first line."""

    title: str
    lines: list[str]
    recruit: RecruitView | None = None


def _lines(entries: Sequence[_Entry]) -> int:
    return sum(len(entry.lines) for entry in entries)


def _entries(player: PlayerView, goal: int, w: float) -> list[_Entry]:
    """Returns the paragraphs of a player in full, in lines of a width."""
    recruits = [
        _Entry(
            _tooltip(recruit),
            wrap(_ability(recruit.name), w, SMALL, first=w - _name_width(recruit, title(recruit.name))),
            recruit,
        )
        for recruit in player.recruits
    ]
    return recruits + _remarks_and_penalties(player, goal, w)


def _remarks_and_penalties(player: PlayerView, goal: int, w: float, room: int | None = None) -> list[_Entry]:
    """Returns the paragraphs after the recruits: in full, or with penalties by name alone in at most `room` lines."""
    about = " · ".join(_remarks(player, goal))
    entries = [_Entry(about, wrap(about, w, SMALL))]
    if player.penalties:
        whole = [f"{short_title(tile)} ({tile_words(tile)})" for tile in player.penalties]
        shown = whole if room is None else [short_title(tile) for tile in player.penalties]
        entries.append(_Entry(", ".join(whole), wrap("penalties: " + ", ".join(shown), w, SMALL)))
    while room is not None and _lines(entries) > room:
        longest = max(entries, key=lambda entry: len(entry.lines)).lines
        longest[:] = cut(longest, len(longest) - 1, w, SMALL)
    return entries


def _tooltip(recruit: RecruitView) -> str:
    return f"{title(recruit.name)}: {_ability(recruit.name)}"


def _recruit_names(s: Sheet, recruits: Sequence[RecruitView], box: Box) -> int:
    """Draws the short names of the recruits; returns the number of lines."""
    x, line = box.x, 0
    for recruit in recruits:
        name = short_name(recruit.name)
        width = _name_width(recruit, name)
        if x > box.x and x + width > box.x + box.w:
            x, line = box.x, line + 1
        with s.group("card", _tooltip(recruit)):
            x = 7 + _recruit_name(s, recruit, name, x, box.y + SMALL + line * SMALL * LINE)
    return line + 1 if recruits else 0


def _name_width(recruit: RecruitView, name: str) -> float:
    return SMALL + 7 + text_width(name + _HIDDEN * (not recruit.active), SMALL, 700) + (SMALL + 7 if recruit.star else 7)


def _recruit_name(s: Sheet, recruit: RecruitView, name: str, x: float, y: float) -> float:
    """Draws a mark with the first letter of the faction, the name, and the recruit's star; returns where a text may follow."""
    faction = FACTIONS[FACTION_OF[recruit_number(recruit.name)]]
    s.rect(Box(x, y - SMALL + 1, SMALL + 2, SMALL + 2), faction if recruit.active else "none", 3, faction, 1)
    s.text(x + SMALL / 2 + 1, y, faction[0].upper(), SMALL, "paper" if recruit.active else faction, 700, "middle")
    end = s.text(x + SMALL + 7, y, name + _HIDDEN * (not recruit.active), SMALL, weight=700)
    if recruit.star:
        s.icon(end + 2, y - SMALL + 1, "star", SMALL + 1, "star")
    return x + _name_width(recruit, name)


def _remarks(player: PlayerView, goal: int) -> Iterator[str]:
    if player.rank:
        yield f"rank {player.rank}"
    elif player.deciding or player.active:
        yield "decides" if player.deciding else "on turn"
    if goal - (STARS - player.stars) == 1 and not player.rank:
        yield "1 star from winning"
    if player.artifacts:
        yield "hand: " + ", ".join(f"{player.artifacts[name]} {name}" for name in ARTIFACTS if player.artifacts.get(name))
    yield from remarks(player)
