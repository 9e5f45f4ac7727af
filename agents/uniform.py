"""`random`: every legal move with the same probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents.base import Agent, check_found, int8_rows
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.engine.jit import entry

if TYPE_CHECKING:
    from euphoria_env import Game


@entry
def choose_uniformly(masks, chances, moves):  # type: ignore[no-untyped-def]
    """Writes a legal move of each mask, by one number from [0, 1) each; -1 where none is legal."""
    for i in range(len(masks)):
        n = 0
        for action in range(NUM_ACTIONS):
            n += masks[i, action] != 0
        left = int(chances[i] * n)
        moves[i] = -1
        for action in range(NUM_ACTIONS):
            if masks[i, action]:
                if left == 0:
                    moves[i] = action
                    break
                left -= 1


class Uniform(Agent):
    """Plays uniformly at random."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`."""
        return int(self.act_batch(observation, mask, rng)[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`."""
        rows = int8_rows(masks)
        moves = np.empty(len(rows), np.int64)
        choose_uniformly(rows, rng.random(len(rows)), moves)
        return check_found(moves)
