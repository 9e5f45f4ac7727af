"""Texts as data: a `Phrase` has the id of a template and its arguments; `say` says it in a language.

The templates are in `en.toml`, `es.toml`, by id; English names of cards and spaces are made from their identifiers. In a template
`{a}` stands for an argument, `{+n}` for a number with its sign, and `{a?this|that}` for one of two texts: the first if `a` is the
reader or the number 1. A third text is for several players; without it they get the first.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from euphoria_env.board import ARTIFACTS, GOODS
from euphoria_env.json_reader import shown
from euphoria_env.phrases.names import english_names, names_of

_FOLDER = Path(__file__).parent
LANGUAGES = ("en", *sorted(path.stem for path in _FOLDER.glob("*.toml") if path.stem != "en"))
_FIRST_LETTER = {"capital": str.upper, "small": str.lower}
_READER = ("you", "named_you")
_SYMBOLS = (*GOODS, *ARTIFACTS, "artifact", "resource", "commodity", "star_at", "worker", "knowledge", "morale")


class Phrase:
    """The id of a template, and its arguments: texts, numbers and other phrases. `str` says it in English."""

    __slots__ = ("_hash", "args", "id")

    def __init__(self, id: str, /, **args: Any) -> None:
        self.id, self.args, self._hash = id, args, 0

    def __str__(self) -> str:
        """Returns the phrase in English."""
        return say(self)

    def __repr__(self) -> str:
        """Returns the id and the arguments."""
        return f"Phrase({self.id!r}, {self.args})"

    def __eq__(self, other: object) -> bool:
        """Returns whether both say the same."""
        return isinstance(other, Phrase) and self.id == other.id and self.args == other.args

    def __hash__(self) -> int:
        """Returns the hash of the id and the arguments."""
        if not self._hash:
            self._hash = hash((self.id, *self.args.values()))
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns a call that makes a copy; hashes differ between processes."""
        return partial(Phrase, self.id, **self.args), ()

    def within(self) -> Iterator[Phrase]:
        """Yields the phrase, and the phrases among its arguments."""
        yield self
        for value in self.args.values():
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, Phrase):
                    yield from one.within()


Text = Phrase | str
Unit = dict[str, str]  # the number, the symbol and the words of an amount: {"n": "2", "symbol": "gold", "words": "2 gold"}
YOU = Phrase("you")  # the reader


def listed(parts: Iterable[Text], last: str = "and") -> Text:
    """Returns parts as a list, such as "a, b and c"; `last` is one of "and", "or", "either", "comma", "semicolon"."""
    parts = tuple(filter(None, parts))
    return Phrase(last, parts=parts) if len(parts) > 1 else parts[0] if parts else ""


