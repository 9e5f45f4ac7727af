"""Asks a server that speaks OpenAI's chat protocol; its errors are one line each, without any key."""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from euphoria_agents.players.llm.spec import ModelSpec

try:
    import openai
except ModuleNotFoundError as error:
    raise ImportError("a language model needs openai: pip install 'euphoria-env[llm]'") from error

_NO_KEY = "none"  # local servers need no key, but the client does
_THINKING = re.compile(r"<think>(.*?)(</think>|\Z)", re.DOTALL)
_LONGEST = 100_000  # characters of an answer that are read
_LONGEST_SAID, _LONGEST_ERROR = 120, 300  # characters of what a server says of an error, and of the message
_SECRET = 6  # characters that a key must have to be hidden: a shorter one is none, and may be a word of a move
_PER_TOKEN = 4  # characters, if the server does not count tokens


class ModelFailed(RuntimeError):
    """The server gave no answer; the message says why, and what may help."""


class Reply(msgspec.Struct, frozen=True):
    """An answer of the model: its text, its thinking (kept apart), and the tokens of prompt and answer."""

    text: str
    thinking: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class ModelClient:
    """A model behind a server. Any thread may ask it.

    The key comes from the environment variable OPENAI_API_KEY, and is in no message.

    Args:
        spec: the model.

    Attributes:
        parameters: what a request holds besides the conversation.

    Raises:
        ValueError: the URL is not one, or holds a password.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self._spec, options = spec, spec.options
        self._key = os.environ.get("OPENAI_API_KEY", "").strip() or _NO_KEY
        try:  # the client repeats requests after 408, 409, 429, 5xx and lost connections
            self._client = openai.OpenAI(
                api_key=self._key, base_url=spec.url, timeout=options.timeout, max_retries=options.retries
            )
        except Exception as error:  # of its own kinds; their texts may quote a password
            raise ValueError(f"llm:{spec.model}: no client can be made: is the URL right? ({type(error).__name__})") from None
        if self._client.base_url.userinfo:
            raise ValueError(f"llm:{spec.model}: its URL holds a password, which would be shown: set OPENAI_API_KEY instead")
        wanted: dict[str, Any] = {"temperature": options.temperature, "seed": options.seed, "max_tokens": options.max_output}
        wanted |= {"reasoning_effort": options.effort}
        self.parameters: dict[str, Any] = {"model": spec.model}
        self.parameters |= {name: value for name, value in wanted.items() if value is not None}

    def ask(self, messages: list[dict[str, str]]) -> Reply:
        """Returns the model's answer to a conversation.

        Raises:
            ModelFailed: there is none.
        """
        try:
            sent: Any = messages
            found: Any = self._client.chat.completions.create(messages=sent, **self.parameters)
            return self._reply(found, sum(len(message["content"]) for message in messages))
        except openai.APIStatusError as error:
            raise ModelFailed(
                self._failure(_reason(error.status_code, self._without_key(_said(error))[:_LONGEST_SAID]))
            ) from None
        except openai.APITimeoutError:
            raise ModelFailed(self._failure(f"no answer within {self._spec.options.timeout:g} s: use ?timeout=SECONDS")) from None
        except openai.APIConnectionError as error:
            why = type(error.__cause__ or error).__name__
            raise ModelFailed(self._failure(f"it cannot be reached ({why}): is the server running, and the URL right?")) from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError) as error:
            raise ModelFailed(self._failure(f"its answer is not of the chat protocol ({type(error).__name__})")) from None

    def _reply(self, found: Any, asked: int) -> Reply:
        """Returns the answer in a response to a conversation of `asked` characters."""
        message = found.choices[0].message
        text = message.content or ""
        if not isinstance(text, str):
            raise TypeError("content")
        apart = str(getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or "")
        text, apart = (self._without_key(said.encode(errors="replace").decode())[:_LONGEST] for said in (text, apart))
        thinking = "\n".join([apart, *(match[1] for match in _THINKING.finditer(text))]).strip()
        usage, lengths = found.usage, {"prompt_tokens": asked, "completion_tokens": len(text) + len(thinking)}
        tokens = [max(0, int(getattr(usage, name, n // _PER_TOKEN) or 0)) for name, n in lengths.items()]
        return Reply(_THINKING.sub("", text).strip(), thinking[:_LONGEST], *tokens)

    def _failure(self, reason: str) -> str:
        """Returns the message of an error, without the key."""
        text = " ".join(f"llm:{self._spec.model} at {self._client.base_url}: {reason}".split())
        return self._without_key(text)[:_LONGEST_ERROR]

    def _without_key(self, text: str) -> str:
        """Returns a text without the key; it must not be cut before, since a part of the key would stay."""
        return text if len(self._key) < _SECRET else text.replace(self._key, "[key]")


def _said(error: openai.APIStatusError) -> str:
    """Returns what the server says of an error."""
    return str((error.body.get("message") if isinstance(error.body, dict) else None) or error.body or "")


def _reason(status: int, said: str) -> str:
    """Returns what a status of the server means, and the remedy."""
    if status in (401, 403):
        return "it refuses the key: set OPENAI_API_KEY"
    if status == 404:
        return f"it has no such model or path: {said}"
    if status == 429:
        return f"too many requests, or no credit is left: {said}"
    if "context" in said.lower() or "too long" in said.lower() or status == 413:
        return f"the prompt is too long for the model ({said}): use ?moves=list or rules=none"
    return f"status {status}: {said}"
