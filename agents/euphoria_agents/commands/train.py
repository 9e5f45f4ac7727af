"""`euphoria train`: a player trained by self-play."""

from __future__ import annotations

from rich.console import Console

from euphoria_agents.training.config import Options
from euphoria_agents.training.run import train
from euphoria_agents.training.workers import torchrun_rank


def run(options: Options) -> None:
    """The command.

    Raises:
        KeyboardInterrupt: it was interrupted, saved and stopped.
    """
    console = Console(quiet=torchrun_rank() > 0, emoji=False)  # the first worker tells
    finished = train(options, console)
    console.print(f"written: {finished.options.run}")
    if finished.interrupted:
        interrupt = KeyboardInterrupt()
        interrupt.add_note(f"--resume {finished.options.run} goes on where it was")
        raise interrupt
