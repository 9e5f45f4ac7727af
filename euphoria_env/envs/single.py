"""Gymnasium's environment: one player learns, and agents play the other seats inside `step`."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from euphoria_env import actions
from euphoria_env.agent_protocol import Generators, query_one
from euphoria_env.derived_seeds import derived_seed
from euphoria_env.engine import batch_kernels, loop, observe, tape
from euphoria_env.engine.rewards import reward_number
from euphoria_env.engine.state import GAME_DTYPE, OVER, TRUNCATED, copy_rows
from euphoria_env.envs.arguments import (
    ILLEGAL_REWARD,
    MOST_UNASKED,
    choice,
    game_from,
    is_integer,
    known_number,
    learner_seat,
    never_asked,
    picture_size,
    reset_options,
    rules_from,
    why_illegal,
)
from euphoria_env.envs.frames import FRAMES_PER_SECOND, PICTURE_SIZE, frame
from euphoria_env.envs.observation_space import observation_space, observed
from euphoria_env.envs.opponents import Opponents
from euphoria_env.event_kinds import EVENT_SIZE, number_of_events
from euphoria_env.game import Game, IllegalMove
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import write_rules

_INT8 = np.dtype(np.int8)
_RENDER_MODES = ("ansi", "rgb_array")


class EuphoriaEnv(gymnasium.Env[Any, Any]):
    """Euphoria for one learner. A step plays one decision of the learner and all that happens until the learner's next one.

    The learner is credited with all of it, and loses when another player ends the game.

    Args:
        opponents: an object with `act` as in `euphoria_agents.Agent`, or a spec for `euphoria_agents.load`; one for all other
            seats, or a list of them in turn order after the learner.
        seat: the learner's, 0 to n - 1, or "random", drawn for each game. Observations are relative to it.
        reward: a reward in the table of docs/environment.md.
        render_mode: "ansi" (a string), "rgb_array" (uint8 (H, W, 3)), or None.
        render_size: width and height of "rgb_array" in pixels.
        mask: "info", or "observation": observations are dicts of `observation` and `action_mask`.
        mask_dtype: the dtype of masks: "int8", or "bool" for libraries that need it.
        illegal: what an illegal action does: "end" the game with a reward of -1, as in PettingZoo, and `info["illegal"]` lists
            the legal moves; or "raise".
        events: K, the number of the last events in each observation (docs/events.md); 0: none.
        **rules: the fields of `Rules`.

    An observation is a fresh int8 array (OBS_SIZE,); with events a dict of it as `observation` and of `events` (int8,
    (K, EVENT_SIZE)). `info` has the legal moves as `action_mask` (`mask_dtype`, (NUM_ACTIONS,)) and the
    learner's `seat` (int64); at the end also `ranking` (int64, (P,); all 0 after an illegal action), `winner` (int64; -1:
    nobody) and `is_success` (bool).

    Raises:
        TypeError: an unknown keyword.
        ValueError: an argument that is not allowed; the message names it and what is.
    """

    metadata = {"render_modes": list(_RENDER_MODES), "render_fps": FRAMES_PER_SECOND}

    def __init__(
        self,
        opponents: Any = "weights",
        seat: int | str = "random",
        reward: str = "win",
        render_mode: str | None = None,
        render_size: tuple[int, int] = PICTURE_SIZE,
        mask: str = "info",
        illegal: str = "end",
        events: int = 0,
        mask_dtype: str = "int8",
        **rules: Any,
    ) -> None:
        self.rules = rules_from(rules, EuphoriaEnv)
        self._kind = reward_number(reward)
        n = self.rules.num_players
        given_seat = learner_seat(seat, n)
        self.render_mode = choice("render_mode", render_mode, (*_RENDER_MODES, None))
        self.render_size = picture_size(render_size)
        self._mask_dtype = np.dtype(choice("mask_dtype", mask_dtype))
        self._masked = choice("mask", mask) == "observation"
        self._illegal_ends = choice("illegal", illegal) == "end"
        self._events = number_of_events(events)
        self.observation_space: spaces.Space[Any] = observation_space(self._mask_dtype if self._masked else None, events)
        self.action_space = spaces.Discrete(actions.NUM_ACTIONS)
        self._line_up = Opponents(1, n, opponents)
        self._given_seat, self._seat = given_seat, 0
        self._tape = tape.empty_tape(self._events)
        self._rewards = np.zeros(n, np.float32)
        self._rows = np.zeros(0, GAME_DTYPE)  # the game, once one has begun
        self._asked = False  # whether the learner must decide

    def __copy__(self) -> EuphoriaEnv:
        return copy.deepcopy(self)

    def set_opponents(self, opponents: Any) -> None:
        """Changes the opponents from the next game on; argument and errors as for the environment itself."""
        self._line_up.set(opponents)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts a game and plays up to the learner's first decision; equal seeds give equal games.

        If the game ends before the learner decides, it starts again in the same way with the next seed.

        Args:
            seed: an integer, or None to go on from the last one.
            options: `{"position": {...}}` starts from a position (docs/positions.md).

        Raises:
            ValueError: an impossible position or one with other rules, another option, or 100 games in which the learner was
                not asked.
        """
        position = reset_options(options).get("position")
        if position is not None:
            game_from(position, self.rules, 0)  # refuses it while the generator is as it was
        super().reset(seed=seed)
        for again in range(MOST_UNASKED):
            number = int(self.np_random.integers(2**63 - 1))
            self._begin(None if position is None else game_from(position, self.rules, number, again=again > 0), number)
            if self._asked:
                return self._observed(), self._info()
        raise never_asked("EuphoriaEnv" if position is None else "options.position")

    def _begin(self, game: Game | None, seed: int) -> None:
        """Seats all players and plays up to the learner's first decision, in a game or, for None, in a new one of this seed."""
        if game is not None and (game.over or game.truncated):
            raise ValueError("options.position: the game has ended")
        n = self.rules.num_players
        self._seat = int(self.np_random.integers(n)) if self._given_seat is None else self._given_seat
        self._line_up.seat(np.zeros(1, np.int64), np.array([self._seat]), self.np_random)
        self._opponents, self._generators = self._line_up.at(0), Generators(self.np_random)
        self._rows, self._tape = np.zeros(1, GAME_DTYPE), tape.empty_tape(self._events)
        if game is None:
            write_rules(self._rows[0], self.rules)
            loop.new_game(self._rows, 0, seed, 0, 0, self._tape)
        else:
            self._rows[:] = game.states
        self._mask = np.empty(actions.NUM_ACTIONS, np.bool_)
        observe.write_mask(self._rows, 0, self._mask)
        self._status, self._player = int(self._rows[0]["status"]), int(self._rows[0]["player"])
        self._play_others()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays a decision of the learner, and those of the opponents until the learner's next one.

        Raises:
            IllegalMove: no action id, or an illegal one if that does not end the game; nothing is changed.
            ResetNeeded: the game has ended, or none has begun.
        """
        if not self._asked:
            raise ResetNeeded("the game has ended, none has begun, or an opponent failed: call reset()")
        number = known_number(action)
        if number < 0 or not self._mask[number]:
            return self._refuse(action)
        reward = self._play(number) + self._play_others()
        return self._observed(), reward, self._status == OVER, self._status == TRUNCATED, self._info()

    def _refuse(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Ends the game because of an illegal action, or raises an error; the position stays as it is."""
        illegal = why_illegal(self.game, action)
        if not self._illegal_ends or not is_integer(action):
            raise IllegalMove(illegal)
        self._asked = False
        self._mask[:] = False
        return self._observed(), ILLEGAL_REWARD, True, False, self._info() | {"illegal": illegal}

    def _play_others(self) -> float:
        """Plays until the learner must decide or the game has ended; returns the sum of the learner's rewards."""
        total, self._asked, opponents, generators = 0.0, False, self._opponents, self._generators
        while self._status < OVER and (player := self._player) != self._seat:
            agent = opponents[player]
            total += self._play(query_one(agent, self._observe(player), self._mask, generators(agent), self._deal))
        self._asked = self._status < OVER
        return total

    def _deal(self) -> Game:
        """The game for an opponent that needs it, determinized for its seat (R19)."""
        return self.game.determinize(self._player, derived_seed(self.np_random))

    def _play(self, action: int) -> float:
        """Plays a legal move and writes the next mask; returns the learner's reward."""
        self._status, self._player = batch_kernels.play(self._rows, 0, action, self._tape, self._kind, self._rewards, self._mask)
        reward: float = self._rewards.item(self._seat)
        return reward

    def _observe(self, player: int) -> np.ndarray:
        observation = np.empty(OBS_SIZE, _INT8)
        observe.write_observation(self._rows, 0, player, observation)
        return observation

    def _observed(self) -> Any:
        """The learner's observation, with mask and events as the options say."""
        observation = self._observe(self._seat)
        if not (self._events or self._masked):
            return observation
        events = np.empty((self._events, EVENT_SIZE), np.int8)
        if self._events:
            observe.write_events(self._tape, self._seat, self.rules.num_players, events)
        return observed(observation, self._mask.astype(self._mask_dtype) if self._masked else None, events)

    def _info(self) -> dict[str, Any]:
        """The `info` beside the observation."""
        info: dict[str, Any] = {"action_mask": self._mask.astype(self._mask_dtype), "seat": np.int64(self._seat)}
        if not self._asked:
            ranking = np.zeros(self.rules.num_players, np.int64)
            if self._rows[0]["status"] >= OVER:
                ranking[:] = self._rows[0]["ranking"][: len(ranking)]
            winner = np.int64(self._rows[0]["winner"])
            info |= {"ranking": ranking, "winner": winner, "is_success": bool(winner == self._seat)}
        return info

    @property
    def game(self) -> Game:
        """A copy of the game with all hidden cards, for people and not for the learner."""
        if not len(self._rows):
            raise ResetNeeded("no game has begun: call reset()")
        return Game.taking(copy_rows(self._rows))

    def action_masks(self) -> np.ndarray:
        """The learner's legal moves, bool (NUM_ACTIONS,), as sb3-contrib asks for them."""
        if not len(self._rows):
            raise ResetNeeded("no game has begun: call reset()")
        return self._mask & self._asked  # nobody else's, where an opponent failed in its decision

    def render(self) -> Any:
        """The board: text or an image, by `render_mode`."""
        return frame(self.game, self.render_mode, self.render_size)
