"""How many games of a task with a judge tell two agents apart, by regret and by games won.

Both agents play and are judged; their deals are kept, and drawn again and again, more of them each time, until 80 % of the draws
find the difference at the level of 95 %.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import math
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from euphoria_agents.benchmark.judging import judge
from euphoria_agents.benchmark.tasks import task_of
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.matches.match import Z_95
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.work import check_counts
from euphoria_agents.own_files import READ, RESULT, check_outputs
from euphoria_agents.progress import Progress

DRAWS, POWER, MOST = 1000, 0.8, 2**12  # draws, wanted share of them, and the most deals with an opponent that are tried
Z_80 = 0.841621  # one-sided
COUNTS = "games won", "games", "regret", "decisions"  # of a deal
MEASURES = ("games won", "games"), ("regret", "games"), ("regret", "decisions")


@dataclasses.dataclass
class Options:
    """Says how many games tell two agents apart."""

    agents: list[str] = option(["greedy", "greedy:3"], "the two agents")
    task: str = option("text-v1", "a task with a judge")
    games: int = option(10, "of each agent against each opponent, from which the draws are made; those of the task, then others")
    out: Path = option(Path("runs/power"), "folder of the games, which are not played again", files=READ, metavar="FOLDER")
    processes: int = option(os.cpu_count() or 1, "the number of games at once")


def deals(options: Options, agent: str, console: Console) -> np.ndarray:
    """The `COUNTS` of an agent, (4, opponents, deals)."""
    task = dataclasses.replace(task_of(options.task), games=options.games)
    folder = options.out / f"{agent.replace(':', '-')}-{options.games}"
    check_outputs([("--out", folder, RESULT)], [])
    with Progress(console, agent, "games", options.games * len(task.opponents)) as progress:
        run = partial(in_processes, processes=options.processes)
        found = judge(task, agent, folder, run, progress=progress.advance, processes=options.processes)
    won, _, judged, regret = np.moveaxis(np.array([match["chunks"] for match in found["matches"]]), 2, 0)
    return np.stack([won, np.full_like(won, task.players[0]), regret, judged])


def difference(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """The difference of two ratios, and its standard error, over deals that both agents have played.

    Args:
        one, other: two counts of an agent, (2, opponents, deals).
    """
    means = [float(over.sum() / under.sum()) for over, under in (one, other)]
    off = [(over - mean * under) / under.sum() for (over, under), mean in zip((one, other), means, strict=True)]
    apart = off[0] - off[1]
    apart -= apart.mean(1, keepdims=True)  # the opponents are given
    n = apart.shape[1]
    return means[0] - means[1], float(np.sqrt(n / (n - 1) * (apart**2).sum()))


def power(one: np.ndarray, other: np.ndarray, n: int) -> float:
    """The share of draws of n deals with each opponent in which the difference is certain."""
    rng, (_, opponents, known) = np.random.default_rng(0), one.shape
    rows, found = np.arange(opponents)[:, None], 0
    for _ in range(DRAWS):
        drawn = rng.integers(known, size=(opponents, n))
        apart, error = difference(one[:, rows, drawn], other[:, rows, drawn])
        found += abs(apart) > Z_95 * error
    return found / DRAWS


def least(one: np.ndarray, other: np.ndarray) -> int | None:
    """The least number of deals with each opponent that suffices; None: more than `MOST`."""
    enough = 2
    while enough <= MOST and power(one, other, enough) < POWER:
        enough *= 2
    few = enough // 2
    while enough - few > max(1, few // 16):
        middle = (enough + few) // 2
        few, enough = (few, middle) if power(one, other, middle) >= POWER else (middle, enough)
    return enough if enough <= MOST else None


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    check_counts(games=options.games, processes=options.processes)
    one, other = (deals(options, agent, console) for agent in options.agents)
    whole = task_of(options.task).games * one.shape[1]  # the games of the task
    in_deals = int(one[1].sum(0)[0])  # the games of a deal with each opponent
    table = Table(
        "measure", "difference", "±", f"seen by {whole} games in 80 %", f"this seen by {whole} games in", "80 % need games"
    )
    for count, by in MEASURES:
        rows = [COUNTS.index(count), COUNTS.index(by)]
        apart, error = difference(one[rows], other[rows])
        visible = (Z_95 + Z_80) * error * math.sqrt(one[1].sum() / whole)
        needed = least(one[rows], other[rows])
        games = f"{needed * in_deals:,}" if needed else f"more than {MOST * in_deals:,}"
        seen = f"{power(one[rows], other[rows], whole // in_deals):.0%}"
        table.add_row(f"{count} / {by}", f"{apart:+.4f}", f"{Z_95 * error:.4f}", f"{visible:.4f}", seen, games)
    console.print(table)


if __name__ == "__main__":
    command(main)
