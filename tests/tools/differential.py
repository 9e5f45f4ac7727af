"""Differential play: the same games on the engine and on the referee (tests/referee), compared after every decision.

``python -m tests.tools.differential --decisions 1000000 --processes 2 --out chunks.jsonl`` plays in numbered chunks, each of
which depends on the seed and its number only. Finished chunks are remembered in the file, so that the command can be stopped
and started again. A game on which the two do not agree is shrunk and printed as a scenario for tests/scenarios, with what the
referee says as its expectation: one must still look up who is right.

With NUMBA_DISABLE_JIT=1 nothing is compiled: good for a few decisions.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import hashlib
import json
import multiprocessing
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import euphoria_env
from euphoria_agents import load
from euphoria_agents.files import append_line
from euphoria_env import Game, Rules, actions
from tests.referee import Referee
from tests.referee.tables import AREAS, RECRUITS, TUNNELS
from tests.tools.positions import bazaar, photo_finish, random_position, random_rules, spotlight

READABLE = (
    "rules", "player", "turn", "players", "workers", "allegiance", "miners", "markets", "territories", "discards",
)  # fmt: skip
CHUNK = 5_000  # decisions
WEIGHTS = load("weights")
SEEDS = (0, 1, 2)  # a shrunk case must fail with all of them: the runner of the scenarios tries these
TURNS_KEPT = 40  # so far back a failing game is looked at for a shorter start
LONGEST_SHRINK = 60.0  # seconds

# Moves that parse, and are never legal: these recruits are never asked (R13.1, docs/positions.md); no artifact market is in
# Icarus (R10.1).
NEVER_LEGAL = {"star icarite_territory"} | {
    f"use {recruit}"
    for recruit in RECRUITS
    if recruit.split("_")[0] in (
        "gary", "jefferson", "katy", "michael", "ray", "andrew", "curtis", "faith", "josiah", "maggie", "soulless", "brian",
        "flartner", "ian", "jacko", "nick", "sir", "steven", "josh", "kaden", "matthew", "sarinee",
    )
}  # fmt: skip

Json = dict[str, Any]
Load = dict[str, list[Any]]
Difference = tuple[str, Any, Any]  # where, the engine, the referee


# ------------------------------------------------------------------------------------------------------------- comparing


class Mismatch(Exception):
    """The two do not agree."""

    def __init__(self, kind: str, differences: list[Difference]) -> None:
        super().__init__(kind, differences)
        self.kind = kind  # crash (of the engine), outcomes (or a crash of the referee), position, player, legal, result
        self.differences = differences

    def __str__(self) -> str:
        return "\n".join(
            f"{self.kind}: {where}: engine {engine!r}, referee {referee!r}" for where, engine, referee in self.differences
        )

    @property
    def signature(self) -> tuple[str, frozenset[str]]:
        """The fault, roughly: equal for the same fault in other games, it is hoped."""
        details = set()
        for where, engine, referee in self.differences:
            if self.kind == "legal":
                details |= {move.split(" ")[0] for move in (*engine, *referee)}
            elif self.kind in ("crash", "outcomes"):
                details.add(str(referee or engine).split("(")[0])
            else:
                details.add(re.sub(r"\[\d+\]|(sub|eu|waste|ica)[a-z_0-9]+", "*", where))
        return self.kind, frozenset(details)

    def is_like(self, other: Mismatch) -> bool:
        """Whether this is probably the same fault."""
        return self.kind == other.kind and bool(self.signature[1] & other.signature[1])


class Unplayable(Exception):
    """A case that is no game: an impossible position or outcome."""


def readable(d: Json) -> Json:
    """The keys of a position that both understand."""
    return {key: d[key] for key in READABLE}


def normal(d: Json) -> Json:
    """The readable part of a position, without zeros, and lists sorted where their order says nothing."""
    result = readable(d)
    for key in ("allegiance", "miners", "discards"):
        result[key] = _without_nothing(d[key])
    result["territories"] = {name: sorted(owners) for name, owners in d["territories"].items() if owners}
    result["workers"] = {space: sorted(map(list, there)) for space, there in d["workers"].items() if there}
    result["markets"] = {name: {**market, "stars": sorted(market["stars"])} for name, market in d["markets"].items()}
    result["players"] = [
        {
            **{key: value for key, value in player.items() if key != "used"},
            "goods": _without_nothing(player["goods"]),
            "artifacts": _without_nothing(player["artifacts"]),
            "workers": sorted(player["workers"]),
        }
        for player in d["players"]
    ]
    return result


def _without_nothing(counts: Json) -> Json:
    return {name: value for name, value in counts.items() if value}


def differences(engine: Any, referee: Any, where: str = "") -> list[Difference]:
    """The places where two JSON values differ."""
    if isinstance(engine, dict) and isinstance(referee, dict):
        return [
            difference
            for key in sorted({*engine, *referee})
            for difference in differences(engine.get(key), referee.get(key), f"{where}.{key}" if where else key)
        ]
    if isinstance(engine, list) and isinstance(referee, list) and len(engine) == len(referee):
        if all(isinstance(x, dict) for x in engine + referee):
            return [
                difference
                for k, (one, other) in enumerate(zip(engine, referee, strict=True))
                for difference in differences(one, other, f"{where}[{k}]")
            ]
    return [] if engine == referee and type(engine) is type(referee) else [(where, engine, referee)]


class Pair:
    """One game on both."""

    def __init__(self, start: Json, load: Load | None = None) -> None:
        """Starts `{"new": {"rules": ..., "seed": ...}}` or `{"given": POSITION}`.

        Raises:
            Unplayable: the position or the outcomes are impossible.
        """
        load = {kind: list(values) for kind, values in (load or {}).items() if values}
        self.position: Json = {}  # of the engine, when they were last compared
        self.moves: list[str] = []
        self.marks: list[int] = []  # how many outcomes had been drawn before each move
        self._fed = 0
        try:
            if "new" in start:
                new = start["new"]
                self.engine = Game(Rules(**new["rules"]), seed=new["seed"], load=load)
                self.referee = Referee.new(new["rules"])
            else:
                self.engine = Game.from_dict({"seed": 0, **start["given"]})
                self.engine.load(**load)
                self.referee = Referee.from_dict(readable(self.engine.to_dict()))
        except ValueError as error:
            raise Unplayable(str(error)) from error
        self._feed()

    @property
    def ended(self) -> bool:
        return self.engine.over or self.engine.truncated

    @property
    def drawn(self) -> int:
        """The number of outcomes drawn."""
        return self._fed

    def _feed(self) -> None:
        """Loads what the engine has newly drawn into the referee."""
        outcomes = self.engine.outcomes
        self.referee.load(**grouped(outcomes[self._fed :]))
        self._fed = len(outcomes)

    def play(self, move: str) -> None:
        """Plays a move that is legal on both.

        Raises:
            Mismatch: one of them cannot.
            Unplayable: a loaded outcome is impossible.
        """
        self.marks.append(self._fed)
        self.moves.append(move)
        try:
            self.engine.play(move)
        except Exception as error:
            if isinstance(error, ValueError) and "the loaded outcome" in str(error):
                raise Unplayable(str(error)) from error
            raise Mismatch("crash", [(f"play {move}", repr(error), None)]) from error
        self._feed()
        try:
            self.referee.play(move)
        except Exception as error:
            raise Mismatch("outcomes", [(f"play {move}", self._lately(), repr(error))]) from error

    def _lately(self) -> list[Any]:
        """The outcomes drawn since the last move."""
        return self.engine.outcomes[self.marks[-1] if self.marks else 0 :]

    def compare(self) -> list[str]:
        """Compares all that can be compared; returns the legal moves.

        Raises:
            Mismatch: they do not agree.
        """
        game, referee = self.engine, self.referee
        try:
            self.position = game.to_dict()
            position, legal = normal(self.position), game.legal()
            result = {name: getattr(game, name) for name in _RESULT}
        except Exception as error:
            raise Mismatch("crash", [("after the move", repr(error), None)]) from error
        try:
            twin, twin_legal = normal(referee.to_dict()), referee.legal()
            twin_result = {name: getattr(referee, name) for name in _RESULT}
        except Exception as error:
            raise Mismatch("outcomes", [("after the move", self._lately(), repr(error))]) from error
        if referee.unused():
            raise Mismatch("outcomes", [("drawn", referee.unused(), "not drawn")])
        if game.turn == 0:
            _ignore_setup(position, twin)
        if position != twin:
            raise Mismatch("position", differences(position, twin))
        if game.player != referee.player:
            raise Mismatch("player", [("player", game.player, referee.player)])
        if sorted(legal) != sorted(twin_legal):
            only = sorted({*legal} - {*twin_legal}), sorted({*twin_legal} - {*legal})
            raise Mismatch("legal", [("legal", *only)])
        if result != twin_result:
            raise Mismatch("result", differences(result, twin_result))
        return legal


_RESULT = ("turn", "over", "truncated", "winner", "ranking")


def _ignore_setup(position: Json, twin: Json) -> None:
    """In the setup it is nowhere said what a marker not yet set shows, nor how recruits not yet shown stand."""
    for player, other in zip(position["players"], twin["players"], strict=True):
        for key in ("knowledge", "morale"):
            if player[key] == 0:
                player[key] = other[key]
        if not other["recruits"]:
            player["recruits"] = []


def grouped(outcomes: Iterable[tuple[str, Any]]) -> Load:
    """Outcomes by kind, as for `load`."""
    load: Load = {}
    for kind, value in outcomes:
        load.setdefault(kind, []).append(value)
    return load


# --------------------------------------------------------------------------------------------------------------- playing


def choose_random(rng: random.Random, legal: list[str], pair: Pair) -> str:
    """Any move."""
    return rng.choice(legal)


def choose_eager(rng: random.Random, legal: list[str], pair: Pair) -> str:
    """Builds, uses what can be used, retrieves late and not from sites: so that games end."""
    if len(legal) == 1:
        return legal[0]
    placing = any(move.startswith("place") for move in legal)
    begun: set[str] | None = None
    weights = []
    for move in legal:
        verb, _, rest = move.partition(" ")
        weight = _WEIGHTS.get(verb, 1.0)
        if verb == "place":
            space = rest[2:]
            if "_site_" in space:
                if begun is None:
                    begun = {name.rpartition("_")[0] for name in pair.position["workers"] if "_site_" in name}
                weight = 60 if space.rpartition("_")[0] in begun else 6
            elif "market" in space or "_of_" in space or space in ("wind_salon", "nimbus_loft"):
                weight = 30
            elif space.endswith("_end") or space.startswith("tank"):
                weight = 6
            elif "tunnel" in space:
                weight = 4
        elif verb == "retrieve":
            weight = 0.02 if placing else 1 if rest == "free" else 10
        elif verb == "take":
            weight = 0.05 if "_site_" in rest else 8
        weights.append(weight)
    return rng.choices(legal, weights)[0]


def choose_curious(rng: random.Random, legal: list[str], pair: Pair) -> str:
    """Goes where the player's recruits act and where others stand, pays in unusual ways, and uses what can be used."""
    if len(legal) == 1:
        return legal[0]
    if legal[0].startswith(("place", "retrieve")):
        position = pair.position
        active = {recruit["name"] for recruit in position["players"][position["player"]]["recruits"] if recruit["active"]}
        places = tuple(place for name in active for place in _PLACES.get(name, ()))
    weights = []
    for move in legal:
        verb, _, rest = move.partition(" ")
        weight = _WEIGHTS.get(verb, 1.0)
        if verb == "place":
            space = rest[2:]
            if space in AREAS or "_site_" in space:
                weight = 1
            elif space in position["workers"]:
                bumps_another = position["workers"][space][0][0] != position["player"]
                weight = 2 if not bumps_another else 15 if space in TUNNELS else 8
            else:
                weight = 4
            weight *= 8 if any(place in space for place in places) else 1
        elif verb == "retrieve":
            weight = 60 if active & _RETRIEVING else 4
        elif verb == "use":
            weight = 8
        elif move in ("pay knowledge", "pay one", "pay food", "pay bliss"):
            weight = 4
        weights.append(weight)
    return rng.choices(legal, weights)[0]


