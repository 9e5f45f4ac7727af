"""One game with people and agents at a table."""

from __future__ import annotations

import builtins
import copy
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np

from euphoria_agents.agent import Explanation, explained
from euphoria_agents.files import read_text, write_whole
from euphoria_agents.matches.match import Chance
from euphoria_agents.play.agents import Agents, Unavailable
from euphoria_agents.play.names import told_apart
from euphoria_agents.play.undo import may_be_taken_back
from euphoria_agents.record_steps import last_space, steps
from euphoria_agents.validation import checked
from euphoria_env import Game, Rules, actions, words
from euphoria_env.board import ITEMS, SPACES
from euphoria_env.envs import asking
from euphoria_env.events import Event, EventKind
from euphoria_env.json_reader import as_key, read_json, shown
from euphoria_env.render.text import board_text
from euphoria_env.render.view import View, view_of

SESSION_FORMAT, SESSION_VERSION = "euphoria-session", 1
LONGEST_NAME = 40
AGENT_NAMES = ("Ada", "Boole", "Curie", "Dirac", "Euler", "Fermat")  # at a table; the spec says how strong they are
MOST_WAYS = 200  # that are offered at once
MOST_CHANGES = 2**53  # that JSON can count anywhere

_OF_WORKERS = (EventKind.PLACED, EventKind.BUMPED, EventKind.RETRIEVED, EventKind.RETURNED, EventKind.SACRIFICED)
_OF_OFFER = ("give", "ask", "offer")  # moves that make an offer
_ITEMS_OF_OFFER: dict[int, str] = {EventKind.OFFERED: "give", EventKind.WANTED: "ask"}
_MOVING = (EventKind.PAID, EventKind.GAINED, EventKind.LOST, EventKind.DISCARDED)  # by which a series moves items


class WrongSeat(ValueError):
    """Somebody else must decide, or there is no such seat."""


class Stale(ValueError):
    """The game has changed since."""


class AgentFailed(asking.AgentFailed):
    """An agent raised something, ended, took too long or gave no legal move; the game waits.

    The message is for everybody at the table: what an agent says of its failure may tell what only its seat may know (R19). The
    cause has it, for a log.

    Attributes:
        seat: whose decision it is.
        spec: of the agent.
    """

    def __init__(self, seat: int, spec: str, error: Exception) -> None:
        super().__init__(f"the agent {spec} of seat {seat} failed: {_public(error)}")
        self.seat, self.spec = seat, spec


