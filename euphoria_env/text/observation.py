"""A decision as text: what the seat may know, what happened since it last decided, the question and the legal moves."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from euphoria_env.text.facts import Facts, facts_of
from euphoria_env.text.options import TextOptions
from euphoria_env.words import Move, legal_moves, log, question

if TYPE_CHECKING:
    from euphoria_env.game import Game

HOW_TO_ANSWER = "Answer with one legal move, word for word, as <move>...</move>"
_LEGAL: dict[str, Callable[[Game, int], Sequence[Move | str]]] = {
    "consequences": legal_moves,
    "list": lambda game, seat: game.legal(),
    "none": lambda game, seat: [],
}
_MOVE_PARTS = ("cost", "gain", "risk")


def observation_text(
    game: Game,
    seat: int,
    options: TextOptions | None = None,
    since: int | Sequence[str] | None = None,
    error: str = "",
    how_to_answer: str = HOW_TO_ANSWER,
) -> str:
    """Returns what the player of a seat may know (R19), and what they are asked, as text.

    Args:
        game: the game, with its history.
        seat: the player who reads it.
        options: their `moves` and `format`; None: the usual ones. Legal moves are listed if the seat decides.
        since: what happened: the number of the first decision of which the text tells, or the lines themselves; None: nothing.
        error: what was wrong with the last answer, said first.
        how_to_answer: what the player must do if they decide.

    Raises:
        ValueError: there is no such seat.
    """
    options = options or TextOptions()
    facts: Facts = {"error": error} | facts_of(game.observation(seat), seat)
    facts["since_your_last_decision"] = log(game, seat, since=since) if isinstance(since, int) else list(since or ())
    facts["question"] = question(game, seat)
    if game.player == seat and game.ranking is None:
        facts["how_to_answer"] = how_to_answer
        facts["legal_moves"] = _LEGAL[options.moves](game, seat)
    facts = {name: value for name, value in facts.items() if value}
    return _markdown(facts) if options.format == "markdown" else _json(facts)


def _json(facts: Facts) -> str:
    moves = [_plain(move) if isinstance(move, Move) else move for move in facts.get("legal_moves", ())]
    return json.dumps(facts | ({"legal_moves": moves} if moves else {}), separators=(",", ":"))


def _plain(move: Move) -> dict[str, str]:
    return {"move": move.notation} | {part: text for part in _MOVE_PARTS if (text := getattr(move, part))}


# -------------------------------------------------------------------------------------------------------------- Markdown


def _markdown(facts: Facts) -> str:
    parts = []
    for name, value in facts.items():
        lines = _SECTIONS.get(name, _lines)(value)
        parts.append("\n".join([f"## {name.replace('_', ' ').capitalize()}", *lines]))
    return "\n\n".join(parts)


def _lines(value: Any) -> list[str]:
    """Returns the lines of a section: one for each entry of a dict or a list."""
    if isinstance(value, dict):
        return [f"{name}: {_in_words(entry)}" for name, entry in value.items()]
    return [f"- {entry}" for entry in value] if isinstance(value, list) else [str(value)]


def _keyed(facts: Facts) -> str:
    return "; ".join(f"{name} {_in_words(value)}" for name, value in facts.items())


def _in_words(value: Any) -> str:
    """Returns an entry on one line: "a 1, b 2" or, with dicts in a dict, "c: a 1, b 2; d: a 3"."""
    if isinstance(value, dict):
        nested = any(isinstance(entry, dict) for entry in value.values())
        between, after = ("; ", ": ") if nested else (", ", " ")
        return between.join(f"{name}{after}{_in_words(entry)}" for name, entry in value.items())
    if isinstance(value, list):
        return (", " if isinstance(value[0], str) else " ").join(map(str, value))
    return "yes" if value is True else "none" if value is None else str(value)


def _moves(moves: Sequence[Move | str]) -> list[str]:
    """Returns a line for all moves of which the same is said."""
    alike: dict[str, list[str]] = {}
    for move in moves:
        said, notation = "", move
        if isinstance(move, Move):
            said, notation = f": {move.told}" * bool(move.told) + f" (risk: {move.risk})" * bool(move.risk), move.notation
        alike.setdefault(said, []).append(f"`{notation}`")
    return [f"- {', '.join(names)}{said}" for said, names in alike.items()]


_SECTIONS = {
    "game": lambda facts: [_keyed(facts)],
    "decision": lambda facts: [_keyed(facts)],
    "players": lambda players: [f"{name}: {_keyed(facts)}" for name, facts in players.items()],
    "legal_moves": _moves,
}
