"""Everything that is said of moves, events and cards, in plain words of our own.

What is said to a seat is a function of what that seat may know (R19).
"""

from __future__ import annotations

from euphoria_env.words.card_text import (
    AREA_SUMS,
    CHECK,
    PAIR_SPACES,
    PENALTY_TEXTS,
    RETRIEVING,
    area_gains,
    cost_words,
    dilemma_words,
    recruit_words,
    short_gain,
    space_words,
    step_words,
    tile_words,
)
from euphoria_env.words.event_text import event
from euphoria_env.words.move_text import Move, legal_moves, question
from euphoria_env.words.names import short_title, signed, title

__all__ = [
    "AREA_SUMS",
    "CHECK",
    "PAIR_SPACES",
    "PENALTY_TEXTS",
    "RETRIEVING",
    "Move",
    "area_gains",
    "cost_words",
    "dilemma_words",
    "event",
    "legal_moves",
    "question",
    "recruit_words",
    "short_gain",
    "short_title",
    "signed",
    "space_words",
    "step_words",
    "tile_words",
    "title",
]
