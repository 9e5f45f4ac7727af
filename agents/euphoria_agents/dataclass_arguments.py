"""A command line from a dataclass: every field is an option, its help text stands beside it."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.util
import inspect
import itertools
import os
import sys
import types
import typing
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from euphoria_agents.error_text import BAD_INPUT, full_text, one_line, print_everything
from euphoria_agents.files import check_writable, overlap, same_file
from euphoria_agents.interrupts import STOPPED, interrupts_heeded

if TYPE_CHECKING:
    from euphoria_env.rules import Option

T = TypeVar("T")
TRACEBACK = "--traceback"


# ----------------------------------------------------------------------------------------------------------- the dataclass


def option(default: Any, help: str, unless: str = "", **argument: Any) -> Any:
    """A field that is an option; a list is copied for every object.

    Args:
        default: its value by default.
        help: what it is.
        unless: another option; if it is given, no file of this one is read or written.
        argument: what argparse is told besides what it knows from the type; `flag` is another name than that of the field.
    """
    metadata = {"help": help, "argument": argument, "unless": unless}
    if isinstance(default, list):
        return dataclasses.field(default_factory=default.copy, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def positional(help: str, type: Any = None, **default: Any) -> Any:
    """A field that the command line names first, without an option; with a `default` it may be left out."""
    argument = {**({"type": type} if type else {}), **({"nargs": "?"} if default else {})}
    return dataclasses.field(metadata={"help": help, "argument": argument}, **default)


def rules_options(without: Collection[str]) -> Any:
    """A field for the options of a game: a dict of keyword arguments of `Rules`, each of them an option of its own.

    Args:
        without: those that are no options of this command.
    """
    return dataclasses.field(default_factory=dict, metadata={"rules": frozenset(without)})


# -------------------------------------------------------------------------------------------------------- the command line


class Parser(argparse.ArgumentParser):
    """A parser that tells what is wrong in a line, as everything else does."""

    def error(self, message: str) -> typing.NoReturn:
        """Refuses the command line.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"{message} ({self.prog} --help lists the options)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Prints; argparse would pass over that it cannot."""
        print(message, end="", file=file)


