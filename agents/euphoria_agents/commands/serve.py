"""`euphoria serve`: games in the browser."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from contextlib import ExitStack, closing
from types import FrameType

import uvicorn
from rich.console import Console

from euphoria_agents.commands.replay import checked
from euphoria_agents.commands.shared_arguments import ServeOptions
from euphoria_agents.files import read_text
from euphoria_agents.play import Agents
from euphoria_agents.play.web.app import make_app
from euphoria_agents.play.web.connections import configuration
from euphoria_agents.play.web.game_registry import GameRegistry
from euphoria_agents.play.web.refusals import Refused
from euphoria_agents.play.web.request_guard import LOCAL_HOSTS
from euphoria_agents.play.web.store import Store
from euphoria_agents.play.web.studies import player_names

MOST_PORT = 2**16 - 1


class Server(uvicorn.Server):
    """Ends the streams of events when it is told to end; uvicorn would wait for them.

    Args:
        config: as for uvicorn.
        registry: the games that people listen to.
        page: opened in the browser once the server is running; None: none is.
    """

    def __init__(self, config: uvicorn.Config, registry: GameRegistry, page: str | None) -> None:
        super().__init__(config)
        self._registry = registry
        self._page = page

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer."""
        await super().startup(sockets)
        if self._page is not None:
            await asyncio.to_thread(webbrowser.open, self._page)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handles a signal."""
        asyncio.get_event_loop().call_soon_threadsafe(self._registry.close)
        super().handle_exit(sig, frame)


def run(options: ServeOptions) -> None:
    """The command. It makes the file of games last: what fails before leaves none behind.

    Raises:
        ValueError: the port is taken or no port, the file or the record is of something else, or an agent cannot be loaded.
        AgentFailed: making an agent ended its process, or took too long.
    """
    with closing(Agents(options.agents)) as agents:
        for spec in options.agents:
            agents.check(spec)
    record = None if options.record is None else read_text(options.record)
    names = [] if options.record is None or record is None else player_names(checked(options.record, record))
    with closing(listen(options.host, options.port)) as listening, closing(Store(options.data)) as store:
        app = make_app(store, options.agents, [*LOCAL_HOSTS, options.host, *options.hosts])
        page = address(options.host, listening.getsockname()[1])
        if record is not None:
            try:
                page += f"study/{app.state.studies.of(record, names)[0]}"
            except Refused as error:
                raise ValueError(f"{options.record}: {error}") from error
        told = f"Euphoria is served at {page} (Ctrl-C ends it; the games stay)"
        Console(emoji=False, markup=False).print(told, highlight=False, soft_wrap=True)
        config = configuration(app, timeout_graceful_shutdown=3)
        Server(config, app.state.registry, page if options.browser else None).run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes any that is free.

    Raises:
        ValueError: it is not available, or no port.
    """
    if not 0 <= port <= MOST_PORT:
        raise ValueError(f"a port is a number from 0 to {MOST_PORT}, not {port} (--port 0 takes a port that is free)")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as failed:
            found = failed.enter_context(socket.socket(family, kind, protocol))
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(place)
            found.listen(128)
            failed.pop_all()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(f"cannot listen at {host}:{port}: {why} (--port 0 takes a port that is free)") from error
    return found


def address(host: str, port: int) -> str:
    """The address of the first page."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
