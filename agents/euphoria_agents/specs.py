"""From a line of text to an agent: those that come with the project, those that packages register, and anybody's own.

The first part of a spec, up to a colon, is looked for among the built-in names, then among the entry points of the group
`euphoria_agents`, then as a module; the working folder is searched last. What is found is called with the text that follows, or
with nothing.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import sys
from collections.abc import Callable, Collection
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, NamedTuple

GROUP = "euphoria_agents"  # of the entry points
OWN = "module:Name[:ARGUMENT]"


class Builtin(NamedTuple):
    """An agent of this project: how its spec is written, what makes it, and whether the spec may, or must, have an argument."""

    form: str
    target: str
    may: bool
    must: bool = False


# The modules are imported when they are asked for: some bring big libraries along.
BUILTIN = {
    "random": Builtin("random", "euphoria_agents.players.uniform:Uniform", may=False),
    "weights": Builtin("weights", "euphoria_agents.players.weights:Weights", may=False),
    "greedy": Builtin("greedy[:SAMPLES]", "euphoria_agents.players.greedy:make_greedy", may=True),
    "mcts": Builtin("mcts:BUDGET[:EVALUATOR]", "euphoria_agents.players.mcts:make_mcts", may=True, must=True),
    "boardspace": Builtin("boardspace[:BUDGET]", "euphoria_agents.players.boardspace:make_boardspace", may=True),
    "ppo": Builtin("ppo[:PATH]", "euphoria_agents.players.ppo:make_ppo", may=True),
}


def specs() -> list[str]:
    """How the specs are written that `load` takes here: the built-in ones, those of installed packages, and one's own."""
    plugins = sorted({point.name for point in entry_points(group=GROUP)} - set(BUILTIN))
    return [*(row.form for row in BUILTIN.values()), *(f"{name}[:ARGUMENT]" for name in plugins), OWN]


def load(spec: str) -> Any:
    """Makes an agent from a line of text such as "random", "mcts:0.5s", "ppo:path/to/checkpoint" or "my_module:MyAgent".

    Returns:
        An `Agent`, or at least something that has `act`, and `needs_game` if it wants a game.

    Raises:
        ValueError: there is no such agent; its argument is missing, superfluous or wrong; or it is somebody's own and cannot be
            imported or made, or has no `act`. The message says which.
    """
    target, argument = _find(spec)
    if isinstance(target, Builtin):
        module, _, name = target.target.partition(":")
        make = getattr(importlib.import_module(module), name)
        return make(argument) if argument else make()
    return _make(spec, _import(spec, target), argument)


def load_untrusted(spec: str, allowed: Collection[str] = ()) -> Any:
    """`load` for specs that stand in a file made elsewhere, or come from another machine: nothing of theirs is run or opened.

    Args:
        spec: a built-in one without a path, or one of those allowed.
        allowed: what the user named when the program was started.

    Raises:
        ValueError: any other spec; see `load`.
    """
    name, _, argument = str(spec).partition(":")
    if spec not in allowed and (name not in BUILTIN or "ppo:" in spec):
        raise ValueError(f"{spec!r} was named by a file, not by you: name it yourself to allow it")
    return load(spec)


def files_of(spec: str) -> list[Path]:
    """The files that an agent depends on beside this project: those of the module that makes it, and one that the spec names.

    A module in a package stands for all of the package.

    Raises:
        ValueError: see `load`.
    """
    target, _ = _find(spec)
    parts = spec.split(":")
    named = [Path(":".join(parts[k:])) for k in range(1, len(parts))]
    files = [path for path in named if path.is_file()]
    if not isinstance(target, Builtin):
        _import(spec, target)
        top = sys.modules[_module_of(target).partition(".")[0]]
        for folder in getattr(top, "__path__", []):
            files += sorted(Path(folder).rglob("*.py"))
        if getattr(top, "__file__", None) and not hasattr(top, "__path__"):
            files.append(Path(str(top.__file__)))
    return files


def hash_of(spec: str) -> bytes:
    """A hash of `files_of`, with which one version of an agent is told from another; empty without files."""
    digest = hashlib.blake2b(spec.encode())
    files = files_of(spec)
    for path in files:
        digest.update(b"\0" + path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest() if files else b""


# ------------------------------------------------------------------------------------------------------------ where it is

Target = Builtin | EntryPoint | tuple[str, str]  # the last: module and name


def _find(spec: str) -> tuple[Target, str]:
    """What a spec names, and its argument."""
    if not isinstance(spec, str):
        raise _unknown(spec, "it is no text")
    name, colon, argument = spec.partition(":")
    if name in BUILTIN:
        row = BUILTIN[name]
        if bool(argument) != bool(colon) or (not row.may if colon else row.must):
            raise _unknown(spec, f"it is written {row.form}")
        return row, argument
    plugins = list(entry_points(group=GROUP, name=name))
    if plugins:
        if len(plugins) > 1:
            owners = ", ".join(sorted(str(point.dist and point.dist.name) for point in plugins))
            raise ValueError(f"several installed packages register the agent {name!r}: {owners}")
        return plugins[0], argument
    attribute, _, argument = argument.partition(":")
    if not colon or not re.fullmatch(r"\w+(\.\w+)*", name) or not attribute.isidentifier():
        raise _unknown(spec)
    return (name, attribute), argument


def _unknown(spec: Any, why: str = "") -> ValueError:
    reason = f" ({why})" if why else ""
    return ValueError(f"no agent is called {spec!r}{reason}; allowed are {', '.join(specs())}")


def _module_of(target: EntryPoint | tuple[str, str]) -> str:
    return target[0] if isinstance(target, tuple) else target.module


def _import(spec: str, target: EntryPoint | tuple[str, str]) -> Callable[..., Any]:
    """The class or factory that a spec names."""
    module = _module_of(target)
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())  # stays: an agent may import more when it plays
    importlib.invalidate_caches()
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if isinstance(target, tuple) and error.name and (module == error.name or module.startswith(f"{error.name}.")):
            raise _unknown(spec, f"there is no module {error.name!r}") from None
        raise _fault(spec, f"module {module!r} cannot be imported", error) from error
    except (Exception, SystemExit) as error:
        raise _fault(spec, f"module {module!r} cannot be imported", error) from error
    for name in target[1:] if isinstance(target, tuple) else target.attr.split("."):
        if not hasattr(found, name):
            raise ValueError(f"agent {spec!r}: module {module!r} has no {name!r}")
        found = getattr(found, name)
    if not callable(found):
        raise ValueError(f"agent {spec!r}: {found!r} is neither a class nor a factory, it cannot be called")
    return found


def _make(spec: str, factory: Callable[..., Any], argument: str) -> Any:
    """What a factory makes, if it can play."""
    try:
        agent = factory(argument) if argument else factory()
    except Exception as error:
        called = f"called with {argument!r}" if argument else "called with nothing"
        raise _fault(spec, f"{called}, {getattr(factory, '__qualname__', factory)} failed", error) from error
    if not callable(getattr(agent, "act", None)):
        raise ValueError(f"agent {spec!r}: what it makes is {agent!r}, which has no method `act`")
    return agent


def _fault(spec: str, what: str, error: BaseException) -> ValueError:
    return ValueError(f"agent {spec!r}: {what}: {type(error).__name__}: {error}")
