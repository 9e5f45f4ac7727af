"""Converts texts, moves and lines of the log to what the pages get: texts in their language, and what they tell as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from euphoria_agents.play.joint_moves import Way
from euphoria_env.json_reader import Json
from euphoria_env.phrases import LANGUAGES, YOU, Phrase, Text, listed, say_with_symbols
from euphoria_env.words import Move
from euphoria_env.words.event_text import LogLine
from euphoria_env.words.names import counted

COOKIE = "language"  # has the language that somebody chose


def encoded(found: Any, language: str = "en") -> bytes:
    """Returns data as JSON, with its phrases in a language."""
    return msgspec.json.encode(found, enc_hook=partial(said_in, language))


def said_in(language: str, value: Any) -> Any:
    """Returns a phrase in a language, as JSON; raises `NotImplementedError`, as msgspec asks, for what JSON cannot hold."""
    if isinstance(value, Phrase):
        return say_with_symbols(value, language)
    raise NotImplementedError(f"{type(value).__name__} cannot be sent")


def wanted_language(asked: str | None, accepted: str) -> str:
    """Returns the language for a browser: the one that it asks for, or else the first that it accepts; otherwise English."""
    codes = [asked or "", *(part.split(";")[0].strip().split("-")[0].lower() for part in accepted.split(","))]
    return next((code for code in codes if code in LANGUAGES), "en")


def move_data(move: Move) -> Json:
    """Returns a move in words, and what it gives as data."""
    facts = move.facts
    return {
        "action": move.action,
        "notation": move.notation,
        "space": move.space,
        "group": facts.group,
        "text": facts.text,
        "title": _title(facts.text),
        "cost": facts.costs,
        "gain": facts.gains,
        "risk": facts.risks,
        "gives": [*_given([*facts.gain, *facts.notes])],
    }


def _title(text: Text) -> Text:
    """Returns a move below a question that says what a recruit is chosen for."""
    if isinstance(text, Phrase) and text.id in ("move.choose_active", "move.choose_hidden"):
        return text.args["recruit"]
    return text


def _given(texts: Iterable[Text]) -> Iterator[tuple[str, int | str]]:
    """Yields the player's stars, their steps of knowledge, the factions whose allegiance advances, and "win"."""
    for phrase in (one for text in texts if isinstance(text, Phrase) for one in text.within()):
        if phrase.id == "amount.star_at":
            yield "star", phrase.args["n"]
        elif phrase.id == "track.knowledge":
            yield "knowledge", phrase.args["n"]
        elif phrase.id in ("track.allegiance", "item.allegiance"):
            yield "allegiance", phrase.args["a"].id.removeprefix("faction.")
        elif phrase.id == "does.wins" and phrase.args["who"] == YOU:
            yield "win", 1


def way_data(way: Way) -> Json:
    """Returns a way to answer a series, in words."""
    return {"actions": way.actions, "text": listed((counted(n, item) for item, n in way.items.items()), "comma")}


def brief(text: Text) -> Text:
    """Returns a move as a part of a sentence: "4 on the Farm", "take back the 4 from the Farm"."""
    if isinstance(text, Phrase) and text.id.startswith("move.place_"):
        return Phrase(text.id.replace("move.place_", "brief.place_"), **text.args)
    return Phrase("small", text=text)


def briefly(moves: Mapping[int, Sequence[Text]]) -> dict[int, list[Text]]:
    """Returns the moves of each decision as parts of sentences."""
    return {ply: [brief(move) for move in pair] for ply, pair in moves.items()}


def asked(question: Phrase) -> Text:
    """Returns what a question asks, without who decides; empty after the end of a game."""
    return question.args.get("text", question).args.get("what", "")


def line_data(line: LogLine) -> Json:
    """Returns what a line tells of, the turn that begins at its end, and whose that is."""
    return {"text": line.happened, "turn": line.turn, "who": line.clauses[-1][0] if line.turn is not None else ""}
