"""Computes what a player must observe from the position, the events and the rules alone (R19).

Nothing here reads the state of the engine, except what it says of the turn under way: a `Situation` has the position as
`Game.describe` gives it, and what happened since the turn was opened. `PUBLIC`, `PLAYER` and `SEEN` have a function for each
field of the observation; the others compute the state of `raw_env`, and the events that a player sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from euphoria_env import observations
from euphoria_env.board import MARKETS, SPACES, TERRITORIES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decisions import DECISIONS, VERBS
from euphoria_env.event_kinds import KINDS
from tests.referee.tables import AREAS, ARTIFACTS, CARDS_OF_EACH_ARTIFACT, FACTIONS, GOODS
from tests.tools import situation as turn
from tests.tools.situation import UNITS, Happened, Numbers, Position, Situation, counts

SEATS, BASE = range(6), 128
STATUS = ("setup", "playing", "over", "truncated")
NO_ITEMS = [0] * len(UNITS)
OTHER_SPACES = SPACES[len(AREAS) :]


# ------------------------------------------------------------------------------------------------------------------- helpers


def digits(number: int) -> Numbers:
    """The three digits of a number, lowest first."""
    number = min(number, BASE**3 - 1)
    return [number // BASE**k % BASE for k in range(3)]


def one_hot(index: int | None, size: int) -> list[int]:
    return [int(k == index) for k in range(size)]


def bits(number: int, size: int) -> list[int]:
    return [number >> k & 1 for k in range(size)]


def seats(s: Situation, observer: int, values: Sequence[int]) -> list[int]:
    """Values by player, in the order of the seats; 0 for those that do not play."""
    return [values[(observer + k) % s.n] if k < s.n else 0 for k in SEATS]


def plus_one(s: Situation, observer: int, player: int) -> int:
    """A seat plus 1; 0 for nobody."""
    return s.seat(player, observer) + 1 if player >= 0 else 0


# ------------------------------------------------------------------------------------------------------------------ the game


def rule(name: str) -> Callable[[Situation], Numbers]:
    return lambda s: [int(s.d["rules"][name])]


def pool(name: str, cards: Sequence[str]) -> Callable[[Situation], Numbers]:
    """R17.6: 1 for a card that is not in the game."""
    return lambda s: [int(s.d["rules"][name] is not None and card not in s.d["rules"][name]) for card in cards]


def tiles_shown(s: Situation) -> Numbers:
    """The tiles of the sites lie face down (R2.3)."""
    markets = [s.d["markets"][name] for name in MARKETS]
    return [TILES.index(market["tile"]) + 1 if market["built"] else 0 for market in markets]


def artifacts_left(s: Situation) -> list[int]:
    """The deck by type: every card that is neither in a hand nor discarded (R5.7)."""
    seen = [*(player["artifacts"] for player in s.d["players"]), s.d["discards"]]
    return [CARDS_OF_EACH_ARTIFACT - sum(of.get(name, 0) for of in seen) for name in ARTIFACTS]


def pending_number(name: str, more: int = 0) -> Callable[[Situation], Numbers]:
    """A number of the decision under way."""
    return lambda s: [s.pending[name] + more if s.pending else 0]


def pending_list(name: str, size: int) -> Callable[[Situation], Numbers]:
    return lambda s: s.pending[name] if s.pending else [0] * size


def in_series(name: str, more: int = 0) -> Callable[[Situation], Numbers]:
    return lambda s: [s.pending[name] + more if s.asked == "series" else 0]


# Each field that is the same for everybody.
PUBLIC: dict[str, Callable[[Situation], Numbers]] = {
    **{
        name: rule(name)
        for name in (
            *("num_players", "trading", "trades_per_turn", "recruit_draft", "market_draft", "track_draft"),
            *("doubles_cost_morale", "stars_to_win"),
        )
    },
    "recruits": pool("recruits", RECRUIT_NAMES),
    "markets": pool("markets", TILES),
    "max_turns": lambda s: digits(s.d["rules"]["max_turns"] or 0),
    "turn": lambda s: digits(s.d["turn"]),
    "status": lambda s: [STATUS.index(s.d["status"])],
    "allegiance": lambda s: counts(FACTIONS, s.d["allegiance"]),
    "miners": lambda s: counts(FACTIONS[:3], s.d["miners"]),
    "occupant_face": lambda s: [s.d["workers"].get(space, [[0, 0]])[0][1] for space in OTHER_SPACES],
    "built": lambda s: [int(s.d["markets"][market]["built"]) for market in MARKETS],
    "tile": tiles_shown,
    "discards": lambda s: counts(ARTIFACTS, s.d["discards"]),
    "deck_size": lambda s: [sum(artifacts_left(s))],
    "asked": lambda s: one_hot(DECISIONS.index(s.asked), len(DECISIONS)),
    "card": lambda s: [s.pending["card"] + 1 if s.asked == "use" else 0],
    "verb": in_series("verb", 1),
    "units": lambda s: [s.pending["units_a"], s.pending["units_b"]] if s.asked == "series" else [0, 0],
    "second_group": lambda s: bits(s.pending["set_b"], len(UNITS)) if s.asked == "series" else NO_ITEMS,
    "last": pending_number("last"),
    "chosen": pending_list("chosen", len(UNITS)),
    "requested": pending_list("asked", len(UNITS)),
    "offers": lambda s: [0 if s.asked == "nothing" else s.d["offers"]],
    "space": turn.space_of_placement,
    "placed_face": pending_number("placed_face"),
    "bumped_face": lambda s: [found[3] if (found := turn.bumped(s)) else 0],
    "allegiance_before": turn.allegiance_before,
    "due": lambda s: [s.pending["due_morale"], s.pending["due_knowledge"]] if s.pending else [0, 0],
    "paid": turn.paid,
    "star_placed": turn.star_placed,
    "took_resource": turn.took_resource,
    "new_worker": pending_number("new_worker"),
    "new_face": turn.new_face,
    "set_face": pending_number("set_face"),
    "payment": lambda s: [s.pending["payment"] + 1 if turn.retrieval(s) else 0],
    "taken": turn.taken,
    "resolving": turn.resolving,
    "bargains_left": turn.bargains_left,
    "further_left": turn.further_left,
    "draws_left": turn.draws_left,
}


# --------------------------------------------------------------------------------------------------------------- the players


def active_recruits(player: Position) -> list[Position]:
    return [recruit for recruit in player["recruits"] if recruit["active"]]


def workers(s: Situation, p: int) -> Numbers:
    """R2.1, R2.6: two before the first roll of the setup."""
    available = len(s.d["players"][p]["workers"])
    if s.d["status"] == "setup" and not available:
        return [2]
    return [available + sum(owner == p for there in s.d["workers"].values() for owner, _ in there)]


def hidden_recruits(s: Situation, p: int) -> Numbers:
    """Counts none in the setup, where they are still being chosen."""
    player = s.d["players"][p]
    return [0 if s.d["status"] == "setup" else len(player["recruits"]) - len(active_recruits(player))]


def in_force(s: Situation, p: int) -> Numbers:
    """R12.1: the tiles of the markets that are built and lack the player's star."""
    tiles = {market["tile"] for market in s.d["markets"].values() if market["built"] and p not in market["stars"]}
    return [int(tile in tiles) for tile in TILES]


