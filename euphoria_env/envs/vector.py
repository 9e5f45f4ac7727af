"""Many games with one learning seat each, for Gymnasium: a native vector environment on `Batch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from euphoria_env import actions
from euphoria_env.envs.learners import Learners
from euphoria_env.envs.observation_space import observation_box
from euphoria_env.rules import Rules


class EuphoriaVectorEnv(VectorEnv[np.ndarray, Any, np.ndarray]):
    """`EuphoriaEnv` many times over, without a Python object for each game.

    A step is one decision of the learner in every game and all that happens until their next ones; the learners are credited
    with it, and lose when somebody else ends the game. A finished game starts anew in the same step (`AutoresetMode.SAME_STEP`).

    Args:
        num_envs: number of games, N.
        opponents: who plays the other seats: an agent as in `euphoria_agents.Agent`, or a text for `euphoria_agents.load`; one
            for all, or a list of them in turn order after the learner. Those with `act_batch` answer many games at once.
        pool: instead of `opponents`: each seat is drawn from these for every game. Nobody is replaced in the middle of one.
        seat: the learner's, 0 to P - 1, or "random" for another one in each game. Observations are relative to it.
        reward: "win", "rank" or "stars"; see docs/environment.md.
        threads: how many threads share the games; None: one a core. Any number gives the same games.
        **rules: the fields of `Rules`.

    Observations are fresh int8 arrays (N, OBS_SIZE). `infos` has the legal moves as `action_mask` (int8, (N, NUM_ACTIONS)) and
    the learners' `seat`. Where a game ended, `_final_obs` is True, `final_obs` has the last observation of it, and `final_info`
    its `seat`, `ranking` (N, P), `winner` (-1 if truncated) and `is_success`. An illegal action raises, and no game is changed.

    Raises:
        ValueError: an argument that is not allowed; the message names it and what is.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(
        self,
        num_envs: int,
        opponents: Any = "weights",
        pool: Sequence[Any] | None = None,
        seat: int | str = "random",
        reward: str = "win",
        threads: int | None = None,
        **rules: Any,
    ) -> None:
        self._learners = Learners(num_envs, opponents, pool, seat, reward, threads, Rules.from_dict(rules))
        self.num_envs = self._learners.n
        self.rules = self._learners.rules
        self.single_observation_space = observation_box()
        self.single_action_space = spaces.Discrete(actions.NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def set_opponents(self, opponents: Any = "weights", pool: Sequence[Any] | None = None) -> None:
        """Changes the opponents, in each game from its next start on; arguments and errors as for the environment itself."""
        self._learners.opponents.set(opponents, pool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins all games anew; equal seeds give equal games for the same number of them.

        Raises:
            ValueError: a list of seeds (one seeds all games), or options; there are none.
        """
        if isinstance(seed, Sequence):
            raise ValueError("seed must be one integer or None: it seeds all games")
        if options:
            raise ValueError(f"options.{next(iter(options))}: no such option; this environment has none")
        super().reset(seed=seed)
        self._learners.reset(self.np_random)
        return self._learners.ready.observation.copy(), self._infos()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays a decision of every learner, and those of the others until their next ones.

        Raises:
            IllegalMove: an action is illegal; names game and move. No game is changed.
            ResetNeeded: no game has begun.
        """
        learners = self._learners
        learners.step(actions)
        infos = self._infos() | self._final_infos()
        observation = learners.ready.observation.copy()
        return observation, learners.rewards.copy(), learners.terminated.copy(), learners.truncated.copy(), infos

    def action_masks(self) -> np.ndarray:
        """The learners' legal moves, bool (N, NUM_ACTIONS)."""
        return self._learners.ready.mask.copy()

    def _infos(self) -> dict[str, Any]:
        """What `infos` always says; as in Gymnasium, `_key` tells for which games `key` holds."""
        everywhere = np.ones(self.num_envs, np.bool_)
        infos = {"action_mask": self.action_masks().view(np.int8), "seat": self._learners.seats.copy()}
        return infos | {f"_{key}": everywhere for key in infos}

    def _final_infos(self) -> dict[str, Any]:
        """What `infos` says of the games that ended in this step; nothing if none did."""
        learners = self._learners
        ended = learners.terminated | learners.truncated
        if not ended.any():
            return {}
        final_obs = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(ended):
            final_obs[i] = learners.final_observation[i].copy()
        ranking = np.where(ended[:, None], learners.final_ranking, 0)
        winner = np.where(learners.terminated, ranking.argmin(axis=1), -1)
        final = {
            "seat": np.where(ended, learners.final_seats, 0),
            "ranking": ranking,
            "winner": winner,
            "is_success": learners.terminated & (winner == learners.final_seats),
        }
        final |= {f"_{key}": ended.copy() for key in final}
        return {"final_obs": final_obs, "_final_obs": ended, "final_info": final, "_final_info": ended.copy()}
