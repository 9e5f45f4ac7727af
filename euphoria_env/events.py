"""Events: the engine's log of what happened in a game (docs/events.md).

`Game.events` has them all, `Game.events_for` what one player may know of them (R19). The public part of a position
and the public events after it determine the public part of every later position (`tests/tools/following.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from euphoria_env.cards.recruits import ESME, GAMBLER, GEEK
from euphoria_env.event_kinds import EVENT_SIZE, KIND_ROWS, KINDS, NAMES, SECRET, EventKind

_CAUSES = [row.causes for row in KIND_ROWS.values()]
_NEW_DECISION = (EventKind.TURN, EventKind.ASKED)  # events that name the player who decides next
_INTERRUPT = (ESME, GAMBLER, GEEK)  # recruits that act in the middle of something else

__all__ = ["EVENT_SIZE", "KINDS", "NAMES", "Decided", "Event", "EventKind", "EventRow", "table"]


class Event(NamedTuple):
    """An event: small integers, -1 where there is none or where it is hidden.

    Attributes:
        kind: a number of `KINDS`, a member of `EventKind`.
        player: the player who acts, or to whom it happens.
        a, b: as `table` says.
    """

    kind: int
    player: int = -1
    a: int = -1
    b: int = -1


class Decided(NamedTuple):
    """A decision that was made.

    Attributes:
        player: the player who decided.
        action: the move, as an action id.
        first: the number of its first event in `Game.events`.
        end: the number of the first event after it.
    """

    player: int
    action: int
    first: int
    end: int


class EventRow(NamedTuple):
    """A line of the table of events; `KindRow` says what its columns mean."""

    kind: int
    name: str
    meaning: str
    player: bool
    a: str
    b: str
    causes: str
    secret: bool


def table() -> list[EventRow]:
    """Returns every kind of event with the meaning of its fields."""
    return [EventRow(int(kind), KINDS[kind], *row[:-1]) for kind, row in KIND_ROWS.items()]


def causes(kind: int, a: int) -> str:
    """Returns which later events an event causes, in the terms of `KindRow.causes`."""
    return "interruption" if kind == EventKind.ABILITY and a in _INTERRUPT else _CAUSES[kind]


def without_secrets(events: np.ndarray, player: int | None) -> np.ndarray:
    """Returns a copy of events, (n, EVENT_SIZE), without what a player, or for None the public, may not know."""
    seen = events.copy()
    hidden = SECRET[events[:, 0]] & (events[:, 1] != player if player is not None else True)
    seen[hidden, 2] = -1
    return seen


def deciders(events: np.ndarray, first: int, marks: list[int]) -> list[int]:
    """Returns who decides after each of these numbers of events, (n, EVENT_SIZE); `first` decides before any event names one."""
    asked = np.flatnonzero(np.isin(events[:, 0], _NEW_DECISION))
    return np.append(first, events[asked, 1])[np.searchsorted(asked, marks)].tolist()
