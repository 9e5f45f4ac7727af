"""Compares every move of random games with what was said of it before, with all options and 2 to 6 players."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from euphoria_env import Game, Rules, words
from euphoria_env.board import ARTIFACTS, FACTIONS, FIRST_ARTIFACT, GOODS, ITEMS
from euphoria_env.cards.recruits import ESME, GAMBLER, GEEK, RECRUIT_NAMES
from euphoria_env.event_kinds import KIND_ROWS, EventKind
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
_STARS = (_E.STAR, _E.STAR_ON_RECRUIT, _E.STAR_ON_DILEMMA)
PLACES = ("open", "further")  # the decisions at which a window begins
# The beginnings of notes, which name possible consequences and conditions, not certain changes.
NOTES = re.compile(
    r"(?:When|You|Once|After|For|Icarus|If)|(?:you|perhaps|if|the|no|all|hidden|its|it|then|draw)[ ,]|player \d|every opponent "
    r"|.*, unless you use |.* may follow|.* opens"
)


def field_of(event: Event) -> tuple[str, int] | None:
    """The change by an event, with its direction and size; None if it has no words of its own."""
    kind, _, a, b = event
    if kind in _MARKERS:
        return _MARKERS[EventKind(kind)], a
    if kind in _ITEMS and b:
        return _ITEMS[EventKind(kind)] + (ITEMS[a] if a < FIRST_ARTIFACT else "artifact"), b
    if kind == _E.DRAWN:
        return "+artifact", 1
    if kind in (_E.ALLEGIANCE, _E.MINER):
        return f"{FACTIONS[a]} {'allegiance' if kind == _E.ALLEGIANCE else 'miner'} +", 1
    if kind in _STARS:
        return "+star", 1
    if kind == _E.WORKER_GAINED:
        return "+worker", 1
    return ("-worker", 1) if kind == _E.SACRIFICED else None


def parse(part: str, sign: str) -> tuple[str, int] | None:
    """A part of a cost or a gain as what changes and by how much; None if it leaves a choice."""
    part = re.sub(r" \(.*?\)$", "", part)
    if " or " in part or "resource" in part or "commodit" in part:
        return None
    if match := re.fullmatch(r"(.+ [+-])(\d+)", part):
        return match[1][0].lower() + match[1][1:], int(match[2])
    match = re.fullmatch(r"(\d+) (\w+)( .*)?", part)
    assert match, part
    what = {"workers": "worker", "stars": "star"}.get(match[2], match[2])
    what = "artifact" if what.lower() in _ARTIFACT_WORDS else what
    assert what in (*GOODS, "artifact", "worker", "star"), part
    return sign + what, int(match[1])


def mentioned(text: str) -> set[str]:
    """The possible subjects of a text that leaves something open."""
    found = {name for name in (*GOODS, "star", "worker") if name in text}
    if any(word in text.lower() for word in _ARTIFACT_WORDS):
        found.add("artifact")
    for kind, items in (("resource", GOODS[4:]), ("commodit", GOODS[:4])):
        found |= {*items} if kind in text else set()
    found = {sign + name for name in found for sign in "+-"}
    found |= {f"{name} {sign}" for name in ("knowledge", "morale") for sign in "+-" if name in text}
    return found | {
        f"{name} {track} +" for name in FACTIONS for track in ("allegiance", "miner") if f"{name} {track}" in text.lower()
    }


@dataclass
class Window:
    """The preview of a move, and the events since."""

    move: Move
    player: int
    whole: bool  # whether it says everything: not in the middle of a turn
    events: int  # how many there were before
    asked: list[tuple[int, str]] = field(default_factory=list)  # abilities: (player, short name)


def split(move: Move) -> tuple[list[str], list[str], list[str]]:
    """The parts of the cost, those of the certain gain, and the notes."""
    first, *notes = move.gain.split("; ") if move.gain else [""]
    if NOTES.match(first):
        first, notes = "", [first, *notes]
    return [*filter(None, move.cost.split(", "))], [*filter(None, first.split(", "))], notes


def grouped(events: list[Event], optional: set[tuple[int, int]]) -> Iterator[Event]:
    """The events that no ability brings about that was asked."""
    cause, kept, interrupted = Event(0), Event(0), False
    for event in events:
        how = KIND_ROWS[EventKind(event.kind)].causes
        if event.kind == _E.ABILITY and event.a in (ESME, GAMBLER, GEEK):
            how = "interruption"
        if event.kind == _E.RESUMED:
            cause, interrupted = kept, False
        elif how == "group":
            cause, interrupted = event, False
        elif how == "interruption":
            kept, cause, interrupted = cause if not interrupted else kept, event, True
        by_limit = cause.kind == _E.HAND_LIMIT and (cause.player, -1) in optional
        if not by_limit and not (cause.kind == _E.ABILITY and (cause.player, cause.a) in optional):
            yield event


def mistakes(window: Window, game: Game) -> Iterator[str]:
    """The events that were not foretold, or did not happen."""
    move, p = window.move, window.player
    events = game.events[window.events :]
    end = next((k for k, event in enumerate(events) if event.kind == _E.TURN), len(events))
    events = events[:end]
    text = f"{move.gain}; {move.risk}"
    for q, name in window.asked:
        if name not in text or (q != p and not re.search(rf"player {q}\b", text)):
            yield f"{name} of player {q} is asked"
    for event in events:
        q = event.player
        if event.kind == _E.WORKER_LOST:
            said = "lose your highest worker" if q == p else f"player {q}('s knowledge check| may lose)"
            if not re.search(said, move.risk):
                yield f"player {q} loses a worker"
        elif event.kind == _E.WON:
            said = r"\byou\b.* win" if q == p else rf"player {q}\b.* win"
            if not re.search(said, text):
                yield f"player {q} wins"
    if any(event.kind == _E.STAYS for event in events):
        if "too little is left" not in move.risk:
            yield "the worker stays"
        return
    optional = {(event.player, event.a) for event in events if event.kind == _E.ABILITY}
    optional &= {
        (q, RECRUIT_NAMES.index(full)) for q, short in window.asked for full in RECRUIT_NAMES if short_name(full) == short
    }
    changes: Counter[str] = Counter()
    asked_for: Counter[str] = Counter()
    rolled = any(event.kind in (_E.PENALTY, _E.HAND_LIMIT) for event in events)
    for event in events:
        if event.player == p and (found := field_of(event)):
            changes[found[0]] += found[1]
    plain: Counter[str] = Counter()
    if any(recruit == GAMBLER for _, recruit in optional):  # whose hand may hold a pair: all draw, and hands have their limits
        optional |= {(q, -1) for q in range(game.rules.num_players) if q != p}
    for event in grouped(events, optional):
        if found := field_of(event):
            if event.player == p:
                plain[found[0]] += found[1]
            elif window.whole and event.kind not in (_E.GIVEN, _E.RECEIVED) and not re.search(rf"player {event.player}\b", text):
                yield f"{found} for player {event.player}"
    cost, gain, notes = split(move)
    sure: Counter[str] = Counter()
    open_ = set().union(*map(mentioned, notes), mentioned(move.risk))
    for parts, sign in ((cost, "-"), (gain, "+")):
        for part in parts:
            if found := parse(part, sign):
                sure[found[0]] += found[1]
            else:
                open_ |= mentioned(part)
    asked_for |= sure
    for name, n in sure.items():
        if changes[name] < n:
            yield f"{name} {n} does not happen, but {changes[name]}"
    if window.whole:
        for name, n in plain.items():
            if n > sure[name] and name not in open_ and not (rolled and name.startswith("-") and "lose a" in move.risk):
                yield f"{name} {n} is not foretold"


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
        windows: list[Window] = []
        start = f"{seed}-{done}"
        for game, moves, notation in played(random.Random(start)):
            if game.turn == 0:
                continue
            done += 1
            if game.deciding in PLACES:
                yield from ((text, window.move, start) for window in windows for text in mistakes(window, game))
                windows = []
            move = next(move for move in moves if move.notation == notation)
            for window in windows:
                if game.deciding == "use":
                    window.asked.append((game.player, short_name(RECRUIT_NAMES[int(game.states[0]["card"])])))
            if not notation.startswith(("trade", "give", "ask", "offer")):
                windows.append(Window(move, game.player, game.deciding in PLACES, len(game.events)))
        if not game.legal():
            yield from ((text, window.move, start) for window in windows for text in mistakes(window, game))
