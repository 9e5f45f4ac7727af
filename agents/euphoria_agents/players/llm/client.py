"""Asks a server that speaks OpenAI's chat protocol; its errors are one line each, without any key."""

from __future__ import annotations

import asyncio
import json
import os
from importlib import import_module
from typing import Annotated, Any

import msgspec

from euphoria_agents.error_text import missing_library, printable
from euphoria_agents.players.llm.spec import ModelSpec
from euphoria_env.text import split_thinking

try:
    import openai
except ModuleNotFoundError as error:
    if missing_library(error) != "openai":
        raise
    raise ImportError("a language model needs openai: pip install 'euphoria-env[llm]'") from error

_HTTP: Any = import_module(str(openai.DefaultAsyncHttpxClient.__base__.__module__).partition(".")[0])  # httpx, or httpx2
_NO_KEY = "none"  # local servers need no key, but the client does
_MOST_BYTES = 2**20  # of a response
_TOO_LONG, _NO_CHAT = 499, 599  # the status that such a response gets; the client repeats the request after the second
_CUT = ("length", "max_tokens", "content_filter")  # reasons to finish before the end, in lower case
_LONGEST_SAID, _LONGEST_ERROR = 120, 300  # characters of what a server says of an error, and of the message
_SECRET = 6  # characters that a key must have to be hidden: a shorter one is none, and may be a word of a move
_PER_TOKEN = 4  # characters, if the server does not count tokens


class ModelFailed(RuntimeError):
    """The server gave no answer; the message says why, and what may help."""


class Reply(msgspec.Struct, frozen=True):
    """An answer of the model: its text, its thinking (kept apart), the tokens of prompt and answer, and whether it was cut."""

    text: str
    thinking: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cut: bool = False


Tokens = Annotated[int, msgspec.Meta(ge=-(10**9), le=10**9)] | None  # a negative number counts as 0


class _Message(msgspec.Struct):
    """A message of the model; servers have different names for its thinking."""

    content: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: Any = None


class _Usage(msgspec.Struct):
    prompt_tokens: Tokens = None
    completion_tokens: Tokens = None


class _Response(msgspec.Struct):
    """A response of the chat protocol, as far as it is used."""

    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    usage: _Usage | None = None


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
        self._tls, plain = _HTTP.create_ssl_context(), {"accept-encoding": "identity"}  # a small body may unpack to a huge one
        try:  # the client repeats requests after 408, 409, 429, 5xx and lost connections
            self._client = openai.AsyncOpenAI(
                api_key=self._key, base_url=spec.url, timeout=None, max_retries=options.retries, default_headers=plain
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
            return asyncio.run(self._response(messages))
        except openai.APIStatusError as error:
            raise ModelFailed(
                self._failure(_reason(error.status_code, self._without_key(_said(error))[:_LONGEST_SAID]))
            ) from None
        except TimeoutError:
            raise ModelFailed(self._failure(f"no answer within {self._spec.options.timeout:g} s: use ?timeout=SECONDS")) from None
        except openai.APIConnectionError as error:
            why = type(error.__cause__ or error).__name__
            raise ModelFailed(self._failure(f"it cannot be reached ({why}): is the server running, and the URL right?")) from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            raise ModelFailed(self._failure(f"its answer is not of the chat protocol ({type(error).__name__})")) from None

    async def _response(self, messages: Any) -> Reply:
        """Returns the answer of the server; the time limit holds for the whole exchange, pauses included."""
        asked, replies = sum(len(message["content"]) for message in messages), list[Reply]()

        async def read(response: Any) -> None:
            """Reads a response; anything but an answer, such as a page of a proxy, becomes an error of the server."""
            body = await _body(response)
            try:
                if response.is_success:
                    replies.append(self._reply(body, asked))
            except (ValueError, RecursionError):
                response.status_code = _NO_CHAT

        async with asyncio.timeout(self._spec.options.timeout):
            async with openai.DefaultAsyncHttpxClient(verify=self._tls, event_hooks={"response": [read]}) as http:
                client = self._client.with_options(http_client=http)
                await client.chat.completions.create(messages=messages, **self.parameters)
        return replies[-1]

    def _reply(self, body: bytes, asked: int) -> Reply:
        """Returns the answer in the body of a response to a conversation of `asked` characters, or raises a `ValueError`."""
        found = msgspec.convert(json.loads(body), _Response)
        choice, message = found.choices[0], found.choices[0].message
        texts = message.content or "", str(message.reasoning_content or message.reasoning or "")
        text, apart = (self._without_key(said.encode(errors="replace").decode()) for said in texts)
        answer, thinking = split_thinking(text)
        thinking = f"{apart}\n{thinking}".strip()
        usage, said = found.usage or _Usage(), len(answer) + len(thinking)
        counts = (usage.prompt_tokens, asked), (usage.completion_tokens, said)
        read, written = (length // _PER_TOKEN if told is None else max(0, told) for told, length in counts)
        return Reply(answer, thinking, read, written, str(choice.finish_reason).lower() in _CUT)

    def _failure(self, reason: str) -> str:
        """Returns the message of an error, without the key."""
        text = self._without_key(f"llm:{self._spec.model} at {self._client.base_url}: {reason}")
        return printable(text)[:_LONGEST_ERROR]

    def _without_key(self, text: str) -> str:
        """Returns a text without the key; it must not be cut before, since a part of the key would stay."""
        return text if len(self._key) < _SECRET else text.replace(self._key, "[key]")


async def _body(response: Any) -> bytes:
    """Reads a response, and returns its body; one that is too long gets the status of an error."""
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > _MOST_BYTES:
            response.status_code = _TOO_LONG
            break
    await response.aclose()
    response._content = bytes(body)
    return response._content


def _said(error: openai.APIStatusError) -> str:
    """Returns what the server says of an error."""
    return str((error.body.get("message") if isinstance(error.body, dict) else None) or error.body or "")


def _reason(status: int, said: str) -> str:
    """Returns what a status of the server means, and the remedy."""
    if status == _TOO_LONG:
        return f"its answer has more than {_MOST_BYTES:,} bytes: use ?max_output=TOKENS"
    if status == _NO_CHAT:
        return f"its answer is not of the chat protocol: {said}"
    if status in (401, 403):
        return "it refuses the key: set OPENAI_API_KEY"
    if status == 404:
        return f"it has no such model or path: {said}"
    if status == 429:
        return f"too many requests, or no credit is left: {said}"
    if "context" in said.lower() or "too long" in said.lower() or status == 413:
        return f"the prompt is too long for the model ({said}): use ?moves=list or rules=none"
    return f"status {status}: {said}"
