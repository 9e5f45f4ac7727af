"""The error for an unknown keyword of a constructor: it names what was called, and the keyword that was probably meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_Class = TypeVar("_Class", bound=type)
_HINTS = {"max_episode_steps": "max_turns ends games, or vectorization_mode='sync' of gymnasium.make_vec counts steps"}


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """Returns the keywords that a function or class takes by name."""
    return [one.name for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD]


def names_keywords(*further: str) -> Callable[[_Class], _Class]:
    """Returns a decorator of classes, whose constructors then raise a `TypeError` with a hint for an unknown keyword.

    Args:
        further: the keywords that the constructor takes as `**`.
    """

    def decorate(cls: _Class) -> _Class:
        known, construct = list(dict.fromkeys([*keywords_of(cls), *further])), cls.__init__  # type: ignore[misc]

        @wraps(construct)
        def checked(self: Any, *arguments: Any, **keywords: Any) -> None:
            for name in keywords:
                if name not in known:
                    raise TypeError(_unexpected(type(self).__name__, name, known))
            construct(self, *arguments, **keywords)

        cls.__init__ = checked  # type: ignore[misc]
        return cls

    return decorate


def _unexpected(called: str, name: str, known: list[str]) -> str:
    """Returns the message for an unknown keyword."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1, 0.7)  # with less, `thread` would be taken for `reward`
    hint = _HINTS.get(name) or (f"did you mean {near[0]!r}?" if near else f"allowed are {', '.join(known)}")
    return f"{called}() got an unexpected keyword {name!r}; {hint}"
