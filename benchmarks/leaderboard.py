"""Results of many agents by the same tasks: a table for each task, and a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents import charts
from euphoria_agents.benchmark.measures import MEASURES, column_title, measure_text
from euphoria_agents.benchmark.replaying import holds
from euphoria_agents.benchmark.tasks import CURRENT, FROZEN, TASKS, Task
from euphoria_agents.matches.match import wilson

UNKNOWN = {"rating": None, "fresh": None}  # of a result of an earlier task, which has them for all of its games
# The columns before and after those of the opponents.
BEFORE = "agent", "decisions", "hours", "all"
AFTER = "each seed", "fresh deals", "rank", "rating", "ms", *map(column_title, MEASURES), "entry"


class LeaderboardRow(NamedTuple):
    """An agent, judged by a task; all seeds of a training are one agent.

    Attributes:
        name: of the agent.
        decisions: of the learner in training; 0 for fixed players and searchers.
        hours: the text of the mean processor time of a training; empty if it is not known.
        against: the share of games won against each kind of opponents.
        rates: the share of all games won, for each seed.
        low, high: the range of the seeds or, if there is one only, the 95 % interval over the deals.
        fresh: the text of the share of games won on fresh deals; empty if the agent was not judged on any.
        rank: the mean one.
        rating: the mean one; None in a task without ratings.
        milliseconds: the text of the mean processor time of a decision; empty if it is not known.
        measures: the texts of `MEASURES`, empty for those that were not taken; of the first seed.
        entry: links to code and paper, the date, and who reproduced it, as Markdown.
    """

    name: str
    decisions: int
    hours: str
    against: list[float]
    rates: list[float]
    low: float
    high: float
    fresh: str
    rank: float
    rating: float | None
    milliseconds: str
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
    """All agents that were judged by a task, or by an earlier one that has its games, the best first."""
    of = TASKS[task]
    earlier = {agent: [narrowed(of, seed) for seed in seeds] for agent, seeds in group(of.earlier, results).items()}
    found = (_standing(of, *agent, seeds) for agent, seeds in (earlier | group(task, results)).items())
    return sorted(found, key=lambda one: -one.mean)


def narrowed(task: Task, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result of an earlier task with the games of this one alone."""
    scores = [result["opponents"][opponent] for opponent in task.opponents]
    games, wins = (sum(score[key] for score in scores) for key in ("games", "wins"))
    rank = sum(score["games"] * score["mean_rank"] for score in scores) / games
    interval = result["all"]["paired_interval"] if games == result["all"]["games"] else wilson(wins, games)
    return {**result, "all": {"win_rate": wins / games, "mean_rank": rank, "paired_interval": interval}} | UNKNOWN


def _standing(task: Task, name: str, decisions: int, seeds: list[Mapping[str, Any]]) -> LeaderboardRow:
    rates = [seed["all"]["win_rate"] for seed in seeds]
    low, high = (min(rates), max(rates)) if len(rates) > 1 else seeds[0]["all"]["paired_interval"]
    against = [_mean(seed["opponents"][opponent]["win_rate"] for seed in seeds) for opponent in task.opponents]
    ratings = [rating["mu"] for seed in seeds if (rating := seed.get("rating"))]
    measures, by = [measure_text(seeds[0], measure) for measure in MEASURES], seeds[0]["task"]
    told = [_entry_as_text(seeds), *([f"judged by `{by}`"] if by != task.name else [])]
    return LeaderboardRow(
        name, decisions, _hours(seeds), against, rates, low, high, _fresh(seeds),
        _mean(seed["all"]["mean_rank"] for seed in seeds), _mean(ratings) if ratings else None, _milliseconds(seeds), measures,
        ", ".join(filter(None, told)),
    )  # fmt: skip


def _mean(values: Iterable[float]) -> float:
    return float(np.mean([*values]))


def _hours(seeds: Sequence[Mapping[str, Any]]) -> str:
    """The mean processor time of a training as it was stated; otherwise its time by the clock, with a star."""
    trainings = [seed.get("training") or {} for seed in seeds]
    for known, star in (
        ([one["hours"] for one in trainings if one.get("hours")], ""),
        ([one["seconds"] / 3600 for one in trainings if one.get("seconds")], "*"),
    ):
        if known:
            return f"{_mean(known):.2g}{star}"
    return ""


def _milliseconds(seeds: Sequence[Mapping[str, Any]]) -> str:
    """The mean processor time of a decision, on the fresh deals if there are any."""
    told = [seed.get("fresh") or seed.get("entry") or {} for seed in seeds]
    known = [one["milliseconds"] for one in told if one.get("milliseconds") is not None]
    return f"{_mean(known):.2g}" if known else ""


def _fresh(seeds: Sequence[Mapping[str, Any]]) -> str:
    """The share of games won on fresh deals in percent, of the seeds judged on some, and whether their public figures hold."""
    known = [seed["fresh"] for seed in seeds if seed.get("fresh")]
    if not known:
        return ""
    return f"{100 * _mean(one['all']['win_rate'] for one in known):.1f}" + ", **does not hold**" * (not all(map(holds, known)))


def _entry_as_text(seeds: Sequence[Mapping[str, Any]]) -> str:
    """Links, the latest date, and everybody who reproduced one of the seeds; empty if nothing is known."""
    entries = [seed["entry"] for seed in seeds if seed.get("entry")]
    if not entries:
        return ""
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
        one.hours,
        f"**{100 * one.mean:.1f}** ({100 * one.low:.1f} to {100 * one.high:.1f}; {100 * one.coverage:.0f} %)",
        *(f"{100 * rate:.1f}" for rate in one.against),
        ", ".join(f"{100 * rate:.1f}" for rate in one.rates) if len(one.rates) > 1 else "",
        one.fresh,
        f"{one.rank:.2f}",
        "" if one.rating is None else f"{one.rating:.1f}",
        one.milliseconds,
        *one.measures,
        one.entry,
    )


def draw(results: Sequence[Mapping[str, Any]]) -> str:
    """The share of all games that each agent won, with intervals and every seed, current task by task: an SVG."""
    tables = {task: standings(task.name, results)[::-1] for task in CURRENT}
    heights = [3 + len(table) for table in tables.values()]
    with charts.chart(6, 0.2 * sum(heights)) as figure:
        panels = figure.subplots(len(tables), 1, sharex=True, height_ratios=heights)
        for axes, (task, table) in zip(panels, tables.items(), strict=True):
            _draw_task(axes, task, table)
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
