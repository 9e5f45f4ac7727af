"""The measures of a task with a judge, besides games won: regret, legal answers, tokens and money, each with an interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from euphoria_agents.matches.match import ratio, wilson

Deals = Mapping[tuple[int, int], Counter[str]]  # the counts in all games of a deal, by the numbers of its match and its unit


class Measure(NamedTuple):
    """A count that is divided by another one, and how a table shows the ratio: multiplied, with so many digits and a unit."""

    over: str
    by: str
    factor: int
    digits: int
    unit: str


MEASURES = {  # all but the regret are counts of the agent (`Player.counts`)
    "regret_per_game": Measure("regret", "games", 1, 2, ""),
    "regret": Measure("regret", "judged", 100, 2, " %"),
    "legal_first": Measure("legal_first", "decisions", 100, 1, " %"),
    "tokens_in": Measure("tokens_in", "decisions", 1, 0, ""),
    "tokens_out": Measure("tokens_out", "decisions", 1, 0, ""),
    "dollars": Measure("dollars", "decisions", 1, 5, ""),
}


def column_title(name: str) -> str:
    """Returns the title of the column of a measure."""
    return name.replace("_", " ")


def measure_text(result: Mapping[str, Any], name: str) -> str:
    """Returns a measure of a result with its interval as a table has it; empty if the result does not have it."""
    if name not in result.get("measures", {}):
        return ""
    *_, factor, digits, unit = MEASURES[name]
    measure = result["measures"][name]
    mean, low, high = (f"{factor * value:.{digits}f}" for value in (measure["mean"], *measure["interval"]))
    return f"{mean}{unit} ({low} to {high})"


def measures(deals: Deals) -> dict[str, Any]:
    """Returns all that was measured, by name."""
    counted = set().union(*deals.values())
    return {name: _measure(deals, one) for name, one in MEASURES.items() if {one.over, one.by} <= counted}


def _measure(deals: Deals, one: Measure) -> dict[str, Any]:
    """Returns the sum, the ratio and its 95 % interval: over the deals, of legal answers Wilson's."""
    over, under = ([deal[count] for deal in deals.values()] for count in (one.over, one.by))
    mean, interval = ratio(over, under, [match for match, _ in deals])
    ends = wilson(int(sum(over)), int(sum(under))) if one.over == "legal_first" else interval
    return {"total": round(float(sum(over)), 6), "mean": round(mean, 6), "interval": [round(end, 6) for end in ends]}
