"""Many games with one learning seat each, for Stable-Baselines3: a native `VecEnv` on `Batch`.

It lies here because the environment itself runs without Stable-Baselines3. `MaskablePPO("MlpPolicy", EuphoriaVecEnv(64))` trains
on it; sb3-contrib's masked `evaluate_policy` works too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from euphoria_env import actions
from euphoria_env.engine.rewards import REWARDS, Reward, reward_number
from euphoria_env.envs.arguments import MASKS, frame_size, one_of, position_from, positions_from, rules_from, starts_from
from euphoria_env.envs.derived_seeds import generator_from
from euphoria_env.envs.frames import FRAMES_PER_SECOND, PICTURE_SIZE, frame
from euphoria_env.envs.observation_space import masked_space, observation_box, observed
from euphoria_env.envs.vector_core import Learners, play_others
from euphoria_env.json_reader import read_array

MOST_DECISIONS = 2**62  # of an episode; far from the end of int64


class EuphoriaVecEnv(VecEnv):
    """`EuphoriaVectorEnv` for Stable-Baselines3: the same games, the same arguments.

    Args:
        num_envs, opponents, pool, seat, reward, threads, render_mode, render_size, mask, illegal, rules: as for
            `euphoria_env.envs.vector.EuphoriaVectorEnv`; `render_mode` is "rgb_array" or None.
        seed: of the first `reset`; None: at random, unless `seed` is called (as the algorithms do).

    Where a game ends, its info has `terminal_observation`, `TimeLimit.truncated`, `episode` (return `r`, decisions `l`, seconds
    `t`, as of a `Monitor`, so that no `VecMonitor` is needed), `seat`, `ranking`, `opponents` (by seat), `winner` and
    `is_success`. Where the reward pays for games that were cut off (`rank`), nothing more is to come of them:
    `TimeLimit.truncated`, which asks an algorithm to add what would have come, is False then.

    `set_options({"position": ...})`, or a list of them, serves the next `reset`.

    Attributes:
        rules: the options of all games.

    Raises:
        TypeError: an unknown keyword.
        ValueError: an argument that is not allowed; the message names it and what is.
    """

    def __init__(
        self,
        num_envs: int,
        opponents: Any = "weights",
        pool: Sequence[Any] | None = None,
        seat: int | str = "random",
        reward: str = "win",
        threads: int | None = None,
        seed: int | None = None,
        render_mode: str | None = None,
        render_size: tuple[int, int] = PICTURE_SIZE,
        mask: str = "info",
        illegal: str = "raise",
        **rules: Any,
    ) -> None:
        self.rules = rules_from(rules, "EuphoriaVecEnv")
        self._learners = Learners(num_envs, opponents, pool, seat, reward, threads, self.rules, illegal)
        self.render_mode = one_of("render_mode", render_mode, ("rgb_array", None))
        self.render_size = frame_size(render_size)
        self._masked = one_of("mask", mask, MASKS) == "observation"
        self._paid_at_the_end = REWARDS[Reward(reward_number(reward))].paid_when_truncated
        self._rng = np.random.default_rng(seed)
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        self._start = time.time()
        space = masked_space() if self._masked else observation_box()
        super().__init__(num_envs, space, spaces.Discrete(actions.NUM_ACTIONS))
        self.metadata["render_fps"] = FRAMES_PER_SECOND

    def set_opponents(self, opponents: Any = "weights", pool: Sequence[Any] | None = None, **draws: Any) -> None:
        """Changes the opponents, in each game from its next start on; arguments and errors as for `Opponents.set`."""
        self._learners.opponents.set(opponents, pool, **draws)

    @property
    def opponents(self) -> list[Any]:
        """The agents who play or may be drawn."""
        return self._learners.opponents.agents

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """All that the games to come depend on but the opponents: arrays, and the state of the generator (for JSON)."""
        arrays = {**self._learners.state(), "returns": self._returns.copy(), "lengths": self._lengths.copy()}
        return arrays, dict(self._rng.bit_generator.state)

    def restore(self, arrays: Mapping[str, np.ndarray], generator: dict[str, Any], opponents: Sequence[Any]) -> Any:
        """Goes on where `state` was taken, with `opponents` of then; returns the observations.

        Raises:
            ValueError: the state does not fit these games and opponents; nothing is changed.
        """
        rng = generator_from(generator)
        returns = read_array(arrays, "returns", self._returns.shape, self._returns.dtype)
        lengths = read_array(arrays, "lengths", self._lengths.shape, self._lengths.dtype, 0, MOST_DECISIONS)
        self._learners.restore(arrays, opponents, rng)
        self._rng = rng
        self._returns[:], self._lengths[:] = returns, lengths
        return self._observed()

    def _observed(self) -> Any:
        """What the learners see."""
        games = self._learners.ready
        return observed(games.observation.copy(), games.mask, self._masked)

    def reset(self) -> Any:
        """Begins all games anew; equal seeds give equal games for the same number of them.

        Raises:
            ValueError: an impossible position; names what is.
        """
        positions = positions_from([position_from(options) for options in self._options], self.num_envs)
        _, starts = starts_from(self._seeds[0], positions, self.num_envs, self.rules)
        if self._seeds[0] is not None:
            self._rng = np.random.default_rng(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self._learners.reset(self._rng, starts, positions=positions)
        self._returns[:] = self._lengths[:] = 0
        return self._observed()

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions; they are played in `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays a decision of every learner, and those of the others until their next ones.

        Raises:
            IllegalMove: an action is illegal, unless that ends games; names game and move. No game is changed.
            ResetNeeded: no game has begun.
        """
        self._learners.step(self._actions)
        return self._told()

    def _told(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """What there is to say after a step."""
        learners = self._learners
        self._returns += learners.rewards
        self._lengths += 1
        dones = learners.terminated | learners.truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones).tolist():
            infos[i] = self._final_info(i)
        self._returns[dones] = self._lengths[dones] = 0
        return self._observed(), learners.rewards.astype(np.float32), dones, infos

    def _final_info(self, i: int) -> dict[str, Any]:
        """What is said of game i, which has ended."""
        learners = self._learners
        ranking, seat = learners.final_ranking[i].tolist(), int(learners.final_seats[i])
        winner = ranking.index(1) if learners.terminated[i] and 1 in ranking else -1
        nothing = np.zeros(actions.NUM_ACTIONS, np.bool_)
        illegal = {"illegal": learners.illegal[i]} if i in learners.illegal else {}
        seconds = round(time.time() - self._start, 6)
        return {
            "terminal_observation": observed(learners.final_observation[i].copy(), nothing, self._masked),
            "TimeLimit.truncated": bool(learners.truncated[i]) and not self._paid_at_the_end,
            "episode": {"r": round(float(self._returns[i]), 6), "l": int(self._lengths[i]), "t": seconds},
            "seat": np.int64(seat),
            "ranking": np.array(ranking, np.int64),
            "opponents": learners.final_opponents[i],
            "winner": np.int64(winner),
            "is_success": winner == seat,
            **illegal,
        }

    def get_images(self) -> list[np.ndarray | None]:
        """A picture of each game, uint8 (H, W, 3); None without `render_mode`."""
        games = (self._learners.ready.game(i) for i in range(self.num_envs))
        return [frame(game, self.render_mode, self.render_size) for game in games]

    def action_masks(self) -> np.ndarray:
        """The learners' legal moves, bool (N, NUM_ACTIONS)."""
        return self._learners.ready.mask.copy()

    # ------------------------------------------------------------------------------ what VecEnv asks of its single environments

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Calls a method of some of the games; they have one, `action_masks`.

        Raises:
            AttributeError: another method.
        """
        if method_name != "action_masks":
            raise AttributeError(f"the games have no method {method_name!r}, only 'action_masks'")
        masks = self._learners.ready.mask
        return list(masks.copy() if indices is None else masks[list(self._get_indices(indices))])

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
        """Whether the games are in a wrapper: in a `Monitor`, as it were, for they report their episodes."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to close."""


