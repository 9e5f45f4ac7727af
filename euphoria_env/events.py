"""Events: what happened in a game, as data, noted by the engine (docs/events.md).

`Game.events` has them all, `Game.events_for` what one player may know of them (R19). The public events lead from the public part
of a position to the public part of every later one.
"""

from __future__ import annotations

import copy
from bisect import insort
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from euphoria_env.board import FIRST_ARTIFACT, ITEMS, MARKETS, TERRITORIES
from euphoria_env.cards.recruits import ESME, GAMBLER, GEEK, RECRUIT_NAMES
from euphoria_env.event_kinds import EVENT_SIZE, KIND_ROWS, KINDS, NAMES, SECRET, EventKind
from euphoria_env.json_reader import Json, shown

_INTERRUPT = (ESME, GAMBLER, GEEK)  # recruits that act in the middle of something else

__all__ = ["EVENT_SIZE", "KINDS", "NAMES", "Event", "EventKind", "Row", "follow", "public", "table"]


class Event(NamedTuple):
    """Something that happened: small integers; -1 where there is none, or where it is hidden.

    Attributes:
        kind: a number of `KINDS`, a member of `EventKind`.
        player: whom it happened to, or who did it.
        a, b: as `table` says.
    """

    kind: int
    player: int = -1
    a: int = -1
    b: int = -1


class Row(NamedTuple):
    """A line of the table of events; `KindRow` says what its columns mean."""

    kind: int
    name: str
    meaning: str
    player: bool
    a: str
    b: str
    causes: str
    secret: bool


def table() -> list[Row]:
    """Every kind of event with the meaning of its fields."""
    return [Row(int(kind), KINDS[kind], *row[:-1]) for kind, row in KIND_ROWS.items()]


def causes(kind: int, a: int) -> str:
    """The later events that an event causes, according to `KindRow.causes`."""
    return "interruption" if kind == EventKind.ABILITY and a in _INTERRUPT else KIND_ROWS[EventKind(kind)].causes


def hide(events: np.ndarray, player: int | None) -> np.ndarray:
    """Events, (n, EVENT_SIZE), as a player may know them, or the public (None); a copy."""
    seen = events.copy()
    hidden = SECRET[events[:, 0]] & (events[:, 1] != player if player is not None else True)
    seen[hidden, 2] = -1
    return seen


# ---------------------------------------------------------------------------------------------------- the public position

_GAME = (
    "rules", "player", "turn", "workers", "allegiance", "miners", "territories", "discards", "active", "status", "offers",
)  # fmt: skip
_PLAYER = ("knowledge", "morale", "stars", "workers", "lost_worker", "goods", "used")
_RESULT = ("winner", "ranking")
_HIDDEN: Json = {"name": None, "active": False, "star": False}  # a recruit


def public(position: Json) -> Json:
    """The public part of a position (R19.1): a position as `Game.to_dict` gives it, without what is hidden.

    Of artifact cards it has the number, of hidden recruits an entry without a name; the tile of a market that is not built and
    a dilemma that is not resolved are `None`. It does not say what is asked, but who is.

    Raises:
        ValueError: not a complete position; names what is wrong.
    """
    read = _Reader("position")
    open_ = {key: copy.deepcopy(read(position, key)) for key in _GAME}
    open_["players"] = [_public_player(_Reader(f"position.players[{p}]"), one) for p, one in read.each(position, "players", list)]
    markets = read(position, "markets", Mapping)
    open_["markets"] = {name: _public_market(_Reader(f"position.markets.{name}"), one) for name, one in markets.items()}
    if open_["status"] in ("over", "truncated"):
        open_ |= {key: copy.deepcopy(read(position, key)) for key in _RESULT}
    return open_


class _Reader(NamedTuple):
    """Takes what there must be out of an object."""

    where: str

    def __call__(self, source: Any, key: str, kind: type = object) -> Any:
        if not isinstance(source, Mapping):
            raise ValueError(f"{self.where} must be an object, not {shown(source)}")
        if key not in source:
            raise ValueError(f"{self.where}.{key}: is missing; a complete position is what Game.to_dict gives")
        if not isinstance(source[key], kind):
            raise ValueError(f"{self.where}.{key}: is not that of a position, {shown(source[key])}")
        return source[key]

    def each(self, source: Any, key: str, kind: type) -> Iterable[tuple[int, Any]]:
        return enumerate(self(source, key, kind))


