"""Reads the move in an answer: leniently, but without guesses, and in time linear in the length of the answer."""

from __future__ import annotations

import re
import string
from collections.abc import Collection
from typing import NamedTuple

from euphoria_env import actions

_MOVES = frozenset(actions.NAMES)
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # other letters are in no move: none may become one
_JSON = re.compile(r'"move"\s*:\s*"([^"\\]*)"')
_AROUND = " `*\"'."  # what an answer may put around a move
_SHOWN = 100  # the most characters of an answer in an error


class Answer(NamedTuple):
    """The move in an answer, or the fault.

    Attributes:
        move: the legal move that it names; "" if it names none.
        fault: "" if it names one, else "illegal" (it names a move that is not legal) or "unreadable" (it names no move).
        error: what is wrong with it, in ASCII; "" if nothing.
    """

    move: str
    fault: str = ""
    error: str = ""


def read_answer(answer: str, legal: Collection[str]) -> Answer:
    """Reads an answer: the last `<move>...</move>`, else JSON with a key `move`, else a last line that is a legal move.

    Case and spaces are forgiven, and quotes, backticks, asterisks and full stops around the move.

    Args:
        answer: any text.
        legal: the legal moves in notation.
    """
    text = answer.translate(_LOWER)
    marked = _marked(text)
    move = _plain(text.rstrip().rpartition("\n")[2] if marked is None else marked)
    if move in legal:
        return Answer(move)
    if move in _MOVES:
        return Answer("", "illegal", f"{move!r} is not legal now")
    if marked is None:
        return Answer("", "unreadable", "no move was found in the answer")
    shown = ascii(move if len(move) <= _SHOWN else f"{move[:_SHOWN]}...")
    return Answer("", "illegal", f"{shown} is not a move of the game, such as 'place 4 generator'")


def _marked(text: str) -> str | None:
    """Returns what stands in the last tag or, without one, at the last key; None without either."""
    start = text.rfind("<move>", 0, max(0, text.rfind("</move>")))
    if start >= 0:
        return text[start + len("<move>") : text.index("</move>", start)]
    found = _JSON.findall(text)
    return found[-1] if found else None


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(_AROUND)
