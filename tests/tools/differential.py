"""Differential play: the same games on the engine and on the referee (tests/referee), compared after every decision.

``python -m tests.tools.differential DECISIONS SEED`` plays in numbered chunks, each of which depends on the seed and its number
only. A game on which the two do not agree is printed as a scenario for tests/scenarios without its
expectation: one must look up who is right. With NUMBA_DISABLE_JIT=1 nothing is compiled: good for a few decisions.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from typing import Any

import yaml

from euphoria_env import Game, Rules, actions
from euphoria_env.board import SPACES
from euphoria_env.cards.recruits import RECRUITS as CARDS
from euphoria_env.cards.vocabulary import Trigger
from tests.referee import Referee
from tests.referee.tables import AREAS, RECRUITS, TUNNELS
from tests.tools.playing import prefer
from tests.tools.positions import bazaar, photo_finish, random_position, random_rules, spotlight

READABLE = (
    "rules", "player", "turn", "players", "workers", "allegiance", "miners", "markets", "territories", "discards",
)  # fmt: skip
CHUNK = 5_000  # decisions

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


# ------------------------------------------------------------------------------------------------------------- comparing


class Mismatch(Exception):
    """The two do not agree; the text names each place, with what the engine and what the referee says."""

    def __init__(self, *differences: tuple[str, Any, Any]) -> None:
        super().__init__("\n".join(f"{where}: engine {engine!r}, referee {referee!r}" for where, engine, referee in differences))


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


def differences(engine: Any, referee: Any, where: str = "") -> list[tuple[str, Any, Any]]:
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

    def __init__(self, start: Json, load: dict[str, list[Any]] | None = None) -> None:
        """Starts `{"new": {"rules": ..., "seed": ...}}` or `{"given": POSITION}`."""
        load = load or {}
        self.position: Json = {}  # of the engine, when they were last compared
        self.moves: list[str] = []
        self._fed = 0  # how many outcomes the referee has
        if "new" in start:
            new = start["new"]
            self.engine = Game(Rules(**new["rules"]), seed=new["seed"], load=load)
            self.referee = Referee.new(new["rules"])
        else:
            self.engine = Game.from_dict({"seed": 0, **start["given"]})
            self.engine.load(**load)
            self.referee = Referee.from_dict(readable(self.engine.describe()))
        self._feed()

    def _feed(self) -> None:
        """Loads what the engine has newly drawn into the referee."""
        outcomes = self.engine.outcomes
        self.referee.load(**grouped(outcomes[self._fed :]))
        self._fed = len(outcomes)

    def play(self, move: str) -> None:
        """Plays a move that is legal on both.

        Raises:
            Mismatch: one of them cannot.
        """
        self.moves.append(move)
        for game in (self.engine, self.referee):
            try:
                game.play(move)
            except Exception as error:
                raise Mismatch((f"play {move} on the {type(game).__name__}", repr(error), None)) from error
            self._feed()

    def compare(self) -> list[str]:
        """Compares all that can be compared; returns the legal moves.

        Raises:
            Mismatch: they do not agree.
        """
        game, referee = self.engine, self.referee
        try:
            self.position = game.describe()
            position, twin = normal(self.position), normal(referee.describe())
            legal, twin_legal = game.legal(), referee.legal()
        except Exception as error:
            raise Mismatch(("look after the move", repr(error), None)) from error
        if game.turn == 0:
            _ignore_setup(position, twin)
        for name in ("over", "truncated", "winner", "ranking"):
            position[name], twin[name] = getattr(game, name), getattr(referee, name)
        position["legal"], twin["legal"] = sorted({*legal} - {*twin_legal}), sorted({*twin_legal} - {*legal})
        position["not drawn"], twin["not drawn"] = {}, referee.unused()
        if position != twin:
            raise Mismatch(*differences(position, twin))
        return legal


def _ignore_setup(position: Json, twin: Json) -> None:
    """In the setup it is nowhere said what a marker not yet set shows, nor how recruits not yet shown stand."""
    for player, other in zip(position["players"], twin["players"], strict=True):
        for key in ("knowledge", "morale"):
            if player[key] == 0:
                player[key] = other[key]
        if not other["recruits"]:
            player["recruits"] = []


def grouped(outcomes: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Outcomes by kind, as for `load`."""
    load: dict[str, list[Any]] = {}
    for kind, value in outcomes:
        load.setdefault(kind, []).append(value)
    return load


# --------------------------------------------------------------------------------------------------------------- playing


def choose_curious(rng: random.Random, legal: list[str], pair: Pair) -> str:
    """Goes where the player's recruits act and where others stand, pays in unusual ways, and uses what can be used."""
    if len(legal) == 1:
        return legal[0]
    if legal[0].startswith(("place", "retrieve")):
        position = pair.position
        active = {recruit["name"] for recruit in position["players"][position["player"]]["recruits"] if recruit["active"]}
        places = {place for name in active for place in _PLACES[name]}
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
            weight *= 8 if space in places else 1
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


