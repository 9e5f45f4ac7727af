"""Summarises an analysis for each player."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from euphoria_agents.play.study.game_analysis import Entry

THRESHOLD = 0.06  # a turn that costs more is a mistake


class PlayerSummary(NamedTuple):
    """A player's decisions and luck.

    Attributes:
        player: the seat.
        decisions: the number of their decisions.
        mean_regret: the mean of the known regrets of their decisions; None if none is known.
        mistakes: the number of their turns that cost more than the threshold; see `mistakes`.
        luck: the sum of the changes of their win probability by dice and cards, over everybody's decisions; None: not known.
    """

    player: int
    decisions: int
    mean_regret: float | None
    mistakes: int
    luck: float | None


def suspects(entries: Iterable[Entry], threshold: float = THRESHOLD) -> list[Entry]:
    """Returns the turns whose regrets add up to more than the threshold, the worst first.

    The decisions of a turn are those of one player that follow each other. The entry with the largest regret stands for the turn,
    with the sum as its `cost`.
    """
    turns = list[list[Entry]]()
    for entry in entries:
        if turns and (turns[-1][-1]["player"], turns[-1][-1]["ply"] + 1) == (entry["player"], entry["ply"]):
            turns[-1].append(entry)
        else:
            turns.append([entry])
    found = [max(turn, key=_regret) | {"cost": sum(map(_regret, turn))} for turn in turns]
    return sorted((one for one in found if one["cost"] > threshold), key=lambda one: (-one["cost"], one["ply"]))


def mistakes(entries: Iterable[Entry], threshold: float = THRESHOLD) -> list[Entry]:
    """Returns the same turns, without those whose entry playouts leave uncertain."""
    return [entry for entry in suspects(entries, threshold) if "playouts" not in entry or entry["playouts"]["certain"]]


def _regret(entry: Entry) -> float:
    return entry["regret"] or 0.0


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
