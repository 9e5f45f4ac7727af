"""The games of a server. All work that reads or changes a game runs in threads, one at a time for each game."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from euphoria_agents.play import PlayerFailed, Session, Stale
from euphoria_agents.play.failures import Told
from euphoria_agents.play.web.agents import AgentService
from euphoria_agents.play.web.errors import LOG, Refused
from euphoria_agents.play.web.limits import Limits
from euphoria_agents.play.web.permissions import new_tokens
from euphoria_agents.play.web.queueing import FairQueue, SharedTasks, in_thread
from euphoria_agents.play.web.store import HOST, CannotSave, Damaged, GameRow, Store
from euphoria_env.phrases import LANGUAGES, say

MAX_RUNNING = 512  # games in memory; the others are in the store


class RunningGame:
    """A game in memory.

    A session is never changed in place: a move is played on a copy, which replaces the session once it is saved. So people can
    see the game while an agent thinks, and a move that cannot be saved has not happened. With a `pace` agents move every so many
    seconds, without one (None) each move waits for `step`.
    """

    def __init__(self, name: str, session: Session, pace: float | None, client: str, registry: GameRegistry) -> None:
        self.name, self.session, self.pace, self.client = name, session, pace, client
        self.lock = asyncio.Lock()  # held while somebody reads or changes the game
        self.used = registry.store.now()  # the time of the last request
        self.trouble = ""  # why the game waits for help, as a text for everybody; empty if it does not
        self.failed: int | None = None  # the seat whose agent failed; None if none did
        self.views: dict[Any, Any] = {}  # by seat, the views of this session that were already made
        self.closed = False
        self.listeners: list[str] = []  # the addresses of the clients that listen to its events
        self.changed = asyncio.Event()  # set when something changes; a new event then replaces it
        self._registry = registry
        self._nudge = asyncio.Event()
        self._stepped = False
        self._at_work: asyncio.Task[None] | None = None

    @property
    def waits_for_agent(self) -> bool:
        """Whether an agent must decide now."""
        return not self.session.over and self.session.player not in self.session.people

    @property
    def prepares(self) -> str:
        """The spec of the agent that must decide, if it has not answered before and may have to compile; otherwise empty."""
        seat = self.session.player
        spec = self.session.seats[seat].spec if self.waits_for_agent else None
        return "" if spec is None or self._registry.agents.pool.answered(spec, seat) else spec

    def announce(self, trouble: str = "", failed: int | None = None) -> None:
        """Sets `trouble` and `failed`, and tells listeners that something has changed."""
        self._describe(trouble, failed)
        self._tell()

    def _describe(self, trouble: str = "", failed: int | None = None) -> None:
        self.trouble, self.failed = trouble, failed
        self.views = {}  # a new dict, since a thread may still fill the old one

    def _tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def change(
        self, act: Callable[[Session], Any], tokens: dict[int, str] | None = None, see: Callable[[], Any] = lambda: None
    ) -> Any:
        """Changes the game by `act` and saves it, with new tokens for seats; if `act` or saving fails, nothing is changed.

        Returns what `see` returns after the change; until then agents wait, so that whoever has moved does not wait for them.
        """

        def attempt() -> Any:
            changed = self.session.clone()
            act(changed)
            self._registry.save(self.name, changed, self.pace, tokens or {})
            self.session = changed
            self._describe()
            return see()

        async with self._registry.working.slot(self.client, lock=self.lock):
            before = self.session
            try:
                return await in_thread(attempt)
            finally:  # the thread finishes even if its caller is cancelled
                if self.session is not before:
                    self._tell()
                    self.wake()

    async def set_pace(self, pace: float | None) -> None:
        """Changes and saves the pace."""

        def attempt() -> None:
            self._registry.save(self.name, self.session, pace, {})
            self.pace = pace

        async with self.lock:
            try:
                await in_thread(attempt)
            finally:  # the thread finishes even if its caller is cancelled
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
        """Clears the trouble, and lets agents play."""
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
            if spec is None or think is None:  # a person has got the seat; another agent may have to decide meanwhile
                continue
            try:
                action = await self._registry.agents.ask(spec, self.client, think, seat=seat)
                await self.change(partial(Session.play, seat=seat, action=action, version=version))
            except Stale:  # a move was taken back meanwhile, or the seat given away
                continue
            except Exception as error:  # everybody sees the text of two kinds of error; others may reveal secrets
                async with self.lock:  # so that nobody is about to move
                    if self.session.version == version:
                        LOG.warning("game %s waits for the agent %s of seat %d", self.name, spec, seat, exc_info=error)
                        public = str(error) if isinstance(error, PlayerFailed | CannotSave) else "the server made a mistake"
                        self.announce(public, seat if isinstance(error, PlayerFailed) else None)
                        return

    async def _wait(self) -> None:
        """Waits as long as the pace says, which may change meanwhile, or until `step` is called."""
        while not self._stepped:
            self._nudge.clear()
            try:
                await asyncio.wait_for(self._nudge.wait(), self.pace)
            except TimeoutError:
                break
        self._stepped = False


class GameRegistry:
    """All games of a server; `working`: the slots for threads that read and draw games."""

    def __init__(self, store: Store, agents: AgentService, limits: Limits) -> None:
        self.store, self.agents, self.limits = store, agents, limits
        self.working = FairQueue(limits.working)
        self._running: dict[str, RunningGame] = {}  # the most recently used one is the last
        self._loading = SharedTasks[RunningGame](self.working)

    async def open(self, session: Session, pace: float | None, client: str = "") -> tuple[str, dict[int, str]]:
        """Saves a new game; returns its name, and the tokens of its creator (`HOST`) and of the seats of people.

        Raises `Refused` if there are too many games, `CannotSave` if the game cannot be saved.
        """
        await self._make_room(client)
        name, tokens = secrets.token_hex(8), new_tokens(HOST, *session.people)
        await in_thread(lambda: self.store.add_game(name, client, _row(session, pace), tokens))
        return name, tokens

    def save(self, name: str, session: Session, pace: float | None, tokens: dict[int, str]) -> None:
        """Saves a game as it is now, with new tokens for seats; raises as `Store.save_game` does."""
        self.store.save_game(name, _row(session, pace), session.people, tokens)

    async def game(self, name: str, client: str = "") -> RunningGame:
        """Returns a game, whose agents now play; raises `Refused` (404) if there is none, `Damaged` if it cannot be read."""
        found = self._running.get(name) or await self._loading.result(name, client, lambda: self._load(name))
        if not found.closed:
            self._running[name] = self._running.pop(name, found)
            found.used = self.store.now()
            found.wake()
        return found

    async def _load(self, name: str) -> RunningGame:
        def load() -> tuple[Session, float | None, str]:
            saved = self.store.game(name)
            if saved is None:
                raise Refused(404, "there is no such game")
            state, creator = saved
            try:
                return Session.from_dict(state["session"], self.agents.pool), state["pace"], creator
            except ValueError as error:
                raise Damaged("game") from error

        if name in self._running:  # somebody else has loaded it while this client waited
            return self._running[name]
        found = await in_thread(load)
        self._forget_idle()
        self._running[name] = game = RunningGame(name, *found, self)
        return game

    def _forget_idle(self) -> None:
        """Removes games that nobody uses from memory, if it holds too many."""
        games = self._running.items()
        idle = [name for name, game in games if not (game.listeners or game.waits_for_agent or game.lock.locked())]
        for name in idle[: max(0, len(self._running) - MAX_RUNNING + 1)]:
            del self._running[name]

    async def delete(self, name: str) -> None:
        """Deletes a game."""
        deleted = False

        def attempt() -> None:
            nonlocal deleted
            self.store.delete("game", name)
            deleted = True

        try:
            await in_thread(attempt)
        finally:  # the thread finishes even if its caller is cancelled
            if deleted and (game := self._running.pop(name, None)):
                game.close()

    def close(self) -> None:
        """Stops all agents."""
        for game in self._running.values():
            game.close()
        self.agents.pool.close()

    def add_listener(self, game: RunningGame, client: str, most: int) -> bool:
        """Adds a client to the listeners of a game, unless there are already `most`; returns whether it was added."""
        elsewhere = sum(one.listeners.count(client) for one in self._running.values())
        if len(game.listeners) >= most or elsewhere >= self.limits.listeners_per_client:
            return False
        game.listeners.append(client)
        return True

    async def _make_room(self, client: str) -> None:
        """Deletes the oldest game that is over or idle if there are too many; raises `Refused` if all are being played."""
        kept = self.limits.kept["game"]
        for whose, most in ((client, kept.per_client), (None, kept.in_all)):
            if whose == "" or await in_thread(partial(self.store.count, "game", whose)) < most:
                continue
            idle = await in_thread(partial(self.store.idle, whose, self.limits.idle))
            lately, games = self.store.now() - self.limits.idle, self._running.items()
            used = {name for name, game in games if game.listeners or game.used > lately and not game.session.over}
            unused = next((name for name in idle if name not in used), None)
            if unused is None:
                raise Refused(503, Told(_FULL[bool(whose)], n=most))
            await self.delete(unused)


_FULL = ("there are {n} games already; delete one first", "you have {n} games already; delete one first")


def _row(session: Session, pace: float | None) -> GameRow:
    """Returns a game in the form in which the store saves it."""
    headline = session.view(None).headline
    told = {language: say(headline, language) for language in LANGUAGES}
    summary = {"headline": told, "seats": session.seats, "practice": session.practice}
    return GameRow(session.version, session.over, summary, {"session": session.to_dict(), "pace": pace})
