"""Reads what a seat may know as plain data: the entries of its observation (`observations.table`), with names for numbers.

All of it is read from the observation, so that nothing hidden can be in it. What is zero, empty or false is left out, but for
tracks and markers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from euphoria_env import actions
from euphoria_env.board import (
    ARTIFACTS,
    FACTIONS,
    GAINS,
    GOODS,
    ITEMS,
    MARKETS,
    MAX_WORKERS,
    NUM_AREAS,
    SPACES,
    STAR_PLACES,
    STARS,
    TERRITORIES,
)
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decisions import DECISIONS, VERBS
from euphoria_env.observations import FIELDS
from euphoria_env.rules import DIGIT, OPTIONS, Rules
from euphoria_env.words import cost_words, recruit_words, tile_words
from euphoria_env.words.names import called

Facts = dict[str, Any]  # texts, numbers, booleans, None, lists and dicts of these

_SLICES = {field.name: field.slice for field in FIELDS}
_STATUS = ("setup", "play", "over", "cut off")
_ALWAYS = ("num_players", "stars_to_win", "max_turns")  # the options that are named even if they have their default
_OUT = "out of the game"  # put out by the observer
_OWN_RECRUITS = ("", "hidden", "chosen as active", "in hand", "kept in the draft", _OUT)  # by `own_recruits`
_OWN_TILES = ("", "in hand", "put in the game", _OUT)  # by `own_tiles`
_THIS_TURN = ("lost_worker", "used_geek", "used_gambler")
_PAID = ("paid", "with gold", "with an artifact", "with one artifact at the ark", "with food for bliss")


class _Seen:
    """An observation as plain numbers, with the names of the players."""

    def __init__(self, observation: np.ndarray, seat: int) -> None:
        self._numbers = observation.tolist()
        n = self["num_players"][0]
        names = [*map(str, called(n, seat, None))]
        self.players = [names[(seat + k) % n] for k in range(n)]  # the names in turn order from the observer on, who is "you"
        verb = VERBS[self["verb"][0] - 1] if self["verb"][0] else ""
        self.units = GAINS if verb in ("gain", "mine") else ITEMS  # what the entries of a series stand for

    def __getitem__(self, field: str) -> list[int]:
        return self._numbers[_SLICES[field]]

    @property
    def asked(self) -> str:
        """Returns the decision that must be made."""
        return DECISIONS[self["asked"].index(1)]


def facts_of(observation: np.ndarray, seat: int) -> Facts:
    """Returns what an observation, int8 (OBS_SIZE,), of the player at a seat tells, as plain data by sections.

    The sections are `game`, `players` (from the observer on, in turn order), `board`, `markets` (those that are built),
    `decision`, and `cards` (what the other cards do).
    """
    seen = _Seen(observation, seat)
    players = {name: _player(seen, k) for k, name in enumerate(seen.players)}
    return {
        "game": _game(seen, seat),
        "players": players,
        "board": _board(seen),
        "markets": {MARKETS[k]: f"{TILES[t - 1]} {_tile_words(TILES[t - 1])}" for k, t in enumerate(seen["tile"]) if t},
        "decision": {name: decode(seen, seen[name]) for name, decode in _DECISION.items() if any(seen[name])},
        "cards": _cards(players),
    }


def _filled(facts: Facts) -> Facts:
    """Returns the facts that are not empty, zero or false."""
    return {name: value for name, value in facts.items() if value}


def _counts(names: Iterable[str], numbers: Sequence[int]) -> dict[str, int]:
    return {name: n for name, n in zip(names, numbers, strict=False) if n}


def _whole(digits: Sequence[int]) -> int:
    """Returns a number from its digits, lowest first."""
    return sum(digit * DIGIT**k for k, digit in enumerate(digits))


def _game(seen: _Seen, seat: int) -> Facts:
    return {
        "turn": _whole(seen["turn"]),
        "status": _STATUS[seen["status"][0]],
        "you_are": f"player {seat}",
        "on_turn": seen.players[seen["active"].index(1)],
        **({"decides": seen.players[seen["decider"].index(1)]} if any(seen["decider"]) else {}),
        **_rules(seen),
    }


def _rules(seen: _Seen) -> Facts:
    """Returns the options that are not as usual, and those of `_ALWAYS`; of a pool of cards, the ones left out."""
    found: Facts = {}
    for name, option in OPTIONS.items():
        if option.names:
            found |= _filled({f"{name}_left_out": [*_counts(option.names, seen[name])]})
            continue
        value = option.decode(_whole(seen[name]))
        if name in _ALWAYS or value != getattr(Rules, name):
            found[name] = value
    return found


def _player(seen: _Seen, k: int) -> Facts:
    """Returns what is known of the k-th player after the observer."""

    def of(field: str) -> list[int]:
        return seen[f"player_{k}.{field}"]

    order, starred = of("recruits"), of("recruit_stars")
    active = sorted((place, name) for name, place in _counts(RECRUIT_NAMES, order).items())
    shown = {name: "active with star" if starred[place - 1] else "active" for place, name in active}
    own = {name: _OWN_RECRUITS[code] for name, code in _counts(RECRUIT_NAMES, seen["own_recruits"]).items()} if k == 0 else {}
    dilemma = [*_counts(ARTIFACTS, seen["own_dilemma"] if k == 0 else of("resolved_dilemma"))]
    tiles = {name: _OWN_TILES[code] for name, code in _counts(TILES, seen["own_tiles"]).items()} if k == 0 else {}
    return {"knowledge": of("knowledge")[0], "morale": of("morale")[0], "stars_placed": STARS - of("stars")[0]} | _filled(
        {
            "available_workers": [face for face, n in enumerate(of("available"), 1) for _ in range(n)],
            "workers": of("workers")[0],
            "goods": _counts(GOODS, of("goods")),
            "artifact_cards": of("hand_size")[0],
            "artifacts": _counts(ARTIFACTS, seen["own_artifacts"]) if k == 0 else {},
            "recruits": shown | own,
            "hidden_recruits": of("hidden_recruits")[0],
            "dilemma": "".join(dilemma),
            "dilemma_became": ("", "star", "recruit")[of("resolved")[0]],
            "tiles": tiles,
            "this_turn": [flag for flag in _THIS_TURN if of(flag)[0]],
        }
    )


def _board(seen: _Seen) -> Facts:
    size = len(seen["decider"])  # the seats that an observation has room for
    areas, territories, stars = seen["areas"], seen["territories"], seen["market_stars"]
    workers: dict[str, dict[str, list[int]]] = {}
    for at, n in enumerate(areas):
        if n:
            space, player = SPACES[at // (6 * size)], seen.players[at // 6 % size]
            workers.setdefault(space, {}).setdefault(player, []).extend([at % 6 + 1] * n)
    for space, owner, face in zip(SPACES[NUM_AREAS:], seen["occupant"], seen["occupant_face"], strict=True):
        if owner:
            workers[space] = {seen.players[owner - 1]: [face]}
    owned = {
        place: _counts(seen.players, numbers[size * k : size * (k + 1)])
        for places, numbers in ((TERRITORIES, territories), (MARKETS, stars))
        for k, place in enumerate(places)
    }
    return {
        "allegiance": dict(zip(FACTIONS, seen["allegiance"], strict=True)),
        "miners": dict(zip(FACTIONS, seen["miners"], strict=False)),
        **_filled({"workers": workers, "stars": _filled(owned), "discards": _counts(ARTIFACTS, seen["discards"])}),
        "deck": seen["deck_size"][0],
    }


def _cards(players: Facts) -> dict[str, str]:
    """Returns what the recruits in play do, and the recruits and tiles in the observer's hand."""
    held = [card for player in players.values() for kind in ("recruits", "tiles") for card in player.get(kind, {}).items()]
    names = [name for name, state in held if state != _OUT]
    return {name: recruit_words(name) if name in RECRUIT_NAMES else _tile_words(name) for name in names}


