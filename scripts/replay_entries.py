"""Has every entry of the leaderboard whose agent ships with the project play all of its games again, as CI does; names those
that say something else than their games do, and then ends with status 1."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from euphoria_agents.benchmark.entries import RESULTS, read_entries
from euphoria_agents.benchmark.replaying import Replay
from euphoria_agents.benchmark.tasks import CURRENT, task_of
from euphoria_agents.commands.compile import prepare
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.work import check_counts
from euphoria_agents.registry import ships

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Options:
    """Replays the entries of the leaderboard whose agents ship with the project."""

    tasks: list[str] = option([task.name for task in CURRENT], "of which tasks")
    processes: int = option(os.cpu_count() or 1, "the number of games at once")


def main() -> None:
    options = parse_options(Options)
    check_counts(processes=options.processes)
    tasks = [task_of(name) for name in options.tasks]
    prepare()
    wrong = 0
    for path, entry in read_entries(ROOT / RESULTS).items():
        task, spec = task_of(entry["task"]), entry["agent"]["spec"]
        if task in tasks and ships(spec) and entry["agent"]["repeatable"]:
            try:
                Replay(task, spec, path, partial(in_processes, processes=options.processes)).check()
                print(f"{path.relative_to(ROOT)}: all {entry['all']['games']:,} games ended as it says", flush=True)
            except ValueError as error:
                wrong += 1
                print(error, flush=True)
    raise SystemExit(int(wrong > 0))


if __name__ == "__main__":
    command(main)
