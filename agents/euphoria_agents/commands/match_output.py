"""Functions that the commands which play matches share: rules, playing, the columns of scores, and the result files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from euphoria_agents.commands.compile import prepare
from euphoria_agents.commands.shared_arguments import MatchOptions, PlayOptions
from euphoria_agents.commands.tables import Column, ResultTable
from euphoria_agents.files import write_whole
from euphoria_agents.matches.match import Z_95, MatchResult, Score
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.work import Journal, WorkUnit, check_counts, keep_seed, play_units, player, players_ended
from euphoria_agents.progress import Progress
from euphoria_agents.provenance import unseen
from euphoria_env import Game, Rules
from euphoria_env.agent_protocol import query
from euphoria_env.memory import Ids, memory_of


def rules_of(options: MatchOptions) -> list[Rules]:
    """Returns the rules of the games by number of players; raises a `ValueError` if an option or a number is not allowed."""
    return [Rules(num_players=n, **options.game) for n in dict.fromkeys(options.players)]


@players_ended()
def play_all(options: MatchOptions, console: Console, units: Sequence[WorkUnit], seed: int) -> dict[WorkUnit, MatchResult]:
    """Plays units of work, showing the progress, and returns all results; does not replay those already in `options.out`."""
    check_counts(processes=options.processes)
    journal = Journal(options.out / "chunks.jsonl" if options.out else None, options.records)
    warm_up({spec: unit.rules for unit in units for spec in unit.lineup})
    finished = journal.finished(units)
    to_play = sum(unit.games for unit in units if unit not in finished)
    console.print(f"{to_play:,} games to play: every deal from every seat (--seed {seed})", soft_wrap=True, highlight=False)
    if options.seed is None:
        keep_seed(options.out, seed)
    with Progress(console, "playing", "games", sum(unit.games for unit in units)) as progress:
        played = play_units(units, journal, executor(options), progress.advance)
    for spec, what in unseen(result.inputs for result in played.values()).items():
        console.print(f"{spec} may also depend on {', '.join(what)}, whose changes are not noticed", soft_wrap=True)
    return played


def executor(options: PlayOptions) -> Callable[..., Any]:
    """Returns the function that plays the units: in processes, or on a Ray cluster."""
    if options.ray:
        from euphoria_agents.matches.ray_cluster import on_ray

        return partial(on_ray, address=options.ray_address)
    return partial(in_processes, processes=options.processes)


def warm_up(agents: Mapping[str, Rules]) -> None:
    """Asks every agent for a move, and plays one, so that everything is compiled before timing begins and processes start.

    `agents` has the rules of a game that each plays, by its spec. Raises an `AgentFailed` if one fails, or takes too long.
    """
    for spec in agents:
        player(spec)  # what cannot be made is refused before anything is compiled
    prepare()
    for spec, rules in agents.items():
        if getattr(player(spec), "costs_money", False):
            continue
        game, rng = Game(rules, seed=0), np.random.default_rng(0)
        observation, mask, guess = game.observation(game.player), game.mask(), [game.determinize(game.player, 0)]
        ids = Ids()
        query(player(spec), observation[None], mask[None], rng, guess.__getitem__, memory_of(game, "", ids))
        ids.end(ids.games)
        game.play(game.legal()[0])
        game.to_record()


# --------------------------------------------------------------------------------------------------------------- results

_INTERVALS = Column("95 %", drop=3), Column("95 %\npaired"), Column("rank\n±95 %", drop=1)
SCORE_COLUMNS = Column("wins"), *_INTERVALS, Column("games", drop=4)


def score_cells(score: Score) -> list[str]:
    """Returns a score as cells of a table, under `SCORE_COLUMNS`."""
    off = f" ±{Z_95 * score.rank_error:.2f}" if np.isfinite(score.rank_error) else ""
    wilson, paired = ("{:.1f}-{:.1f}".format(*(100 * end for end in ends)) for ends in (score.interval, score.paired_interval))
    paired = paired if score.seeds > 1 else "-"
    return [f"{score.rate:.1%}", wilson, paired, f"{score.mean_rank:.2f}{off}", str(score.games)]


def milliseconds(seconds: float) -> str:
    """Returns the time per decision in milliseconds, for a table."""
    return f"{1000 * seconds:.2g}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def write_results(folder: Path, results: Any, reports: Sequence[ResultTable]) -> None:
    """Writes results.json and table.md."""
    write_whole(folder / "results.json", json.dumps(results, indent=1) + "\n")
    write_whole(folder / "table.md", "\n".join(report.markdown() for report in reports))
