"""`euphoria collect`: plays games and writes them as a data set."""

from __future__ import annotations

from rich.console import Console

from euphoria_agents.commands.match_output import executor, warm_up
from euphoria_agents.commands.shared_arguments import CollectOptions
from euphoria_agents.data.collecting import collect, parts_of
from euphoria_agents.matches.work import check_counts, choose_seed, players_ended
from euphoria_agents.progress import Progress
from euphoria_env import Rules


@players_ended()
def run(options: CollectOptions) -> None:
    """Collects the data set, and prints its size and its hash."""
    check_counts(processes=options.processes)
    rules, console = Rules(num_players=options.players, **options.game), Console(emoji=False, markup=False)
    seed = choose_seed(options.seed, options.out)
    parts = parts_of(options.agents, rules, options.games, seed, options.reward)
    warm_up(dict.fromkeys(options.agents, rules))
    with Progress(console, "collecting", "games", options.games) as progress:
        found = collect(options.out, parts, executor(options), progress.advance, options.seed is None)
    size = sum((options.out / file["name"]).stat().st_size for file in found["files"])
    summary = f"{found['games']:,} games, {found['decisions']:,} decisions, {size / found['decisions']:.0f} bytes per decision"
    console.print(f"--seed {seed}: {summary}, SHA-256 {found['sha256'][:16]}: {options.out}", soft_wrap=True, highlight=False)