def _public_player(read: _Reader, player: Any) -> Json:
    dilemma = dict(read(player, "dilemma", Mapping))
    return {
        **{key: copy.deepcopy(read(player, key)) for key in _PLAYER},
        "artifacts": sum(read(player, "artifacts", Mapping).values()),
        "recruits": [dict(one) if one["active"] else dict(_HIDDEN) for one in read(player, "recruits", list)],
        "dilemma": dilemma if dilemma.get("resolved") else {"artifact": None, "resolved": None},
    }


def _public_market(read: _Reader, market: Any) -> Json:
    built = read(market, "built")
    return {"tile": read(market, "tile") if built else None, "built": built, "stars": list(read(market, "stars", list))}


# ------------------------------------------------------------------------------------------------------------- following


def follow(start: Json, events: Iterable[tuple[int, int, int, int]]) -> Json:
    """The public part of a position, brought up to date by events; `start` stays as it is.

    Args:
        start: as `public` gives it. For a whole game the public part of any position of its setup before the first choice.
        events: those since then, as `Game.events_for` gives them, for anybody.

    Raises:
        ValueError: no public position to start from, or an event that there is not or that cannot happen here; names it.
    """
    _check_start(start)
    position = copy.deepcopy(start)
    for k, event in enumerate(events):
        try:
            kind, player, a, b = event
            apply = _CHANGES[kind]
        except (TypeError, ValueError, LookupError):
            raise ValueError(f"events[{k}]: {shown(event)} is not an event of this version") from None
        if apply is not None:
            try:
                apply(position, player, a, b)
            except (ValueError, LookupError, TypeError) as error:
                raise ValueError(f"events[{k}]: {KINDS[kind]} {(player, a, b)} cannot happen here: {error}") from None
    return position


def _check_start(start: Any) -> None:
    read = _Reader("start")
    for key in (*_GAME, "markets"):
        read(start, key)
    for p, player in read.each(start, "players", list):
        for key in (*_PLAYER, "recruits", "dilemma"):
            _Reader(f"start.players[{p}]")(player, key)
        _Reader(f"start.players[{p}]")(player, "artifacts", int)
    if more := sorted({*start} - {*_GAME, "markets", "players", *_RESULT}):
        raise ValueError(f"start.{more[0]}: is not public; start from public(position)")


Change = Callable[[Json, int, int, int], None]


def _count(counts: dict[str, int], name: str, n: int) -> None:
    """Adds n, or takes them away; what is 0 is left out."""
    if (left := counts.get(name, 0) + n) < 0:
        raise ValueError(f"there are too few {name}")
    counts[name] = left
    if left == 0:
        del counts[name]


def _turn(d: Json, p: int, a: int, b: int) -> None:
    d |= {"turn": d["turn"] + 1, "active": p, "player": p, "status": "playing", "offers": 0}
    for player in d["players"]:
        player |= {"lost_worker": False, "used": []}


def _put(key: str) -> Change:
    """The number of the player becomes a value of the game."""

    def change(d: Json, p: int, a: int, b: int) -> None:
        d[key] = p

    return change


def _marker(key: str, field: int) -> Change:
    """A marker of the player stands at `a` or `b` now."""

    def change(d: Json, p: int, *fields: int) -> None:
        d["players"][p][key] = fields[field]

    return change


def _track(key: str) -> Change:
    """A marker of the board stands at `b` now."""

    def change(d: Json, p: int, a: int, b: int) -> None:
        d[key][NAMES["faction"][a]] = b

    return change


def _placed(d: Json, p: int, a: int, b: int) -> None:
    d["players"][p]["workers"].remove(b)
    insort(d["workers"].setdefault(NAMES["space"][a], []), [p, b])


def _sacrificed(d: Json, p: int, a: int, b: int) -> None:
    space = NAMES["space"][a]
    d["workers"][space].remove([p, b])
    if not d["workers"][space]:
        del d["workers"][space]


def _returned(d: Json, p: int, a: int, b: int) -> None:
    _sacrificed(d, p, a, b)
    insort(d["players"][p]["workers"], b)


def _rolled(d: Json, p: int, a: int, b: int) -> None:
    if b > 0:
        d["players"][p]["workers"].remove(b)
    insort(d["players"][p]["workers"], a)


def _worker_lost(d: Json, p: int, a: int, b: int) -> None:
    d["players"][p]["workers"].remove(a)
    d["players"][p]["lost_worker"] = True


def _ability(d: Json, p: int, a: int, b: int) -> None:
    if a in (GEEK, GAMBLER):
        d["players"][p]["used"].append(RECRUIT_NAMES[a])
        d["players"][p]["used"].sort()


