"""Summarises an analysis for each player."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from euphoria_agents.play.study.game_analysis import Entry

THRESHOLD = 0.06  # a regret above this is a mistake, which is about one decision in a hundred


class PlayerSummary(NamedTuple):
    """A player's decisions and luck.

    Attributes:
        player: the seat.
        decisions: the number of their decisions.
        mean_regret: the mean of the known regrets of their decisions; None if none is known.
        mistakes: the number of their regrets above the threshold, without those that playouts leave uncertain.
        luck: the sum of the changes of their win probability by dice and cards, over everybody's decisions; None: not known.
    """

    player: int
    decisions: int
    mean_regret: float | None
    mistakes: int
    luck: float | None


def suspects(entries: Iterable[Entry], threshold: float = THRESHOLD) -> list[Entry]:
    """Returns the entries with a regret above the threshold, the worst first."""
    found = [entry for entry in entries if entry["regret"] is not None and entry["regret"] > threshold]
    return sorted(found, key=lambda entry: (-entry["regret"], entry["ply"]))


def mistakes(entries: Iterable[Entry], threshold: float = THRESHOLD) -> list[Entry]:
    """Returns the same entries, without those that playouts leave uncertain."""
    return [entry for entry in suspects(entries, threshold) if "playouts" not in entry or entry["playouts"]["certain"]]


def summarise(entries: Sequence[Entry], players: int, threshold: float = THRESHOLD) -> list[PlayerSummary]:
    """Returns a summary for each player, from the entries of an analysis."""
    found = []
    for player in range(players):
        own = [entry for entry in entries if entry["player"] == player]
        regrets = [entry["regret"] for entry in own if entry["regret"] is not None]
        lucks = [entry["luck"][player] for entry in entries if entry["luck"] is not None]
        mean = sum(regrets) / len(regrets) if regrets else None
        found.append(PlayerSummary(player, len(own), mean, len(mistakes(own, threshold)), sum(lucks) if lucks else None))
    return found
