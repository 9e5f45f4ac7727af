"""Runs an agent in a process of its own, which can be ended whatever the agent does."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
import math
import os
import pickle
import select
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
import numpy as np

from euphoria_agents.agent import Agent, Explanation, answers_batches, explained
from euphoria_agents.child_process import ENDING_SECONDS, ChildProcess
from euphoria_agents.error_text import escape_unprintable, printable
from euphoria_agents.provenance import Inputs, Recorder
from euphoria_agents.registry import is_builtin, load, places_of
from euphoria_agents.validation import checked, decoded
from euphoria_env import agent_protocol
from euphoria_env.agent_protocol import AgentFailed, TooSlow, remembered_by_one
from euphoria_env.derived_seeds import generator_from
from euphoria_env.json_reader import shown

if TYPE_CHECKING:
    from euphoria_env import Game

FIRST_SECONDS = 300.0  # the limit for making the agent, and for its first answer of each kind
TOLD = "begin", "end"  # methods of agents with a memory
PATIENCE = 10.0  # after so many seconds of waiting a line says for whom
LONGEST_WAIT = 1e6  # seconds that the system can wait at once
MOST_BYTES = 1 << 24  # the largest answer that is accepted

T = TypeVar("T")
COUNTS: Any = dict[str, Annotated[float, msgspec.Meta(ge=0, le=1e15)]]
_PURPOSES = {kind: f"to {kind}" for kind in ("begin", "end", "explain")} | {"make": "to be made", "counts": "to tell its counts"}
ANSWER: Any = list[Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]] | str  # moves, or the text of anything else


class AgentProcess(Agent):
    """Runs an agent in a process of its own.

    It is used like the agent, gives the same answers (`rng` advances as if the agent had drawn from it here), and can be ended:

        with AgentProcess("my_module:MyAgent", seconds=10.0) as agent:
            result = play_match([agent, load("weights")], games=100)

    The agent gets copies of its arguments, and only its answers come back, as JSON: it cannot change the objects of this process.
    Its descendants end with it, on Linux also those in other sessions. That protects from faults and from cheating in Python, but
    not from code that attacks the machine: the process has the rights of its user. Its output goes to stderr; its stdin is empty.

    One thread may use it at a time; any thread may call `close`. After an agent has raised an error it can be asked again; after
    `TooSlow`, the end of its process, or an interrupt it cannot.

    Args:
        spec: as for `load`.
        first_seconds: the limit for making it, and for its first answer of each kind, before which it may compile.
        seconds: the limit for each further decision; in a batch that the agent answers itself, for the average. None: no limit.
        begun: called with this object before the agent is made, so that another thread may close it.

    Attributes:
        name: the spec, by which errors name the agent.
        needs_game, needs_story, needs_deals, needs_events, needs_ids, keeps_games_apart: as the agent has them; the last one is
            true for agents of this project only.

    Raises:
        ValueError: the spec is wrong, or the agent cannot be made; see `load`.
        AgentFailed: making it ended its process. Each method raises it if the agent raised an error, ended its process or gave no
            valid answer; the message is one line that names the agent, and the file and line of its code.
        TooSlow: it took too long, and its process was ended; a kind of `AgentFailed`.
    """

    def __init__(
        self,
        spec: str,
        first_seconds: float = FIRST_SECONDS,
        seconds: float | None = None,
        begun: Callable[[AgentProcess], None] = lambda _: None,
    ) -> None:
        self.name = spec
        self._first_seconds, self._seconds, self._patience = first_seconds, seconds, PATIENCE
        self._answered: set[str] = set()  # the kinds of questions that it has answered
        self._child = ChildProcess(_serve, spec)
        if sys.platform != "win32":
            os.set_blocking(self._child.connection.fileno(), False)  # see `_Exchange`
        self.close = self._child.end
        begun(self)
        made = self._ask("make", ())[0].answer
        if isinstance(made, str):
            self.close()
            raise ValueError(made)
        made = self._proper(partial(checked, made, _Made))
        self.needs_game, self.needs_story, self.needs_deals = made.needs_game, made.needs_story, made.needs_deals
        self.needs_events, self.needs_ids = made.needs_events, made.needs_ids
        self._batches, self._told = made.batches, made.told
        self.keeps_games_apart = made.keeps_games_apart and is_builtin(spec)  # others may say what they like

    def __enter__(self) -> AgentProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("an agent's process cannot be copied")

    def act(
        self,
        observation: np.ndarray,
        mask: np.ndarray,
        rng: np.random.Generator,
        game: Game | None = None,
        **remembered: Any,
    ) -> int:
        """Chooses a move; see `Agent`."""
        moves = self._moves("act", rng, (observation, mask, rng, {"game": game} if self.needs_game else {}, remembered))
        return moves[0] if isinstance(moves, list) and len(moves) == 1 else _Shown(moves)  # type: ignore[return-value]

    def act_batch(
        self,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
        deal: Callable[[int], Game] | None = None,
        **remembered: Any,
    ) -> np.ndarray:
        """Chooses a move in each of many games; see `Agent`. For an agent without `act_batch` the limit holds for each game."""
        deals = {} if deal is None else {"deal": [deal(k) for k in range(len(masks))]}
        moves = self._moves("act_batch", rng, (observations, masks, rng, deals, remembered), len(masks))
        return np.array(moves) if isinstance(moves, list) else _Shown(moves)  # type: ignore[return-value]

    def begin(self, ids: np.ndarray) -> None:
        """Tells the agent which numbers of games and seats are new, if it wants to know; see `Player`."""
        self._tell_agent("begin", ids)

    def end(self, ids: np.ndarray) -> None:
        """Tells the agent which numbers it will not be asked about again, if it wants to know; see `Player`."""
        self._tell_agent("end", ids)

    def _tell_agent(self, what: str, ids: np.ndarray) -> None:
        if what in self._told:
            self._ask(what, (ids,))

    def explain(
        self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None
    ) -> Explanation:
        """Explains a decision; see `Agent`. `euphoria_agents.agent.explained` checks the explanation."""
        return self._ask("explain", (observation, mask, rng, game))[0].answer

    def counts(self) -> dict[str, float]:
        """Returns what the agent has counted, if it counts (`euphoria_env.agent_protocol.Player`), and `processor_seconds`.

        These are the seconds of processor time that its process and the descendants that have ended took.
        """
        return self._proper(partial(checked, self._ask("counts", ())[0].answer, COUNTS, "counts"))

    def inputs(self) -> Inputs:
        """Returns what the process has read (nothing for agents of this project); a `ValueError` names a file that changed."""
        found = self._ask("inputs", ())[0].answer
        if isinstance(found, str):
            raise ValueError(found)
        return self._proper(partial(checked, found, Inputs, "inputs"))

    def _moves(self, kind: str, rng: np.random.Generator, arguments: Sequence[Any], decisions: int = 1) -> list[int] | str:
        """Asks for moves, advances `rng`, and returns the moves; if an answer is not a list of moves, returns it as text."""
        replies = self._ask(kind, arguments, decisions)
        answers = [self._proper(partial(checked, reply.answer, ANSWER)) for reply in replies]
        rng.bit_generator.state = self._proper(partial(generator_from, replies[-1].rng)).bit_generator.state
        refused = [answer for answer in answers if isinstance(answer, str)]
        return refused[0] if refused else [move for answer in answers for move in answer]

    def _ask(self, kind: str, arguments: Sequence[Any], decisions: int = 1) -> list[_Reply]:
        """Sends a question, and returns its reply, or one for each decision if the agent answers one at a time."""
        if kind != "act_batch" or self._batches:
            return [self._exchange(kind, (kind, arguments), decisions)]
        return [self._exchange(kind, None if k else (kind, arguments)) for k in range(decisions)]

    def _exchange(self, kind: str, request: Any, decisions: int = 1) -> _Reply:
        """Sends a request if there is one, and receives a reply."""
        if self._child.connection.closed:
            raise AgentFailed(f"the agent {self.name} has been ended")
        first = kind not in self._answered
        limit = self._first_seconds if first else self._seconds
        try:
            exchange = _Exchange(
                self._child, math.inf if limit is None else limit * decisions, self._patience, partial(self._tell, kind)
            )
            if request is not None:
                exchange.send(request)
            answer = exchange.receive()
        except TimeoutError:
            self.close()
            purpose = "to be made" if kind == "make" else f"for {'its first' if first else 'a'} decision"
            raise TooSlow(f"the agent {self.name} took more than {limit:g} s {purpose}") from None
        except (EOFError, OSError, ValueError):  # `OSError` and `ValueError` if another thread has just closed it
            raise AgentFailed(f"the agent {self.name} {self._end()}") from None
        except BaseException:  # an interrupt: the next question would get the answer to this one
            self.close()
            raise
        reply: _Reply = self._proper(partial(decoded, answer, _Reply))
        if reply.failed is not None:
            raised, text, place = (printable(part) for part in reply.failed)
            failure = AgentFailed(f"the agent {self.name} raised {raised}{': ' * bool(text)}{text}{place and ' ' + place}")
            failure.kind, failure.place = raised, place
            raise failure
        self._answered.add(kind)
        return reply

    def _tell(self, kind: str, limit: float) -> None:
        """Tells that a wait is long; the next line comes only after one that is twice as long."""
        purpose = _PURPOSES.get(kind, "to choose")
        line = f"waiting for the agent {self.name} {purpose}: {self._patience:g} s so far, at most {limit:g} s"
        print(line, file=sys.stderr, flush=True)
        self._patience *= 2

    def _end(self) -> str:
        """Ends the process, and returns how it ended."""
        if self._child.connection.closed:
            return "has been ended"
        status = self._child.exit_status(ENDING_SECONDS)
        self.close()
        if status is None:
            return "closed its connection"
        return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended its process with status {status}"

    def _proper(self, read: Callable[[], T]) -> T:
        """Returns what `read` makes of an answer; ends the process if the code of this module cannot have sent that answer."""
        try:
            return read()
        except ValueError as error:
            self.close()
            raise AgentFailed(f"the agent {self.name} sent no valid answer: {printable(str(error))}") from None


class _Exchange:
    """Sends a request and receives the reply in a limited time, which ends also in the middle of a message.

    Args:
        child: the process; its connection does not block, and has the messages of `multiprocessing.connection.Connection`.
        limit: the seconds for all; `TimeoutError` is raised after them, and `EOFError` if the process has ended.
        patience: after so many seconds `tell` is called, once, with the limit.
    """

    def __init__(self, child: ChildProcess, limit: float, patience: float, tell: Callable[[float], None]) -> None:
        self._child, self._limit, self._patience, self._tell = child, limit, patience, tell
        self._file, self._began = child.connection.fileno(), time.monotonic()

    def send(self, request: Any) -> None:
        """Sends a request."""
        data = pickle.dumps(request)
        if sys.platform == "win32":
            self._child.connection.send_bytes(data)
            return
        left = memoryview(struct.pack("!i", len(data)) + data)
        while left:
            self._wait(writes=True)
            left = left[os.write(self._file, left) :]

    def receive(self) -> bytes:
        """Returns a reply; an empty one if it is too long."""
        if sys.platform == "win32":  # where messages come whole
            self._wait()
            return self._child.connection.recv_bytes(MOST_BYTES)
        (size,) = struct.unpack("!i", self._read(4))
        return self._read(size) if 0 <= size <= MOST_BYTES else b""

    def _read(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            self._wait()
            part = os.read(self._file, size - len(found))
            if not part:
                raise EOFError
            found += part
        return bytes(found)

    def _wait(self, writes: bool = False) -> None:
        """Waits until the connection can be read or written."""
        passed = time.monotonic() - self._began
        while not self._ready(writes, min(self._limit, self._patience) - passed):
            passed = time.monotonic() - self._began
            if passed >= self._limit:
                raise TimeoutError
            if passed >= self._patience:
                self._patience = math.inf
                self._tell(self._limit)

    def _ready(self, writes: bool, seconds: float) -> bool:
        """Waits at most so long, and returns whether the connection can be read or written."""
        seconds = max(0.0, min(seconds, LONGEST_WAIT))
        if sys.platform == "win32":
            return writes or self._child.connection.poll(seconds)
        poll = select.poll()
        poll.register(self._file, select.POLLOUT if writes else select.POLLIN)
        poll.register(self._child.sentinel, select.POLLIN)
        ready = dict(poll.poll(1000 * seconds))
        if ready and self._file not in ready:  # what is left of the process holds the connection open
            raise EOFError
        return bool(ready)


class _Reply(msgspec.Struct, forbid_unknown_fields=True):
    """A reply of the process: the answer with the state of the generator, or the error of the agent."""

    answer: Any = None
    rng: Any = None
    failed: tuple[str, str, str] | None = None  # the class of the error, its text, and the place in the agent's code


class _Made(msgspec.Struct, forbid_unknown_fields=True):
    """The properties of an agent."""

    needs_game: bool
    needs_story: bool
    needs_deals: bool
    needs_ids: bool
    keeps_games_apart: bool
    needs_events: int
    batches: bool
    told: list[str]  # of begin and end, those that it has


class _Shown(str):
    """An answer that is not a move, as text."""

    def __repr__(self) -> str:
        return str(self)


def counts_of(agent: Any) -> dict[str, float]:
    """Returns what an agent has counted; empty if it does not count."""
    return agent.counts() if callable(getattr(agent, "counts", None)) else {}


# ------------------------------------------------------------------------------------------------- in the agent's process


def _serve(connection: Connection, spec: str) -> None:
    """Answers questions until the connection is closed."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    escape_unprintable()  # before the next line, after which the output could not be reconfigured
    os.dup2(2, 1)  # stdout goes to stderr: it would mix with the results of the program
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=connection.close)  # else a forked child could keep the connection open
    agent: Any = None
    recorder = None
    while True:
        try:
            kind, arguments = connection.recv()
        except EOFError:
            return
        try:
            if kind == "make":
                agent, properties, recorder = _make(spec)
                connection.send_bytes(_json({"answer": properties}))
                continue
            if kind == "inputs":
                connection.send_bytes(_json({"answer": _inputs(recorder)}))
                continue
            if kind == "counts":
                connection.send_bytes(_json({"answer": counts_of(agent) | {"processor_seconds": sum(os.times()[:4])}}))
                continue
            if kind in TOLD:
                getattr(agent, kind)(*arguments)
                connection.send_bytes(_json({}))
                continue
            for answer in _answers(agent, kind, arguments):
                connection.send_bytes(_json({"answer": answer, "rng": arguments[2].bit_generator.state}))
        except BaseException as error:  # also one that is no `Exception`: it must not end the loop
            connection.send_bytes(_json({"failed": _described(error, agent, kind)}))