def choose_trader(rng: random.Random, legal: list[str], pair: Pair) -> str:
    """Trades, above all where a further worker may be placed (R15.2), goes to the tank, and places all that may be placed."""
    further = "end" in legal
    weights = []
    for move in legal:
        verb, _, rest = move.partition(" ")
        weight = {"place": 1.0, "trade": 15.0 if further else 2.0, "offer": 2.0, "accept": 3.0, "use": 4.0}.get(verb, 1.0)
        if verb == "place" and "tank" in rest:
            weight = 25
        weights.append(weight)
    return rng.choices(legal, weights)[0]


def choose_weights(rng: random.Random, legal: list[str], pair: Pair) -> str:
    """As the agent `weights` does."""
    game = pair.engine
    action = WEIGHTS.act(game.observation(game.player), game.mask(), np.random.default_rng(rng.getrandbits(64)))
    return actions.name(action)


_RETRIEVING = {
    "jefferson_the_shock_artist",
    "yordy_the_demotivator",
    "maggie_the_outlaw",
    "pete_the_cannibal",
    "gidget_the_hypnotist",
    "dr_sheppard_the_lobotomist",
}
# Recruits that act on placing, and parts of the names of spaces where they do.
_PLACES: dict[str, tuple[str, ...]] = {
    "bradley_the_futurist": ("_market_", "_of_"),
    "gary_the_electrician": ("generator",),
    "katy_the_dietician": ("generator",),
    "laura_the_philanthropist": ("tank", "tunnel"),
    "michael_the_engineer": ("_site_",),
    "dr_nakagawa_the_tribute": ("_site_",),
    "ray_the_foreman": ("_site_",),
    "andrew_the_spelunker": ("tunnel",),
    "brett_the_lockpicker": ("_market_", "_of_"),
    "chase_the_miner": ("tunnel", "tank"),
    "faith_the_hydroelectrician": ("aquifer",),
    "josiah_the_hacker": ("generator", "farm", "cloud_mine"),
    "soulless_the_plumber": ("aquifer",),
    "brian_the_viticulturist": ("_market_", "breeze_bar", "sky_lounge", "cloud_mine"),
    "flartner_the_scammer": ("_site_",),
    "ian_the_horticulturist": ("farm",),
    "jacko_the_archivist": ("ark_of",),
    "jonathan_the_artist": ("_site_",),
    "kyle_the_scavenger": ("generator", "farm", "aquifer"),
    "pete_the_cannibal": ("tank",),
    "professor_reitz_the_archaeologist": ("tunnel",),
    "sir_scarby_the_harvester": ("farm",),
    "flavio_the_merchant": ("_market_", "_of_"),
    "josh_the_negotiator": ("_market_",),
    "kaden_the_infiltrator": ("_end",),
    "sarinee_the_cloud_miner": ("cloud_mine",),
    "dr_sheppard_the_lobotomist": ("tank",),
    "zong_the_astronomer": ("cloud_mine",),
}
assert {*_PLACES} | _RETRIEVING <= {*RECRUITS}
_WEIGHTS = {"dilemma": 30, "use": 4, "end": 0.2, "trade": 0.5, "offer": 2, "accept": 2}
POLICIES: dict[str, Callable[[random.Random, list[str], Pair], str]] = {
    "random": choose_random,
    "eager": choose_eager,
    "curious": choose_curious,
    "trader": choose_trader,
    "weights": choose_weights,
}


