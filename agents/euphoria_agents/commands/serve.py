"""`euphoria serve`: games in the browser."""

from __future__ import annotations

import asyncio
import socket
import sys
from types import FrameType

import uvicorn
from rich.console import Console

from euphoria_agents.commands.options import ServeOptions
from euphoria_agents.registry import load
from euphoria_agents.web.app import make_app
from euphoria_agents.web.guard import LOCAL_HOSTS
from euphoria_agents.web.store import Store
from euphoria_agents.web.tables import Hall

MOST_CONNECTIONS = 1_000


class Server(uvicorn.Server):
    """Ends the streams of events when it is told to end; uvicorn would wait for them.

    Args:
        config: as for uvicorn.
        hall: the games that people listen to.
    """

    def __init__(self, config: uvicorn.Config, hall: Hall) -> None:
        super().__init__(config)
        self._hall = hall

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """What a signal does."""
        asyncio.get_event_loop().call_soon_threadsafe(self._hall.close)
        super().handle_exit(sig, frame)


def run(options: ServeOptions) -> None:
    """The command.

    Raises:
        ValueError: the port is taken or no port, the file is of something else, or an agent cannot be loaded.
    """
    for spec in options.agents:
        load(spec)
    listening = listen(options.host, options.port)
    store = Store(options.data)
    try:
        app = make_app(store, options.agents, [*LOCAL_HOSTS, options.host, *options.hosts])
        port = listening.getsockname()[1]
        Console().print(f"Euphoria is served at http://{options.host}:{port}/ (Ctrl-C ends it; the games stay)", highlight=False)
        sys.stdout.flush()
        config = uvicorn.Config(
            app, log_level="warning", limit_concurrency=MOST_CONNECTIONS, timeout_graceful_shutdown=3, server_header=False
        )
        Server(config, app.state.hall).run(sockets=[listening])
    finally:
        listening.close()
        store.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes any that is free.

    Raises:
        ValueError: it cannot be had.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(128)
    except (OSError, OverflowError) as error:
        raise ValueError(f"{host}:{port} cannot be listened at: {error}") from error
    return found
