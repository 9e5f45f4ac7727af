"""`euphoria train`: trains a player by self-play."""

from __future__ import annotations

from rich.console import Console

from euphoria_agents.commands.compile import prepare
from euphoria_agents.training.config import Options
from euphoria_agents.training.saved_run import open_job
from euphoria_agents.training.trainer import train


def run(options: Options) -> None:
    """Trains the player; a `KeyboardInterrupt` leaves a run that was saved before."""
    console = Console(emoji=False, markup=False)
    open_job(options)  # which tells what is wrong, before anything is compiled
    prepare()
    trained = train(options, console)
    folder = trained.options.run
    console.print(f"written: {folder}")
    if trained.interrupted:
        interrupt = KeyboardInterrupt()
        interrupt.add_note(f"--resume {folder} continues where it stopped")
        raise interrupt
