"""`random`: plays every legal move with the same probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from euphoria_agents.agent import Agent, Explanation, check_found, explanation, int8_rows
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.envs.random_moves import choose_one, choose_uniformly

if TYPE_CHECKING:
    from euphoria_env import Game


class Uniform(Agent):
    """Plays uniformly at random."""

    answers_alike = keeps_games_apart = True

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`."""
        if isinstance(mask, np.ndarray) and mask.dtype.char in "?b" and mask.ndim == 1 and mask.flags.carray:  # nearly always
            move: int = choose_one(mask.view(np.int8), rng.random())
            return move if move >= 0 else int(check_found(np.array([move]))[0])
        return int(self.act_batch(observation, mask, rng)[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`."""
        rows = int8_rows(masks, NUM_ACTIONS)
        moves = np.empty(len(rows), np.int64)
        choose_uniformly(rows, rng.random(len(rows)), moves)
        return check_found(moves)

    def explain(
        self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None
    ) -> Explanation:
        """Returns the probability of each move; see `Agent.explain`."""
        legal = np.flatnonzero(mask)
        return explanation(legal, priors=[1 / len(legal)] * len(legal))
