"""The base classes of the environments: arguments, spaces, observations and pictures, and an environment of one game."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.derived_seeds import beside_deals
from euphoria_env.engine import batch_kernels, loop, observe, tape
from euphoria_env.engine.state import GAME_DTYPE, copy_rows
from euphoria_env.envs.arguments import choice, picture_size
from euphoria_env.event_kinds import EVENT_SIZE, KINDS, number_of_events
from euphoria_env.game import Game
from euphoria_env.json_reader import Reader, shown
from euphoria_env.observations import FIELDS, OBS_SIZE
from euphoria_env.render import board_array
from euphoria_env.render.svg import PICTURE_HEIGHT, PICTURE_WIDTH
from euphoria_env.rewards import NO_REWARD, read_reward
from euphoria_env.rules import Rules, write_rules

PICTURE_SIZE = (PICTURE_WIDTH, PICTURE_HEIGHT)  # the natural size of the drawing with up to four players
RewardFunction = Callable[[Game, Game, int], float]  # (before, after, seat), see docs/environment.md
_MOST_REWARD = 1e30  # of a function
_MOVED = ("_rows", "_tape", "_mask", "_status", "_player", "_rewards", "_seen")  # the attributes that a move changes
FRAMES_PER_SECOND = 2  # in recordings: a step is one decision, and people need time to read it
_INT8 = np.dtype(np.int8)
_NOTHING = np.zeros(0, _INT8)


def observation_box() -> spaces.Box:
    """Returns the space of a flat observation: int8, (OBS_SIZE,), from 0 to the highest value of each field."""
    high = np.concatenate([np.full(field.size, field.high, np.int8) for field in FIELDS])
    return spaces.Box(np.zeros(OBS_SIZE, np.int8), high, dtype=np.int8)


def events_box(events: int) -> spaces.Box:
    """Returns the space of the last events: int8, (events, EVENT_SIZE)."""
    low, high = np.array([0, -1, -1, -1], np.int8), np.array([len(KINDS) - 1, MAX_PLAYERS - 1, 127, 127], np.int8)
    return spaces.Box(np.tile(low, (events, 1)), np.tile(high, (events, 1)), dtype=np.int8)


def frame(game: Game, mode: str | None, size: tuple[int, int]) -> Any:
    """Returns a game as text ("ansi", "human") or as pixels ("rgb_array", uint8 (height, width, 3)); None without a mode.

    The drawing is scaled to the largest size that fits without distortion; the rest of the picture is blank.
    """
    if mode is None:
        return None
    if mode != "rgb_array":
        return str(game)
    width, height = size
    drawn = board_array(game, within=size)[:height, :width]
    if drawn.shape[:2] == (height, width):
        return drawn
    picture = np.full((height, width, 3), 255, np.uint8)
    top, left = (height - drawn.shape[0]) // 2, (width - drawn.shape[1]) // 2
    picture[top : top + drawn.shape[0], left : left + drawn.shape[1]] = drawn
    return picture


class Environment:
    """The arguments that all environments take, and the observations and pictures that depend on them."""

    metadata: dict[str, Any]
    _takes_functions = False  # whether `reward` may be a function

    def _configure(
        self,
        rules: dict[str, Any],
        reward: str | dict[str, Any] | RewardFunction,
        render_mode: str | None,
        render_size: tuple[int, int],
        mask: str,
        mask_dtype: str,
        events: int,
    ) -> None:
        """Checks and stores the arguments; a `TypeError` names an unknown keyword, a `ValueError` an argument that is wrong."""
        self.rules = Rules(**rules)
        self._function = reward if self._takes_functions and callable(reward) else None
        self._reward = read_reward(reward) if self._function is None else NO_REWARD
        self.render_mode = choice("render_mode", render_mode, *self.metadata["render_modes"], None)
        self.render_size = picture_size(render_size)
        self._masked = choice("mask", mask, "info", "observation") == "observation"
        self._mask_dtype = np.dtype(choice("mask_dtype", mask_dtype, "int8", "bool"))
        self._events = number_of_events(events)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def _space(self) -> spaces.Space[Any]:
        """Returns the observation space of one game, which fits what `_observed` returns."""
        parts: dict[str, spaces.Space[Any]] = {"observation": observation_box()}
        if self._masked:
            parts["action_mask"] = spaces.Box(0, 1, (NUM_ACTIONS,), self._mask_dtype.type)
        if self._events:
            parts["events"] = events_box(self._events)
        return spaces.Dict(parts) if len(parts) > 1 else parts["observation"]

    def _observed(self, observation: np.ndarray, mask: np.ndarray | None, events: np.ndarray) -> Any:
        """Returns the observation alone, or a dict of it with the mask (unless None) and the events (if they are recorded)."""
        parts = {"observation": observation}
        if mask is not None:
            parts["action_mask"] = mask
        if self._events:
            parts["events"] = events
        return parts if len(parts) > 1 else observation

    def _frame(self, game: Game) -> Any:
        """Returns a picture of a game by `render_mode`."""
        return frame(game, self.render_mode, self.render_size)


class OneGame(Environment):
    """An environment of one game."""

    _shows = False  # whether a move also writes what the next player sees, which saves a call if it is always asked for

    def _configure(self, *arguments: Any) -> None:
        super()._configure(*arguments)
        self._begun, self._rows = False, np.zeros(1, GAME_DTYPE)
        self._room = self._events  # how many events are kept
        self._tape = tape.empty_tape(self._room)
        self._by_kernel = np.zeros(self.rules.num_players, np.float32)  # what kernels pay for a move
        self._rewards = self._by_kernel  # what is paid for the last move
        self._mask = np.zeros(NUM_ACTIONS, np.int8)  # the mask of the player who decides; callers only get copies

    def _check_begun(self) -> None:
        if not self._begun:
            raise ResetNeeded("no game has begun: call reset()")

    def _begin(self, game: Game | None, seed: int) -> None:
        """Begins with a copy of a game or, if it is None, with a new game of this seed."""
        self._rows, self._tape = np.zeros(1, GAME_DTYPE), tape.empty_tape(self._room)
        if game is None:
            write_rules(self._rows[0], self.rules)
            loop.new_game(self._rows, 0, seed, 0, 0, self._tape)
        else:
            self._rows[:] = game.states
        observe.write_mask(self._rows, 0, self._mask.view(np.bool_))
        self._status, self._player = int(self._rows[0]["status"]), int(self._rows[0]["player"])
        self._begun, self._chance, self._seen = True, beside_deals(seed), _NOTHING

    def _play(self, action: int, credited: bool = True) -> bool:
        """Plays a move and writes rewards, if anybody is credited with them, and the next mask; returns whether it was legal."""
        kept = self._kept() if credited and self._function is not None else {}
        seen = np.empty(OBS_SIZE, _INT8) if self._shows else _NOTHING
        status, player = batch_kernels.play(self._rows, 0, action, self._tape, self._reward, self._by_kernel, self._mask, seen)
        if status < 0:
            return False
        self._status, self._player, self._seen = status, player, seen
        if kept:
            with self._undone_by_errors(kept):
                self._rewards = np.array([self._ask(kept["_rows"], p) for p in range(self.rules.num_players)])
        return True

    def _kept(self, *further: str, shared: Iterable[Any] = ()) -> dict[str, Any]:
        """Returns copies of the attributes that a move changes, and of further ones; the objects in `shared` are not copied."""
        return copy.deepcopy({name: vars(self)[name] for name in (*_MOVED, *further)}, {id(one): one for one in shared})

    @contextmanager
    def _undone_by_errors(self, kept: dict[str, Any]) -> Iterator[None]:
        """Gives the attributes their kept values again if the reward function fails."""
        try:
            yield
        except BaseException:
            vars(self).update(kept)
            raise

    def _ask(self, before: np.ndarray, seat: int) -> float:
        """Returns what the reward function pays a seat for the move just played; it gets games of its own."""
        function: Any = self._function
        paid = function(Game.taking(copy_rows(before)), Game.taking(copy_rows(self._rows)), seat)
        name = getattr(function, "__qualname__", shown(function))
        return Reader().number(f"what {name} returns for seat {seat}", paid, -_MOST_REWARD, _MOST_REWARD)

    def _fresh_mask(self) -> np.ndarray:
        """Returns a copy of the mask of the player who decides."""
        mask = self._mask.copy()
        return mask if self._mask_dtype is _INT8 else mask.view(self._mask_dtype)

    def _seen_by(self, player: int) -> np.ndarray:
        """Returns what a player sees, a fresh array int8 (OBS_SIZE,)."""
        seen, self._seen = self._seen, _NOTHING
        if player != self._player or not len(seen):
            seen = np.empty(OBS_SIZE, _INT8)
            observe.write_observation(self._rows, 0, player, seen)
        return seen

    def _observed_by(self, player: int, mask: np.ndarray | None) -> Any:
        """Returns the observation of a player, in fresh arrays, with this mask if there is one."""
        observation = self._seen_by(player)
        if not self._events:
            return observation if mask is None else {"observation": observation, "action_mask": mask}
        return self._observed(observation, mask, self._last_events(player, self._events))

    def _last_events(self, player: int, k: int) -> np.ndarray:
        """Returns the last k events as a player sees them, a fresh array int8 (k, EVENT_SIZE)."""
        events = np.empty((self._room, EVENT_SIZE), _INT8)
        observe.write_events(self._tape, player, self.rules.num_players, events)
        return events if k == self._room else events[-k:].copy()

    @property
    def game(self) -> Game:
        """A copy of the game with all hidden cards, for people and not for the agents."""
        self._check_begun()
        return Game.taking(copy_rows(self._rows))

    def render(self) -> Any:
        """Returns the board as text or picture by `render_mode`, or prints it in the mode "human"."""
        shown = self._frame(self.game)
        if self.render_mode != "human":
            return shown
        print(shown)
        return None
