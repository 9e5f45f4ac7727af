"""Converts the row of a game to a JSON position and back (docs/positions.md describes the format)."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from euphoria_env import board
from euphoria_env.cards.recruits import FACTION_OF, GAMBLER, GEEK, RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decisions import Decision
from euphoria_env.engine import state
from euphoria_env.engine.allegiance import revealed_factions
from euphoria_env.engine.chance import seed_rng
from euphoria_env.engine.placement_legality import update_open_spaces
from euphoria_env.engine.setup import blank
from euphoria_env.json_reader import Json, Reader, read_seed, shown
from euphoria_env.rules import Rules, read_rules, write_rules

MOST_TURNS = 10**9  # far below the largest int32
_RESOLUTIONS = (None, "star", "recruit")
_STATUS = ("setup", "playing", "over", "truncated")
_USED = {RECRUIT_NAMES[GEEK]: state.USED_GEEK, RECRUIT_NAMES[GAMBLER]: state.USED_GAMBLER}
_STANDSTILLS = ([0, 0], [2**32 - 1, 698769069 - 1])  # states in which the generator of `engine.chance` would repeat one value


def can_be_stated(row: np.void) -> bool:
    """Returns whether a position states a row: the setup before the first card, the opening of a turn, or the end."""
    return row["ask"] in (Decision.NOTHING, Decision.OPEN)


def to_dict(row: np.void) -> Json:
    """Returns the position of a row that can be stated."""
    if row["status"] == state.SETUP:
        return {"rules": read_rules(row).to_dict(), "status": _STATUS[state.SETUP], "generator": row["rng"].tolist()}
    return describe(row)


def describe(row: np.void) -> Json:
    """Returns what a position says of any row, the readable keys first: all but what is under way in a turn or in the setup."""
    n = int(row["num_players"])
    tiles, built, market_stars = (row[name].tolist() for name in ("tile", "built", "market_stars"))
    d: Json = {
        "rules": read_rules(row).to_dict(),
        "player": int(row["player"]),
        "turn": int(row["turn"]),
        "players": [_player_to_dict(row, p) for p in range(n)],
        "workers": _workers_to_dict(row, n),
        "allegiance": dict(zip(board.FACTIONS, row["allegiance"].tolist(), strict=True)),
        "miners": dict(zip(board.FACTIONS, row["miners"].tolist(), strict=False)),
        "markets": {
            name: {
                "tile": TILES[tiles[k]] if tiles[k] >= 0 else None,
                "built": bool(built[k]),
                "stars": [p for p in range(n) if market_stars[k] >> p & 1],
            }
            for k, name in enumerate(board.MARKETS)
        },
        "territories": {
            name: [p for p in range(n) for _ in range(stars[p])]
            for name, stars in zip(board.TERRITORIES, row["territory"].tolist(), strict=True)
        },
        "discards": _counts(board.ARTIFACTS, row["discards"].tolist()),
        "active": int(row["turn_player"]),
        "status": _STATUS[row["status"]],
        "offers": int(row["offers"]),
        "recruits_out": _out_to_dict(RECRUIT_NAMES, row["recruit_place"].tolist()),
        "tiles_out": _out_to_dict(TILES, row["tile_place"].tolist()),
        "tiles_in": {TILES[t]: place - state.IN_BY for t, place in enumerate(row["tile_place"].tolist()) if place >= state.IN_BY},
        "generator": row["rng"].tolist(),
    }
    if row["status"] >= state.OVER:
        d["winner"] = int(row["winner"]) if row["winner"] >= 0 else None
        d["ranking"] = row["ranking"][:n].tolist()
    return d


def _counts(names: Iterable[str], counts: list[int]) -> Json:
    return {name: n for name, n in zip(names, counts, strict=True) if n}


def _player_to_dict(row: np.void, p: int) -> Json:
    active, starred = int(row["num_active"][p]), int(row["starred"])
    return {
        **{name: int(row[name][p]) for name in ("knowledge", "morale", "stars")},
        "workers": _faces(row["available"][p].tolist()),
        "lost_worker": bool(row["lost_worker"][p]),
        "goods": _counts(board.GOODS, row["goods"][p].tolist()),
        "artifacts": _counts(board.ARTIFACTS, row["artifacts"][p].tolist()),
        "recruits": [
            {"name": RECRUIT_NAMES[card], "active": k < active, "star": bool(starred >> card & 1)}
            for k, card in enumerate(row["recruits"][p, : row["num_recruits"][p]].tolist())
        ],
        "dilemma": {"artifact": board.ARTIFACTS[row["dilemma"][p]], "resolved": _RESOLUTIONS[row["resolved"][p]]},
        "used": [name for name, bit in _USED.items() if row["used"][p] & bit],
    }


def _faces(counts: list[int]) -> list[int]:
    return [face for face, count in enumerate(counts, 1) for _ in range(count)]


def _workers_to_dict(row: np.void, n: int) -> Json:
    workers: Json = {}
    for name, by_player in zip(board.SPACES[: board.NUM_AREAS], row["area"].tolist(), strict=True):
        there = [[p, face] for p in range(n) for face in _faces(by_player[p])]
        if there:
            workers[name] = there
    for name, player, face in zip(board.SPACES, row["occupant"].tolist(), row["face"].tolist(), strict=True):
        if player >= 0:
            workers[name] = [[player, face]]
    return workers


def _out_to_dict(names: tuple[str, ...], places: list[int]) -> Json:
    """Returns the cards out of the game, with the player who put them out, or None."""
    return {
        name: None if place == state.OUT else place - state.OUT_BY
        for name, place in zip(names, places, strict=True)
        if place == state.OUT or state.OUT_BY <= place < state.ON_SITE
    }


_KEYS = (
    "rules", "seed", "player", "turn", "players", "workers", "allegiance", "miners", "markets", "territories", "discards",
    "active", "status", "offers", "recruits_out", "tiles_out", "tiles_in", "generator", "load", "winner", "ranking", "since",
)  # fmt: skip
_SETUP_KEYS = ("rules", "seed", "status", "generator", "load", "since")
_PLAYER_KEYS = (
    "knowledge", "morale", "stars", "workers", "lost_worker", "goods", "artifacts", "recruits", "dilemma", "used",
)  # fmt: skip


def from_dict(d: Any, row: np.void) -> None:
    """Fills a zero row with a position, but for `load` and `since`; raises a `ValueError` that names a key that is wrong."""
    if isinstance(d, dict) and "pending" in d:
        Reader.fail("pending", "a position that an earlier version wrote in the middle of a turn cannot be read; use 'since'")
    reader = Reader()
    given = reader.mapping("", d, _KEYS)
    row["status"] = status = reader.one_of("status", given.get("status", "playing"), _STATUS)
    if status == state.SETUP:
        reader.mapping("", given, _SETUP_KEYS)
    rules = Rules.from_dict(given.get("rules", {}))
    write_rules(row, rules)
    seed = read_seed(given["seed"]) if given.get("seed") is not None else random.SystemRandom().getrandbits(63)
    seed_rng(row["rng"], seed, 0, 0)
    if "generator" in given:
        row["rng"] = reader.integers("generator", given["generator"], (2,), 0, 2**32 - 1)
        reader.require(row["rng"].tolist() not in _STANDSTILLS, "generator", "would give the same number forever")
    if status == state.SETUP:
        return
    blank(row)
    position = _Position(given, row, rules.num_players, random.Random(seed))
    position.read_board()
    position.read_players()
    position.read_markets()
    position.read_dilemmas()
    position.read_stars()
    position.read_cards_out()
    update_open_spaces(row)
    state.update_penalties(row)
    position.check_workers()
    position.read_turn(rules)
    position.read_result()


class _Position(Reader):
    """Reads the parts of a position, each after the parts that it depends on; `rng` draws missing values."""

    def __init__(self, given: Json, row: np.void, n: int, rng: random.Random) -> None:
        super().__init__(n)
        self.given, self.row, self.rng = given, row, rng
        self.ended = row["status"] >= state.OVER  # a game may end in the middle of a turn, where more positions are possible
        players = self.items("players", given.get("players", []))
        self.require(len(players) <= n, "players", f"{len(players)} players, but rules.num_players is {n}")
        self.players_given = [self.mapping(f"players[{p}]", entry, _PLAYER_KEYS) for p, entry in enumerate(players)]
        self.players_given += [{} for _ in range(n - len(players))]

    def section(self, key: str, allowed: Iterable[str]) -> Json:
        """Returns an object of the position, empty if it is left out."""
        return self.mapping(key, self.given.get(key, {}), allowed)

    def read_board(self) -> None:
        """Reads the tracks, and the workers on the board."""
        row, given = self.row, self.given
        row["allegiance"] = self.counts("allegiance", given.get("allegiance", {}), board.FACTIONS, board.ALLEGIANCE_END)
        row["miners"] = self.counts("miners", given.get("miners", {}), board.FACTIONS[: len(board.TUNNELS)], board.MINER_END)
        row["owned"] = 0
        for name, value in self.section("workers", board.SPACES).items():
            s, key = board.SPACES.index(name), f"workers.{name}"
            workers = [self.read_worker(f"{key}[{k}]", worker) for k, worker in enumerate(self.items(key, value))]
            self.require(s < board.NUM_AREAS or len(workers) <= 1, key, f"{len(workers)} workers on a space that holds one")
            for p, face in workers:
                self.require(row["owned"][p] < board.MAX_WORKERS, key, f"player {p} has more than {board.MAX_WORKERS} workers")
                row["owned"][p] += 1
                if s < board.NUM_AREAS:
                    row["area"][s, p, face - 1] += 1
                else:
                    row["occupant"][s], row["face"][s] = p, face

    def read_worker(self, key: str, worker: Any) -> tuple[int, int]:
        """Returns player and face of a worker on the board."""
        if not isinstance(worker, list | tuple) or len(worker) != 2:
            self.must(key, f"be [player, face], not {shown(worker)}; a space has a list of workers, such as [[0, 3]]")
        return self.player(f"{key}[0]", worker[0]), self.integer(f"{key}[1]", worker[1], 1, 6)

    def read_players(self) -> None:
        """Reads what each player has, and computes the artifacts left in the deck."""
        row = self.row
        for p, player in enumerate(self.players_given):
            self.read_player(f"players[{p}]", p, player)
            self.read_workers(f"players[{p}].workers", p, player)
            self.read_recruits(f"players[{p}].recruits", p, player)
        row["discards"] = self.counts("discards", self.given.get("discards", {}), board.ARTIFACTS, board.CARDS_PER_ARTIFACT)
        dealt = row["discards"] + row["artifacts"].sum(axis=0)
        for k in np.flatnonzero(dealt > board.CARDS_PER_ARTIFACT):
            key = "discards" if row["discards"][k] else "players"
            self.fail(key, f"{dealt[k]} {board.ARTIFACTS[k]} cards in hands and discards; there are {board.CARDS_PER_ARTIFACT}")
        row["deck"] = board.CARDS_PER_ARTIFACT - dealt

    def read_player(self, key: str, p: int, player: Json) -> None:
        """Reads the markers, goods and artifacts of a player."""
        row = self.row
        row["knowledge"][p] = self.integer(f"{key}.knowledge", player.get("knowledge", 3), 1, board.TRACK_END)
        row["morale"][p] = self.integer(f"{key}.morale", player.get("morale", 1), 1, board.TRACK_END)
        row["lost_worker"][p] = self.boolean(f"{key}.lost_worker", player.get("lost_worker", False))
        row["goods"][p] = self.counts(f"{key}.goods", player.get("goods", {}), board.GOODS, board.MOST_GOODS)
        artifacts = self.counts(f"{key}.artifacts", player.get("artifacts", {}), board.ARTIFACTS, board.CARDS_PER_ARTIFACT)
        row["artifacts"][p], row["hand_size"][p] = artifacts, sum(artifacts)
        if sum(artifacts) > row["morale"][p] and not self.ended:
            self.fail(f"{key}.artifacts", f"{sum(artifacts)} cards with a morale of {row['morale'][p]}")
        for k, name in enumerate(self.items(f"{key}.used", player.get("used", []))):
            self.one_of(f"{key}.used[{k}]", name, tuple(_USED))
            row["used"][p] |= _USED[name]

    def read_workers(self, key: str, p: int, player: Json) -> None:
        """Reads the available workers of a player, or rolls them."""
        on_board = int(self.row["owned"][p])
        if "workers" in player:
            given = self.items(key, player["workers"])
            faces = [self.integer(f"{key}[{k}]", face, 1, 6) for k, face in enumerate(given)]
        else:
            faces = [self.rng.randint(1, 6) for _ in range(min(2, board.MAX_WORKERS - on_board))]
        owned = on_board + len(faces)
        if not 1 <= owned <= board.MAX_WORKERS:
            self.fail(key, f"{owned} workers with those on the board; everyone owns 1 to {board.MAX_WORKERS}")
        self.row["owned"][p] = owned
        for face in faces:
            self.row["available"][p, face - 1] += 1

    def read_recruits(self, key: str, p: int, player: Json) -> None:
        """Reads the recruits of a player; the active ones come first in the row."""
        row, recruits = self.row, self.items(key, player.get("recruits", []))
        dilemma = player.get("dilemma")
        from_dilemma = isinstance(dilemma, dict) and dilemma.get("resolved") == "recruit"
        most = board.MAX_RECRUITS - 1 + from_dilemma
        self.require(len(recruits) <= most, key, f"{len(recruits)} recruits; a player has at most {most}")
        cards: dict[bool, list[int]] = {True: [], False: []}
        for k, recruit in enumerate(recruits):
            card, active = self.read_recruit(f"{key}[{k}]", recruit)
            row["recruit_place"][card] = state.HELD + p
            cards[active].append(card)
        row["recruits"][p, : len(recruits)] = cards[True] + cards[False]
        row["num_recruits"][p] = len(recruits)
        row["num_active"][p] = len(cards[True])
        row["active_cards"][p] = sum(1 << card for card in cards[True])

    def read_recruit(self, key: str, value: Any) -> tuple[int, bool]:
        """Reads the star of a recruit, and returns the number of the card and whether it is active."""
        row, recruit = self.row, self.mapping(key, value, ("name", "active", "star"))
        for name in ("name", "active"):
            self.require(name in recruit, f"{key}.{name}", "is missing")
        card = self.one_of(f"{key}.name", recruit["name"], RECRUIT_NAMES)
        active = self.boolean(f"{key}.active", recruit["active"])
        place, faction = row["recruit_place"][card], int(FACTION_OF[card])
        self.require(place != state.ABSENT, f"{key}.name", f"{RECRUIT_NAMES[card]} is not in the game (rules.recruits)")
        self.require(place == state.IN_DECK, f"{key}.name", f"{RECRUIT_NAMES[card]} is listed twice in the position")
        revealed = not self.ended and revealed_factions(row) >> faction & 1
        self.require(active or not revealed, f"{key}.active", f"the {board.FACTIONS[faction]} recruits are revealed (R7.4, R7.5)")
        if self.boolean(f"{key}.star", recruit.get("star", False)):
            at_end = row["allegiance"][faction] == board.ALLEGIANCE_END
            self.require(active, f"{key}.star", "a hidden recruit has no star")
            self.require(at_end, f"{key}.star", f"the {board.FACTIONS[faction]} allegiance is below {board.ALLEGIANCE_END}")
            row["starred"] |= 1 << card
        return card, active

    def read_markets(self) -> None:
        """Reads the markets, and draws the tiles that are left out."""
        row = self.row
        for name, value in self.section("markets", board.MARKETS).items():
            k, key = board.MARKETS.index(name), f"markets.{name}"
            market = self.mapping(key, value, ("tile", "built", "stars"))
            if market.get("tile") is not None:
                tile = self.one_of(f"{key}.tile", market["tile"], TILES)
                in_game = row["tile_place"][tile] != state.ABSENT
                self.require(in_game, f"{key}.tile", f"{TILES[tile]} is not in the game (rules.markets)")
                self.require(tile not in row["tile"], f"{key}.tile", f"{TILES[tile]} is listed twice on the board")
                row["tile"][k] = tile
            row["built"][k] = self.boolean(f"{key}.built", market.get("built", False))
            stars = self.players(f"{key}.stars", market.get("stars", []))
            self.require(row["built"][k] or not stars, f"{key}.stars", "a market that is not built has no stars")
            self.require(len({*stars}) == len(stars), f"{key}.stars", "two stars of one player on one market")
            row["market_stars"][k] = sum(1 << p for p in stars)
        used = {*row["tile"].tolist(), *map(TILES.index, self.section("tiles_out", TILES))}
        left = [t for t, place in enumerate(row["tile_place"]) if place != state.ABSENT and t not in used]
        for k in np.flatnonzero(row["tile"] < 0).tolist():
            self.require(left, "tiles_out", "too few tiles are left for the sites")
            row["tile"][k] = left.pop(self.rng.randrange(len(left)))
        row["tile_place"][row["tile"]] = state.ON_SITE

    def read_dilemmas(self) -> None:
        """Reads the dilemmas, and draws those that are left out."""
        dealt = self.row["dilemma"]
        for p, player in enumerate(self.players_given):
            key = f"players[{p}].dilemma"
            dilemma = self.mapping(key, player.get("dilemma", {}), ("artifact", "resolved"))
            self.row["resolved"][p] = self.one_of(f"{key}.resolved", dilemma.get("resolved"), _RESOLUTIONS)
            if "artifact" in dilemma:
                kind = self.one_of(f"{key}.artifact", dilemma["artifact"], board.ARTIFACTS)
                self.require(kind not in dealt, f"{key}.artifact", f"two players have the dilemma of the {board.ARTIFACTS[kind]}")
                dealt[p] = kind
        left = [k for k in range(len(board.ARTIFACTS)) if k not in dealt]
        for p in np.flatnonzero(dealt[: self.n] < 0).tolist():
            dealt[p] = left.pop(self.rng.randrange(len(left)))

    def read_stars(self) -> None:
        """Reads the stars in the territories and those still to place; with all other stars of the position they must add up."""
        row = self.row
        for name, value in self.section("territories", board.TERRITORIES).items():
            owners, room = self.players(f"territories.{name}", value), f"with {self.n} players there is room for {self.n} (R2.4)"
            self.require(len(owners) <= self.n, f"territories.{name}", f"{len(owners)} stars; {room}")
            row["territory"][board.TERRITORIES.index(name), : self.n] = [owners.count(p) for p in range(self.n)]
        for p, player in enumerate(self.players_given):
            placed = int(row["territory"][:, p].sum()) + int(row["resolved"][p] == state.RESOLVED_STAR)
            placed += sum(int(stars) >> p & 1 for stars in row["market_stars"])
            placed += (int(row["starred"]) & int(row["active_cards"][p])).bit_count()
            key = f"players[{p}].stars"
            self.require(placed <= board.STARS, key, f"the position shows {placed} stars of player {p}; there are {board.STARS}")
            stars = self.integer(key, player.get("stars", board.STARS - placed), 0, board.STARS)
            if stars + placed != board.STARS:
                self.fail(key, f"{stars} to place and {placed} shown do not add up to {board.STARS}")
            row["stars"][p] = stars

    def read_cards_out(self) -> None:
        """Reads the recruits and tiles that are out of the game, and the tiles that a player put in the game (R19.2)."""
        recruits, tiles = self.row["recruit_place"], self.row["tile_place"]
        for key, names, places in (("recruits_out", RECRUIT_NAMES, recruits), ("tiles_out", TILES, tiles)):
            for name, p in self.section(key, names).items():
                card = names.index(name)
                self.require(places[card] != state.ABSENT, f"{key}.{name}", "is not among the cards of the rules")
                self.require(places[card] == state.IN_DECK, f"{key}.{name}", "is in the game")
                places[card] = state.OUT if p is None else state.OUT_BY + self.player(f"{key}.{name}", p)
        for name, p in self.section("tiles_in", TILES).items():
            tile = TILES.index(name)
            self.require(tiles[tile] == state.ON_SITE, f"tiles_in.{name}", "is not on any site")
            tiles[tile] = state.IN_BY + self.player(f"tiles_in.{name}", p)

    def check_workers(self) -> None:
        """Refuses workers on spaces that are not in use, and sites with so many workers that they would have been built."""
        row = self.row
        for t, name in enumerate(board.TUNNEL_ENDS):
            if row["occupant"][board.FIRST_TUNNEL_END + t] >= 0 and row["miners"][t] < board.MINER_END:
                self.fail(f"workers.{name}", f"the tunnel end is closed; the miner is at {row['miners'][t]}")
        for k, name in enumerate(board.MARKETS):
            first = board.FIRST_SLOT + board.SLOTS_PER_SITE * k
            slots = [s for s in range(first, first + board.SLOTS_PER_SITE) if row["occupant"][s] >= 0]
            if row["built"][k] and slots:
                self.fail(f"workers.{board.SPACES[slots[0]]}", f"{name} is built; its site is closed (R9.3)")
            if not row["built"][k] and row["occupant"][board.FIRST_MARKET + k] >= 0:
                self.fail(f"workers.{name}", "the market is not built")
            if len(slots) >= board.WORKERS_TO_BUILD[self.n] and not self.ended:
                self.fail(f"workers.{board.SPACES[slots[0]]}", f"{len(slots)} workers on a site that is built with fewer (R9.2)")

    def read_turn(self, rules: Rules) -> None:
        """Reads whose turn it is."""
        row, given = self.row, self.given
        row["turn"] = self.integer("turn", given.get("turn", 1), 1, rules.max_turns or MOST_TURNS)
        row["player"] = self.player("player", given.get("player", 0))
        row["turn_player"] = self.player("active", given.get("active", row["player"]))
        own_turn = row["turn_player"] == row["player"]
        self.require(own_turn or self.ended, "active", "between turns the player to decide has the turn")
        row["offers"] = self.integer("offers", given.get("offers", 0), 0, rules.trades_per_turn if rules.trading else 0)

    def read_result(self) -> None:
        """Reads winner and ranking, which only a game that has ended may have."""
        if not self.ended:
            for key in ("winner", "ranking"):
                self.require(key not in self.given, key, "the game has not ended")
            return
        winner, truncated = self.given.get("winner"), self.row["status"] == state.TRUNCATED
        self.require(truncated == (winner is None), "winner", "an ended game has a winner, a truncated one has none")
        self.row["winner"] = -1 if winner is None else self.player("winner", winner)
        ranks = self.integers("ranking", self.given.get("ranking"), (self.n,), 1, self.n)
        better = [1 + sum(other < rank for other in ranks) for rank in ranks]
        self.require(ranks == better, "ranking", f"{ranks}: a rank is 1 plus the number of players who are better (R16.3)")
        alone = winner is None or (ranks[winner] == 1 and ranks.count(1) == 1)
        self.require(alone, "ranking", f"{ranks}: the first place is that of the winner, player {winner}, alone")
        self.row["ranking"][: self.n] = ranks
