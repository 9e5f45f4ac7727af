"""The options of prompts and answers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from euphoria_env.json_reader import Reader, read_integer

_ALLOWED = {
    "moves": ("consequences", "list", "none"),
    "rules": ("none", "short", "whole"),
    "format": ("markdown", "json"),
    "illegal": ("lose", "random", "raise"),
}


MOST_TRIES = 100


@dataclass(frozen=True)
class TextOptions:
    """The options of a prompt, and of answers that name no legal move.

    Attributes:
        moves: what is said of the legal moves: "consequences" (costs, gains and risks), "list" (the moves alone), or "none".
        rules: the rules in the system text: "none", "short" (at most 1,500 tokens) or "whole".
        format: "markdown" or "json", with the same content.
        tries: the number of answers allowed for one decision, 1 to 100.
        illegal: what the last wrong answer does: "lose" ends the game with a reward of -1, "random" plays a random legal move,
            "raise" raises `IllegalMove` and changes nothing.

    Raises:
        ValueError: a value is not allowed; the message names the option and what is allowed.
    """

    moves: str = "consequences"
    rules: str = "none"
    format: str = "markdown"
    tries: int = 3
    illegal: str = "lose"

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            Reader().one_of(name, getattr(self, name), allowed)
        object.__setattr__(self, "tries", read_integer("tries", self.tries, 1, MOST_TRIES))

    @classmethod
    def taken_from(cls, arguments: dict[str, Any]) -> Self:
        """Returns the options among keyword arguments, which it removes from them."""
        return cls(**{one.name: arguments.pop(one.name) for one in fields(cls) if one.name in arguments})