_ON_RETRIEVING = {Trigger.RETRIEVING, Trigger.BEFORE_ROLL, Trigger.RETRIEVED}
_RETRIEVING = {card.name for card in CARDS if {one.on for one in card.abilities} & _ON_RETRIEVING}
_RETRIEVING |= {"jefferson_the_shock_artist", "gidget_the_hypnotist"}
# The spaces where recruits act on placing and bumping.
_PLACES = {
    card.name: {
        space for one in card.abilities if one.on in (Trigger.PLACED, Trigger.BUMPED) and one.at >= 0
        for k, space in enumerate(SPACES) if one.at >> k & 1
    }
    for card in CARDS
}  # fmt: skip
for _name, _part in (
    ("ray_the_foreman", "_site_"), ("josh_the_negotiator", "_market_"), ("kaden_the_infiltrator", "_end"),
    ("chase_the_miner", "tank"), ("pete_the_cannibal", "tank"), ("dr_sheppard_the_lobotomist", "tank"),
    ("brian_the_viticulturist", "_lounge"), ("brian_the_viticulturist", "breeze"),
):  # fmt: skip
    _PLACES[_name] |= {space for space in SPACES if _part in space}
_WEIGHTS = {"dilemma": 30, "use": 4, "end": 0.2, "trade": 0.5, "offer": 2, "accept": 2}
POLICIES: dict[str, Callable[[random.Random, list[str], Pair], str]] = {
    "random": lambda rng, legal, pair: rng.choice(legal),
    "prefer": lambda rng, legal, pair: prefer(pair.engine, rng),
    "curious": choose_curious,
    "trader": choose_trader,
}


def scenario(start: Json, pair: Pair, mismatch: Mismatch) -> str:
    """A game on which the two do not agree as a scenario without its expectation, and the differences as comments."""
    key = "given" if "given" in start else "new"
    document = {"id": "differential", "rule": "R4", key: start[key], "load": grouped(pair.engine.outcomes), "play": pair.moves}
    lines = [f"# {line}" for line in str(mismatch).splitlines()]
    return "\n".join([*lines, yaml.safe_dump([document], default_flow_style=None, sort_keys=False, width=120)])


@dataclass
class Tally:
    """Counts what was played; of each game on which the two do not agree there is a scenario."""

    decisions: int = 0
    games: int = 0
    ended: int = 0
    moves: Counter[str] = field(default_factory=Counter)
    scenarios: list[str] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


def random_start(rng: random.Random) -> tuple[Json, str, int, int]:
    """The start of a game, a policy, and the most moves and turns: mostly a few turns from a random position."""
    policy = rng.choice(tuple(POLICIES))
    if rng.random() < 0.04:
        start = {"new": {"rules": random_rules(rng), "seed": rng.getrandbits(32)}}
        return start, policy, rng.choice((30, 30, 30, 30, 30, 300, 1500)), 10_000
    make = rng.choices((random_position, spotlight, bazaar, photo_finish), (30, 43, 22, 5))[0]
    if make is spotlight and rng.random() < 0.7:
        policy = "curious"
    if make is bazaar and rng.random() < 0.7:
        policy = "trader"
    return {"given": make(rng) | {"seed": rng.getrandbits(32)}}, policy, 100, rng.choice((1, 1, 1, 2, 2, 4, 15))


def play_game(rng: random.Random) -> Tally:
    """Plays a game on both, comparing them after every decision, until it ends, they differ, or it is long enough."""
    start, policy, moves, turns = random_start(rng)
    pair = Pair(start)
    scenarios = []
    try:
        legal = pair.compare()
        last_turn = pair.engine.turn + turns
        while legal and len(pair.moves) < moves and pair.engine.turn < last_turn:
            pair.play(POLICIES[policy](rng, legal, pair))
            legal = pair.compare()
    except Mismatch as mismatch:
        scenarios.append(scenario(start, pair, mismatch))
    ended = pair.engine.over or pair.engine.truncated
    return Tally(len(pair.moves), 1, int(ended), Counter(pair.moves), scenarios)


# ---------------------------------------------------------------------------------------------------------------- chunks


def play_chunk(seed: int, number: int) -> Tally:
    """Plays the games of a chunk, the same whenever and wherever it is played."""
    chunk = Tally()
    while chunk.decisions < CHUNK and len(chunk.scenarios) < 10:
        chunk += play_game(random.Random(f"{seed}/{number}/{chunk.games}"))
    return chunk


def play_chunks(seed: int, numbers: Iterable[int], processes: int) -> Tally:
    """Plays chunks, in several processes; returns their sum."""
    Game(Rules(), seed=0).to_dict()  # compiles the engine, before several processes want to
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        return sum(pool.map(functools.partial(play_chunk, seed), numbers), Tally())


def main(decisions: int = 100_000, seed: int = 0) -> int:
    """The command; returns the exit status: 1 if the two do not agree."""
    whole = play_chunks(seed, range(-(-decisions // CHUNK)), os.cpu_count() or 1)
    print(*whole.scenarios, sep="\n")
    print(f"{whole.decisions:,} decisions in {whole.games:,} games ({whole.ended:,} ended), {len(whole.scenarios)} faults")
    never = [move for move in actions.NAMES if not whole.moves[move] and move not in NEVER_LEGAL]
    print(f"moves that were never played: {', '.join(never) or 'none'}")
    return int(bool(whole.scenarios))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
