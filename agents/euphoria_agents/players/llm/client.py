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
_LONGEST_ERROR = 300


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
    """

    def __init__(self, spec: ModelSpec) -> None:
        self._spec, options = spec, spec.options
        self._key = os.environ.get("OPENAI_API_KEY") or _NO_KEY
        self._client = openai.OpenAI(
            api_key=self._key, base_url=spec.url, timeout=options.timeout, max_retries=options.retries
        )  # the client repeats requests after 408, 409, 429, 5xx and lost connections
        wanted: dict[str, Any] = {"temperature": options.temperature, "seed": options.seed, "max_tokens": options.max_output}
        wanted |= {"reasoning_effort": options.effort}
        self._parameters: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}

    def ask(self, messages: list[dict[str, str]]) -> Reply:
        """Returns the model's answer to a conversation.

        Raises:
            ModelFailed: there is none.
        """
        try:
            sent: Any = messages
            found: Any = self._client.chat.completions.create(model=self._spec.model, messages=sent, **self._parameters)
            return self._reply(found)
        except openai.APIStatusError as error:
            raise ModelFailed(self._failure(_reason(error))) from None
        except openai.APITimeoutError:
            raise ModelFailed(self._failure(f"no answer within {self._spec.options.timeout:g} s: use ?timeout=SECONDS")) from None
        except openai.APIConnectionError:
            raise ModelFailed(self._failure("it cannot be reached: is the server running, and the URL right?")) from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
            raise ModelFailed(self._failure(f"its answer is not of the chat protocol ({type(error).__name__})")) from None

    def _reply(self, found: Any) -> Reply:
        message = found.choices[0].message
        text = message.content or ""
        if not isinstance(text, str):
            raise TypeError("content")
        apart = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or ""
        thoughts = [match[1] for match in _THINKING.finditer(text[:_LONGEST])]
        usage = found.usage
        tokens = [int(getattr(usage, name, 0) or 0) for name in ("prompt_tokens", "completion_tokens")]
        return Reply(_THINKING.sub("", text[:_LONGEST]).strip(), "\n".join([str(apart), *thoughts]).strip()[:_LONGEST], *tokens)

    def _failure(self, reason: str) -> str:
        """Returns the message of an error, without the key."""
        text = " ".join(f"llm:{self._spec.model} at {self._client.base_url}: {reason}".split())[:_LONGEST_ERROR]
        return text if self._key == _NO_KEY else text.replace(self._key, "[key]")


def _reason(error: openai.APIStatusError) -> str:
    """Returns what a status of the server means, and the remedy."""
    said = str(error.body.get("message", "") if isinstance(error.body, dict) else error.body or "")[:120]
    if error.status_code in (401, 403):
        return "it refuses the key: set OPENAI_API_KEY"  # what it says may quote the key
    if error.status_code == 404:
        return f"it has no such model or path: {said}"
    if error.status_code == 429:
        return f"too many requests, or no credit is left: {said}"
    if "context" in said.lower() or "too long" in said.lower() or error.status_code == 413:
        return f"the prompt is too long for the model ({said}): use ?moves=list or rules=none"
    return f"status {error.status_code}: {said}"
