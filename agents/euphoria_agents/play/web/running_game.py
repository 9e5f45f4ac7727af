"""A game at the server: its session, the agents at work, and those who listen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from euphoria_agents.play import PlayerFailed, Session, Stale
from euphoria_agents.play.web.errors import LOG
from euphoria_agents.play.web.queueing import in_thread
from euphoria_agents.play.web.store import CannotSave

if TYPE_CHECKING:
    from euphoria_agents.play.web.registry import GameRegistry


class RunningGame:
    """A game at the server.

    A session is never changed in place: a move is played on a copy, which takes its place once it is saved. So an agent may
    think while people look on, and what cannot be saved has not happened.

    Attributes:
        session: the game as it was saved last.
        pace: seconds between the moves of agents; None: one move for each `step`.
        trouble: why the game waits for help, for everybody to read; empty if it does not.
        failed: the seat whose agent failed; None if none did.
        views: the views made of this state, by seat.
        client: the address of whoever made it.
        lock: held by whoever works at it.
        used: when it was last requested, as `Store.now` counts.
        listeners: the addresses of those who listen.
        changed: set when something is new; another event then takes its place.
    """

    def __init__(self, name: str, session: Session, pace: float | None, client: str, registry: GameRegistry) -> None:
        self.name, self.session, self.pace, self.client = name, session, pace, client
        self.lock = asyncio.Lock()
        self.used = registry.store.now()
        self.trouble = ""
        self.failed: int | None = None
        self.views: dict[Any, Any] = {}
        self.closed = False
        self.listeners: list[str] = []
        self.changed = asyncio.Event()
        self._registry = registry
        self._nudge = asyncio.Event()
        self._stepped = False
        self._at_work: asyncio.Task[None] | None = None

    @property
    def waits_for_agent(self) -> bool:
        """Whether an agent must decide."""
        return not self.session.over and self.session.player not in self.session.people

    @property
    def prepares(self) -> str:
        """The spec of the agent that must decide, if it has to be made or compiled first; otherwise empty."""
        spec = self.session.seats[self.session.player].spec if self.waits_for_agent else None
        return "" if spec is None or self._registry.agents.pool.answered(spec) else spec

    def announce(self, trouble: str = "", failed: int | None = None) -> None:
        """Tells listeners that something is new, and sets the trouble."""
        self.trouble, self.failed = trouble, failed
        self.views = {}  # a new one, since a thread may still fill the old one
        self.changed.set()
        self.changed = asyncio.Event()

    async def change(self, act: Callable[[Session], Any], tokens: dict[int, str] | None = None) -> None:
        """Changes the game and saves it, with new tokens for seats.

        Raises:
            ValueError: raised by `act`; nothing is changed.
            CannotSave: nothing is changed.
        """

        def attempt() -> None:
            changed = self.session.clone()
            act(changed)
            self._registry.save(self.name, changed, self.pace, tokens or {})
            self.session = changed

        async with self.lock, self._registry.working.slot(self.client):
            before = self.session
            try:
                await in_thread(attempt)
            finally:  # the thread finishes even if its caller is cancelled
                if self.session is not before:
                    self.retry()

    async def set_pace(self, pace: float | None) -> None:
        """Changes the speed; raises as `change`."""
        async with self.lock:
            await in_thread(lambda: self._registry.save(self.name, self.session, pace, {}))
            self.pace = pace
        self._nudge.set()
        self.announce(self.trouble, self.failed)

    def step(self) -> None:
        """Lets a waiting agent make its move."""
        self._stepped = self.waits_for_agent
        self._nudge.set()

    def wake(self) -> None:
        """Lets agents play if it is their turn."""
        if self.waits_for_agent and not self.trouble and (self._at_work is None or self._at_work.done()):
            self._at_work = asyncio.create_task(self._play_agents())

    def retry(self) -> None:
        """Forgets the trouble, and lets agents play."""
        self.announce()
        self.wake()

    def close(self) -> None:
        """Stops the agents, and ends the streams of listeners."""
        self.closed = True
        self.announce()
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
                action = await self._registry.agents.ask(spec, self.client, think)
                await self.change(partial(Session.play, seat=seat, action=action, version=version))
            except Stale:  # a move was taken back meanwhile, or the seat given away
                continue
            except Exception as error:  # the texts of other errors may reveal what is hidden
                if self.session.version == version:
                    LOG.warning("game %s waits for the agent %s of seat %d", self.name, spec, seat, exc_info=error)
                    public = str(error) if isinstance(error, PlayerFailed | CannotSave) else "the server made a mistake"
                    self.announce(public, seat if isinstance(error, PlayerFailed) else None)
                    return

    async def _wait(self) -> None:
        """Waits as the pace says, which may change meanwhile; a step ends the wait."""
        while not self._stepped:
            self._nudge.clear()
            try:
                await asyncio.wait_for(self._nudge.wait(), self.pace)
            except TimeoutError:
                break
        self._stepped = False
