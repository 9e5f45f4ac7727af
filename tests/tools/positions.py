"""Random positions (docs/positions.md): valid, complete in their readable keys, and unlike anything that play would reach soon.

`any_position(rng)` makes one. Everybody has some recruits (often such as
act on each other), the tracks and miners stand high or just before something happens, markets are built, hands are full, stars
are few, decks are short (`random_position`). In the others one player can do a lot (`spotlight`), has equal workers and much to
trade with (`bazaar`), or many can end the game at once (`photo_finish`).
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from tests.referee.tables import (
    AREAS,
    ARTIFACTS,
    CARDS_OF_EACH_ARTIFACT,
    FACTIONS,
    GOODS,
    MARKET_OF_SITE,
    MARKETS,
    MAX_ALLEGIANCE,
    MAX_MINER,
    MAX_WORKERS,
    MOST_OF_A_GOOD,
    RECRUITS,
    RECRUITS_A_PLAYER,
    SITES,
    STARS,
    TEMPORARY,
    TERRITORY,
    TILES,
    TUNNEL_ENDS,
    TUNNELS,
    WORKERS_NEEDED,
)

Position = dict[str, Any]

# Recruits that meet each other in one hand.
COMBINATIONS = (
    ("brian_the_viticulturist", "josh_the_negotiator"),
    ("brian_the_viticulturist", "amanda_the_broker"),
    ("brian_the_viticulturist", "gidget_the_hypnotist"),
    ("brian_the_viticulturist", "nick_the_understudy", "curtis_the_propagandist"),
    ("brian_the_viticulturist", "jacko_the_archivist"),
    ("brian_the_viticulturist", "zong_the_astronomer", "sarinee_the_cloud_miner"),
    ("michael_the_engineer", "flartner_the_scammer"),
    ("michael_the_engineer", "dr_nakagawa_the_tribute", "jonathan_the_artist"),
    ("geek_the_oracle", "jonathan_the_gambler"),
    ("geek_the_oracle", "bradley_the_futurist"),
    ("geek_the_oracle", "jonathan_the_gambler", "bradley_the_futurist"),
    ("jonathan_the_gambler", "jacko_the_archivist"),
    ("nick_the_understudy", "curtis_the_propagandist"),
    ("nick_the_understudy", "esme_the_fireman"),
    ("curtis_the_propagandist", "esme_the_fireman"),
    ("curtis_the_propagandist", "ray_the_foreman"),
    ("pete_the_cannibal", "dr_sheppard_the_lobotomist"),
    ("pete_the_cannibal", "chase_the_miner"),
    ("dr_sheppard_the_lobotomist", "chase_the_miner"),
    ("pete_the_cannibal", "yordy_the_demotivator", "maggie_the_outlaw"),
    ("jefferson_the_shock_artist", "yordy_the_demotivator", "gidget_the_hypnotist"),
    ("julia_the_thought_inspector", "lee_the_gossip", "maxime_the_ambassador"),
    ("julia_the_thought_inspector", "laura_the_philanthropist", "major_dave_the_demolitionist"),
    ("xander_the_excavator", "matthew_the_thief", "phil_the_spy"),
    ("matthew_the_thief", "nick_the_understudy"),
    ("kaden_the_infiltrator", "nick_the_understudy"),
    ("professor_reitz_the_archaeologist", "andrew_the_spelunker", "chase_the_miner"),
    ("steven_the_scholar", "ben_the_ludologist", "curtis_the_propagandist"),
    ("brett_the_lockpicker", "flavio_the_merchant", "bradley_the_futurist"),
    ("esme_the_fireman", "flavio_the_merchant", "geek_the_oracle"),
    ("gary_the_electrician", "katy_the_dietician", "josiah_the_hacker"),
    ("kyle_the_scavenger", "soulless_the_plumber", "faith_the_hydroelectrician"),
    ("kyle_the_scavenger", "sir_scarby_the_harvester", "ian_the_horticulturist"),
    ("chase_the_miner", "amanda_the_broker"),
)
MIDGAME_TURN = 40


def any_position(rng: random.Random) -> Position:
    """One of the positions below."""
    return rng.choices((random_position, spotlight, bazaar, photo_finish), (44, 36, 14, 6))[0](rng)


def random_rules(rng: random.Random, num_players: int | None = None) -> dict[str, Any]:
    """Options of all kinds. `max_turns` is small, large or none; the mark of R17.5 is often low, the pools of R17.6 are often the
    smallest."""
    n = num_players or rng.randint(2, 6)
    market_draft = rng.random() < 0.3
    return {
        "num_players": n,
        "trading": rng.random() < 0.4,
        "trades_per_turn": rng.choice((0, 1, 1, 1, 2, 2, 3, 10)),
        "recruit_draft": rng.random() < 0.3,
        "market_draft": market_draft,
        "track_draft": rng.random() < 0.3,
        "doubles_cost_morale": rng.random() < 0.3,
        "stars_to_win": rng.choice((STARS, STARS, STARS, rng.randint(1, STARS), rng.randint(1, 4))),
        "recruits": random_pool(rng, tuple(RECRUITS), RECRUITS_A_PLAYER * n),
        "markets": random_pool(rng, tuple(TILES), len(MARKETS) + n * market_draft),
        "max_turns": rng.choice((1, 2, 3, 8, 30, 100, 2000, 2000, None, None)),
    }


def random_pool(rng: random.Random, cards: tuple[str, ...], least: int) -> list[str] | None:
    """R17.6: cards in the game, in their order, or `None`."""
    size = rng.choice((None, None, None, least, least, rng.randint(least, len(cards))))
    if size is None or size == len(cards):
        return None
    chosen = rng.sample(cards, size)
    return [card for card in cards if card in chosen]


def admit(rules: dict[str, Any], names: list[str]) -> None:
    """Puts recruits in the game that are not."""
    if rules["recruits"] is not None:
        pool = [card for card in RECRUITS if card in rules["recruits"] or card in names]
        rules["recruits"] = pool if len(pool) < len(RECRUITS) else None


def random_position(rng: random.Random) -> Position:
    """A position at the start of a turn, with all its readable keys."""
    rules = random_rules(rng)
    n = rules["num_players"]
    turn = rng.randint(1, MIDGAME_TURN)
    if rules["max_turns"] is not None and rules["max_turns"] < 2000:
        rules["max_turns"] += turn - 1
    allegiance = {faction: rng.choice((0, 1, 2, 4, 5, 7, 7, 8, 10, 10, MAX_ALLEGIANCE)) for faction in FACTIONS}
    miners = {faction: rng.choice((0, 3, 5, 5, 6, 8, 8, MAX_MINER, MAX_MINER)) for faction in FACTIONS[:3]}
    players = [_tracks_and_goods(rng) for _ in range(n)]
    _deal_recruits(rng, rules, players, allegiance, miners)
    _deal_dilemmas(rng, players)
    discards = _deal_artifacts(rng, players)
    markets = _lay_markets(rng, rules)
    territories = _place_stars(rng, players, markets)
    workers = _place_workers(rng, players, markets, miners)
    position = {
        "rules": rules,
        "player": rng.randrange(n),
        "turn": turn,
        "players": players,
        "workers": workers,
        "allegiance": allegiance,
        "miners": miners,
        "markets": markets,
        "territories": territories,
        "discards": discards,
    }
    if rng.random() < 0.95:
        _stay_below_the_mark(rng, position)
    return position


def _stay_below_the_mark(rng: random.Random, position: Position) -> None:
    """Takes stars back, the first ones from the territories, until nobody has passed the mark of R17.5."""
    for seat, player in enumerate(position["players"]):
        most = max(0, position["rules"]["stars_to_win"] - rng.choice((1, 1, 1, 2, 3)))
        while STARS - player["stars"] > most:
            _take_star_back(position, seat)
            player["stars"] += 1


def _take_star_back(position: Position, seat: int) -> None:
    player = position["players"][seat]
    markets = [market["stars"] for market in position["markets"].values()]
    for there in (*position["territories"].values(), *markets):
        if seat in there:
            there.remove(seat)
            return
    for recruit in player["recruits"]:
        if recruit["star"]:
            recruit["star"] = False
            return
    player["dilemma"]["resolved"] = None


def _tracks_and_goods(rng: random.Random) -> Position:
    wealth = rng.choice((0, 1, 2, 4, 4, 8))
    goods = {good: number for good in GOODS if (number := rng.randint(0, wealth))}
    if rng.random() < 0.05:
        goods[rng.choice(GOODS)] = MOST_OF_A_GOOD - rng.choice((0, 0, 1, 2, 3))
    return {
        "knowledge": rng.choice((1, 2, 3, 4, 5, 6)),
        "morale": rng.choice((1, 2, 3, 4, 5, 6, 6)),
        "lost_worker": rng.random() < 0.08,
        "goods": goods,
    }


def _deal_recruits(
    rng: random.Random, rules: dict[str, Any], players: list[Position], allegiance: dict[str, int], miners: dict[str, int]
) -> None:
    deck = list(rules["recruits"] or RECRUITS)
    rng.shuffle(deck)
    for player in players:
        hand: list[str] = []
        if rng.random() < 0.5:
            hand = [name for name in rng.choice(COMBINATIONS) if name in deck]
            for name in hand:
                deck.remove(name)
        while len(hand) < rng.choice((2, 3, 3, 3)):
            hand.append(deck.pop())
        rng.shuffle(hand)
        player["recruits"] = []
        for name in hand:
            faction = RECRUITS[name]
            revealed = allegiance[faction] >= 8 or miners.get(faction, 0) >= 6
            active = revealed or rng.random() < 0.7
            star = active and allegiance[faction] == MAX_ALLEGIANCE and rng.random() < 0.8
            player["recruits"].append({"name": name, "active": active, "star": star})
        player["recruits"].sort(key=lambda recruit: not recruit["active"])


def _deal_dilemmas(rng: random.Random, players: list[Position]) -> None:
    cards = rng.sample(ARTIFACTS, len(players))
    for player, card in zip(players, cards, strict=True):
        resolved = rng.choice((None, None, None, "star", "recruit"))
        if resolved == "recruit" and rng.random() < 0.5:
            resolved = None
        player["dilemma"] = {"artifact": card, "resolved": resolved}


def _deal_artifacts(rng: random.Random, players: list[Position]) -> dict[str, int]:
    """Hands up to the morale. Sometimes the deck is empty or nearly so, sometimes all cards are in hands."""
    deck = [artifact for artifact in ARTIFACTS for _ in range(CARDS_OF_EACH_ARTIFACT)]
    rng.shuffle(deck)
    everything = len(players) == 6 and rng.random() < 0.4
    fullness = rng.random()
    for player in players:
        if everything:
            player["morale"] = 6
        full = everything or rng.random() < fullness
        number = player["morale"] if full else rng.randint(0, player["morale"])
        if everything and rng.random() < 0.2:
            number -= 1
        hand = Counter(deck.pop() for _ in range(number))
        player["artifacts"] = {artifact: hand[artifact] for artifact in ARTIFACTS if hand[artifact]}
    left = rng.choice((0, 0, 1, 2, 3, 8, len(deck), len(deck)))
    discards = Counter(deck[left:])
    return {artifact: discards[artifact] for artifact in ARTIFACTS if discards[artifact]}


def _lay_markets(rng: random.Random, rules: dict[str, Any]) -> dict[str, Any]:
    n = rules["num_players"]
    tiles = rng.sample(tuple(rules["markets"] or TILES), len(MARKETS))
    built, owned = rng.choice((0.0, 0.3, 0.6, 0.9)), rng.choice((0.1, 0.4, 0.7))
    markets = {}
    for market, tile in zip(MARKETS, tiles, strict=True):
        is_built = rng.random() < built
        stars = [seat for seat in range(n) if is_built and rng.random() < owned]
        markets[market] = {"tile": tile, "built": is_built, "stars": stars}
    return markets


def _place_stars(rng: random.Random, players: list[Position], markets: dict[str, Any]) -> dict[str, list[int]]:
    """Fills the territories; hardly ever has somebody placed all stars already."""
    n = len(players)
    least = 0 if rng.random() < 0.03 else 1
    left = []
    for seat, player in enumerate(players):
        shown = sum(seat in market["stars"] for market in markets.values())
        shown += sum(recruit["star"] for recruit in player["recruits"])
        shown += player["dilemma"]["resolved"] == "star"
        left.append(STARS - shown)
    favourite = rng.randrange(n)
    territories = {}
    for faction in FACTIONS:
        owners = []
        for _ in range(rng.choice((0, rng.randint(0, n), n - 1, n))):
            seat = favourite if rng.random() < 0.3 else rng.randrange(n)
            if left[seat] > least:
                left[seat] -= 1
                owners.append(seat)
        if owners:
            territories[TERRITORY[faction]] = sorted(owners)
    for seat, player in enumerate(players):
        player["stars"] = left[seat]
    return territories


def _open_temporary(markets: dict[str, Any], miners: dict[str, int]) -> list[str]:
    """The temporary spaces that are in use, the tunnels twice."""
    spaces = [space for space in TEMPORARY if space not in MARKETS and space not in TUNNEL_ENDS]
    spaces += [end for end, (faction, _) in TUNNEL_ENDS.items() if miners[faction] == MAX_MINER]
    return [*spaces, *TUNNELS, *(market for market in MARKETS if markets[market]["built"])]


def _place_workers(
    rng: random.Random, players: list[Position], markets: dict[str, Any], miners: dict[str, int]
) -> dict[str, list[list[int]]]:
    n = len(players)
    spaces = _open_temporary(markets, miners)
    room = {site: WORKERS_NEEDED[n] - 1 for site, market in MARKET_OF_SITE.items() if not markets[market]["built"]}
    slots = [f"{site}_{k}" for site in room for k in (1, 2, 3, 4)]
    board: dict[str, list[list[int]]] = {}
    placed = rng.choice((0.2, 0.5, 0.8))
    for seat, player in enumerate(players):
        faces = (1, 2, 3, 4, 5, 6) if rng.random() < 0.6 else rng.sample(range(1, 7), 2)  # doubles
        player["workers"] = []
        for _ in range(rng.choice((1, 2, 2, 3, 3, MAX_WORKERS))):
            face = rng.choice(faces)
            kind = rng.choice(("area", "space", "space", "slot")) if rng.random() < placed else "hand"
            where = {"area": tuple(AREAS), "space": spaces, "slot": slots, "hand": ()}[kind]
            space = rng.choice(where) if where else None
            site = space.rpartition("_")[0] if space in slots else None
            if space is None or (space in board and kind != "area") or (site is not None and not room[site]):
                player["workers"].append(face)
                continue
            board.setdefault(space, []).append([seat, face])
            if site is not None:
                room[site] -= 1
        player["workers"].sort()
    return {space: sorted(there) for space, there in board.items()}


def spotlight(rng: random.Random) -> Position:
    """The player who begins has active recruits, room on the tracks and something to pay with; others stand in the way."""
    position = random_position(rng)
    seat, n = position["player"], position["rules"]["num_players"]
    on_board = [owner for there in position["workers"].values() for owner, _ in there]
    player = position["players"][seat]
    for recruit in player["recruits"]:
        recruit["active"] = True
    if not player["workers"] and on_board.count(seat) < MAX_WORKERS:
        player["workers"] = [rng.randint(1, 6)]
    player["knowledge"] = rng.choice((1, 1, 2, 3, 4, 5))
    player["morale"] = max(rng.choice((2, 3, 4, 5, 6)), sum(player["artifacts"].values()))
    player["goods"] = {good: number for good in GOODS if (number := rng.choice((0, 1, 1, 2, 3, 4)))}
    for market in position["markets"].values():
        if market["built"] and seat not in market["stars"] and player["stars"] > 1 and rng.random() < 0.5:
            market["stars"] = sorted([*market["stars"], seat])
            player["stars"] -= 1
    board = position["workers"]
    free = sorted({*_open_temporary(position["markets"], position["miners"])} - {*board})
    rng.shuffle(free)
    free.sort(key=lambda space: space in TUNNELS and rng.random() < 0.7)  # the last ones are taken first
    for other in range(n):
        faces = position["players"][other]["workers"]
        while other != seat and faces and free and rng.random() < 0.7:
            board[free.pop()] = [[other, faces.pop(rng.randrange(len(faces)))]]
    return position


def bazaar(rng: random.Random) -> Position:
    """Offers at further placements (R15.2): equal workers, goods and cards on all sides, the tank free for Chase's new worker;
    sometimes the Fountain, or the price of R17.4, that hardly anybody can pay."""
    position = spotlight(rng)
    rules, seat = position["rules"], position["player"]
    rules.update(trading=True, trades_per_turn=rng.choice((1, 2, 2, 3, 3, 10)), doubles_cost_morale=rng.random() < 0.5)
    player = position["players"][seat]
    for other in position["players"]:
        if other is player or rng.random() < 0.8:
            other["goods"] = {good: number for good in GOODS if (number := rng.choice((0, 0, 1, 1, 2, 3)))}
    if rng.random() < 0.3:
        player["goods"] = {rng.choice(GOODS): rng.choice((1, 3, MOST_OF_A_GOOD - 1))}
    player["morale"] = max(rng.choice((1, 2, 2, 3)), sum(player["artifacts"].values()))
    _equal_workers(rng, position)
    if rng.random() < 0.35:
        _into_the_tank(rng, position)
    if rng.random() < 0.15:
        _build_fountain(rng, position)
    return position


def _equal_workers(rng: random.Random, position: Position) -> None:
    """All the workers that the player to move has in hand show one face, or all but one; as many as there may be."""
    seat = position["player"]
    on_board = sum(owner == seat for there in position["workers"].values() for owner, _ in there)
    number = min(MAX_WORKERS - on_board, rng.choice((2, 3, 3, MAX_WORKERS)))
    faces = [rng.randint(1, 6)] * number
    if number > 2 and rng.random() < 0.3:
        faces[0] = rng.randint(1, 6)
    position["players"][seat]["workers"] = sorted(faces) or position["players"][seat]["workers"]


def _into_the_tank(rng: random.Random, position: Position) -> None:
    """The player to move has Chase, few workers, and what the tank costs."""
    name, player = "chase_the_miner", position["players"][position["player"]]
    admit(position["rules"], [name])
    for other in position["players"]:
        for recruit in [recruit for recruit in other["recruits"] if recruit["name"] == name]:
            other["recruits"].remove(recruit)
            other["stars"] += recruit["star"]
    player["stars"] += sum(recruit["star"] for recruit in player["recruits"][2:])
    player["recruits"] = [{"name": name, "active": True, "star": False}, *player["recruits"][:2]]
    player["workers"] = player["workers"][: rng.choice((1, 2, 3))]
    for good in rng.choice((("energy",), ("water",), ("energy", "water"))):
        player["goods"][good] = rng.choice((3, 3, 4, 6))


def _build_fountain(rng: random.Random, position: Position) -> None:
    """The Fountain is in the game, built, and not the player's."""
    tile, seat = "fountain_of_wishful_thinking", position["player"]
    pool, markets = position["rules"]["markets"], position["markets"]
    if (pool is not None and tile not in pool) or any(market["tile"] == tile for market in markets.values()):
        return
    built = [market for market in markets.values() if market["built"] and seat not in market["stars"]]
    if built:
        rng.choice(built)["tile"] = tile


