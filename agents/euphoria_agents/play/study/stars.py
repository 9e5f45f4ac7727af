"""Counts the stars of a recorded game by what placed them."""

from __future__ import annotations

from collections import Counter, deque
from functools import lru_cache

from euphoria_agents.record_steps import steps
from euphoria_env.board import ARTIFACT_MARKETS, ICARUS, MARKETS, SLOTS, SPACES
from euphoria_env.events import EventKind

# Causes of stars: the building of a market (R9.4), a worker on a market (R10.2), on an artifact market (R10.1) or in Icarus
# (R11.1), an allegiance track at its end (R7.6), the ethical dilemma (R14.1).
STAR_SOURCES = ("construction", "market", "artifact market", "icarus", "allegiance", "dilemma")
_BY_SPACE = {
    **dict.fromkeys(SLOTS, "construction"),
    **dict.fromkeys(MARKETS, "market"),
    **dict.fromkeys(ARTIFACT_MARKETS, "artifact market"),
    **dict.fromkeys(ICARUS, "icarus"),
}
_BY_KIND = {EventKind.STAR_ON_RECRUIT: "allegiance", EventKind.STAR_ON_DILEMMA: "dilemma"}


@lru_cache(64)
def stars_by_source(record: str) -> list[dict[str, int]]:
    """Returns the stars that each seat placed in a recorded game, by source; raises a `ValueError` if it is no record."""
    replay = steps(record)
    game, _ = next(replay)
    space = int(game.states[0]["space"])  # the space of the placement under way, if the record begins in the middle of one
    deque(replay, 0)
    stars = [Counter[str]() for _ in range(game.rules.num_players)]
    for kind, player, a, _ in game.event_array(None).tolist():
        space = a if kind == EventKind.PLACED else space
        source = _BY_SPACE[SPACES[space]] if kind == EventKind.STAR else _BY_KIND.get(kind)
        if source:
            stars[player][source] += 1
    return [dict(one) for one in stars]
