"""The public events of a game lead from the public part of a position to that of every later one: `public` and `follow`."""

from __future__ import annotations

import copy
from bisect import insort
from collections.abc import Iterable

from euphoria_env.board import FACTIONS, FIRST_ARTIFACT, ITEMS, MARKETS, SPACES, STAR_PLACES, TERRITORIES
from euphoria_env.cards.recruits import GAMBLER, GEEK, RECRUIT_NAMES
from euphoria_env.event_kinds import NAMES
from euphoria_env.event_kinds import EventKind as K
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
        of = position["players"][player] if player >= 0 else {}
        for change in (_change_workers, _change_goods, _change_markers, _change_cards, _change_game):
            change(position, of, K(kind), player, a, b)
    return position


def _change_workers(d: Json, of: Json, kind: K, player: int, a: int, b: int) -> None:
    match kind:
        case K.PLACED:
            of["workers"].remove(b)
            insort(d["workers"].setdefault(SPACES[a], []), [player, b])
        case K.BUMPED | K.RETRIEVED | K.RETURNED | K.SACRIFICED:
            d["workers"][SPACES[a]].remove([player, b])
            if not d["workers"][SPACES[a]]:
                del d["workers"][SPACES[a]]
            if kind != K.SACRIFICED:
                insort(of["workers"], b)
        case K.DIE | K.FACE_SET:
            if b > 0:  # a new worker had no face
                of["workers"].remove(b)
            insort(of["workers"], a)
        case K.WORKER_LOST:
            of["workers"].remove(a)
            of["lost_worker"] = True


def _change_goods(d: Json, of: Json, kind: K, player: int, a: int, b: int) -> None:
    match kind:
        case K.GAINED | K.RECEIVED | K.PAID | K.DISCARDED | K.LOST | K.GIVEN:
            n = b if kind in (K.GAINED, K.RECEIVED) else -b
            if a < FIRST_ARTIFACT:
                _count(of["goods"], ITEMS[a], n)
            else:
                of["artifacts"] += n
            if a >= FIRST_ARTIFACT and kind in (K.PAID, K.DISCARDED):
                _count(d["discards"], ITEMS[a], b)
        case K.DRAWN:
            of["artifacts"] += 1
        case K.SHUFFLED:
            d["discards"] = {}


def _count(counts: dict[str, int], name: str, n: int) -> None:
    """Adds n, or takes them away; what is 0 is left out."""
    counts[name] = counts.get(name, 0) + n
    assert counts[name] >= 0, f"there are too few {name}"
    if counts[name] == 0:
        del counts[name]


def _change_markers(d: Json, of: Json, kind: K, player: int, a: int, b: int) -> None:
    match kind:
        case K.MORALE_SET | K.KNOWLEDGE_SET:
            of["morale" if kind == K.MORALE_SET else "knowledge"] = a
        case K.KNOWLEDGE_GAINED | K.KNOWLEDGE_PAID | K.KNOWLEDGE_LOST:
            of["knowledge"] = b
        case K.MORALE_GAINED | K.MORALE_PAID | K.MORALE_LOST:
            of["morale"] = b
        case K.ALLEGIANCE | K.MINER:
            d["allegiance" if kind == K.ALLEGIANCE else "miners"][FACTIONS[a]] = b


def _change_cards(d: Json, of: Json, kind: K, player: int, a: int, b: int) -> None:
    """Cards, and the stars on them and on the board."""
    if kind in (K.STAR, K.STAR_ON_RECRUIT, K.STAR_ON_DILEMMA):
        of["stars"] -= 1
    match kind:
        case K.STAR:
            place = STAR_PLACES[a]
            insort(d["territories"][place] if place in TERRITORIES else d["markets"][place]["stars"], player)
        case K.STAR_ON_RECRUIT:
            next(one for one in of["recruits"] if one["name"] == RECRUIT_NAMES[a])["star"] = True
        case K.RECRUIT_KEPT:
            of["recruits"].append(dict(_HIDDEN))
        case K.RECRUIT_ACTIVE:
            of["recruits"][of["recruits"].index(_HIDDEN)] = {"name": RECRUIT_NAMES[a], "active": True, "star": False}
        case K.DILEMMA:
            of["dilemma"] = {"artifact": NAMES["artifact"][a], "resolved": NAMES["resolution"][b]}
        case K.BUILT:
            d["markets"][MARKETS[a]] |= {"tile": NAMES["tile"][b], "built": True}
        case K.ABILITY:
            if a in (GEEK, GAMBLER):
                insort(of["used"], RECRUIT_NAMES[a])


def _change_game(d: Json, of: Json, kind: K, player: int, a: int, b: int) -> None:
    match kind:
        case K.TURN:
            d |= {"turn": d["turn"] + 1, "active": player, "player": player, "status": "playing", "offers": 0}
            for one in d["players"]:
                one |= {"lost_worker": False, "used": []}
        case K.ASKED | K.STARTS:
            d["player" if kind == K.ASKED else "active"] = player
        case K.OFFER:
            d["offers"] += 1
        case K.WON | K.CUT_OFF:
            end = {"status": "over", "winner": player} if kind == K.WON else {"status": "truncated", "winner": None}
            d |= {**end, "ranking": [0] * len(d["players"])}
        case K.RANK:
            d["ranking"][player] = a
