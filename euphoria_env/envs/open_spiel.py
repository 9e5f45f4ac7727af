"""The game for OpenSpiel: importing this module registers `python_euphoria` for `pyspiel.load_game`.

Chance is sampled: a chance node has `chance_samples` equally likely outcomes, each a random sample of all that dice and decks
give next. The deal takes three such nodes; later one follows each move that draws something. Samples depend only on `rng_seed`
and the outcomes before, so that a history always leads to the same state.

With `chance_samples=1` the chance mode is `SAMPLED_STOCHASTIC`: every game draws a new seed from a generator of the game object.
OpenSpiel cannot serialise such a game if it is written in Python ("GetRNGState unimplemented"), only its states.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pyspiel

from euphoria_env.actions import NAMES, NUM_ACTIONS
from euphoria_env.board import STARS
from euphoria_env.engine import observe
from euphoria_env.engine.rewards import Reward, fill_named, reward_number
from euphoria_env.engine.state import OVER, copy_rows
from euphoria_env.engine.tape import TAPE_EVENTS, TAPE_HEADER, empty_tape
from euphoria_env.envs.arguments import game_from
from euphoria_env.event_kinds import EVENT_SIZE, KINDS, number_of_events
from euphoria_env.events import without_secrets
from euphoria_env.game import Game
from euphoria_env.json_reader import read_integer
from euphoria_env.observations import FIELDS, OBS_SIZE
from euphoria_env.position import can_be_stated
from euphoria_env.rules import OPTIONS, Rules

_DEAL_NODES = 3  # 64 samples make 64 ** 3 deals
_DECISIONS_A_TURN = 100  # a generous bound for all players together; for an offer too
_LONGEST = 2**29  # OpenSpiel adds chance nodes to decisions, in 32 bits
_PARAMETERS: dict[str, Any] = {
    **{name: "" if option.kind is tuple else getattr(Rules(), name) for name, option in OPTIONS.items() if name != "num_players"},
    **{"players": Rules().num_players, "reward": "win", "events": 32, "chance_samples": 64, "rng_seed": 0},
}


def _game_type(sampled: bool = False, only_final: bool = True) -> pyspiel.GameType:
    kinds = pyspiel.GameType
    return kinds(
        short_name="python_euphoria",
        long_name="Euphoria: Build a Better Dystopia",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.SAMPLED_STOCHASTIC if sampled else kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.TERMINAL if only_final else kinds.RewardModel.REWARDS,
        max_num_players=OPTIONS["num_players"].high,
        min_num_players=OPTIONS["num_players"].low,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_PARAMETERS,
    )


class EuphoriaGame(pyspiel.Game):
    """The game `python_euphoria`; `pyspiel.load_game` takes its parameters by name.

    Args:
        players: their number, 2 to 6.
        recruits, markets: names of cards with blanks between them, "" for all.
        **rules: the other fields of `Rules`.
        reward: "win", "rank" or "stars" (docs/environment.md); with "stars" rewards come during the game.
        events: K, the number of the last events in the tensor of the information state.
        chance_samples: the number of outcomes of a chance node, 1 to 65,536.
        rng_seed: the seed of these samples, an integer of 32 bits.

    Raises:
        ValueError: the value of a parameter is not allowed.
        pyspiel.SpielError: a parameter is unknown, or its value is of another type.

    The observation is that of all environments, (OBS_SIZE,). The tensor of the information state adds the last K events as the
    player saw them, (K, EVENT_SIZE); its string has all events and the player's own moves, which is perfect recall. The string of
    a state shows everything, hidden cards included, as JSON. Whatever unpickles or deserialises states must trust their origin.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = _PARAMETERS | (params or {})
        options = {name: given["players" if name == "num_players" else name] for name in OPTIONS}
        self.rules = Rules.from_dict({name: v.split() or None if isinstance(v, str) else v for name, v in options.items()})
        self.reward = reward_number(given["reward"])
        self.events = number_of_events(given["events"])
        samples, self._seed = read_integer("chance_samples", given["chance_samples"], 1, 2**16), given["rng_seed"]
        self._generator = np.random.default_rng(self._seed % 2**32) if samples == 1 else None
        only_final = self.reward != Reward.STARS
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=samples,
            num_players=self.rules.num_players,
            min_utility=-1.0 if only_final else -STARS,
            max_utility=1.0 if only_final else STARS,
            utility_sum=0.0,
            max_game_length=min(_DECISIONS_A_TURN * (1 + given["trades_per_turn"]) * (1 + given["max_turns"]), _LONGEST),
        )
        super().__init__(_game_type(samples == 1, only_final), info, params or {})

    def first_seed(self) -> int:
        """Returns the seed of the samples of a game: `rng_seed`, or a new one at each call if the game is sampled stochastic."""
        return int(self._generator.integers(2**56)) if self._generator else int(self._seed)

    def max_chance_nodes_in_history(self) -> int:
        """Returns the most chance nodes in a game."""
        return int(_DEAL_NODES + self.max_game_length())

    def new_initial_state(self, position: Any = None) -> _State:
        """Returns the start of a game, or a position (docs/positions.md) given as a dict or as JSON.

        Raises:
            ValueError: the position is impossible, or has other rules.
        """
        return _State(self, json.loads(position) if isinstance(position, str) else position)

    def make_py_observer(self, kind: Any = None, params: dict[str, Any] | None = None) -> _Observer | None:
        """Returns an observer of all that one player knows, now or with perfect recall; None for other kinds of observer."""
        if params:
            raise ValueError(f"observers have no parameters, not {params}")
        kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        known = kind.public_info and kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        return _Observer(kind.perfect_recall, self.events * kind.perfect_recall) if known else None


