"""Plays seeded games and prints a line for every few decisions, to compare builds of the engine.

`python -m tests.tools.walk DECISIONS` prints the lines of this build, as NUMBA_DISABLE_JIT and NUMBA_BOUNDSCHECK choose it.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator

import numpy as np

from euphoria_env import Batch, Game, Rules
from euphoria_env.engine.rewards import REWARD_NAMES
from tests.tools.playing import all_rules, prefer, random_move
from tests.tools.positions import any_position

EVERY = 10  # decisions between two lines


def walk(decisions: int = 300) -> Iterator[str]:
    """Yields the lines of games of all rules, of games from random positions, and of batches; `decisions`: of a game."""
    for number, rules in enumerate(all_rules()):
        for policy in (random_move, prefer):
            yield from _game(f"{number} {policy.__name__}", Game(rules, seed=number), policy, decisions)
    rng = random.Random(7)
    for number in range(40):
        game = Game.from_dict({**any_position(rng), "seed": number})
        yield from _game(f"position {number}", game, random_move, 40)
    for rules in (Rules(num_players=2, max_turns=40), Rules(num_players=5, trading=True, recruit_draft=True, max_turns=30)):
        yield from _batch(rules)


def _game(name: str, game: Game, policy, decisions: int) -> Iterator[str]:
    rng = random.Random(name)
    for k in range(decisions):
        if k % EVERY == 0:
            yield f"{name} {k} {game.fingerprint()} {_seen(game)}"
        if not game.legal():
            break
        game.play(policy(game, rng))
    yield f"{name} end {game.fingerprint()} {game.turn} {game.ranking} {len(game.outcomes)}"


def _seen(game: Game) -> str:
    """A digest of all observations, of the mask, and of what each player's determinized game is."""
    digest = hashlib.blake2b(game.mask().tobytes(), digest_size=8)
    for player in range(game.rules.num_players):
        digest.update(game.observation(player).tobytes())
        digest.update(game.determinize(player, 99).fingerprint().encode())
    return digest.hexdigest()


def _batch(rules: Rules) -> Iterator[str]:
    for reward in REWARD_NAMES:
        rng = np.random.default_rng(1)
        batch = Batch(3, rules, seed=4, reward=reward)
        digest = hashlib.blake2b(digest_size=8)
        for _ in range(250):
            batch.step([int(rng.choice(np.flatnonzero(mask))) for mask in batch.mask])
            for array in (batch.rewards, batch.observation, batch.ranking, batch.final_observation, batch.states):
                digest.update(array.tobytes())
        yield f"batch {rules.num_players} {reward} {digest.hexdigest()}"


if __name__ == "__main__":
    for text in walk(*map(int, sys.argv[1:])):
        print(text)
