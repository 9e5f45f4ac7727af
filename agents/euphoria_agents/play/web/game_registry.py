"""The games that the server runs: who listens, and the agents at work.

A session is never changed in place: a move is played on a copy, which takes its place once it is saved. So an agent may think
while people look on, and what cannot be saved has not happened. All that reads or plays a game happens in threads, for each game
one after the other; the event loop only waits.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from euphoria_agents.play import AgentFailed, Agents, Session, Stale
from euphoria_agents.play.web.endpoints import new_tokens
from euphoria_agents.play.web.refusals import LOG, Refused
from euphoria_agents.play.web.server_limits import Limits, Places
from euphoria_agents.play.web.store import HOST, CannotSave, Damaged, Store
from euphoria_agents.play.web.turns import Loading, Turns, in_thread

ALIVE = 512  # games in memory; the others wait in the store
T = TypeVar("T")


class AgentExecutor:
    """Threads in which agents think: one at a time for each spec, a few together.

    Args:
        agents: the agents.
        limits: how many think together, for one client and for all.
    """

    def __init__(self, agents: Agents, limits: Limits) -> None:
        self._agents = agents
        self._all = Turns(limits.thinking.in_all, limits.thinking.per_client)
        self._of_spec: dict[str, Turns] = {}

    async def think(self, spec: str, client: str, work: Callable[[], T], most: int | None = None) -> T:
        """Runs what an agent has to do for a client; raises what that raises. Ends the agent's work if nobody waits for it.

        Raises:
            Refused: `most` requests of this client wait for the agent already.
        """
        turns = self._of_spec.setdefault(spec, Turns(1, 1))
        try:
            async with turns.turn(client, most), self._all.turn(client):
                return await in_thread(work, partial(self._agents.stop, spec))
        finally:
            if turns.idle:
                self._of_spec.pop(spec, None)


class RunningGame:
    """A game at the server.

    Attributes:
        session: the game as it was saved last.
        pace: seconds between the moves of agents; None: one for each `step`.
        trouble: why the game waits for somebody to help; empty if it does not. Everybody reads it.
        failed: the seat whose agent failed; None if none did.
        shown: what was made for those who look, until something is new.
        client: whoever made it.
        lock: held by whoever works at it.
        used: when somebody last asked for it, as `Store.now` counts.
    """

    def __init__(self, name: str, session: Session, pace: float | None, client: str, registry: GameRegistry) -> None:
        self.name = name
        self.session = session
        self.pace = pace
        self.client = client
        self.lock = asyncio.Lock()
        self.used = registry.store.now()
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

    @property
    def prepares(self) -> str:
        """The agent that must decide, if it has to be made or compiled first; empty if none is."""
        spec = self.session.seats[self.session.player].spec if self.waits_for_agent else None
        return "" if spec is None or self._registry.agents.answered(spec) else spec

    def tell(self, trouble: str = "", failed: int | None = None) -> None:
        """Lets those who listen know that something is new, and what the trouble is."""
        self.trouble, self.failed = trouble, failed
        self.shown = {}  # a thread may still fill the one before
        self.changed.set()
        self.changed = asyncio.Event()

    async def change(self, act: Callable[[Session], Any], tokens: dict[int, str] | None = None) -> None:
        """Changes the game and saves it, with new tokens for seats.

        Raises:
            ValueError: what the session says to it; nothing is changed.
            CannotSave: what it says.
        """

        def attempt() -> None:
            changed = self.session.clone()
            act(changed)
            self._registry.save(self.name, changed, self.pace, tokens)
            self.session = changed

        async with self.lock, self._registry.desk.turn(self.client):
            before = self.session
            try:
                await in_thread(attempt)
            finally:
                if self.session is not before:
                    self.retry()

    async def set_pace(self, pace: float | None) -> None:
        """Changes the speed; raises as `change`."""
        async with self.lock:
            await in_thread(lambda: self._registry.save(self.name, self.session, pace))
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
            session = self.session
            seat, version, think = session.player, session.version, await in_thread(session.thinker)
            spec = session.seats[seat].spec
            if spec is None or think is None:
                return
            try:
                action = await self._registry.executor.think(spec, self.client, think)
                await self.change(partial(Session.play, seat=seat, action=action, version=version))
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
        limits: how many there may be.

    Attributes:
        executor: where agents think.
        desk: threads for everything else that is done about games.
    """

    def __init__(self, store: Store, agents: Agents, limits: Limits) -> None:
        self.store = store
        self.agents = agents
        self.limits = limits
        self.executor = AgentExecutor(agents, limits)
        self.desk = Turns(limits.working.in_all, limits.working.per_client)
        self.listening = Places(limits.listeners_per_client)
        self._running: dict[str, RunningGame] = {}  # the one used last stands last
        self._loading = Loading[RunningGame]()

    async def open(self, session: Session, people: list[int], pace: float | None, client: str = "") -> tuple[str, dict[int, str]]:
        """A new game: its name, and a token for whoever made it and for each person's seat.

        Raises:
            Refused: there are too many games.
            CannotSave: what it says.
        """
        await self._make_room(client)
        name, tokens = secrets.token_hex(8), new_tokens(HOST, *people)

        def add() -> None:
            self.store.add_game(name, client, tokens, session.version, session.over, _summary(session), _state(session, pace))

        await in_thread(add)
        return name, tokens

    def save(self, name: str, session: Session, pace: float | None, tokens: dict[int, str] | None = None) -> None:
        """Keeps a game as it is now; raises as `Store.save_game`."""
        people = [k for k, seat in enumerate(session.seats) if seat.spec is None]
        summary, state = _summary(session), _state(session, pace)
        self.store.save_game(name, session.version, session.over, summary, state, people, tokens or {})

    async def game(self, name: str, client: str = "") -> RunningGame:
        """A game by its name, its agents awake; `client`: whoever asks.

        Raises:
            Refused: there is none (404).
            Damaged: it cannot be read.
        """
        found = self._running.get(name) or await self._loading.of(name, lambda: self._load(name, client))
        if not found.closed:
            self._running[name] = self._running.pop(name, found)
            found.used = self.store.now()
            found.wake()
        return found

    async def _load(self, name: str, client: str) -> RunningGame:
        def load() -> tuple[Session, float | None, str]:
            kept = self.store.game(name)
            if kept is None:
                raise Refused(404, "there is no such game")
            try:
                return Session.from_dict(kept[0]["session"], self.agents), kept[0]["pace"], kept[1]
            except ValueError as error:
                raise Damaged("game") from error

        async with self.desk.turn(client):
            found = await in_thread(load)
        self._make_memory()
        self._running[name] = game = RunningGame(name, *found, self)
        return game

    async def delete(self, name: str) -> None:
        """Forgets a game; raises as `Store.delete`."""
        await in_thread(lambda: self.store.delete("game", name))
        if game := self._running.pop(name, None):
            game.close()

    def close(self) -> None:
        """Stops all agents."""
        for game in self._running.values():
            game.close()
        self.agents.close()

    def _unused(self, names: list[str]) -> list[str]:
        """Leaves out the games that somebody has open, or had lately."""
        lately = self.store.now() - self.limits.idle
        in_use = {name for name, game in self._running.items() if game.listeners or game.used > lately and not game.session.over}
        return [name for name in names if name not in in_use]

    async def _make_room(self, client: str) -> None:
        """Deletes the games that expired, and the oldest that is over or idle if there are too many in all or of this client.

        Raises:
            Refused: all of them are being played.
        """
        for name in self._unused(await in_thread(lambda: self.store.unfinished(self.limits.expiry))):
            await self.delete(name)
        kept = self.limits.kept["game"]
        for whose, most in ((client, kept.per_client), (None, kept.in_all)):
            if whose == "" or await in_thread(partial(self.store.count, "game", whose)) < most:
                continue
            idle = self._unused(await in_thread(partial(self.store.idle, whose, self.limits.idle)))
            if not idle:
                raise Refused(503, f"{'you have' if whose else 'there are'} {most} games already; delete one first")
            await self.delete(idle[0])

    def _make_memory(self) -> None:
        idle = [
            name for name, game in self._running.items() if not (game.listeners or game.waits_for_agent or game.lock.locked())
        ]
        for name in idle[: max(0, len(self._running) - ALIVE + 1)]:
            del self._running[name]


def check_room(store: Store, limits: Limits, kind: str, client: str) -> None:
    """Refuses another study if there are too many.

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
