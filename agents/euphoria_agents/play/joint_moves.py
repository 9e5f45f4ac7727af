"""Lists all ways to answer a series of single choices (R18.2), or to retrieve workers, so that a player can answer at once.

Whatever is tried out here is tried on copies in which all cards hidden from the player are dealt again (R19).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, islice, takewhile

from euphoria_env import Game, actions, words
from euphoria_env.board import ITEMS, SLOTS
from euphoria_env.event_kinds import KIND_ROWS
from euphoria_env.events import Event, EventKind
from euphoria_env.phrases import YOU, Phrase, Text, listed

MAX_WAYS = 200  # the most ways that are listed

_SAID = ("risk.leaves", "risk.resource_lost")  # the risks that are told of all workers
_MOVING = (EventKind.PAID, EventKind.GAINED, EventKind.LOST, EventKind.DISCARDED)  # the events by which a series moves items


@dataclass(frozen=True)
class Way:
    """A way to answer a series of single choices."""

    actions: tuple[int, ...]  # the action ids of the answers, in order; after them the series leaves no choice
    items: dict[str, int]  # the units of each item that it pays, gains, loses or discards


def belong_together(game: Game, moves: Sequence[int | str]) -> bool:
    """Returns whether these moves answer one series, or retrieve workers, as far as the player who decides can know beforehand.

    Raises:
        IllegalMove: the first move is illegal.
    """
    now = game.determinize(game.player, 0)
    now.play(moves[0])
    for move in moves[1:]:
        drawn = any(KIND_ROWS[EventKind(event.kind)].outcome for event in now.events)
        if drawn or now.deciding not in ("series", "take") or (now.player, now.turn) != (game.player, game.turn):
            return False
        try:
            now.play(move)
        except ValueError:
            return False
    return True


def ways_to_answer(game: Game) -> list[Way]:
    """Returns the ways to answer the present series, at most `MAX_WAYS`; none if each way has a single answer."""
    found = list(islice(_ways(game, game.prompt), MAX_WAYS))
    return found if any(len(way.actions) > 1 for way in found) else []


def _ways(game: Game, asked: str, before: tuple[int, ...] = ()) -> Iterator[Way]:
    for action in game.legal_actions().tolist():
        after, answers = game.clone(), (*before, action)
        after.play(action)
        if after.deciding == "series" and (after.player, after.turn, after.prompt) == (game.player, game.turn, asked):
            yield from _ways(after, asked, answers)
        else:
            yield Way(answers, _moved(after.events[len(game.events) :], game.player))


def _moved(events: list[Event], player: int) -> dict[str, int]:
    """Returns the items that a series moved: those in the first unbroken run of the player's moving events."""
    begun = dropwhile(lambda event: event.kind not in _MOVING or event.player != player, events)
    together = takewhile(lambda event: event.kind in _MOVING and event.player == player, begun)
    return dict(sum((Counter({ITEMS[event.a]: event.b}) for event in together), Counter()))


@dataclass(frozen=True)
class Retrieval:
    """A way to retrieve workers (R3.4)."""

    actions: tuple[int, ...]  # the action ids of the answers, in order
    payment: int | None  # the action id of the payment; None: it has been chosen already
    workers: tuple[str, ...]  # the workers, each with its face and its space: "5 farm"
    text: Phrase  # what it does, with the chance to lose a worker
    risk: Text  # further losses


def retrievals(game: Game, names: Sequence[str]) -> list[Retrieval]:
    """Returns every way of the player who decides to retrieve workers; `names`: what the players are called."""
    if game.deciding not in ("open", "take"):
        return []
    there = game.describe()["workers"]
    own = {space: [face for owner, face in workers if owner == game.player] for space, workers in there.items()}
    taken = [actions.NAMES[actions.TAKE + int(k)] for k in game.states[0]["taken"] if k >= 0]
    return list(_retrievals(game, names, {space: faces for space, faces in own.items() if faces}, (), taken))


def _retrievals(
    game: Game, names: Sequence[str], own: dict[str, list[int]], before: tuple[int, ...], taken: list[str]
) -> Iterator[Retrieval]:
    explained: dict[int, words.Move] = {}
    for action in game.legal_actions().tolist():
        if not actions.RETRIEVE <= action <= actions.DONE:
            continue
        after, answers = game.clone(), (*before, action)
        chosen = [*taken, actions.NAMES[action]] if actions.TAKE <= action < actions.DONE else taken
        after.play(action)
        if after.deciding == "take":
            yield from _retrievals(after, names, own, answers, chosen)
        else:
            workers = [_worker(own, name) for name in chosen] or [f"{face} {space}" for space in own for face in own[space]]
            explained = explained or {move.action: move for move in words.legal_moves(game, game.player, names)}
            payment = answers[0] if answers[0] < actions.TAKE else None
            yield Retrieval(answers, payment, tuple(workers), *_told(explained[action].facts.risk, workers))


def _worker(own: dict[str, list[int]], name: str) -> str:
    """Returns a worker with its face, which the name of its `take` move has only where several may stand."""
    worker = name.removeprefix("take ")
    return f"{own[worker][0]} {worker}" if worker in own else worker


def _told(risks: Sequence[Text], workers: Sequence[str]) -> tuple[Phrase, Text]:
    """Returns what a retrieval does, and further risks, from the risks of its last answer."""
    own = [risk for risk in risks if isinstance(risk, Phrase) and risk.id == "risk.check" and risk.args["who"] == YOU]
    text = Phrase("retrieval.text", n=len(workers))
    if own:
        text = Phrase("retrieval.checked", n=len(workers), chance=own[0].args["chance"])
    paid = sum(worker[2:] in SLOTS for worker in workers)
    lost = [Phrase("retrieval.resource_lost", n=paid)] if paid else []
    further = [risk for risk in risks if risk not in own and not (isinstance(risk, Phrase) and risk.id in _SAID)]
    return text, listed([*lost, *further], "semicolon")
