"""A game row as a JSON position, and back (the format is described in docs/positions.md)."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from euphoria_env import pending
from euphoria_env.board import (
    ALLEGIANCE_END,
    ARTIFACTS,
    CARDS_PER_ARTIFACT,
    FACTIONS,
    FIRST_MARKET,
    FIRST_SLOT,
    FIRST_TUNNEL_END,
    GOODS,
    MARKETS,
    MAX_RECRUITS,
    MAX_WORKERS,
    MINER_END,
    MOST_GOODS,
    NUM_AREAS,
    SLOTS_PER_SITE,
    SPACES,
    STARS,
    TERRITORIES,
    TUNNEL_ENDS,
    TUNNELS,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import FACTION_OF, GAMBLER, GEEK, RECRUIT_NAMES
from euphoria_env.cards.tiles import NUM_TILES, TILES
from euphoria_env.decisions import Decision
from euphoria_env.engine.allegiance import revealed_factions
from euphoria_env.engine.placement_legality import update_open_spaces
from euphoria_env.engine.setup import blank
from euphoria_env.engine.state import (
    ABSENT,
    HELD,
    IN_BY,
    IN_DECK,
    ON_SITE,
    OUT,
    OUT_BY,
    OVER,
    RESOLVED_STAR,
    SETUP,
    TRUNCATED,
    USED_GAMBLER,
    USED_GEEK,
    update_penalties,
)
from euphoria_env.json_reader import Json, Reader, shown
from euphoria_env.rules import Rules, read_rules, write_rules

MOST_TURNS = 10**9  # far from the end of int32
_RESOLUTIONS = (None, "star", "recruit")
_STATUS = ("setup", "playing", "over", "truncated")
_USED = {RECRUIT_NAMES[GEEK]: USED_GEEK, RECRUIT_NAMES[GAMBLER]: USED_GAMBLER}
_STANDSTILLS = ([0, 0], [2**32 - 1, 698769069 - 1])  # of the generator of `engine.chance`


# ---------------------------------------------------------------------------------------------------------------- to_dict


def to_dict(row: np.void) -> Json:
    """The position of a row: readable keys first, then what makes it complete."""
    n = int(row["num_players"])
    tiles, built, market_stars = (row[name].tolist() for name in ("tile", "built", "market_stars"))
    d: Json = {
        "rules": read_rules(row).to_dict(),
        "player": int(row["player"]),
        "turn": int(row["turn"]),
        "players": _players_to_dict(row, n),
        "workers": _workers_to_dict(row, n),
        "allegiance": dict(zip(FACTIONS, row["allegiance"].tolist(), strict=True)),
        "miners": dict(zip(FACTIONS, row["miners"].tolist(), strict=False)),
        "markets": {
            name: {
                "tile": TILES[tiles[k]] if tiles[k] >= 0 else None,
                "built": bool(built[k]),
                "stars": [p for p in range(n) if market_stars[k] >> p & 1],
            }
            for k, name in enumerate(MARKETS)
        },
        "territories": {
            name: [p for p in range(n) for _ in range(stars[p])]
            for name, stars in zip(TERRITORIES, row["territory"].tolist(), strict=True)
        },
        "discards": _counts(ARTIFACTS, row["discards"].tolist()),
        "active": int(row["turn_player"]),
        "status": _STATUS[row["status"]],
        "offers": int(row["offers"]),
        "recruits_out": _out_to_dict(RECRUIT_NAMES, row["recruit_place"].tolist()),
        "tiles_out": _out_to_dict(TILES, row["tile_place"].tolist()),
        "tiles_in": {TILES[t]: place - IN_BY for t, place in enumerate(row["tile_place"].tolist()) if place >= IN_BY},
        "generator": row["rng"].tolist(),
    }
    if row["status"] >= OVER:
        d["winner"] = int(row["winner"]) if row["winner"] >= 0 else None
        d["ranking"] = row["ranking"][:n].tolist()
    elif row["ask"] != Decision.OPEN:
        d["pending"] = pending.to_dict(row)
    return d


def _counts(names: Iterable[str], counts: list[int]) -> Json:
    return {name: n for name, n in zip(names, counts, strict=True) if n}


def _players_to_dict(row: np.void, n: int) -> list[Json]:
    value = {
        name: row[name].tolist()
        for name in (
            "knowledge", "morale", "stars", "available", "lost_worker", "goods", "artifacts", "recruits", "num_recruits",
            "num_active", "dilemma", "resolved", "used",
        )
    }  # fmt: skip
    starred = int(row["starred"])
    return [
        {
            "knowledge": value["knowledge"][p],
            "morale": value["morale"][p],
            "stars": value["stars"][p],
            "workers": [f for f, count in enumerate(value["available"][p], 1) for _ in range(count)],
            "lost_worker": bool(value["lost_worker"][p]),
            "goods": _counts(GOODS, value["goods"][p]),
            "artifacts": _counts(ARTIFACTS, value["artifacts"][p]),
            "recruits": [
                {"name": RECRUIT_NAMES[card], "active": k < value["num_active"][p], "star": bool(starred >> card & 1)}
                for k, card in enumerate(value["recruits"][p][: value["num_recruits"][p]])
            ],
            "dilemma": {"artifact": ARTIFACTS[value["dilemma"][p]], "resolved": _RESOLUTIONS[value["resolved"][p]]},
            "used": [name for name, bit in _USED.items() if value["used"][p] & bit],
        }
        for p in range(n)
    ]


def _workers_to_dict(row: np.void, n: int) -> Json:
    workers: Json = {}
    for name, by_player in zip(SPACES[:NUM_AREAS], row["area"].tolist(), strict=True):
        there = [[p, f] for p in range(n) for f, count in enumerate(by_player[p], 1) for _ in range(count)]
        if there:
            workers[name] = there
    for name, player, face in zip(SPACES, row["occupant"].tolist(), row["face"].tolist(), strict=True):
        if player >= 0:
            workers[name] = [[player, face]]
    return workers


def _out_to_dict(names: tuple[str, ...], places: list[int]) -> Json:
    """Cards out of the game: who put them out, or null."""
    return {
        name: None if place == OUT else place - OUT_BY
        for name, place in zip(names, places, strict=True)
        if place == OUT or OUT_BY <= place < ON_SITE
    }


# -------------------------------------------------------------------------------------------------------------- from_dict


_READABLE = (
    "rules", "seed", "player", "turn", "players", "workers", "allegiance", "miners", "markets", "territories", "discards",
)  # fmt: skip
_COMPLETE = (
    "active", "status", "offers", "recruits_out", "tiles_out", "tiles_in", "generator", "load", "winner", "ranking", "pending",
)  # fmt: skip
_PLAYER = (
    "knowledge", "morale", "stars", "workers", "lost_worker", "goods", "artifacts", "recruits", "dilemma", "used",
)  # fmt: skip


def read_seed(value: Any) -> int:
    """A seed, as a signed integer of 64 bits.

    Raises:
        ValueError: not an integer.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"seed must be an integer or None, not {shown(value)}")
    return (int(value) + 2**63) % 2**64 - 2**63


