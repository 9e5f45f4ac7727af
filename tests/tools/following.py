"""The public events of a game lead from the public part of a position to that of every later one: `public` and `follow`."""

from __future__ import annotations

import copy
from bisect import insort
from collections.abc import Callable, Iterable

from euphoria_env.board import FIRST_ARTIFACT, ITEMS, MARKETS, TERRITORIES
from euphoria_env.cards.recruits import GAMBLER, GEEK, RECRUIT_NAMES
from euphoria_env.event_kinds import NAMES, EventKind
from euphoria_env.json_reader import Json

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
    """
    keys = (*_GAME, *(_RESULT if position["status"] in ("over", "truncated") else ()))
    return {
        **{key: copy.deepcopy(position[key]) for key in keys},
        "players": [_public_player(one) for one in position["players"]],
        "markets": {name: _public_market(one) for name, one in position["markets"].items()},
    }


def _public_player(player: Json) -> Json:
    return {
        **{key: copy.deepcopy(player[key]) for key in _PLAYER},
        "artifacts": sum(player["artifacts"].values()),
        "recruits": [dict(one) if one["active"] else dict(_HIDDEN) for one in player["recruits"]],
        "dilemma": dict(player["dilemma"]) if player["dilemma"]["resolved"] else {"artifact": None, "resolved": None},
    }


def _public_market(market: Json) -> Json:
    return {**market, "tile": market["tile"] if market["built"] else None, "stars": list(market["stars"])}


# ------------------------------------------------------------------------------------------------------------- following


def follow(start: Json, events: Iterable[tuple[int, int, int, int]]) -> Json:
    """The public part of a position, brought up to date by events as `Game.events_for` gives them; `start` stays as it is.

    For a whole game it may be the public part of any position of its setup before the first choice.
    """
    position = copy.deepcopy(start)
    for kind, player, a, b in events:
        if (change := _CHANGES[kind]) is not None:
            change(position, player, a, b)
    return position


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
