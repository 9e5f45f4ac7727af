"""Results of many agents by the same tasks: a table for each task, and a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents import charts
from euphoria_agents.benchmark.measures import MEASURES, column_title, measure_text
from euphoria_agents.benchmark.tasks import FROZEN, TASKS, Task

# The columns before and after those of the opponents.
BEFORE = "agent", "decisions", "all"
AFTER = "each seed", "rank", "rating", *map(column_title, MEASURES), "entry"


class LeaderboardRow(NamedTuple):
    """An agent, judged by a task; all seeds of a training are one agent.

    Attributes:
        name: of the agent.
        decisions: of the learner in training; 0 for fixed players and searchers.
        against: the share of games won against each kind of opponents.
        rates: the share of all games won, for each seed.
        low, high: the range of the seeds or, if there is one only, the 95 % interval over the deals.
        rank: the mean one.
        rating: the mean one.
        measures: the texts of `MEASURES`, empty for those that were not taken; of the first seed.
        entry: links to code and paper, the date, and who reproduced it, as Markdown.
    """

    name: str
    decisions: int
    against: list[float]
    rates: list[float]
    low: float
    high: float
    rank: float
    rating: float
    measures: list[str]
    entry: str

    @property
    def budget(self) -> str:
        """The decisions in millions; nothing for those that do not learn."""
        return f"{self.decisions / 1e6:.3g} M" if self.decisions else ""

    @property
    def mean(self) -> float:
        """The share of all games won."""
        return float(np.mean(self.rates))

    @property
    def coverage(self) -> float:
        """How often such an interval has the true value: the range of n seeds has the median of all seeds with 1 - 2 / 2^n."""
        return 1 - 2.0 ** (1 - len(self.rates)) if len(self.rates) > 1 else 0.95


def group(task: str, results: Iterable[Mapping[str, Any]]) -> dict[tuple[str, int], list[Mapping[str, Any]]]:
    """The results of each agent that was judged by a task, by its name and the decisions of its training."""
    agents: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for result in results:
        if result["task"] == task:
            name = result["agent"]["name"] + ("" if result["agent"]["repeatable"] else ", not repeatable")
            agents.setdefault((name, result.get("training", {}).get("decisions", 0)), []).append(result)
    return agents


def standings(task: str, results: Iterable[Mapping[str, Any]]) -> list[LeaderboardRow]:
    """All agents that were judged by a task, the best first."""
    found = (_standing(TASKS[task].opponents, *agent, seeds) for agent, seeds in group(task, results).items())
    return sorted(found, key=lambda one: -one.mean)


def _standing(opponents: Sequence[str], name: str, decisions: int, seeds: list[Mapping[str, Any]]) -> LeaderboardRow:
    rates = [seed["all"]["win_rate"] for seed in seeds]
    low, high = (min(rates), max(rates)) if len(rates) > 1 else seeds[0]["all"]["paired_interval"]
    against = [float(np.mean([seed["opponents"][opponent]["win_rate"] for seed in seeds])) for opponent in opponents]
    rank, rating = (float(np.mean([seed[part][key] for seed in seeds])) for part, key in (("all", "mean_rank"), ("rating", "mu")))
    entries = [seed["entry"] for seed in seeds if "entry" in seed]
    told = _entry_as_text(entries) if entries else ""
    measures = [measure_text(seeds[0], measure) for measure in MEASURES]
    return LeaderboardRow(name, decisions, against, rates, low, high, rank, rating, measures, told)


def _entry_as_text(entries: Sequence[Mapping[str, Any]]) -> str:
    """Links, the latest date, and everybody who reproduced one of the seeds."""
    links = {name: link for one in entries for name in ("code", "paper") if (link := one.get(name))}
    addresses = {name: link if "://" in link else f"../{link}" for name, link in links.items()}
    people = sorted({name for one in entries for name in one.get("reproduced_by", ())})
    parts = [*(f"[{name}]({address})" for name, address in addresses.items()), max(one["date"] for one in entries)]
    return ", ".join([*parts, *(["reproduced by " + ", ".join(people)] if people else [])])


def headings(task: Task) -> tuple[str, ...]:
    """The titles of the columns of `row`."""
    return *BEFORE, *(FROZEN.get(opponent, f"`{opponent}`") for opponent in task.opponents), *AFTER


def titled(name: str) -> str:
    """An agent by its name, as Markdown; frozen players are usually named by a spec, and called by what follows it."""
    return f"`{name}`" + (f", {FROZEN[name]}" if name in FROZEN else "")


def row(one: LeaderboardRow) -> tuple[str, ...]:
    """A line under `headings`; win rates are in percent."""
    return (
        titled(one.name),
        one.budget,
        f"**{100 * one.mean:.1f}** ({100 * one.low:.1f} to {100 * one.high:.1f}; {100 * one.coverage:.0f} %)",
        *(f"{100 * rate:.1f}" for rate in one.against),
        ", ".join(f"{100 * rate:.1f}" for rate in one.rates) if len(one.rates) > 1 else "",
        f"{one.rank:.2f}",
        f"{one.rating:.1f}",
        *one.measures,
        one.entry,
    )


def draw(results: Sequence[Mapping[str, Any]]) -> str:
    """The share of all games that each agent won, with intervals and every seed, task by task: an SVG."""
    tables = {task: standings(task, results)[::-1] for task in TASKS}
    heights = [3 + len(table) for table in tables.values()]
    with charts.chart(6, 0.2 * sum(heights)) as figure:
        panels = figure.subplots(len(tables), 1, sharex=True, height_ratios=heights)
        for axes, (task, table) in zip(panels, tables.items(), strict=True):
            _draw_task(axes, TASKS[task], table)
        charts.in_percent(panels[-1].xaxis)
        panels[-1].set(xlabel="games won", xlim=(0, 1))
        return charts.svg_text(figure)


def _draw_task(axes: Any, task: Task, table: list[LeaderboardRow]) -> None:
    """The agents of a task, the best above, and the line of equals."""
    places, colours = range(len(table)), [charts.SERIES[0] if one.decisions else charts.DIM for one in table]
    axes.hlines(places, [one.low for one in table], [one.high for one in table], colours)
    axes.scatter(
        [rate for one in table for rate in one.rates], [place for place in places for _ in table[place].rates], marker="|"
    )
    axes.scatter([one.mean for one in table], places, 16, colours, zorder=3)
    axes.axvline(equal := float(np.mean([1 / n for n in task.players])), color=charts.DIM, linestyle="--", linewidth=1)
    axes.set_yticks(places, [", ".join(filter(None, (FROZEN.get(one.name, one.name), one.budget))) for one in table])
    axes.set_title(f"{task.name}; among equals: {100 * equal:.0f} %")
    axes.tick_params(labelbottom=True, left=False)
    axes.grid(visible=False, axis="y")
