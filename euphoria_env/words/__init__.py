"""Moves, events, cards and the game itself in plain words of our own.

The texts for a seat contain nothing that its player may not know (R19).
"""

from __future__ import annotations

from euphoria_env.phrases.names import short_name, short_title, title
from euphoria_env.words.card_text import (
    AREA_SUMS,
    CHECK,
    PAIR_SPACES,
    RETRIEVING,
    area_gains,
    cost_words,
    dilemma_words,
    lessons,
    recruit_words,
    short_gain,
    space_words,
    tile_words,
)
from euphoria_env.words.event_text import log
from euphoria_env.words.move_text import Move, legal_moves, question

__all__ = [
    "AREA_SUMS",
    "CHECK",
    "PAIR_SPACES",
    "RETRIEVING",
    "Move",
    "area_gains",
    "cost_words",
    "dilemma_words",
    "legal_moves",
    "lessons",
    "log",
    "question",
    "recruit_words",
    "short_gain",
    "short_name",
    "short_title",
    "space_words",
    "tile_words",
    "title",
]
