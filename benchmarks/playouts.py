"""Playouts a second on one core: the same position is played out again and again by the roulette of `weights`, inside numba."""

from __future__ import annotations

import argparse
import time

import numpy as np

from euphoria_agents import load
from euphoria_agents.players.search.playouts import ALL_TURNS, play_out
from euphoria_env import Game, Rules
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.chance import random_bits
from euphoria_env.engine.jit import entry
from euphoria_env.engine.state import GAME_DTYPE, OVER, ROWS
from euphoria_env.engine.tape import TAPE, empty_tape

AT_A_TIME = 200  # playouts; compiled code cannot be interrupted
TO_THE_END = 10**6  # decisions; no game by `weights` takes that long


@entry(ROWS, "int64 int64", TAPE, "int64[:] float64[:] int64 int64")
def play_many(games, root, scratch, tape, moves, weights, playouts, decisions):  # type: ignore[no-untyped-def]
    """Plays out game `root` again and again, in the row `scratch`; returns the numbers of decisions and of cut games."""
    played = cut = 0
    for _ in range(playouts):
        seed = random_bits(games[root]["rng"])
        games[scratch] = games[root]
        g = games[scratch]
        g["rng"][0] = seed
        played += play_out(g, pointer_to(tape, 0), moves, weights, ALL_TURNS, decisions)
        cut += g["status"] < OVER
    return played, cut


def position(players: int, turn: int, seed: int) -> np.ndarray:
    """A game by `weights` when a turn begins, and room for its playouts: (2,) rows."""
    game, weights, rng = Game(Rules(num_players=players), seed=seed), load("weights"), np.random.default_rng(seed)
    while game.turn < turn and not game.over:
        game.play(weights.act(game.observation(game.player), game.mask(), rng))
    rows = np.zeros(2, GAME_DTYPE)
    rows[0] = game.states[0]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--players", type=int, default=2, help="number of players, 2 to 6")
    parser.add_argument("--playouts", type=int, default=2000, help="playouts of each kind")
    parser.add_argument("--seed", type=int, default=1, help="equal seeds give equal playouts")
    options = parser.parse_args()
    tape, moves, weights = empty_tape(), np.empty(NUM_ACTIONS, np.int64), np.empty(NUM_ACTIONS)
    cut = 100 * options.players
    kinds = (("start", 0, TO_THE_END), ("turn 60", 60, TO_THE_END), (f"start, cut after {cut}", 0, cut))
    print(f"{options.players} players: {'from':24s}{'playouts/s':>12s}{'decisions':>12s}{'ns each':>10s}{'cut':>8s}")
    for name, turn, decisions in kinds:
        rows = position(options.players, turn, options.seed)
        play_many(rows, 0, 1, tape, moves, weights, 1, decisions)  # compiles
        start = time.process_time()
        parts = [min(AT_A_TIME, options.playouts - done) for done in range(0, options.playouts, AT_A_TIME)]
        counts = [play_many(rows, 0, 1, tape, moves, weights, part, decisions) for part in parts]
        played, stopped = np.sum(counts, axis=0).tolist()
        seconds = time.process_time() - start
        print(
            f"{'':11s}{name:24s}{options.playouts / seconds:12,.0f}{played / options.playouts:12.1f}"
            f"{seconds / played * 1e9:10.0f}{stopped / options.playouts:8.1%}"
        )


if __name__ == "__main__":
    main()
