"""Tables of payoffs from results and tournaments, the Nash averages and alpha-ranks of their agents, and a picture of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.leaderboard import group
from benchmarks.metagame import alpha_rank, interval, nash, resampled
from euphoria_agents.benchmark.tasks import TASKS
from euphoria_agents.matches.match import Z_95, wilson

MOST_WIDE = 5  # columns in the picture, whose titles are smaller beyond
PAIR = (2,)  # players of a table in which each encounter is one of two


class Payoffs(NamedTuple):
    """The share of games that each agent wins against each of some others.

    Attributes:
        title: of the table.
        agents: the rows, M.
        against: the columns, N.
        players: numbers of players, P.
        rates: (M, N, P), shares won.
        errors: (M, N, P), their standard errors.
    """

    title: str
    agents: list[str]
    against: list[str]
    players: tuple[int, ...]
    rates: np.ndarray
    errors: np.ndarray


def of_results(task: str, results: Iterable[Mapping[str, Any]]) -> Payoffs:
    """The table of a task: every entry of the leaderboard, alone against opponents of one kind."""
    entries, opponents = group(task, results), TASKS[task].opponents
    shape = len(opponents), len(TASKS[task].players)
    rates, errors = np.zeros((len(entries), *shape)), np.zeros((len(entries), *shape))
    for k, seeds in enumerate(entries.values()):
        found = np.array([[[match["win_rate"], _error(match)] for match in seed["matches"]] for seed in seeds])
        means, own = found[..., 0], np.linalg.norm(found[..., 1], axis=0) / len(seeds)
        between = means.std(0, ddof=1) / np.sqrt(len(seeds)) if len(seeds) > 1 else 0.0
        rates[k] = means.mean(0).reshape(shape[::-1]).T  # results have all opponents for each number of players
        errors[k] = np.maximum(own, between).reshape(shape[::-1]).T
    titles = [f"{name} {decisions / 1e6:.3g} M" if decisions else name for name, decisions in entries]
    order = np.argsort(-rates.mean((1, 2)), kind="stable")
    return Payoffs(task, [titles[k] for k in order], list(opponents), TASKS[task].players, rates[order], errors[order])


def _error(match: Mapping[str, Any]) -> float:
    """The standard error of a win rate, from the wider of its intervals: one over the deals is empty if all gave the same."""
    return max(high - low for low, high in (match["interval"], match["paired_interval"])) / (2 * Z_95)


def of_tournament(title: str, standings: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Payoffs:
    """The table of a tournament: how often the row ranked above the column where both sat at one table.

    Args:
        title: of the table.
        standings: as `euphoria tournament` writes them in results.json.
        names: what agents are called, by their specs; others by these.
    """
    agents = [one["agent"] for one in standings]
    rates, errors = np.full((len(agents), len(agents), 1), 0.5), np.zeros((len(agents), len(agents), 1))
    for row, one in enumerate(standings):
        for column, other in enumerate(agents):
            if row != column:
                won, met = one["beaten"][other]
                low, high = wilson(won, met)
                rates[row, column], errors[row, column] = won / met, (high - low) / (2 * Z_95)
    called = [names.get(agent, agent) for agent in agents]
    return Payoffs(title, called, called, PAIR, rates, errors)


class Scores(NamedTuple):
    """The scores of the agents of a table, each with the ends of its 95 % interval: (3, ...).

    Attributes:
        averages: (3, M), the shares won against the opponents as an equilibrium mixes them.
        opponents: (3, N), that mixture.
        ranks: (3, M), alpha-ranks; nan where they cannot be told.
    """

    averages: np.ndarray
    opponents: np.ndarray
    ranks: np.ndarray


def scores(table: Payoffs) -> Scores:
    """The Nash averages and alpha-ranks of a table."""
    samples = resampled(table.rates, table.errors)
    found = [_scores(table, rates) for rates in (table.rates[None], samples)]
    (averages, mixture, ranks), sampled = (one[0] for one in found[0]), found[1]
    with_ends = [np.stack([one, *interval(many)]) for one, many in zip((averages, mixture, ranks), sampled, strict=True)]
    return Scores(*with_ends)


def _scores(table: Payoffs, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Averages, mixtures and ranks of many tables, (S, M, N, P)."""
    wins = rates.mean(-1)
    _, mixture = nash(wins)
    players = np.array(table.players)
    gains = ((players * rates - 1) / (players - 1)).mean(-1)  # over each of the others at the table, on average
    return (wins @ mixture[..., None])[..., 0], mixture, _ranks(table, gains)


def _ranks(table: Payoffs, gains: np.ndarray) -> np.ndarray:
    """The alpha-ranks of many tables: in one population of the opponents, and of each other agent in one beside them.

    With more than two players nobody knows how the opponents do alone among others than themselves, and before all of them have
    been judged, nobody knows how they do among themselves.
    """
    ranks = np.full(gains.shape[:2], np.nan)
    if not set(table.against) <= set(table.agents):
        return ranks
    own = [table.agents.index(name) for name in table.against]
    ranks[:, own] = alpha_rank(gains[:, own])
    if table.players == PAIR:
        for row in set(range(len(table.agents))) - set(own):
            square = np.zeros((len(gains), len(own) + 1, len(own) + 1))
            square[:, :-1, :-1] = gains[:, own]
            square[:, -1, :-1], square[:, :-1, -1] = gains[:, row], -gains[:, row]
            ranks[:, row] = alpha_rank(square)[:, -1]
    return ranks


def percent(ends: np.ndarray) -> str:
    """A share with the ends of its interval, in percent; nothing if it is not known."""
    return "" if np.isnan(ends[0]) else "{:.1f} ({:.1f} to {:.1f})".format(*(100 * ends))


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
            shares = 100 * table.rates.mean(-1)
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
