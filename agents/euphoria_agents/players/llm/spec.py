"""Reads the spec of a language model: its name, its server, and how it is asked."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

from euphoria_env.text import TextOptions

FORM = "llm:MODEL[@URL][?OPTION=VALUE&...]"
_SPEC = re.compile(r"(?P<model>[^?@\s]+)(@(?P<url>https?://[^?\s]+))?(\?(?P<options>\S*))?")

Dollars = Annotated[float, Meta(ge=0, le=1e6)]


class ModelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model is asked; `TextOptions` says what it is asked.

    Attributes:
        notes: whether the model may write notes to itself, which it reads at its next decision.
        temperature, seed: of the sampling; None: that of the server.
        max_output: the most tokens of an answer, thinking included; None: as the server decides.
        effort: the effort of a reasoning model, such as "low"; None: not sent.
        timeout: seconds to wait for an answer, repeated requests and pauses included.
        retries: how often a request is repeated after a 429, a 5xx, an answer that is not of the chat protocol or a lost
            connection, with growing pauses.
        price_in, price_out: dollars for a million tokens of prompts and of answers.
    """

    notes: bool = False
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = 0.0
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = 0
    max_output: Annotated[int, Meta(ge=1, le=10**6)] | None = None
    effort: str | None = None
    timeout: Annotated[float, Meta(gt=0, le=86400)] = 300.0
    retries: Annotated[int, Meta(ge=0, le=100)] = 6
    price_in: Dollars = 0.0
    price_out: Dollars = 0.0


_TEXT = tuple(one.name for one in fields(TextOptions))
_USUAL = {"rules": "short", "illegal": "random"}  # where they differ from those of the environment
_MAY_BE_NONE = ("temperature", "seed", "max_output", "effort")


class ModelSpec(msgspec.Struct, frozen=True):
    """A model: its name, the URL of its server (None: that of OPENAI_BASE_URL, or OpenAI's), and how and what it is asked."""

    model: str
    url: str | None
    options: ModelOptions
    text: TextOptions


def read_spec(text: str) -> ModelSpec:
    """Reads what follows `llm:` in a spec.

    Raises:
        ValueError: it has another form, or an option is unknown or out of range; the message names it and what is allowed.
    """
    found = _SPEC.fullmatch(text)
    if found is None:
        raise ValueError(f"a language model is named as {FORM}, not llm:{text[:80]}")
    try:
        query = found["options"]
        given: dict[str, Any] = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=True)) if query else {}
        prompts = _text_options(given)
        given = {name: None if value == "none" and name in _MAY_BE_NONE else value for name, value in given.items()}
        options = msgspec.convert(given, ModelOptions, strict=False)
    except ValueError as error:  # a `msgspec.ValidationError` is one
        names = ", ".join((*_TEXT, *ModelOptions.__struct_fields__))
        raise ValueError(f"llm:{found['model']}: {error}; options are {names}") from error
    return ModelSpec(found["model"], found["url"], options, prompts)


def _text_options(given: dict[str, Any]) -> TextOptions:
    """Returns the options of prompts among the given ones, which it removes from them."""
    if given.get("tries", "").isdecimal():
        given["tries"] = int(given["tries"])
    if given.get("illegal") == "lose":
        raise ValueError("illegal must be random or raise here: no agent can lose a game by itself")
    return TextOptions(**{**_USUAL, **{name: given.pop(name) for name in _TEXT if name in given}})