class Seat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The player of a seat.

    Attributes:
        name: what people call the player, up to 40 characters in one line.
        spec: of an agent, as for `euphoria_agents.load`; None: a person.

    Raises:
        ValueError: no such name.
    """

    name: str
    spec: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable() or not 0 < len(self.name.strip()) <= LONGEST_NAME:
            raise ValueError(f"a name is a text of 1 to {LONGEST_NAME} characters in a line, not {as_key(self.name)}")


class _Saved(msgspec.Struct, forbid_unknown_fields=True):
    """A session as JSON has it."""

    format: str
    version: Literal[1]
    changes: Annotated[int, msgspec.Meta(ge=0, le=MOST_CHANGES)]
    practice: bool
    seats: list[Seat]
    record: str


class Way(NamedTuple):
    """A way to answer a series of single choices at once.

    Attributes:
        actions: the ids of the answers, in order; what is left after them has no choice in it.
        items: what that pays, gains, loses or discards, in units.
    """

    actions: tuple[int, ...]
    items: dict[str, int]


class Session:
    """One game with people and agents at a table. Not thread safe.

    Every method that takes a seat raises a `ValueError` if there is none like it.

    Args:
        rules: the options.
        seats: who sits where, one for each player.
        seed: equal seeds give equal games; None: a random one.
        practice: whether any decision may be taken back.
        agents: where agents come from; None: built-in ones only.

    Attributes:
        version: grows by one with every change, and never goes back.
        seats: who sits where.
        practice: see above.

    Raises:
        ValueError: a wrong number of seats, an agent that is not allowed or cannot be made, or a seed that is not an integer.
    """

    def __init__(
        self, rules: Rules, seats: Sequence[Seat], seed: int | None = None, practice: bool = False, agents: Agents | None = None
    ) -> None:
        self._begin(Game(rules, seed).to_record(), told_apart(seats), practice, agents)
        self.check_agents()

    @classmethod
    def of(cls, game: Game, seats: Sequence[Seat], practice: bool = False, agents: Agents | None = None) -> Session:
        """A table at which a copy of a game goes on; its history can be gone back in. No agent is made yet.

        Raises:
            ValueError: a wrong number of seats.
        """
        session = object.__new__(cls)
        session._begin(game.to_record(), seats, practice, agents)
        return session

    def clone(self) -> Session:
        """A copy that goes on by itself."""
        other = copy.copy(self)
        other._game = self._game.clone()
        other._logs = {seat: lines.copy() for seat, lines in self._logs.items()}
        return other

    def _begin(self, record: str, seats: Sequence[Seat], practice: bool, agents: Agents | None) -> None:
        try:
            self._go_to(record)
        except ValueError as error:
            raise ValueError(f"record: {error}") from error
        self._start = record.partition("\n")[0]
        n = self.rules.num_players
        if len(seats) != n:
            raise ValueError(f"a game of {n} needs as many seats, not {len(seats)}")
        self.seats = tuple(seats)
        self.practice = practice
        self.version = 0
        self._agents = _BUILT_IN if agents is None else agents

    def check_agents(self) -> None:
        """Makes the agents of all seats.

        Raises:
            ValueError: one is not allowed or cannot be made.
        """
        for seat in self.seats:
            if seat.spec is not None:
                self._agents.check(seat.spec)

    def _go_to(self, record: str, decisions: int | None = None) -> None:
        """Replays a record, so far if it is said how far."""
        self._logs: dict[int | None, list[str]] = {}
        self._views: dict[tuple[int, int | None], View] = {}
        for self._game, line in steps(record):
            if self.decisions == decisions or not line:
                return

    # ------------------------------------------------------------------------------------------------------------- looking

    @property
    def rules(self) -> Rules:
        """The options of the game."""
        return self._game.rules

    @property
    def player(self) -> int:
        """The seat that must decide; after the end the last one that did."""
        return self._game.player

    @property
    def over(self) -> bool:
        """Whether the game has ended, or was cut off."""
        return self._game.over or self._game.truncated

    @property
    def decisions(self) -> int:
        """The number of decisions made."""
        return len(self._game.played)

    @property
    def last_space(self) -> str:
        """The space where the last worker was placed; empty before the first one."""
        return last_space([actions.NAMES[action] for action in self._game.played])

    def made(self, decision: int) -> tuple[int, int]:
        """The seat that made a decision, and the move as an action id."""
        return self._game.mover(decision), self._game.played[decision]

    def last_decision(self, seat: int, before: int | None = None) -> int | None:
        """The number of the last decision of a seat, of which the first is 0, or of those before one; None if there is none."""
        made = range(self.decisions)[:before]
        return next((k for k in reversed(made) if self._game.mover(k) == seat), None)

    def changed(self, seat: int | None = None, decision: int | None = None) -> set[str]:
        """The spaces where workers came or went since the last decision of a seat; by the last one, for everybody.

        `decision`: as it was before one that was made.
        """
        made = self.decisions if decision is None else decision
        last = made - 1 if seat is None else self.last_decision(seat, made)
        since = made if last is None else max(0, last) if seat is None else last + 1
        return {SPACES[e.a] for events in self.events(seat, since)[: made - since] for e in events if e.kind in _OF_WORKERS}

    @property
    def ranking(self) -> list[int] | None:
        """The rank of each seat, 1 best, equal ones shared; None before the end."""
        return self._game.ranking

    def view(self, seat: int | None = None, decision: int | None = None) -> View:
        """The view of everybody, or of the player of a seat; before a decision that was made, if one is named."""
        if seat is not None:
            self._check_seat(seat)
        key = (self.decisions if decision is None else decision, seat)
        if key not in self._views:  # those of this decision and the one before are kept: a move needs them several times
            self._views = {one: view for one, view in self._views.items() if one[0] >= self.decisions - 1}
            self._views[key] = view_of(self.game_at(decision), seat, self.names)
        return self._views[key]

    def board(self, seat: int | None, width: int) -> str:
        """The view as text, without the legal moves, in lines of a width.

        Raises:
            ValueError: too little width.
        """
        return board_text(self._game, seat, width, moves=False)

    @property
    def names(self) -> list[str]:
        """The names of the players, by seat."""
        return [seat.name for seat in self.seats]

    def question(self, seat: int | None = None) -> str:
        """The decision to be made, as a sentence."""
        return words.question(self._game, seat, self.names)

    def moves(self, seat: int) -> list[words.Move]:
        """The legal moves of a seat, explained; none if somebody else must decide."""
        return words.legal_moves(self._game, seat, self.names)

    def log(self, seat: int | None = None, since: int = 0) -> list[str]:
        """The events of each decision from number `since` on, in words, as everybody or the player of a seat may know them."""
        if seat is not None:
            self._check_seat(seat)
        lines = self._logs.setdefault(seat, [])
        lines += words.log(self._game, seat, self.names, len(lines))
        return lines[since:]

    def events(self, seat: int | None = None, since: int = 0) -> list[list[Event]]:
        """The events that followed each decision from number `since` on, as everybody may know them, or the player of a seat."""
        if seat is not None:
            self._check_seat(seat)
        events = self._game.events_for(seat)
        return [events[decided.first : decided.end] for decided in self._game.decided(since)]

    def ways(self, seat: int) -> list[Way]:
        """The legal ways to answer a series of single choices (R18.2) at once; none if a single answer is all that is asked.

        They are found in a game that is dealt what the seat cannot know, so they tell nothing else.
        """
        self._check_seat(seat)
        if self.over or seat != self.player or self._game.deciding != "series":
            return []
        ways = list(islice(_ways(self._game.determinize(seat, 0), self._game.prompt), MOST_WAYS))
        return ways if any(len(way.actions) > 1 for way in ways) else []

    def game_at(self, k: int | None) -> Game:
        """The game before decision k, with all its secrets, to look at; as it is now after the last one, or if none is named."""
        return self._game if k is None or k == self.decisions else self._game.at(k)

    def _check_seat(self, seat: Any) -> None:
        if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < len(self.seats):
            raise WrongSeat(f"seat must be an integer from 0 to {len(self.seats) - 1}, not {shown(seat)}")

    # ------------------------------------------------------------------------------------------------------------ deciding

    def play(self, seat: int, action: int | str, version: int | None = None) -> None:
        """Plays a move for the seat that must decide.

        Args:
            seat: who decides.
            action: the move, as an action id or in notation.
            version: the one that was looked at; None: any.

        Raises:
            Stale: the game has changed since that version.
            WrongSeat: somebody else must decide.
            IllegalMove: the move is not legal now, or no move at all.
            In each case nothing is changed.
        """
        self._check_turn(seat, version)
        self._game.play(action)
        self.version += 1

    def play_together(self, seat: int, moves: Sequence[int | str], version: int | None = None) -> None:
        """Plays several moves of a seat. Of an offer they may have items that the rules add by themselves (R18.1).

        Raises:
            Stale, WrongSeat, IllegalMove: as for `play`, of any of them; some may have been played then.
            ValueError: the moves would make a different offer.
        """
        first, names = len(self._game.events), [actions.NAMES[self._number(move)] for move in moves]
        for k, name in enumerate(names):
            if k and name.split()[0] in _OF_OFFER and (self.player != seat or name not in self._game.legal()):
                continue
            self.play(seat, name, None if k else version)
        wanted = Counter(name for name in names if name.split()[0] in ("give", "ask"))
        made = Counter[str]()
        for event in self._game.events[first:]:
            if event.kind in _ITEMS_OF_OFFER:
                made[f"{_ITEMS_OF_OFFER[event.kind]} {ITEMS[event.a]}"] += event.b
        if wanted and wanted != made:
            raise ValueError("this offer cannot be made: items are missing, or the rules add others")

    @staticmethod
    def _number(move: int | str) -> int:
        return actions.parse(move) if isinstance(move, str) else actions.number(move)

    def _check_turn(self, seat: int, version: int | None = None) -> None:
        self._check_seat(seat)
        self._check_version(version)
        if not self.over and seat != self.player:
            raise WrongSeat(f"seat {self.player} must decide, not seat {seat}")

    def _check_version(self, version: Any) -> None:
        if version is not None and version != self.version:
            raise Stale(f"the game has changed since version {shown(version)}; this is version {self.version}")

    def thinker(self) -> Callable[[], int] | None:
        """A function that asks the agent to move for its move; None if a person is to move, or the game has ended.

        What it is asked is fixed now, so that it may be called later and in another thread. It is dealt what its seat cannot
        know, and gets its chance, from the game's seed and the number of the decision: a game that was saved and loaded, or
        taken back, goes on identically. Calling it raises `AgentFailed`.
        """
        seat = self.player
        spec = self.seats[seat].spec
        if self.over or spec is None:
            return None
        game, seed = self._game.clone(), _hash(self._start, str(self.decisions))

        def think() -> int:
            chance = Chance(np.random.default_rng(seed))
            try:
                with self._agents.borrowed(spec) as agent:
                    return asking.ask_one(agent, game.observation(seat), game.mask(), chance.own, lambda: chance.deal(game, seat))
            except Exception as error:
                raise AgentFailed(seat, spec, error) from error

        return think

    def hand_over(self, seat: int, spec: str | None, name: str | None = None) -> None:
        """Gives a seat to an agent, or to a person; `name`: its new one, unless another player has it.

        Raises:
            ValueError: no such name, or an agent that is not allowed or cannot be made.
        """
        self._check_seat(seat)
        if spec is not None:
            self._agents.check(spec)
        taken = Seat(self.seats[seat].name if name is None or name in self.names else name, spec)
        self.seats = (*self.seats[:seat], taken, *self.seats[seat + 1 :])
        self._logs.clear()  # which have the names
        self.version += 1

    # -------------------------------------------------------------------------------------------------------- taking back

    def can_undo(self, seat: int) -> bool:
        """Whether the last decision of a seat may be taken back.

        It may if nobody has decided since, nothing was drawn and no card shown; in a practice game always, with all that
        others have decided since.
        """
        self._check_seat(seat)
        last = self.last_decision(seat)
        if last is None or self.practice:
            return last is not None
        if last + 1 < self.decisions:
            return False
        return may_be_taken_back(self.game_at(last), self._game, self.events(None, last)[0])

    def undo(self, seat: int, version: int | None = None) -> None:
        """Takes back the last decision of a seat.

        Raises:
            Stale: the game has changed since that version.
            ValueError: it may not be taken back.
            In each case nothing is changed.
        """
        self._check_seat(seat)
        self._check_version(version)
        if not self.can_undo(seat):
            raise ValueError("nothing can be taken back: somebody has decided since, something was drawn, or a card was shown")
        self._go_to(self.record(), self.last_decision(seat))
        self.version += 1

    # ------------------------------------------------------------------------------------------------------------- hints

    def hint(self, seat: int, spec: str, decision: int | None = None) -> Explanation:
        """An agent's opinion of the decision of a seat, from what that seat may know; equal for equal knowledge.

        Args:
            seat: who decides.
            spec: of the agent.
            decision: one that was made; None: the one that is asked now.

        Raises:
            WrongSeat: somebody else must decide, or did.
            ValueError: an agent that is not allowed or cannot be made, or the game has ended.
            AgentFailed: it raised, or explains something else.
        """
        game = self.game_at(decision)
        self._check_seat(seat)
        if game.over or game.truncated:
            raise ValueError("the game has ended, nobody has a move")
        if seat != game.player:
            raise WrongSeat(f"seat {game.player} must decide, not seat {seat}")
        self._agents.check(spec)
        observation = game.observation(seat)
        chance = Chance(np.random.default_rng(_hash(observation.tobytes().hex(), spec)))
        try:
            with self._agents.borrowed(spec) as agent:
                return explained(agent, observation, game.mask(), chance.own, chance.deal(game, seat))
        except Exception as error:
            raise AgentFailed(seat, spec, error) from error

    # ------------------------------------------------------------------------------------------------------------ keeping

    def record(self) -> str:
        """The whole game as a record, secrets included: it may be shown to people after the end, or in practice games."""
        return self._game.to_record()

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON: `Session.from_dict` goes on identically."""
        return {
            "format": SESSION_FORMAT,
            "version": SESSION_VERSION,
            "changes": self.version,
            "practice": self.practice,
            "seats": [msgspec.to_builtins(seat) for seat in self.seats],
            "record": self.record(),
        }

    @classmethod
    def from_dict(cls, d: Any, agents: Agents | None = None) -> Session:
        """A table as it was left. No agent is made yet: without them it can be looked at, and their seats given to others.

        Raises:
            ValueError: something is missing or wrong; names the key.
        """
        if not isinstance(d, dict) or d.get("format") != SESSION_FORMAT:
            raise ValueError(f"not a saved game: 'format' must be {SESSION_FORMAT!r}")
        saved = checked(d, _Saved)
        session = object.__new__(cls)
        session._begin(saved.record, saved.seats, saved.practice, agents)
        session.version = saved.changes
        return session

    def save(self, file: Path) -> None:
        """Writes all of it to a file, whole or not at all.

        Raises:
            OSError: it cannot be written; names the file, which is then what it was before.
        """
        write_whole(file, json.dumps(self.to_dict(), indent=1) + "\n")

    @classmethod
    def load(cls, file: Path, agents: Agents | None = None) -> Session:
        """A table from a file that `save` wrote; no code of it is run.

        Raises:
            ValueError: it cannot be read, something in it is wrong, or an agent cannot be made; names the file.
        """
        text = read_text(file)
        try:
            session = cls.from_dict(read_json(text), agents)
            session.check_agents()
            return session
        except json.JSONDecodeError:
            raise ValueError(f"{file}: this is not a saved game") from None
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error


