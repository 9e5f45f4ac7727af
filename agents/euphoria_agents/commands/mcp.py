"""`euphoria mcp`: serves games to language models by the Model Context Protocol, on stdin and stdout."""

from __future__ import annotations

from contextlib import closing

from euphoria_agents.commands.shared_arguments import McpOptions
from euphoria_agents.play import Agents
from euphoria_agents.play.mcp_server import make_server
from euphoria_agents.play.web.limits import Limits
from euphoria_agents.registry import load


def run(options: McpOptions) -> None:
    """Serves until stdin ends; raises a `ValueError` if an agent that is named cannot be made."""
    named = [*options.allow, *([options.hints] if options.hints else [])]
    for spec in named:
        load(spec)
    limits = Limits()
    with closing(Agents(named, limits.agents, limits.seconds, limits.first_seconds)) as agents:
        make_server(agents, options.hints).run()