class _Language:
    """The templates of a language, and how it joins lists."""

    def __init__(self, code: str) -> None:
        tables = tomllib.loads((_FOLDER / f"{code}.toml").read_text(encoding="utf-8"))
        self._euphony = tables.pop("euphony", {})
        names = tables.pop("names", {})
        self.templates = english_names() if code == "en" else names_of(names)
        for key, found in tables.items():
            self.templates |= {key: found} if isinstance(found, str) else {f"{key}.{name}": row for name, row in found.items()}
        self._compiled: dict[str, tuple[Any, ...]] = {}
        both, either = self.templates["join.and"], self.templates["join.or"]
        self._joins = {"and": (", ", both), "or": (", ", either), "either": (either, either)}  # between parts, before the last
        self._joins |= {"comma": (", ", ", "), "semicolon": ("; ", "; ")}

    def say(self, text: Text, units: list[Unit] | None = None) -> str:
        """Returns a text; if `units` is a list, amounts go there, and their numbers between zero characters into the text."""
        if not isinstance(text, Phrase):
            return str(text)
        if text.id in self._joins:
            return self._joined([self.say(part, units) for part in text.args["parts"]], *self._joins[text.id])
        said = self._filled(self._compiled.get(text.id) or self._compile(text.id), text.args, units)
        kind, _, name = text.id.partition(".")
        if text.id in _FIRST_LETTER:
            return _FIRST_LETTER[text.id](said[:1]) + said[1:]
        if units is not None and kind in ("amount", "track") and name in _SYMBOLS:
            n = text.args["n"]
            shown = f"{n:+d}".replace("-", "−") if kind == "track" else str(n)
            units.append({"n": shown, "symbol": name.removesuffix("_at"), "words": said})
            return f"\0{len(units) - 1}\0"
        return said

    def _compile(self, id: str) -> tuple[Any, ...]:
        self._compiled[id] = compiled(self.templates[id])
        return self._compiled[id]

    def _filled(self, parts: tuple[Any, ...], args: Mapping[str, Any], units: list[Unit] | None) -> str:
        found = []
        for part in parts:
            if isinstance(part, str):
                found.append(part)
                continue
            name, ways = part
            if ways:
                found.append(self._filled(ways[_way(args[name], len(ways))], args, units))
            elif name[0] == "+":
                found.append(f"{args[name[1:]]:+d}")
            else:
                found.append(self.say(args[name], units))
        return "".join(found)

    def _joined(self, parts: list[str], between: str, last: str) -> str:
        """Joins parts; before some letters a language has other words for "and" and "or"."""
        other, letters = self._euphony.get(last, (last, []))
        end = other if parts[-1].lower().startswith(tuple(letters)) else last
        return f"{between.join(parts[:-1])}{end}{parts[-1]}"


def _way(value: Any, ways: int) -> int:
    """Returns the number of the text that fits an argument."""
    if isinstance(value, Phrase) and value.id == "and":
        return 2 if ways > 2 else 0
    return 0 if value == 1 or (isinstance(value, Phrase) and value.id in _READER) else 1


def compiled(template: str) -> tuple[Any, ...]:
    """Returns a template as texts and fields; a field is the name of its argument, and the texts among which it chooses."""
    return _parsed(template, 0, "")[0]


def _parsed(template: str, at: int, ends: str) -> tuple[tuple[Any, ...], int]:
    """Returns the parts up to one of the characters `ends`, and where that is."""
    parts: list[Any] = [""]
    while at < len(template) and template[at] not in ends:
        if template[at] != "{":
            parts[-1] += template[at]
        else:
            field, at = _field(template, at + 1)
            parts += [field, ""]
        at += 1
    return tuple(part for part in parts if part), at


def _field(template: str, at: int) -> tuple[tuple[str, tuple[Any, ...]], int]:
    """Returns the field that begins there, and the place of its closing bracket."""
    end = min(k for k in (template.find(sign, at) for sign in "?}") if k >= 0)
    name, ways = template[at:end], []
    while template[end] != "}":
        way, end = _parsed(template, end + 1, "|}")
        ways.append(way)
    return (name, tuple(ways)), end


@cache
def arguments(template: str) -> frozenset[str]:
    """Returns the names of the arguments of a template."""
    found, parts = set(), [*compiled(template)]
    for part in parts:
        if isinstance(part, tuple):
            found.add(part[0].removeprefix("+"))
            parts += [inner for way in part[1] for inner in way]
    return frozenset(found)


@cache
def _language(code: str) -> _Language:
    if code not in LANGUAGES:
        raise ValueError(f"the language must be one of {', '.join(LANGUAGES)}, not {shown(code)}")
    return _Language(code)


def templates(language: str) -> Mapping[str, str]:
    """Returns the templates of a language by id; a `ValueError` says which languages there are."""
    return _language(language).templates


def say(text: Text, language: str = "en") -> str:
    """Returns a text in a language; a `ValueError` says which languages there are."""
    return _language(language).say(text)


def say_with_symbols(text: Text, language: str = "en") -> str | list[str | Unit]:
    """Returns a text in a language; if it has amounts of things with a symbol, as a list in which they stand apart."""
    units: list[Unit] = []
    said = _language(language).say(text, units)
    if not units:
        return said
    parts = said.split("\0")
    return [units[int(part)] if k % 2 else part for k, part in enumerate(parts) if part]
