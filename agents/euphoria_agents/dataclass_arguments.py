"""A command line from a dataclass: every field is an option, whose help text stands beside it."""

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
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from euphoria_agents.error_text import BAD_INPUT, full_text, one_line, print_everything
from euphoria_agents.files import check_writable, overlap, same_file
from euphoria_agents.interrupts import STOPPED, interrupts_heeded

T = TypeVar("T")
TRACEBACK = "--traceback"

# ----------------------------------------------------------------------------------------------------------- the dataclass


def option(default: Any, help: str, unless: str = "", flag: str = "", **argument: Any) -> Any:
    """Returns a field that is an option of the command line; each object gets its own copy of a list.

    Args:
        default: its value by default.
        help: the help text.
        unless: another option; if it is given, the file that this one names is neither read nor written.
        flag: the name on the command line; by default that of the field.
        argument: keyword arguments of argparse's `add_argument`, which replace those that follow from the type.
    """
    metadata = {"help": help, "argument": argument, "unless": unless, "flag": flag}
    if isinstance(default, list):
        return dataclasses.field(default_factory=default.copy, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def positional(help: str, **default: Any) -> Any:
    """Returns a field that the command line gives by its position; with a `default` it may be left out."""
    argument = {"nargs": "?"} if default else {}
    return dataclasses.field(metadata={"help": help, "argument": argument, "positional": True}, **default)


def rules_options(**defaults: Any) -> Any:
    """Returns a field for keyword arguments of `Rules`, each an option but `num_players`; it holds those that are given.

    Args:
        defaults: what the help shows where it is not the default of `Rules`.
    """
    return dataclasses.field(default_factory=dict, metadata={"rules": defaults})


# -------------------------------------------------------------------------------------------------------- the command line


class Parser(argparse.ArgumentParser):
    """A parser that raises errors as everything else does."""

    def error(self, message: str) -> typing.NoReturn:
        """Refuses the command line.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"{message} ({self.prog} --help lists the options)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Prints a message; argparse itself ignores that the output cannot be written."""
        print(message, end="", file=file)


def parse_options(options: type[T], program: str | None = None, arguments: list[str] | None = None) -> T:
    """Reads the options of a dataclass, whose docstring describes the command.

    Args:
        options: the dataclass.
        program: the name of the command; None: the one by which it was called.
        arguments: the command line; None: that of this process.

    Raises:
        ValueError: an option is unknown, is missing or has no such value, or an output would replace what is read.
    """
    parser = Parser(program, description=inspect.getdoc(options), formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    hints, rules = typing.get_type_hints(options), dict[str, list[str]]()
    for field in dataclasses.fields(options):  # type: ignore[arg-type]
        if "rules" in field.metadata:
            rules[field.name] = _add_rules(parser, field.metadata["rules"])
        else:
            _add(parser, field, hints[field.name])
    parser.add_argument(TRACEBACK, action="store_true", default=argparse.SUPPRESS, help="show where an error came from")
    found = vars(parser.parse_args(arguments))
    found.pop("traceback", None)  # `command` looks for it
    for name, keys in rules.items():
        found[name] = {key: found.pop(key) for key in keys if key in found}
    chosen = options(**found)
    _check_outputs(chosen)
    return chosen


def _add(parser: argparse.ArgumentParser, field: dataclasses.Field[Any], hint: Any) -> None:
    """Adds the argument of a field; one that is None by default shows no default."""
    argument = _by_type(hint)
    if "positional" in field.metadata or "choices" in field.metadata["argument"]:
        argument.pop("metavar")  # argparse shows the name, or the choices
    argument |= {"help": field.metadata["help"], **field.metadata["argument"]}
    if "positional" in field.metadata:
        optional = field.default is not dataclasses.MISSING  # argparse would read a suppressed default as a value
        parser.add_argument(field.name, default=field.default if optional else argparse.SUPPRESS, **argument)
        return
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    parser.add_argument(_flag(field), dest=field.name, default=argparse.SUPPRESS if default is None else default, **argument)


def _add_rules(parser: argparse.ArgumentParser, defaults: dict[str, Any]) -> list[str]:
    """Adds the options of a game and returns their names; those that are not given stay unset."""
    from euphoria_env.rules import OPTIONS, Rules  # imports much, which the help of other commands does not need

    names = [name for name in OPTIONS if name != "num_players"]
    group = parser.add_argument_group("options of the game")
    for name in names:
        rule, default = OPTIONS[name], defaults.get(name, getattr(Rules(), name))
        argument = _by_type({bool: bool, tuple: list[str], int: int}[rule.kind])
        argument |= {"type": _int_or_none, "metavar": "INT|none"} if rule.kind is int and rule.none else {}
        help = rule.help if default is None else f"{rule.help} (default: {default})"
        group.add_argument("--" + name.replace("_", "-"), default=argparse.SUPPRESS, help=help, **argument)
    return names


def _by_type(hint: Any) -> dict[str, Any]:
    """Returns the keyword arguments of `add_argument` that follow from a type; "or None" means that it may be left out."""
    kinds = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    kind = next(kind for kind in kinds if kind is not types.NoneType)
    if kind is bool:
        return {"action": argparse.BooleanOptionalAction}
    if typing.get_origin(kind) is list:
        kind = typing.get_args(kind)[0]
        return {"type": kind, "nargs": "+", "metavar": kind.__name__.upper()}
    return {"type": path if kind is Path else kind, "metavar": kind.__name__.upper()}


def _int_or_none(text: str) -> int | None:
    return None if text == "none" else int(text)


_int_or_none.__name__ = "int or none"  # as argparse calls it in an error


def _flag(field: dataclasses.Field[Any]) -> str:
    """Returns the name of a field on the command line."""
    if "positional" in field.metadata:
        return field.name
    return field.metadata.get("flag") or "--" + field.name.replace("_", "-")


# --------------------------------------------------------------------------------------------------------- files and folders


def path(text: str) -> Path:
    """Reads the name of a file or folder.

    Raises:
        argparse.ArgumentTypeError: the name is empty.
    """
    if not text:
        raise argparse.ArgumentTypeError("the name of a file or folder is empty")
    return Path(text)


def written(text: str) -> Path:
    """Reads the name of a file that will be written.

    Raises:
        argparse.ArgumentTypeError: the name is empty.
        OSError: there is something that must not be replaced.
    """
    check_writable(path(text))
    return Path(text)


def written_folder(text: str) -> Path:
    """Reads the name of a folder in which files will be written.

    Raises:
        argparse.ArgumentTypeError: the name is empty.
    """
    return path(text)


def _check_outputs(chosen: Any) -> None:
    """Refuses an output that is, holds or lies in what another option reads, and two outputs that are one file.

    Raises:
        ValueError: names both options.
    """
    reads, outputs, files = list[tuple[str, Path]](), list[tuple[str, Path]](), list[tuple[str, Path]]()
    for field in dataclasses.fields(chosen):
        kind = field.metadata.get("argument", {}).get("type")
        if getattr(chosen, field.metadata.get("unless") or "", None) is None:
            found = [(_flag(field), one) for one in _paths_in(getattr(chosen, field.name))]
            (outputs if kind in (written, written_folder) else reads).extend(found)
            files += found if kind is written else []
    for (name, output), (other, read) in itertools.product(outputs, reads):
        if overlap(output, read):
            raise ValueError(f"{name} {output} would replace what {other} reads, {read}: choose another")
    for (name, first), (other, second) in itertools.combinations(files, 2):
        if same_file(first, second):
            raise ValueError(f"{name} and {other} are one file, {second}: choose another")


def _paths_in(value: Any) -> list[Path]:
    """Returns the files and folders that the value of an option may name: a path, or those in the spec of an agent."""
    if isinstance(value, Path):
        return [value]
    if isinstance(value, list):
        return [one for part in value for one in _paths_in(part)]
    if not isinstance(value, str):
        return []
    ends = [value, *(value[k + 1 :] for k, character in enumerate(value) if character in ":=")]
    return [Path(end) for end in ends if os.path.isfile(end)] + (_modules_in(value) if ":" in value else [])


def _modules_in(spec: str) -> list[Path]:
    """Returns the file, or the folder of the package, that defines an agent; it may lie in the working folder."""
    name = spec.partition(":")[0].partition(".")[0]
    if not name.isidentifier():
        return []
    found = [file for file in (Path(f"{name}.py"), Path(name, "__init__.py")) if file.exists()]
    with contextlib.suppress(ImportError, ValueError):
        module = importlib.util.find_spec(name)
        found += [Path(module.origin)] if module and module.has_location and module.origin else []
    return [file.parent if file.name == "__init__.py" else file for file in found]


# ------------------------------------------------------------------------------------------------------------ errors


def command(main: Callable[[], None]) -> None:
    """Runs a command; prints what is wrong with its input or an agent in a line.

    Raises:
        SystemExit: with status 2 after such an error, 130 after an interrupt.
    """
    print_everything()
    with interrupts_heeded() as interrupt:
        try:
            try:
                main()
            finally:
                _flush()
        except (KeyboardInterrupt, Exception) as error:
            if isinstance(error, KeyboardInterrupt) or interrupt.is_set():
                notes = getattr(error, "__notes__", []) if isinstance(error, KeyboardInterrupt) else []
                print("\n" + "; ".join(["stopped", *notes]), file=sys.stderr)
                raise SystemExit(STOPPED) from None
            if not isinstance(error, BAD_INPUT) and not hasattr(error, "__notes__"):
                raise  # an error of this project
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
