"""Reads the spec of a language model: its name, its server, and how it is asked."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

FORM = "llm:MODEL[@URL][?OPTION=VALUE&...]"
_SPEC = re.compile(r"(?P<model>[^?@\s]+)(@(?P<url>https?://[^?\s]+))?(\?(?P<options>\S*))?")

Dollars = Annotated[float, Meta(ge=0, le=1e6)]


class ModelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model is asked.

    Attributes:
        moves, rules, format, tries: as for `euphoria_env.text.TextOptions`.
        illegal: what happens when all tries were wrong: "random" plays a random legal move, "raise" ends the run with an error.
        notes: whether the model may write notes to itself, which it reads at its next decision.
        temperature, seed: of the sampling; None: that of the server.
        max_output: the most tokens of an answer, thinking included; None: as the server decides.
        effort: the effort of a reasoning model, such as "low"; None: not sent.
        timeout: seconds to wait for an answer.
        retries: how often a request is repeated after a 429, a 5xx, a time limit or a lost connection, with growing pauses.
        price_in, price_out: dollars for a million tokens of prompts and of answers.
    """

    moves: Literal["consequences", "list", "none"] = "consequences"
    rules: Literal["none", "short", "whole"] = "short"
    format: Literal["markdown", "json"] = "markdown"
    tries: Annotated[int, Meta(ge=1, le=20)] = 3
    illegal: Literal["random", "raise"] = "random"
    notes: bool = False
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = 0.0
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = 0
    max_output: Annotated[int, Meta(ge=1, le=10**6)] | None = None
    effort: str | None = None
    timeout: Annotated[float, Meta(gt=0, le=86400)] = 300.0
    retries: Annotated[int, Meta(ge=0, le=100)] = 6
    price_in: Dollars = 0.0
    price_out: Dollars = 0.0


class ModelSpec(msgspec.Struct, frozen=True):
    """A model: its name, the URL of its server (None: that of OPENAI_BASE_URL, or OpenAI's), and how it is asked."""

    model: str
    url: str | None
    options: ModelOptions


def read_spec(text: str) -> ModelSpec:
    """Reads what follows `llm:` in a spec.

    Raises:
        ValueError: it has another form, or an option is unknown or out of range; the message names it and what is allowed.
    """
    found = _SPEC.fullmatch(text)
    if found is None:
        raise ValueError(f"a language model is named as {FORM}, not llm:{text[:80]}")
    try:
        given: dict[str, Any] = dict(
            parse_qsl(found["options"] or "", keep_blank_values=True, strict_parsing=bool(found["options"]))
        )
        options = msgspec.convert(
            {name: None if value == "none" and name in _MAY_BE_NONE else value for name, value in given.items()},
            ModelOptions,
            strict=False,
        )
    except ValueError as error:  # a `msgspec.ValidationError` is one
        raise ValueError(f"llm:{found['model']}: {error}; options are {', '.join(ModelOptions.__struct_fields__)}") from error
    return ModelSpec(found["model"], found["url"], options)


_MAY_BE_NONE = ("temperature", "seed", "max_output", "effort")
