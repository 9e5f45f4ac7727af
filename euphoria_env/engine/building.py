"""Building: the libraries of packages are compiled, each as one piece of machine code for all its entry points."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import time
from collections.abc import Iterable
from importlib import import_module

from euphoria_env import garbage
from euphoria_env.engine import cache_files, compiler, library
from euphoria_env.engine.machine_code import Emission
from euphoria_env.engine.python_calls import memory, python_call

SECONDS_BETWEEN_LINES = 5


def build(reasons: dict[str, str]) -> dict[str, bytes]:
    """Compiles the libraries of packages, and prints why. Each is a line of JSON, then an object for each group of entry points.

    The line has the names that the objects need of Python and of the system, and the sizes of the objects.
    """
    with compiler.LOCK, garbage.collected_rarely(), contextlib.ExitStack() as running:
        *_, last = reasons
        emissions = {name: _compile(name, reason, running, name == last) for name, reason in reasons.items()}
        return {name: _joined(name, [each.result() for each in found]) for name, found in emissions.items()}


def _compile(name: str, reason: str, running: contextlib.ExitStack, is_last: bool) -> list[Emission]:
    """Compiles the entry points of a library to LLVM code; other processes make machine code of all groups but the very last."""
    for file in cache_files.files_with_entries(name):
        if name != "__main__":
            root = next(parent for parent in file.parents if not (parent / "__init__.py").exists())
            import_module(".".join(file.relative_to(root).with_suffix("").parts))
    progress.library, progress.begun = name, time.perf_counter()
    progress.tell(reason)
    compiler.load_registries()
    entries = library.entries[name].items()
    groups = [[each] for each in entries if each[1].apart] + [[each for each in entries if not each[1].apart]]
    emissions = []
    for group in groups:
        symbols = {full_name: compiler.compile_entry(entry) for full_name, entry in group}
        modules = [compiler.functions[symbol].bitcode for symbol in sorted(_closure(symbols.values()))]  # a copy for this group
        calls = [python_call(full_name, compiler.functions[symbol].described) for full_name, symbol in symbols.items()]
        emissions.append(Emission([*modules, *calls], set(symbols), memory()))
        if not is_last or group is not groups[-1]:
            emissions[-1].start(running)
    progress.tell("optimising all of it")
    if is_last:
        emissions[-1].make()  # before this process waits for the others
    return emissions


def _joined(name: str, objects: list[tuple[list[str], bytes]]) -> bytes:
    """Returns the line of JSON and the objects of a library."""
    progress.library = name
    progress.tell("compiled")
    needed = sorted({each for names, _ in objects for each in names})
    return json.dumps([needed, [len(code) for _, code in objects]]).encode() + b"\n" + b"".join(code for _, code in objects)


def _closure(symbols: Iterable[str]) -> set[str]:
    """Returns the symbols of entry points and of all the functions that they call."""
    left = list(symbols)
    found = set(left)
    while left:
        new = set(compiler.functions[left.pop()].calls) - found
        found |= new
        left += new
    return found


class _Progress:
    """Prints a line to stderr every few seconds while a library is compiled."""

    library, begun = "", 0.0
    _last_line = math.inf  # no line is printed before a library is begun

    def step(self) -> None:
        """Prints how many functions are compiled, unless a line was printed a short time ago."""
        if time.perf_counter() - self._last_line > SECONDS_BETWEEN_LINES:
            self.tell(f"{len(compiler.functions)} functions")

    def tell(self, text: str) -> None:
        self._last_line = time.perf_counter()
        print(f"compiling {self.library}: {text} ({self._last_line - self.begun:.0f} s)", file=sys.stderr, flush=True)


progress = _Progress()
compiler.watchers.append(progress.step)
