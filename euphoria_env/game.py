"""One game, readable: what `chess.Board` is to chess. A facade over one row of the state array; it adds no rules."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any, NamedTuple, Self

import numpy as np

from euphoria_env import actions, events, pending, position, record
from euphoria_env.board import ARTIFACTS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decisions import DECISIONS
from euphoria_env.engine import chance, determinize, loop, observe, tape
from euphoria_env.engine.state import GAME_DTYPE, HELD, OUT_BY, OVER, TRUNCATED, copy_rows
from euphoria_env.event_kinds import EVENT_SIZE, KIND_ROWS, EventKind
from euphoria_env.events import Event
from euphoria_env.json_reader import as_key, shown
from euphoria_env.observations import OBS_SIZE
from euphoria_env.prompts import prompt
from euphoria_env.record import Outcome
from euphoria_env.render import board_svg, board_text
from euphoria_env.rules import Rules, read_rules, write_rules

_EVENTS = 1024  # for which a tape has room; far more than one move makes
_EVENTS_KEPT = 256  # on the tape, at most, when a move begins
_EVENTS_OF_LOADED = 4  # to which a loaded outcome leads, at most
_OUTCOME_KINDS = np.array([bool(row.outcome) for row in KIND_ROWS.values()])
_ASKS = np.isin(np.arange(len(KIND_ROWS)), [EventKind.TURN, EventKind.ASKED])
_OUTCOME_OF = [row.outcome for row in KIND_ROWS.values()]
# Names of the outcomes of each kind; numbers for dice and lots.
_OUTCOME_NAMES: dict[str, tuple[str, ...]] = {
    "artifacts": ARTIFACTS,
    "recruits": RECRUIT_NAMES,
    "markets": TILES,
    "dilemmas": ARTIFACTS,
}


class Decided(NamedTuple):
    """A decision that was made.

    Attributes:
        player: the player who decided.
        action: the move, as an action id.
        first: the number of its first event in `Game.events`.
        end: the number after its last event.
    """

    player: int
    action: int
    first: int
    end: int


class IllegalMove(ValueError):
    """A move that is not legal now; the message names it and the legal ones."""


def _plain(load: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Outcomes as JSON can hold them."""
    return {kind: [value if isinstance(value, str) else int(value) for value in values] for kind, values in load.items()}


def seed_row(row: np.void, seed: int) -> None:
    """Seeds the generator of a row from one integer."""
    chance.seed_rng(row["rng"], seed, 0, 0)


