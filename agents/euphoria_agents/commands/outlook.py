"""`euphoria outlook`: the chances of all seats for a trained player."""

from __future__ import annotations

from rich.console import Console

from euphoria_agents.training.config import OutlookOptions
from euphoria_agents.training.outlook import fit


def run(options: OutlookOptions) -> None:
    """The command."""
    print(f"written: {fit(options, Console(emoji=False))}")