def resolved(s: Situation, p: int) -> int:
    return (None, "star", "recruit").index(s.d["players"][p]["dilemma"]["resolved"])


def of_player(key: str) -> Callable[[Situation, int], Numbers]:
    return lambda s, p: [int(s.d["players"][p][key])]


def used(name: str) -> Callable[[Situation, int], Numbers]:
    return lambda s, p: [int(name in s.d["players"][p]["used"])]


def order_of_activation(s: Situation, p: int) -> Numbers:
    names = [recruit["name"] for recruit in active_recruits(s.d["players"][p])]
    return [names.index(name) + 1 if name in names else 0 for name in RECRUIT_NAMES]


def recruit_stars(s: Situation, p: int) -> Numbers:
    stars = [int(recruit["star"]) for recruit in active_recruits(s.d["players"][p])]
    return stars + [0] * (4 - len(stars))


def shown_dilemma(s: Situation, p: int) -> Numbers:
    artifact = ARTIFACTS.index(s.d["players"][p]["dilemma"]["artifact"])
    return one_hot(artifact if resolved(s, p) else None, len(ARTIFACTS))


# Each field that is public of a player.
PLAYER: dict[str, Callable[[Situation, int], Numbers]] = {
    "present": lambda s, p: [1],
    "knowledge": of_player("knowledge"),
    "morale": of_player("morale"),
    "stars": of_player("stars"),
    "goods": lambda s, p: [min(number, BASE - 1) for number in counts(GOODS, s.d["players"][p]["goods"])],
    "hand_size": lambda s, p: [sum(s.d["players"][p]["artifacts"].values())],
    "available": lambda s, p: [s.d["players"][p]["workers"].count(face) for face in range(1, 7)],
    "workers": workers,
    "lost_worker": of_player("lost_worker"),
    "used_geek": used("geek_the_oracle"),
    "used_gambler": used("jonathan_the_gambler"),
    "recruits": order_of_activation,
    "recruit_stars": recruit_stars,
    "hidden_recruits": hidden_recruits,
    "resolved": lambda s, p: [resolved(s, p)],
    "resolved_dilemma": shown_dilemma,
    "penalties": in_force,
}