@dataclass
class Case:
    """A game: where it starts, and the moves, each with what was drawn after it."""

    start: Json
    first: list[tuple[str, Any]]  # drawn before the first move
    steps: list[tuple[str, list[tuple[str, Any]]]]

    @property
    def load(self) -> Load:
        """All that is drawn."""
        return grouped([*self.first, *(outcome for _, drawn in self.steps for outcome in drawn)])

    @property
    def moves(self) -> list[str]:
        """The moves."""
        return [move for move, _ in self.steps]


def case_of(pair: Pair, start: Json) -> Case:
    """The moves played on a pair."""
    outcomes, marks = pair.engine.outcomes, [*pair.marks, pair.drawn]
    steps = [(move, outcomes[marks[k] : marks[k + 1]]) for k, move in enumerate(pair.moves)]
    return Case(start, outcomes[: marks[0]], steps)


@dataclass
class Failure:
    """A game on which the two do not agree, and the last turn starts: how many moves before each, and the position."""

    case: Case
    mismatch: Mismatch
    turns: list[tuple[int, Json]] = field(default_factory=list)


@dataclass
class Played:
    """A summary of a game."""

    decisions: int = 0
    moves: Counter[str] = field(default_factory=Counter)
    ended: bool = False
    failure: Failure | None = None


