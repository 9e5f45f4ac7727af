"""Common to `evaluate` and `tournament`: rules, playing, scores and files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from euphoria_agents.commands.shared_arguments import MatchOptions, PlayOptions
from euphoria_agents.commands.tables import Column, ResultTable
from euphoria_agents.files import write_whole
from euphoria_agents.matches.match import Z_95, MatchResult, Score
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.tournament import Chunk, Journal, check_counts, play, player, players_ended
from euphoria_agents.progress import Progress
from euphoria_env import Game, Rules
from euphoria_env.agent_protocol import query

DECISIONS = 120  # of an agent in a game, roughly
NOTABLE = 60.0  # seconds, from which on a job is said to take long


def rules_of(options: MatchOptions) -> list[Rules]:
    """The rules of the games, for each number of players.

    Raises:
        ValueError: an option or a number of players that is not allowed.
    """
    return [Rules(num_players=n, **options.game) for n in dict.fromkeys(options.players)]


@players_ended()
def play_all(options: MatchOptions, console: Console, chunks: Sequence[Chunk]) -> dict[Chunk, MatchResult]:
    """Plays chunks under a progress bar; those that `options.out` already has are not played again."""
    check_counts(processes=options.processes)
    for folder in filter(None, (options.out, options.records)):
        folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(options.out / "chunks.jsonl" if options.out else None, options.records)
    warm_up({spec: chunk.rules for chunk in chunks for spec in chunk.lineup})
    finished = journal.finished(chunks)
    console.print(announcement([chunk for chunk in chunks if chunk not in finished], options.processes), soft_wrap=True)
    outdated = journal.outdated(chunks)
    if outdated:
        told = "there are of another version of the code or of an agent's files; they are played again"
        console.print(f"{outdated:,} games {told}", soft_wrap=True)
    with Progress(console, "playing", "games", sum(chunk.games for chunk in chunks)) as progress:
        return play(chunks, journal, executor(options), progress.advance)


def announcement(chunks: Sequence[Chunk], processes: int) -> str:
    """The number of games to play, and how long they will take if agents that search play in them."""
    told = f"{sum(chunk.games for chunk in chunks):,} games to play: every deal from every seat"
    times = {
        spec: _ask_once(spec, Game(rules, seed=0))
        for spec, rules in {spec: chunk.rules for chunk in chunks for spec in chunk.lineup}.items()
        if getattr(player(spec), "needs_game", False)
    }
    seconds = sum(chunk.games * DECISIONS * times.get(spec, 0.0) for chunk in chunks for spec in chunk.lineup) / processes
    if seconds < NOTABLE:
        return told
    slow = ", ".join(f"{milliseconds(took)} ms per decision of {spec}" for spec, took in times.items())
    return f"{told}; about {timedelta(seconds=round(seconds))} at {slow}"


def executor(options: PlayOptions) -> Callable[..., Any]:
    """Plays the chunks."""
    if options.ray:
        from euphoria_agents.matches.ray_cluster import on_ray

        return partial(on_ray, address=options.ray_address)
    return partial(in_processes, processes=options.processes)


def warm_up(agents: Mapping[str, Rules]) -> None:
    """Asks every agent once, so that all is compiled before it is timed, and before many processes compile it at once.

    Args:
        agents: the rules of a game in which each will play, by its spec.

    Raises:
        AgentFailed: an agent failed, or took too long.
    """
    for spec, rules in agents.items():
        _ask_once(spec, Game(rules, seed=0))


def _ask_once(spec: str, game: Game) -> float:
    """Calls everything that is compiled when agents play; the seconds that the agent took for its decision."""
    seat, rng = game.player, np.random.default_rng(0)
    observation, mask = game.observation(seat), game.mask()
    began = time.perf_counter()
    query(player(spec), observation[None], mask[None], rng, lambda _: game.determinize(seat, 0))
    seconds = time.perf_counter() - began
    game.play(game.legal()[0])
    game.to_record()
    return seconds


# --------------------------------------------------------------------------------------------------------------- results

SCORE_COLUMNS = (
    Column("wins"),
    Column("95 %", drop=3),
    Column("95 %\npaired"),
    Column("rank\n±95 %", drop=1),
    Column("games", drop=4),
)


def score_cells(score: Score) -> list[str]:
    """A score as cells of a table, under `SCORE_COLUMNS`."""
    off = f" ±{Z_95 * score.rank_error:.2f}" if np.isfinite(score.rank_error) else ""
    low, high = score.interval
    paired = "-"  # where all deals gave the same, or there are too few, nothing is known of how they vary
    if 0 < score.win_error < np.inf:
        paired = "{:.1f}-{:.1f}".format(*(100 * end for end in score.paired_interval))
    return [f"{score.rate:.1%}", f"{100 * low:.1f}-{100 * high:.1f}", paired, f"{score.mean_rank:.2f}{off}", str(score.games)]


def milliseconds(seconds: float) -> str:
    """The time per decision, for a table."""
    return f"{1000 * seconds:.2g}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def write_results(folder: Path, results: Any, reports: Sequence[ResultTable]) -> None:
    """Writes results.json and table.md."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "results.json", json.dumps(results, indent=1) + "\n")
    write_whole(folder / "table.md", "\n".join(report.markdown() for report in reports))
