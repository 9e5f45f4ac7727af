"""`euphoria benchmark`: judges an agent by a task with a fixed protocol."""

from __future__ import annotations

from rich.console import Console

from euphoria_agents.benchmark.judging import heading, judge, matches_of, row
from euphoria_agents.benchmark.replaying import Replay
from euphoria_agents.benchmark.results import check_name
from euphoria_agents.benchmark.tasks import task_of
from euphoria_agents.commands.compile import prepare
from euphoria_agents.commands.match_output import executor, warm_up
from euphoria_agents.commands.shared_arguments import BenchmarkOptions
from euphoria_agents.matches.work import check_counts, players_ended
from euphoria_agents.progress import Progress


@players_ended()
def run(options: BenchmarkOptions) -> None:
    """Judges the agent, or checks a result, and prints the row of the leaderboard."""
    console, task = Console(emoji=False, markup=False), task_of(options.task)
    check_counts(processes=options.processes)
    check_name(options.name or options.agent)
    if options.check:
        replay = Replay(task, options.agent, options.check, executor(options))
        prepare()
        games = replay.found["all"]["games"]
        with Progress(console, task.name, "games", games) as progress:
            replay.check(progress.advance)
        print(f"{options.check}: all {games:,} games ended as it says")
        return
    matches = matches_of(task, options.agent, task.runs(not options.unrepeatable))
    games = sum(unit.games for match in matches for unit in match.units)
    warm_up(dict.fromkeys([options.agent, *task.opponents, *filter(None, [task.judge])], task.rules[0]))
    with Progress(console, task.name, "games", games) as progress:
        result = judge(
            task, options.agent, options.out, executor(options), options.name or "", not options.unrepeatable,
            progress.advance, None if options.ray else options.processes,
        )  # fmt: skip
    console.print(f"{task.name}: {task.about}. Written to {options.out}:", soft_wrap=True)
    print(heading(task), row(result), sep="\n")
