"""Decides whether a decision may be taken back: not if anything was drawn after it, or shown to anybody."""

from __future__ import annotations

from collections.abc import Iterable

from euphoria_env import Game
from euphoria_env.board import FIRST_ARTIFACT, KNOWLEDGE_ITEM
from euphoria_env.event_kinds import KIND_ROWS, EventKind
from euphoria_env.events import Event

_SHOWING = (EventKind.RECRUIT_ACTIVE, EventKind.REVEALED, EventKind.BUILT, EventKind.DILEMMA)  # a card, or its absence


def may_be_taken_back(before: Game, after: Game, events: Iterable[Event]) -> bool:
    """Returns whether a decision, with these events as everybody may know them, taught its player nothing and showed no card.

    The answer follows from what everybody sees, so it reveals nothing (R19).
    """
    return not any(map(_reveals, events)) and _plainly_goes_on(before, after)


def _reveals(event: Event) -> bool:
    """Returns whether, in an event, something was drawn or rolled, a card was shown, or an artifact card changed hands."""
    row = KIND_ROWS[EventKind(event.kind)]
    return bool(row.outcome) or event.kind in _SHOWING or (row.a == "item" and FIRST_ARTIFACT <= event.a < KNOWLEDGE_ITEM)


def _plainly_goes_on(before: Game, after: Game) -> bool:
    """Returns whether the same player decides next, or the next player begins a turn; other decisions would reveal cards."""
    if after.over or after.truncated or _offered(before, after):
        return False
    if after.turn == before.turn:
        return after.player == before.player
    return after.turn == before.turn + 1 and after.deciding == "open"


def _offered(before: Game, after: Game) -> bool:
    """Returns whether an offer was made or answered in a trade: the partner heard it; a refusal tells what they lack (R15.2)."""
    if before.deciding == "trade":
        return True
    then, now = before.states[0], after.states[0]
    begun = after.turn == before.turn and now["offers"] != then["offers"]
    return bool(begun and (after.deciding != "trade" or now["chosen"].any()))
