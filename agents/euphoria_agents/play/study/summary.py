"""Summaries of an analysis for each player."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from euphoria_agents.play.study.game_analysis import Entry

THRESHOLD = 0.06  # a regret above it is a mistake: about one decision of a hundred
SEVERAL = "several"


@dataclass(frozen=True)
class PlayerSummary:
    """A player's decisions and luck.

    Attributes:
        player: the seat.
        decisions: the number of their decisions.
        mean_regret: of the decisions whose regret is known; None if there are none.
        mistakes: the number of regrets above the threshold.
        luck: the change of their chance to win by chance, over all decisions; None if it is known of none.
        luck_by_cause: the same by what was drawn or rolled, such as "own dice"; "several" where it was more than one thing.
    """

    player: int
    decisions: int
    mean_regret: float | None
    mistakes: int
    luck: float | None
    luck_by_cause: dict[str, float]


def mistakes(entries: Iterable[Entry], threshold: float = THRESHOLD) -> list[Entry]:
    """Returns the entries with a regret above the threshold, the worst first."""
    found = [entry for entry in entries if entry["regret"] is not None and entry["regret"] > threshold]
    return sorted(found, key=lambda entry: (-entry["regret"], entry["ply"]))


def cause(chance: Iterable[Sequence[Any]], player: int) -> str:
    """Returns the cause of a player's luck after a decision: one kind of outcome, their own or others', or "several"."""
    kinds, whose = {kind for kind, _ in chance}, {seat == player for _, seat in chance}
    if len(kinds) + len(whose) > 2:
        return SEVERAL
    kind = min(kinds)
    if kind == "lots":
        return kind
    return f"own {kind}" if True in whose else f"others' {kind}"


def summarise(entries: Sequence[Entry], players: int, threshold: float = THRESHOLD) -> list[PlayerSummary]:
    """Returns a summary of each player's part of some entries of a game."""
    lucky = [entry for entry in entries if entry["luck"] is not None]
    found = []
    for player in range(players):
        own = [entry for entry in entries if entry["player"] == player]
        regrets = [entry["regret"] for entry in own if entry["regret"] is not None]
        causes = Counter[str]()
        for entry in lucky:
            if entry["chance"]:
                causes[cause(entry["chance"], player)] += entry["luck"][player]
        mean = sum(regrets) / len(regrets) if regrets else None
        luck = sum(entry["luck"][player] for entry in lucky) if lucky else None
        found.append(PlayerSummary(player, len(own), mean, len(mistakes(own, threshold)), luck, dict(sorted(causes.items()))))
    return found
