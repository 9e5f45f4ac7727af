"""How well does a trained player predict who wins? It plays against itself, and its predictions are compared with results: the
log-loss at a quarter, half and three quarters of a game, and a reliability table (the share of seats with a chance in some range
that won). The predictions are its outlook, its value turned into chances (one pass for each seat, then divided by their sum), and
the evaluation of `greedy`."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import itertools

import numba
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.players.ppo import PPO, checkpoint_path
from euphoria_agents.players.search import inference
from euphoria_agents.players.search.evaluation import NUM_FEATURES, WEIGHTS, outlook
from euphoria_agents.training.self_play import MOST_TURNS, play_games
from euphoria_env import Rules
from euphoria_env.board import MAX_PLAYERS

MOMENTS = (0.25, 0.5, 0.75)  # of a game
NEAR = 0.05  # how far off these a position may be
BINS = np.linspace(0, 1, 11)
SMALLEST = 1e-3  # chance that a value is taken for
AT_ONCE = 1000  # positions between two signs of progress


@dataclasses.dataclass
class Options:
    """Compares a trained player's predictions with the results."""

    player: str = option("", "the file of the player; the one that ships, if none is named")
    players: list[int] = option([2, 3, 4, 5, 6], "numbers of players")
    games: int = option(1000, "games of each number of players")
    seed: int = option(0, "equal seeds give equal games")


@numba.njit(error_model="numpy")  # not an `entry`: the script is short, and nothing is kept that could become stale
def judge(net, reward, positions, features, by_outlook, by_value, by_evaluation):  # type: ignore[no-untyped-def]
    """Writes everybody's chances in some positions: (K, MAX_PLAYERS) each, those of the value not yet divided by their sum."""
    for k in range(len(positions)):
        g = positions[k]
        if inference.has_outlook(net):
            inference.look(net, g, int(g["player"]))
            inference.outlook(net, g, int(g["player"]), by_outlook[k])
        for p in range(int(g["num_players"])):
            inference.observe(net, g, p)
            by_value[k, p] = max(SMALLEST, inference.chance_to_win(g, p, inference.value(net), reward))
        outlook(g, WEIGHTS, features, by_evaluation[k])


def judged(net: inference.Network, reward: int, positions: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """Everybody's chances in all positions, (K, n) each, by their source."""
    found = {name: np.zeros((len(positions), MAX_PLAYERS)) for name in ("outlook", "value", "evaluation")}
    features = np.zeros(NUM_FEATURES)
    for start in track(range(0, len(positions), AT_ONCE), f"{n} players", transient=True):
        some = slice(start, start + AT_ONCE)
        judge(net, reward, positions[some], features, *(one[some] for one in found.values()))
    if not inference.has_outlook(net):
        del found["outlook"]
    found["value"] /= found["value"].sum(1, keepdims=True)
    return {name: one[:, :n] for name, one in found.items()}


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    path = checkpoint_path(options.player)
    agent, (net, reward) = PPO.load(path), inference.load_network(path)
    losses = Table("players", "games", "by", *(f"at {moment:.0%}" for moment in MOMENTS), "all", title="log-loss")
    chances: dict[str, list[np.ndarray]] = {}
    for n in options.players:
        rng = np.random.default_rng([options.seed, n])
        kept = play_games(agent, options.games, Rules(num_players=n, max_turns=MOST_TURNS), rng)
        for name, found in judged(net, reward, kept.rows, n).items():
            loss = -np.log(found[np.arange(len(found)), kept.winners])
            means = [loss[abs(kept.shares - moment) < NEAR].mean() for moment in MOMENTS]
            losses.add_row(str(n), str(options.games), name, *(f"{mean:.3f}" for mean in [*means, loss.mean()]))
            won = kept.winners[:, None] == np.arange(n)
            chances.setdefault(name, []).append(np.stack([found.ravel(), won.ravel()]))
    console.print(losses)
    for name, parts in chances.items():
        console.print(reliability(name, *np.concatenate(parts, 1)))


def reliability(name: str, said: np.ndarray, won: np.ndarray) -> Table:
    """Each range of chances: the number of seats that were given one, their mean chance, and the share of them that won."""
    table = Table("chance", "seats", "said", "won", title=f"reliability of {name}")
    for low, high in itertools.pairwise(BINS):
        here = (said >= low) & ((said < high) | (high == 1))
        means = (f"{one[here].mean():.1%}" if here.any() else "" for one in (said, won))
        table.add_row(f"{low:.0%} to {high:.0%}", f"{here.sum():,}", *means)
    return table


if __name__ == "__main__":
    command(main)
