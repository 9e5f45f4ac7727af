"""Games of a trained player against itself, and what was seen in them; PyTorch is not needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.players.ppo import PPO
from euphoria_agents.players.search.evaluation import describe_positions
from euphoria_agents.training import kernels, play_kernels
from euphoria_agents.training.csr import CSR, join_lists
from euphoria_agents.training.play_kernels import NOBODY
from euphoria_agents.training.rules_mixture import draw_options
from euphoria_env.batch import Batch
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.batch_kernels import show_seats
from euphoria_env.engine.determinize import deal_hidden
from euphoria_env.engine.features import NUM_FEATURES
from euphoria_env.engine.state import GAME_DTYPE, OVER, copy_rows
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import Rules

KEPT = 40  # positions of a game: more would be much alike
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
    described: np.ndarray  # (N, MAX_PLAYERS * NUM_FEATURES) float32, the features of the seats; see `describe_seats`


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
    rows, *arrays = zip(*found, strict=True)
    return Positions(join_lists(rows), *(np.concatenate(parts) for parts in arrays))


def play_games(agent: PPO, games: int, rules: Rules, rng: np.random.Generator, epsilon: float = 0.0, kept: int = KEPT) -> Kept:
    """Plays games to their ends, and keeps some positions of each; `epsilon` is the share of the moves that anything legal is."""
    rows = copy_rows(Batch(games, rules, int(rng.integers(2**62)), threads=1, observe=False).states)
    positions, when, lengths = np.zeros(games * kept, GAME_DTYPE), np.zeros((games, kept), np.int64), np.zeros(games, np.int64)
    play_kernels.play_by_policy(rows, agent.policy, _seeds(games, rng), epsilon, np.full(games, NOBODY), positions, when, lengths)
    winner = np.repeat(winners(rows), kept)
    known = (winner >= 0) & (np.arange(kept) < lengths[:, None]).ravel()
    return Kept(positions[known], winner[known], (when / lengths[:, None]).ravel()[known])


def winners(rows: np.ndarray) -> np.ndarray:
    """Who won games that are over, int64 (N,); -1 where a game was cut off."""
    return np.where(rows["status"] == OVER, (rows["ranking"] == 1).argmax(1), -1)


def playout_win_rates(agent: PPO, positions: np.ndarray, playouts: int, rng: np.random.Generator) -> np.ndarray:
    """How often each seat wins when the agent plays on from a position for everybody.

    Args:
        agent: plays all seats.
        positions: (N,), typed as `Game.states`.
        playouts: of each position; each time, the cards that its mover cannot know are dealt again (R19).
        rng: of the deals, the dice and the moves.

    Returns:
        float64 (N, MAX_PLAYERS), the shares of the playouts; those of a position add up to less than 1 if games were cut off.
    """
    rows = continued(agent, positions, playouts, rng, np.full(len(positions), NOBODY))
    won = winners(rows)[:, None] == np.arange(MAX_PLAYERS)
    return won.reshape(len(positions), playouts, -1).mean(1)


def continued(agent: PPO, positions: np.ndarray, times: int, rng: np.random.Generator, until: np.ndarray) -> np.ndarray:
    """The states, (N * times,), in which the agent's games from these positions end; arguments as of `playout_win_rates`.

    Args:
        until: int64 (N,), the seat before whose next decision to stop, or NOBODY.
    """
    rows = dealt_again(positions, times, rng)
    play_until(agent, rows, rng, np.repeat(until, times))
    return rows


def dealt_again(positions: np.ndarray, times: int, rng: np.random.Generator) -> np.ndarray:
    """Copies of positions, (N * times,), in each of which the cards that the mover cannot know are dealt again (R19)."""
    rows = np.repeat(positions, times)
    for i, seed in enumerate(rng.integers(2**62, size=len(rows)).tolist()):
        deal_hidden(rows, i, int(rows["player"][i]), seed)
    return rows


def play_until(agent: PPO, rows: np.ndarray, rng: np.random.Generator, until: np.ndarray) -> None:
    """Plays games on, the agent at all seats; `rng` is that of the moves. See `play_kernels.play_by_policy`."""
    none = np.zeros(0, GAME_DTYPE), np.zeros((len(rows), 0), np.int64), np.zeros(len(rows), np.int64)
    play_kernels.play_by_policy(rows, agent.policy, _seeds(len(rows), rng), 0.0, until, *none)


def _seeds(games: int, rng: np.random.Generator) -> np.ndarray:
    """Generators of the moves of games, int64 (N, 2)."""
    return rng.integers(1, 2**29, (games, 2))


def _seen(kept: Kept, n: int, begins: np.ndarray, rng: np.random.Generator) -> Positions:
    """Positions of games of n players, as observers drawn at random see them."""
    size = len(kept.rows)
    observers = np.where(rng.random(size) < 0.5, kept.rows["player"], rng.integers(n, size=size))
    observations = np.empty((size, OBS_SIZE), np.int8)
    show_seats(kept.rows, np.arange(size), observers, observations)
    described = np.empty((size, MAX_PLAYERS * NUM_FEATURES), np.float32)
    describe_positions(kept.rows, observers, described)
    rows, winners_after = rows_of(observations, begins), (kept.winners - observers) % n
    return Positions(rows, winners_after, np.full(size, n), described)


def rows_of(observations: np.ndarray, begins: np.ndarray) -> CSR:
    """The rows that observations, int8 (N, OBS_SIZE), add up in the first layer; `begins` as of `weight_layout.row_begins`."""
    ends, index = np.zeros(len(observations) + 1, np.int64), np.empty(np.count_nonzero(observations), np.int16)
    kernels.record_observations(observations, begins, ends, index)
    return CSR(ends, index[: ends[-1]])