def parse_options(options: type[T], program: str | None = None, arguments: list[str] | None = None) -> T:
    """Reads the options of a dataclass, whose docstring describes the command.

    Args:
        options: the dataclass.
        program: what the command is called; None: as it was called.
        arguments: the command line; None: that of this process.

    Raises:
        ValueError: an option is unknown, is missing or has no such value.
    """
    parser = Parser(program, description=inspect.getdoc(options), formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    hints, of_rules = typing.get_type_hints(options), {}
    for field in dataclasses.fields(options):  # type: ignore[arg-type]
        if "rules" in field.metadata:
            of_rules[field.name] = _add_rules(parser, field.metadata["rules"])
        else:
            _add(parser, field, hints[field.name])
    shown = parser.add_argument(TRACEBACK, action="store_true", default=argparse.SUPPRESS, help="show where an error came from")
    found = vars(parser.parse_args(arguments))
    found.pop(shown.dest, None)  # `command` looks for it
    for name, keys in of_rules.items():
        found[name] = {key: found.pop(key) for key in keys if key in found}
    chosen = options(**found)
    _check_outputs(chosen)
    return chosen


def _check_outputs(chosen: Any) -> None:
    """Refuses outputs that are, hold or lie in what other options read, and outputs that are one file.

    Raises:
        ValueError: names both options.
    """
    found = [
        (field.metadata.get("argument", {}).get("type"), _name_of(field), path)
        for field in dataclasses.fields(chosen)
        if getattr(chosen, field.metadata.get("unless") or "", None) is None
        for path in paths_in(getattr(chosen, field.name))
    ]
    for kind, name, output in found:
        for _, other, read in [one for one in found if kind in OUTPUTS and one[0] not in OUTPUTS]:
            if overlap(output, read):
                raise ValueError(f"{name} {output} would replace what {other} reads, {read}: choose another")
    for (_, name, first), (_, other, second) in itertools.combinations([one for one in found if one[0] is written], 2):
        if same_file(first, second):
            raise ValueError(f"{name} and {other} are one file, {second}: choose another")


def _name_of(field: dataclasses.Field[Any]) -> str:
    """The name of an option on the command line."""
    told = field.metadata.get("argument", {})
    if "nargs" in told or (field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING):
        return field.name
    return str(told.get("flag", "--" + field.name.replace("_", "-")))


def paths_in(value: Any) -> list[Path]:
    """The files and folders that the value of an option may name: a path, or those in the spec of an agent."""
    if isinstance(value, Path):
        return [value]
    if isinstance(value, list | tuple):
        return [one for part in value for one in paths_in(part)]
    if not isinstance(value, str):
        return []
    ends = [value, *(value[k + 1 :] for k, character in enumerate(value) if character in ":=")]
    return [Path(end) for end in ends if os.path.isfile(end)] + (_modules_in(value) if ":" in value else [])


def _modules_in(spec: str) -> list[Path]:
    """The file, or the folder of the package, that an agent of your own comes from; it may lie in the working folder."""
    name = spec.partition(":")[0].partition(".")[0]
    if not name.isidentifier():
        return []
    found = [file for file in (Path(f"{name}.py"), Path(name, "__init__.py")) if file.exists()]
    with contextlib.suppress(ImportError, ValueError):
        module = importlib.util.find_spec(name)
        found += [Path(module.origin)] if module and module.has_location and module.origin else []
    return [file.parent if file.name == "__init__.py" else file for file in found]


def _add(parser: argparse.ArgumentParser, field: dataclasses.Field[Any], hint: Any) -> None:
    """The argument of a field."""
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    told = field.metadata["argument"]
    argument = {**reader(hint), "help": field.metadata["help"], **told}
    if "metavar" not in told and ("choices" in told or default is dataclasses.MISSING or "nargs" in told):
        argument.pop("metavar", None)  # the choices are shown instead, or the name
    if default is dataclasses.MISSING or argument.get("nargs") == "?":
        parser.add_argument(field.name, **argument)
        return
    argument.pop("flag", None)
    parser.add_argument(_name_of(field), dest=field.name, default=_shown(default), **argument)


def _add_rules(parser: argparse.ArgumentParser, without: Collection[str]) -> list[str]:
    """The options of a game; their names."""
    from euphoria_env.rules import OPTIONS, Rules  # late: it is much to import for those who do not ask

    options = {name: one for name, one in OPTIONS.items() if name not in without}
    group = parser.add_argument_group("options of the game")
    for name, one in options.items():
        flag, default = "--" + name.replace("_", "-"), _shown(getattr(Rules(), name))
        group.add_argument(flag, default=default, help=one.help, **_rule_argument(one))
    return list(options)


def _rule_argument(rule: Option) -> dict[str, Any]:
    """The keyword arguments of `add_argument` for an option of the game."""
    if rule.kind is bool:
        return {"action": argparse.BooleanOptionalAction}
    if rule.kind is tuple:
        return {"type": str, "nargs": "+", "metavar": "NAME"}
    return {"type": int_or_none, "metavar": "INT|none"} if rule.none else {"type": int, "metavar": "INT"}


def int_or_none(text: str) -> int | None:
    """A number, or None for "none"."""
    return None if text == "none" else int(text)


def _shown(default: Any) -> Any:
    """A default as argparse shows it; it is silent of None, which the dataclass has anyway."""
    return argparse.SUPPRESS if default is None else default


def path(text: str) -> Path:
    """A path that is named.

    Raises:
        argparse.ArgumentTypeError: the name is empty.
    """
    if not text:
        raise argparse.ArgumentTypeError("the name of a file or folder is empty")
    return Path(text)


def written(text: str) -> Path:
    """A file that will be written.

    Raises:
        argparse.ArgumentTypeError: the name is empty.
        OSError: there is something that must not be replaced.
    """
    check_writable(path(text))
    return Path(text)


def written_folder(text: str) -> Path:
    """A folder in which files will be written.

    Raises:
        argparse.ArgumentTypeError: the name is empty.
    """
    return path(text)


OUTPUTS = (written, written_folder)


def reader(hint: Any) -> dict[str, Any]:
    """The function by which argparse reads a value of this type; an option that is left out is None."""
    kinds = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    kind = next(kind for kind in kinds if kind is not types.NoneType)
    if kind is bool:
        return {"action": argparse.BooleanOptionalAction}
    if typing.get_origin(kind) in (list, tuple, Sequence):
        kind = typing.get_args(kind)[0]
        return {"type": kind, "nargs": "+", "metavar": kind.__name__.upper()}
    return {"type": path if kind is Path else kind, "metavar": kind.__name__.upper()}


def command(main: Callable[[], None]) -> None:
    """Runs a command: what is wrong with its input or an agent is told in a line (status 2); an interrupt ends it (130)."""
    print_everything()
    with interrupts_heeded() as interrupt:
        try:
            try:
                main()
            finally:
                _flush()
        except (KeyboardInterrupt, Exception) as error:
            if isinstance(error, KeyboardInterrupt) or interrupt.is_set():
                exec("")  # so that `python -m` forgets one in generated code: it would end by a signal, not with our status
                notes = getattr(error, "__notes__", []) if isinstance(error, KeyboardInterrupt) else []
                print("\n" + "; ".join(["stopped", *notes]), file=sys.stderr)
                raise SystemExit(STOPPED) from None
            if not isinstance(error, BAD_INPUT) and not hasattr(error, "__notes__"):
                raise  # a fault of ours
            if TRACEBACK in sys.argv:
                print(full_text(error), file=sys.stderr)
            if not isinstance(error, BrokenPipeError):  # whoever read the output has seen enough
                print(f"error: {one_line(error)}", file=sys.stderr)
            raise SystemExit(2) from None


def _flush() -> None:
    """Flushes the output; if that fails, discards it, since the end of the process would try again and complain.

    Raises:
        OSError: it cannot be written.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise type(error)(error.errno, error.strerror, "the output cannot be written") from error