def from_dict(d: Any, row: np.void, seeder: Any) -> None:
    """Fills a zero row with a position, complete or partial; `seeder(row, seed)` seeds its generator.

    Raises:
        ValueError: something unknown or impossible; the message names the key.
    """
    given = Reader(2).mapping("", d, _READABLE + _COMPLETE)
    rules = Rules.from_dict(given.get("rules", {}))
    n = rules.num_players
    read = Reader(n)
    given_pending = given.get("pending")
    status = read.one_of("status", given.get("status", "playing"), _STATUS)
    if status == SETUP and given_pending is None:
        read.fail("status", "a game in its setup needs the key 'pending'; start a new game instead")

    write_rules(row, rules)
    blank(row)
    row["status"] = status
    # The generator is seeded; apart from it, what is left out is drawn from the same seed.
    seed = read_seed(given["seed"]) if given.get("seed") is not None else random.getrandbits(63)
    seeder(row, seed)
    fill = random.Random(seed)
    free = given_pending is not None or status >= OVER  # in the middle of things more is possible

    row["allegiance"] = read.counts("allegiance", given.get("allegiance", {}), FACTIONS, ALLEGIANCE_END)
    row["miners"] = read.counts("miners", given.get("miners", {}), FACTIONS[: len(TUNNELS)], MINER_END)
    _read_workers(row, read, given)
    players = read.items("players", given.get("players", []))
    if len(players) > n:
        read.fail("players", f"{len(players)} players, but rules.num_players is {n}")
    entries = [read.mapping(f"players[{p}]", entry, _PLAYER) for p, entry in enumerate(players)]
    entries += [{} for _ in range(n - len(entries))]
    for p, entry in enumerate(entries):
        _read_player(row, read, f"players[{p}]", p, entry, fill, free, status)
    _read_artifacts(row, read, given)
    _read_markets(row, read, given, fill, free, status)
    _read_dilemmas(row, read, entries, fill)
    _read_stars(row, read, given, entries)
    _read_places(row, read, given)

    update_open_spaces(row)
    update_penalties(row)
    _check_board(row, read, free)

    row["turn"] = read.integer("turn", given.get("turn", 1), 0 if free else 1, rules.max_turns or MOST_TURNS)
    player = read.integer("player", given.get("player", 0), 0, n - 1)
    row["player"] = player
    row["turn_player"] = read.integer("active", given.get("active", player), 0, n - 1)
    if not free and row["turn_player"] != player:
        read.fail("active", "with nothing pending the player to decide is the one whose turn it is")
    row["offers"] = read.integer("offers", given.get("offers", 0), 0, rules.trades_per_turn if rules.trading else 0)
    if "generator" in given:
        _read_generator(row, read, given["generator"])
    if status >= OVER:
        _read_result(row, read, given, status)
    elif "winner" in given or "ranking" in given:
        read.fail("winner" if "winner" in given else "ranking", "the game has not ended")
    if given_pending is not None:
        pending.read(row, read, given_pending)


