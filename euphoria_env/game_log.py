"""The events of one game, and the outcomes of chance: those drawn so far, and those loaded to be drawn next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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

EVENTS = 1024  # room on a tape; one move logs far fewer
_EVENTS_KEPT = 256  # the most that may be on the tape when a move begins; with more they are taken off
_ROOM, _LEAST_ROOM = -2, 16  # stands on a tape where there is room for more loaded outcomes; the least room for each kind
_MOST_LOADED = 10_000  # the most loaded outcomes of each kind
_EVENTS_OF_LOADED = 4  # the most events that follow from one loaded outcome
OUTCOME_OF = [row.outcome for row in KIND_ROWS.values()]  # for each kind of event, the kind of random outcome, or ""
IS_OUTCOME = np.array([bool(kind) for kind in OUTCOME_OF])  # for each kind of event, whether it shows a random outcome
# The names of the values of each kind of outcome; dice and lots are numbers.
_NAMES: dict[str, tuple[str, ...]] = {
    "artifacts": ARTIFACTS,
    "recruits": RECRUIT_NAMES,
    "markets": TILES,
    "dilemmas": ARTIFACTS,
}


def outcome_value(kind: str, value: int) -> int | str:
    """Returns the value of an outcome as users see it."""
    return _NAMES[kind][value] if kind in _NAMES else value


def outcomes_by_name(queues: Mapping[str, Sequence[int]]) -> dict[str, list[int | str]]:
    """Returns outcomes by kind that are given as numbers as `load` takes them."""
    return {kind: [outcome_value(kind, value) for value in queue] for kind, queue in queues.items()}


def plain_outcomes(outcomes: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Returns outcomes by kind as JSON can hold them."""
    return {kind: [value if isinstance(value, str) else int(value) for value in values] for kind, values in outcomes.items()}


Waiting = tuple[tuple[str, list[int], int, int], ...]  # kinds, each with a list and the part of it that waits


def queues_of(waiting: Waiting) -> dict[str, list[int]]:
    """Returns the outcomes that wait, by kind."""
    return {kind: loaded[first:end] for kind, loaded, first, end in waiting}


class _Loaded:
    """Loaded outcomes by kind, and a tape that has them too, with room for more: a step costs what it draws, not what waits."""

    def __init__(self, queues: Mapping[str, Sequence[int]]) -> None:
        self._all = {kind: [*queue] for kind, queue in queues.items()}  # lists that only grow: `waiting` points into them
        self._drawn = dict.fromkeys(self._all, 0)
        self.tape: np.ndarray | None = None

    def waiting(self) -> Waiting:
        """Returns what waits now; what comes later does not change it."""
        parts = ((kind, loaded, self._drawn[kind], len(loaded)) for kind, loaded in self._all.items())
        return tuple(part for part in parts if part[2] < part[3])

    def append(self, kind: str, new: list[int]) -> None:
        """Appends outcomes of a kind."""
        self._all.setdefault(kind, []).extend(new)
        self._drawn.setdefault(kind, 0)
        if self.tape is not None:
            end = tape.TAPE_END + tape.KINDS.index(kind)
            room = self.tape[self.tape[end] :][: len(new)]
            if (room == _ROOM).all():
                room[:] = new
                self.tape[end] += len(new)
            else:
                self.tape = None

    def on_tape(self) -> np.ndarray:
        """Returns the tape."""
        if self.tape is None:
            waiting = queues_of(self.waiting())
            queues = [waiting.get(kind, []) for kind in tape.KINDS]
            rooms = [len(queue) + _LEAST_ROOM for queue in queues]
            with_rooms = [[*queue, *[_ROOM] * room] for queue, room in zip(queues, rooms, strict=True)]
            self.tape = tape.empty_tape(EVENTS + _EVENTS_OF_LOADED * sum(map(len, with_rooms)), with_rooms)
            self.tape[tape.TAPE_END : 2 * tape.TAPE_END] -= np.array(rooms, np.int32)
        return self.tape

    def take_drawn(self) -> None:
        """Counts the outcomes that a step has taken from the tape."""
        ends = self.on_tape()[: 2 * tape.TAPE_END].tolist()
        for kind, first, end in zip(tape.KINDS, ends, ends[tape.TAPE_END :], strict=False):
            if kind in self._all:
                self._drawn[kind] = len(self._all[kind]) - (end - first)


