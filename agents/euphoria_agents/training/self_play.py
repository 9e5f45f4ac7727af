"""Games of a trained player against itself, and what was seen in them; PyTorch is not needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.players.ppo import PPO
from euphoria_agents.players.random import Uniform
from euphoria_agents.training import kernels
from euphoria_agents.training.csr import CSR, join_lists
from euphoria_agents.training.rules_mixture import draw_options
from euphoria_env.batch import Batch
from euphoria_env.engine.batch_kernels import show_seats
from euphoria_env.engine.state import GAME_DTYPE, copy_chosen
from euphoria_env.envs.asking import BatchGames, play_agents
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import Rules

KEPT = 1 / 8  # share of the positions: those of a game are much alike
_UNIFORM = Uniform()
MOST_TURNS = 600  # longer games are cut off, and left out


class Kept(NamedTuple):
    """Positions of games with a winner."""

    rows: np.ndarray  # (K,), the positions
    winners: np.ndarray  # (K,) int64, the seat that won
    shares: np.ndarray  # (K,) float64, what share of the decisions of the game was played


class Positions(NamedTuple):
    """Positions as one of the players saw each."""

    rows: CSR  # what they saw; see `training.kernels`
    winners: np.ndarray  # (N,) int64, who won, in seats after the observer
    players: np.ndarray  # (N,) int64, how many play


def play_round(agent: PPO, players: Sequence[int], games: int, mixed: float, epsilon: float, seed: Sequence[int]) -> Positions:
    """Plays games, the same for equal arguments; each position is seen by its mover or, as often, by anybody.

    Args:
        agent: plays all seats.
        players: numbers of players; `games` are played of each.
        games: of each number of players.
        mixed: share of these with other options, drawn again in each round.
        epsilon: share of the moves that are drawn from all that are legal, so that what the player would never do is judged too.
        seed: of the round.
    """
    rng, other = np.random.default_rng(seed), round(games * mixed)
    found = []
    for n in players:
        kinds: list[tuple[int, dict[str, Any]]] = [(games - other, {}), (other, draw_options(rng, n))]
        for number, options in kinds:
            if number:
                rules = Rules(num_players=n, max_turns=MOST_TURNS, **options)
                found.append(_seen(play_games(agent, number, rules, rng, epsilon), n, agent.row_begins, rng))
    rows, winners, numbers = zip(*found, strict=True)
    return Positions(join_lists(rows), np.concatenate(winners), np.concatenate(numbers))


def play_games(agent: PPO, games: int, rules: Rules, rng: np.random.Generator, epsilon: float = 0.0) -> Kept:
    """Plays games to their ends, and keeps some of the positions; `epsilon` is the share of the moves that anything legal is."""
    batch = Batch(games, rules, int(rng.integers(2**62)), threads=1)
    winner, lengths = np.full(games, -1), np.zeros(games)
    rows, of_game, when = [], [], []
    for asked in play_on(agent, batch, np.ones(games, np.bool_), winner, rng, epsilon):
        kept = asked[rng.random(len(asked)) < KEPT]
        rows.append(np.empty(len(kept), GAME_DTYPE))
        copy_chosen(batch.states, kept, rows[-1])
        of_game.append(kept)
        when.append(lengths[kept])
        lengths[asked] += 1
    which = np.concatenate(of_game)
    known = winner[which] >= 0
    shares = np.concatenate(when) / lengths[which]
    return Kept(np.concatenate(rows)[known], winner[which][known], shares[known])


def play_on(
    agent: PPO, batch: Batch, active: np.ndarray, winner: np.ndarray, rng: np.random.Generator, epsilon: float = 0.0
) -> Iterator[np.ndarray]:
    """Plays the active games of a batch to their ends; before each step it yields which of them are asked.

    Args:
        active: (N,) bool; all False in the end.
        winner: (N,) int64; gets the seats that win, and stays as it is where a game is cut off.
        epsilon: the share of the moves that anything legal is.
    """
    games = _SelfPlay(agent, batch, active, rng, epsilon)
    while active.any():
        yield active.nonzero()[0]
        play_agents([games], lambda _: rng)
        won = active & batch.terminated
        winner[won] = batch.ranking[won].argmin(1)
        active &= ~(batch.terminated | batch.truncated)


class _SelfPlay(BatchGames):
    """Games in which one agent plays all seats; see `asking.Games`. Arguments as for `play_on`."""

    def __init__(self, agent: PPO, batch: Batch, active: np.ndarray, rng: np.random.Generator, epsilon: float) -> None:
        super().__init__(batch.n)
        self.agent, self.batch, self.active, self.rng, self.epsilon = agent, batch, active, rng, epsilon

    def asked(self) -> list[tuple[PPO, np.ndarray]]:
        """See `asking.Games.asked`."""
        return [(self.agent, self.active.nonzero()[0])]

    def take(self, games: np.ndarray, moves: np.ndarray, seconds: float) -> None:
        """Takes the moves, or in their share of the games anything legal."""
        super().take(games, moves, seconds)
        stray = games[self.rng.random(len(games)) < self.epsilon]
        self.moves[stray] = _UNIFORM.act_batch(*self.seen(stray), self.rng)

    def advance(self) -> None:
        """Plays the moves."""
        self.batch.step(self.moves, self.active)


def _seen(kept: Kept, n: int, begins: np.ndarray, rng: np.random.Generator) -> Positions:
    """Positions of games of n players, as observers drawn at random see them."""
    size = len(kept.rows)
    observers = np.where(rng.random(size) < 0.5, kept.rows["player"], rng.integers(n, size=size))
    observations = np.empty((size, OBS_SIZE), np.int8)
    show_seats(kept.rows, np.arange(size), observers, observations)
    return Positions(rows_of(observations, begins), (kept.winners - observers) % n, np.full(size, n))


def rows_of(observations: np.ndarray, begins: np.ndarray) -> CSR:
    """The rows that observations, int8 (N, OBS_SIZE), add up in the first layer; `begins` as of `weight_layout.row_begins`."""
    ends, index = np.zeros(len(observations) + 1, np.int64), np.empty(np.count_nonzero(observations), np.int16)
    kernels.record_observations(observations, begins, ends, index)
    return CSR(ends, index[: ends[-1]])
