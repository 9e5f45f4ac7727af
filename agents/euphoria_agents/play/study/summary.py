"""Summaries of an analysis for each player."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from euphoria_agents.play.study.game_analysis import Entry

THRESHOLD = 0.06  # a regret above it is a mistake: about one decision of a hundred


class PlayerSummary(NamedTuple):
    """A player's decisions and luck.

    Attributes:
        player: the seat.
        decisions: the number of their decisions.
        mean_regret: of the decisions whose regret is known; None if there are none.
        mistakes: the number of regrets above the threshold.
        luck: the change of their chance to win by dice and cards, over all decisions; None if it is known of none.
    """

    player: int
    decisions: int
    mean_regret: float | None
    mistakes: int
    luck: float | None


def mistakes(entries: Iterable[Entry], threshold: float = THRESHOLD) -> list[Entry]:
    """Returns the entries with a regret above the threshold, the worst first."""
    found = [entry for entry in entries if entry["regret"] is not None and entry["regret"] > threshold]
    return sorted(found, key=lambda entry: (-entry["regret"], entry["ply"]))


def summarise(entries: Sequence[Entry], players: int, threshold: float = THRESHOLD) -> list[PlayerSummary]:
    """Returns a summary of each player's part of some entries of a game."""
    found = []
    for player in range(players):
        own = [entry for entry in entries if entry["player"] == player]
        regrets = [entry["regret"] for entry in own if entry["regret"] is not None]
        lucks = [entry["luck"][player] for entry in entries if entry["luck"] is not None]
        mean = sum(regrets) / len(regrets) if regrets else None
        found.append(PlayerSummary(player, len(own), mean, len(mistakes(own, threshold)), sum(lucks) if lucks else None))
    return found
