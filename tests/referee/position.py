"""Readable positions (`docs/positions.md`): a position in, a position out."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from .state import Market, Player, Recruit, Rules, Table, Worker
from .tables import ARTIFACTS, CARDS_OF_EACH_ARTIFACT, GOODS, MAX_WORKERS, STARS


def without_zeros(numbers: dict[str, int]) -> Counter[str]:
    return Counter({name: number for name, number in numbers.items() if number})


def read(position: dict[str, Any], seed: int | None) -> Table:
    """A table from a position, possibly a partial one: what is left out has the value it has right after setup.

    What is left out and random there (workers, tiles, dilemmas) is filled in from a generator of its own, never from
    loaded outcomes.
    """
    filler = random.Random(seed if seed is not None else 0)
    rules = Rules.from_dict(position.get("rules", {}))
    entries = list(position.get("players", []))
    entries += [{}] * (rules.num_players - len(entries))
    table = Table(rules, [read_player(seat, entry) for seat, entry in enumerate(entries)])
    table.active_player = position.get("player", 0)
    table.turn = position.get("turn", 1)
    table.chosen = True
    for space, workers in position.get("workers", {}).items():
        table.board[space] = [Worker(owner, face) for owner, face in workers]
    table.allegiance |= position.get("allegiance", {})
    table.miners |= position.get("miners", {})
    for space, tile in position.get("markets", {}).items():
        table.markets[space] = Market(tile.get("tile"), tile.get("built", False), list(tile.get("stars", [])))
    for territory, owners in position.get("territories", {}).items():
        table.territories[territory] = list(owners)
    table.discards = without_zeros(position.get("discards", {}))
    fill_in(table, position, entries, filler)
    return table


def read_player(seat: int, entry: dict[str, Any]) -> Player:
    player = Player(seat)
    player.knowledge = entry.get("knowledge", 3)
    player.morale = entry.get("morale", 1)
    player.available = list(entry.get("workers", []))
    player.lost_worker = entry.get("lost_worker", False)
    player.goods = without_zeros(entry.get("goods", {}))
    player.artifacts = without_zeros(entry.get("artifacts", {}))
    for recruit in entry.get("recruits", []):
        pile = player.active if recruit["active"] else player.hidden
        pile.append(Recruit(recruit["name"], recruit.get("star", False)))
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
        player.stars = STARS - stars_shown(table, player)
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
        table.deck[artifact] = CARDS_OF_EACH_ARTIFACT - elsewhere
    held = [recruit.name for player in table.players for recruit in player.active + player.hidden]
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
