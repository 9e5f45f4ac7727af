"""Several single choices at once: the answers to a series (R18.2), and a whole offer of a trade (R15.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import dropwhile, islice, takewhile

from euphoria_env import Game
from euphoria_env.board import ITEMS
from euphoria_env.events import Event, EventKind

MAX_WAYS = 200  # that are offered at once
OFFER_MOVES = ("give", "ask", "offer")

_ITEM_MOVES: dict[int, str] = {EventKind.OFFERED: "give", EventKind.WANTED: "ask"}
_MOVING = (EventKind.PAID, EventKind.GAINED, EventKind.LOST, EventKind.DISCARDED)  # kinds of events by which a series moves items


@dataclass(frozen=True)
class Way:
    """A way to answer a series of single choices.

    Attributes:
        actions: the ids of the answers, in order; what is left after them has no choice in it.
        items: the units of each item that it pays, gains, loses or discards.
    """

    actions: tuple[int, ...]
    items: dict[str, int]


def ways_to_answer(game: Game) -> list[Way]:
    """Returns the ways to answer the series that is asked, at most `MAX_WAYS`; none if each takes a single answer."""
    found = list(islice(_ways(game, game.prompt), MAX_WAYS))
    return found if any(len(way.actions) > 1 for way in found) else []


def _ways(game: Game, asked: str, before: tuple[int, ...] = ()) -> Iterator[Way]:
    for action in game.legal_actions().tolist():
        after, answers = game.clone(), (*before, action)
        after.play(action)
        if after.deciding == "series" and (after.player, after.turn, after.prompt) == (game.player, game.turn, asked):
            yield from _ways(after, asked, answers)
        else:
            yield Way(answers, _moved(after.events[len(game.events) :], game.player))


def _moved(events: list[Event], player: int) -> dict[str, int]:
    """Returns the items that a series moved: the first ones of the player that move together."""
    begun = dropwhile(lambda event: event.kind not in _MOVING or event.player != player, events)
    together = takewhile(lambda event: event.kind in _MOVING and event.player == player, begun)
    return dict(sum((Counter({ITEMS[event.a]: event.b}) for event in together), Counter()))


def check_offer(moves: Iterable[str], events: Iterable[Event]) -> None:
    """Checks that an offer contains what its moves name; the rules may add or leave out items (R18.1).

    Raises:
        ValueError: it has not.
    """
    wanted = Counter(move for move in moves if move.split()[0] in ("give", "ask"))
    made = Counter[str]()
    for event in events:
        if event.kind in _ITEM_MOVES:
            made[f"{_ITEM_MOVES[event.kind]} {ITEMS[event.a]}"] += event.b
    if wanted and wanted != made:
        raise ValueError("this offer cannot be made: items are missing, or the rules add others")
