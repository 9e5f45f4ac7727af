"""`euphoria train`: a player trained by self-play."""

from __future__ import annotations

from rich.console import Console

from euphoria_agents.training.options import Options
from euphoria_agents.training.run import train


def run(options: Options) -> None:
    """The command."""
    console = Console()
    finished = train(options, console)
    console.print(f"written: {finished.options.run}")
