"""The events of one game, and the outcomes of chance: those drawn so far, and those loaded to be drawn next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from euphoria_env.board import ARTIFACTS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.engine import tape
from euphoria_env.engine.state import HELD, OUT_BY
from euphoria_env.event_kinds import EVENT_SIZE, KIND_ROWS
from euphoria_env.json_reader import Reader, as_key, read_integer, shown
from euphoria_env.record import Outcome

_EVENTS = 1024  # for which a tape has room; far more than one move makes
_EVENTS_KEPT = 256  # on the tape, at most, when a move begins
_EVENTS_OF_LOADED = 4  # to which a loaded outcome leads, at most
_OUTCOME_OF = [row.outcome for row in KIND_ROWS.values()]
IS_OUTCOME = np.array([bool(kind) for kind in _OUTCOME_OF])  # of each kind of event
# The names of the values of each kind of outcome; dice and lots are numbers.
_NAMES: dict[str, tuple[str, ...]] = {
    "artifacts": ARTIFACTS,
    "recruits": RECRUIT_NAMES,
    "markets": TILES,
    "dilemmas": ARTIFACTS,
}


def _named(kind: str, value: int) -> int | str:
    return _NAMES[kind][value] if kind in _NAMES else value


def plain(outcomes: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Returns outcomes by kind as JSON can hold them."""
    return {kind: [value if isinstance(value, str) else int(value) for value in values] for kind, values in outcomes.items()}


