"""The ratings of the frozen opponents of each benchmark task, from a round robin of their own, as in `tasks.ANCHORS`."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
from functools import partial

from rich.console import Console

from euphoria_agents.benchmark.tasks import TASKS, Task, task_of
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.tournament import rate, schedule
from euphoria_agents.matches.work import Journal, check_counts, play_units
from euphoria_agents.progress import Progress


@dataclasses.dataclass
class Options:
    """Rates the frozen opponents of benchmark tasks."""

    tasks: list[str] = option([name for name, task in TASKS.items() if task.anchors], "whose")
    games: int = option(4000, "of each opponent, with each number of players")
    seed: int = option(0, "of the deals, which are not those of the tasks")
    processes: int = option(os.cpu_count() or 1, "the number of games at once; any number gives the same ratings")


def anchors(task: Task, options: Options, console: Console) -> list[float]:
    """The ratings, in the order of the opponents."""
    chunks = [chunk for rules in task.rules for chunk in schedule(task.opponents, rules, options.games, options.seed)]
    with Progress(console, task.name, "games", sum(chunk.games for chunk in chunks)) as progress:
        played = play_units(chunks, Journal(), partial(in_processes, processes=options.processes), progress.advance)
    ratings = rate(task.opponents, [(chunk.lineup, game) for chunk, result in played.items() for game in result.played])
    return [round(ratings[opponent][0], 2) for opponent in task.opponents]


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    check_counts(games=options.games, seed=options.seed, processes=options.processes)
    for name, task in [(name.removesuffix("-v1"), task_of(name)) for name in options.tasks]:
        console.print(f'    "{name}": {tuple(anchors(task, options, console))},')


if __name__ == "__main__":
    command(main)