def _item(sign: int, discarded: bool = False) -> Change:
    """The player has `b` more or fewer of item `a`; artifact cards may go to the discards."""

    def change(d: Json, p: int, a: int, b: int) -> None:
        if a < FIRST_ARTIFACT:
            _count(d["players"][p]["goods"], ITEMS[a], sign * b)
        else:
            d["players"][p]["artifacts"] += sign * b
            if discarded:
                _count(d["discards"], ITEMS[a], b)

    return change


def _drawn(d: Json, p: int, a: int, b: int) -> None:
    d["players"][p]["artifacts"] += 1


def _shuffled(d: Json, p: int, a: int, b: int) -> None:
    d["discards"] = {}


def _kept(d: Json, p: int, a: int, b: int) -> None:
    d["players"][p]["recruits"].append(dict(_HIDDEN))


def _active(d: Json, p: int, a: int, b: int) -> None:
    recruits = d["players"][p]["recruits"]
    k = recruits.index(_HIDDEN)
    recruits[k] = {"name": RECRUIT_NAMES[a], "active": True, "star": False}


def _built(d: Json, p: int, a: int, b: int) -> None:
    d["markets"][MARKETS[a]] |= {"tile": NAMES["tile"][b], "built": True}


def _star(d: Json, p: int, a: int, b: int) -> None:
    d["players"][p]["stars"] -= 1
    insort(d["territories"][TERRITORIES[a]] if a < len(TERRITORIES) else d["markets"][MARKETS[a - len(TERRITORIES)]]["stars"], p)


def _star_on_recruit(d: Json, p: int, a: int, b: int) -> None:
    d["players"][p]["stars"] -= 1
    next(one for one in d["players"][p]["recruits"] if one["name"] == RECRUIT_NAMES[a])["star"] = True


def _star_on_dilemma(d: Json, p: int, a: int, b: int) -> None:
    d["players"][p]["stars"] -= 1


def _dilemma(d: Json, p: int, a: int, b: int) -> None:
    d["players"][p]["dilemma"] = {"artifact": NAMES["artifact"][a], "resolved": NAMES["resolution"][b]}


def _offer(d: Json, p: int, a: int, b: int) -> None:
    d["offers"] += 1


def _won(d: Json, p: int, a: int, b: int) -> None:
    d |= {"status": "over", "winner": p, "ranking": [0] * len(d["players"])}


def _cut_off(d: Json, p: int, a: int, b: int) -> None:
    d |= {"status": "truncated", "winner": None, "ranking": [0] * len(d["players"])}


def _rank(d: Json, p: int, a: int, b: int) -> None:
    d["ranking"][p] = a


_K = EventKind
# The change of the public part of a position by each kind; None: no change.
_CHANGES: dict[int, Change | None] = {
    **dict.fromkeys(EventKind),
    _K.TURN: _turn,
    _K.ASKED: _put("player"),
    _K.STARTS: _put("active"),
    _K.RECRUIT_KEPT: _kept,
    _K.MORALE_SET: _marker("morale", 0),
    _K.KNOWLEDGE_SET: _marker("knowledge", 0),
    _K.PLACED: _placed,
    _K.BUMPED: _returned,
    _K.RETRIEVED: _returned,
    _K.RETURNED: _returned,
    _K.SACRIFICED: _sacrificed,
    _K.DIE: _rolled,
    _K.FACE_SET: _rolled,
    _K.WORKER_LOST: _worker_lost,
    _K.ABILITY: _ability,
    _K.GAINED: _item(1),
    _K.RECEIVED: _item(1),
    _K.PAID: _item(-1, discarded=True),
    _K.DISCARDED: _item(-1, discarded=True),
    _K.LOST: _item(-1),
    _K.GIVEN: _item(-1),
    _K.DRAWN: _drawn,
    _K.SHUFFLED: _shuffled,
    _K.KNOWLEDGE_GAINED: _marker("knowledge", 1),
    _K.KNOWLEDGE_PAID: _marker("knowledge", 1),
    _K.KNOWLEDGE_LOST: _marker("knowledge", 1),
    _K.MORALE_GAINED: _marker("morale", 1),
    _K.MORALE_PAID: _marker("morale", 1),
    _K.MORALE_LOST: _marker("morale", 1),
    _K.ALLEGIANCE: _track("allegiance"),
    _K.MINER: _track("miners"),
    _K.RECRUIT_ACTIVE: _active,
    _K.BUILT: _built,
    _K.STAR: _star,
    _K.STAR_ON_RECRUIT: _star_on_recruit,
    _K.STAR_ON_DILEMMA: _star_on_dilemma,
    _K.DILEMMA: _dilemma,
    _K.OFFER: _offer,
    _K.WON: _won,
    _K.CUT_OFF: _cut_off,
    _K.RANK: _rank,
}
