"""Lists all ways to answer a series of single choices (R18.2), so that a player can answer it at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile, islice, takewhile

from euphoria_env import Game
from euphoria_env.board import ITEMS
from euphoria_env.events import Event, EventKind

MAX_WAYS = 200  # the most ways that are listed

_MOVING = (EventKind.PAID, EventKind.GAINED, EventKind.LOST, EventKind.DISCARDED)  # the events by which a series moves items


@dataclass(frozen=True)
class Way:
    """A way to answer a series of single choices.

    Attributes:
        actions: the action ids of the answers, in order; after them the series leaves no choice.
        items: the units of each item that it pays, gains, loses or discards.
    """

    actions: tuple[int, ...]
    items: dict[str, int]


def ways_to_answer(game: Game) -> list[Way]:
    """Returns the ways to answer the present series, at most `MAX_WAYS`; none if each way has a single answer."""
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
    """Returns the items that a series moved: those in the first unbroken run of the player's moving events."""
    begun = dropwhile(lambda event: event.kind not in _MOVING or event.player != player, events)
    together = takewhile(lambda event: event.kind in _MOVING and event.player == player, begun)
    return dict(sum((Counter({ITEMS[event.a]: event.b}) for event in together), Counter()))