def _read_workers(row: np.void, read: Reader, given: Json) -> None:
    """The workers on the board."""
    row["owned"] = 0
    for name, value in read.mapping("workers", given.get("workers", {}), SPACES).items():
        s, key = SPACES.index(name), f"workers.{name}"
        there = [_read_worker(read, f"{key}[{k}]", worker) for k, worker in enumerate(read.items(key, value))]
        if s >= NUM_AREAS and len(there) > 1:
            read.fail(key, f"{len(there)} workers on a space that holds one")
        for p, face in there:
            if row["owned"][p] == MAX_WORKERS:
                read.fail(key, f"player {p} has more than {MAX_WORKERS} workers")
            row["owned"][p] += 1
            if s < NUM_AREAS:
                row["area"][s, p, face - 1] += 1
            else:
                row["occupant"][s], row["face"][s] = p, face


def _read_worker(read: Reader, key: str, worker: Any) -> tuple[int, int]:
    """A worker on the board: player and face."""
    if not isinstance(worker, list | tuple) or len(worker) != 2:
        read.must(key, f"be [player, face], not {shown(worker)}; a space has a list of workers, such as [[0, 3]]")
    return read.integer(f"{key}[0]", worker[0], 0, read.n - 1), read.integer(f"{key}[1]", worker[1], 1, 6)