def _make(spec: str) -> tuple[Any, dict[str, Any] | str, Recorder | None]:
    """Makes the agent; returns it with its properties and what notes its files, or None with the reason why it cannot be made."""
    try:
        recorder = None if is_builtin(spec) else Recorder(places_of(spec))
        agent: Any = load(spec)
        needed = agent_protocol.events_needed(agent)
    except ValueError as error:
        return None, _text(error), None
    named = "needs_game", "needs_story", "needs_deals", "needs_ids", "keeps_games_apart"
    properties: dict[str, Any] = {name: bool(getattr(agent, name, False)) for name in named}
    told = [name for name in TOLD if callable(getattr(agent, name, None))]
    return agent, {**properties, "needs_events": needed, "batches": answers_batches(agent), "told": told}, recorder


def _inputs(recorder: Recorder | None) -> dict[str, Any] | str:
    """Returns what the process has read, or the message about a file that changed."""
    try:
        return dataclasses.asdict(recorder.inputs() if recorder else Inputs())
    except ValueError as error:
        return str(error)


def _answers(agent: Any, kind: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Asks the agent; yields its answers as JSON values: a list of moves, an explanation, or the text of anything else."""
    if kind == "explain":
        yield explained(agent, *arguments)
    elif kind == "act_batch" and not answers_batches(agent):
        observations, masks, rng, _, remembered = arguments
        for k, (observation, mask) in enumerate(zip(observations, masks, strict=True)):
            yield from _answers(agent, "act", (observation, mask, rng, {}, remembered_by_one(remembered, k)))
    else:
        *decisions, games, remembered = arguments
        if kind == "act":
            answers = [agent.act(*decisions, *games.values(), **remembered)]
        else:
            answers = agent.act_batch(*decisions, **{name: one.__getitem__ for name, one in games.items()}, **remembered)
        moves = np.asarray(answers)
        proper = moves.dtype.kind in "iu" and moves.ndim == 1
        yield moves.astype(np.int64).tolist() if proper else shown(answers[0] if kind == "act" else answers)


def _json(reply: dict[str, Any]) -> bytes:
    return json.dumps(reply, default=_plain).encode()


def _plain(value: Any) -> Any:
    """Converts a value of numpy to one that can be written as JSON."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a value of JSON")


def _described(error: BaseException, agent: Any, kind: str) -> tuple[str, str, str]:
    """Returns the class of an error, its text, and the place in the agent's own code."""
    place = ""
    with contextlib.suppress(BaseException):  # an agent may have replaced its code
        place = _place(error, agent, kind)
    return type(error).__name__, _text(error), place


def _text(error: BaseException) -> str:
    try:
        return printable(str(error))
    except BaseException:
        return "its text is not available"


def _place(error: BaseException, agent: Any, kind: str) -> str:
    """Returns the file and line of the innermost frame in the agent's module or package; if there is none, of the method."""
    method = inspect.unwrap(getattr(type(agent), kind, type(agent).act)).__code__
    top = sys.modules[type(agent).__module__.partition(".")[0]]
    homes = [Path(folder) for folder in getattr(top, "__path__", [])] or [Path(method.co_filename)]
    ours = (__file__, agent_protocol.__file__)
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        file = Path(frame.f_code.co_filename)
        if str(file) not in ours and any(file.is_relative_to(home) for home in homes):
            return f"({file.name}, line {line})"
    return f"({Path(method.co_filename).name}, line {method.co_firstlineno})"
