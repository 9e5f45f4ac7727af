"""Games of a trained player against itself, and what was seen in them; PyTorch is not needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.players.ppo import PPO
from euphoria_agents.training.mixture import draw_options
from euphoria_agents.training.rows import Rows, find_readings, join
from euphoria_env.batch import Batch
from euphoria_env.engine.stepping import show_seats
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import Rules

KEPT = 1 / 8  # share of the positions: those of a game are much alike
MOST_TURNS = 600  # longer games are cut off, and left out


class Round(NamedTuple):
    """Games to be played, the same for equal rounds.

    Attributes:
        player: the file of the one who plays all seats.
        players: numbers of players; of each so many games.
        games: of each number of players.
        mixed: share of these with other options, drawn anew.
        seed, number: of the round.
    """

    player: Path
    players: tuple[int, ...]
    games: int
    mixed: float
    seed: int
    number: int


class Positions(NamedTuple):
    """Positions of games with a winner, each as one of the players saw it.

    Attributes:
        readings: what they saw; see `rows.Seen`.
        winners: (N,) int64, who won, in seats after the observer.
        players: (N,) int64, how many play.
    """

    readings: Rows
    winners: np.ndarray
    players: np.ndarray


def play_round(one: Round) -> Positions:
    """Plays the games of a round.

    Raises:
        ValueError: the player cannot be read.
    """
    agent, rng = PPO.load(one.player), np.random.default_rng([one.seed, one.number])
    mixed = round(one.games * one.mixed)
    found = []
    for n in one.players:
        kinds: list[tuple[int, dict[str, Any]]] = [(one.games - mixed, {}), (mixed, draw_options(rng, n))]
        found += [
            play_games(agent, games, Rules(num_players=n, **{"max_turns": MOST_TURNS, **drawn}), rng)
            for games, drawn in kinds
            if games
        ]
    return together(found)


def play_games(agent: PPO, games: int, rules: Rules, rng: np.random.Generator) -> Positions:
    """Plays games to their ends; of the positions some are kept, each as seen by the mover or, as often, by anybody."""
    n = rules.num_players
    batch = Batch(games, rules, int(rng.integers(2**62)), threads=1)
    active, winner = np.ones(games, np.bool_), np.full(games, -1)
    moves = np.zeros(games, np.int64)
    readings, which, observers = [], [], []
    while active.any():
        (kept,) = (active & (rng.random(games) < KEPT)).nonzero()
        seats = np.where(rng.random(len(kept)) < 0.5, batch.player[kept], rng.integers(n, size=len(kept)))
        observations = np.empty((len(kept), OBS_SIZE), np.int8)
        show_seats(batch.states, kept, seats, observations)
        readings.append(find_readings(observations))
        which.append(kept)
        observers.append(seats)
        (asked,) = active.nonzero()
        moves[asked] = agent.act_batch(batch.observation[asked], batch.mask[asked], rng)
        batch.step(moves, active)
        won = active & batch.terminated
        winner[won] = batch.ranking[won].argmin(1)
        active &= ~(batch.terminated | batch.truncated)
    of_game, seen_by = np.concatenate(which), np.concatenate(observers)
    (known,) = (winner[of_game] >= 0).nonzero()
    after = (winner[of_game[known]] - seen_by[known]) % n
    return Positions(_only(join(readings), known), after, np.full(len(known), n))


def together(parts: Sequence[Positions]) -> Positions:
    """All positions of all parts."""
    return Positions(
        join([part.readings for part in parts]),
        np.concatenate([part.winners for part in parts]),
        np.concatenate([part.players for part in parts]),
    )


def _only(rows: Rows, chosen: np.ndarray) -> Rows:
    """Some of the rows, and nothing of the others."""
    sizes = np.diff(rows.starts)
    mask = np.zeros(len(sizes), np.bool_)
    mask[chosen] = True
    starts = np.concatenate([[0], np.cumsum(sizes[chosen])])
    return Rows(starts, rows.items[np.repeat(mask, sizes)], np.arange(len(chosen)))