def photo_finish(rng: random.Random) -> Position:
    """All are equal and have one star left (R17.5: or the mark is lower); a market is about to be built, or a track to end."""
    position = random_position(rng)
    position["rules"]["stars_to_win"] = rng.choice((STARS, STARS, STARS, STARS, rng.randint(1, STARS)))
    n = position["rules"]["num_players"]
    site = rng.choice(tuple(SITES))
    position["markets"] = {
        market: {
            "tile": position["markets"][market]["tile"],
            "built": market != MARKET_OF_SITE[site],
            "stars": list(range(n)) if market != MARKET_OF_SITE[site] else [],
        }
        for market in MARKETS
    }
    position["territories"] = {territory: list(range(n)) for territory in TERRITORY.values()}
    position["allegiance"] = {faction: rng.choice((7, 10)) for faction in FACTIONS}
    position["miners"] = dict.fromkeys(FACTIONS[:3], rng.choice((0, 5)))
    if rng.random() < 0.6:
        _share_faction(rng, position)
    position["workers"] = {}
    builders = rng.sample(range(n), min(n, WORKERS_NEEDED[n] - 1))
    while len(builders) < WORKERS_NEEDED[n] - 1:
        builders.append(rng.randrange(n))
    for k, seat in enumerate(builders, 1):
        position["workers"][f"{site}_{k}"] = [[seat, rng.randint(1, 6)]]
    nobody_home = rng.random() < 0.4  # then the players have nothing to roll in the end
    marks = {"knowledge": rng.choice((1, 6)), "morale": rng.choice((1, 3, 6))}
    for seat, player in enumerate(position["players"]):
        player.update(marks, stars=1, goods=dict.fromkeys(GOODS, 2))
        while sum(player["artifacts"].values()) > marks["morale"]:
            player["artifacts"].popitem()
        player["dilemma"]["resolved"] = None
        on_board = builders.count(seat)
        number = rng.randint(0 if on_board and seat != position["player"] else 1, min(2, MAX_WORKERS - on_board))
        faces = [rng.choice((1, 2)) for _ in range(number)]
        away = len(faces) - (seat == position["player"]) if nobody_home else 0
        if away:
            position["workers"].setdefault("farm", []).extend([seat, face] for face in faces[:away])
        player["workers"] = sorted(faces[away:])
        for recruit in player["recruits"]:
            recruit["star"] = False
            revealed = position["allegiance"][RECRUITS[recruit["name"]]] >= 8
            recruit["active"] = recruit["active"] or revealed
        player["recruits"].sort(key=lambda recruit: not recruit["active"])
    return position


def _share_faction(rng: random.Random, position: Position) -> None:
    """Gives everybody an active recruit of one faction, whose track is about to end."""
    faction = rng.choice(FACTIONS)
    position["allegiance"][faction] = MAX_ALLEGIANCE - 1
    free = [name for name, of_faction in RECRUITS.items() if of_faction == faction]
    rng.shuffle(free)
    admit(position["rules"], free[-len(position["players"]) :])  # those that are dealt
    for player in position["players"]:
        others = [recruit for recruit in player["recruits"] if RECRUITS[recruit["name"]] != faction]
        player["recruits"] = [{"name": free.pop(), "active": True, "star": False}, *others[:2]]


assert all(name in RECRUITS for names in COMBINATIONS for name in names) and len(SITES) == len(MARKETS)
