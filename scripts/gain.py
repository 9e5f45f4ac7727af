"""What is a decision of a search worth? In positions from games of a trained player against itself, agents choose a move; then
the game is played to its end by that player in all seats, from many deals of what the mover cannot know. The gain is how much
more often the mover wins than after a move that the player draws itself. Every agent chooses in the same positions, so that much
smaller differences show than in matches; what comes of better moves later in the game does not."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import time
from collections.abc import Iterator

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from euphoria_agents import load
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.matches.tournament import check_counts
from euphoria_agents.players.ppo import PPO, checkpoint_path
from euphoria_agents.training.self_play import play_on
from euphoria_env import Batch, Game, Rules

SIDE_BY_SIDE = 2048  # playouts
TABLES = 64  # games that positions are taken from, side by side
EARLIEST, SHARE = 20, 0.004  # decision of a game from which on positions are taken, and how many of them
SETTLED = 0.95  # a move more probable than this leaves little to choose
DRAWN = -1  # instead of a move: one that the player draws


@dataclasses.dataclass
class Options:
    """Compares what the decisions of agents are worth, by playouts."""

    agents: list[str] = option(["mcts:100:ppo", "mcts:500:ppo"], "who chooses, as for euphoria_agents.load")
    player: str = option("", "the file of the player who plays the games; the one that ships, if none is named")
    players: int = option(2, "number of players")
    positions: int = option(200, "how many")
    playouts: int = option(200, "of each move that somebody chooses")
    seed: int = option(0, "equal seeds give equal positions and playouts")


def positions(player: PPO, options: Options, rng: np.random.Generator) -> Iterator[Game]:
    """Games in which there is something to decide, each dealt for its mover."""
    batch = Batch(TABLES, Rules(num_players=options.players), int(rng.integers(2**62)), threads=1)
    number, taken = np.zeros(TABLES, np.int64), 0
    while taken < options.positions:
        chances = np.exp(player.log_chances(batch.observation, batch.mask))
        open_ = (number >= EARLIEST) & (chances.max(1) < SETTLED) & (rng.random(TABLES) < SHARE)
        for i in np.flatnonzero(open_)[: options.positions - taken].tolist():
            taken += 1
            yield batch.game(i).determinize(int(batch.player[i]), int(rng.integers(2**62)))
        batch.step(player.act_batch(batch.observation, batch.mask, rng))
        number = np.where(batch.terminated | batch.truncated, 0, number + 1)


def worth(player: PPO, games: list[Game], asked: list[tuple[int, int]], playouts: int, rng: np.random.Generator) -> np.ndarray:
    """The share of games that the mover wins after each of these pairs of a position and a move."""
    todo = [k for k in range(len(asked)) for _ in range(playouts)]
    wins = np.zeros(len(asked))
    for first in track(range(0, len(todo), SIDE_BY_SIDE), "playouts", transient=True):
        some = todo[first : first + SIDE_BY_SIDE]
        batch = Batch(len(some), games[0].rules, 0, threads=1)
        starts = {}
        for i, k in enumerate(some):
            position, move = asked[k]
            game = games[position]
            starts[i] = game.determinize(game.player, int(rng.integers(2**62)))
            if move != DRAWN:
                starts[i].play(move)
        winner = np.array([-1 if starts[i].winner is None else starts[i].winner for i in range(len(some))])
        active = np.array([starts[i].ranking is None for i in range(len(some))])
        going = np.flatnonzero(active).tolist()
        if going:
            batch.restart(going, {i: starts[i] for i in going})
        for _ in play_on(player, batch, active, winner, rng):
            pass
        for i, k in enumerate(some):
            wins[k] += winner[i] == games[asked[k][0]].player
    return wins / playouts


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    check_counts(positions=options.positions, playouts=options.playouts, seed=options.seed)
    player, rng = PPO.load(checkpoint_path(options.player)), np.random.default_rng(options.seed)
    games = list(positions(player, options, rng))
    chosen: dict[str, list[int]] = {}
    seconds: dict[str, float] = {}
    for spec in options.agents:
        agent, own, start = load(spec), np.random.default_rng([options.seed, len(chosen)]), time.perf_counter()
        chosen[spec] = [
            int(agent.act(game.observation(game.player), game.mask(), own, game)) for game in track(games, spec, transient=True)
        ]
        seconds[spec] = time.perf_counter() - start
    asked = sorted({(k, DRAWN) for k in range(len(games))} | {(k, m) for moves in chosen.values() for k, m in enumerate(moves)})
    found = dict(zip(asked, worth(player, games, asked, options.playouts, rng), strict=True))
    table = Table("agent", "gain", "+-", "ms per decision", title=f"{len(games)} positions, {options.players} players")
    for spec, moves in chosen.items():
        gains = np.array([found[k, move] - found[k, DRAWN] for k, move in enumerate(moves)])
        error = 1.96 * gains.std() / len(gains) ** 0.5
        table.add_row(spec, f"{gains.mean():.2%}", f"{error:.2%}", f"{1000 * seconds[spec] / len(games):.1f}")
    console.print(table)


if __name__ == "__main__":
    command(main)
