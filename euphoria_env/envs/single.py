"""One learning seat for Gymnasium; the others are played by agents, inside `step`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from euphoria_env import actions, position
from euphoria_env.engine import chance, observe, run, stepping
from euphoria_env.engine.rewards import reward_number
from euphoria_env.engine.state import GAME_DTYPE, OVER, TRUNCATED, copy_rows
from euphoria_env.envs.asking import ask
from euphoria_env.envs.observation_space import observation_box
from euphoria_env.envs.opponents import as_agent, seat_number
from euphoria_env.envs.streams import derived_generator, derived_seed
from euphoria_env.game import Game
from euphoria_env.observations import OBS_SIZE
from euphoria_env.render import board_array
from euphoria_env.rules import Rules

ILLEGAL_REWARD = -1.0
_RENDER_MODES = ("ansi", "rgb_array")


class EuphoriaEnv(gymnasium.Env[np.ndarray, Any]):
    """Euphoria as one player sees it. One step is one decision of the learner and all that happens until their next one.

    So the learner is credited with everything that the others do meanwhile, and loses when somebody else ends the game in a turn
    of their own.

    Args:
        opponents: who plays the other seats: an object with `act` as in `euphoria_agents.Agent`, or a text for
            `euphoria_agents.load`; one for all, or a list of them in turn order after the learner.
        seat: the learner's, 0 to n - 1, or "random" for another one in each game. Observations are relative to it.
        reward: "win", "rank" or "stars"; see docs/environment.md.
        render_mode: "ansi" (a string), "rgb_array" (uint8 (H, W, 3)), or None.
        **rules: the fields of `Rules`.

    An observation is a fresh int8 array (OBS_SIZE,). `info` has the legal moves as `action_mask` (int8, (NUM_ACTIONS,)) and the
    learner's `seat`; at the end also `ranking`, `winner` (None if truncated) and `is_success`. As in PettingZoo an illegal action
    ends the game for the learner with a reward of -1; `info["illegal"]` then says what would have been legal.

    Raises:
        ValueError: an argument that is not allowed; the message names it and what is.
    """

    metadata = {"render_modes": list(_RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        opponents: Any = "weights",
        seat: int | str = "random",
        reward: str = "win",
        render_mode: str | None = None,
        **rules: Any,
    ) -> None:
        self.rules = Rules.from_dict(rules)
        self._kind = reward_number(reward)
        n = self.rules.num_players
        given_seat = seat_number(seat, n)
        if render_mode is not None and render_mode not in _RENDER_MODES:
            raise ValueError(f"render_mode must be one of {', '.join(_RENDER_MODES)} or None, not {render_mode!r}")
        self.observation_space = observation_box()
        self.action_space = spaces.Discrete(actions.NUM_ACTIONS)
        self.render_mode = render_mode
        self.set_opponents(opponents)
        self._given_seat = given_seat
        self._seat = 0
        self._tape = chance.empty_tape()
        self._rewards = np.zeros(n, np.float32)
        self._rows = np.zeros(1, GAME_DTYPE)
        self._asked = False  # whether the learner must decide

    # ---------------------------------------------------------------------------------------------------------- opponents

    def set_opponents(self, opponents: Any) -> None:
        """Changes the opponents, from the next game on: nobody is replaced in the middle of one.

        Args:
            opponents: as for the environment itself.

        Raises:
            ValueError: neither an agent nor a text, or not one for each other seat.
        """
        others = self.rules.num_players - 1
        if isinstance(opponents, Sequence) and not isinstance(opponents, str):
            if len(opponents) != others:
                raise ValueError(f"opponents must be one, or a list of {others}, not of {len(opponents)}")
            self._next_opponents = [as_agent(one) for one in opponents]
        else:
            self._next_opponents = [as_agent(opponents)] * others

    def _opponent_move(self, player: int, mask: np.ndarray) -> int:
        """The move of the opponent who must decide."""
        agent = self._opponents[(player - self._seat) % self.rules.num_players - 1]
        moves, _ = ask(agent, self._observe(player)[None], mask[None], self._agents_rng, lambda _: self._deal(player))
        return int(moves[0])

    def _deal(self, player: int) -> Game:
        """The game as an opponent gets it who wants one: dealt anew where they see no more."""
        return self.game.determinize(player, derived_seed(self.np_random))

    # --------------------------------------------------------------------------------------------------------- the episode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a game and plays up to the learner's first decision; equal seeds give equal games.

        Raises:
            ValueError: options are given; there are none.
        """
        super().reset(seed=seed)
        if options:
            raise ValueError(f"options.{next(iter(options))}: no such option; this environment has none")
        n = self.rules.num_players
        self._seat = int(self.np_random.integers(n)) if self._given_seat is None else self._given_seat
        self._opponents = self._next_opponents
        self._agents_rng = derived_generator(self.np_random)
        self._rows[:] = 0
        position.write_rules(self._row, self.rules)
        run.new_game(self._rows, 0, int(self.np_random.integers(2**63 - 1)), 0, 0, self._tape)
        mask = np.empty(actions.NUM_ACTIONS, np.bool_)
        observe.write_mask(self._rows, 0, mask)
        self._play_others(mask)
        return self._observe(self._seat), self._info(mask)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Plays a decision of the learner, and those of the others until the next one of the learner.

        Raises:
            ResetNeeded: the game has ended, or none has begun.
        """
        if not self._asked:
            raise ResetNeeded("the game has ended, or none has begun: call reset()")
        number = operator.index(action)
        if not (0 <= number < actions.NUM_ACTIONS and self._mask[number]):
            return self._end_illegal(number)
        mask = np.empty(actions.NUM_ACTIONS, np.bool_)
        reward = self._play(number, mask) + self._play_others(mask)
        status = int(self._row["status"])
        return self._observe(self._seat), reward, status == OVER, status == TRUNCATED, self._info(mask)

    def _end_illegal(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Ends the game because of an illegal action; the position stays as it is."""
        try:
            self.game.play(action)
        except ValueError as error:
            illegal = str(error)
        self._asked = False
        info = self._info(np.zeros(actions.NUM_ACTIONS, np.bool_)) | {"illegal": illegal}
        return self._observe(self._seat), ILLEGAL_REWARD, True, False, info

    def _play_others(self, mask: np.ndarray) -> float:
        """Plays until the learner must decide, or the game has ended; returns the rewards of the learner of this time."""
        row, reward = self._row, 0.0
        while row["status"] < OVER and row["player"] != self._seat:
            reward += self._play(self._opponent_move(int(row["player"]), mask), mask)
        self._asked = bool(row["status"] < OVER)
        return reward

    def _play(self, action: int, mask: np.ndarray) -> float:
        """Plays a move and writes the next mask; returns the learner's reward."""
        if stepping.play(self._rows, 0, action, self._tape, self._kind, self._rewards, mask) < 0:
            self.game.play(action)  # raises, and says why
        return float(self._rewards[self._seat])

    def _observe(self, player: int) -> np.ndarray:
        observation = np.empty(OBS_SIZE, np.int8)
        observe.write_observation(self._rows, 0, player, observation)
        return observation

    def _info(self, mask: np.ndarray) -> dict[str, Any]:
        """What `info` says beside the observation; remembers the mask."""
        self._mask = mask
        info: dict[str, Any] = {"action_mask": mask.astype(np.int8), "seat": self._seat}
        if not self._asked:
            game = self.game
            info |= {"ranking": game.ranking, "winner": game.winner, "is_success": game.winner == self._seat}
        return info

    # --------------------------------------------------------------------------------------------------------- what it shows

    @property
    def _row(self) -> np.void:
        return self._rows[0]

    @property
    def game(self) -> Game:
        """A copy of the game as it stands, hidden cards included: for people, not for the learner."""
        return Game.from_rows(copy_rows(self._rows))

    def action_masks(self) -> np.ndarray:
        """The learner's legal moves, bool (NUM_ACTIONS,), as sb3-contrib asks for them."""
        return self._mask.copy()

    def render(self) -> Any:
        """The board: text or an image, by `render_mode`."""
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            return board_array(self.game)
        return str(self.game)