class Game:
    """One game of Euphoria.

    Args:
        rules: the options; the default is a plain game of 4 players.
        seed: an integer; equal seeds give equal games on every machine. None: a random one.
        load: the next random outcomes by kind, as for `load`; they serve the setup too.

    Raises:
        ValueError: a seed that is not an integer, or an impossible outcome.
    """

    def __init__(
        self, rules: Rules | None = None, seed: int | None = None, load: Mapping[str, Sequence[Any]] | None = None
    ) -> None:
        rules = Rules() if rules is None else rules
        if not isinstance(rules, Rules):
            raise ValueError(f"rules must be a Rules, not {shown(rules)}")
        seed = random.getrandbits(63) if seed is None else position.read_seed(seed)
        rows = np.zeros(1, GAME_DTYPE)
        write_rules(rows[0], rules)
        start: dict[str, Any] = {"rules": rules.to_dict(), "seed": seed}
        self._attach(rows, start)
        if load is not None:
            self._load(load)
            start["load"] = _plain(load)
            self._lay_out()
        loop.new_game(self._rows, 0, seed, 0, 0, self._tape)
        self._refuse_impossible_outcome()
        self._setup_events = self._number_of_events()

    def _attach(self, rows: np.ndarray, start: dict[str, Any] | np.ndarray) -> None:
        self._rows = rows
        self._tape = tape.empty_tape(_EVENTS)
        self._loaded = False  # whether outcomes may be waiting on the tape
        self._to_lay_out: dict[str, list[int]] | None = None  # all that wait, if not all of it is on the tape yet
        self._start = start  # of line 1 of the record: what it says, or the rows it began with
        self._events: list[np.ndarray] = [np.zeros((0, EVENT_SIZE), np.int32)]  # drained from the tape
        self._drained = 0  # how many
        self._outcomes: list[Outcome] = []  # those of chance among them
        self._moves: list[int] = []
        self._marks: list[int] = []  # how many events there were after each move
        self._loads: list[tuple[int, dict[str, list[Any]]]] = []  # (after how many moves, what)
        self._setup_events = 0

    @property
    def _row(self) -> np.void:
        """The row, as a view; not kept, so that copies and pickles of the game are whole."""
        return self._rows[0]

    # ------------------------------------------------------------------------------------------------------- the decision

    @property
    def rules(self) -> Rules:
        """The options of this game."""
        return read_rules(self._row)

    @property
    def player(self) -> int:
        """The player who must decide now, 0 to n - 1; keeps its last value after the end."""
        return int(self._row["player"])

    @property
    def prompt(self) -> str:
        """The decision that is due, in a few words."""
        return prompt(self._row)

    @property
    def deciding(self) -> str:
        """The kind of decision, one of `decisions.DECISIONS`; "nothing" after the end."""
        return DECISIONS[self._row["ask"]]

    def legal(self) -> list[str]:
        """The legal moves in notation, in the order of their action ids; empty after the end."""
        return [actions.NAMES[action] for action in self.legal_actions()]

    def legal_actions(self) -> np.ndarray:
        """The legal moves as action ids, ascending; int64, shape (moves,)."""
        return np.flatnonzero(self.mask())

    def mask(self) -> np.ndarray:
        """The legal moves as a fresh bool array, shape (NUM_ACTIONS,)."""
        mask = np.empty(actions.NUM_ACTIONS, np.bool_)
        observe.write_mask(self._rows, 0, mask)
        return mask

    def play(self, move: str | int) -> None:
        """Plays a move, in notation or as an action id.

        Raises:
            IllegalMove: the move is not legal now, or no move at all; nothing is changed.
            ValueError: a loaded outcome is impossible; nothing is changed.
        """
        action = self._action(move)
        self._lay_out()
        saved = self._save() if self._has_loaded() else None
        if not loop.step(self._rows, 0, action, self._tape):
            raise IllegalMove(self._why_illegal(action))
        if saved is not None:
            self._refuse_impossible_outcome(saved)
        self._moves.append(action)
        self._marks.append(self._number_of_events())
        if self._tape[tape.TAPE_EVENTS] > _EVENTS_KEPT:
            self._drain()

    def _action(self, move: Any) -> int:
        """The id of a move, which need not be legal."""
        try:
            return actions.parse(move) if isinstance(move, str) else actions.number(move)
        except ValueError as error:
            raise IllegalMove(f"{error}; legal are {', '.join(self.legal()) or 'none, the game has ended'}") from None

    def _why_illegal(self, action: int) -> str:
        name = actions.NAMES[action]
        if self._row["status"] >= OVER:
            return f"{name!r}: the game has ended, nobody has a move"
        return f"{name!r} is illegal: player {self.player} must {self.prompt}; legal are {', '.join(self.legal())}"

    # --------------------------------------------------------------------------------------------------------- the result

    @property
    def turn(self) -> int:
        """Turns begun so far; 0 during setup."""
        return int(self._row["turn"])

    @property
    def over(self) -> bool:
        """Whether somebody has won; False when truncated."""
        return bool(self._row["status"] == OVER)

    @property
    def truncated(self) -> bool:
        """Whether the game was cut off after `max_turns` (R16.4)."""
        return bool(self._row["status"] == TRUNCATED)

    @property
    def winner(self) -> int | None:
        """The winner; None unless over."""
        return int(self._row["winner"]) if self.over else None

    @property
    def ranking(self) -> list[int] | None:
        """The rank of each player, 1 best, equal ones shared (R16.3); None before the end."""
        if self._row["status"] < OVER:
            return None
        return [int(rank) for rank in self._row["ranking"][: self._row["num_players"]]]

    @property
    def states(self) -> np.ndarray:
        """The state itself, (1,) and typed as `Batch.states`, for compiled code that searches; it can only be read."""
        rows = self._rows.view()
        rows.flags.writeable = False
        return rows

    # ------------------------------------------------------------------------------------------------- copies, observation

    def clone(self) -> Self:
        """An exact copy, history included."""
        self._lay_out()
        other = object.__new__(type(self))
        other._attach(copy_rows(self._rows), self._start)
        other._tape, other._loaded = self._tape.copy(), self._loaded
        other._events, other._outcomes, other._drained = self._events.copy(), self._outcomes.copy(), self._drained
        other._moves, other._marks, other._loads = self._moves.copy(), self._marks.copy(), self._loads.copy()
        other._setup_events = self._setup_events
        return other

    __copy__ = clone

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self._row.tobytes() == other._row.tobytes() and self._waiting() == other._waiting()

    __hash__ = None  # type: ignore[assignment]

    def fingerprint(self) -> str:
        """A hex string of rules, state, generator and loaded outcomes; equal on every machine."""
        digest = hashlib.blake2b(pending.portable_bytes(self._row), digest_size=16)
        digest.update(repr(sorted(self._waiting().items())).encode())
        return digest.hexdigest()

    def determinize(self, player: int, seed: int) -> Game:
        """A copy in which all that `player` cannot know (R19) is dealt again at random, consistently with what the player sees.

        The copy has no loaded outcomes and a generator seeded from `seed`; its history starts there. With equal seeds it is the
        same for all games that differ only in what the player cannot know.

        Raises:
            ValueError: no such player, or a seed that is not an integer.
        """
        self._check_player(player)
        seed = position.read_seed(seed)
        rows = copy_rows(self._rows)
        determinize.deal_hidden(rows, 0, int(player), seed)
        return Game.taking(rows)

    def observation(self, player: int) -> np.ndarray:
        """The observation of a player: a fresh int8 array of shape (OBS_SIZE,); see `observations.table`.

        Raises:
            ValueError: no such player.
        """
        self._check_player(player)
        observation = np.empty(OBS_SIZE, np.int8)
        observe.write_observation(self._rows, 0, int(player), observation)
        return observation

    def _check_player(self, player: int) -> None:
        n = int(self._row["num_players"])
        if isinstance(player, bool) or not isinstance(player, int | np.integer) or not 0 <= player < n:
            raise ValueError(f"player must be an integer from 0 to {n - 1}, not {player!r}")

    @classmethod
    def from_rows(cls, rows: np.ndarray) -> Self:
        """A game from an array of one row, (1,) and typed as `states`, which is copied; its history starts there.

        Raises:
            TypeError: not an array of that type.
            ValueError: not one row, or one of no possible game.
        """
        if not isinstance(rows, np.ndarray) or rows.dtype != GAME_DTYPE:
            raise TypeError(f"rows must be an array typed as `Game.states`, not {getattr(rows, 'dtype', shown(rows))}")
        if rows.shape != (1,):
            raise ValueError(f"rows must be of shape (1,), not {rows.shape}")
        game = cls.taking(copy_rows(np.ascontiguousarray(rows)))
        try:
            possible = Game.from_dict(game.to_dict()) == game
        except Exception as error:  # random bytes can fail anywhere
            raise ValueError(f"rows hold no possible game: {type(error).__name__}: {error}") from error
        if not possible:
            raise ValueError("rows hold no possible game")
        return game

    @classmethod
    def taking(cls, rows: np.ndarray) -> Self:
        """The same without a copy or a check, and much faster: for rows that the engine has filled, and nobody else keeps."""
        game = object.__new__(cls)
        game._attach(rows, copy_rows(rows))
        return game

    # ------------------------------------------------------------------------------------------------------------- chance

    def load(self, /, **outcomes: Sequence[Any]) -> None:
        """Appends to the next random outcomes, by kind: dice, artifacts, recruits, markets, dilemmas, lots.

        Raises:
            ValueError: an unknown kind, an impossible value, or a card that somebody holds; nothing is loaded.
        """
        self._load(outcomes)
        self._loads.append((len(self._moves), _plain(outcomes)))

    def _load(self, outcomes: Mapping[str, Sequence[Any]]) -> None:
        if not isinstance(outcomes, Mapping):
            raise ValueError(f"load must be an object of lists by kind, not {shown(outcomes)}")
        waiting, more = self._waiting(), dict[str, list[int]]()
        for kind, values in outcomes.items():
            if kind not in tape.KINDS:
                raise ValueError(f"load.{as_key(kind)}: no such kind; allowed are {', '.join(tape.KINDS)}")
            if isinstance(values, str) or not isinstance(values, Sequence):
                raise ValueError(f"load.{kind} must be a list, not {shown(values)}")
            queue, new = waiting.get(kind, []), more.setdefault(kind, [])
            for k, value in enumerate(values):
                number = self._outcome_number(f"load.{kind}[{k}]", kind, value)
                self._refuse_held(f"load.{kind}[{k}]", kind, number, queue, new)
                new.append(number)
        for kind, new in more.items():
            if new:
                waiting.setdefault(kind, []).extend(new)
        self._to_lay_out = waiting

    def _outcome_number(self, key: str, kind: str, value: Any) -> int:
        if kind in _OUTCOME_NAMES:
            names = _OUTCOME_NAMES[kind]
            if value not in names:
                raise ValueError(f"{key}: {shown(value)} is not one of {', '.join(names)}")
            return names.index(value)
        low, high = (1, 6) if kind == "dice" else (0, int(self._row["num_players"]) - 1)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
            raise ValueError(f"{key} must be an integer from {low} to {high}, not {shown(value)}")
        return int(value)

    def _refuse_held(self, key: str, kind: str, card: int, *queues: list[int]) -> None:
        """A card that somebody holds, or that will have been drawn by then, cannot be drawn."""
        name = _OUTCOME_NAMES.get(kind, ())[card] if kind in _OUTCOME_NAMES else str(card)
        begun = self._row["open_spaces"] != 0  # 0 before the setup
        if kind == "recruits":
            if int(self._row["absent_recruits"]) >> card & 1:
                raise ValueError(f"{key}: {name} is not in the game (rules.recruits)")
            if HELD <= self._row["recruit_place"][card] < OUT_BY:
                raise ValueError(f"{key}: {name} is held by a player")
            if any(card in queue for queue in queues):
                raise ValueError(f"{key}: {name} is loaded twice")
        elif kind == "markets":
            if int(self._row["absent_markets"]) >> card & 1:
                raise ValueError(f"{key}: {name} is not in the game (rules.markets)")
            if begun and card in self._row["tile"]:
                raise ValueError(f"{key}: {name} is on the board")
            if sum(queue.count(card) for queue in queues) > int(self._row["market_draft"]):
                raise ValueError(f"{key}: {name} is loaded twice")
        elif kind == "dilemmas":
            if begun and card in self._row["dilemma"][: self._row["num_players"]]:
                raise ValueError(f"{key}: the dilemma of the {name} is held by a player")
            if any(card in queue for queue in queues):
                raise ValueError(f"{key}: {name} is loaded twice")

    def _waiting(self) -> dict[str, list[int]]:
        """The loaded outcomes not yet drawn, by kind; to be changed by nobody but `_load`."""
        if self._to_lay_out is not None:
            return self._to_lay_out
        waiting = {}
        for k, kind in enumerate(tape.KINDS):
            queue = self._tape[self._tape[k] : self._tape[tape.TAPE_END + k]]
            if len(queue):
                waiting[kind] = [int(x) for x in queue]
        return waiting

    def _has_loaded(self) -> bool:
        if self._loaded:
            queues = self._tape[: tape.TAPE_ERROR].reshape(2, len(tape.KINDS))
            self._loaded = bool((queues[0] < queues[1]).any())
        return self._loaded

    def _lay_out(self) -> None:
        """Lays out the tape again if outcomes were loaded that are not on it; events on it are drained first."""
        if self._to_lay_out is None:
            return
        waiting, self._to_lay_out = self._to_lay_out, None
        self._drain()
        queues = [waiting.get(kind, []) for kind in tape.KINDS]
        interrupted = self._tape[tape.TAPE_INTERRUPTED]
        self._tape = tape.empty_tape(_EVENTS + _EVENTS_OF_LOADED * sum(map(len, queues)), queues)  # one move may draw them all
        self._tape[tape.TAPE_INTERRUPTED] = interrupted
        self._loaded = True

    def _drain(self) -> None:
        """Takes the events off the tape, and finds the outcomes of chance among them."""
        first, n = int(self._tape[tape.TAPE_FIRST]), int(self._tape[tape.TAPE_EVENTS])
        if n == 0:
            return
        noted = self._tape[first : first + EVENT_SIZE * n].reshape(n, EVENT_SIZE).copy()
        self._tape[tape.TAPE_NEXT], self._tape[tape.TAPE_EVENTS] = first, 0
        self._events.append(noted)
        self._drained += n
        for kind, _, value, _ in noted[_OUTCOME_KINDS[noted[:, 0]]].tolist():
            name = _OUTCOME_OF[kind]
            self._outcomes.append((name, _OUTCOME_NAMES[name][value] if name in _OUTCOME_NAMES else value))

    def _number_of_events(self) -> int:
        return self._drained + int(self._tape[tape.TAPE_EVENTS])

    def _all_events(self) -> np.ndarray:
        """All events, (n, EVENT_SIZE)."""
        self._drain()
        if len(self._events) > 1:
            self._events = [np.concatenate(self._events)]
        return self._events[0]

    def _save(self) -> tuple[np.ndarray, np.ndarray]:
        return copy_rows(self._rows), self._tape.copy()

    def _refuse_impossible_outcome(self, saved: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """Takes a step back if it drew a loaded outcome that is impossible."""
        kind = int(self._tape[tape.TAPE_ERROR]) - 1
        if kind < 0:
            return
        name = tape.KINDS[kind]
        at = int(self._tape[kind]) - 1
        value = int(self._tape[at])
        outcome = _OUTCOME_NAMES[name][value] if name in _OUTCOME_NAMES else value
        if saved is not None:
            self._rows[:], self._tape = saved[0], saved[1]
        where = {"artifacts": "is not in the deck", "lots": "is not among the tied players"}.get(name, "cannot be drawn")
        raise ValueError(f"the loaded outcome {name} {outcome!r} {where}")

    @property
    def outcomes(self) -> list[Outcome]:
        """Everything drawn so far, in order, such as `[("dice", 3), ("artifacts", "book")]`."""
        self._drain()
        return self._outcomes.copy()

    @property
    def events(self) -> list[Event]:
        """Everything that has happened since the start of the game, in order, what is hidden too (docs/events.md)."""
        return [*starmap(Event, self._all_events().tolist())]

    def events_for(self, player: int | None) -> list[Event]:
        """The same as a player may see it (R19), with -1 in place of what is hidden; None: as everybody may.

        Raises:
            ValueError: no such player.
        """
        return [*starmap(Event, self.event_array(player).tolist())]

    def event_array(self, player: int | None) -> np.ndarray:
        """The same as an int32 array, (n, EVENT_SIZE).

        Raises:
            ValueError: no such player.
        """
        if player is not None:
            self._check_player(player)
        return events.without_secrets(self._all_events(), player)

    def decided(self, since: int = 0) -> list[Decided]:
        """The decisions from number `since` on; the first is 0. The events before decision 0 belong to none.

        Raises:
            ValueError: not an integer from 0 on.
        """
        if isinstance(since, bool) or not isinstance(since, int | np.integer) or since < 0:
            raise ValueError(f"since must be an integer from 0 on, not {shown(since)}")
        noted = self._all_events()
        asked = np.flatnonzero(_ASKS[noted[:, 0]])  # nobody decides who was not asked
        start = self._start[0] if isinstance(self._start, np.ndarray) else self._start.get("position", {"player": 0})
        players = np.append(start["player"], noted[asked, 1])
        marks = [self._setup_events, *self._marks][since:]
        of = players[np.searchsorted(asked, marks)].tolist()
        return [Decided(of[k], action, *marks[k : k + 2]) for k, action in enumerate(self._moves[since:])]

    # -------------------------------------------------------------------------------------------------- positions, records

    def to_dict(self) -> dict[str, Any]:
        """The complete position as JSON: `Game.from_dict(game.to_dict()) == game`."""
        d = position.to_dict(self._row)
        d["load"] = {
            kind: [_OUTCOME_NAMES[kind][x] if kind in _OUTCOME_NAMES else x for x in queue]
            for kind, queue in self._waiting().items()
        }
        return d

    @classmethod
    def from_dict(cls, d: Any) -> Self:
        """A game from a position, complete or partial; what is left out is as right after setup.

        Raises:
            ValueError: something unknown or impossible; the message names the key.
        """
        rows = np.zeros(1, GAME_DTYPE)
        position.from_dict(d, rows[0], seed_row)
        game = object.__new__(cls)
        game._attach(rows, {})
        if d.get("load") is not None:
            game._load(d["load"])
        game._lay_out()
        loop.resume(rows, 0, game._tape)
        if d.get("pending") is not None:
            pending.check_answers(rows[0])
        game._start = {"position": game.to_dict()}
        return game

    @property
    def history(self) -> list[str]:
        """The decisions so far, as the lines of a record."""
        drawn = np.flatnonzero(_OUTCOME_KINDS[self._all_events()[:, 0]])
        first, *marks = np.searchsorted(drawn, [self._setup_events, *self._marks]).tolist()
        return record.decision_lines(self._moves, marks, first, self._outcomes)

    def to_record(self) -> str:
        """The whole game as text, replayable to the identical final state on any machine (docs/positions.md)."""
        start = {"position": position.to_dict(self._start[0])} if isinstance(self._start, np.ndarray) else self._start
        of_setup = np.count_nonzero(_OUTCOME_KINDS[self._all_events()[: self._setup_events, 0]])
        return record.format_record(start, self._outcomes[:of_setup], self.history, self._loads, self.fingerprint())

    @classmethod
    def from_record(cls, text: str) -> Self:
        """Replays a record.

        Raises:
            ValueError: the text is not a record, or a line does not replay as written; names the line.
        """
        for game, _ in record.replayed(text, cls):
            end = game
        return end

    # ---------------------------------------------------------------------------------------------------------- pictures

    def __str__(self) -> str:
        """The board as text."""
        return board_text(self)

    def __repr__(self) -> str:
        return f"<Game of {self._row['num_players']}, turn {self.turn}: player {self.player} must {self.prompt}>"

    def _repr_svg_(self) -> str:
        """The board as a picture."""
        return board_svg(self)
