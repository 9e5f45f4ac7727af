"""The command `euphoria`, also run by `python -m euphoria_agents`; it handles interrupts before it imports anything large."""

from __future__ import annotations

import os
import sys

from euphoria_agents.interrupts import end_quietly


def main(arguments: list[str] | None = None) -> None:
    """Runs the command that the command line names, and raises what `command` raises."""
    if arguments is None:
        end_quietly()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported; threads do not help with small arrays
    from euphoria_agents.commands import call
    from euphoria_agents.dataclass_arguments import command

    command(lambda: call(sys.argv[1:] if arguments is None else arguments))


if __name__ == "__main__":
    main()
