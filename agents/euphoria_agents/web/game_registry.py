"""The games that the server runs: who listens, and the agents at work. Everything happens on the event loop but their thinking.

A session is never changed in place: a move is played on a copy, which takes its place once it is saved. So views need no lock, an
agent may think while people look on, and what cannot be saved has not happened.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from euphoria_agents.error_text import one_line
from euphoria_agents.sessions import Agents, Session, Stale
from euphoria_agents.web.refusals import Refused
from euphoria_agents.web.store import HOST, Store

MAX_GAMES = 5_000
MAX_LISTENERS = 64  # of one game
ALIVE = 512  # games in memory; the others wait in the store
T = TypeVar("T")


class AgentExecutor:
    """Threads in which agents think: one at a time for each spec, a few together; one that never answers is left behind.

    Args:
        at_once: how many think together.
        patience: seconds after which an agent counts as silent.
        first_patience: the same for its first answer of each kind, before which its code may have to be compiled.
    """

    def __init__(self, at_once: int, patience: float, first_patience: float) -> None:
        self.patience = patience
        self.first_patience = first_patience
        self._slots = asyncio.Semaphore(at_once)
        self._turns: dict[str, asyncio.Lock] = {}
        self._silent: dict[str, threading.Thread] = {}
        self._answered: set[tuple[str, str]] = set()

    async def think(self, spec: str, work: Callable[[], T], kind: str = "move") -> T:
        """Runs what an agent has to do; `kind` says what that is.

        Raises:
            TimeoutError: it has not answered.
            Exception: what the work raises.
        """
        async with self._turns.setdefault(spec, asyncio.Lock()):
            if spec in self._silent and self._silent[spec].is_alive():
                raise TimeoutError(f"the agent {spec} is still busy with a decision that it did not answer")
            async with self._slots:
                loop = asyncio.get_running_loop()
                answer: asyncio.Future[T] = loop.create_future()
                thread = threading.Thread(target=_work, args=(loop, answer, work), daemon=True)
                thread.start()
                patience = self.patience if (spec, kind) in self._answered else self.first_patience
                try:
                    result = await asyncio.wait_for(answer, patience)
                except TimeoutError:
                    self._silent[spec] = thread
                    raise TimeoutError(f"the agent {spec} has not answered for {patience:g} seconds") from None
                self._answered.add((spec, kind))
                return result


def _work(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], work: Callable[[], T]) -> None:
    """What a thread does; whoever waited may be gone when it is done."""

    def tell(result: T | None, error: Exception | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    try:
        done: tuple[T | None, Exception | None] = (work(), None)
    except Exception as error:
        done = (None, error)
    with suppress(RuntimeError):  # the server has ended
        loop.call_soon_threadsafe(tell, *done)


class RunningGame:
    """A game at the server.

    Attributes:
        session: the game as it was saved last.
        pace: seconds between the moves of agents; None: one for each `step`.
        trouble: why the game waits for somebody to help; empty if it does not.
    """

    def __init__(self, name: str, session: Session, pace: float | None, registry: GameRegistry) -> None:
        self.name = name
        self.session = session
        self.pace = pace
        self.trouble = ""
        self.closed = False
        self.listeners = 0
        self.changed = asyncio.Event()  # set once; a new one takes its place
        self._hall = registry
        self._nudge = asyncio.Event()
        self._stepped = False
        self._at_work: asyncio.Task[None] | None = None

    @property
    def waits_for_agent(self) -> bool:
        """Whether an agent must decide."""
        return not self.session.over and self.session.seats[self.session.player].spec is not None

    def tell(self) -> None:
        """Lets those who listen know that something is new."""
        self.changed.set()
        self.changed = asyncio.Event()

    def change(self, act: Callable[[Session], Any]) -> None:
        """Changes the game and saves it.

        Raises:
            ValueError: what the session says to it; nothing is changed.
            CannotSave: what it says.
        """
        attempt = self.session.clone()
        act(attempt)
        self._hall.save(self.name, attempt, self.pace)
        self.session, self.trouble = attempt, ""
        self.tell()
        self.wake()

    def set_pace(self, pace: float | None) -> None:
        """Changes the speed; raises as `change`."""
        self._hall.save(self.name, self.session, pace)
        self.pace = pace
        self._nudge.set()
        self.tell()

    def step(self) -> None:
        """Lets an agent that is held back make its move."""
        self._stepped = self.waits_for_agent
        self._nudge.set()

    def wake(self) -> None:
        """Lets agents play if it is their turn."""
        if self.waits_for_agent and not self.trouble and (self._at_work is None or self._at_work.done()):
            self._at_work = asyncio.create_task(self._play_agents())

    def retry(self) -> None:
        """Asks an agent that failed once more."""
        self.trouble = ""
        self.tell()
        self.wake()

    def close(self) -> None:
        """Stops the agents, and ends the streams of those who listen."""
        self.closed = True
        self.tell()
        if self._at_work is not None:
            self._at_work.cancel()

    async def _play_agents(self) -> None:
        while self.waits_for_agent:
            await self._wait()
            seat, version, think = self.session.player, self.session.version, self.session.thinker()
            spec = self.session.seats[seat].spec
            if spec is None or think is None:
                return
            try:
                action = await self._hall.executor.think(spec, think)
                self.change(partial(Session.play, seat=seat, action=action, version=version))
            except Stale:  # somebody took a move back meanwhile, or gave the seat away
                continue
            except Exception as error:  # an agent may raise anything
                if self.session.version == version:
                    self.trouble = one_line(error)
                    self.tell()
                    return

    async def _wait(self) -> None:
        """Waits as the pace says, which may change meanwhile; a step ends it."""
        while not self._stepped:
            self._nudge.clear()
            try:
                await asyncio.wait_for(self._nudge.wait(), self.pace)
            except TimeoutError:
                break
        self._stepped = False


class GameRegistry:
    """All games of a server.

    Args:
        store: where they are kept.
        agents: who may play in them.
        executor: where these think.
    """

    def __init__(self, store: Store, agents: Agents, executor: AgentExecutor) -> None:
        self.store = store
        self.agents = agents
        self.executor = executor
        self._tables: dict[str, RunningGame] = {}

    def open(self, session: Session, people: list[int], pace: float | None) -> tuple[str, dict[int, str]]:
        """A new game: its name, and a token for whoever made it and for each person's seat.

        Raises:
            Refused: there are too many games.
            CannotSave: what it says.
        """
        if self.store.count_games() >= MAX_GAMES:
            raise Refused(503, f"this server keeps {MAX_GAMES} games, and has as many; delete one first")
        name = secrets.token_hex(8)
        tokens = {seat: secrets.token_urlsafe(16) for seat in (HOST, *people)}
        self.store.add_game(name, tokens, session.version, session.over, _summary(session), _state(session, pace))
        return name, tokens

    def save(self, name: str, session: Session, pace: float | None) -> None:
        """Keeps a game as it is now; raises as `Store.save_game`."""
        self.store.save_game(name, session.version, session.over, _summary(session), _state(session, pace))

    def table(self, name: str) -> RunningGame:
        """A game by its name, its agents awake.

        Raises:
            Refused: there is none (404).
        """
        found = self._tables.pop(name, None)
        if found is None:
            state = self.store.game(name)
            if state is None:
                raise Refused(404, "there is no such game")
            self._make_room()
            found = RunningGame(name, Session.from_dict(state["session"], self.agents), state["pace"], self)
        self._tables[name] = found  # the last one used stands last
        found.wake()
        return found

    def delete(self, name: str) -> None:
        """Forgets a game; raises as `Store.delete_game`."""
        self.store.delete_game(name)
        if table := self._tables.pop(name, None):
            table.close()

    def close(self) -> None:
        """Stops all agents."""
        for table in self._tables.values():
            table.close()

    def _make_room(self) -> None:
        idle = [name for name, table in self._tables.items() if not table.listeners and not table.waits_for_agent]
        for name in idle[: max(0, len(self._tables) - ALIVE + 1)]:
            del self._tables[name]


def _summary(session: Session) -> dict[str, Any]:
    """What everybody may read of a game in the list."""
    seats = [{"name": seat.name, "spec": seat.spec} for seat in session.seats]
    return {"headline": session.view(None).headline, "seats": seats, "practice": session.practice}


def _state(session: Session, pace: float | None) -> dict[str, Any]:
    return {"session": session.to_dict(), "pace": pace}
