"""Many games with one learning seat each, for Stable-Baselines3: its `VecEnv` around `EuphoriaVectorEnv`.

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

from euphoria_env.engine.rewards import REWARDS, Reward, reward_number
from euphoria_env.envs.arguments import one_of, position_from, refuse_unknown
from euphoria_env.envs.frames import FRAMES_PER_SECOND
from euphoria_env.envs.learners import play_others
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.json_reader import read_index


class EuphoriaVecEnv(VecEnv):
    """`EuphoriaVectorEnv` for Stable-Baselines3: the same games, the same arguments but `autoreset_mode`.

    Args:
        num_envs, opponents, reward, render_mode, arguments: as for `euphoria_env.envs.vector.EuphoriaVectorEnv`; `render_mode` is
            "rgb_array" or None.
        seed: of the first `reset`; None: at random, unless `seed` is called (as the algorithms do).

    Where a game ends, its info has `terminal_observation`, `TimeLimit.truncated`, `episode` (return `r`, decisions `l`, seconds
    `t`, as of a `Monitor`, so that no `VecMonitor` is needed), `seat`, `ranking`, `opponents` (by seat), `winner` and
    `is_success`. Where the reward pays for games that were cut off (`rank`), nothing more is to come of them:
    `TimeLimit.truncated`, which asks an algorithm to add what would have come, is False then.

    `set_options({"position": ...})`, or a list of them, serves the next `reset`.

    Attributes:
        games: the games, as Gymnasium has them.
        rules: the options of all games.

    Raises:
        TypeError: an unknown keyword.
        ValueError: an argument that is not allowed; the message names it and what is.
    """

    def __init__(
        self,
        num_envs: int,
        opponents: Any = "weights",
        *,
        reward: str = "win",
        seed: int | None = None,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        refuse_unknown(arguments, EuphoriaVectorEnv, "EuphoriaVecEnv")
        self.render_mode = one_of("render_mode", render_mode, ("rgb_array", None))
        arguments |= {"reward": reward, "render_mode": render_mode}
        self.games = EuphoriaVectorEnv(num_envs, opponents, autoreset_mode=AutoresetMode.SAME_STEP, **arguments)
        self.rules = self.games.rules
        self.parts = [self]  # those whose games are played side by side
        self._paid_at_the_end = REWARDS[Reward(reward_number(reward))].paid_when_truncated
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        self._start = time.time()
        super().__init__(num_envs, self.games.single_observation_space, self.games.single_action_space)
        self.metadata["render_fps"] = FRAMES_PER_SECOND
        if seed is not None:
            self.seed(seed)

    def __copy__(self) -> EuphoriaVecEnv:
        return copy.deepcopy(self)

    def set_opponents(self, opponents: Any = "weights", pool: Sequence[Any] | None = None, **draws: Any) -> None:
        """Changes the opponents, in each game from its next start on; arguments and errors as for `Opponents.set`."""
        self.games.set_opponents(opponents, pool, **draws)

    def reset(self) -> Any:
        """Restarts all games; equal seeds give equal games for the same number of them.

        Raises:
            ValueError: an impossible position; names what is.
        """
        positions = [position_from(options) for options in self._options]
        observations, _ = self.games.reset(seed=self._seeds[0], options={"position": positions})
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = self._lengths[:] = 0
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Takes a copy of the actions; they are played in `step_wait`."""
        self._actions = np.array(actions)

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays a decision of every learner, and those of the others until their next ones.

        Raises:
            IllegalMove: an action is illegal, unless that ends games; names game and move. No game is changed.
            ResetNeeded: no game has begun.
        """
        for part in self.parts if len(self.parts) > 1 else ():
            part.games.learners.check(part._actions)  # of all parts, before any of them plays
        for part in self.parts:
            part.games.learners.decide(part._actions)
        play_others([part.games.learners for part in self.parts])
        observations, rewards, dones, infos = zip(*(part._told() for part in self.parts), strict=True)
        return _joined(observations), _joined(rewards), _joined(dones), [info for some in infos for info in some]

    def _told(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """The infos after a step."""
        observations, rewards, terminated, truncated, infos = self.games.told()
        self._returns += rewards
        self._lengths += 1
        dones = terminated | truncated
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones).tolist():
            each[i] = self._final_info(i, infos["final_obs"][i], infos["final_info"])
        self._returns[dones] = self._lengths[dones] = 0
        return observations, rewards.astype(np.float32), dones, each

    def _final_info(self, i: int, observation: Any, final: dict[str, Any]) -> dict[str, Any]:
        """The info of game i, which has ended."""
        learners, seconds = self.games.learners, round(time.time() - self._start, 6)
        return {
            "terminal_observation": observation,
            "TimeLimit.truncated": bool(learners.truncated[i]) and not self._paid_at_the_end,
            "episode": {"r": round(float(self._returns[i]), 6), "l": int(self._lengths[i]), "t": seconds},
            "opponents": learners.final_opponents[i],
            "is_success": bool(final["is_success"][i]),
            **{name: final[name][i] for name in ("seat", "ranking", "winner")},
            **({"illegal": learners.illegal[i]} if i in learners.illegal else {}),
        }

    def get_images(self) -> Sequence[np.ndarray | None]:
        """A picture of each game, uint8 (H, W, 3); None without `render_mode`."""
        return [image for part in self.parts for image in part.games.render() or [None] * part.num_envs]

    def action_masks(self) -> np.ndarray:
        """The learners' legal moves, bool (N, NUM_ACTIONS)."""
        return np.concatenate([part.games.action_masks() for part in self.parts])

    # ------------------------------------------------------------------------------ what VecEnv asks of its single environments

    def _get_indices(self, indices: Any) -> list[int]:
        """The numbers of some of the games; None: of all."""
        return [read_index("indices", i, self.num_envs) for i in super()._get_indices(indices)]

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Calls a method of some of the games; they have one, `action_masks`.

        Raises:
            AttributeError: another method.
        """
        if method_name != "action_masks":
            raise AttributeError(f"the games have no method {method_name!r}, only 'action_masks'")
        masks = self.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of some of the games: the same for all of them.

        Raises:
            AttributeError: there is none.
        """
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuses: the games have nothing of their own.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name!r} cannot be set in single games")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Whether the games are in a wrapper: in a `Monitor`, so to speak, since they report their episodes."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to close."""


class JoinedVecEnv(EuphoriaVecEnv):
    """Several `EuphoriaVecEnv` as one, for games of different numbers of players; the opponents are those of the parts.

    Args:
        parts: in this order their games are numbered.
    """

    def __init__(self, parts: Sequence[EuphoriaVecEnv]) -> None:
        self.parts = list(parts)
        self.render_mode = None
        self._ends = np.cumsum([part.num_envs for part in self.parts])
        VecEnv.__init__(self, int(self._ends[-1]), self.parts[0].observation_space, self.parts[0].action_space)

    def reset(self) -> Any:
        """Restarts all games."""
        if self._seeds[0] is not None:
            for k, part in enumerate(self.parts):
                part.seed(int(np.random.SeedSequence([self._seeds[0], k]).generate_state(1)[0]))
        self._reset_seeds()
        return _joined([part.reset() for part in self.parts])

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions; they are played in `step_wait`."""
        if np.shape(actions) != (self.num_envs,):
            raise ValueError(f"actions must be {self.num_envs} integers, not an array of shape {np.shape(actions)}")
        for part, moves in zip(self.parts, np.split(np.asarray(actions), self._ends[:-1]), strict=True):
            part.step_async(moves)


def _joined(arrays: Sequence[Any]) -> Any:
    """The answers of all parts as one array; observations may be dicts of arrays."""
    if isinstance(arrays[0], dict):
        return {name: _joined([array[name] for array in arrays]) for name in arrays[0]}
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
