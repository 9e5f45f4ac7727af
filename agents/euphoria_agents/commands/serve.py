"""`euphoria serve`: games in the browser."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from contextlib import ExitStack, closing
from pathlib import Path
from types import FrameType

import uvicorn
from rich.console import Console

from euphoria_agents.commands.shared_arguments import ServeOptions
from euphoria_agents.files import read_text
from euphoria_agents.registry import load
from euphoria_agents.web.app import make_app
from euphoria_agents.web.game_registry import GameRegistry
from euphoria_agents.web.guard import LOCAL_HOSTS
from euphoria_agents.web.refusals import Refused
from euphoria_agents.web.store import Store
from euphoria_agents.web.studies import Studies, player_names
from euphoria_env import Game

MOST_CONNECTIONS = 1_000


class Server(uvicorn.Server):
    """Ends the streams of events when it is told to end; uvicorn would wait for them.

    Args:
        config: as for uvicorn.
        hall: the games that people listen to.
        page: opened in the browser once the server is there; None: none is.
    """

    def __init__(self, config: uvicorn.Config, hall: GameRegistry, page: str | None) -> None:
        super().__init__(config)
        self._hall = hall
        self._page = page

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer."""
        await super().startup(sockets)
        if self._page is not None:
            await asyncio.to_thread(webbrowser.open, self._page)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """What a signal does."""
        asyncio.get_event_loop().call_soon_threadsafe(self._hall.close)
        super().handle_exit(sig, frame)


def run(options: ServeOptions) -> None:
    """The command.

    Raises:
        ValueError: the port is taken or no port, the file or the record is of something else, or an agent cannot be loaded.
    """
    for spec in options.agents:
        load(spec)
    with closing(listen(options.host, options.port)) as listening, closing(Store(options.data)) as store:
        app = make_app(store, options.agents, [*LOCAL_HOSTS, options.host, *options.hosts])
        page = address(options.host, listening.getsockname()[1])
        if options.record is not None:
            page += f"study/{study_of(options.record, app.state.studies)}"
        told = f"Euphoria is served at {page} (Ctrl-C ends it; the games stay)"
        Console(emoji=False).print(told, highlight=False, soft_wrap=True)
        config = uvicorn.Config(
            app, log_level="warning", limit_concurrency=MOST_CONNECTIONS, timeout_graceful_shutdown=3, server_header=False
        )
        Server(config, app.state.hall, page if options.browser else None).run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes any that is free.

    Raises:
        ValueError: it cannot be had.
    """
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


def study_of(record: Path, studies: Studies) -> str:
    """The study of a record in a file; a new one, if there is none yet.

    Raises:
        ValueError: it cannot be read, or is damaged, or there are too many; names the file.
        CannotSave: what it says.
    """
    text = read_text(record)
    try:
        return studies.of(text, player_names(Game.from_record(text)))
    except (ValueError, Refused) as error:
        raise ValueError(f"{record}: {error}") from error