def _read_player(row: np.void, read: Reader, key: str, p: int, entry: Json, fill: random.Random, free: bool, status: int) -> None:
    lowest = 0 if status == SETUP and row["track_draft"] else 1
    row["knowledge"][p] = read.integer(f"{key}.knowledge", entry.get("knowledge", 3), lowest, 6)
    row["morale"][p] = read.integer(f"{key}.morale", entry.get("morale", 1), lowest, 6)
    row["lost_worker"][p] = read.boolean(f"{key}.lost_worker", entry.get("lost_worker", False))
    row["goods"][p] = read.counts(f"{key}.goods", entry.get("goods", {}), GOODS, MOST_GOODS)
    row["artifacts"][p] = read.counts(f"{key}.artifacts", entry.get("artifacts", {}), ARTIFACTS, CARDS_PER_ARTIFACT)
    row["hand_size"][p] = row["artifacts"][p].sum()
    if row["hand_size"][p] > row["morale"][p] and not free:
        read.fail(f"{key}.artifacts", f"{row['hand_size'][p]} cards with a morale of {row['morale'][p]}")
    for k, name in enumerate(read.items(f"{key}.used", entry.get("used", []))):
        read.one_of(f"{key}.used[{k}]", name, tuple(_USED))
        row["used"][p] |= _USED[name]

    on_board = int(row["owned"][p])
    if "workers" in entry:
        given = read.items(f"{key}.workers", entry["workers"])
        faces = [read.integer(f"{key}.workers[{k}]", face, 1, 6) for k, face in enumerate(given)]
    else:
        faces = [] if status == SETUP else [fill.randint(1, 6) for _ in range(min(2, MAX_WORKERS - on_board))]
    owned = 2 if status == SETUP and not faces else on_board + len(faces)  # not rolled yet
    if not 1 <= owned <= MAX_WORKERS:
        read.fail(f"{key}.workers", f"{owned} workers with those on the board; everyone owns 1 to 4")
    row["owned"][p] = owned
    for face in faces:
        row["available"][p, face - 1] += 1
    _read_recruits(row, read, f"{key}.recruits", p, entry, free)


def _read_recruits(row: np.void, read: Reader, key: str, p: int, entry: Json, free: bool) -> None:
    recruits = read.items(key, entry.get("recruits", []))
    dilemma = entry.get("dilemma")
    most = MAX_RECRUITS if isinstance(dilemma, dict) and dilemma.get("resolved") == "recruit" else MAX_RECRUITS - 1
    if len(recruits) > most:
        read.fail(key, f"{len(recruits)} recruits; a player has at most 3")
    cards = []
    for k, value in enumerate(recruits):
        recruit = read.mapping(f"{key}[{k}]", value, ("name", "active", "star"))
        for name in ("name", "active"):
            if name not in recruit:
                read.fail(f"{key}[{k}].{name}", "is missing")
        card = read.one_of(f"{key}[{k}].name", recruit["name"], RECRUIT_NAMES)
        active = read.boolean(f"{key}[{k}].active", recruit["active"])
        if row["recruit_place"][card] == ABSENT:
            read.fail(f"{key}[{k}].name", f"{recruit['name']} is not in the game (rules.recruits)")
        if row["recruit_place"][card] != IN_DECK:
            read.fail(f"{key}[{k}].name", f"{recruit['name']} is listed twice in the position")
        row["recruit_place"][card] = HELD + p
        faction = int(FACTION_OF[card])
        if not active and revealed_factions(row) >> faction & 1 and not free:
            read.fail(f"{key}[{k}].active", f"the {FACTIONS[faction]} recruits are revealed (R7.4, R7.5)")
        if read.boolean(f"{key}[{k}].star", recruit.get("star", False)):
            if not active:
                read.fail(f"{key}[{k}].star", "a hidden recruit has no star")
            if row["allegiance"][faction] < ALLEGIANCE_END:
                read.fail(f"{key}[{k}].star", f"the {FACTIONS[faction]} allegiance is below {ALLEGIANCE_END}")
            row["starred"] |= 1 << card
        cards.append((not active, card))
    cards.sort(key=lambda pair: pair[0])  # stable: the active ones first
    row["recruits"][p, : len(cards)] = [card for _, card in cards]
    row["num_recruits"][p] = len(cards)
    row["num_active"][p] = sum(not hidden for hidden, _ in cards)
    row["active_cards"][p] = sum(1 << card for hidden, card in cards if not hidden)


