"""Uniformly random legal moves of many games."""

from __future__ import annotations

from euphoria_env.engine.jit import entry
from euphoria_env.engine.move_set import count_legal, nth_legal


@entry
def choose_legal(games, chances, moves):
    """Writes a legal move of each game, by one number from [0, 1) each; every game must have one."""
    for i in range(len(games)):
        words = games[i]["legal"]
        moves[i] = nth_legal(words, int(chances[i] * count_legal(words)))
