"""The English texts of the pages and of their server, from the sources, for tests of the catalogues that translate them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import euphoria_agents.play
from euphoria_agents.play.web.app import AGENTS
from euphoria_agents.play.web.board_data import STATIC, facts
from euphoria_agents.play.web.scenes import lessons
from euphoria_env.board import ARTIFACTS, GOODS

_LABELS = ("title", "aria-label", "placeholder", "label")
_SAYS = ("t", "plural")  # the functions of the pages whose first texts are keys


class _Texts(HTMLParser):
    """Finds the texts and labels of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside.append(tag)
        self.found += [value for name, value in attrs if name in _LABELS and value]

    def handle_endtag(self, tag: str) -> None:
        while tag in self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"code", "style", "script"} & set(self._inside[-1:]):
            self.found.append(data)


def plain(texts: Iterator[str]) -> set[str]:
    """Texts without the space around them and the line breaks in them, unless nothing is left."""
    return {" ".join(text.split()) for text in texts} - {""}


def _html_texts() -> Iterator[str]:
    for path in STATIC.glob("*.html"):
        parser = _Texts()
        parser.feed(path.read_text(encoding="utf-8"))
        yield from parser.found


def _strings(source: str) -> Iterator[tuple[str, str]]:
    """The strings of a script, those that are added up as one, each with the name of the function whose argument it is."""
    callers, at, text = [""], 0, ""
    while at < len(source):
        sign = source[at]
        if source.startswith("//", at):
            at = source.find("\n", at)
        elif sign == '"':
            end = at + 1
            while source[end] != '"':
                end += 1 + (source[end] == "\\")
            text += json.loads(source[at : end + 1])
            at = end
            if not source[at + 1 :].lstrip().startswith('+ "') and not source[at + 1 :].lstrip().startswith("+\n"):
                yield text, callers[-1]
                text = ""
        elif sign in "([{":
            before = at
            while before and (source[before - 1].isalnum() or source[before - 1] in "_$."):
                before -= 1
            callers.append(source[before:at] if sign == "(" else callers[-1] if sign == "[" else "")
        elif sign in ")]}" and len(callers) > 1:
            callers.pop()
        at += 1


def _script_strings() -> Iterator[tuple[str, str]]:
    for path in STATIC.glob("*.js"):
        yield from _strings(path.read_text(encoding="utf-8"))


def _texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts_of(one)
    elif isinstance(value, str):
        yield value


def said_texts() -> set[str]:
    """The texts that need a translation: keys that scripts name, pages, lessons, options of the rules, agents."""
    steps = [step for lesson in lessons() for step in lesson["steps"]]
    found = [text for text, caller in _script_strings() if caller in _SAYS and any(sign.isalpha() for sign in text)]
    found += [lesson["title"] for lesson in lessons()]
    found += [text for step in steps for text in (step["task"], step["right"], *step.get("wrong", {}).values())]
    found += [option["help"] for option in facts(AGENTS)["rules"].values()]
    found += [*AGENTS.values(), *(words for text in AGENTS.values() for words in text.split(": ")), *GOODS, *ARTIFACTS]
    return plain(iter(found)) | plain(_html_texts())


def known_texts() -> set[str]:
    """All that may be a text: what needs a translation, and every string of the scripts and of their server."""
    folder = Path(euphoria_agents.play.__file__).parent
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py")]
    strings = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return said_texts() | plain(text for text, _ in _script_strings()) | plain(one for one in strings if isinstance(one, str))
