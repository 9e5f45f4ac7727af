"""One game with a readable interface, like `chess.Board` for chess: a facade over one row of the state array, without rules."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any, Self

import numpy as np

from euphoria_env import actions, chance_tree, events, foreign_rows, position, record
from euphoria_env.decisions import DECISIONS, Decision
from euphoria_env.engine import chance, determinize, features, loop, observe
from euphoria_env.engine.state import GAME_DTYPE, OVER, TRUNCATED, copy_rows
from euphoria_env.event_kinds import EVENT_SIZE, number_of_events
from euphoria_env.events import Decided, Event
from euphoria_env.game_log import IS_OUTCOME, GameLog, Waiting, outcomes_by_name, plain_outcomes, queues_of
from euphoria_env.json_reader import read_integer, read_seed, shown
from euphoria_env.observations import OBS_SIZE
from euphoria_env.record import Outcome
from euphoria_env.rules import Rules, read_rules, write_rules

_NO_BEGINNING = "this game was taken from its state in the middle of a turn, and does not know how the turn began"


class IllegalMove(ValueError):
    """A move that is not legal now; the message names it and the legal ones."""


# How a turn, or the setup, began: the bytes of the row, the loaded outcomes by kind, and the numbers of moves and loads before.
# It is a plain tuple, since every turn makes one.
Opening = tuple[bytes, Waiting, int, int]
_ASK, _OPEN = GAME_DTYPE.fields["ask"][1], int(Decision.OPEN)  # type: ignore[index]  # where a row says what is asked


def seed_row(row: np.void, seed: int) -> None:
    """Seeds the generator of a row."""
    chance.seed_rng(row["rng"], seed, 0, 0)


class Game:
    """One game of Euphoria.

    Args:
        rules: the options; the default is a plain game of 4 players.
        seed: an integer, None for a random one; equal seeds give equal games on every machine.
        load: the next random outcomes by kind, as for the method `load`; the setup draws them too.

    Raises:
        ValueError: the seed is not an integer, or an outcome is impossible.
    """

    def __init__(
        self, rules: Rules | None = None, seed: int | None = None, load: Mapping[str, Sequence[Any]] | None = None
    ) -> None:
        rules = Rules() if rules is None else rules
        if not isinstance(rules, Rules):
            raise ValueError(f"rules must be a Rules, not {shown(rules)}")
        seed = random.SystemRandom().getrandbits(63) if seed is None else read_seed(seed)
        rows = np.zeros(1, GAME_DTYPE)
        write_rules(rows[0], rules)
        self._attach(rows, load)
        self._begin(seed)
        self._header = {"rules": rules.to_dict(), "seed": seed} | ({} if load is None else {"load": plain_outcomes(load)})

    _header: dict[str, Any] | None = None  # line 1 of the record of a game that began with its setup
    story: Any = None  # what the player of a game that was dealt to an agent has seen (`agent_protocol.Story`); None elsewhere

    def _begin(self, seed: int | None = None) -> None:
        """Begins the setup or the turn of the row; `seed`: that of a new game."""
        tape = self._log.begin()
        if seed is None:
            loop.resume(self._rows, 0, tape)
        else:
            loop.new_game(self._rows, 0, seed, 0, 0, tape)
        self._marks = [self._log.finish(tape)]

    def _attach(self, rows: np.ndarray, load: Any = None) -> None:
        self._rows = rows
        self._log = GameLog()
        if load is not None:
            self._log.load(self._row, load)
        self._moves: list[int] = []
        self._marks = [0]  # the number of events after the setup, then after each move
        self._loads: list[record.Load] = []
        self._start = self._opening = self._present()  # how the game began, and the turn (or setup) under way

    def _present(self) -> Opening:
        return self._rows.tobytes(), self._log.waiting, len(self._moves), len(self._loads)

    @property
    def _row(self) -> np.void:
        """A view of the row. It is made at each access, since copies and pickles of the game must not hold a view."""
        return self._rows[0]

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
        """The decision that the player must make, in a few words."""
        from euphoria_env.decision_prompts import prompt  # late: what texts say is no part of compiled code

        return str(prompt(self._row))

    @property
    def deciding(self) -> str:
        """The kind of decision, one of `decisions.DECISIONS`; "nothing" after the end."""
        return DECISIONS[self._row["ask"]]

    def legal(self) -> list[str]:
        """Returns the legal moves in notation, in the order of their action ids; empty after the end."""
        return [actions.NAMES[action] for action in self.legal_actions()]

    def legal_actions(self) -> np.ndarray:
        """Returns the legal moves as action ids, ascending; int64, shape (moves,)."""
        return np.flatnonzero(self.mask())

    def mask(self) -> np.ndarray:
        """Returns the legal moves as a fresh bool array, shape (NUM_ACTIONS,)."""
        mask = np.empty(actions.NUM_ACTIONS, np.bool_)
        observe.write_mask(self._rows, 0, mask)
        return mask

    def play(self, move: str | int, outcomes: Sequence[Sequence[Any]] | None = None) -> None:
        """Plays a move, in notation or as an action id; `outcomes` is what chance gives up to the next decision, as in `chance`.

        A value None is left to chance, and loaded outcomes wait. A card that lies where the player who moves cannot see it
        changes places with one of the deck.

        Raises:
            IllegalMove: the move is not legal now, or there is no such move; the game does not change.
            ValueError: the outcomes, or loaded ones that the move draws, cannot follow, or the game came from impossible rows;
                the game does not change.
        """
        if outcomes is not None:
            Game.taking(copy_rows(self._rows))._play_with(move, outcomes)  # raises what is wrong with them
            return self._play_with(move, outcomes)
        action, log, before = self._action(move), self._log, self._rows.tobytes()
        opening = (before, log.waiting, len(self._moves), len(self._loads)) if before[_ASK] == _OPEN else self._opening
        tape = log.begin()
        try:
            if not loop.step(self._rows, 0, action, tape):
                raise IllegalMove(self.why_illegal(action))
            mark = log.finish(tape)
        except ValueError:
            self._rows[:] = np.frombuffer(before, GAME_DTYPE)
            log.cut(self._marks[-1])
            raise
        self._opening = opening
        self._moves.append(action)
        self._marks.append(mark)

    def _play_with(self, move: str | int, outcomes: Sequence[Sequence[Any]]) -> None:
        now, log, before = self._present(), self._log, len(self._log.outcomes())
        with log.instead(chance_tree.read_outcomes(self._row, outcomes), self.player):
            Game.play(self, move)
        self._loads.append((len(self._moves) - 1, chance_tree.compare_outcomes(outcomes, log.outcomes()[before:])))
        if now[0][_ASK] == _OPEN:
            self._opening = now

    def chance(self, move: str | int, limit: int = 256) -> list[tuple[float, list[chance_tree.KnownOutcome]]] | None:
        """Returns what chance may give after a move, up to the next decision, as far as the player who moves may know (R19).

        Returns:
            A list of pairs of a probability and outcomes such as `[("dice", 3), ("artifacts", "book")]`, which `play` takes;
            `[(1.0, [])]` if nothing is drawn. Dice and artifacts that are drawn together are sorted. A value that the player
            cannot see is None. None for more than `limit` pairs, or if cards that nobody shows decide how many outcomes follow.

        Raises:
            IllegalMove: the move is not legal now.
            ValueError: `limit` is not an integer from 1 on.
        """
        action, limit = self._action(move), read_integer("limit", limit, 1)
        if not self.mask()[action]:
            raise IllegalMove(self.why_illegal(action))
        return chance_tree.outcomes_after(self._rows, action, limit)

    def _action(self, move: str | int) -> int:
        if type(move) is int and 0 <= move < actions.NUM_ACTIONS:  # the usual case, tested first for speed
            return move
        try:
            return actions.parse(move) if isinstance(move, str) else actions.number(move)
        except ValueError:
            raise IllegalMove(self.why_illegal(move)) from None

    def why_illegal(self, move: Any) -> str:
        """Returns the error message for a move that is illegal now, or for a value that is not a move."""
        try:
            name = actions.NAMES[actions.parse(move) if isinstance(move, str) else actions.number(move)]
            wrong = f"{name!r} is illegal: player {self.player} must {self.prompt}"
        except ValueError as error:
            wrong = str(error)
        return f"{wrong}; legal are {', '.join(self.legal()) or 'none, the game has ended'}"

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

    def clone(self) -> Self:
        """Returns an exact copy, history included."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other._rows, other._log = copy_rows(self._rows), self._log.copy()
        other._moves, other._marks, other._loads = self._moves.copy(), self._marks.copy(), self._loads.copy()
        return other

    __copy__ = clone

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self._row.tobytes() == other._row.tobytes() and queues_of(self._log.waiting) == queues_of(other._log.waiting)

    __hash__ = None  # type: ignore[assignment]

    def fingerprint(self) -> str:
        """Returns a hash of rules, state, generator and loaded outcomes as a hex string; equal on every machine."""
        whole = self._rows.tobytes() if sys.byteorder == "little" else self._rows.byteswap().tobytes()
        portable = whole[: -GAME_DTYPE["shown_rules"].itemsize]  # they repeat other fields
        digest = hashlib.blake2b(portable, digest_size=16)
        digest.update(repr(sorted(queues_of(self._log.waiting).items())).encode())
        return digest.hexdigest()

    def determinize(self, player: int, seed: int) -> Game:
        """Returns a copy in which all that `player` cannot know (R19) is dealt again at random, to fit what the player sees.

        The copy has no loaded outcomes and a generator seeded from `seed`; its history starts there. Games that differ only in
        what the player cannot know give equal copies for equal seeds.

        Raises:
            ValueError: there is no such player, or the seed is not an integer.
        """
        player, seed = self._player(player), read_seed(seed)
        rows = copy_rows(self._rows)
        determinize.deal_hidden(rows, 0, player, seed)
        return Game.taking(rows)

    def observation(self, player: int) -> np.ndarray:
        """Returns what a player may see, as a new int8 array (OBS_SIZE,); `observations.table` explains its entries.

        Raises:
            ValueError: there is no such player.
        """
        observation = np.empty(OBS_SIZE, np.int8)
        observe.write_observation(self._rows, 0, self._player(player), observation)
        return observation

    def afterstates(self, seed: int = 0) -> np.ndarray:
        """Returns what each legal move changes, float32 (moves, `len(afterstates.NAMES)`), in the order of `legal_actions()`.

        Each move is played once in a copy in which all that the player who decides cannot know is dealt again; dice and cards
        follow from `seed` and the turn. Games that differ only in what the player cannot know have equal afterstates.

        Raises:
            ValueError: the seed is not an integer.
        """
        begins = np.zeros(2, np.int64)
        features.count_afterstates(self._rows, begins)
        changes = np.empty((begins[1], features.NUM_CHANGES), np.float32)
        features.write_afterstates(self._rows, 0, 1, read_seed(seed), begins, changes)
        return changes

    def _player(self, player: Any) -> int:
        return read_integer("player", player, 0, int(self._row["num_players"]) - 1)

    @classmethod
    def from_rows(cls, rows: np.ndarray) -> Self:
        """Returns a game from a copy of one row, an array (1,) typed as `states`; its history starts there.

        Raises:
            TypeError: `rows` is not an array of that type.
            ValueError: it does not have exactly one row, or the game in it is impossible.
        """
        game = cls.taking(foreign_rows.read_row(rows))
        if position.can_be_stated(game._row):  # in the middle of a turn, no position can state it alone
            try:
                possible = Game.from_dict(game.to_dict()) == game
            except ValueError as error:
                raise ValueError(f"rows hold no possible game: {error}") from error
            if not possible:
                raise ValueError("rows hold no possible game")
        return game

    @classmethod
    def taking(cls, rows: np.ndarray) -> Self:
        """Returns a game that owns a row of the engine, without the copy and checks of `from_rows`; the caller gives it up.

        Raises:
            TypeError, ValueError: `rows` is not an array of that type with exactly one row.
        """
        foreign_rows.check_type(rows)
        game = object.__new__(cls)
        game._attach(rows)
        return game

    def load(self, /, **outcomes: Sequence[Any]) -> None:
        """Fixes the next random outcomes by kind, behind those already loaded, up to 10,000 of each kind.

        The kinds are dice, artifacts, recruits, markets, dilemmas and lots.

        Raises:
            ValueError: a kind is unknown, a value is impossible, or a player already holds a loaded card; nothing is loaded.
        """
        self._log.load(self._row, outcomes)
        self._note_load(outcomes)

    def _note_load(self, outcomes: Mapping[str, Sequence[Any]]) -> None:
        """Notes outcomes for records, together with those loaded since the last move."""
        after, new = len(self._moves), {kind: values for kind, values in plain_outcomes(outcomes).items() if values}
        last = self._loads[-1][1] if self._loads and self._loads[-1][0] == after else None
        if isinstance(last, dict):
            del self._loads[-1]
            new = {kind: last.get(kind, []) + new.get(kind, []) for kind in {**last, **new}}
        if new:
            self._loads.append((after, new))

    def reseed(self, seed: int) -> None:
        """Lets all chance from now on follow from a seed, as in a new game; loaded outcomes that wait are dropped.

        Raises:
            ValueError: the seed is not an integer.
        """
        seed = read_seed(seed)
        seed_row(self._row, seed)
        self._log.waiting = {}
        while self._loads and self._loads[-1][0] == len(self._moves):  # what this seed makes void
            del self._loads[-1]
        self._loads.append((len(self._moves), seed))

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes drawn so far, in order, such as `[("dice", 3), ("artifacts", "book")]`."""
        return self._log.outcomes().copy()

    @property
    def events(self) -> list[Event]:
        """All events since the start of the game, in order, hidden information included (docs/events.md)."""
        return [*starmap(Event, self._log.events().tolist())]

    def events_for(self, player: int | None) -> list[Event]:
        """Returns the events as a player may see them (R19), or for None as everybody may, with -1 in place of what is hidden.

        Raises:
            ValueError: there is no such player.
        """
        return [*starmap(Event, self.event_array(player).tolist())]

    def event_array(self, player: int | None) -> np.ndarray:
        """Returns the events of `events_for` as an int32 array (n, EVENT_SIZE).

        Raises:
            ValueError: there is no such player.
        """
        return events.without_secrets(self._log.events(), None if player is None else self._player(player))

    def last_events(self, player: int, k: int) -> np.ndarray:
        """Returns the last k events as a player sees them, int8 (k, EVENT_SIZE), oldest first, zeros before the first one.

        Players are counted from that player on, in turn order (docs/events.md).

        Raises:
            ValueError: there is no such player, or k is out of range.
        """
        found = np.zeros((number_of_events(k), EVENT_SIZE), np.int8)
        observe.write_events(self._log.last(k), self._player(player), self.rules.num_players, found)
        return found

    def decided(self, since: int = 0) -> list[Decided]:
        """Returns the decisions from number `since` on, counted from 0. The events before the first decision belong to none.

        Raises:
            ValueError: `since` is not an integer from 0 on.
        """
        since = read_integer("since", since, 0)
        marks = self._marks[since:]
        of = events.deciders(self._log.events(), np.frombuffer(self._start[0], GAME_DTYPE)[0]["player"], marks)
        return [Decided(of[k], action, *marks[k : k + 2]) for k, action in enumerate(self._moves[since:])]

    def describe(self) -> dict[str, Any]:
        """Returns the readable keys of the present position, in the middle of a turn too: to be read, not to be restored."""
        return position.describe(self._row) | {"load": outcomes_by_name(queues_of(self._log.waiting))}

    def to_dict(self) -> dict[str, Any]:
        """Returns the complete position as JSON: `Game.from_dict(game.to_dict()) == game`.

        In the middle of a turn it is the position at the beginning of the turn, with what was played since.

        Raises:
            ValueError: the game was taken from a state in the middle of this turn, and does not know how the turn began.
        """
        since = self._since(self._turn, len(self._moves))
        return self._position(self._turn) | ({"since": since} if since else {})

    @property
    def _turn(self) -> Opening:
        """How the turn under way began; the present where a position states it."""
        return self._present() if position.can_be_stated(self._row) else self._opening

    def _since(self, opening: Opening, end: int) -> list[str]:
        """Returns what was played since an opening, up to the first `end` moves of the game, as in a position."""
        _, _, first, loaded = opening
        loads = [load for load in self._loads[loaded:] if load[0] < end + (not isinstance(load[1], list))]
        return record.with_loads([actions.NAMES[action] for action in self._moves[first:end]], loads, first)

    def _rows_of(self, opening: Opening) -> np.ndarray:
        rows: np.ndarray = np.ndarray(1, GAME_DTYPE, bytearray(opening[0]))
        if not position.can_be_stated(rows[0]):
            raise ValueError(_NO_BEGINNING)
        if self._header and opening is self._start:
            seed_row(rows[0], self._header["seed"])
        return rows

    def _position(self, opening: Opening) -> dict[str, Any]:
        return position.to_dict(self._rows_of(opening)[0]) | {"load": outcomes_by_name(queues_of(opening[1]))}

    def _played_from(self, opening: Opening, end: int) -> Game:
        """Returns the game after its first `end` moves, with a history that begins at an opening."""
        game = Game.taking(self._rows_of(opening))
        game._log.waiting = queues_of(opening[1])
        game._start = game._opening = game._present()
        game._begin()
        record.play_since(game, self._since(opening, end))
        return game

    @classmethod
    def from_dict(cls, d: Any) -> Self:
        """Returns a game from a position, complete or partial; missing values are those right after the setup.

        What was played since the turn began is played, and the first part of the game's history.

        Raises:
            ValueError: something is unknown or impossible; the message names the key.
        """
        rows = np.zeros(1, GAME_DTYPE)
        position.from_dict(d, rows[0])
        game = object.__new__(cls)
        game._attach(rows, d.get("load"))
        game._begin()
        record.play_since(game, d.get("since", []))
        return game

    def _outcome_marks(self) -> list[int]:
        """Returns the number of outcomes after the setup, then after each move."""
        drawn = np.flatnonzero(IS_OUTCOME[self._log.events()[:, 0]])
        return np.searchsorted(drawn, self._marks).tolist()

    @property
    def history(self) -> list[str]:
        """The decisions so far, as the lines of a record."""
        return record.decision_lines(self._moves, self._outcome_marks(), self._log.outcomes())

    def to_record(self) -> str:
        """Returns the whole game as text, which replays to the identical final state on any machine (docs/positions.md).

        Raises:
            ValueError: the game was taken from a state in the middle of a turn, and does not know how that turn began.
        """
        start = self._header or {"position": self._position(self._start)}
        of_setup = self._log.outcomes()[: self._outcome_marks()[0]]
        return record.format_record(start, of_setup, record.with_loads(self.history, self._loads), self.fingerprint())

    @classmethod
    def from_record(cls, text: str) -> Self:
        """Replays a record, and returns the game.

        Raises:
            ValueError: the text is not a record, or a line does not replay as written; the message names the line.
        """
        for game, _ in record.replayed(text, cls):
            end = game
        return end

    def __str__(self) -> str:
        """Returns the board as text."""
        from euphoria_env.render import board_text  # late: most processes draw nothing

        return board_text(self)

    def __repr__(self) -> str:
        return f"<Game of {self._row['num_players']}, turn {self.turn}: player {self.player} must {self.prompt}>"

    def _repr_svg_(self) -> str:
        """Returns the board as a picture."""
        from euphoria_env.render import board_svg

        return board_svg(self)
