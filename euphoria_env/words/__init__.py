"""Everything that is said of moves, events and cards, in plain words of our own.

What is said to a seat is a function of what that seat may know (R19).
"""

from __future__ import annotations

from euphoria_env.words.cards import (
    PAIR_SPACES,
    PENALTY_TEXTS,
    cost_words,
    dilemma_words,
    gain_words,
    recruit_words,
    space_words,
    tile_words,
)
from euphoria_env.words.events import event
from euphoria_env.words.moves import Explained, Move, legal_moves, question
from euphoria_env.words.names import short_title, title

__all__ = [
    "PAIR_SPACES",
    "PENALTY_TEXTS",
    "Explained",
    "Move",
    "cost_words",
    "dilemma_words",
    "event",
    "gain_words",
    "legal_moves",
    "question",
    "recruit_words",
    "short_title",
    "space_words",
    "tile_words",
    "title",
]