# --------------------------------------------------------------------------------------------------- what each sees otherwise


def cards_in(s: Situation, name: str, p: int) -> list[int]:
    """The cards that a player holds to choose from, or has kept in the draft."""
    return [card for card in s.pending[name][p] if card >= 0] if s.pending else []


def own_recruits(s: Situation, p: int) -> Numbers:
    places = dict.fromkeys(RECRUIT_NAMES, 0)
    for k, recruit in enumerate(s.d["players"][p]["recruits"]):
        if not recruit["active"]:
            places[recruit["name"]] = 2 if s.d["status"] == "setup" and k == 0 else 1
    for place, name in ((3, "hand"), (4, "kept")):
        places |= {RECRUIT_NAMES[card]: place for card in cards_in(s, name, p)}
    places |= {name: 5 for name, owner in s.d["recruits_out"].items() if owner == p}
    return [*places.values()]


def own_tiles(s: Situation, p: int) -> Numbers:
    places = dict.fromkeys(TILES, 0) | {TILES[tile]: 1 for tile in cards_in(s, "tile_hand", p)}
    for place, key in ((2, "tiles_in"), (3, "tiles_out")):
        places |= {name: place for name, owner in s.d[key].items() if owner == p}
    return [*places.values()]


def area_workers(s: Situation, p: int) -> Numbers:
    cells = [0] * (len(AREAS) * len(SEATS) * 6)
    for k, area in enumerate(AREAS):
        for owner, face in s.d["workers"].get(area, []):
            cells[(k * len(SEATS) + s.seat(owner, p)) * 6 + face - 1] += 1
    return cells


def occupants(s: Situation, p: int) -> Numbers:
    return [plus_one(s, p, s.d["workers"].get(space, [[-1, 0]])[0][0]) for space in OTHER_SPACES]


def stars_by_seat(s: Situation, p: int, places: Iterable[Sequence[int]]) -> Numbers:
    return [number for owners in places for number in seats(s, p, [owners.count(q) for q in range(s.n)])]


def first_group(s: Situation, p: int) -> Numbers:
    """The two cards that Bradley drew are known to their owner alone (R19.1): to others, every discard may be of any type."""
    if s.asked == "series" and VERBS[s.pending["verb"]] == "discard" and s.pending["player"] != p:
        return [int(unit in ARTIFACTS) for unit in UNITS]
    return bits(s.pending["set_a"], len(UNITS)) if s.asked in ("series", "star") else NO_ITEMS


def helped(s: Situation, p: int) -> Numbers:
    """R9.3: those whose workers return from the site that was built."""
    back = {player for _, player, _, _ in turn.since_placed(s, "returned")} if s.pending else set()
    return seats(s, p, [int(q in back) for q in range(s.n)])


def to_roll(s: Situation, p: int) -> Numbers:
    if not s.pending:
        return [0] * 8
    return [*(plus_one(s, p, owner) for owner in s.pending["back_owner"]), *s.pending["back_face"]]


def roller(s: Situation, p: int) -> Numbers:
    rolls = s.happened("roll") if s.pending and s.playing else []
    return [plus_one(s, p, s.events[rolls[-1]][1]) if rolls else 0]


# Each field that depends on who observes.
SEEN: dict[str, Callable[[Situation, int], Numbers]] = {
    "active": lambda s, p: one_hot(s.seat(s.d["active"], p), 6),
    "decider": lambda s, p: one_hot(None if s.asked == "nothing" else s.seat(s.d["player"], p), 6),
    "own_artifacts": lambda s, p: counts(ARTIFACTS, s.d["players"][p]["artifacts"]),
    "own_dilemma": lambda s, p: one_hot(ARTIFACTS.index(s.d["players"][p]["dilemma"]["artifact"]), 6),
    "own_recruits": own_recruits,
    "own_tiles": own_tiles,
    "areas": area_workers,
    "occupant": occupants,
    "market_stars": lambda s, p: stars_by_seat(s, p, [s.d["markets"][name]["stars"] for name in MARKETS]),
    "territories": lambda s, p: stars_by_seat(s, p, [s.d["territories"][name] for name in TERRITORIES]),
    "first_group": first_group,
    "partner": lambda s, p: [plus_one(s, p, turn.partner(s))],
    "bumped": lambda s, p: [plus_one(s, p, found[1]) if (found := turn.bumped(s)) else 0],
    "helped": helped,
    "to_roll": to_roll,
    "roller": roller,
}


