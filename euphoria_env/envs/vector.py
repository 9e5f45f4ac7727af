"""Many games with one learning seat each, for Gymnasium: a native vector environment on `Batch`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from euphoria_env import actions
from euphoria_env.envs.arguments import (
    MASKS,
    frame_size,
    mask_type,
    one_of,
    positions_from,
    reset_options,
    rules_from,
    starts_from,
)
from euphoria_env.envs.frames import FRAMES_PER_SECOND, PICTURE_SIZE, frame
from euphoria_env.envs.learners import Learners
from euphoria_env.envs.observation_space import observation_space, observed

_RENDER_MODES = ("ansi", "rgb_array")


class EuphoriaVectorEnv(VectorEnv[Any, Any, np.ndarray]):
    """`EuphoriaEnv` many times over, without a Python object for each game.

    A step is one decision of the learner in every game and all that happens until their next ones; the learners are credited
    with it, and lose when somebody else ends the game.

    Args:
        num_envs: number of games, N.
        opponents: who plays the other seats: an agent as in `euphoria_agents.Agent`, or a text for `euphoria_agents.load`; one
            for all, or a list of them in turn order after the learner. Those with `act_batch` answer many games at once.
        pool: instead of `opponents`: each seat is drawn from these for every game. Nobody is replaced in the middle of one.
        seat: the learner's, 0 to P - 1, or "random", drawn for each game. Observations are relative to it.
        reward: what is paid, by its name in the table of docs/environment.md.
        threads: how many threads share the games; None: one per core. Any number gives the same games.
        render_mode: "ansi" or "rgb_array", of which `render` gives one for each game, or None.
        render_size: width and height of each picture in pixels.
        mask: "info", or "observation": observations are a dict of `observation` and `action_mask` then.
        mask_dtype: type of the entries of masks: "int8", or "bool" for libraries that want that.
        illegal: what an illegal action does: "raise", where no game is changed, or "end" its game with a reward of -1.
        autoreset_mode: when a finished game restarts: in the same step, the next one, or not before `reset` is called for it;
            one of Gymnasium's `AutoresetMode`, or its value as text.
        events: K, how many of the last events are in each observation (docs/events.md); 0: none.
        **rules: the fields of `Rules`.

    Observations are fresh int8 arrays (N, OBS_SIZE); with events dicts of them as `observation` and of `events` (int8,
    (N, K, EVENT_SIZE)). `infos` has the legal moves as `action_mask` (`mask_dtype`, (N, NUM_ACTIONS)) and
    the learners' `seat`. Of games that ended it says `ranking` (N, P), `winner` (-1: nobody), `is_success` and, if illegal
    actions end games, `illegal` (texts; "" where the action was legal). In the mode SAME_STEP this is in `infos["final_info"]`,
    with `seat` of that game, and `final_obs` has its last observation. In the others the last observation is what the step
    returns, with a mask of zeros; in NEXT_STEP the action of the next step does not count there, so that it may be any integer.

    Attributes:
        learners: the games, and who plays them.

    Raises:
        TypeError: an unknown keyword.
        ValueError: an argument that is not allowed; the message names it and what is.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": list(_RENDER_MODES), "render_fps": FRAMES_PER_SECOND}

    def __init__(
        self,
        num_envs: int,
        opponents: Any = "weights",
        pool: Sequence[Any] | None = None,
        seat: int | str = "random",
        reward: str = "win",
        threads: int | None = None,
        render_mode: str | None = None,
        render_size: tuple[int, int] = PICTURE_SIZE,
        mask: str = "info",
        illegal: str = "raise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        events: int = 0,
        mask_dtype: str = "int8",
        **rules: Any,
    ) -> None:
        self.rules = rules_from(rules, EuphoriaVectorEnv)
        self.learners = Learners(num_envs, opponents, pool, seat, reward, threads, self.rules, illegal, events)
        self.num_envs = self.learners.n
        self.render_mode = one_of("render_mode", render_mode, (*_RENDER_MODES, None))
        self.render_size = frame_size(render_size)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._mask_dtype = mask_type(mask_dtype)
        self._masked = one_of("mask", mask, MASKS) == "observation"
        self._says_illegal = illegal == "end"
        self._waits = np.zeros(self.num_envs, np.bool_)  # games whose end was shown, but not yet their restart
        mask_in_it = self._mask_dtype if self._masked else None
        self.single_observation_space: spaces.Space[Any] = observation_space(mask_in_it, events)
        self.single_action_space = spaces.Discrete(actions.NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def __copy__(self) -> EuphoriaVectorEnv:
        return copy.deepcopy(self)

    def set_opponents(self, opponents: Any = "weights", pool: Sequence[Any] | None = None, **draws: Any) -> None:
        """Changes the opponents, in each game from its next start on; arguments and errors as for `Opponents.set`."""
        self.learners.opponents.set(opponents, pool, **draws)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Restarts games; equal seeds give equal games for the same number of them.

        Args:
            seed: one for all games, or a list of N: each is that of the first deal of its game, the rest comes from all of them.
            options: `position` starts from a position (docs/positions.md), or from a list of N, `None` for the setup; games that
                restart later are normal ones. `reset_mask`, (N,) bool: which games, if not all.

        Raises:
            ValueError: wrong seeds or options; names what is.
            ResetNeeded: `reset_mask` is given, but no game has begun.
        """
        given, chosen = reset_options(options, self.num_envs)
        if chosen is not None:
            _ = self.learners.ready
        positions = positions_from(given, self.num_envs)
        root, starts = starts_from(seed, positions, self.num_envs, self.rules)
        super().reset(seed=root)
        new = chosen
        if chosen is not None and seed is None and not starts:
            new = chosen & ~self._waits  # those that have ended have already restarted, as good as now
        if new is None or new.any():
            self.learners.reset(self.np_random, starts, new, positions)
        self._waits[slice(None) if chosen is None else chosen] = False
        return self.observed(), self._infos()

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays a decision of every learner, and those of the others until their next ones.

        Raises:
            IllegalMove: an action is illegal, unless that ends games; names game and move. No game is changed.
            ResetNeeded: no game has begun, or one has ended and does not restart by itself.
        """
        learners = self.learners
        if self.autoreset_mode is AutoresetMode.DISABLED and self._waits.any():
            games = ", ".join(map(str, np.flatnonzero(self._waits)))
            raise ResetNeeded(f"games {games} have ended: call reset(options={{'reset_mask': ...}})")
        learners.step(actions, ~self._waits if self._waits.any() else None)
        return self.told()

    def told(self) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """The return value of `step`, once it has been played."""
        learners = self.learners
        ended = learners.terminated | learners.truncated
        same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._waits[:] = False if same_step else ended
        infos = self._infos()
        if ended.any():
            infos |= self._same_step_infos(ended) if same_step else self._final_infos(ended)
        return self.observed(), learners.rewards.copy(), learners.terminated.copy(), learners.truncated.copy(), infos

    def action_masks(self) -> np.ndarray:
        """The learners' legal moves, bool (N, NUM_ACTIONS); none in a game that has ended and not yet restarted."""
        return self.learners.ready.mask & ~self._waits[:, None]

    def _told_masks(self) -> np.ndarray:
        """The same as `mask_dtype`, for observations and `infos`."""
        return self.action_masks().view(self._mask_dtype)

    def render(self) -> tuple[Any, ...] | None:
        """A picture of each game, by `render_mode`: texts, or uint8 (H, W, 3).

        Of a game that has ended and not yet restarted it shows the end.
        """
        learners, running = self.learners, self.learners.ready
        if self.render_mode is None:
            return None
        games = (learners.final_game(i) if waits else running.game(i) for i, waits in enumerate(self._waits.tolist()))
        return tuple(frame(game, self.render_mode, self.render_size) for game in games)

    def observed(self) -> Any:
        """The learners' observations: in games that have ended and not yet restarted, the last one."""
        learners = self.learners
        observation, events = learners.ready.observation.copy(), learners.ready.events.copy()
        observation[self._waits] = learners.final_observation[self._waits]
        events[self._waits] = learners.final_events[self._waits]
        return observed(observation, self._told_masks() if self._masked else None, events)

    def _infos(self) -> dict[str, Any]:
        """The entries that `infos` always has; as in Gymnasium, `_key` marks the games for which `key` holds."""
        learners, everywhere = self.learners, np.ones(self.num_envs, np.bool_)
        seats = np.where(self._waits, learners.final_seats, learners.seats)
        infos = {"action_mask": self._told_masks(), "seat": seats}
        return infos | {f"_{key}": everywhere for key in infos}

    def _final_infos(self, ended: np.ndarray) -> dict[str, Any]:
        """The infos of the games that ended in this step."""
        learners = self.learners
        ranking = np.where(ended[:, None], learners.final_ranking, 0).astype(np.int64)
        won = learners.terminated & (ranking[:, 0] > 0)
        winner = np.where(won, ranking.argmin(axis=1), -1)
        final = {"ranking": ranking, "winner": winner, "is_success": won & (winner == learners.final_seats)}
        if self._says_illegal:
            final["illegal"] = np.array([learners.illegal.get(i, "") for i in range(self.num_envs)], object)
        return final | {f"_{key}": ended.copy() for key in final}

    def _same_step_infos(self, ended: np.ndarray) -> dict[str, Any]:
        """The same with the last observations, where games have already restarted."""
        learners = self.learners
        final_obs = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(ended):
            nothing = np.zeros(actions.NUM_ACTIONS, self._mask_dtype) if self._masked else None
            final_obs[i] = observed(learners.final_observation[i].copy(), nothing, learners.final_events[i].copy())
        final = self._final_infos(ended) | {"seat": np.where(ended, learners.final_seats, 0), "_seat": ended.copy()}
        return {"final_obs": final_obs, "_final_obs": ended, "final_info": final, "_final_info": ended.copy()}


def _autoreset_mode(given: Any) -> AutoresetMode:
    try:
        return AutoresetMode(given)
    except ValueError:
        allowed = ", ".join(mode.value for mode in AutoresetMode)
        raise ValueError(f"autoreset_mode must be one of {allowed}, not {given!r}") from None
