"""Makes the command line of a dataclass: every field is an option, and its help text stands beside it."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import difflib
import inspect
import itertools
import os
import sys
import tomllib
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from euphoria_agents.error_text import BAD_INPUT, escape_unprintable, full_text, one_line
from euphoria_agents.files import read_text
from euphoria_agents.interrupts import STOPPED, interrupts_heeded
from euphoria_agents.own_files import Owned, check_outputs

T = TypeVar("T")
TRACEBACK = "--traceback"

# ----------------------------------------------------------------------------------------------------------- the dataclass


def option(default: Any, help: str, flag: str = "", files: Owned | None = None, unless: str = "", **argument: Any) -> Any:
    """Returns a field that is an option of the command line; each object gets its own copy of a list.

    Args:
        flag: the name on the command line; by default that of the field.
        files: of a path, which every path must have: the files that the command writes there (`own_files`).
        unless: the field of another option, with which it writes none of them.
        argument: keyword arguments of argparse's `add_argument`, which replace those that follow from the type.
    """
    if files is not None:
        argument = {"metavar": "FILE" if not files or "" in files else "FOLDER", **argument}
    metadata = {"help": help, "argument": argument, "flag": flag, "files": files, "unless": unless}
    if isinstance(default, list):
        return dataclasses.field(default_factory=default.copy, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def positional(help: str, files: Owned | None = None, **default: Any) -> Any:
    """Returns a field that is a positional argument of the command line; with a `default` it may be left out."""
    argument = {"nargs": "?"} if default else {}
    metadata = {"help": help, "argument": {"metavar": None, **argument}, "positional": True, "files": files}
    return dataclasses.field(metadata=metadata, **default)


def rules_options(**defaults: Any) -> Any:
    """Returns a field that holds the given keyword arguments of `Rules`; each of them but `num_players` is an option.

    The help shows `defaults` instead of those of `Rules`.
    """
    return dataclasses.field(default_factory=dict, metadata={"rules": defaults})


# -------------------------------------------------------------------------------------------------------- the command line


class Parser(argparse.ArgumentParser):
    """A parser that raises errors instead of ending the process."""

    def error(self, message: str) -> typing.NoReturn:
        """Raises a `ValueError` with this message instead of ending the process."""
        raise ValueError(f"{message} ({self.prog} --help lists the options)")


def parse_options(options: type[T], program: str | None = None, arguments: list[str] | None = None) -> T:
    """Reads the options of a dataclass, whose docstring describes the command.

    Args:
        program: the name of the command; None: the one by which it was called.
        arguments: the command line; None: that of this process.

    Raises:
        ValueError: an option is unknown, missing or has a wrong value, or the command would replace a file that is not its own.
        OSError: an output cannot be written.
    """
    parser = Parser(program, description=inspect.getdoc(options))
    hints, rules = typing.get_type_hints(options), dict[str, list[str]]()
    for field in dataclasses.fields(options):  # type: ignore[arg-type]
        if "rules" in field.metadata:
            rules[field.name] = _add_rules(parser, field.metadata["rules"])
        else:
            default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
            argument = field.metadata["argument"] | ({} if "positional" in field.metadata else {"dest": field.name})
            if (_by_type(hints[field.name]).get("type") is path) is (field.metadata["files"] is None):
                raise TypeError(f"{field.name}: every path, and nothing else, says which files are written there")
            _add(parser, _flag(field), hints[field.name], field.metadata["help"], default, **argument)
    parser.add_argument(TRACEBACK, action="store_true", help="show where an error came from")
    found = vars(parser.parse_args(arguments))
    found.pop("traceback")  # which is not a field; `command` looks for it itself
    if (config := found.get("config")) is not None:
        found = _read_config(config, hints, [*itertools.chain(*rules.values())]) | found
    for name, keys in rules.items():
        found[name] = {key: found.pop(key) for key in keys if key in found}
    chosen = options(**found)
    check_files(chosen)
    return chosen


def _read_config(file: Path, hints: dict[str, Any], rules: list[str]) -> dict[str, Any]:
    """Returns the options in a TOML file, by the names of their fields; a `ValueError` names one that there is not."""
    try:
        given = tomllib.loads(read_text(file))
    except ValueError as error:
        raise ValueError(f"{file} is no TOML file: {error}") from None
    found, known = {}, {*hints, *rules} - {"config", "game"}
    for name, value in given.items():
        field = name.replace("-", "_")
        if field not in known:
            near = difflib.get_close_matches(field, known, 1)
            meant = f"do you mean {near[0]}?" if near else f"allowed are {', '.join(sorted(known))}"
            raise ValueError(f"{file}: there is no option {name!r}: {meant}")
        found[field] = Path(value) if isinstance(value, str) and "Path" in str(hints.get(field)) else value
    return found


def _flag(field: dataclasses.Field[Any]) -> str:
    """Returns the name of a field on the command line."""
    if "positional" in field.metadata:
        return field.name
    return field.metadata.get("flag") or "--" + field.name.replace("_", "-")


def _add_rules(parser: argparse.ArgumentParser, defaults: dict[str, Any]) -> list[str]:
    """Adds the options of a game and returns their names."""
    from euphoria_env.rules import OPTIONS, Rules  # imports much, which the help of other commands does not need

    names = [name for name in OPTIONS if name != "num_players"]
    group = parser.add_argument_group("options of the game")
    for name in names:
        rule, default = OPTIONS[name], defaults.get(name, getattr(Rules(), name))
        argument = {"type": _int_or_none, "metavar": "INT|none"} if rule.kind is int and rule.none else {}
        kind = {bool: bool, tuple: list[str], int: int}[rule.kind]
        _add(group, "--" + name.replace("_", "-"), kind, rule.help, default, **argument)
    return names


def _add(parser: Any, flag: str, hint: Any, help: str, default: Any, **argument: Any) -> None:
    """Adds an argument, which is absent from the result if it is not given; its help shows the default, unless None or empty."""
    if default not in (None, [], dataclasses.MISSING):
        help = f"{help} (default: {' '.join(map(str, default)) if isinstance(default, list) else default})"
    unset = default if "nargs" in argument else argparse.SUPPRESS  # argparse would store SUPPRESS as the value
    parser.add_argument(flag, **{"default": unset, "help": help, **_by_type(hint), **argument})


def _by_type(hint: Any) -> dict[str, Any]:
    """Returns the keyword arguments of `add_argument` that follow from a type; "or None" in the type is ignored."""
    kinds = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    kind = next(kind for kind in kinds if kind is not types.NoneType)
    if kind is bool:
        return {"action": argparse.BooleanOptionalAction}
    several = typing.get_origin(kind) is list
    kind = typing.get_args(kind)[0] if several else kind
    return {"type": path if kind is Path else kind, "metavar": kind.__name__.upper(), **({"nargs": "+"} if several else {})}


def _int_or_none(text: str) -> int | None:
    return None if text == "none" else int(text)


_int_or_none.__name__ = "int or none"  # as argparse calls it in an error


# --------------------------------------------------------------------------------------------------------- files and folders


def path(text: str) -> Path:
    """Returns the name of a file or folder as a path; argparse refuses an empty one."""
    if not text:
        raise argparse.ArgumentTypeError("the name of a file or folder is empty")
    return Path(text)


def check_files(options: Any) -> None:
    """Checks by `own_files.check_outputs` what the options of a command read and write; raises what that raises."""
    reads, writes = list[tuple[str, str]](), list[tuple[str, Path, Owned]]()
    for field in dataclasses.fields(options):
        files, value, unless = field.metadata.get("files"), getattr(options, field.name), field.metadata.get("unless")
        if not files:
            reads += [(_flag(field), file) for file in _files_in(value)]
        elif value is not None and not (unless and getattr(options, unless)):
            writes.append((_flag(field), value, files))
    check_outputs(writes, reads)


def _files_in(value: Any) -> Iterator[str]:
    """Yields the files that the value of an option names: by a path, or in the spec of an agent."""
    for one in value if isinstance(value, list) else [value]:
        text = str(one) if isinstance(one, str | Path) else ""
        ends = [text, *(text[k + 1 :] for k, character in enumerate(text) if character in ":=")]
        yield from filter(os.path.isfile, ends)


# ------------------------------------------------------------------------------------------------------------ errors


def command(main: Callable[[], None]) -> None:
    """Runs a command; if its input is wrong or an agent fails, prints that as one line. A warning takes a line too.

    Raises:
        SystemExit: with status 2 after such an error, 130 after an interrupt.
    """
    escape_unprintable()
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"  # without a line of source
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
                raise  # a bug of this project deserves its traceback
            if TRACEBACK in sys.argv:
                print(full_text(error), file=sys.stderr)
            if not isinstance(error, BrokenPipeError):  # whoever read the output has seen enough
                print(f"error: {one_line(error)}", file=sys.stderr)
            raise SystemExit(2) from None


def _flush() -> None:
    """Flushes the output; if that fails, discards it, since Python would try again when the process ends, and complain.

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
