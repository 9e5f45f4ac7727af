"""Readable positions (`docs/positions.md`): a position in, a position out."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from .state import Market, Player, Recruit, Rules, Table, Worker
from .tables import (
    ARTIFACTS,
    CARDS_OF_EACH_ARTIFACT,
    FACTIONS,
    GOODS,
    MARKETS,
    MAX_TRACK,
    MAX_WORKERS,
    MOST_OF_A_GOOD,
    RECRUITS,
    SPACES,
    STARS,
    TERRITORY,
)


def known(name: Any, names: Any, where: str) -> Any:
    if name not in names:
        raise ValueError(f"{where}: unknown {name!r}")
    return name


def counted(entry: dict[str, int], names: Any, where: str) -> Counter[str]:
    return Counter({known(name, names, where): number for name, number in entry.items() if number})


def read(position: dict[str, Any], seed: int | None) -> Table:
    """A table from a position, possibly a partial one: what is left out has the value it has right after setup.

    What is left out and random there (workers, tiles, dilemmas) is filled in from a generator of its own, never from
    loaded outcomes.
    """
    filler = random.Random(seed if seed is not None else 0)
    rules = Rules.from_dict(position.get("rules", {}))
    n = rules.num_players
    entries = list(position.get("players", []))
    if len(entries) > n:
        raise ValueError("players: more than num_players")
    entries += [{}] * (n - len(entries))
    table = Table(rules, [read_player(seat, entry) for seat, entry in enumerate(entries)])
    table.active_player = known(position.get("player", 0), range(n), "player")
    table.turn = position.get("turn", 1)
    table.chosen = True
    for space, workers in position.get("workers", {}).items():
        known(space, SPACES, "workers")
        table.board[space] = [Worker(known(owner, range(n), space), face) for owner, face in workers]
    for faction, step in position.get("allegiance", {}).items():
        table.allegiance[known(faction, FACTIONS, "allegiance")] = step
    for faction, step in position.get("miners", {}).items():
        table.miners[known(faction, FACTIONS[:3], "miners")] = step
    for space, tile in position.get("markets", {}).items():
        market = Market(tile.get("tile"), tile.get("built", False), list(tile.get("stars", [])))
        table.markets[known(space, MARKETS, "markets")] = market
    for territory, owners in position.get("territories", {}).items():
        table.territories[known(territory, TERRITORY.values(), "territories")] = list(owners)
    table.discards = counted(position.get("discards", {}), ARTIFACTS, "discards")
    fill_in(table, position, entries, filler)
    validate(table)
    return table


def read_player(seat: int, entry: dict[str, Any]) -> Player:
    player = Player(seat)
    player.knowledge = entry.get("knowledge", 3)
    player.morale = entry.get("morale", 1)
    player.available = list(entry.get("workers", []))
    player.lost_worker = entry.get("lost_worker", False)
    player.goods = counted(entry.get("goods", {}), GOODS, "goods")
    player.artifacts = counted(entry.get("artifacts", {}), ARTIFACTS, "artifacts")
    for recruit in entry.get("recruits", []):
        name = known(recruit["name"], RECRUITS, "recruits")
        pile = player.active if recruit["active"] else player.hidden
        pile.append(Recruit(name, recruit.get("star", False)))
    dilemma = entry.get("dilemma") or {}
    player.dilemma = dilemma.get("artifact")
    player.resolved = dilemma.get("resolved")
    return player


def fill_in(table: Table, position: dict[str, Any], entries: list[dict[str, Any]], filler: random.Random) -> None:
    """Fills in what the position leaves out."""
    for player, entry in zip(table.players, entries, strict=True):
        if "workers" not in entry:  # two, fewer if that would make more than four
            number = min(2, MAX_WORKERS - table.workers_on_board(player))
            player.available = [filler.randint(1, 6) for _ in range(number)]
        placed = stars_shown(table, player)
        player.stars = entry.get("stars", STARS - placed)
        if player.stars + placed != STARS:
            raise ValueError(f"players[{player.seat}].stars: {placed} are placed, {player.stars} left")
    tiles = [tile for tile in table.rules.tiles_in_game if all(market.tile != tile for market in table.markets.values())]
    for market in table.markets.values():
        if market.tile is None:
            market.tile = filler.choice(tiles)
            tiles.remove(market.tile)
    cards = [card for card in ARTIFACTS if all(player.dilemma != card for player in table.players)]
    for player in table.players:
        if player.dilemma is None:
            player.dilemma = filler.choice(cards)
            cards.remove(player.dilemma)
    table.deck = Counter()
    for artifact in ARTIFACTS:
        elsewhere = table.discards[artifact] + sum(player.artifacts[artifact] for player in table.players)
        if elsewhere > CARDS_OF_EACH_ARTIFACT:
            raise ValueError(f"artifacts: {elsewhere} {artifact}")
        table.deck[artifact] = CARDS_OF_EACH_ARTIFACT - elsewhere
    held = [recruit.name for player in table.players for recruit in player.active + player.hidden]
    if len(set(held)) < len(held):
        raise ValueError("recruits: one is held twice")
    table.recruits_out = dict(position.get("recruits_out", {}))  # no readable key, but in every complete position
    gone = {*held, *table.recruits_out}
    table.recruit_deck = [name for name in table.rules.recruits_in_game if name not in gone]


def stars_shown(table: Table, player: Player) -> int:
    return (
        sum(player.seat in market.stars for market in table.markets.values())
        + sum(territory.count(player.seat) for territory in table.territories.values())
        + sum(recruit.star for recruit in player.active + player.hidden)
        + (player.resolved == "star")
    )


def validate(table: Table) -> None:
    """The plainest impossibilities only: the referee is fed with sound positions."""
    for player in table.players:
        where = f"players[{player.seat}]"
        if not (1 <= player.knowledge <= MAX_TRACK and 1 <= player.morale <= MAX_TRACK):
            raise ValueError(f"{where}: knowledge or morale")
        if not 1 <= table.workers_owned(player) <= MAX_WORKERS:
            raise ValueError(f"{where}.workers: {table.workers_owned(player)}")
        if player.hand > player.morale:
            raise ValueError(f"{where}.artifacts: more than the morale")
        if any(table.revealed(recruit.faction) for recruit in player.hidden):
            raise ValueError(f"{where}.recruits: a hidden recruit of a revealed faction")
        if any(recruit.name not in table.rules.recruits_in_game for recruit in player.active + player.hidden):
            raise ValueError(f"{where}.recruits: one is not in the game")  # R17.6
        if any(number > MOST_OF_A_GOOD for number in player.goods.values()):
            raise ValueError(f"{where}.goods: more than {MOST_OF_A_GOOD}")  # R1.2
    if any(market.tile not in table.rules.tiles_in_game for market in table.markets.values()):
        raise ValueError("markets: a tile is not in the game")  # R17.6
    if len({market.tile for market in table.markets.values()}) < len(MARKETS):
        raise ValueError("markets: one tile twice")


# --- out -------------------------------------------------------------------------------------------------------------


def write(table: Table, player: int) -> dict[str, Any]:
    """All the readable keys. `player` is who must decide."""
    return {
        "rules": table.rules.as_dict(),
        "player": player,
        "turn": table.turn,
        "players": [write_player(table, player) for player in table.players],
        "workers": {
            space: sorted([worker.owner, worker.face] for worker in there) for space, there in table.board.items() if there
        },
        "allegiance": dict(table.allegiance),
        "miners": dict(table.miners),
        "markets": {
            space: {"tile": market.tile, "built": market.built, "stars": sorted(market.stars)}
            for space, market in table.markets.items()
        },
        "territories": {name: sorted(owners) for name, owners in table.territories.items() if owners},
        "discards": in_table_order(table.discards, ARTIFACTS),
        "recruits_out": dict(table.recruits_out),
    }


def in_table_order(numbers: Counter[str], names: tuple[str, ...]) -> dict[str, int]:
    return {name: numbers[name] for name in names if numbers[name]}


def write_player(table: Table, player: Player) -> dict[str, Any]:
    recruits = []
    if table.chosen:  # R2.2: nobody learns anything of another's choice until all have chosen
        recruits += [{"name": recruit.name, "active": True, "star": recruit.star} for recruit in player.active]
        recruits += [{"name": recruit.name, "active": False, "star": recruit.star} for recruit in player.hidden]
    return {
        "knowledge": player.knowledge,
        "morale": player.morale,
        "stars": player.stars,
        "workers": sorted(player.available),
        "lost_worker": player.lost_worker,
        "goods": in_table_order(player.goods, GOODS),
        "artifacts": in_table_order(player.artifacts, ARTIFACTS),
        "recruits": recruits,
        "dilemma": {"artifact": player.dilemma, "resolved": player.resolved},
    }