def _read_artifacts(row: np.void, read: Reader, given: Json) -> None:
    row["discards"] = read.counts("discards", given.get("discards", {}), ARTIFACTS, CARDS_PER_ARTIFACT)
    for k, name in enumerate(ARTIFACTS):
        left = CARDS_PER_ARTIFACT - int(row["discards"][k]) - int(row["artifacts"][:, k].sum())
        if left < 0:
            key = "discards" if row["discards"][k] else "players"
            read.fail(key, f"{CARDS_PER_ARTIFACT - left} {name} cards in hands and discards; there are {CARDS_PER_ARTIFACT}")
        row["deck"][k] = left


def _read_markets(row: np.void, read: Reader, given: Json, fill: random.Random, free: bool, status: int) -> None:
    for name, value in read.mapping("markets", given.get("markets", {}), MARKETS).items():
        k, key = MARKETS.index(name), f"markets.{name}"
        market = read.mapping(key, value, ("tile", "built", "stars"))
        if market.get("tile") is not None:
            tile = read.one_of(f"{key}.tile", market["tile"], TILES)
            if row["tile_place"][tile] == ABSENT:
                read.fail(f"{key}.tile", f"{market['tile']} is not in the game (rules.markets)")
            if tile in row["tile"]:
                read.fail(f"{key}.tile", f"{market['tile']} is listed twice on the board")
            row["tile"][k] = tile
        row["built"][k] = read.boolean(f"{key}.built", market.get("built", False))
        for p in read.players(f"{key}.stars", market.get("stars", [])):
            if int(row["market_stars"][k]) >> p & 1:
                read.fail(f"{key}.stars", f"two stars of player {p} on one market")
            if not row["built"][k]:
                read.fail(f"{key}.stars", "a market that is not built has no stars")
            row["market_stars"][k] |= 1 << p
    if status == SETUP and (row["tile"] < 0).all():
        return
    missing = [t for t in range(NUM_TILES) if t not in row["tile"] and row["tile_place"][t] != ABSENT]
    out = given.get("tiles_out", {})
    missing = [t for t in missing if not (isinstance(out, dict) and TILES[t] in out)]
    for k in range(len(MARKETS)):
        if row["tile"][k] < 0:
            if not missing:
                read.fail("tiles_out", "too few tiles are left for the sites")
            row["tile"][k] = missing.pop(fill.randrange(len(missing)))
        row["tile_place"][row["tile"][k]] = ON_SITE


def _read_dilemmas(row: np.void, read: Reader, entries: list[Json], fill: random.Random) -> None:
    for p, entry in enumerate(entries):
        key = f"players[{p}].dilemma"
        dilemma = read.mapping(key, entry.get("dilemma", {}), ("artifact", "resolved"))
        row["resolved"][p] = read.one_of(f"{key}.resolved", dilemma.get("resolved"), _RESOLUTIONS)
        if "artifact" in dilemma:
            kind = read.one_of(f"{key}.artifact", dilemma["artifact"], ARTIFACTS)
            if kind in row["dilemma"]:
                read.fail(f"{key}.artifact", f"two players have the dilemma of the {dilemma['artifact']}")
            row["dilemma"][p] = kind
    missing = [k for k in range(len(ARTIFACTS)) if k not in row["dilemma"]]
    for p in range(len(entries)):
        if row["dilemma"][p] < 0:
            row["dilemma"][p] = missing.pop(fill.randrange(len(missing)))


def _read_stars(row: np.void, read: Reader, given: Json, entries: list[Json]) -> None:
    for name, value in read.mapping("territories", given.get("territories", {}), TERRITORIES).items():
        owners = read.players(f"territories.{name}", value)
        if len(owners) > read.n:
            read.fail(f"territories.{name}", f"{len(owners)} stars; with {read.n} players there is room for {read.n} (R2.4)")
        for p in owners:
            row["territory"][TERRITORIES.index(name), p] += 1
    for p, entry in enumerate(entries):
        shown = int(row["territory"][:, p].sum()) + int(row["resolved"][p] == RESOLVED_STAR)
        shown += sum(int(stars) >> p & 1 for stars in row["market_stars"])
        shown += sum(int(row["starred"]) >> int(card) & 1 for card in row["recruits"][p, : row["num_recruits"][p]])
        key = f"players[{p}].stars"
        if shown > STARS:
            read.fail(key, f"the position shows {shown} stars of player {p}; there are {STARS}")
        row["stars"][p] = read.integer(key, entry.get("stars", STARS - shown), 0, STARS)
        if row["stars"][p] + shown != STARS:
            read.fail(key, f"{row['stars'][p]} to place and {shown} shown do not add up to {STARS}")