@dataclass(frozen=True)
class Plan:
    """The start of a game, its players, and its length."""

    start: Json
    policy: str
    moves: int
    turns: int | None = None


def random_plan(rng: random.Random) -> Plan:
    """Mostly a few turns from a random position, so that many different things happen."""
    policy = rng.choice(tuple(POLICIES))
    if rng.random() < 0.04:
        start = {"new": {"rules": random_rules(rng), "seed": rng.getrandbits(32)}}
        return Plan(start, policy, moves=rng.choice((30, 30, 30, 30, 30, 300, 1500)))
    make = rng.choices((random_position, spotlight, bazaar, photo_finish), (30, 43, 22, 5))[0]
    if make is spotlight and rng.random() < 0.7:
        policy = "curious"
    if make is bazaar and rng.random() < 0.7:
        policy = "trader"
    position = make(rng)
    position["seed"] = rng.getrandbits(32)
    return Plan({"given": position}, policy, moves=100, turns=rng.choice((1, 1, 1, 2, 2, 4, 15)))


def play_game(plan: Plan, rng: random.Random) -> Played:
    """Plays a game on both, comparing them after every decision, until it ends, they differ, or the plan is carried out."""
    choose = POLICIES[plan.policy]
    try:
        pair = Pair(plan.start)
    except Exception as error:
        raise RuntimeError(f"one of the two cannot begin {json.dumps(plan.start)}") from error
    starts: list[tuple[int, Json]] = []
    played = Played()
    turn = turns = 0
    try:
        legal = pair.compare()
        while legal and played.decisions < plan.moves:
            if pair.engine.turn != turn:
                if turns == plan.turns:
                    break
                turn, turns = pair.engine.turn, turns + 1
                starts = [*starts[1 - TURNS_KEPT :], (len(pair.moves), readable(pair.position))]
            played.decisions += 1
            pair.play(choose(rng, legal, pair))
            legal = pair.compare()
    except Mismatch as mismatch:
        played.failure = Failure(case_of(pair, plan.start), mismatch, starts)
    played.moves.update(pair.moves)
    played.ended = pair.ended
    return played


