"""Stable-Baselines3's `VecEnv` around `EuphoriaVectorEnv`: many games with one learner each.

`MaskablePPO("MlpPolicy", EuphoriaVecEnv(64))` trains on it; sb3-contrib's masked `evaluate_policy` works too. No other module of
the package needs Stable-Baselines3.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from euphoria_env.engine.rewards import FINAL
from euphoria_env.engine.state import TRUNCATED
from euphoria_env.envs.arguments import choice, reset_options
from euphoria_env.envs.environment import FRAMES_PER_SECOND
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.json_reader import read_integer
from euphoria_env.keywords import keywords_of, names_keywords
from euphoria_env.rewards import read_reward
from euphoria_env.rules import OPTIONS


@names_keywords(*(name for name in keywords_of(EuphoriaVectorEnv) if name != "autoreset_mode"), *OPTIONS)
class EuphoriaVecEnv(VecEnv):
    """`EuphoriaVectorEnv` for Stable-Baselines3: the same games, and the same arguments except `autoreset_mode`.

    Args:
        num_envs, opponents, reward, render_mode, arguments: as for `euphoria_env.envs.vector.EuphoriaVectorEnv`; `render_mode` is
            "rgb_array" or None.
        seed: the seed of the first `reset`; None: a random one, unless the method `seed` is called (as the algorithms do).

    The info of a game that ended has `terminal_observation`, `TimeLimit.truncated`, `episode` (return `r`, decisions `l`, seconds
    `t`, as a `Monitor` gives them, so that no `VecMonitor` is needed), `seat`, `ranking`, `winner` and `is_success`.
    If `TimeLimit.truncated` is true, an algorithm bootstraps from the last observation. It is always False with a reward that
    pays for truncated games (`rank`, shaped or not), since everything has then been paid.

    `set_options({"position": ...})`, or a list of them, applies to the next `reset`.

    Attributes:
        games: the `EuphoriaVectorEnv` of the games.
        rules: the options of the games, as `Batch` has them.

    Raises:
        TypeError: a keyword is unknown.
        ValueError: the value of an argument is not allowed; the message names the argument and what is allowed.
    """

    def __init__(
        self,
        num_envs: int,
        opponents: Any = "weights",
        *,
        reward: str | dict[str, Any] = "win",
        seed: int | None = None,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        self.render_mode = choice("render_mode", render_mode, "rgb_array", None)
        arguments |= {"reward": reward, "render_mode": render_mode}
        self.games = EuphoriaVectorEnv(num_envs, opponents, autoreset_mode=AutoresetMode.SAME_STEP, **arguments)
        self.rules = self.games.rules
        self._paid_at_the_end = bool(int(read_reward(reward)[FINAL]) >> TRUNCATED & 1)
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        self._start = time.time()
        super().__init__(num_envs, self.games.single_observation_space, self.games.single_action_space)
        self.metadata["render_fps"] = FRAMES_PER_SECOND
        if seed is not None:
            self.seed(read_integer("seed", seed, 0))

    def __copy__(self) -> EuphoriaVecEnv:
        return copy.deepcopy(self)

    def set_opponents(self, opponents: Any = "weights", pool: Sequence[Any] | None = None) -> None:
        """Changes the opponents, in each game from its next start on; arguments and errors as for `EuphoriaVectorEnv`."""
        self.games.set_opponents(opponents, pool)

    def reset(self) -> Any:
        """Restarts all games; equal seeds give equal games for the same number of them.

        Raises:
            ValueError: the position is impossible; the message says why.
        """
        positions = [reset_options(options).get("position") for options in self._options]
        observations, _ = self.games.reset(seed=self._seeds[0], options={"position": positions})
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = self._lengths[:] = 0
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Copies the actions, which `step_wait` plays."""
        self._actions = np.array(actions)

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays a decision of every learner, and those of the opponents until the learners' next ones.

        Raises:
            IllegalMove: an action is illegal and `illegal` is "raise"; the message names game and move. No game is changed.
            ResetNeeded: no game has begun.
        """
        observations, rewards, terminated, truncated, infos = self.games.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        dones = terminated | truncated
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones).tolist():
            each[i] = self._final_info(i, infos["final_obs"][i], infos["final_info"])
        self._returns[dones] = self._lengths[dones] = 0
        return observations, rewards.astype(np.float32), dones, each

    def _final_info(self, i: int, observation: Any, final: dict[str, Any]) -> dict[str, Any]:
        """Returns the info of game i, which has ended."""
        learners, seconds = self.games.learners, round(time.time() - self._start, 6)
        return {
            "terminal_observation": observation,
            "TimeLimit.truncated": bool(learners.truncated[i]) and not self._paid_at_the_end,
            "episode": {"r": round(float(self._returns[i]), 6), "l": int(self._lengths[i]), "t": seconds},
            "is_success": bool(final["is_success"][i]),
            **{name: final[name][i] for name in ("seat", "ranking", "winner")},
            **({"illegal": learners.illegal[i]} if i in learners.illegal else {}),
        }

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Returns a picture of each game, uint8 (H, W, 3); None without `render_mode`."""
        return self.games.render() or [None] * self.num_envs

    def action_masks(self) -> np.ndarray:
        """Returns the learners' legal moves, bool (N, NUM_ACTIONS)."""
        return self.games.action_masks()

    # ------------------------------------------------------------------------------------- `VecEnv` methods on single games

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Calls a method of the chosen games; their only method is `action_masks`.

        Raises:
            AttributeError: it is another method.
        """
        if method_name != "action_masks":
            raise AttributeError(f"the games have no method {method_name!r}, only 'action_masks'")
        masks = self.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Returns an attribute of this object, once for each of the chosen games.

        Raises:
            AttributeError: there is no such attribute.
        """
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raises an error: the games have no attributes of their own.

        Raises:
            AttributeError: in every case.
        """
        raise AttributeError(f"{attr_name!r} cannot be set in single games")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Returns whether the games are in a wrapper; in a `Monitor` they count as wrapped, since their infos have `episode`."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Does nothing: there is nothing to close."""
