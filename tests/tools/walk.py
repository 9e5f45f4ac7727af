"""Plays seeded games and prints what becomes of them: a line for every few decisions, to compare builds of the engine.

`python -m tests.tools.walk` prints the lines of this interpreter; NUMBA_DISABLE_JIT and NUMBA_BOUNDSCHECK choose the build.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Iterator

import numpy as np

from euphoria_env import Batch, Game, Rules
from euphoria_env.engine.rewards import REWARD_NAMES
from tests.tools.playing import all_rules, prefer, random_move
from tests.tools.positions import any_position


def walk(decisions: int = 300, every: int = 10, positions: int = 40) -> Iterator[str]:
    """The lines of everything: games of all rules, games from random positions, and batches."""
    for number, rules in enumerate(all_rules()):
        for policy in (random_move, prefer):
            yield from _game(f"{number} {policy.__name__}", Game(rules, seed=number), policy, decisions, every)
    rng = random.Random(7)
    for number in range(positions):
        game = Game.from_dict({**any_position(rng), "seed": number})
        yield from _game(f"position {number}", game, random_move, 40, every)
    for rules in (Rules(num_players=2, max_turns=40), Rules(num_players=5, trading=True, recruit_draft=True, max_turns=30)):
        yield from _batch(rules)


def _game(name: str, game: Game, policy, decisions: int, every: int) -> Iterator[str]:
    rng = random.Random(name)
    for k in range(decisions):
        if k % every == 0:
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=300, help="of each game")
    parser.add_argument("--every", type=int, default=10, help="decisions between two lines")
    parser.add_argument("--positions", type=int, default=40, help="random positions to start from")
    for text in walk(**vars(parser.parse_args())):
        print(text)