# ------------------------------------------------------------------------------------------------------------- shrinking


def replay(case: Case, seed: int | None = None) -> tuple[Pair, Mismatch | None]:
    """Plays a case again as far as it goes; moves that are not legal any more are left out.

    Raises:
        Unplayable: it is no game.
    """
    start = case.start
    if seed is not None and "given" in start:
        start = {"given": {**start["given"], "seed": seed}}
    pair = Pair(start, case.load)
    try:
        legal = pair.compare()
        for move in case.moves:
            if move in legal:
                pair.play(move)
                legal = pair.compare()
    except Mismatch as mismatch:
        return pair, mismatch
    return pair, None


class Shrinker:
    """Makes a failing case small: a start shortly before, few moves, a bare position."""

    def __init__(self, failure: Failure, longest: float = LONGEST_SHRINK) -> None:
        self._failure = failure
        self._mismatch = failure.mismatch
        self._until = time.monotonic() + longest
        self.case = failure.case
        self.mismatch = failure.mismatch

    def run(self) -> tuple[Case, Mismatch]:
        """The small case and what is wrong with it."""
        self._start_late()
        progress = True
        while progress and time.monotonic() < self._until:
            progress = self._fewer_moves()
            if "given" in self.case.start:
                progress |= self._barer_position()
        return self.case, self.mismatch

    def _accept(self, case: Case) -> bool:
        """Whether the case fails likewise, whatever the seed; then it is the best one so far."""
        if time.monotonic() > self._until:
            return False
        found = None
        try:
            for seed in SEEDS if "given" in case.start else (None,):
                pair, mismatch = replay(case, seed)
                if mismatch is None or not mismatch.is_like(self._mismatch):
                    return False
                found = found or (case_of(pair, case.start), mismatch)
        except Unplayable:
            return False
        assert found is not None
        self.case, self.mismatch = found
        return True

    def _start_late(self) -> None:
        steps = self._failure.case.steps
        for made, position in reversed(self._failure.turns):
            if self._accept(Case({"given": position}, [], steps[made:])):
                return
        self._accept(self._failure.case)

    def _fewer_moves(self) -> bool:
        progress = False
        size = max(1, len(self.case.steps) // 2)
        while size:
            at = len(self.case.steps) - size
            while at >= 0:
                steps = self.case.steps
                if self._accept(replace(self.case, steps=steps[:at] + steps[at + size :])):
                    progress = True
                at = min(at, len(self.case.steps)) - size
            size //= 2
        return progress

    def _barer_position(self) -> bool:
        progress = False
        for change in reductions(self.case.start["given"]):
            position = copy.deepcopy(self.case.start["given"])
            try:
                change(position)
            except (KeyError, IndexError):
                continue  # an earlier reduction has taken it away
            if position != self.case.start["given"] and self._accept(replace(self.case, start={"given": position})):
                progress = True
        return progress


def reductions(position: Json) -> Iterator[Callable[[Json], None]]:
    """Ways to make a position barer, the coarse ones first."""
    yield lambda p: p.pop("seed")
    for seat in reversed(range(len(position["players"]))):
        yield functools.partial(_remove_player, seat=seat)
    for key in ("workers", "territories", "markets", "allegiance", "miners", "discards", "turn"):
        yield functools.partial(_drop, path=(key,))
    for key in list(position["rules"]):
        if key != "num_players":
            yield functools.partial(_drop, path=("rules", key))
    for seat, player in enumerate(position["players"]):
        for key in list(player):
            if key != "workers":  # left out they are random
                yield functools.partial(_drop, path=("players", seat, key))
    yield from _single_reductions(position, ())


def _single_reductions(value: Any, path: tuple[Any, ...]) -> Iterator[Callable[[Json], None]]:
    """Leaves out single entries, and makes numbers smaller."""
    if path[-1:] == ("rules",) or (path[-1:] == ("dilemma",)):
        return
    if isinstance(value, dict):
        for key in list(value):
            if path and key not in ("name", "active", "tile", "workers"):
                yield functools.partial(_drop, path=(*path, key))
            yield from _single_reductions(value[key], (*path, key))
    elif isinstance(value, list) and path != ("players",):
        for k in reversed(range(len(value))):
            if not (len(path) == 2 and path[0] == "workers" and len(value) == 1):
                yield functools.partial(_drop, path=(*path, k))
            if isinstance(value[k], dict):
                yield from _single_reductions(value[k], (*path, k))
    elif isinstance(value, list):
        for k, entry in enumerate(value):
            yield from _single_reductions(entry, (*path, k))
    elif path[-1] == "built" and value:
        yield functools.partial(_unbuild, path=path[:-1])
    elif isinstance(value, int) and not isinstance(value, bool) and len(path) > 1 and value > 1:
        yield functools.partial(_set, path=path, value=1)
        yield functools.partial(_less, path=path)


def _holder(position: Json, path: tuple[Any, ...]) -> Any:
    return functools.reduce(lambda holder, key: holder[key], path[:-1], position)


def _drop(position: Json, path: tuple[Any, ...]) -> None:
    del _holder(position, path)[path[-1]]
    for player in position["players"]:
        player.pop("stars", None)  # it follows from those shown


def _set(position: Json, path: tuple[Any, ...], value: int) -> None:
    _holder(position, path)[path[-1]] = value


def _less(position: Json, path: tuple[Any, ...]) -> None:
    _holder(position, path)[path[-1]] -= 1


def _unbuild(position: Json, path: tuple[Any, ...]) -> None:
    market = _holder(position, (*path, "built"))
    market.update(built=False, stars=[])
    for player in position["players"]:
        player.pop("stars", None)


def _remove_player(position: Json, seat: int) -> None:
    """Takes a player out of the game; those who come after move up."""
    if seat == position["player"] or position["rules"]["num_players"] == 2:
        raise IndexError
    position["rules"]["num_players"] -= 1
    del position["players"][seat]

    def moved(owners: Iterable[int]) -> list[int]:
        return [owner - (owner > seat) for owner in owners if owner != seat]

    position["player"] -= position["player"] > seat
    workers = {space: [w for w in there if w[0] != seat] for space, there in position.get("workers", {}).items()}
    position["workers"] = {s: [[p - (p > seat), f] for p, f in there] for s, there in workers.items() if there}
    for market in position.get("markets", {}).values():
        market["stars"] = moved(market.get("stars", []))
    for name, owners in position.get("territories", {}).items():
        position["territories"][name] = moved(owners)


# -------------------------------------------------------------------------------------------------------------- scenario


def scenario(case: Case, mismatch: Mismatch) -> str:
    """A failing case as a scenario, with what the referee says as the expectation, and the differences as comments."""
    load, expected = _expectation(case)
    document: Json = {"id": f"differential-{_digest(case)}", "rule": _guess_rule(case)}
    if "given" in case.start:
        document["given"] = _tidy(case.start["given"])
    else:
        document["new"] = {**case.start["new"]}
    if load:
        document.get("new", document)["load"] = load
    document |= {"play": case.moves, **expected}
    lines = [f"# {line}" for line in str(mismatch).splitlines()]
    return "\n".join([*lines, *_yaml_lines(document)]) + "\n"


def _yaml_lines(document: Json) -> Iterator[str]:
    """A list of one scenario, the values in flow style; a long position has a line for each key and each player."""
    dash = "- "
    for key, value in document.items():
        if key == "given" and len(_flow(value)) > 100:
            yield f"  {key}:"
            for name, part in value.items():
                yield f"    {name}:" if name == "players" else f"    {name}: {_flow(part)}"
                if name == "players":
                    yield from (f"    - {_flow(player)}" for player in part)
        else:
            yield f"{dash}{key}: {_flow(value)}"
        dash = "  "


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000)
    return text.removesuffix("...\n").strip()


