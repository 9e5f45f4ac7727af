"""The command `euphoria`, which `python -m euphoria_agents` is too; it catches interrupts before it imports anything large."""

from __future__ import annotations

import os
import sys

from euphoria_agents.interrupts import end_quietly


def main(arguments: list[str] | None = None) -> None:
    """Runs the command that the command line names.

    Raises:
        SystemExit: it failed; status 2 for what is wrong with its input, 130 after an interrupt.
    """
    if arguments is None:
        end_quietly()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small arrays, threads would only wait
    from euphoria_agents.commands import call
    from euphoria_agents.dataclass_arguments import command

    command(lambda: call(sys.argv[1:] if arguments is None else arguments))


if __name__ == "__main__":
    main()