def _tile_words(tile: str) -> str:
    return f"(costs {cost_words(MARKETS[0], tile).replace(', ', ' and ')}; without your star: {tile_words(tile)})"


# ---------------------------------------------------------------------------------------------------------- the decision

_Decode = Callable[[_Seen, list[int]], Any]


def _number(seen: _Seen, values: list[int]) -> int:
    return values[0]


def _flag(seen: _Seen, values: list[int]) -> bool:
    return True


def _player_name(seen: _Seen, values: list[int]) -> str:
    return seen.players[values[0] - 1]


def _one_of(names: Sequence[str], first: int = 1) -> _Decode:
    """Decodes a number that stands for a name; that of the first name is `first`."""
    return lambda seen, values: names[values[0] - first]


def _several(names: Sequence[str]) -> _Decode:
    return lambda seen, values: [*_counts(names, values)]


def _amounts(names: Sequence[str]) -> _Decode:
    return lambda seen, values: _counts(names, values)


def _to_roll(seen: _Seen, values: list[int]) -> list[str]:
    pairs = zip(values[:MAX_WORKERS], values[MAX_WORKERS:], strict=True)
    return [f"{seen.players[owner - 1]} {face}" if owner else "rolled" for owner, face in pairs]


# How each field of the decision is told; the names are those of docs/observations.md.
_DECISION: dict[str, _Decode] = {
    "asked": lambda seen, values: seen.asked,
    "card": _one_of(RECRUIT_NAMES),
    "verb": _one_of(VERBS),
    "units": lambda seen, values: values,
    "first_group": lambda seen, values: [*_counts(STAR_PLACES if seen.asked == "star" else seen.units, values)],
    "second_group": lambda seen, values: [*_counts(seen.units, values)],
    "last": lambda seen, values: seen.units[values[0]],
    "chosen": lambda seen, values: _counts(seen.units, values),
    "requested": _amounts(ITEMS),
    "partner": _player_name,
    "offers": _number,
    "space": _one_of(SPACES),
    "placed_face": _number,
    "bumped": _player_name,
    "bumped_face": _number,
    "allegiance_before": _amounts(FACTIONS),
    "due": _amounts(("morale", "knowledge")),
    "paid": _several(_PAID),
    "star_placed": _flag,
    "took_resource": _flag,
    "helped": lambda seen, values: [*_counts(seen.players, values)],
    "new_worker": _flag,
    "new_face": _number,
    "set_face": _number,
    "to_roll": _to_roll,
    "roller": _player_name,
    "payment": _one_of(("free", "food", "bliss", "energy")),
    "taken": lambda seen, values: [actions.NAMES[actions.TAKE + k - 1].removeprefix("take ") for k in values if k],
    "resolving": _one_of(("star", "recruit")),
    "bargains_left": _number,
    "further_left": _number,
    "draws_left": _number,
}
assert list(_DECISION) == [field.name for field in FIELDS][-len(_DECISION) :]
