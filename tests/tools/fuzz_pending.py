"""Positions in the middle of a decision with numbers changed in `pending`: refused, or played on without an error.

``python -m tests.tools.fuzz_pending --positions 1000 --seed 1`` prints how many were refused and how many played. It runs the
engine as plain Python (set NUMBA_DISABLE_JIT=1), where an index beyond the end of an array is an error.
"""

from __future__ import annotations

import argparse
import copy
import random
from collections import Counter
from typing import Any

from euphoria_env import Game, Rules, pending
from tests.tools.playing import prefer, random_move
from tests.tools.positions import any_position, random_rules

MOVES = 25  # played on from a position that is accepted


def position(rng: random.Random) -> dict[str, Any]:
    """One with something pending, in the setup or in the middle of a game."""
    while True:
        if rng.random() < 0.3:
            game = Game(Rules(**random_rules(rng)), seed=rng.getrandbits(30))
            moves = rng.randrange(40)
        else:
            game = Game.from_dict({**any_position(rng), "seed": rng.getrandbits(30)})
            moves = rng.randrange(1, 12)
        for _ in range(moves):
            if game.legal():
                game.play((prefer if rng.random() < 0.5 else random_move)(game, rng))
        d = game.to_dict()
        if "pending" in d:
            return d


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all numbers in nested lists."""
    if not isinstance(value, list):
        return [path]
    return [found for k, entry in enumerate(value) for found in places(entry, (*path, k))]


def mutate(d: dict[str, Any], rng: random.Random) -> None:
    """Changes one to three numbers, mostly to others that could stand there."""
    block = d["pending"]
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(pending.PENDING_FIELDS)
        *outer, last = (name, *rng.choice(places(block[name])))
        target = block
        for key in outer:
            target = target[key]
        target[last] = rng.choice((rng.randint(-2, 8), rng.randint(-2, 8), rng.randint(-2, 70), 127, -128, target[last] + 1))


def fuzz(positions: int, seed: int) -> Counter[str]:
    """How many changed positions were refused and how many played on; anything else is an error."""
    pending.row_digest = lambda row: "unchecked"  # what somebody can compute is no protection
    found: Counter[str] = Counter()
    for number in range(positions):
        rng = random.Random(f"{seed} {number}")
        d = copy.deepcopy(position(rng))
        mutate(d, rng)
        try:
            game = Game.from_dict(d)
        except ValueError as error:
            assert str(error).startswith("pending"), error
            found["refused"] += 1
            continue
        try:
            for _ in range(MOVES):
                if game.legal():
                    game.play(random_move(game, rng))
        except Exception as error:
            raise AssertionError(f"--seed {seed}, position {number}: {d['pending']}") from error
        found["played"] += 1
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(dict(fuzz(options.positions, options.seed)))
