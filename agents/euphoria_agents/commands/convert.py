"""`euphoria convert`: a player of an older version as one of this version."""

from __future__ import annotations

from euphoria_agents.commands.shared_arguments import ConvertOptions
from euphoria_agents.network.checkpoint import convert


def run(options: ConvertOptions) -> None:
    """The command.

    Raises:
        ValueError: the file is not a player of a known older version.
        OSError: the new file cannot be written.
    """
    print(f"written: {convert(options.old, options.new)}")