class JoinedVecEnv(VecEnv):
    """Several `EuphoriaVecEnv` as one, for games of different numbers of players.

    Args:
        parts: in this order their games are numbered.
    """

    def __init__(self, parts: Sequence[EuphoriaVecEnv]) -> None:
        self.parts = list(parts)
        self._ends = np.cumsum([part.num_envs for part in self.parts])
        super().__init__(int(self._ends[-1]), self.parts[0].observation_space, self.parts[0].action_space)

    def reset(self) -> np.ndarray:
        """Begins all games anew."""
        if self._seeds[0] is not None:
            for k, part in enumerate(self.parts):
                part.seed(int(np.random.SeedSequence([self._seeds[0], k]).generate_state(1)[0]))
        self._reset_seeds()
        self._reset_options()
        return np.concatenate([part.reset() for part in self.parts])

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions; they are played in `step_wait`."""
        for part, moves in zip(self.parts, np.split(actions, self._ends[:-1]), strict=True):
            part.step_async(moves)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays a decision of every learner, and those of the others until their next ones."""
        for part in self.parts:
            part._learners.decide(part._actions)
        play_others([part._learners for part in self.parts])
        observations, rewards, dones, infos = zip(*(part._told() for part in self.parts), strict=True)
        together = np.concatenate(observations), np.concatenate(rewards), np.concatenate(dones)
        return *together, [info for some in infos for info in some]

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """As of the parts."""
        found = [one for part in self.parts for one in part.env_method(method_name, *method_args, **method_kwargs)]
        return [found[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """As of the parts."""
        found = [one for part in self.parts for one in part.get_attr(attr_name)]
        return [found[i] for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuses, as the parts do."""
        self.parts[0].set_attr(attr_name, value)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """As of the parts."""
        return [self.parts[0].env_is_wrapped(wrapper_class, 0)[0] for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to close."""
