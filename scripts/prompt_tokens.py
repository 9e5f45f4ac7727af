"""Measures prompts in games between `weights`: tokens (with `pip install bpe-openai`; else characters / 4) and milliseconds.

`python scripts/prompt_tokens.py [GAMES]` prints the table of docs/language-models.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import product

import numpy as np

from euphoria_agents import load
from euphoria_env import Game, Rules
from euphoria_env.text import TextOptions, observation_text, rules_text

OPTIONS = [TextOptions(moves=m, format=f) for f, m in product(("markdown", "json"), ("consequences", "list", "none"))]


def counter() -> Callable[[str], int]:
    """Returns a function that counts the tokens of a text."""
    try:
        from bpe_openai import get_encoding
    except ImportError:
        return lambda text: len(text) // 4
    encoding = get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text))


def measured(players: int, games: int, count: Callable[[str], int]) -> np.ndarray:
    """Tokens and milliseconds of every prompt, (decisions, options, 2)."""
    agent, rng, found = load("weights"), np.random.default_rng(0), []
    for seed in range(games):
        game, last = Game(Rules(num_players=players), seed), [0] * players
        while game.legal():
            player = game.player
            for options in OPTIONS:
                begun = time.process_time()
                text = observation_text(game, player, options, last[player])
                spent = time.process_time() - begun
                found.append((count(text), 1000 * spent))
            last[player] = len(game.decided())
            game.play(agent.act(game.observation(player), game.mask(), rng))
    return np.array(found).reshape(-1, len(OPTIONS), 2)


def main() -> None:
    """Prints a row for each pair of options, then the tokens of the rules."""
    count, games = counter(), int(sys.argv[1]) if len(sys.argv) > 1 else 6
    samples = [measured(players, games, count) for players in (2, 4)]
    for k, options in enumerate(OPTIONS):
        tokens = [f"{np.median(one[:, k, 0]):,.0f} | {np.percentile(one[:, k, 0], 95):,.0f}" for one in samples]
        times = ", ".join(f"{one[:, k, 1].mean():.1f}" for one in samples)
        print(f"| {options.format} | {options.moves} | {' | '.join(tokens)} | {times} |")
    print({kind: count(rules_text(kind, Rules())) for kind in ("short", "whole")}, sum(map(len, samples)), "decisions")


if __name__ == "__main__":
    main()
