"""One game with people and agents, in memory and in a file."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np

from euphoria_agents.agent import Agent, Explanation, explained
from euphoria_agents.files import read_text, write_whole
from euphoria_agents.matches.match import AgentGenerator
from euphoria_agents.play.agents import Agents
from euphoria_agents.play.failures import PlayerFailed, Stale, Told, WrongSeat
from euphoria_agents.play.joint_moves import Retrieval, Way, belong_together, retrievals, ways_to_answer
from euphoria_agents.play.seats import Seat
from euphoria_agents.play.undo import may_be_taken_back
from euphoria_agents.record_steps import last_space, steps
from euphoria_agents.registry import is_builtin
from euphoria_agents.validation import checked
from euphoria_env import Game, IllegalMove, Rules, actions, agent_protocol, words
from euphoria_env.board import SPACES
from euphoria_env.derived_seeds import stretched
from euphoria_env.events import Event, EventKind
from euphoria_env.json_reader import read_json, shown
from euphoria_env.memory import memory_of
from euphoria_env.phrases import Phrase
from euphoria_env.render.view import View, view_of
from euphoria_env.words.event_text import LogLine, log_lines
from euphoria_env.words.move_text import question_phrase

T = TypeVar("T")
SESSION_FORMAT, SESSION_VERSION = "euphoria-session", 1
CANNOT_UNDO = "nothing can be taken back: somebody has decided since, something was drawn, or a card was shown"
NOT_TOGETHER = "several moves at once must answer one series of choices, without anything drawn, shown or asked in between"
CANNOT_FOLLOW = "an outcome that was loaded for this game cannot follow this move"

_WORKER_EVENTS = (EventKind.PLACED, EventKind.BUMPED, EventKind.RETRIEVED, EventKind.RETURNED, EventKind.SACRIFICED)


class _Saved(msgspec.Struct, forbid_unknown_fields=True):
    """A session as JSON."""

    format: str
    version: Literal[1]
    changes: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
    practice: bool
    seats: list[Seat]
    record: str


class Session:
    """One game with people and agents. It is not thread-safe.

    Every method that takes a seat raises `WrongSeat` if there is no such seat. `seat=None` asks for what everybody may know,
    `decision=None` for the present.

    Args:
        record: the record of the game so far.
        seats: the player of each seat.
        practice: whether any decision may be taken back.
        agents: makes agents when they are asked; None: built-in ones only.

    Attributes:
        version: grows by one with every change, and never goes back.
        seats, practice: as given.

    Raises:
        ValueError: the record is damaged, or the number of seats is wrong.
    """

    def __init__(self, record: str, seats: Sequence[Seat], practice: bool = False, agents: Agents | None = None) -> None:
        try:
            self._replay(record)
        except ValueError as error:
            raise ValueError(f"record: {error}") from error
        n = self.rules.num_players
        if len(seats) != n:
            raise ValueError(f"a game of {n} needs as many seats, not {len(seats)}")
        self._start = record.partition("\n")[0]
        self.seats, self.practice, self.version = tuple(seats), practice, 0
        self._agents = _BUILT_IN if agents is None else agents

    @classmethod
    def of(cls, game: Game, seats: Sequence[Seat], practice: bool = False, agents: Agents | None = None) -> Session:
        """Returns a session that continues a copy of a game, with its history."""
        return cls(game.to_record(), seats, practice, agents)

    def clone(self) -> Session:
        """Returns an independent copy."""
        other = copy.copy(self)
        other._game = self._game.clone()
        other._logs = {seat: lines.copy() for seat, lines in self._logs.items()}
        return other

    def _replay(self, record: str, decisions: int | None = None) -> None:
        """Replays a record, up to a number of decisions."""
        self._logs: dict[int | None, list[LogLine]] = {}
        self._views: dict[tuple[int, int | None], View] = {}
        for self._game, line in steps(record):
            if self.decisions == decisions or not line:
                return

    def check_agents(self) -> None:
        """Makes the agents of all seats; raises a `ValueError` if one is not allowed or cannot be made."""
        for k, seat in enumerate(self.seats):
            if seat.spec is not None:
                self._agents.check(seat.spec, k)

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
    def cut_off(self) -> bool:
        """Whether the game was cut off, so that nobody has won."""
        return self._game.truncated

    @property
    def decisions(self) -> int:
        """The number of decisions made."""
        return len(self._game.played)

    @property
    def names(self) -> list[str]:
        """The names of the players, by seat."""
        return [seat.name for seat in self.seats]

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [k for k, seat in enumerate(self.seats) if seat.spec is None]

    @property
    def last_space(self) -> str:
        """The name of the space where the last worker was placed; empty before the first one."""
        return last_space([actions.NAMES[action] for action in self._game.played])

    def made(self, decision: int) -> tuple[int, int]:
        """Returns the seat that made a decision, and the action id of its move."""
        return self._game.mover(decision), self._game.played[decision]

    def last_decision(self, seat: int, before: int | None = None) -> int | None:
        """Returns the number of the last decision of a seat, up to now or before decision `before`; None if there is none."""
        return next((k for k in reversed(range(self.decisions)[:before]) if self._game.mover(k) == seat), None)

    def changed(self, seat: int | None = None, decision: int | None = None) -> set[str]:
        """Returns the spaces where workers came or went before a decision.

        For a seat, all changes after its own last decision count; for everybody, only those that followed the last decision.
        """
        end = self.decisions if decision is None else decision
        last = end - 2 if seat is None else self.last_decision(seat, end)
        first = end if last is None else max(0, last + 1)
        events = [event for after in self.events(seat, first)[: end - first] for event in after]
        return {SPACES[event.a] for event in events if event.kind in _WORKER_EVENTS}

    def view(self, seat: int | None = None, decision: int | None = None) -> View:
        """Returns the view of a seat, now or before a decision that was made."""
        self._check_viewer(seat)
        key = (self.decisions if decision is None else decision, seat)
        if key not in self._views:  # the views of the present and the last decision are kept: a move needs them several times
            self._views = {one: view for one, view in self._views.items() if one[0] >= self.decisions - 1}
            self._views[key] = view_of(self.game_at(decision), seat, self.names)
        return self._views[key]

    def question(self, seat: int | None = None) -> Phrase:
        """Returns the decision to be made as a sentence."""
        return question_phrase(self._game, seat, self.names)

    def moves(self, seat: int) -> list[words.Move]:
        """Returns the legal moves of a seat, explained; none if another seat must decide."""
        return words.legal_moves(self._game, seat, self.names)

    def log(self, seat: int | None = None, since: int = 0) -> list[LogLine]:
        """Returns what followed each decision from number `since` on, in words, as the seat may know it."""
        self._check_viewer(seat)
        lines = self._logs.setdefault(seat, [])
        lines += log_lines(self._game, seat, self.names, len(lines))
        return lines[since:]

    def events(self, seat: int | None = None, since: int = 0) -> list[list[Event]]:
        """Returns the events that followed each decision from number `since` on, as the seat may know them."""
        self._check_viewer(seat)
        events = self._game.events_for(seat)
        return [events[decided.first : decided.end] for decided in self._game.decided(since)]

    def ways(self, seat: int) -> list[Way]:
        """Returns the ways to answer a series of single choices (R18.2) at once; none if each takes one answer.

        They reveal nothing: they are found in a copy of the game in which all cards hidden from the seat are dealt again.
        """
        self._check_seat(seat)
        asked = not self.over and seat == self.player and self._game.deciding == "series"
        return ways_to_answer(self._game.determinize(seat, 0)) if asked else []

    def retrievals(self, seat: int) -> list[Retrieval]:
        """Returns the ways of a seat to retrieve workers at once; none if it may not. They reveal as little as `ways`."""
        self._check_seat(seat)
        asked = not self.over and seat == self.player
        return retrievals(self._game.determinize(seat, 0), self.names) if asked else []

    def game_at(self, decision: int | None = None) -> Game:
        """Returns the game before a decision, or now, with all its secrets; the caller must not change it."""
        return self._game if decision in (None, self.decisions) else self._game.at(decision)

    def _check_viewer(self, seat: int | None) -> None:
        if seat is not None:
            self._check_seat(seat)

    def _check_seat(self, seat: Any) -> None:
        if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < len(self.seats):
            raise WrongSeat(f"seat must be an integer from 0 to {len(self.seats) - 1}, not {shown(seat)}")

    def play(self, seat: int, action: int | str, version: int | None = None) -> None:
        """Plays a move, given as an action id or in notation; `version`: the one that the player saw, None: not checked.

        Raises:
            Stale, WrongSeat, IllegalMove: the game has changed since that version, another seat must decide, or the move is not
                legal. Nothing is changed then.
        """
        self.play_together(seat, [action], version)

    def play_together(self, seat: int, moves: Sequence[int | str], version: int | None = None) -> None:
        """Plays several moves of a seat that answer one series, or retrieve workers; see `belong_together`.

        Raises:
            Stale, WrongSeat, IllegalMove: as for `play`; `IllegalMove` only for the first move.
            ValueError: the moves do not belong together; or an outcome loaded for this game cannot follow one, after those
                before it were played.
        """
        self._check_seat(seat)
        self._check_version(version)
        if not self.over and seat != self.player:
            raise WrongSeat(Told("seat {decider} must decide, not seat {seat}", decider=self.player, seat=seat))
        if moves[1:] and not belong_together(self._game, moves):
            raise ValueError(NOT_TOGETHER)
        try:
            for move in moves:
                self._game.play(move)
                self.version += 1
        except ValueError as error:  # its message would tell what is drawn next, unless it is about the first move
            if isinstance(error, IllegalMove) and not moves[1:]:
                raise
            raise ValueError(CANNOT_FOLLOW) from None
        finally:
            if self.over:
                self._end_memories(range(len(self.seats)))

    def _end_memories(self, seats: Iterable[int]) -> None:
        """Tells the agents of these seats that they will not be asked again in this game."""
        for seat in seats:
            if (spec := self.seats[seat].spec) is not None:
                self._agents.end_game(spec, seat, self._name(spec))

    def _origin(self, spec: str) -> str:
        """Returns from what all that an agent gets is derived; one that is not built in cannot find the seed by trying."""
        return self._start if is_builtin(spec) else stretched(self._start).hex()

    def _name(self, spec: str) -> str:
        """Returns the name of this game for an agent."""
        return f"{_hash(self._origin(spec), 'story'):x}"

    def _check_version(self, version: Any) -> None:
        if version is not None and version != self.version:
            seen = shown(version)
            raise Stale(Told("the game has changed since version {seen}; this is version {now}", seen=seen, now=self.version))

    def hand_over(self, seat: int, spec: str | None, name: str | None = None) -> None:
        """Gives a seat to an agent, or to a person (`spec` None), who gets the name `name` unless another player has it.

        Raises:
            ValueError: the name is not allowed, or the agent is not allowed or cannot be made.
        """
        self._check_seat(seat)
        if spec is not None:
            self._agents.check(spec, seat)
        self._end_memories([seat])
        player = Seat(self.seats[seat].name if name is None or name in self.names else name, spec)
        self.seats = (*self.seats[:seat], player, *self.seats[seat + 1 :])
        self._logs, self._views = {}, {}  # the old ones contain the old name
        self.version += 1

    def can_undo(self, seat: int) -> bool:
        """Returns whether the last decision of a seat may be taken back.

        It may if nobody has decided since, nothing was drawn and no card was shown. In a practice game it always may, and what
        others have decided since is taken back too.
        """
        self._check_seat(seat)
        last = self.last_decision(seat)
        if last is None or self.practice:
            return last is not None
        if last + 1 < self.decisions:
            return False
        return may_be_taken_back(self.game_at(last), self._game, self.events(None, last)[0])

    def undo(self, seat: int, version: int | None = None) -> None:
        """Takes back the last decision of a seat; raises `Stale` as `play` does, and if it may not be taken back any more."""
        self._check_seat(seat)
        self._check_version(version)
        if not self.can_undo(seat):
            raise Stale(CANNOT_UNDO)
        self._replay(self.record(), self.last_decision(seat))
        self.version += 1

    def thinker(self) -> Callable[[], int] | None:
        """Returns a function that asks the agent that must decide for its move; None if a person must, or the game has ended.

        The function may be called later and in another thread, and raises `PlayerFailed`. The cards that are hidden from
        the agent are dealt again, with a seed made from the game's seed and the number of the decision. So a game continues
        identically after it was saved and loaded, or after moves were taken back. For an agent that is not built in the seed is
        made so slowly that it cannot find that of the game by trying.
        """
        seat = self.player
        spec = self.seats[seat].spec
        if self.over or spec is None:
            return None
        game, decisions = self._game.clone(), str(self.decisions)

        def think() -> int:
            chance, name = AgentGenerator(np.random.default_rng(_hash(self._origin(spec), decisions))), self._name(spec)
            given = game.observation(seat), game.mask(), chance.own

            def question(agent: Agent) -> int:
                memory = memory_of(game, name, self._agents.ids(spec, seat))
                return agent_protocol.query_one(agent, *given, lambda: chance.deal(game, seat, agent, name), memory)

            return self._ask(seat, spec, question)

        return think

    def hint(self, seat: int, spec: str) -> Explanation:
        """Returns an agent's opinion of the present decision, which is that of a seat; it depends only on what the seat may know.

        Raises `WrongSeat` if another seat must decide, a `ValueError` if the game has ended or the agent cannot be made or is not
        allowed, `PlayerFailed` if it raises an error, or its explanation is wrong.
        """
        game = self._game
        self._check_seat(seat)
        if game.over or game.truncated:
            raise ValueError("the game has ended, nobody has a move")
        if seat != game.player:
            raise WrongSeat(f"seat {game.player} must decide, not seat {seat}")
        self._agents.check(spec, seat)
        observation, mask = game.observation(seat), game.mask()
        chance = AgentGenerator(np.random.default_rng(_hash(observation.tobytes().hex(), spec)))
        return self._ask(seat, spec, lambda agent: explained(agent, observation, mask, chance.own, chance.deal(game, seat)))

    def _ask(self, seat: int, spec: str, question: Callable[[Agent], T]) -> T:
        try:
            with self._agents.borrowed(spec, seat) as agent:
                return question(agent)
        except Exception as error:
            raise PlayerFailed(seat, spec, error) from error

    def record(self) -> str:
        """Returns the whole game as a record, secrets included: people may see it only after the end, or in practice games."""
        return self._game.to_record()

    def to_dict(self) -> dict[str, Any]:
        """Returns the session as JSON, from which `Session.from_dict` makes one that continues identically."""
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
        """Returns a session from what `to_dict` returned, without its agents; a `ValueError` names a key that is wrong."""
        if not isinstance(d, dict) or d.get("format") != SESSION_FORMAT:
            raise ValueError(f"not a saved game: 'format' must be {SESSION_FORMAT!r}")
        saved = checked(d, _Saved)
        session = cls(saved.record, saved.seats, saved.practice, agents)
        session.version = saved.changes
        return session


_BUILT_IN = Agents()


def _hash(*parts: str) -> int:
    """Returns a number from texts that reveals nothing about them."""
    return int.from_bytes(hashlib.blake2b("\n".join(parts).encode(), digest_size=16).digest(), "little")


def save_game(session: Session, file: Path) -> None:
    """Writes a session to a file, whole or not at all; raises an `OSError` that names the file if it cannot."""
    write_whole(file, json.dumps(session.to_dict(), indent=1) + "\n")


def load_game(file: Path, agents: Agents | None = None) -> Session:
    """Returns the session that `save_game` wrote, with its agents; runs no code of the file, which a `ValueError` names."""
    text = read_text(file)
    try:
        session = Session.from_dict(read_json(text), agents)
        session.check_agents()
        return session
    except json.JSONDecodeError:
        raise ValueError(f"{file}: this is not a saved game") from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