class GameLog:
    """What happened in one game, and the outcomes that are loaded.

    The engine reads loaded outcomes from a tape and writes events to it (`engine.tape`); the log takes the events off the tape
    before there is no room for more.

    Attributes:
        tape: the tape, which each step of the engine takes.
    """

    def __init__(self) -> None:
        self.tape = tape.empty_tape(_EVENTS)
        self._loaded = False  # whether outcomes may be waiting on the tape
        self._to_lay_out: dict[str, list[int]] | None = None  # all that wait, unless they are on the tape
        self._events: list[np.ndarray] = [np.zeros((0, EVENT_SIZE), np.int32)]  # taken off the tape
        self._taken = 0  # how many they are
        self._outcomes: list[Outcome] = []  # drawn, among these events

    def copy(self) -> GameLog:
        """Returns a copy."""
        self.lay_out()
        other = GameLog.__new__(GameLog)
        vars(other).update(vars(self))
        other.tape, other._events, other._outcomes = self.tape.copy(), self._events.copy(), self._outcomes.copy()
        return other

    def load(self, row: np.void, outcomes: Mapping[str, Sequence[Any]]) -> None:
        """Appends outcomes of a game with this row to those that wait.

        Raises:
            ValueError: an unknown kind, an impossible value, or a card that somebody holds; nothing is loaded.
        """
        if not isinstance(outcomes, Mapping):
            Reader.must("load", f"be an object of lists by kind, not {shown(outcomes)}")
        waiting = self.waiting()
        more: dict[str, list[int]] = {}
        for kind, values in outcomes.items():
            if kind not in tape.KINDS:
                Reader.fail(f"load.{as_key(kind)}", f"no such kind; allowed are {', '.join(tape.KINDS)}")
            if isinstance(values, str) or not isinstance(values, Sequence):
                Reader.must(f"load.{kind}", f"be a list, not {shown(values)}")
            new = more.setdefault(kind, [])
            for k, value in enumerate(values):
                number = _outcome_number(f"load.{kind}[{k}]", kind, value, int(row["num_players"]))
                _refuse_taken(f"load.{kind}[{k}]", row, kind, number, waiting.get(kind, []), new)
                new.append(number)
        for kind, new in more.items():
            if new:
                waiting.setdefault(kind, []).extend(new)
        self._to_lay_out = waiting

    def waiting(self) -> dict[str, list[int]]:
        """Returns the loaded outcomes that are not yet drawn, by kind; only `load` may change them."""
        if self._to_lay_out is not None:
            return self._to_lay_out
        queues = (self.tape[self.tape[k] : self.tape[tape.TAPE_END + k]].tolist() for k in range(len(tape.KINDS)))
        return {kind: queue for kind, queue in zip(tape.KINDS, queues, strict=True) if queue}

    def waiting_by_name(self) -> dict[str, list[int | str]]:
        """Returns the same, as `load` takes them."""
        return {kind: [_named(kind, value) for value in queue] for kind, queue in self.waiting().items()}

    def has_loaded(self) -> bool:
        """Whether outcomes wait on the tape."""
        if self._loaded:
            next_, end = self.tape[: tape.TAPE_ERROR].reshape(2, len(tape.KINDS))
            self._loaded = bool((next_ < end).any())
        return self._loaded

    def lay_out(self) -> None:
        """Makes a new tape if outcomes were loaded that are not on it; events are taken off the old one."""
        if self._to_lay_out is None:
            return
        waiting, self._to_lay_out = self._to_lay_out, None
        self.take_off()
        queues = [waiting.get(kind, []) for kind in tape.KINDS]
        interrupted = self.tape[tape.TAPE_INTERRUPTED]
        self.tape = tape.empty_tape(_EVENTS + _EVENTS_OF_LOADED * sum(map(len, queues)), queues)  # one move may draw them all
        self.tape[tape.TAPE_INTERRUPTED] = interrupted
        self._loaded = True

    def make_room(self) -> None:
        """Takes the events off the tape if the next move may need their room."""
        if self.tape[tape.TAPE_EVENTS] > _EVENTS_KEPT:
            self.take_off()

    def take_off(self) -> None:
        """Takes the events off the tape, and finds the outcomes of chance among them."""
        first, n = int(self.tape[tape.TAPE_FIRST]), int(self.tape[tape.TAPE_EVENTS])
        if n == 0:
            return
        events = self.tape[first : first + EVENT_SIZE * n].reshape(n, EVENT_SIZE).copy()
        self.tape[tape.TAPE_NEXT], self.tape[tape.TAPE_EVENTS] = first, 0
        self._events.append(events)
        self._taken += n
        for kind, _, value, _ in events[IS_OUTCOME[events[:, 0]]].tolist():
            self._outcomes.append((_OUTCOME_OF[kind], _named(_OUTCOME_OF[kind], value)))

    def __len__(self) -> int:
        return self._taken + int(self.tape[tape.TAPE_EVENTS])

    def events(self) -> np.ndarray:
        """Returns all events, (n, EVENT_SIZE)."""
        self.take_off()
        if len(self._events) > 1:
            self._events = [np.concatenate(self._events)]
        return self._events[0]

    def outcomes(self) -> list[Outcome]:
        """Returns everything drawn so far; nobody may change the list."""
        self.take_off()
        return self._outcomes

    def impossible_outcome(self) -> str:
        """Returns what is wrong with the loaded outcome that was drawn last, or nothing."""
        kind = int(self.tape[tape.TAPE_ERROR]) - 1
        if kind < 0:
            return ""
        name, value = tape.KINDS[kind], int(self.tape[int(self.tape[kind]) - 1])
        wrong = {"artifacts": "is not in the deck", "lots": "is not among the tied players"}.get(name, "cannot be drawn")
        return f"the loaded outcome {name} {_named(name, value)!r} {wrong}"


def _outcome_number(key: str, kind: str, value: Any, num_players: int) -> int:
    if kind in _NAMES:
        return Reader().one_of(key, value, _NAMES[kind])
    return read_integer(key, value, *((1, 6) if kind == "dice" else (0, num_players - 1)))


def _refuse_taken(key: str, row: np.void, kind: str, card: int, *queues: list[int]) -> None:
    """Refuses a card that is not in the game, that somebody holds, or that will have been drawn by then."""
    begun = row["open_spaces"] != 0  # 0 before the setup
    if kind == "recruits":
        held = HELD <= row["recruit_place"][card] < OUT_BY
    elif kind == "markets":
        held = begun and card in row["tile"]
    elif kind == "dilemmas":
        held = begun and card in row["dilemma"][: row["num_players"]]
    else:
        return
    if kind != "dilemmas" and int(row[f"absent_{kind}"]) >> card & 1:
        Reader.fail(key, f"{_NAMES[kind][card]} is not in the game (rules.{kind})")
    if held:
        Reader.fail(key, f"{_NAMES[kind][card]} is {'on the board' if kind == 'markets' else 'held by a player'}")
    times = 2 if kind == "markets" and row["market_draft"] else 1  # a drafted tile is dealt, and then laid
    if sum(queue.count(card) for queue in queues) >= times:
        Reader.fail(key, f"{_NAMES[kind][card]} is loaded twice")
