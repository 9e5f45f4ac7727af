"""Draws the rules of a share of the games of a run at random (`--random-rules`), so that the player learns all options."""

from __future__ import annotations

from typing import Any

import numpy as np

from euphoria_agents.training.config import TRAINING_TURNS, Options
from euphoria_env.board import NUM_MARKETS, STARS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.rules import OPTIONS, RECRUITS_A_PLAYER

DRAWS = 2  # how many sets of options are drawn for each number of players
USUAL = 0.5  # the probability that an option keeps its usual value
SHORTEST, MOST_TRADES = 4, 3  # the fewest stars to win, and the most trades in a turn, that are drawn


def game_parts(options: Options) -> list[list[tuple[int, dict[str, Any]]]]:
    """Returns the games of each thread: the number of each kind, with its options; equal seeds give equal draws."""
    found: list[tuple[int, dict[str, Any]]] = []
    for n, games in options.shares().items():
        rules = {"max_turns": TRAINING_TURNS, **options.game, "num_players": n}
        enough = {"market_draft": False} if "markets" in options.game else {}  # the draft may need more tiles than remain
        drawn = min(games // DRAWS, max(options.random_rules > 0, int(games * options.random_rules) // DRAWS))  # some, if any
        found.append((games - DRAWS * drawn, rules))
        for k in range(DRAWS if drawn else 0):
            found.append((drawn, {**draw_options(np.random.default_rng([options.seed, 0, n, k]), n), **enough, **rules}))
    threads = options.threads
    return [[(games * (k + 1) // threads - games * k // threads, rules) for games, rules in found] for k in range(threads)]


def draw_options(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Returns random options of a game for n players; there are always enough cards."""

    def pool(names: tuple[str, ...], least: int) -> list[str] | None:
        size = int(rng.integers(least, len(names) + 1))
        return None if rng.random() < USUAL else rng.permutation(names)[:size].tolist()

    drawn: dict[str, Any] = {name: bool(rng.random() >= USUAL) for name, option in OPTIONS.items() if option.kind is bool}
    drawn["trades_per_turn"] = int(rng.integers(1, MOST_TRADES + 1))
    drawn["stars_to_win"] = STARS if rng.random() < USUAL else int(rng.integers(SHORTEST, STARS))
    drawn["recruits"] = pool(RECRUIT_NAMES, RECRUITS_A_PLAYER * n)
    drawn["markets"] = pool(TILES, NUM_MARKETS + n)
    return drawn
