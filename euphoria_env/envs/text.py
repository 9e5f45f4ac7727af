"""The environments for language models: observations and actions are texts (docs/language-models.md)."""

from __future__ import annotations

import string
from dataclasses import fields
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from euphoria_env import actions
from euphoria_env.envs.aec import env
from euphoria_env.envs.environment import PICTURE_SIZE, OneGame
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.game import Game, IllegalMove
from euphoria_env.json_reader import shown
from euphoria_env.keywords import names_keywords
from euphoria_env.rules import OPTIONS
from euphoria_env.text import TextOptions, observation_text, read_answer, rules_text

_CHARACTERS = "\n\t" + string.digits + string.ascii_letters + string.punctuation + " "
_LONGEST_PROMPT, _LONGEST_SAMPLE = 1_000_000, 10_000
_OPTIONS = [*(one.name for one in fields(TextOptions)), *OPTIONS]
_LOST = -1  # in place of an action: the player has lost by wrong answers
_COUNTED = ("decisions", "legal_first", "illegal", "unreadable", "random")


class _TextGame(OneGame):
    """An environment of one game that tells it in text, and reads the answers."""

    _text: TextOptions
    _takes_functions = False

    def _configure(self, *arguments: Any) -> None:
        super()._configure(*arguments)
        self._told = Game(self.rules, 0)  # the game of `_rows`, with its history
        self._forget()

    def _forget(self) -> None:
        """Forgets what was told and answered in the last game."""
        n = self.rules.num_players
        self._since = [0] * n  # for each player, the number of the last decision, from which the text tells what happened
        self._decided = 0
        self._tries = self._text.tries  # the answers left for this decision
        self._errors = [""] * n  # what was wrong with the last answer of each player
        self._answers = [dict.fromkeys(_COUNTED, 0) for _ in range(n)]

    def _space(self) -> spaces.Text:
        return spaces.Text(_LONGEST_PROMPT, min_length=1, charset=_CHARACTERS)

    def _begin(self, game: Game | None, seed: int) -> None:
        super()._begin(game, seed)
        self._told = Game(self.rules, seed) if game is None else game.clone()
        self._forget()

    def _play(self, action: int, credited: bool = True) -> bool:
        player = self._player
        if not super()._play(action, credited):
            return False
        self._told.play(action)
        self._since[player], self._decided = self._decided, self._decided + 1
        self._tries = self._text.tries
        return True

    @property
    def game(self) -> Game:
        """A copy of the game with its history and all hidden cards, for people and not for the agents."""
        self._check_begun()
        return self._told.clone()

    def _observed_by(self, player: int, mask: np.ndarray | None) -> str:
        return observation_text(self._told, player, self._text, self._since[player], self._errors[player])

    def _told_to(self, player: int, asked: bool) -> dict[str, Any]:
        """Returns the part of a player's info that is about text; `asked`: whether they must decide."""
        return {
            "prompt_rules": rules_text(self._text.rules, self.rules),
            "legal": self._told.legal() if asked else [],
            "error": self._errors[player],
            "tries": np.int64(self._tries if asked else 0),
            "answers": self._answers[player].copy(),
        }

    def _action(self, answer: Any) -> int | None:
        """Returns the action that an answer of the player who decides stands for; None: ask again; `_LOST`: the player loses.

        Raises, and changes nothing, a `ValueError` if the answer is not a text, an `IllegalMove` if it was the last try, names no
        legal move, and `illegal` is "raise".
        """
        if not isinstance(answer, str):
            raise ValueError(f"an answer must be a string, not {shown(answer)}")
        player, options, legal = self._player, self._text, self._told.legal()
        move, fault, error = read_answer(answer, legal)
        if fault and self._tries == 1 and options.illegal == "raise":
            raise IllegalMove(f"{error}; legal are {', '.join(legal)}")
        counted, self._errors[player] = self._answers[player], error
        if fault:
            counted[fault] += 1
            self._tries -= 1
            if self._tries:
                self._errors[player] += f"; tries left: {self._tries}"
                return None
        counted["decisions"] += 1
        if not fault:
            counted["legal_first"] += self._tries == options.tries
        elif options.illegal == "lose":
            self._errors[player] += "; that was the last try, and you have lost"
            return _LOST
        else:
            counted["random"] += 1
            move = legal[self._chance.integers(len(legal))]
            self._errors[player] += f"; that was the last try, and the random move {move!r} was played"
        return actions.parse(move)


