"""Gymnasium's vector environment: many games with one learner each, on a `Batch`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.batch_rules import RulesSource
from euphoria_env.envs.arguments import chosen_games, positions_from, reset_options, starts_from
from euphoria_env.envs.environment import FRAMES_PER_SECOND, PICTURE_SIZE, Environment
from euphoria_env.envs.single_agent_games import SingleAgentGames
from euphoria_env.keywords import names_keywords
from euphoria_env.rules import OPTIONS


@names_keywords(*OPTIONS)
class EuphoriaVectorEnv(Environment, VectorEnv[Any, Any, np.ndarray]):
    """Many games of `EuphoriaEnv`, without a Python object for each.

    A step plays one decision of the learner in every game and all that happens until the learners' next ones. The rewards are
    the learners' sums over all of it, including the final reward when another player's move ends a game.

    Args:
        num_envs: the number of games, N.
        opponents: as for `EuphoriaEnv`. Agents with `act_batch` answer many games at once. With games of different numbers of
            players, a list has as many as the largest one needs, and a smaller one takes the first of them.
        pool: instead of `opponents`: a list, the mixture in which all have the same weight.
        threads: the number of threads; None: one per core. The games do not depend on it.
        illegal: what an illegal action does: "raise", and no game is changed, or "end" its game with a reward of -1.
        autoreset_mode: when a finished game restarts: in the same step, in the next one, or when `reset` is called for it; one
            of Gymnasium's `AutoresetMode`, or its value as text.
        rules: instead of options: the rules of each game, or a function that draws them (`Batch`).
        seat, reward, render_mode, render_size, mask, mask_dtype, events, options: as for `EuphoriaEnv`; `render` returns a
            picture of each game, K is `events`, `options` are the fields of `Rules`, and `reward` is not a function. The seat is
            one that all games have.

    Observations are fresh int8 arrays (N, OBS_SIZE); with events dicts of them as `observation` and of `events` (int8,
    (N, K, EVENT_SIZE)). `infos` has the legal moves as `action_mask` (`mask_dtype`, (N, NUM_ACTIONS)), the learners' `seat` and
    `num_players`. For games that ended it has `ranking` (N, P), `winner` (-1: nobody), `is_success` and, if illegal actions end
    games, `illegal` (texts; "" where the action was legal). In the mode SAME_STEP these are in `infos["final_info"]`, with `seat`
    and `num_players` of the finished game, and `final_obs` has its last observation. In the other modes the step returns the last
    observation, with a mask of zeros; in NEXT_STEP the next action for that game is ignored, so that it may be any integer.

    Attributes:
        learners: the games with their learners and opponents.

    Raises:
        TypeError: a keyword is unknown.
        ValueError: the value of an argument is not allowed; the message names the argument and what is allowed.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": ["ansi", "rgb_array"], "render_fps": FRAMES_PER_SECOND}

    def __init__(
        self,
        num_envs: int,
        opponents: Any = "weights",
        pool: Sequence[Any] | None = None,
        seat: int | str = "random",
        reward: str | dict[str, Any] = "win",
        threads: int | None = None,
        render_mode: str | None = None,
        render_size: tuple[int, int] = PICTURE_SIZE,
        mask: str = "info",
        illegal: str = "raise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        events: int = 0,
        mask_dtype: str = "int8",
        rules: RulesSource | None = None,
        **options: Any,
    ) -> None:
        self._configure(options, reward, render_mode, render_size, mask, mask_dtype, events)
        if rules is not None and options:
            raise ValueError(f"rules are given, so {', '.join(options)} must be part of them")
        batch = {"reward": reward, "threads": threads, "events": events}
        self.learners = SingleAgentGames(
            num_envs, self.rules if rules is None else rules, opponents, pool, seat, illegal, **batch
        )
        self.rules = self.learners.rules.given
        self.num_envs = self.learners.n
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._illegal_ends = illegal == "end"
        self._waits = np.zeros(self.num_envs, np.bool_)  # games that have ended and not yet restarted
        self.single_observation_space = self._space()
        self.single_action_space = spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def set_opponents(self, opponents: Any = "weights", pool: Sequence[Any] | None = None) -> None:
        """Changes the opponents, in each game from its next start on; arguments and errors as for the environment itself."""
        self.learners.opponents.set(opponents, pool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Restarts games; equal seeds give equal games for the same number of them.

        Args:
            seed: one for all games, or a list of N; each sets the first deal of its game, and all else depends on all N. None:
                all goes on from the last seed.
            options: `position` is the start of all games (docs/positions.md), or a list of N, `None` for the setup; games that
                restart later are normal ones. `reset_mask`, (N,) bool, chooses games; by default all restart.

        Raises:
            ValueError: a seed or an option is not allowed; the message names it.
            ResetNeeded: `reset_mask` is given, but no game has begun.
        """
        given = reset_options(options, ("position", "reset_mask"))
        chosen = chosen_games(given.get("reset_mask"), self.num_envs)
        if chosen is not None:
            _ = self.learners.ready
        positions = positions_from(given.get("position"), self.num_envs)
        new = chosen
        if chosen is not None and seed is None and not positions:
            new = chosen & ~self._waits  # `learners` restarts games in the step in which they end
        elif chosen is not None and seed is not None and chosen.all():
            new = None
        if new is None or new.any():
            rng, number = copy.deepcopy(self.np_random), self.np_random_seed
            root, starts = starts_from(seed, positions, self.num_envs, self.learners.rules, rng)
            if root is not None:
                rng, number = seeding.np_random(root)
            self.learners.reset(rng if new is None or root is not None else None, starts, new, positions, number)
            self._np_random, self._np_random_seed = rng, number  # only now, since the function `rules` may fail
        self._waits[slice(None) if chosen is None else chosen] = False
        return self._observed_by_learners(), self._infos()

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays a decision of every learner, and those of the opponents until the learners' next ones.

        Raises:
            IllegalMove: an action is illegal and `illegal` is "raise"; the message names game and move. No game is changed.
            ResetNeeded: no game has begun, or one has ended and does not restart by itself.
        """
        learners = self.learners
        if self.autoreset_mode is AutoresetMode.DISABLED and self._waits.any():
            games = ", ".join(map(str, np.flatnonzero(self._waits)))
            raise ResetNeeded(f"games {games} have ended: call reset(options={{'reset_mask': ...}})")
        learners.step(actions, ~self._waits if self._waits.any() else None)
        ended = learners.terminated | learners.truncated
        same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._waits[:] = False if same_step else ended
        infos = self._infos()
        if ended.any():
            infos |= self._same_step_infos(ended) if same_step else self._final_infos(ended)
        return self._observed_by_learners(), learners.rewards.copy(), learners.terminated.copy(), learners.truncated.copy(), infos

    def action_masks(self) -> np.ndarray:
        """Returns the learners' legal moves, bool (N, NUM_ACTIONS); none in a game that has ended and not yet restarted."""
        masks = self.learners.ready.mask.copy()
        masks[self._waits] = False
        return masks

    def render(self) -> tuple[Any, ...] | None:
        """Returns a picture of each game, by `render_mode`: texts, or uint8 (H, W, 3).

        A game that has ended and not yet restarted is shown at its end.
        """
        learners, running = self.learners, self.learners.ready
        if self.render_mode is None:
            return None
        games = (learners.final_game(i) if waits else running.game(i) for i, waits in enumerate(self._waits.tolist()))
        return tuple(self._frame(game) for game in games)

    def _observed_by_learners(self) -> Any:
        """Returns the learners' observations: the last one in games that have ended and not yet restarted."""
        learners = self.learners
        observation, events = learners.ready.observation.copy(), learners.events.copy()
        observation[self._waits] = learners.final_observation[self._waits]
        events[self._waits] = learners.final_events[self._waits]
        return self._observed(observation, self.action_masks().view(self._mask_dtype) if self._masked else None, events)

    def _infos(self) -> dict[str, Any]:
        """Returns the entries that `infos` always has; as in Gymnasium, `_key` marks the games that have the entry `key`."""
        learners, everywhere = self.learners, np.ones(self.num_envs, np.bool_)
        infos = {
            "action_mask": self.action_masks().view(self._mask_dtype),
            "seat": np.where(self._waits, learners.final_seats, learners.seats),
            "num_players": np.where(self._waits, learners.final_players, learners.ready.num_players),
        }
        return infos | {f"_{key}": everywhere for key in infos}

    def _final_infos(self, ended: np.ndarray) -> dict[str, Any]:
        """Returns the infos of the games that ended in this step."""
        learners = self.learners
        ranking = np.where(ended[:, None], learners.final_ranking, 0).astype(np.int64)
        won = learners.terminated & (ranking[:, 0] > 0)
        winner = np.where(won, (ranking == 1).argmax(axis=1), -1)
        final = {"ranking": ranking, "winner": winner, "is_success": won & (winner == learners.final_seats)}
        if self._illegal_ends:
            final["illegal"] = np.array([learners.illegal.get(i, "") for i in range(self.num_envs)], object)
        return final | {f"_{key}": ended.copy() for key in final}

    def _same_step_infos(self, ended: np.ndarray) -> dict[str, Any]:
        """Returns the infos of the games that ended in this step and have restarted, with their last observations."""
        learners = self.learners
        final_obs = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(ended):
            nothing = np.zeros(NUM_ACTIONS, self._mask_dtype) if self._masked else None
            final_obs[i] = self._observed(learners.final_observation[i].copy(), nothing, learners.final_events[i].copy())
        final = self._final_infos(ended)
        for key, value in (("seat", learners.final_seats), ("num_players", learners.final_players)):
            final |= {key: np.where(ended, value, 0), f"_{key}": ended.copy()}
        return {"final_obs": final_obs, "_final_obs": ended, "final_info": final, "_final_info": ended.copy()}


def _autoreset_mode(given: Any) -> AutoresetMode:
    try:
        return AutoresetMode(given)
    except ValueError:
        allowed = ", ".join(mode.value for mode in AutoresetMode)
        raise ValueError(f"autoreset_mode must be one of {allowed}, not {given!r}") from None