_BUILT_IN = Agents()


def _ways(game: Game, asked: str, before: tuple[int, ...] = ()) -> Iterator[Way]:
    """The ways to answer what is asked, after the answers before."""
    for action in game.legal_actions().tolist():
        after, answers = game.clone(), (*before, action)
        after.play(action)
        if after.deciding == "series" and (after.player, after.turn, after.prompt) == (game.player, game.turn, asked):
            yield from _ways(after, asked, answers)
        else:
            yield Way(answers, _moved(after.events[len(game.events) :], game.player))


def _moved(events: list[Event], player: int) -> dict[str, int]:
    """The items that a series moved: the first ones of the player that move together."""
    begun = dropwhile(lambda event: event.kind not in _MOVING or event.player != player, events)
    together = takewhile(lambda event: event.kind in _MOVING and event.player == player, begun)
    return dict(sum((Counter({ITEMS[event.a]: event.b}) for event in together), Counter()))


def _public(error: Exception) -> str:
    """The public part of an agent's failure: its kind, if it is one of Python's, since names can reveal something too."""
    if isinstance(error, Unavailable):
        return "it is not available here"
    if isinstance(error, asking.TooSlow):
        return "it took too long"
    if isinstance(error, asking.IllegalAnswer) and not hasattr(error, "__notes__"):
        return error.public
    kind, place = type(error).__name__, None
    if isinstance(error, asking.AgentFailed):  # from its process: "the agent ... raised KeyError: ... (my_agent.py, line 7)"
        _, raised, told = str(error).partition(" raised ")
        if not raised:
            return "its process has ended"
        kind, place = re.split("[: ]", told)[0], re.search(r" \(\w+\.py, line \d+\)$", told)
    return (kind if isinstance(getattr(builtins, kind, None), type) else "an error") + (place[0] if place else "")


def _hash(*parts: str) -> int:
    """A number from texts, which tells nothing about them."""
    return int.from_bytes(hashlib.blake2b("\n".join(parts).encode(), digest_size=16).digest(), "little")
