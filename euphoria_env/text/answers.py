"""Reads the move in an answer: leniently, but without guesses, and in time linear in the length of the answer."""

from __future__ import annotations

import re
import string
from collections.abc import Collection
from typing import NamedTuple

from euphoria_env import actions

_MOVES = frozenset(actions.NAMES)
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # other letters are in no move: none may become one
# A key "move", with its text if that is whole; a key that is cut off has none. All patterns are linear.
_JSON = re.compile(r'"move"\s*:\s*(?:"([^"\\]*)")?|[{,]\s*"m(?:o(?:ve?)?)?(?:(?<=e)"\s*)?\Z')
# Tags, with blanks and attributes too; one that opens may itself be cut, or an earlier move would count.
_TAG = r"<\s*(?:(/)\s*{0}\b[^<>]*>|{0}\b[^<>]*>?)"
_MOVE, _THINK = (re.compile(_TAG.format(name), re.ASCII | re.IGNORECASE) for name in ("move", "think"))
_CUT_TAG = re.compile(r"<\s*(?:/\s*)?(?:m(?:ov?)?|t(?:h(?:in?)?)?)?\Z", re.ASCII)
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


def read_answer(answer: str, legal: Collection[str], cut: bool = False) -> Answer:
    """Reads an answer: the last `<move>...</move>`, else JSON with a key `move`, else a last line that is a legal move.

    Thinking is left out (`split_thinking`). Case and spaces are forgiven, and quotes, backticks, asterisks and full stops around
    the move. An answer that was cut, or ends within its thinking, a `<move>` or a tag, is unreadable, and so is JSON whose last
    `move` is no whole text.

    Args:
        answer: any text.
        legal: the legal moves in notation.
        cut: whether the end of the answer is missing.
    """
    text = split_thinking(answer)[0].translate(_LOWER)
    _, *parts = _MOVE.split(text)
    opened = [inside for close, inside in zip(parts[::2], parts[1::2], strict=True) if not close]
    marked = opened[-1:] or [found[1] for found in _JSON.finditer(text)][-1:]
    if cut or _THINK.search(text) or _CUT_TAG.search(text) or (parts and not parts[-2]) or None in marked:  # the last tag opens
        return Answer("", "unreadable", "no move was found in the answer: it is cut off, or ends within <think>, <move> or JSON")
    move = _plain(marked[0] if marked else text.rstrip().rstrip("`").rstrip().rpartition("\n")[2])
    if move in legal:
        return Answer(move)
    if move in _MOVES:
        return Answer("", "illegal", f"{move!r} is not legal now")
    if not marked:
        return Answer("", "unreadable", "no move was found in the answer")
    shown = ascii(move if len(move) <= _SHOWN else f"{move[:_SHOWN]}...")
    return Answer("", "illegal", f"{shown} is not a move of the game, such as 'place 4 generator'")


def split_thinking(text: str) -> tuple[str, str]:
    """Returns the answer in a text, and the thinking: what stands in `<think>...</think>`, or before a lone `</think>`.

    A `<think>` in thinking is a part of it. If the last one is never closed, the answer ends with `<think>`. What is left out
    becomes a space that is in no tag.
    """
    first, *parts = _THINK.split(text)
    said, thought, thinking = [first], list[str](), False
    for close, part in zip(parts[::2], parts[1::2], strict=True):
        if close and not thinking:
            thought += said
            said.clear()
        thinking = not close
        (thought if thinking else said).append(part)
    return "\xa0".join(said).strip() + "<think>" * thinking, "\n".join(thought).strip()


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(_AROUND)
