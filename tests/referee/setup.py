"""Chapter 2 and the drafts of chapter 17: the setup, in the order of R2.7."""

from __future__ import annotations

from .asking import Chance, Decision, Flow
from .dilemma import draw_recruit
from .rolling import roll_die
from .state import Player, Recruit, Table
from .tables import ARTIFACTS, FACES, MARKETS
from .turns import begin_turn


def set_up(table: Table) -> Flow[None]:
    yield from deal_dilemmas(table)
    yield from recruits(table)
    yield from markets(table)
    first = yield from roll_for_start(table)
    if table.rules.track_draft:
        yield from track_draft(table, first)
    begin_turn(table, first)


def deal_dilemmas(table: Table) -> Flow[None]:
    """R2.1: one of six different cards each."""
    cards = list(ARTIFACTS)
    for player in table.players:
        card: str = yield Chance("dilemmas", tuple(cards))
        cards.remove(card)
        player.dilemma = card


def choose(player: Player, cards: list[str]) -> Flow[str]:
    """The player chooses a card, which is taken out of `cards`."""
    card: str = yield Decision(player.seat, {f"choose {card}": card for card in cards})
    cards.remove(card)
    return card


def recruits(table: Table) -> Flow[None]:
    """R2.2: 4 recruits each, one as active, one as hidden, the other two out of the game."""
    hands: list[list[str]] = []
    for _ in table.players:
        hand = []
        for _ in range(4):
            hand.append((yield from draw_recruit(table)))
        hands.append(hand)
    if table.rules.recruit_draft:
        hands = yield from recruit_draft(table, hands)
    for player, hand in zip(table.players, hands, strict=True):
        player.active = [Recruit((yield from choose(player, hand)))]
        player.hidden = [Recruit((yield from choose(player, hand)))]
        table.recruits_out.update(dict.fromkeys(hand, player.seat))
    table.chosen = True


def recruit_draft(table: Table, hands: list[list[str]]) -> Flow[list[list[str]]]:
    """R17.1: keep 1, pass the rest to the left (the next seat), until none is left."""
    kept: list[list[str]] = [[] for _ in table.players]
    for _ in range(4):
        for player in table.players:
            kept[player.seat].append((yield from choose(player, hands[player.seat])))
        hands = hands[-1:] + hands[:-1]
    return kept


def draw_tile(tiles: list[str], out: list[str]) -> Flow[str]:
    """One of the tiles. A loaded one that is out of the game changes places with one of these."""
    tile: str = yield Chance("markets", tuple(tiles), also=tuple(out))
    if tile in out:
        out.remove(tile)
        out.append(tiles.pop())
    else:
        tiles.remove(tile)
    return tile


def markets(table: Table) -> Flow[None]:
    """R2.3, of the tiles in the game (R17.6); R17.2: first the players make the six."""
    tiles: list[str] = list(table.rules.tiles_in_game)
    out: list[str] = []
    if table.rules.market_draft:
        tiles, out = yield from market_draft(table, tiles)
    for space in MARKETS:
        table.markets[space].tile = yield from draw_tile(tiles, out)


def market_draft(table: Table, undealt: list[str]) -> Flow[tuple[list[str], list[str]]]:
    """R17.2: each player gets 2 tiles, puts 1 in the game; the missing ones up to 6 come from the undealt tiles. Returns
    the six, and those that are out of the game."""
    hands = []
    for _ in table.players:
        first = yield from draw_tile(undealt, [])
        second = yield from draw_tile(undealt, [])
        hands.append([first, second])
    six = []
    out = []
    for player, hand in zip(table.players, hands, strict=True):
        six.append((yield from choose(player, hand)))
        out += hand
    while len(six) < len(MARKETS):
        six.append((yield from draw_tile(undealt, out)))
    return six, out + undealt


def roll_for_start(table: Table) -> Flow[int]:
    """R2.6: both workers; no knowledge check, no penalty. The highest sum starts, a tie is broken at random."""
    for player in table.players:
        for _ in range(2):
            player.available.append((yield from roll_die()))
    highest = max(sum(player.available) for player in table.players)
    tied = [player.seat for player in table.players if sum(player.available) == highest]
    if len(tied) > 1:
        lot: int = yield Chance("lots", tuple(tied))
        return lot
    return tied[0]


def track_draft(table: Table, first: int) -> Flow[None]:
    """R17.3: in turn order each puts one of two markers on an empty space of its track, the last player both, morale
    first; then, backwards, all the others their second one."""
    free = {"morale": list(FACES), "knowledge": list(FACES)}
    n = len(table.players)
    order = [table.players[(first + k) % n] for k in range(n)]
    missing = {player.seat: ["morale", "knowledge"] for player in order}

    def put(player: Player, allowed: list[str]) -> Flow[None]:
        options = {f"{track} {step}": (track, step) for track in allowed for step in free[track]}
        track, step = yield Decision(player.seat, options)
        if track == "morale":
            player.morale = step
        else:
            player.knowledge = step
        free[track].remove(step)
        missing[player.seat].remove(track)

    for player in order[:-1]:
        yield from put(player, missing[player.seat])
    yield from put(order[-1], ["morale"])
    for player in reversed(order):
        yield from put(player, missing[player.seat])