# Each field of the observation: its name, its seat if it is one of a player, the last part of its name, and its size.
FIELDS = {
    field.name: (int(field.name[len("player_")]) if "." in field.name else None, field.name.rpartition(".")[2], field.size)
    for field in observations.table()
}


def expected_field(s: Situation, name: str, observer: int) -> Numbers:
    """A field of the observation of a player; what is the same for all seats is computed once.

    Raises:
        KeyError: the field is in no table.
    """
    seat, key, size = FIELDS[name]
    if seat is None and key in SEEN:
        return SEEN[key](s, observer)
    if seat is not None and seat >= s.n:
        return [0] * size
    player = None if seat is None else (observer + seat) % s.n
    if (key, player) not in s.known:
        s.known[key, player] = PUBLIC[key](s) if player is None else PLAYER[key](s, player)
    return s.known[key, player]


def expected(s: Situation, observer: int) -> Numbers:
    """The whole observation of a player."""
    if observer not in s.known:
        s.known[observer] = [number for name in FIELDS for number in expected_field(s, name, observer)]
    return s.known[observer]


# ------------------------------------------------------------------------------------------------------- the state of raw_env


def places_of_recruits(s: Situation) -> Numbers:
    """-1 not in the game, 0 in the deck, 1 out of it, 2 + player held, 8 + player put out by them."""
    places = dict.fromkeys(RECRUIT_NAMES, 0)
    if s.d["rules"]["recruits"] is not None:
        places |= {name: -1 for name in RECRUIT_NAMES if name not in s.d["rules"]["recruits"]}
    for p, player in enumerate(s.d["players"]):
        held = [recruit["name"] for recruit in player["recruits"]]
        held += [RECRUIT_NAMES[card] for name in ("hand", "kept") for card in cards_in(s, name, p)]
        places |= dict.fromkeys(held, 2 + p)
    places |= {name: 1 if owner is None else 8 + owner for name, owner in s.d["recruits_out"].items()}
    return [*places.values()]


def places_of_tiles(s: Situation) -> Numbers:
    """The same for tiles; 14 on a site, 16 + player put in the game by them."""
    places = dict.fromkeys(TILES, 0)
    if s.d["rules"]["markets"] is not None:
        places |= {name: -1 for name in TILES if name not in s.d["rules"]["markets"]}
    places |= {TILES[tile]: 2 + p for p in range(s.n) for tile in cards_in(s, "tile_hand", p)}
    places |= {market["tile"]: 14 for market in s.d["markets"].values() if market["tile"] is not None}
    places |= {name: 16 + owner for name, owner in s.d["tiles_in"].items()}
    places |= {name: 1 if owner is None else 8 + owner for name, owner in s.d["tiles_out"].items()}
    return [*places.values()]


def expected_state(s: Situation) -> list[int]:
    """The observations of all players, then the tiles by site, the deck by type, and where each recruit and tile is."""
    tiles = [s.d["markets"][name]["tile"] for name in MARKETS]
    on_sites = [-1 if tile is None else TILES.index(tile) for tile in tiles]
    observed = [number for p in range(s.n) for number in expected(s, p)]
    return [*observed, *on_sites, *artifacts_left(s), *places_of_recruits(s), *places_of_tiles(s)]


# -------------------------------------------------------------------------------------------------------------------- events

# R19: the cards of the others, the deck, and the tiles that lie face down.
SECRET = {
    *("dilemma_dealt", "recruit_dealt", "drafted", "passed", "recruit_kept", "recruit_out"),
    *("tile_dealt", "tile_in", "tile_out", "tile_laid", "drawn"),
}
NAMES_A_PLAYER = {"lot", "offer", "accepted", "refused", "refused_unasked"}  # in `a`


def known_to(events: Iterable[Happened], player: int | None) -> list[Happened]:
    """Events as a player may know them, with -1 for what is hidden; None: as everybody may."""
    return [
        (kind, who, -1 if KINDS[kind] in SECRET and (player is None or who != player) else a, b) for kind, who, a, b in events
    ]


def last_events(events: Sequence[Happened], observer: int, n: int, k: int) -> list[list[int]]:
    """The last k events as an environment shows them: players counted from the observer, zeros before the first."""
    shown = []
    for kind, who, a, b in known_to(events[-k:], observer):
        a = (a - observer) % n if KINDS[kind] in NAMES_A_PLAYER else a
        shown.append([kind, (who - observer) % n if who >= 0 else -1, a, b])
    return [[0] * 4] * (k - len(shown)) + shown
