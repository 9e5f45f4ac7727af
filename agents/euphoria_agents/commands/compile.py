"""`euphoria compile`: compiles the engine and the agents, if they are not compiled."""

from __future__ import annotations

import time

from euphoria_agents.commands.shared_arguments import CompileOptions
from euphoria_env.engine import library
from euphoria_env.engine.cache_files import cache_directory
from euphoria_env.engine.jit import IS_PLAIN


def prepare() -> None:
    """Compiles what is not compiled yet, so that no command waits or measures time while it compiles; says so on stderr.

    A command calls it once its options are checked, since it may take a minute.
    """
    if not IS_PLAIN:
        library.ready_all()


def run(options: CompileOptions) -> None:
    """Compiles everything, and prints how long it took; raises a `ValueError` if the compiler is switched off."""
    if IS_PLAIN:
        raise ValueError("NUMBA_DISABLE_JIT is set: nothing can be compiled")
    start, before = time.perf_counter(), library.times_compiled()
    prepare()
    if library.times_compiled() > before:
        print(f"compiled in {time.perf_counter() - start:.0f} s, kept in {cache_directory() or 'no folder: none can be used'}")
    else:
        print("everything was compiled already")
