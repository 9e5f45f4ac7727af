"""The games that the server runs: who listens, and the agents at work. Everything happens on the event loop but their thinking.

A session is never changed in place: a move is played on a copy, which takes its place once it is saved. So views need no lock, an
agent may think while people look on, and what cannot be saved has not happened.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from euphoria_agents import background
from euphoria_agents.sessions import AgentFailed, Agents, Session, Stale
from euphoria_agents.web.endpoints import new_tokens
from euphoria_agents.web.refusals import LOG, Refused
from euphoria_agents.web.server_limits import Limits, Places
from euphoria_agents.web.store import HOST, CannotSave, Store

ALIVE = 512  # games in memory; the others wait in the store
T = TypeVar("T")


class AgentExecutor:
    """Threads in which agents think: one at a time for each spec, a few together.

    Args:
        at_once: how many think together.
    """

    def __init__(self, at_once: int) -> None:
        self._slots = asyncio.Semaphore(at_once)
        self._turns: dict[str, asyncio.Lock] = {}

    async def think(self, spec: str, work: Callable[[], T]) -> T:
        """Runs what an agent has to do; raises what that raises."""
        turn = self._turns.setdefault(spec, asyncio.Lock())
        try:
            async with turn, self._slots:
                return await asyncio.wrap_future(background.begin(work))
        finally:
            if not turn.locked():
                self._turns.pop(spec, None)


class RunningGame:
    """A game at the server.

    Attributes:
        session: the game as it was saved last.
        pace: seconds between the moves of agents; None: one for each `step`.
        trouble: why the game waits for somebody to help; empty if it does not. Everybody reads it.
        failed: the seat whose agent failed; None if none did.
        shown: what was made for those who look, until something is new.
    """

    def __init__(self, name: str, session: Session, pace: float | None, registry: GameRegistry) -> None:
        self.name = name
        self.session = session
        self.pace = pace
        self.trouble = ""
        self.failed: int | None = None
        self.shown: dict[Any, Any] = {}
        self.closed = False
        self.listeners = 0
        self.changed = asyncio.Event()  # set once; a new one takes its place
        self._registry = registry
        self._nudge = asyncio.Event()
        self._stepped = False
        self._at_work: asyncio.Task[None] | None = None

    @property
    def waits_for_agent(self) -> bool:
        """Whether an agent must decide."""
        return not self.session.over and self.session.seats[self.session.player].spec is not None

    def tell(self, trouble: str = "", failed: int | None = None) -> None:
        """Lets those who listen know that something is new, and what the trouble is."""
        self.trouble, self.failed = trouble, failed
        self.shown.clear()
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
        self._registry.save(self.name, attempt, self.pace)
        self.session = attempt
        self.retry()

    def set_pace(self, pace: float | None) -> None:
        """Changes the speed; raises as `change`."""
        self._registry.save(self.name, self.session, pace)
        self.pace = pace
        self._nudge.set()
        self.tell(self.trouble, self.failed)

    def step(self) -> None:
        """Lets an agent that is held back make its move."""
        self._stepped = self.waits_for_agent
        self._nudge.set()

    def wake(self) -> None:
        """Lets agents play if it is their turn."""
        if self.waits_for_agent and not self.trouble and (self._at_work is None or self._at_work.done()):
            self._at_work = asyncio.create_task(self._play_agents())

    def retry(self) -> None:
        """Forgets the trouble, and lets agents play."""
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
                action = await self._registry.executor.think(spec, think)
                self.change(partial(Session.play, seat=seat, action=action, version=version))
            except Stale:  # somebody took a move back meanwhile, or gave the seat away
                continue
            except Exception as error:  # texts of other errors may tell what is hidden
                if self.session.version == version:
                    LOG.warning("game %s waits for the agent %s of seat %d", self.name, spec, seat, exc_info=error)
                    public = str(error) if isinstance(error, AgentFailed | CannotSave) else "the server made a mistake"
                    self.tell(public, seat if isinstance(error, AgentFailed) else None)
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
        limits: how many there may be.
    """

    def __init__(self, store: Store, agents: Agents, executor: AgentExecutor, limits: Limits) -> None:
        self.store = store
        self.agents = agents
        self.executor = executor
        self.limits = limits
        self.listening = Places(limits.listeners_per_client)
        self._running: dict[str, RunningGame] = {}  # the one used last stands last

    def open(self, session: Session, people: list[int], pace: float | None, client: str = "") -> tuple[str, dict[int, str]]:
        """A new game: its name, and a token for whoever made it and for each person's seat.

        Raises:
            Refused: there are too many games.
            CannotSave: what it says.
        """
        self._make_room(client)
        name, tokens = secrets.token_hex(8), new_tokens(HOST, *people)
        self.store.add_game(name, client, tokens, session.version, session.over, _summary(session), _state(session, pace))
        return name, tokens

    def save(self, name: str, session: Session, pace: float | None) -> None:
        """Keeps a game as it is now; raises as `Store.save_game`."""
        self.store.save_game(name, session.version, session.over, _summary(session), _state(session, pace))

    def game(self, name: str) -> RunningGame:
        """A game by its name, its agents awake.

        Raises:
            Refused: there is none (404).
        """
        found = self._running.pop(name, None)
        if found is None:
            state = self.store.game(name)
            if state is None:
                raise Refused(404, "there is no such game")
            self._make_memory()
            found = RunningGame(name, Session.from_dict(state["session"], self.agents), state["pace"], self)
        self._running[name] = found
        found.wake()
        return found

    def delete(self, name: str) -> None:
        """Forgets a game; raises as `Store.delete`."""
        self.store.delete("game", name)
        if game := self._running.pop(name, None):
            game.close()

    def expire(self) -> None:
        """Forgets the games without an end that nobody has played for a long time."""
        for name in self.store.unfinished(time.time() - self.limits.expiry):
            self.delete(name)

    def close(self) -> None:
        """Stops all agents."""
        for game in self._running.values():
            game.close()
        self.agents.close()

    def _make_room(self, client: str) -> None:
        """Lets the oldest game that is over or idle leave, if there are too many in all or of this client.

        Raises:
            Refused: all of them are being played.
        """
        self.expire()
        kept = self.limits.kept["game"]
        for whose, most in ((client, kept.per_client), (None, kept.in_all)):
            if whose == "" or self.store.count("game", whose) < most:
                continue
            names = self.store.may_leave(whose, time.time() - self.limits.idle)
            idle = next((name for name in names if name not in self._running or not self._running[name].listeners), None)
            if idle is None:
                raise Refused(503, f"{'you have' if whose else 'there are'} {most} games already; delete one first")
            self.delete(idle)

    def _make_memory(self) -> None:
        idle = [name for name, game in self._running.items() if not game.listeners and not game.waits_for_agent]
        for name in idle[: max(0, len(self._running) - ALIVE + 1)]:
            del self._running[name]


def check_room(store: Store, limits: Limits, kind: str, client: str) -> None:
    """Refuses another study or batch if there are too many.

    Raises:
        Refused: there are.
    """
    kept = limits.kept[kind]
    if store.count(kind) >= kept.in_all or store.count(kind, client) >= kept.per_client:
        raise Refused(503, f"this server keeps {kept.in_all} of this kind, {kept.per_client} for each address; delete one first")


def _summary(session: Session) -> dict[str, Any]:
    """The public entry of a game in the list."""
    seats = [{"name": seat.name, "spec": seat.spec} for seat in session.seats]
    return {"headline": session.view(None).headline, "seats": seats, "practice": session.practice}


def _state(session: Session, pace: float | None) -> dict[str, Any]:
    return {"session": session.to_dict(), "pace": pace}
