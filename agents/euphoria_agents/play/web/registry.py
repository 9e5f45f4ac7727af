"""The games of a server. All that reads or plays a game runs in threads, one after the other for each game."""

from __future__ import annotations

import secrets
from functools import partial

from euphoria_agents.play import Session
from euphoria_agents.play.web.agents import AgentService
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.limits import Limits
from euphoria_agents.play.web.permissions import new_tokens
from euphoria_agents.play.web.queueing import FairQueue, SharedTasks, in_thread
from euphoria_agents.play.web.running_game import RunningGame
from euphoria_agents.play.web.store import HOST, Damaged, GameRow, Store

MAX_RUNNING = 512  # games in memory; the others are in the store


class GameRegistry:
    """All games of a server.

    Args:
        store: keeps them.
        agents: play in them.
        limits: how many there may be.

    Attributes:
        working: the threads that read and draw games.
    """

    def __init__(self, store: Store, agents: AgentService, limits: Limits) -> None:
        self.store, self.agents, self.limits = store, agents, limits
        self.working = FairQueue(limits.working)
        self._running: dict[str, RunningGame] = {}  # the one used last stands last
        self._loading = SharedTasks[RunningGame]()

    async def open(self, session: Session, pace: float | None, client: str = "") -> tuple[str, dict[int, str]]:
        """Saves a new game; returns its name, and the tokens of its creator (`HOST`) and of the seats of people.

        Raises:
            Refused: there are too many games.
            CannotSave: nothing is changed.
        """
        await self._make_room(client)
        name, tokens = secrets.token_hex(8), new_tokens(HOST, *session.people)
        await in_thread(lambda: self.store.add_game(name, client, _row(session, pace), tokens))
        return name, tokens

    def save(self, name: str, session: Session, pace: float | None, tokens: dict[int, str]) -> None:
        """Saves a game as it is now; raises as `Store.save_game`."""
        self.store.save_game(name, _row(session, pace), session.people, tokens)

    async def game(self, name: str, client: str = "") -> RunningGame:
        """A game by its name, for a client; wakes its agents.

        Raises:
            Refused: there is none (404).
            Damaged: it cannot be read.
        """
        found = self._running.get(name) or await self._loading.result(name, lambda: self._load(name, client))
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
                return Session.from_dict(kept[0]["session"], self.agents.pool), kept[0]["pace"], kept[1]
            except ValueError as error:
                raise Damaged("game") from error

        async with self.working.slot(client):
            found = await in_thread(load)
        self._forget_idle()
        self._running[name] = game = RunningGame(name, *found, self)
        return game

    def _forget_idle(self) -> None:
        """Takes games out of memory that nobody uses, if there are too many."""
        games = self._running.items()
        idle = [name for name, game in games if not (game.listeners or game.waits_for_agent or game.lock.locked())]
        for name in idle[: max(0, len(self._running) - MAX_RUNNING + 1)]:
            del self._running[name]

    async def delete(self, name: str) -> None:
        """Deletes a game; raises as `Store.delete`."""
        await in_thread(lambda: self.store.delete("game", name))
        if game := self._running.pop(name, None):
            game.close()

    def close(self) -> None:
        """Stops all agents."""
        for game in self._running.values():
            game.close()
        self.agents.pool.close()

    def add_listener(self, game: RunningGame, client: str, most: int) -> bool:
        """Adds a client to the listeners of a game, unless there are `most`; returns whether it was added."""
        elsewhere = sum(one.listeners.count(client) for one in self._running.values())
        if len(game.listeners) >= most or elsewhere >= self.limits.listeners_per_client:
            return False
        game.listeners.append(client)
        return True

    async def _make_room(self, client: str) -> None:
        """If there are too many games, in all or of this client, deletes the oldest that is over or idle.

        Raises:
            Refused: all of them are being played.
        """
        kept = self.limits.kept["game"]
        for whose, most in ((client, kept.per_client), (None, kept.in_all)):
            if whose == "" or await in_thread(partial(self.store.count, "game", whose)) < most:
                continue
            lately = self.store.now() - self.limits.idle
            games = self._running.items()
            used = {name for name, game in games if game.listeners or game.used > lately and not game.session.over}
            idle = await in_thread(partial(self.store.idle, whose, self.limits.idle))
            unused = next((name for name in idle if name not in used), None)
            if unused is None:
                raise Refused(503, f"{'you have' if whose else 'there are'} {most} games already; delete one first")
            await self.delete(unused)


def _row(session: Session, pace: float | None) -> GameRow:
    """A game as the store saves it."""
    summary = {"headline": session.view(None).headline, "seats": session.seats, "practice": session.practice}
    return GameRow(session.version, session.over, summary, {"session": session.to_dict(), "pace": pace})
