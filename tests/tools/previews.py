"""Compares every move of random games with what was said of it before, with all options and 2 to 6 players."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from euphoria_env import Game, Rules, words
from euphoria_env.board import ARTIFACTS, FACTIONS, FIRST_ARTIFACT, GOODS, ITEMS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.event_kinds import EventKind
from euphoria_env.events import Event
from euphoria_env.words import Move
from euphoria_env.words.names import short_name
from tests.tools.playing import prefer, random_move
from tests.tools.positions import any_position, random_rules

_E = EventKind
_ARTIFACT_WORDS = {"artifact", "artifacts", *ARTIFACTS, "bats", "bears", "books", "boxes"}
_MARKERS = {
    _E.KNOWLEDGE_GAINED: "knowledge +", _E.KNOWLEDGE_PAID: "knowledge +", _E.KNOWLEDGE_LOST: "knowledge -",
    _E.MORALE_GAINED: "morale +", _E.MORALE_PAID: "morale -", _E.MORALE_LOST: "morale -",
}  # fmt: skip
_ITEMS = {_E.PAID: "-", _E.GIVEN: "-", _E.LOST: "-", _E.DISCARDED: "-", _E.GAINED: "+", _E.RECEIVED: "+"}
_ONE = {_E.DRAWN: "+artifact", _E.WORKER_GAINED: "+worker", _E.SACRIFICED: "-worker"}
_ONE |= dict.fromkeys((_E.STAR, _E.STAR_ON_RECRUIT, _E.STAR_ON_DILEMMA), "+star")
_UNTOLD = ("trade", "give", "ask", "offer", "choose")  # moves without consequences in words
PLACES = ("open", "further", "nothing")  # the decisions at which a window begins and ends
_NOTES = re.compile(r"(?:you|perhaps|the|all|its|then) |player \d|.* may follow")


def _change(event: Event) -> tuple[str, int] | None:
    """The change by an event, with its direction and size."""
    kind, _, a, b = event
    if kind in _MARKERS:
        return _MARKERS[EventKind(kind)], a
    if kind in _ITEMS and b:
        return _ITEMS[EventKind(kind)] + (ITEMS[a] if a < FIRST_ARTIFACT else "artifact"), b
    if kind in (_E.ALLEGIANCE, _E.MINER):
        return f"{FACTIONS[a].capitalize()} {'allegiance' if kind == _E.ALLEGIANCE else 'miner'} +", 1
    return (_ONE[EventKind(kind)], 1) if kind in _ONE else None


def _parsed(part: str, sign: str) -> tuple[str, int] | None:
    """A part of a cost or a gain as what changes and by how much; None if it leaves a choice."""
    part = re.sub(r" \(.*?\)$", "", part)
    if " or " in part or "resource" in part or "commodit" in part:
        return None
    if match := re.fullmatch(r"(.+ [+-])(\d+)", part):
        return match[1], int(match[2])
    match = re.fullmatch(r"(\d+) (\w+)( .*)?", part)
    assert match, part
    what = {"workers": "worker", "stars": "star"}.get(match[2], match[2])
    what = "artifact" if what.lower() in _ARTIFACT_WORDS else what
    assert what in (*GOODS, "artifact", "worker", "star"), part
    return sign + what, int(match[1])


def _mentioned(text: str) -> set[str]:
    """The possible changes of which a text speaks."""
    found = {name for name in (*GOODS, "star", "worker") if name in text}
    if any(word in text.lower() for word in _ARTIFACT_WORDS):
        found.add("artifact")
    for kind, items in (("resource", GOODS[4:]), ("commodit", GOODS[:4])):
        found |= {*items} if kind in text else set()
    found = {sign + name for name in found for sign in "+-"}
    return found | {f"{name} {sign}" for name in ("knowledge", "morale") for sign in "+-" if name in text}


@dataclass
class _Window:
    """A move, and what happens until the next placement or turn."""

    move: Move
    player: int
    whole: bool  # whether the move says everything: not in the middle of a turn
    first: int  # the number of its first event
    asked: list[tuple[int, str]] = field(default_factory=list)  # abilities that are asked, and not used: players, short names


def _mistakes(window: _Window, game: Game) -> Iterator[str]:
    """The events that were not announced, or did not happen."""
    move, p = window.move, window.player
    events = game.events[window.first :]
    events = events[: next((k for k, e in enumerate(events) if e.kind in (_E.TURN, _E.RECRUIT_DEALT)), len(events))]
    known = events[: next((k for k, e in enumerate(events) if e.kind in (_E.BUILT, _E.REVEALED)), len(events))]
    gain, *notes = move.gain.split("; ") if move.gain else [""]
    if _NOTES.match(gain):
        gain, notes = "", [gain, *notes]
    parts = [(part, "-") for part in filter(None, move.cost.split(", "))] + [
        (part, "+") for part in filter(None, gain.split(", "))
    ]
    sure, happened = Counter[str](), Counter[str]()
    for name, n in filter(None, (_parsed(*part) for part in parts)):
        sure[name] += n
    for name, n in filter(None, (_change(event) for event in events if event.player == p)):
        happened[name] += n
    yield from (f"{name} {n} does not happen, but {happened[name]}" for name, n in sure.items() if happened[name] < n)
    yield from _unannounced(
        window, known if window.whole else [], sure, "; ".join([*notes, move.risk, *(part for part, _ in parts)])
    )
    for name, risk in (("WORKER_LOST", "knowledge check"), ("HAND_LIMIT", "hand limit"), ("STAYS", "too little is left")):
        for event in known:
            if "gambler" in move.notation and event.player != p:  # it depends on the hand that is shown
                continue
            if event.kind == _E[name] and not re.search(risk if event.player == p else rf"player {event.player}\b", move.risk):
                yield f"{name} of player {event.player}"


def _unannounced(window: _Window, events: list[Event], sure: Counter[str], text: str) -> Iterator[str]:
    """The changes that no part of the text speaks of, and abilities that it does not name."""
    p, open_, plain = window.player, _mentioned(text), Counter[str]()
    if any(
        event.kind == _E.ABILITY and RECRUIT_NAMES[event.a] == "maggie_the_outlaw" for event in events
    ):  # whom the choice of workers alone decides
        return
    for event in events:
        if event.kind == _E.WON and "win" not in text:
            yield f"player {event.player} wins"
        if found := _change(event):
            if event.player == p:
                plain[found[0]] += found[1]
            elif event.kind not in (_E.GIVEN, _E.RECEIVED) and not re.search(rf"player {event.player}\b", text):
                yield f"{found} for player {event.player}"
    yield from (f"{name} {n} is not announced" for name, n in plain.items() if n > sure[name] and name not in open_)
    for q, name in window.asked if window.whole else ():
        if name not in text or (q != p and not re.search(rf"player {q}\b", text)):
            yield f"{name} of player {q} is asked"


def played(rng: random.Random) -> Iterator[tuple[Game, list[Move], str]]:
    """A game or what follows a position: before each decision of it the moves explained, and the one that is played."""
    if rng.random() < 0.5:
        rules = {**random_rules(rng), **({"stars_to_win": rng.randint(1, 6)} if rng.random() < 0.5 else {})}
        game, most = Game(Rules(**rules), seed=rng.getrandbits(32)), 400
    else:
        game, most = Game.from_dict({**any_position(rng), "seed": rng.getrandbits(32)}), 24
    choose = rng.choice((random_move, prefer))
    for _ in range(most):
        if not game.legal():
            break
        move = choose(game, rng) if rng.random() < 0.8 else rng.choice(game.legal())
        yield game, words.legal_moves(game, game.player), move
        game.play(move)


def compared(decisions: int, seed: int) -> Iterator[tuple[str, Move, str]]:
    """The mistakes in this many decisions of random games: the fault, the move, and the place."""
    done = 0
    while done < decisions:
        windows: list[_Window] = []
        start = f"{seed}-{done}"
        for game, moves, notation in played(random.Random(start)):
            done += 1
            if game.deciding in PLACES:
                yield from ((text, window.move, start) for window in windows for text in _mistakes(window, game))
                windows = []
            if game.deciding == "use":
                asked = game.player, short_name(RECRUIT_NAMES[int(game.states[0]["card"])])
                for window in windows:
                    window.asked.append(asked)
                windows = [] if notation.startswith("use") else windows
            if game.turn and not notation.startswith(_UNTOLD):
                move = next(move for move in moves if move.notation == notation)
                whole = game.deciding in PLACES and notation != "dilemma recruit"
                windows.append(_Window(move, game.player, whole, len(game.events)))
        if game.deciding == "nothing":
            yield from ((text, window.move, start) for window in windows for text in _mistakes(window, game))