def _read_places(row: np.void, read: Reader, given: Json) -> None:
    """Recruits and tiles out of the game, and tiles put in the game by a player (R19.2)."""
    for key, names in (("recruits_out", RECRUIT_NAMES), ("tiles_out", TILES)):
        places = row["recruit_place"] if key == "recruits_out" else row["tile_place"]
        for name, p in read.mapping(key, given.get(key, {}), names).items():
            if places[names.index(name)] != IN_DECK:
                absent = places[names.index(name)] == ABSENT
                read.fail(f"{key}.{name}", "is not among the cards of the rules" if absent else "is in the game")
            places[names.index(name)] = OUT if p is None else OUT_BY + read.integer(f"{key}.{name}", p, 0, read.n - 1)
    for name, p in read.mapping("tiles_in", given.get("tiles_in", {}), TILES).items():
        tile = TILES.index(name)
        if row["status"] != SETUP and row["tile_place"][tile] != ON_SITE:
            read.fail(f"tiles_in.{name}", "is not on any site")
        row["tile_place"][tile] = IN_BY + read.integer(f"tiles_in.{name}", p, 0, read.n - 1)


def _check_board(row: np.void, read: Reader, free: bool) -> None:
    """Workers where none can be, and markets that would have been built."""
    for t, name in enumerate(TUNNEL_ENDS):
        if row["occupant"][FIRST_TUNNEL_END + t] >= 0 and row["miners"][t] < MINER_END:
            read.fail(f"workers.{name}", f"the tunnel end is closed; the miner is at {row['miners'][t]}")
    for k, name in enumerate(MARKETS):
        first = FIRST_SLOT + SLOTS_PER_SITE * k
        slots = [s for s in range(first, first + SLOTS_PER_SITE) if row["occupant"][s] >= 0]
        if row["built"][k]:
            if slots:
                read.fail(f"workers.{SPACES[slots[0]]}", f"{name} is built; its site is closed (R9.3)")
        elif row["occupant"][FIRST_MARKET + k] >= 0:
            read.fail(f"workers.{name}", "the market is not built")
        elif len(slots) >= WORKERS_TO_BUILD[read.n] and not free:
            read.fail(f"workers.{SPACES[slots[0]]}", f"{len(slots)} workers on a site that is built with fewer (R9.2)")


def _read_generator(row: np.void, read: Reader, value: Any) -> None:
    words = read.items("generator", value)
    if len(words) != 2:
        read.must("generator", "be two integers")
    row["rng"] = [read.integer(f"generator[{k}]", word, 0, 2**32 - 1) for k, word in enumerate(words)]
    if list(words) in _STANDSTILLS:
        read.fail("generator", f"{words!r} would give the same number forever")


def _read_result(row: np.void, read: Reader, given: Json, status: int) -> None:
    winner = given.get("winner")
    if (status == TRUNCATED) != (winner is None):
        read.fail("winner", "an ended game has a winner, a truncated one has none")
    row["winner"] = -1 if winner is None else read.integer("winner", winner, 0, read.n - 1)
    ranking = read.items("ranking", given.get("ranking"))
    if len(ranking) != read.n:
        read.must("ranking", f"be the rank of each of {read.n} players")
    ranks = [read.integer(f"ranking[{p}]", r, 1, read.n) for p, r in enumerate(ranking)]
    if any(rank != 1 + sum(other < rank for other in ranks) for rank in ranks):
        read.fail("ranking", f"{ranks}: a rank is 1 plus the number of players who are better (R16.3)")
    if winner is not None and (ranks[winner] > 1 or ranks.count(1) > 1):
        read.fail("ranking", f"{ranks}: the first place is that of the winner, player {winner}, alone")
    row["ranking"][: read.n] = ranks