class GameLog:
    """Keeps the events of one game, and the loaded outcomes that will be drawn next.

    The engine writes events to a tape, behind the loaded outcomes (`engine.tape`): `begin` gives the tape for its next step, and
    `finish` reads what the step left on it.

    Attributes:
        viewer: the player for whom cards that they cannot see change places with loaded ones; None: for nobody.
    """

    def __init__(self) -> None:
        self._loaded: _Loaded | None = None
        self.viewer: int | None = None
        self._tape = tape.empty_tape(EVENTS)
        self._events: list[np.ndarray] = [np.zeros((0, EVENT_SIZE), np.int32)]  # taken off the tape
        self._taken = 0  # the number of these events
        self._outcomes: list[Outcome] = []  # the outcomes of chance among these events

    @property
    def waiting(self) -> Waiting:
        """The loaded outcomes that are not yet drawn, as numbers; `queues_of` lists them."""
        return self._loaded.waiting() if self._loaded else ()

    @waiting.setter
    def waiting(self, queues: Mapping[str, Sequence[int]]) -> None:
        self._loaded = _Loaded(queues) if queues else None

    def copy(self) -> GameLog:
        """Returns a copy."""
        other = GameLog.__new__(GameLog)
        vars(other).update(vars(self))
        if self._loaded:
            other.waiting = queues_of(self.waiting)
        other._tape, other._events, other._outcomes = self._tape.copy(), self._events.copy(), self._outcomes.copy()
        return other

    def load(self, row: np.void, outcomes: Mapping[str, Sequence[Any]]) -> None:
        """Appends outcomes to those that wait; `row` is the game, for checks.

        Raises:
            ValueError: a kind is unknown, a value is impossible, or a player holds a card; nothing is loaded.
        """
        if not isinstance(outcomes, Mapping):
            Reader.must("load", f"be an object of lists by kind, not {shown(outcomes)}")
        more: dict[str, list[int]] = {}
        waiting = queues_of(self.waiting)
        for kind, values in outcomes.items():
            if kind not in tape.KINDS:
                Reader.fail(f"load.{as_key(kind)}", f"no such kind; allowed are {', '.join(tape.KINDS)}")
            if isinstance(values, str) or not isinstance(values, Sequence):
                Reader.must(f"load.{kind}", f"be a list, not {shown(values)}")
            if len(waiting.get(kind, [])) + len(values) > _MOST_LOADED:
                Reader.must(f"load.{kind}", f"be at most {_MOST_LOADED} outcomes, with those that wait")
            new = more.setdefault(kind, [])
            for k, value in enumerate(values):
                number = outcome_number(f"load.{kind}[{k}]", kind, value, int(row["num_players"]))
                refuse_taken(f"load.{kind}[{k}]", row, kind, number, waiting.get(kind, []), new)
                new.append(number)
        for kind, new in more.items():
            if new:
                self._loaded = self._loaded or _Loaded({})
                self._loaded.append(kind, new)

    @contextmanager
    def instead(self, queues: Mapping[str, Sequence[int]], viewer: int) -> Iterator[None]:
        """Lets a step draw other outcomes than those that wait; cards that `viewer` cannot see change places with them."""
        waiting, self.waiting, self.viewer = self._loaded, queues, viewer
        try:
            yield
        finally:
            self._loaded, self.viewer = waiting, None

    def begin(self) -> np.ndarray:
        """Returns the tape for a step of the engine."""
        if not self._loaded:
            return self._tape
        self.take_off()
        with_loaded = self._loaded.on_tape()
        with_loaded[tape.TAPE_INTERRUPTED] = self._tape[tape.TAPE_INTERRUPTED]
        with_loaded[tape.TAPE_VIEWER] = 0 if self.viewer is None else 1 + self.viewer
        return with_loaded

    def finish(self, used: np.ndarray) -> int:
        """Reads what a step has written to the tape that `begin` gave; returns the number of events so far.

        Raises:
            ValueError: the step drew a loaded outcome that is impossible; nothing is read.
        """
        if self._loaded:
            if kind := int(used[tape.TAPE_ERROR]):
                raise ValueError(_impossible(tape.KINDS[kind - 1], int(used[int(used[kind - 1]) - 1])))
            self._loaded.take_drawn()
            self.take_off(used)
            self._tape[tape.TAPE_INTERRUPTED] = used[tape.TAPE_INTERRUPTED]
            if not self.waiting:
                self._loaded = None
        on_tape = int(self._tape[tape.TAPE_EVENTS])
        number = self._taken + on_tape
        if on_tape > _EVENTS_KEPT:
            self.take_off()
        return number

    def cut(self, n: int) -> None:
        """Forgets what a step that failed has drawn, and the events after the first n, which it has written."""
        if self._loaded:
            self._loaded.tape = None
        more = self._taken + int(self._tape[tape.TAPE_EVENTS]) - n
        self._tape[tape.TAPE_NEXT] -= EVENT_SIZE * more
        self._tape[tape.TAPE_EVENTS] -= more

    def take_off(self, used: np.ndarray | None = None) -> None:
        """Takes the events off a tape, and finds the outcomes of chance among them."""
        used = self._tape if used is None else used
        first, n = int(used[tape.TAPE_FIRST]), int(used[tape.TAPE_EVENTS])
        if n == 0:
            return
        events = used[first : first + EVENT_SIZE * n].reshape(n, EVENT_SIZE).copy()
        used[tape.TAPE_NEXT], used[tape.TAPE_EVENTS] = first, 0
        self._events.append(events)
        self._taken += n
        for kind, _, value, _ in events[IS_OUTCOME[events[:, 0]]].tolist():
            self._outcomes.append((OUTCOME_OF[kind], outcome_value(OUTCOME_OF[kind], value)))

    def events(self) -> np.ndarray:
        """Returns all events, (n, EVENT_SIZE)."""
        self.take_off()
        if len(self._events) > 1:
            self._events = [np.concatenate(self._events)]
        return self._events[0]

    def last(self, k: int) -> np.ndarray:
        """Returns a tape with the last k events alone."""
        events, found = self.events(), tape.empty_tape(k)
        events = events[max(0, len(events) - k) :]
        first = int(found[tape.TAPE_FIRST])
        found[first : first + events.size] = events.ravel()
        found[tape.TAPE_EVENTS] = len(events)  # the place of the next one stays the first: there a full ring has its oldest
        return found

    def outcomes(self) -> list[Outcome]:
        """Returns everything drawn so far; nobody may change the list."""
        self.take_off()
        return self._outcomes


def _impossible(kind: str, value: int) -> str:
    """Returns the message about a loaded outcome that the engine found impossible."""
    wrong = {"artifacts": "is not in the deck", "lots": "is not among the tied players"}.get(kind, "cannot be drawn")
    return f"the loaded outcome {kind} {outcome_value(kind, value)!r} {wrong}"


def outcome_number(key: str, kind: str, value: Any, num_players: int) -> int:
    """Returns the value of an outcome as the number that the engine draws."""
    if kind in _NAMES:
        return Reader().one_of(key, value, _NAMES[kind])
    return read_integer(key, value, *((1, 6) if kind == "dice" else (0, num_players - 1)))


def refuse_taken(key: str, row: np.void, kind: str, card: int, *queues: list[int]) -> None:
    """Refuses a card that is not in the game, that a player holds, or that earlier loaded outcomes draw already."""
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
