"""`euphoria serve`: serves games in the browser."""

from __future__ import annotations

from contextlib import ExitStack, closing

from rich.console import Console

from euphoria_agents.commands.compile import prepare
from euphoria_agents.commands.replay import checked_record
from euphoria_agents.commands.shared_arguments import ServeOptions
from euphoria_agents.files import read_text
from euphoria_agents.play import Agents
from euphoria_agents.play.web.app import make_app
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.guard import LOCAL_HOSTS
from euphoria_agents.play.web.server import Server, listen
from euphoria_agents.play.web.store import Store, check_place
from euphoria_agents.play.web.studies import player_names


def run(options: ServeOptions) -> None:
    """Serves until it is interrupted. The file of games is made after all checks, so that no error leaves a new file behind.

    Raises a `ValueError` if the port, the file, the record or an agent is wrong, an `AgentFailed` if one ends or is too slow.
    """
    with closing(Agents(options.agents)) as agents:
        for spec in options.agents:
            agents.check(spec)
    record = None if options.record is None else read_text(options.record)
    check_place(options.data)
    with ExitStack() as stack:
        listening = stack.enter_context(closing(listen(options.host, options.port)))
        prepare()
        names = [] if options.record is None or record is None else player_names(checked_record(options.record, record))
        store = stack.enter_context(closing(Store(options.data)))
        app = make_app(store, options.agents, [*LOCAL_HOSTS, options.host, *options.hosts])
        page = address(options.host, listening.getsockname()[1])
        if record is not None:
            try:
                page += f"study/{app.state.studies.keep(record, names)[0]}"
            except Refused as error:
                raise ValueError(f"{options.record}: {error}") from error
        told = f"Euphoria is served at {page} (Ctrl-C ends it; the games stay)"
        Console(emoji=False, markup=False).print(told, highlight=False, soft_wrap=True)
        Server(app, page if options.browser else None, timeout_graceful_shutdown=3).run(sockets=[listening])


def address(host: str, port: int) -> str:
    """Returns the address of the first page."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
