"""What an analysis says of each player."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from euphoria_agents.study.game_analysis import Entry

THRESHOLD = 0.06  # a regret above it is a mistake: about one decision of a hundred
LARGEST = 3


@dataclass(frozen=True)
class PlayerSummary:
    """How a player decided, and what luck they had.

    Attributes:
        player: the seat.
        decisions: how many they made.
        mean_regret: over those whose regret is known; None if there are none.
        mistakes: how many regrets were above the threshold.
        luck: what chance did to their chance to win, over the decisions of everybody; None if it is not known of any.
        largest: the numbers of their worst mistakes, the worst first.
    """

    player: int
    decisions: int
    mean_regret: float | None
    mistakes: int
    luck: float | None
    largest: list[int]


def mistakes(entries: Iterable[Entry], threshold: float = THRESHOLD) -> list[Entry]:
    """The entries with a regret above the threshold, the worst first."""
    found = [entry for entry in entries if entry["regret"] is not None and entry["regret"] > threshold]
    return sorted(found, key=lambda entry: (-entry["regret"], entry["ply"]))


def summarise(entries: Sequence[Entry], players: int, threshold: float = THRESHOLD) -> list[PlayerSummary]:
    """A summary for each player of the entries of a game, which need not be all of them."""
    wrong, lucks = mistakes(entries, threshold), [entry["luck"] for entry in entries if entry["luck"] is not None]
    found = []
    for player in range(players):
        own = [entry for entry in entries if entry["player"] == player]
        regrets = [entry["regret"] for entry in own if entry["regret"] is not None]
        mine = [entry["ply"] for entry in wrong if entry["player"] == player]
        mean = sum(regrets) / len(regrets) if regrets else None
        luck = sum(changes[player] for changes in lucks) if lucks else None
        found.append(PlayerSummary(player, len(own), mean, len(mine), luck, mine[:LARGEST]))
    return found
