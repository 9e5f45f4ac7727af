"""Summaries of an analysis for each player."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from euphoria_agents.play.study.game_analysis import Entry

THRESHOLD = 0.06  # a regret above it is a mistake: about one decision of a hundred
LARGEST = 3
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
        largest: the decisions of their worst mistakes, the worst first.
    """

    player: int
    decisions: int
    mean_regret: float | None
    mistakes: int
    luck: float | None
    luck_by_cause: dict[str, float]
    largest: list[int]


def mistakes(entries: Iterable[Entry], threshold: float = THRESHOLD) -> list[Entry]:
    """The entries with a regret above the threshold, the worst first."""
    found = [entry for entry in entries if entry["regret"] is not None and entry["regret"] > threshold]
    return sorted(found, key=lambda entry: (-entry["regret"], entry["ply"]))


def cause(chance: Iterable[Sequence[Any]], player: int) -> str:
    """The cause of a player's luck after a decision: one kind of outcome, their own or others', or several."""
    kinds, whose = {kind for kind, _ in chance}, {seat == player for _, seat in chance}
    if len(kinds) + len(whose) > 2:
        return SEVERAL
    kind = min(kinds)
    if kind == "lots":
        return kind
    return f"own {kind}" if True in whose else f"others' {kind}"


def summarise(entries: Sequence[Entry], players: int, threshold: float = THRESHOLD) -> list[PlayerSummary]:
    """A summary for each player of some entries of a game."""
    wrong, lucky = mistakes(entries, threshold), [entry for entry in entries if entry["luck"] is not None]
    found = []
    for player in range(players):
        own = [entry for entry in entries if entry["player"] == player]
        regrets = [entry["regret"] for entry in own if entry["regret"] is not None]
        mine = [entry["ply"] for entry in wrong if entry["player"] == player]
        mean = sum(regrets) / len(regrets) if regrets else None
        luck = sum(entry["luck"][player] for entry in lucky) if lucky else None
        causes: dict[str, float] = {}
        for entry in lucky:
            if entry["chance"]:
                what = cause(entry["chance"], player)
                causes[what] = causes.get(what, 0.0) + entry["luck"][player]
        found.append(PlayerSummary(player, len(own), mean, len(mine), luck, dict(sorted(causes.items())), mine[:LARGEST]))
    return found
