"""Simulations a second of a searching agent, by processor time, in positions from games of the shipped player against itself.

A search that only has to choose a move may end early; the share of the time that it then takes is printed, too.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from euphoria_agents import load
from euphoria_agents.dataclass_arguments import command
from euphoria_agents.matches.tournament import check_counts
from euphoria_agents.players.search.searcher import Searcher
from euphoria_env import Game, Rules

FIRST, LAST = 20, 250  # decisions of a game between which positions are taken
CHOICES = 4  # at least


def positions(players: int, count: int, seed: int) -> list[Game]:
    """Games in which there is something to decide, each dealt for its mover."""
    rng, player, found = np.random.default_rng(seed), load("ppo"), list[Game]()
    while len(found) < count:
        game, left = Game(Rules(num_players=players), seed=int(rng.integers(2**62))), int(rng.integers(FIRST, LAST))
        while not (game.over or game.truncated) and (left > 0 or len(game.legal()) < CHOICES):
            game.play(player.act(game.observation(game.player), game.mask(), rng))
            left -= 1
        if not (game.over or game.truncated):
            found.append(game.determinize(game.player, int(rng.integers(2**62))))
    return found


def seconds(ask: Callable[..., Any], games: list[Game], seed: int) -> float:
    """The processor time in which an agent answers all games, by its `act` or its `explain`."""
    rng, start = np.random.default_rng(seed), time.process_time()
    for game in games:
        ask(game.observation(game.player), game.mask(), rng, game)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--agent", default="mcts:1000:ppo", help="whose budget is a number of simulations")
    parser.add_argument("--players", type=int, nargs="+", default=[2, 4], help="numbers of players, 2 to 6")
    parser.add_argument("--positions", type=int, default=12, help="searched in each round")
    parser.add_argument("--rounds", type=int, default=5, help="of which the median counts")
    parser.add_argument("--seed", type=int, default=1, help="equal seeds give equal positions and searches")
    options = parser.parse_args()
    check_counts(positions=options.positions, rounds=options.rounds, seed=options.seed)
    agent = load(options.agent)
    if not isinstance(agent, Searcher) or np.isfinite(agent.budget.seconds):
        raise ValueError(f"--agent must be a search with a number of simulations, not {options.agent!r}")
    for players in options.players:
        games = positions(players, options.positions, options.seed)
        rounds = [  # the first one compiles
            (seconds(agent.explain, games, options.seed), seconds(agent.act, games, options.seed))
            for _ in range(options.rounds + 1)
        ]
        whole, chosen = (statistics.median(column) for column in zip(*rounds[1:], strict=True))
        rate = agent.budget.simulations * len(games) / whole
        print(f"{players} players: {rate:,.0f} simulations/s of {options.agent}; a move takes {chosen / whole:.0%} of the time")


if __name__ == "__main__":
    command(main)