class _State(pyspiel.State):
    def __init__(self, game: EuphoriaGame, position: Any) -> None:
        super().__init__(game)
        self.rows: Any = None  # before the deal
        self._begun: Any = None  # the position, or the rows, at the beginning of the turn
        self._since: list[str] = []  # what was played since, as in a position
        if position is not None:
            start = game_from(position, game.rules, 0, "position")
            self.rows, self._begun = copy_rows(start.states), start.to_dict()
            self._since = self._begun.pop("since", [])
        self.log = np.zeros((0, EVENT_SIZE), np.int8)  # all events, with secrets
        self._move: int | None = None  # waits for chance
        self._seed: int | None = None  # of the next samples; None before the first chance node
        self._rewards = self._returns = np.zeros(game.num_players())

    def current_player(self) -> int:
        if self.rows is None or self._move is not None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL if self.is_terminal() else self.rows["player"][0])

    def is_terminal(self) -> bool:
        return self.rows is not None and bool(self.rows["status"][0] >= OVER)

    def _legal_actions(self, player: int) -> list[int]:
        mask = np.empty(NUM_ACTIONS, np.bool_)
        observe.write_mask(self.rows, 0, mask)
        return mask.nonzero()[0].tolist()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        samples = self.get_game().max_chance_outcomes()
        return [(outcome, 1 / samples) for outcome in range(samples)]

    def _action_to_string(self, player: int, action: int) -> str:
        return f"sample {action}" if player == pyspiel.PlayerId.CHANCE else NAMES[action]

    def _apply_action(self, action: int) -> None:
        if not self.is_chance_node():
            self._play(action)
            return
        game = self.get_game()
        before = game.first_seed() if self._seed is None else self._seed
        self._seed = int.from_bytes(hashlib.blake2b(f"{before} {action}".encode(), digest_size=7).digest(), "little")
        if self._move is not None:
            self._play(self._move, self._seed)
        elif self.move_number() == _DEAL_NODES - 1:
            dealt = Game(game.rules, self._seed)
            self._begun = dealt.to_dict()
            self._settle(dealt)

    def _play(self, move: int, seed: int | None = None) -> None:
        """Plays a move; without a seed, one that draws something is only kept, to be played when chance has given a seed."""
        game, line = Game.taking(copy_rows(self.rows)), [NAMES[move]]
        if seed is not None:
            game.reseed(seed)
            line = [f"seed {seed}", *line]
        game.play(move)
        if seed is None and (game.states["rng"] != self.rows["rng"]).any():
            self._move, self._rewards = move, np.zeros_like(self._rewards)
        else:
            self._settle(game, line)

    def _settle(self, game: Game, lines: Sequence[str] = ()) -> None:
        """Takes over a game that was dealt, or in which a move was played, in these lines of a position."""
        rewards = np.zeros_like(self._rewards)
        if self.rows is not None:
            fill_named(game.states[0], self.get_game().reward, self.rows["stars"][0], rewards)
        self.rows, self._move = copy_rows(game.states), None
        opens = can_be_stated(self.rows[0])
        self._begun, self._since = (self.rows, []) if opens else (self._begun, [*self._since, *lines])
        self._rewards, self._returns = rewards, self._returns + rewards
        self.log = np.concatenate([self.log, np.array(game.events, np.int8).reshape(-1, EVENT_SIZE)])

    def rewards(self) -> list[float]:
        return self._rewards.tolist()

    def returns(self) -> list[float]:
        return self._returns.tolist()

    def __str__(self) -> str:
        move = None if self._move is None else NAMES[self._move]
        return json.dumps({"position": self._position(), "move": move, "seed": self._seed})

    def _position(self) -> Any:
        """Returns the position; in the middle of a turn in which cards were dealt again, only what can be read of it."""
        if not isinstance(self._begun, np.ndarray):
            return self._begun and self._begun | {"since": self._since}
        begun = Game.taking(copy_rows(self._begun))
        known = can_be_stated(self._begun[0])
        return begun.to_dict() | {"since": self._since} if known else Game.taking(copy_rows(self.rows)).describe()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.clone()

    def resample_from_infostate(self, player: int, sampler: Any) -> Self:
        """Returns a copy with all dealt again that a player cannot know. OpenSpiel's `ISMCTSBot` calls it where they decide."""
        other, seed = self.clone(), int(sampler() * 2**52)
        other.rows = other._begun = copy_rows(Game.taking(copy_rows(self.rows)).determinize(player, seed).states)
        other._since = []
        other.log, other._seed = without_secrets(self.log, player), seed
        return other


