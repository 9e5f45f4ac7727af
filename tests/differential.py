"""Differential play: the same games on the engine and on the referee, compared after every decision."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass, field
from typing import Any

from euphoria_env import Game, Rules
from tests.positions import random_position, random_rules
from tests.referee import Referee
from tests.referee.game import KINDS

READABLE = (
    "rules", "player", "turn", "players", "workers", "allegiance", "miners", "markets", "territories", "discards",
)  # fmt: skip

Json = dict[str, Any]


@dataclass
class Mismatch(Exception):
    """The two do not agree."""

    kind: str  # crash, outcomes, player, legal, position, result
    differences: list[tuple[str, Any, Any]]  # (where, the engine, the referee)

    def __str__(self) -> str:
        return "\n".join(
            f"{self.kind}: {where}: engine {engine!r}, referee {referee!r}" for where, engine, referee in self.differences
        )


def without_nothing(counts: Json) -> Json:
    return {name: value for name, value in counts.items() if value}


def normal(d: Json) -> Json:
    """The readable part of a position, without zeros, lists of workers and stars sorted."""
    result = {key: d[key] for key in READABLE}
    for key in ("allegiance", "miners", "territories", "discards"):
        result[key] = without_nothing(d[key])
    result["territories"] = {name: sorted(owners) for name, owners in result["territories"].items()}
    result["workers"] = {space: sorted(map(list, there)) for space, there in d["workers"].items() if there}
    result["markets"] = {name: {**market, "stars": sorted(market["stars"])} for name, market in d["markets"].items()}
    result["players"] = players = []
    for player in d["players"]:
        player = {key: value for key, value in player.items() if key != "used"}
        player["goods"] = without_nothing(player["goods"])
        player["artifacts"] = without_nothing(player["artifacts"])
        player["workers"] = sorted(player["workers"])
        players.append(player)
    return result


def differences(engine: Any, referee: Any, where: str = "") -> list[tuple[str, Any, Any]]:
    """Where two JSON values differ."""
    if isinstance(engine, dict) and isinstance(referee, dict):
        found = []
        for key in sorted({*engine, *referee}):
            found += differences(engine.get(key), referee.get(key), f"{where}.{key}" if where else key)
        return found
    if isinstance(engine, list) and isinstance(referee, list) and len(engine) == len(referee):
        if all(isinstance(x, dict) for x in engine + referee):
            return [
                d for k, (a, b) in enumerate(zip(engine, referee, strict=True)) for d in differences(a, b, f"{where}[{k}]")
            ]
    return [] if engine == referee and type(engine) is type(referee) else [(where, engine, referee)]


class Pair:
    """One game on both."""

    def __init__(self, start: Json, load: Json | None = None) -> None:
        """`start`: {"new": {"rules", "seed"}} or {"given": a position}."""
        load = {kind: list(values) for kind, values in (load or {}).items() if values}
        self.seen = 0
        self.moves: list[str] = []
        if "new" in start:
            new = start["new"]
            try:
                self.engine = Game(Rules(**new["rules"]), seed=new.get("seed", 0), load=load)
            except ValueError:
                raise
            self.referee = Referee.new(new["rules"])
        else:
            self.engine = Game.from_dict({"seed": 0, **start["given"]})
            if load:
                self.engine.load(**load)
            self.referee = Referee.from_dict(readable(self.engine.to_dict()))
        self._feed()

    @property
    def ended(self) -> bool:
        return self.engine.over or self.engine.truncated

    def _feed(self) -> None:
        outcomes = self.engine.outcomes
        for kind, value in outcomes[self.seen :]:
            self.referee.load(**{kind: [value]})
        self.seen = len(outcomes)

    def play(self, move: str) -> None:
        """Plays a move, legal on both, on both."""
        self.moves.append(move)
        try:
            self.engine.play(move)
        except Exception as error:
            raise Mismatch("crash", [(f"play {move}", repr(error), None)]) from error
        self._feed()
        try:
            self.referee.play(move)
        except Exception as error:
            raise Mismatch("outcomes", [(f"play {move}", self.engine.outcomes[-8:], repr(error))]) from error

    def compare(self) -> list[str]:
        """Compares everything; returns the legal moves.

        Raises:
            Mismatch: they do not agree.
        """
        game, referee = self.engine, self.referee
        try:
            position = normal(game.to_dict())
            legal = game.legal()
        except Exception as error:
            raise Mismatch("crash", [("to_dict, legal", repr(error), None)]) from error
        try:
            other = normal(referee.to_dict())
            other_legal = referee.legal()
        except Exception as error:
            raise Mismatch("outcomes", [("after the move", game.outcomes[-8:], repr(error))]) from error
        unused = referee.unused()
        if unused:
            raise Mismatch("outcomes", [("drawn", unused, "not used")])
        if game.turn == 0:  # what a marker not yet set shows is nowhere said, nor how recruits not yet shown stand in to_dict
            for player, twin in zip(position["players"], other["players"], strict=True):
                for key in ("knowledge", "morale"):
                    if player[key] == 0:
                        player[key] = twin[key]
                if not twin["recruits"]:
                    player["recruits"] = []
        if position != other:
            raise Mismatch("position", differences(position, other))
        if game.player != referee.player:
            raise Mismatch("player", [("player", game.player, referee.player)])
        if len(legal) != len(set(legal)) or set(legal) != set(other_legal) or len(other_legal) != len(set(other_legal)):
            raise Mismatch("legal", [("only", sorted({*legal} - {*other_legal}), sorted({*other_legal} - {*legal}))])
        for name in ("turn", "over", "truncated", "winner", "ranking"):
            a, b = getattr(game, name), getattr(referee, name)
            if a != b:
                raise Mismatch("result", [(name, a, b)])
        return legal


def readable(d: Json) -> Json:
    return {key: d[key] for key in READABLE}


# ------------------------------------------------------------------------------------------------------------ policies


def choose_random(rng: random.Random, legal: list[str], game: Game) -> str:
    return rng.choice(legal)


def choose_eager(rng: random.Random, legal: list[str], game: Game) -> str:
    """Builds, uses what can be used, retrieves late and not from sites: so games end."""
    if len(legal) == 1:
        return legal[0]
    board = None
    weights = []
    placing = any(move.startswith("place") for move in legal)
    for move in legal:
        verb, _, rest = move.partition(" ")
        weight = 1.0
        if verb == "place":
            space = rest[2:]
            if "_site_" in space:
                if board is None:
                    board = {name.rpartition("_")[0] for name in game.to_dict()["workers"] if "_site_" in name}
                weight = 60 if space.rpartition("_")[0] in board else 6
            elif "market" in space or space in ("wind_salon", "nimbus_loft") or "_of_" in space:
                weight = 30
            elif space.endswith("_end") or space.startswith("tank"):
                weight = 6
            elif "tunnel" in space:
                weight = 4
        elif verb == "retrieve":
            weight = 0.02 if placing else (1 if rest == "free" else 10)
        elif verb == "take":
            weight = 0.05 if "_site_" in rest else 8
        elif verb == "done":
            weight = 1
        elif verb == "dilemma":
            weight = 30
        elif verb == "use":
            weight = 4
        elif verb == "end":
            weight = 0.2
        elif verb == "trade":
            weight = 0.5
        weights.append(weight)
    return rng.choices(legal, weights)[0]


POLICIES = {"random": choose_random, "eager": choose_eager}


# ---------------------------------------------------------------------------------------------------------------- cases


@dataclass
class Failure:
    """A game on which the two do not agree: all that is needed to play it again."""

    start: Json
    load: Json
    moves: list[str]
    mismatch: Mismatch
    turns: list[tuple[int, int, Json]] = field(default_factory=list)  # (moves, outcomes, position) at the last turn starts


def grouped(outcomes: list[tuple[str, Any]]) -> Json:
    load: Json = {}
    for kind, value in outcomes:
        load.setdefault(kind, []).append(value)
    return load


def play_game(start: Json, rng: random.Random, policy: str, limit: int) -> tuple[int, Failure | None]:
    """Plays a game on both until it ends; returns the number of decisions compared."""
    choose = POLICIES[policy]
    pair = Pair(start)
    turns: list[tuple[int, int, Json]] = []
    turn = -1
    made = 0
    try:
        legal = pair.compare()
        while made < limit and not pair.ended:
            if pair.engine.turn != turn and pair.engine.turn > 0 and pair.engine.deciding == "open":
                turn = pair.engine.turn
                turns.append((made, pair.seen, readable(pair.engine.to_dict())))
                del turns[:-40]
            pair.play(choose(rng, legal, pair.engine))
            made += 1
            legal = pair.compare()
    except Mismatch as mismatch:
        return made + 1, Failure(start, grouped(pair.engine.outcomes), pair.moves, mismatch, turns)
    return made, None


def random_start(rng: random.Random) -> tuple[Json, str, int]:
    policy = "random" if rng.random() < 0.4 else "eager"
    if rng.random() < 0.1:
        return {"new": {"rules": random_rules(rng), "seed": rng.getrandbits(32)}}, policy, rng.choice((60, 600))
    position = random_position(rng)
    position["seed"] = rng.getrandbits(32)
    return {"given": position}, policy, rng.choice((3, 10, 30, 60))


if __name__ == "__main__":
    import json, time, yaml
    seed = int(sys.argv[1]); want = int(sys.argv[2])
    done = 0; fails = 0; t=time.time(); k = 0
    while done < want and fails < 5:
        rng = random.Random(f"{seed}/{k}"); k += 1
        start, policy, limit = random_start(rng)
        made, failure = play_game(start, rng, policy, limit)
        done += made
        if failure:
            fails += 1
            print("FAIL", seed, k, failure.mismatch, failure.moves[-6:])
    print(done, fails, done/(time.time()-t))
