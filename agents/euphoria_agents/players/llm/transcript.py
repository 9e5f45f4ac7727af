"""Transcripts: what a model was asked and what it answered, a JSONL file for each game, from which a run resumes."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from euphoria_agents.files import append_line, read_whole
from euphoria_agents.own_files import TRANSCRIPT
from euphoria_agents.players.llm.client import Reply

VERSION = 1


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """One answer.

    Attributes:
        version: of this format.
        key: the hash of all that the model was sent, by which the answer is found again.
        prompt: the last message that it was sent.
        answer, thinking: what it said.
        tries: the number of this answer at its decision, from 1 on.
        fault: "" if it was a legal move, else "illegal" or "unreadable".
        tokens_in, tokens_out: tokens of prompt and answer.
        seconds: how long it took.
        cut: whether the server cut the answer.
    """

    version: int
    key: str
    prompt: str
    answer: str
    thinking: str
    tries: int
    fault: str
    tokens_in: int
    tokens_out: int
    seconds: float
    cut: bool = False


class Transcripts:
    """The transcripts of a folder; any thread may use it.

    Args:
        folder: where the files are; None: answers are not kept.
        asked: what the model is sent besides the conversation, its name among it; other answers in the folder are not used.

    Raises:
        ValueError: a file in the folder is not a transcript, or one of another version; the message names it.
    """

    def __init__(self, folder: Path | None, asked: Mapping[str, Any] | None = None) -> None:
        self._folder, self._asked, self._lock = folder, dict(asked or {}), threading.Lock()
        self._known: dict[str, list[Line]] = {}
        for path in sorted(folder.glob("*.jsonl")) if folder is not None else ():
            self._read(path)

    def _read(self, path: Path) -> None:
        """Reads a transcript, and leaves it as it is; lines that an interrupt has cut off do not count."""
        content = read_whole(path)
        if not re.match(TRANSCRIPT, content):
            raise ValueError(f"{path}: no transcript; use another folder")
        for number, text in enumerate(content.splitlines(), 1):
            try:
                line = msgspec.json.decode(text, type=Line)
                if line.version != VERSION:
                    raise msgspec.ValidationError(f"version {line.version}, not {VERSION}")
            except msgspec.ValidationError as error:
                raise ValueError(f"{path}, line {number}: no transcript of this version ({error}); use another folder") from None
            except msgspec.DecodeError:
                continue
            self._known.setdefault(f"{path.stem} {line.key}", []).append(line)

    def known(self, game: str, messages: list[dict[str, str]]) -> Reply | None:
        """Returns the answer that these messages had in this game before; each answer is returned once."""
        with self._lock:
            lines = self._known.get(f"{game} {self._hash(messages)}")
            line = lines.pop(0) if lines else None
        return None if line is None else Reply(line.answer, line.thinking, line.tokens_in, line.tokens_out, line.cut)

    def add(self, game: str, messages: list[dict[str, str]], reply: Reply, tries: int, fault: str, seconds: float) -> None:
        """Appends an answer to the transcript of a game."""
        if self._folder is None:
            return
        said = reply.text, reply.thinking, tries, fault, reply.tokens_in, reply.tokens_out, round(seconds, 3), reply.cut
        line = Line(VERSION, self._hash(messages), messages[-1]["content"], *said)
        with self._lock:
            append_line(self._folder / f"{game}.jsonl", msgspec.json.encode(line).decode())

    def _hash(self, messages: list[dict[str, str]]) -> str:
        return hashlib.sha256(json.dumps([self._asked, messages], sort_keys=True).encode()).hexdigest()[:24]
