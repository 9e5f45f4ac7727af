"""Makes agents from specs, which are lines of text: built-in agents, those that installed packages register, and your own.

The part before the first colon is looked up among the built-in names, then among the entry points of the group
`euphoria_agents`, then as a module; the working folder is searched last. The class or function that is found is called with the
rest of the text, or without arguments if there is none.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from euphoria_agents.files import file_hash

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from euphoria_agents.agent import Agent

GROUP = "euphoria_agents"  # the group of entry points by which packages register agents
OWN_FORM = "module:Name[:ARGUMENT]"


class Builtin(NamedTuple):
    """An agent of this project."""

    form: str  # how its spec is written; optional parts stand in brackets
    target: str  # what makes it, as module:name; imported only when needed, since some modules import large libraries
    fields: tuple[str, ...] = ()  # what its argument consists of, between colons; PATH is a file, and only the last has colons


BUILTIN = {
    "random": Builtin("random", "euphoria_agents.players.random:Uniform"),
    "weights": Builtin("weights", "euphoria_agents.players.weights:Weights"),
    "greedy": Builtin("greedy[:SAMPLES]", "euphoria_agents.players.greedy:make_greedy", ("SAMPLES",)),
    "mcts": Builtin("mcts:BUDGET[:EVALUATOR[:PATH]]", "euphoria_agents.players.mcts:make_mcts", ("BUDGET", "EVALUATOR", "PATH")),
    "boardspace": Builtin("boardspace[:BUDGET]", "euphoria_agents.players.boardspace:make_boardspace", ("BUDGET",)),
    "llm": Builtin("llm:MODEL[@URL][?OPTIONS]", "euphoria_agents.players.llm.agent:make_llm", ("MODEL",)),
    "ppo": Builtin("ppo[:PATH]", "euphoria_agents.players.ppo:make_ppo", ("PATH",)),
}


def fields_of(spec: str) -> dict[str, str]:
    """Returns the fields in the spec of an agent of this project, by name: BUDGET, EVALUATOR and so on; nothing for others."""
    name, colon, argument = spec.partition(":")
    fields = BUILTIN[name].fields if colon and name in BUILTIN else ()
    return dict(zip(fields, argument.split(":", len(fields) - 1), strict=False)) if fields else {}


def specs() -> list[str]:
    """Returns the forms of the specs that `load` takes: for built-in agents, agents of installed packages, and your own."""
    plugins = sorted({point.name for point in _registered()} - set(BUILTIN))
    return [*(row.form for row in BUILTIN.values()), *(f"{name}[:ARGUMENT]" for name in plugins), OWN_FORM]


def _registered(**wanted: Any) -> EntryPoints:
    """Returns the entry points of the group."""
    from importlib.metadata import entry_points  # late: it is slow to import

    return entry_points(group=GROUP, **wanted)


def load(spec: str) -> Agent:
    """Makes an agent from a line of text such as "random", "mcts:0.5s", "ppo:path/to/checkpoint" or "my_module:MyAgent".

    Returns:
        An `Agent`; if the agent is not built in, any object with the method `act` (`euphoria_env.agent_protocol.Player`).

    Raises:
        ValueError: there is no such agent; its argument is missing, superfluous or wrong; or it is not built in, and cannot be
            imported or made, or has no `act`. The message names the fault.
    """
    found = _find(spec)
    if not found.builtin:
        return _make(found, _import(found))
    factory = getattr(importlib.import_module(found.module), found.name)
    return factory(found.argument) if found.argument else factory()


def load_untrusted(spec: str, allowed: Collection[str] = ()) -> Agent:
    """Loads an agent by a spec from a file or a machine that is not trusted: opens no code or file that the user has not named.

    Args:
        spec: a built-in one without a path (a hash after @ is no path), or one of those allowed.
        allowed: the specs that the user named when the program was started.

    Raises:
        ValueError: the spec is any other one; or see `load`.
    """
    check_allowed(spec, allowed)
    return load(spec)


def language_models(specs: Iterable[str]) -> list[str]:
    """Returns the specs of language models among these, each once."""
    return [spec for spec in dict.fromkeys(specs) if "MODEL" in fields_of(spec)]


def is_builtin(spec: str) -> bool:
    """Returns whether a spec names an agent of this project."""
    return isinstance(spec, str) and spec.partition(":")[0] in BUILTIN


def ships(spec: str) -> bool:
    """Returns whether a spec names an agent of this project and no file of yours; a hash after @ is no file."""
    return is_builtin(spec) and not _path_in(spec)


def check_allowed(spec: str, allowed: Collection[str]) -> None:
    """Raises a `ValueError` for a spec that `load_untrusted` does not load."""
    if spec not in allowed and not ships(spec):
        raise ValueError(f"agent {spec!r} is not built in, or names a file: allow it by name when the program is started")


def places_of(spec: str) -> list[str]:
    """Returns the files and folders of an agent that is not built in: its package or module, and its argument."""
    found = _find(spec)
    folders, file = _home(found)
    return [*(folders or [file or ""]), *([found.argument] if Path(found.argument).is_file() else [])]


def files_of(spec: str) -> dict[str, Path]:
    """Returns the file that the spec of an agent of this project names, by name; nothing if it names none."""
    named = Path(_path_in(spec))
    return {named.name: named} if named.is_file() else {}


def file_hashes(spec: str) -> dict[str, str]:
    """Returns the beginning of the SHA-256 of `files_of`, or of the shipped network if the agent plays it, by name.

    What other agents read is known only when they have played: `euphoria_agents.provenance`.
    """
    files, fields = files_of(spec), fields_of(spec)
    plays_network = spec.partition(":")[0] == "ppo" or "ppo" in fields.get("EVALUATOR", "").split("+")
    if plays_network and not files:
        from euphoria_agents.players.ppo import checkpoint_path

        path = checkpoint_path(fields.get("PATH", ""))
        files = {path.name: path} if path.is_file() else {}
    return {name: file_hash(path) for name, path in files.items()}


# ------------------------------------------------------------------------------------------------------- what a spec names


class _Found(NamedTuple):
    """The target of a spec: a class or function in a module, and the argument with which it is called."""

    spec: str
    module: str
    name: str
    argument: str
    plugin: str = ""  # the installed package that registers it
    builtin: bool = False  # whether it is an agent of this project

    def wrong(self, what: str, error: BaseException | None = None) -> ValueError:
        """Returns an error with this message that names the spec and the package."""
        origin = f" of the package {self.plugin!r}" if self.plugin else ""
        reason = f": {type(error).__name__}: {error}" if error else ""
        return ValueError(f"agent {self.spec!r}{origin}: {what}{reason}")


def _find(spec: str) -> _Found:
    if not isinstance(spec, str):
        raise _unknown(spec, "it is not a text")
    name, _, argument = spec.partition(":")
    if name in BUILTIN:
        return _find_builtin(spec, name, argument)
    points = list(_registered(name=name))
    if points:
        owners = sorted(point.dist.name if point.dist else "?" for point in points)
        if len(points) > 1:
            raise ValueError(f"several installed packages register the agent {name!r}: {', '.join(owners)}")
        return _Found(spec, points[0].module, points[0].attr, argument, owners[0])
    attribute, _, argument = argument.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), attribute)):
        raise _unknown(spec)
    return _Found(spec, name, attribute, argument)


def _find_builtin(spec: str, name: str, argument: str) -> _Found:
    row = BUILTIN[name]
    takes = row.form.removeprefix(name)  # "", "[:SAMPLES]" or ":BUDGET..."
    if (not argument and takes.startswith(":")) or (argument and not takes) or spec == f"{name}:":
        raise _unknown(spec, f"it is written {row.form}")
    module, _, target = row.target.partition(":")
    return _Found(spec, module, target, argument, builtin=True)


def _path_in(spec: str) -> str:
    """Returns the path or language model in the spec of an agent of this project; empty if there is none, or a hash after @."""
    fields = fields_of(spec)
    path = fields.get("PATH", fields.get("MODEL", ""))
    return "" if path.startswith("@") else path


def _unknown(spec: Any, why: str = "") -> ValueError:
    reason = f" ({why})" if why else ""
    return ValueError(f"no agent is called {spec!r}{reason}; allowed are {', '.join(specs())}")


# -------------------------------------------------------------------------------------------------- agents from elsewhere


def _search_working_folder() -> None:
    """Appends the working folder to `sys.path`, where it stays, since an agent may import more when it plays."""
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    importlib.invalidate_caches()


def _home(found: _Found) -> tuple[list[str], str | None]:
    """Returns the folders of the package that a spec names, and the file of the module."""
    _search_working_folder()
    name = found.module.partition(".")[0]
    spec = importlib.util.find_spec(name)
    if spec is None:
        why = f"there is no module {name!r}"
        raise found.wrong(why) if found.plugin else _unknown(found.spec, why)
    return list(spec.submodule_search_locations or []), spec.origin


def _import(found: _Found) -> Callable[..., Any]:
    """Returns the class or factory that a spec names."""
    _search_working_folder()
    try:
        target: Any = importlib.import_module(found.module)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and not found.plugin and f"{found.module}.".startswith(f"{missing}."):
            raise _unknown(found.spec, f"there is no module {missing!r}") from None
        raise found.wrong(f"module {found.module!r} cannot be imported", error) from error
    for name in found.name.split("."):
        if not hasattr(target, name):
            raise found.wrong(f"module {found.module!r} has no {found.name!r}")
        target = getattr(target, name)
    if not callable(target):
        raise found.wrong(f"{found.name!r} is {target!r}, neither a class nor a factory: it cannot be called")
    return target


def _make(found: _Found, factory: Callable[..., Any]) -> Agent:
    """Returns the agent that a factory makes, if it can play."""
    arguments = [found.argument] if found.argument else []
    try:
        made = factory(*arguments)
    except (Exception, SystemExit) as error:
        called = f"with {found.argument!r}" if arguments else "with nothing"
        raise found.wrong(f"{found.name!r}, called {called}, failed", error) from error
    if not callable(getattr(made, "act", None)):
        raise found.wrong(f"{found.name!r} makes {made!r}, which has no method `act`")
    return made  # or a `Player`, which suffices
