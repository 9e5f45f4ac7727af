"""Gymnasium's environment: one player learns, and agents play the other seats inside `step`."""

from __future__ import annotations

import hashlib
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.agent_protocol import NO_MOVE, Generators, query_one
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.derived_seeds import derived_seed
from euphoria_env.engine.batch_kernels import BatchArrays, show_games
from euphoria_env.engine.state import OVER, TRUNCATED
from euphoria_env.envs.arguments import (
    ILLEGAL_REWARD,
    MOST_UNASKED,
    choice,
    game_from,
    is_integer,
    known_number,
    learner_seat,
    never_asked,
    reset_options,
)
from euphoria_env.envs.environment import FRAMES_PER_SECOND, PICTURE_SIZE, OneGame, RewardFunction
from euphoria_env.envs.opponents import Opponents
from euphoria_env.event_kinds import EVENT_SIZE
from euphoria_env.game import Game, IllegalMove
from euphoria_env.json_reader import read_seed
from euphoria_env.keywords import names_keywords
from euphoria_env.memory import Ids, Memory
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import OPTIONS


@names_keywords(*OPTIONS)
class EuphoriaEnv(OneGame, gymnasium.Env[Any, Any]):
    """Euphoria for one learner. A step plays one decision of the learner and all that happens until the learner's next one.

    The reward is the learner's sum over all of it, including the final reward when another player's move ends the game.

    Args:
        opponents: an object with `act` as in `euphoria_agents.Agent`, or a spec for `euphoria_agents.load`; one for all other
            seats, a list of them in turn order after the learner, or a mixture from which each seat of each game is drawn: a dict
            from agent or spec to weight, or a list of pairs (agent or spec, weight).
        seat: the learner's seat, 0 to n - 1, or "random", drawn for each game. Observations are relative to it.
        reward: a name, a dict or a function as in docs/environment.md.
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
        TypeError: a keyword is unknown.
        ValueError: the value of an argument is not allowed; the message names the argument and what is allowed.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": FRAMES_PER_SECOND}
    _takes_functions = True

    def __init__(
        self,
        opponents: Any = "weights",
        seat: int | str = "random",
        reward: str | dict[str, Any] | RewardFunction = "win",
        render_mode: str | None = None,
        render_size: tuple[int, int] = PICTURE_SIZE,
        mask: str = "info",
        illegal: str = "end",
        events: int = 0,
        mask_dtype: str = "int8",
        **rules: Any,
    ) -> None:
        self._configure(rules, reward, render_mode, render_size, mask, mask_dtype, events)
        n = self.rules.num_players
        self._given_seat, self._seat = learner_seat(seat, n), 0
        self._illegal_ends = choice("illegal", illegal, "end", "raise") == "end"
        self.observation_space: spaces.Space[Any] = self._space()
        self.action_space = spaces.Discrete(NUM_ACTIONS)
        self._line_up = Opponents(1, n, opponents)
        self._asked = False  # whether the learner must decide
        self._views: list[Any] = []  # see `_view`
        self._ids = Ids()

    def set_opponents(self, opponents: Any) -> None:
        """Changes the opponents from the next game on; argument and errors as for the environment itself."""
        self._line_up.set(opponents)
        self._views = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts a game and plays up to the learner's first decision; equal seeds give equal games.

        If the game ends before the learner decides, it starts again in the same way with the next seed.

        Args:
            seed: an integer, or None to go on from the last one.
            options: `{"position": {...}}` starts from a position (docs/positions.md).

        Raises:
            ValueError: the seed is not an integer, the position is impossible or has other rules, an option is unknown, or 100
                games in a row ended before the learner was asked.
        """
        position = reset_options(options).get("position")
        if position is not None and game_from(position, self.rules, 0).ranking is not None:  # before the generator is used
            raise ValueError("options.position: the game has ended")
        super().reset(seed=None if seed is None else read_seed(seed) % 2**64)
        number = int(self.np_random.integers(2**63 - 1))
        for again in range(MOST_UNASKED):
            self._start(None if position is None else game_from(position, self.rules, number, again=again > 0), number)
            if self._asked:
                return self._observed_by_learner(), self._info()
            number = int(self._chance.integers(2**63 - 1))
        raise never_asked("EuphoriaEnv" if position is None else "options.position")

    def _start(self, game: Game | None, seed: int) -> None:
        """Seats all players, in a new game of this seed if `game` is None, and plays up to the learner's first decision."""
        n = self.rules.num_players
        self._room = max(self._events, self._line_up.most_events)
        self._begin(game, seed)
        self._seat = int(self._chance.integers(n)) if self._given_seat is None else self._given_seat
        self._line_up.seat(np.zeros(1, np.int64), np.array([self._seat]), np.array([n]), self._chance.random)
        self._line_up.seed(self._chance)
        by_itself = self._function is None and type(self)._play is OneGame._play  # a subclass may follow every move
        self._opponents = self._line_up.at(0, asked=by_itself)
        self._compiled = None in self._opponents
        key = self._line_up.key(self.np_random_seed)
        self._ids.end(self._ids.games)
        self._generators, self._ids = Generators(self._chance, key), Ids(hashlib.sha256(key + str(seed).encode()).digest())
        self._play_others()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays a decision of the learner, and those of the opponents until the learner's next one.

        Raises:
            IllegalMove: the action is illegal and `illegal` is "raise", or it is not an action id; nothing is changed.
            ResetNeeded: the game has ended, or none has begun.
        """
        if not self._asked:
            raise ResetNeeded("the game has ended, none has begun, or an opponent failed: call reset()")
        number = known_number(action)
        if number < 0 or not self._mask[number]:
            return self._refuse(action)
        if self._function is None:
            reward = self._play_others(number)
        else:  # opponents draw from these generators, also for moves that are undone
            with self._undone_by_errors(self._kept("_chance", "_generators", "_asked", shared=self._opponents)):
                reward = self._play_others(number)
        return self._observed_by_learner(), reward, self._status == OVER, self._status == TRUNCATED, self._info()

    def _refuse(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Ends the game because of an illegal action, or raises an error; the position stays as it is."""
        illegal = self.game.why_illegal(action)
        if not self._illegal_ends or not is_integer(action):
            raise IllegalMove(illegal)
        return self._forfeit({"illegal": illegal})

    def _forfeit(self, info: dict[str, Any]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Ends the game with the reward of an illegal action, and with more in the info; the position stays as it is."""
        self._asked = False
        self._ids.end(self._ids.games)
        self._mask[:] = 0
        return self._observed_by_learner(), ILLEGAL_REWARD, True, False, self._info() | info

    def _play_others(self, action: int = NO_MOVE) -> float:
        """Plays an action of the learner, unless it is NO_MOVE, and on until the learner must decide or the game has ended.

        Returns the sum of the learner's rewards; nobody is credited with what happens before the learner's first action.
        """
        total, self._asked, credited = 0.0, False, action >= 0
        while action >= 0 or (self._status < OVER and self._player != self._seat):
            if action < 0 and (agent := self._opponents[self._player]) is not None:
                seen = self._seen_by(self._player)
                action = query_one(agent, seen, self._mask, self._generators(agent), self._deal, self._memory())
            total += self._play_on(action, credited)
            action = NO_MOVE
        self._asked = self._status < OVER
        if not self._asked:
            self._ids.end(self._ids.games)
        return total

    def _memory(self) -> Memory:
        """Returns what an opponent with a memory may know of the present decision."""
        player = self._player
        return Memory(lambda k: self._last_events(player, k)[None], lambda agent: self._ids.of(agent, [("", player)]))

    def _play_on(self, action: int, credited: bool) -> float:
        """Plays an action, unless it is NO_MOVE, and those of compiled opponents that follow; returns the learner's rewards."""
        if not self._compiled:
            self._play(action, credited)
            return self._rewards.item(self._seat)
        if not self._views or self._views[0].states is not self._rows:
            self._views = self._view()
        _, play, move, _, reward, status, player = self._views
        move[0], reward[0] = action, 0.0
        play(0, 1)
        self._status, self._player = status.item(), player.item()
        if self._status >= OVER:
            self._mask[:] = 0
        return reward.item() if credited else 0.0

    def _view(self) -> list[Any]:
        """Returns this game as arrays of a batch, how compiled opponents play it on, and what each call of that needs."""
        rows, learner = self._rows, self._line_up.learners
        shown = np.zeros(1, np.int8), self._mask.view(np.bool_)[None], np.zeros((1, OBS_SIZE), np.int8)
        no_events, potential = np.zeros((1, 0, EVENT_SIZE), np.int8), np.zeros((1, MAX_PLAYERS))
        arrays = BatchArrays(rows, self._tape[None], *shown, no_events, self._reward, potential)
        show_games(arrays, 0, 1)
        learner["credited"], moves, active = True, np.zeros(1, np.int64), np.ones(1, np.bool_)
        play = self._line_up.compiled.bind(learner, arrays, moves, active)
        return [arrays, play, moves, active, learner["reward"], rows["status"], rows["player"]]

    def _seen_by(self, player: int) -> np.ndarray:
        shown = self._views[0] if self._views and player == self._player and self._status < OVER else None
        if shown is None or shown.states is not self._rows:
            return super()._seen_by(player)
        return shown.observation[0].copy()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_views": []}  # a copy has views of its own arrays

    def _deal(self) -> Game:
        """Returns the game for an opponent that needs it, determinized for its seat (R19)."""
        return self.game.determinize(self._player, derived_seed(self._chance, self._generators.key))

    def _observed_by_learner(self) -> Any:
        return self._observed_by(self._seat, self._fresh_mask() if self._masked else None)

    def _info(self) -> dict[str, Any]:
        """Returns the `info` beside the observation."""
        info: dict[str, Any] = {"action_mask": self._fresh_mask(), "seat": np.int64(self._seat)}
        if not self._asked:
            ranking = np.zeros(self.rules.num_players, np.int64)
            if self._rows[0]["status"] >= OVER:
                ranking[:] = self._rows[0]["ranking"][: len(ranking)]
            winner = np.int64(self._rows[0]["winner"])
            info |= {"ranking": ranking, "winner": winner, "is_success": bool(winner == self._seat)}
        return info

    def action_masks(self) -> np.ndarray:
        """Returns the learner's legal moves, bool (NUM_ACTIONS,), as sb3-contrib asks for them."""
        self._check_begun()
        return self._mask.astype(np.bool_) & self._asked  # after an opponent failed, the mask is not the learner's
