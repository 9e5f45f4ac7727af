"""How well does a trained player predict who wins? It plays against itself, and its predictions are compared with results: the
log-loss at a quarter, half and three quarters of a game, and a reliability table (the share of seats with a chance in some range
that won). The predictions are its outlook, its value turned into chances (one pass for each seat, then divided by their sum), and
the evaluation of `greedy`."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import itertools

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.players.ppo import PPO, checkpoint_path
from euphoria_agents.players.search import inference
from euphoria_agents.players.search.evaluation import NUM_FEATURES, WEIGHTS, outlook
from euphoria_agents.training.self_play import MOST_TURNS, Kept, play_games
from euphoria_env import Rules
from euphoria_env.board import MAX_PLAYERS

MOMENTS = (0.25, 0.5, 0.75)  # of a game
NEAR = 0.05  # how far off these a position may be
BINS = np.linspace(0, 1, 11)
SMALLEST = 1e-3  # chance that a value is taken for


@dataclasses.dataclass
class Options:
    """Compares a trained player's predictions with the results."""

    player: str = option("", "the file of the player; the one that ships, if none is named")
    players: list[int] = option([2, 3, 4, 5, 6], "numbers of players")
    games: int = option(1000, "games of each number of players")
    seed: int = option(0, "equal seeds give equal games")


def judged(net: inference.Network, reward: int, kept: Kept, n: int) -> dict[str, np.ndarray]:
    """Everybody's chances in all positions, (K, n) each, by their source."""
    room, features = np.zeros(MAX_PLAYERS), np.zeros(NUM_FEATURES)
    found = {name: np.zeros((len(kept.rows), n)) for name in ("outlook", "value", "evaluation")}
    for k, row in enumerate(track(kept.rows, f"{n} players", transient=True)):
        if inference.has_outlook(net):
            inference.look(net, row, int(row["player"]))
            inference.outlook(net, row, int(row["player"]), room)
            found["outlook"][k] = room[:n]
        for p in range(n):
            inference.observe(net, row, p)
            found["value"][k, p] = max(SMALLEST, inference.chance_to_win(row, p, inference.value(net), reward))
        outlook(row, WEIGHTS, features, room)
        found["evaluation"][k] = room[:n]
    found["value"] /= found["value"].sum(1, keepdims=True)
    return found if inference.has_outlook(net) else {name: one for name, one in found.items() if name != "outlook"}


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False)
    path = checkpoint_path(options.player)
    agent, (net, reward) = PPO.load(path), inference.load_network(path)
    losses = Table("players", "games", "by", *(f"at {moment:.0%}" for moment in MOMENTS), "all", title="log-loss")
    chances: dict[str, list[np.ndarray]] = {}
    for n in options.players:
        rng = np.random.default_rng([options.seed, n])
        kept = play_games(agent, options.games, Rules(num_players=n, max_turns=MOST_TURNS), rng)
        for name, found in judged(net, reward, kept, n).items():
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
