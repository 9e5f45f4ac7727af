"""Formats errors for people: in one line, which names the agent if it is at fault, or in full."""

from __future__ import annotations

import io
import sys
import traceback
from pathlib import Path

LONGEST = 500  # an error's text is cut to this many characters
BAD_INPUT = (ValueError, OSError, RuntimeError, EOFError, ImportError)  # errors whose texts say enough without their types


class WorkerError(RuntimeError):
    """An error that was raised in another process, where `one_line` returned `line` for it, and `full_text` `text`."""

    def __init__(self, line: str, text: str) -> None:
        super().__init__(line)
        self.text = text


def one_line(error: BaseException) -> str:
    """Returns an error as one line; if an agent raised it, with its type, place and notes."""
    text, notes = " ".join(_text(error).split()), getattr(error, "__notes__", [])
    if notes or not isinstance(error, BAD_INPUT):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if notes and frames else ""
    return ", ".join([text + place, *notes])


def _text(error: BaseException) -> str:
    """Returns the text of an error; for an error of the operating system, without its number."""
    if isinstance(error, OSError) and error.strerror and len(error.args) > 1:
        return ": ".join(str(part) for part in (error.filename, error.strerror) if part is not None)
    return str(error)


def missing_library(error: ModuleNotFoundError) -> str:
    """Returns the library that this project failed to import; "" if a library did, which then is what is broken."""
    *_, last = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    by_us = str(last.f_globals.get("__name__")).startswith(("euphoria_agents", "euphoria_env"))
    return (error.name or "").partition(".")[0] if by_us else ""


def full_text(error: BaseException) -> str:
    """Returns the traceback of an error; if it was raised in another process, the traceback from there."""
    return error.text if isinstance(error, WorkerError) else "".join(traceback.format_exception(error)).rstrip()


def escape_unprintable() -> None:
    """Makes stdout and stderr print a character that they cannot encode as an escape sequence, instead of raising an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def printable(text: str, most: int = LONGEST) -> str:
    """Returns a text on one line, cut if it is long, without characters that cannot be printed."""
    line = "".join(character if character.isprintable() else " " for character in text[:most])
    return " ".join(line.split()) + "..." * (len(text) > most)
