"""A command line from a dataclass: every field is an option, its help text stands beside it."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def option(default: Any, help: str) -> Any:
    """A field with its help text; a list is copied for every object."""
    if isinstance(default, list):
        return dataclasses.field(default_factory=default.copy, metadata={"help": help})
    return dataclasses.field(default=default, metadata={"help": help})


def parse_options(options: type[T], description: str | None, arguments: list[str] | None = None) -> T:
    """Reads the options of a dataclass from the command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    hints = typing.get_type_hints(options)
    for field in dataclasses.fields(options):  # type: ignore[arg-type]
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        flag = "--" + field.name.replace("_", "-")
        parser.add_argument(flag, default=default, help=field.metadata["help"], **_reader(hints[field.name]))
    return options(**vars(parser.parse_args(arguments)))


def _reader(hint: Any) -> dict[str, Any]:
    """How argparse reads a value of this type."""
    if hint is bool:
        return {"action": argparse.BooleanOptionalAction}
    if typing.get_origin(hint) is list:
        kind = typing.get_args(hint)[0]
        return {"type": kind, "nargs": "+", "metavar": kind.__name__.upper()}
    if isinstance(hint, types.UnionType):
        hint = next(kind for kind in typing.get_args(hint) if kind is not types.NoneType)
    return {"type": hint, "metavar": hint.__name__.upper()}


def command(main: Callable[[], None]) -> None:
    """Runs a script: what is wrong with its input is told in one line (status 2); an interrupt ends it (status 130)."""
    try:
        main()
    except (ValueError, OSError, RuntimeError, EOFError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        raise SystemExit(130) from None
