"""`euphoria benchmark judge`: has the agent of an entry play on deals that were drawn after it was submitted."""

from __future__ import annotations

import secrets

from rich.console import Console

from euphoria_agents.benchmark.judging import RESULT
from euphoria_agents.benchmark.replaying import Replay, holds
from euphoria_agents.benchmark.results import read_result
from euphoria_agents.benchmark.tasks import task_of
from euphoria_agents.commands.compile import prepare
from euphoria_agents.commands.match_output import executor
from euphoria_agents.commands.shared_arguments import JudgeOptions
from euphoria_agents.matches.work import check_counts, player, players_ended
from euphoria_agents.progress import Progress
from euphoria_env.json_reader import Json


@players_ended()
def run(options: JudgeOptions) -> None:
    """Plays the public games again, then the fresh ones, writes their score into the entry, and prints how they compare."""
    seed = secrets.randbits(128) if options.seed is None else options.seed
    check_counts(processes=options.processes, seed=seed)
    path = options.entry / RESULT if options.entry.is_dir() else options.entry
    found = read_result(path)
    spec = options.agent or found["agent"]["spec"]
    replay = Replay(task_of(found["task"]), spec, path, executor(options))
    player(spec)  # what cannot be made is refused before anything is compiled
    prepare()
    with Progress(Console(emoji=False, markup=False), found["task"], "games", 2 * found["all"]["games"]) as progress:
        fresh = replay.judge(seed, progress.advance)
    for line in _compared(found, fresh):
        print(line)
    print(f"Written to {path}; --seed {seed} repeats it.")


def _compared(found: Json, fresh: Json) -> list[str]:
    """Returns the lines of a table of games won on public and on fresh deals, and what follows from it."""
    pairs = {f"`{name}`": (score, fresh["opponents"][name]) for name, score in found["opponents"].items()}
    pairs["all"] = found["all"], fresh["all"]
    change, low, high = (f"{100 * share:+.1f}" for share in (fresh["difference"], *fresh["interval"]))
    verdict = "holds" if holds(fresh) else "does not hold"
    return [
        "| against | public deals | fresh deals |",
        "|---|---:|---:|",
        *(f"| {name} | {public['win_rate']:.1%} | {new['win_rate']:.1%} |" for name, (public, new) in pairs.items()),
        f"The public figure {verdict}: on fresh deals {change} percentage points ({low} to {high}).",
    ]