class _Observer:
    """Observes for one player, as OpenSpiel asks for it: in `tensor`, whose parts are in `dict`, and as a string."""

    def __init__(self, recall: bool, events: int) -> None:
        self._recall, self._tape = recall, empty_tape(events)
        self._seen, self._events = np.zeros(OBS_SIZE, np.int8), np.zeros((events, EVENT_SIZE), np.int8)
        self.tensor = np.zeros(OBS_SIZE + self._events.size, np.float32)
        self.dict = {"observation": self.tensor[:OBS_SIZE]}
        if events:
            self.dict["events"] = self.tensor[OBS_SIZE:].reshape(events, EVENT_SIZE)

    def _observe(self, state: _State, player: int) -> None:
        self._seen[:] = 0
        if state.rows is not None:
            observe.write_observation(state.rows, 0, player, self._seen)

    def set_from(self, state: _State, player: int) -> None:
        self._observe(state, player)
        self.dict["observation"][:] = self._seen
        if "events" in self.dict:
            last = state.log[-len(self._events) :]
            self._tape[TAPE_HEADER : TAPE_HEADER + last.size] = last.ravel()
            self._tape[TAPE_EVENTS] = len(last)
            observe.write_events(self._tape, player, state.num_players(), self._events)
            self.dict["events"][:] = self._events

    def string_from(self, state: _State, player: int) -> str:
        self._observe(state, player)
        parts = ((field.name, self._seen[field.slice].tolist()) for field in FIELDS)
        now = ", ".join(f"{name} {' '.join(map(str, values))}" for name, values in parts if any(values))
        if not self._recall:
            return now
        moves = ", ".join(NAMES[one.action] for one in state.full_history() if one.player == player)
        seen = without_secrets(state.log, player).tolist()
        events = ", ".join(f"{KINDS[kind]} {who} {a} {b}" for kind, who, a, b in seen)
        return f"player {player}\nmoves: {moves}\nevents: {events}\nnow: {now}"


pyspiel.register_game(_game_type(), EuphoriaGame)
