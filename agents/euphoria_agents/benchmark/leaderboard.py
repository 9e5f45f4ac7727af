"""Results of many agents by the same tasks: a folder of them, and a table for each task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from euphoria_agents.benchmark.judging import FORMAT, VERSION
from euphoria_agents.benchmark.tasks import OPPONENTS, TASKS, fingerprint
from euphoria_env.reader import Reader, read_json, shown

RESAMPLES = 10_000  # of the bootstrap
HEADINGS = ("agent", "decisions", *(f"`{opponent}`" for opponent in OPPONENTS), "all", "each seed", "rank", "rating")


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All results under a folder, in the order of their paths.

    Raises:
        ValueError: a file is no result, or is of another task than its folder says; names it.
    """
    return [_read(path) for path in sorted(folder.rglob("*.json"))]


def _read(path: Path) -> dict[str, Any]:
    read = Reader()
    try:
        found = read_json(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") != VERSION:
            read.fail("format", f"must be {FORMAT} of version {VERSION}")
        for key in ("environment", "agent", "opponents", "all", "rating"):
            if not isinstance(found.get(key), dict):
                read.fail(key, f"must be an object, not {shown(found.get(key))}")
        if found.get("task") not in TASKS or found["task"] != path.parent.name:
            read.fail("task", f"must be {path.parent.name}, a task that there is, not {shown(found.get('task'))}")
    except (ValueError, KeyError) as error:
        raise ValueError(f"{path}: {error}") from error
    return found


def outdated(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """Those that do not fit this version of the environment: which task, which agent."""
    return [
        f"{result['task']}: {result['agent']['name']}"
        for result in results
        if result["environment"]["fingerprint"] != fingerprint(TASKS[result["task"]])
    ]


def rows(task: str, results: Iterable[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """A line for each agent that was judged by a task, under `HEADINGS`, the best first; all seeds of a training are one agent.

    Win rates are in percent. Behind that of all games stands a 95 % interval: over the seeds of the training by the bootstrap, or
    over the deals, if there is one only.
    """
    agents: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for result in results:
        if result["task"] == task:
            agents.setdefault((result["agent"]["name"], result.get("training", {}).get("decisions", 0)), []).append(result)
    found = sorted(agents.items(), key=lambda item: -_mean(item[1], "all", "win_rate"))
    return [_row(name, decisions, seeds) for (name, decisions), seeds in found]


def _row(name: str, decisions: int, seeds: list[Mapping[str, Any]]) -> tuple[str, ...]:
    rates = [seed["all"]["win_rate"] for seed in seeds]
    low, high = _bootstrap(rates) if len(rates) > 1 else seeds[0]["all"]["paired_interval"]
    against = (np.mean([seed["opponents"][opponent]["win_rate"] for seed in seeds]) for opponent in OPPONENTS)
    return (
        f"`{name}`",
        f"{decisions:,}" if decisions else "",
        *(f"{100 * rate:.1f}" for rate in against),
        f"**{100 * np.mean(rates):.1f}** ({100 * low:.1f} to {100 * high:.1f})",
        ", ".join(f"{100 * rate:.1f}" for rate in rates) if len(rates) > 1 else "",
        f"{_mean(seeds, 'all', 'mean_rank'):.2f}",
        f"{_mean(seeds, 'rating', 'mu'):.1f}",
    )


def _mean(seeds: list[Mapping[str, Any]], part: str, name: str) -> float:
    return float(np.mean([seed[part][name] for seed in seeds]))


def _bootstrap(rates: list[float]) -> tuple[float, float]:
    """The 95 % percentile interval of the mean; the resamples are always the same."""
    drawn = np.random.default_rng(0).choice(rates, (RESAMPLES, len(rates))).mean(1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)
