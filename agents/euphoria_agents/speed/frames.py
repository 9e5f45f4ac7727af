"""The pictures that environments return with `render_mode="rgb_array"`."""

from __future__ import annotations

import numpy as np

from euphoria_agents.speed.measure import Chunk, clock
from euphoria_env import Game, Rules
from euphoria_env.envs.frames import PICTURE_SIZE, frame
from euphoria_env.envs.random_moves import sample

_MOVES = 700  # of a new game to its frame, at most


def frames(players: int, n: int, seed: int, new: bool) -> Chunk:
    """A frame of the default size, of a new game or one random decision after the frame before; playing does not count."""
    import resvg_py  # noqa: F401  # named if it is missing

    rng = np.random.default_rng(seed)
    game = Game(Rules(num_players=players), seed=seed)

    def chunk() -> tuple[int, float]:
        nonlocal game
        if new or game.over or game.truncated:
            game = Game(game.rules, seed=int(rng.integers(2**62)))
        for _ in range(int(rng.integers(_MOVES)) if new else 1):
            if game.over or game.truncated:
                break
            game.play(sample(game.mask(), rng))
        start = clock()
        frame(game, "rgb_array", PICTURE_SIZE)
        return 1, clock() - start

    return chunk