@names_keywords(*_OPTIONS)
class EuphoriaTextEnv(_TextGame, EuphoriaEnv):
    """Euphoria for one language model; agents play the other seats inside `step`.

    Args:
        opponents, seat, reward, render_mode, render_size: as for `EuphoriaEnv`; but `reward` is not a function.
        **options: the fields of `TextOptions`, and those of `Rules`.

    An observation is a text, and so is an action: an answer, which names a move in notation. A wrong answer with tries left does
    not advance the game: the observation is the same with the error first, and the reward is 0. `info` has, instead of the
    `action_mask` of `EuphoriaEnv`: `prompt_rules` (str, for the system text), `legal` (list[str]), `error` (str; "": none),
    `tries` (int64, the answers left for this decision), and `answers` (dict[str, int]): the `decisions`; of these `legal_first`,
    whose first answer was a legal move, and `random`, in which a random move was played; `illegal` and `unreadable` answers.

    Raises:
        TypeError: a keyword is unknown.
        ValueError: the value of an argument is not allowed; the message names the argument and what is allowed.
    """

    def __init__(
        self,
        opponents: Any = "weights",
        seat: int | str = "random",
        reward: str = "win",
        render_mode: str | None = None,
        render_size: tuple[int, int] = PICTURE_SIZE,
        **options: Any,
    ) -> None:
        self._text = TextOptions.taken_from(options)
        super().__init__(opponents, seat, reward, render_mode, render_size, **options)
        self.action_space: spaces.Space[Any] = _answer_space()

    def step(self, answer: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Reads an answer of the learner; plays the move that it names, and those of the opponents up to the next decision.

        Raises:
            ValueError: the answer is not a text; nothing is changed.
            IllegalMove: it is the last try and names no legal move, and `illegal` is "raise"; nothing is changed.
            ResetNeeded: the game has ended, or none has begun.
        """
        if not self._asked:
            raise ResetNeeded("the game has ended, none has begun, or an opponent failed: call reset()")
        action = self._action(answer)
        if action is None:
            return self._observed_by_learner(), 0.0, False, False, self._info()
        return self._forfeit({}) if action == _LOST else super().step(action)

    def _info(self) -> dict[str, Any]:
        info = super()._info() | self._told_to(self._seat, self._asked)
        del info["action_mask"]  # of numbers, which are no actions here
        return info


@names_keywords(*_OPTIONS)
class text_env(_TextGame, env):
    """`env` for language models: all seats are asked in text, and answer in text.

    Args:
        render_mode, reward, render_size: as for `env`.
        **options: the fields of `TextOptions`, and those of `Rules`.

    Observations, answers and infos are as in `EuphoriaTextEnv`. A seat that loses by wrong answers ends the game for all, with a
    reward of -1 for itself and 0 for the others, as an illegal action does in `env`.

    Raises:
        TypeError: a keyword is unknown.
        ValueError: the value of an argument is not allowed; the message names the argument and what is allowed.
    """

    metadata = env.metadata | {"name": "euphoria_text_v0"}

    def __init__(
        self,
        render_mode: str | None = None,
        reward: str = "win",
        render_size: tuple[int, int] = PICTURE_SIZE,
        **options: Any,
    ) -> None:
        self._text = TextOptions.taken_from(options)
        super().__init__(render_mode, reward, render_size, **options)
        self._action_spaces: dict[str, Any] = {agent: _answer_space() for agent in self.possible_agents}

    def _info_of(self, agent: str) -> dict[str, Any]:
        return self._told_to(self._seat[agent], bool(self._mask_of(agent).any()))

    def step(self, action: Any) -> None:
        """Reads an answer of the selected agent, and plays the move that it names.

        Raises:
            AssertionError: `reset` was not called.
            ValueError: the agent is dead, but its answer is not None; or the answer is not a text. Nothing is changed.
            IllegalMove: as for `EuphoriaTextEnv.step`; nothing is changed.
        """
        self._check_begun()
        agent = self.agent_selection
        if not self.agents or self.terminations[agent] or self.truncations[agent]:
            super().step(action)
            return
        self._stepped = True
        move = self._action(action)
        if move is None:
            self._cumulative_rewards[agent], self.rewards = 0.0, self._no_rewards.copy()
            self._select()
        elif move == _LOST:
            self._forfeit()
        else:
            super().step(move)


def _answer_space() -> spaces.Text:
    """Returns the space of answers. Its bounds are for sampling: longer answers and other characters are read too."""
    return spaces.Text(_LONGEST_SAMPLE, min_length=0, charset=_CHARACTERS)
