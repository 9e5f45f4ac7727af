"""Compares every move of random games with what was said of it before, with all options and 2 to 6 players."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from euphoria_env import Game, Rules, words
from euphoria_env.board import ARTIFACTS, FACTIONS, FIRST_ARTIFACT, GOODS, ITEMS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.event_kinds import EventKind
from euphoria_env.events import Event
from euphoria_env.phrases import YOU, Phrase, Text
from euphoria_env.words import Move
from tests.tools.playing import prefer, random_move
from tests.tools.positions import any_position, random_rules

_E = EventKind
_MARKERS = {
    _E.KNOWLEDGE_GAINED: "knowledge +", _E.KNOWLEDGE_PAID: "knowledge +", _E.KNOWLEDGE_LOST: "knowledge -",
    _E.MORALE_GAINED: "morale +", _E.MORALE_PAID: "morale -", _E.MORALE_LOST: "morale -",
}  # fmt: skip
_ITEMS = {_E.PAID: "-", _E.GIVEN: "-", _E.LOST: "-", _E.DISCARDED: "-", _E.GAINED: "+", _E.RECEIVED: "+"}
_ONE = {_E.DRAWN: "+artifact", _E.WORKER_GAINED: "+worker", _E.SACRIFICED: "-worker"}
_ONE |= dict.fromkeys((_E.STAR, _E.STAR_ON_RECRUIT, _E.STAR_ON_DILEMMA), "+star")
_UNTOLD = ("trade", "give", "ask", "offer", "choose")  # moves without consequences in words
PLACES = ("open", "further", "nothing")  # the decisions at which a window begins and ends
_SETS = {"resource": GOODS[4:], "commodity": GOODS[:4], "other commodity": GOODS[:3]}
_RISKS = {"WORKER_LOST": ("risk.check",), "HAND_LIMIT": ("risk.hand_limit", "risk.perhaps_hand_limit"), "STAYS": ("risk.stays",)}


def _change(event: Event) -> tuple[str, int] | None:
    """The change by an event, with its direction and size."""
    kind, _, a, b = event
    if kind in _MARKERS:
        return _MARKERS[EventKind(kind)], a
    if kind in _ITEMS and b:
        return _ITEMS[EventKind(kind)] + (ITEMS[a] if a < FIRST_ARTIFACT else "artifact"), b
    if kind in (_E.ALLEGIANCE, _E.MINER):
        return f"{FACTIONS[a]} {'allegiance' if kind == _E.ALLEGIANCE else 'miner'} +", 1
    return (_ONE[EventKind(kind)], 1) if kind in _ONE else None


def _name(thing: Phrase) -> str:
    """The name of the thing of which there is an amount, or of the marker that takes a step."""
    name = thing.id.partition(".")[2].removesuffix("_at")
    if thing.id.startswith("track."):
        return f"{thing.args['a'].id.partition('.')[2]} {name}" if "a" in thing.args else name
    return "artifact" if name in ARTIFACTS else name


def _certain(part: Text, sign: str) -> tuple[str, int] | None:
    """A part of a cost or a gain as what changes and by how much; None if it leaves a choice."""
    while isinstance(part, Phrase) and part.id == "because":
        part = part.args["what"]
    if not isinstance(part, Phrase) or not part.id.startswith(("amount.", "track.")) or _name(part) in _SETS:
        return None
    n = part.args["n"]
    return (f"{_name(part)} {'+' if n > 0 else '-'}", abs(n)) if part.id.startswith("track.") else (sign + _name(part), n)


def _mentioned(texts: Iterable[Text]) -> tuple[set[str], set[str]]:
    """The possible changes of which texts speak, and the ids of all in them."""
    found, ids = set[str](), set[str]()
    for phrase in (one for text in texts if isinstance(text, Phrase) for one in text.within()):
        ids.add(phrase.id)
        kind = phrase.id.partition(".")[0]
        if kind in ("amount", "noun", "track", "a_pair"):
            name = "artifact" if kind == "a_pair" else _name(phrase)
            found |= {f"{sign}{one}" for one in _SETS.get(name, (name,)) for sign in "+-"} | {f"{name} {sign}" for sign in "+-"}
        elif kind == "risk" and "faces" in phrase.args:
            found |= {f"-{good}" for good in GOODS}
        elif phrase.id in ("note.missing", "item.star"):
            found.add("+star")
        elif kind == "risk" and phrase.id.endswith("check"):
            found.add("-worker")
    return found, ids


@dataclass
class _Window:
    """A move, and what happens until the next placement or turn."""

    move: Move
    player: int
    whole: bool  # whether the move says everything: not in the middle of a turn
    first: int  # the number of its first event
    asked: list[tuple[int, str]] = field(default_factory=list)  # abilities that are asked, and not used: players, recruits


def _mistakes(window: _Window, game: Game) -> Iterator[str]:
    """The events that were not announced, or did not happen."""
    facts, p = window.move.facts, window.player
    events = game.events[window.first :]
    events = events[: next((k for k, e in enumerate(events) if e.kind in (_E.TURN, _E.RECRUIT_DEALT)), len(events))]
    known = events[: next((k for k, e in enumerate(events) if e.kind in (_E.BUILT, _E.REVEALED)), len(events))]
    sure, happened = Counter[str](), Counter[str]()
    for name, n in filter(
        None, (_certain(part, sign) for parts, sign in ((facts.cost, "-"), (facts.gain, "+")) for part in parts)
    ):
        sure[name] += n
    for name, n in filter(None, (_change(event) for event in events if event.player == p)):
        happened[name] += n
    yield from (f"{name} {n} does not happen, but {happened[name]}" for name, n in sure.items() if happened[name] < n)
    yield from _unannounced(window, known if window.whole else [], sure)
    for name, risks in _RISKS.items():
        for event in known:
            if "gambler" in window.move.notation and event.player != p:  # it depends on the hand that is shown
                continue
            told = [risk for risk in facts.risk if isinstance(risk, Phrase) and risk.id in risks]
            if event.kind == _E[name] and not any(risk.args.get("who", YOU) == _who(event.player, p) for risk in told):
                yield f"{name} of player {event.player}"


def _who(q: int, p: int) -> Phrase:
    """The name of a player in the moves of player p."""
    return YOU if q == p else Phrase("player", n=q)


def _unannounced(window: _Window, events: list[Event], sure: Counter[str]) -> Iterator[str]:
    """The changes that no part of the move speaks of, and abilities that it does not name."""
    p, facts, plain = window.player, window.move.facts, Counter[str]()
    texts = (*facts.cost, *facts.gain, *facts.notes, *facts.risk)
    open_, ids = _mentioned(texts)
    within = {one for text in texts if isinstance(text, Phrase) for one in text.within()}
    if any(
        event.kind == _E.ABILITY and RECRUIT_NAMES[event.a] == "maggie_the_outlaw" for event in events
    ):  # whom the choice of workers alone decides
        return
    for event in events:
        if event.kind == _E.WON and not ids & {"does.wins", "risk.by_roll"}:
            yield f"player {event.player} wins"
        if found := _change(event):
            if event.player == p:
                plain[found[0]] += found[1]
            elif event.kind not in (_E.GIVEN, _E.RECEIVED) and _who(event.player, p) not in within:
                yield f"{found} for player {event.player}"
    yield from (f"{name} {n} is not announced" for name, n in plain.items() if n > sure[name] and name not in open_)
    for q, card in window.asked if window.whole else ():
        if Phrase("card_of", who=_who(q, p), card=Phrase(f"short.{card}")) not in within:
            yield f"{card} of player {q} is asked"


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
                asked = game.player, RECRUIT_NAMES[int(game.states[0]["card"])]
                for window in windows:
                    window.asked.append(asked)
                windows = [] if notation.startswith("use") else windows
            if game.turn and not notation.startswith(_UNTOLD):
                move = next(move for move in moves if move.notation == notation)
                whole = game.deciding in PLACES and notation != "dilemma recruit"
                windows.append(_Window(move, game.player, whole, len(game.events)))
        if game.deciding == "nothing":
            yield from ((text, window.move, start) for window in windows for text in _mistakes(window, game))