def _digest(case: Case) -> str:
    text = json.dumps([case.start, case.first, case.steps], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def _guess_rule(case: Case) -> str:
    """The subject of the last move; the author of the scenario knows better."""
    rules = {"R3.4": "retrieve take done sacrifice", "R14.1": "dilemma", "R2.2": "choose", "R17.3": "morale knowledge"}
    rules["R15.1"] = "trade give ask offer accept refuse"
    verb = case.moves[-1].split(" ")[0] if case.moves else ""
    return next((rule for rule, verbs in rules.items() if verb in verbs.split()), "R4")


def _tidy(position: Json) -> Json:
    """Leaves out of a position what is nothing, except that somebody has no worker available."""
    result = {key: value for key, value in position.items() if (key, value) != ("player", 0)}
    for key in ("allegiance", "miners"):
        if key in result:
            result[key] = _without_nothing(result[key])
    result["players"] = [
        {key: value for key, value in player.items() if key == "workers" or value not in ({}, [], False)}
        for player in position["players"]
    ]
    return {key: value for key, value in result.items() if value not in ({}, [])}


def _expectation(case: Case) -> tuple[Load, Json]:
    """The referee's draws, and its results where the engine has others: `then`, `legal`, `illegal` and so on."""
    engine = Pair(case.start, case.load).engine
    try:
        if "new" in case.start:
            referee = Referee.new(case.start["new"]["rules"], load=case.load, seed=0)
        else:
            referee = Referee.from_dict(readable(engine.to_dict()), load=case.load, seed=0)
        for move in case.moves:
            referee.play(move)
        twin, legal = normal(referee.to_dict()), referee.legal()
    except Exception:
        return case.load, {}  # it crashes
    load = grouped(referee.outcomes)
    try:
        engine = Pair(case.start, load).engine
        for move in case.moves:
            engine.play(move)
        position = normal(engine.to_dict())
    except Exception:
        return load, {}
    then: Json = {}
    for where, _, value in differences(position, twin):
        _put(then, where, value, len(twin["players"]))
    expected = {
        "then": then,
        "legal": sorted({*legal} - {*engine.legal()}),
        "illegal": sorted({*engine.legal()} - {*legal}),
        **{name: getattr(referee, name) for name in _RESULT[1:] if getattr(referee, name) != getattr(engine, name)},
    }
    return load, {key: value for key, value in expected.items() if value not in ({}, [])}


_EMPTY: Json = {"goods": 0, "artifacts": 0, "allegiance": 0, "miners": 0, "discards": 0, "workers": [], "territories": []}


def _put(then: Json, where: str, value: Any, n: int) -> None:
    """Writes a value at a path such as players[1].goods.gold into a `then`."""
    keys: list[Any] = [int(key) if key.isdigit() else key for key in re.findall(r"[^.\[\]]+", where)]
    if value is None:
        value = next((_EMPTY[key] for key in keys if key in _EMPTY), None)
    if keys[0] == "players" and "recruits" in keys:
        keys = keys[: keys.index("recruits") + 1]
    holder: Any = then
    for key, following in zip(keys, keys[1:], strict=False):
        if isinstance(key, int):
            holder = holder[key]
        else:
            holder = holder.setdefault(key, [{} for _ in range(n)] if isinstance(following, int) else {})
    holder[keys[-1]] = value


def report(failure: Failure, longest: float = LONGEST_SHRINK) -> str:
    """Shrinks a failure and writes it as a scenario."""
    return scenario(*Shrinker(failure, longest).run())


# ---------------------------------------------------------------------------------------------------------------- chunks


@dataclass
class Chunk:
    """The result of a chunk: a line of the file."""

    seed: int
    chunk: int
    sources: str
    decisions: int = 0
    games: int = 0
    ended: int = 0
    seconds: float = 0.0
    moves: Counter[str] = field(default_factory=Counter)
    failures: int = 0
    scenarios: list[str] = field(default_factory=list)  # one for each kind of failure

    def to_line(self) -> str:
        """One line of JSON."""
        return json.dumps(self.__dict__, sort_keys=True)


def play_chunk(seed: int, number: int, decisions: int = CHUNK, sources: str = "") -> Chunk:
    """Plays the games of a chunk, the same whenever and wherever it is played."""
    began = time.monotonic()
    chunk = Chunk(seed, number, sources)
    seen: list[Mismatch] = []
    while chunk.decisions < decisions:
        rng = random.Random(f"{seed}/{number}/{chunk.games}")
        played = play_game(random_plan(rng), rng)
        chunk.games += 1
        chunk.decisions += max(1, played.decisions)
        chunk.ended += played.ended
        chunk.moves += played.moves
        if played.failure is not None:
            chunk.failures += 1
            mismatch = played.failure.mismatch
            if not any(mismatch.signature == other.signature for other in seen):
                seen.append(mismatch)
                chunk.scenarios.append(report(played.failure))
    chunk.seconds = round(time.monotonic() - began, 3)
    return chunk


def sources_hash() -> str:
    """A hash of all that a result depends on: chunks played with other sources do not count as finished."""
    digest = hashlib.blake2b(digest_size=8)
    package, tests = Path(euphoria_env.__file__).parent, Path(__file__).parent
    files = [*package.glob("*.py"), *package.glob("cards/*.py"), *package.glob("engine/*.py"), *tests.glob("referee/*.py")]
    for path in sorted([*files, tests / "differential.py", tests / "positions.py"]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def read_finished(file: Path, seed: int, sources: str) -> dict[int, Chunk]:
    """The finished chunks of this seed and these sources; a torn last line is passed over."""
    finished = {}
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError, TypeError):
                chunk = Chunk(**json.loads(line))
                chunk.moves = Counter(chunk.moves)
                if (chunk.seed, chunk.sources) == (seed, sources):
                    finished[chunk.chunk] = chunk
    return finished


def play_chunks(seed: int, numbers: Iterable[int], processes: int, sources: str = "") -> Iterator[Chunk]:
    """Plays chunks, in several processes, and gives them as they are finished."""
    _warm_up()
    if processes == 1:
        yield from (play_chunk(seed, number, CHUNK, sources) for number in numbers)
        return
    context = multiprocessing.get_context("spawn")
    ignore = (signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's business
    with ProcessPoolExecutor(processes, context, initializer=signal.signal, initargs=ignore) as pool:
        futures = [pool.submit(play_chunk, seed, number, CHUNK, sources) for number in numbers]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _warm_up() -> None:
    """Compiles the engine into its cache, before several processes want to."""
    game = Game(Rules(), seed=0)
    game.play(game.legal()[0])
    game.outcomes, game.to_dict()


# --------------------------------------------------------------------------------------------------------------- command


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit status: 1 if the two do not agree."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.differential", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = functools.partial(parser.add_argument, type=int)
    add("--decisions", default=100_000, metavar="N", help="decisions to compare (default: %(default)s)")
    add("--processes", default=os.cpu_count() or 1, metavar="K", help="default: all cores (%(default)s)")
    add("--out", type=Path, metavar="FILE", help="JSON lines: finished chunks are kept there and not played again")
    add("--seed", default=0, metavar="S", help="another seed gives other games (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.decisions < 1 or options.processes < 1:
        parser.error("--decisions and --processes must be at least 1")

    sources = sources_hash()
    finished = read_finished(options.out, options.seed, sources) if options.out else {}
    wanted = range(-(-options.decisions // CHUNK))
    results = {number: finished[number] for number in wanted if number in finished}
    missing = [number for number in wanted if number not in finished]
    told: set[str] = set()
    with tqdm(total=len(wanted) * CHUNK, initial=len(results) * CHUNK, unit="decision", unit_scale=True) as bar:

        def show(chunk: Chunk) -> None:
            for text in chunk.scenarios:
                kind = text.split(" engine ")[0]
                if kind not in told:
                    told.add(kind)
                    bar.write(text, file=sys.stdout)

        for chunk in results.values():
            show(chunk)
        try:
            for chunk in play_chunks(options.seed, missing, options.processes, sources):
                if options.out:
                    append_line(options.out, chunk.to_line())
                results[chunk.chunk] = chunk
                bar.update(CHUNK)
                show(chunk)
        except KeyboardInterrupt:
            bar.write("stopped; the same command goes on from here" if options.out else "stopped", file=sys.stderr)
            return 130
    return _summary(list(results.values()))


def _summary(chunks: list[Chunk]) -> int:
    moves = sum((chunk.moves for chunk in chunks), Counter())
    failures = sum(chunk.failures for chunk in chunks)
    print(
        f"{sum(chunk.decisions for chunk in chunks):,} decisions in {sum(chunk.games for chunk in chunks):,} games "
        f"({sum(chunk.ended for chunk in chunks):,} ended): {failures or 'no'} differing"
    )
    possible = [actions.name(action) for action in range(actions.NUM_ACTIONS)]
    possible = [move for move in possible if move not in NEVER_LEGAL]
    never = [move for move in possible if not moves[move]]
    print(f"{len(possible) - len(never)} of {len(possible)} moves were played; never: {', '.join(never) or 'none'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
