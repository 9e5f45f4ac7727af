"""Judges an agent's moves by a searcher: what each of its decisions cost it, in chances to win."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from euphoria_agents.matches.match import MatchResult
from euphoria_agents.matches.work import WorkUnit, play_unit, player
from euphoria_agents.record_steps import Replayed
from euphoria_env.derived_seeds import derived_seed

if TYPE_CHECKING:
    from euphoria_agents.players.search.searcher import Searcher
    from euphoria_env import Game

DIGITS = 6  # to which sums of regrets are rounded


def play_and_judge(unit: WorkUnit, records: bool = False, limit: float | None = None, *, judge: str) -> MatchResult:
    """Plays a unit of work as `play_unit` does, and has the `mcts` with the spec `judge` judge the moves of its first agent.

    The counts of the result have `judged`, the number of decisions that have a regret, and `regret`, their sum.
    """
    result = play_unit(unit, True, limit)
    found: list[float] = []
    for k, (record, game) in enumerate(zip(result.records, result.played, strict=True)):
        found += regrets(record, k % len(unit.lineup), judge, game.seed)  # the seat of the first agent
    counts = {**result.counts, "judged": len(found), "regret": round(sum(found), DIGITS)}
    return replace(result, records=result.records if records else [], counts=counts)


def regrets(record: str, seat: int, judge: str, seed: int) -> list[float]:
    """Returns the regrets of a seat's decisions with more than one legal move, in the order of a recorded game.

    Equal seeds, 0 or more, give equal regrets.
    """
    game, searcher = Replayed.from_record(record), cast("Searcher", player(judge))
    plies = [ply for ply in range(len(game.played)) if game.mover(ply) == seat and len(game.at(ply).legal_actions()) > 1]
    return [judged_regret(game.at(ply), game.played[ply], searcher, np.random.default_rng((seed, ply))) for ply in plies]


def judged_regret(game: Game, played: int, judge: Searcher, rng: np.random.Generator) -> float:
    """Returns the mover's chance to win after the move that the judge would play, less that after the move played, -1 to 1.

    The judge knows what the mover may know (R19). If it would play another move, it searches again after each of the two, with
    the same deals. So errors of the first search do not count, and a move better than its own has a negative regret.
    """
    known = game.determinize(game.player, derived_seed(rng) >> 1)
    best = judge.act(game.observation(game.player), game.mask(), rng, known)
    if best == played:
        return 0.0
    seed = int(rng.integers(2**62))
    return judge.value_of(best, known, seed) - judge.value_of(played, known, seed)
