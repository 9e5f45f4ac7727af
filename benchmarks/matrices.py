"""Tables of payoffs from results and tournaments, and a picture of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.leaderboard import group
from euphoria_agents.benchmark.tasks import TASKS

MOST_WIDE = 5  # columns in the picture, whose titles are smaller beyond


class Payoffs(NamedTuple):
    """The share of games that each agent wins against each of some others.

    Attributes:
        title: of the table.
        agents: the rows, M.
        against: the columns, N.
        rates: (M, N), shares won.
    """

    title: str
    agents: list[str]
    against: list[str]
    rates: np.ndarray


def of_results(task: str, results: Iterable[Mapping[str, Any]]) -> Payoffs:
    """The table of a task: every entry of the leaderboard, alone against opponents of one kind; the best first."""
    entries, opponents = group(task, results), TASKS[task].opponents
    won = [[[match["win_rate"] for match in seed["matches"]] for seed in seeds] for seeds in entries.values()]
    rates = np.array([np.mean(one, 0).reshape(-1, len(opponents)).mean(0) for one in won])  # a row for each number of players
    titles = [f"{name} {decisions / 1e6:.3g} M" if decisions else name for name, decisions in entries]
    order = np.argsort(-rates.mean(1), kind="stable")
    return Payoffs(task, [titles[k] for k in order], list(opponents), rates[order])


def of_tournament(title: str, standings: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Payoffs:
    """The table of a tournament: how often the row ranked above the column where both sat at one table.

    Args:
        title: of the table.
        standings: as `euphoria tournament` writes them in results.json.
        names: what agents are called, by their specs; others by these.
    """
    met = [[one["beaten"].get(other["agent"], (1, 2)) for other in standings] for one in standings]  # each is its own equal
    rates = np.array([[won / games for won, games in row] for row in met])
    called = [names.get(one["agent"], one["agent"]) for one in standings]
    return Payoffs(title, called, called, rates)


def draw(tables: Sequence[Payoffs], short: Mapping[str, str]) -> str:
    """The tables in colours: an SVG, always the same bytes.

    Args:
        tables: from top to bottom.
        short: what agents are called in the picture, by their names; others by these.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "matrices", "svg.fonttype": "none", "font.size": 8, "text.parse_math": False}):
        heights = [3 + len(table.agents) for table in tables]
        figure = Figure(figsize=(4.6, 0.2 * sum(heights)), layout="constrained")
        for axes, table in zip(figure.subplots(len(tables), 1, height_ratios=heights), tables, strict=True):
            shares = 100 * table.rates
            axes.pcolormesh(shares, cmap="RdYlBu", alpha=0.6, vmin=0, vmax=100)
            for (row, column), share in np.ndenumerate(shares):
                axes.text(column + 0.5, row + 0.5, f"{share:.0f}", ha="center", va="center")
            labels = [[short.get(name, name) for name in names] for names in (table.against, table.agents)]
            axes.set_xticks(np.arange(len(labels[0])) + 0.5, labels[0], fontsize=6 if len(labels[0]) > MOST_WIDE else 8)
            axes.set_yticks(np.arange(len(labels[1])) + 0.5, labels[1])
            axes.invert_yaxis()
            axes.tick_params(length=0)
            axes.set_title(table.title, loc="left", fontweight="bold")
        image = io.StringIO()
        figure.savefig(image, format="svg", metadata={"Creator": None, "Date": None})
    text = image.getvalue()
    for k, name in enumerate(dict.fromkeys(re.findall(r'clipPath id="(\w+)"', text))):
        text = text.replace(name, f"clip{k}")  # their names depend on the last bits of places, which vary
    return text
