"""Determinization: deals what one player cannot know again at random, in agreement with all that this player sees (R19)."""

from __future__ import annotations

import numpy as np

from euphoria_env.board import ARTIFACT_SET, ARTIFACTS, DEALT_RECRUITS, DEALT_TILES, FIRST_ARTIFACT, NUM_MARKETS
from euphoria_env.cards.recruits import FACTION_OF, NUM_RECRUITS
from euphoria_env.cards.tiles import NUM_TILES
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.bits import count_bits, index_from, lowest_bit
from euphoria_env.engine.chance import ALL_DILEMMAS, nth_card, random_below, random_member, seed_rng
from euphoria_env.engine.costs import holdings, payable
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.legal_moves import find_legal
from euphoria_env.engine.move_set import SEVERAL
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.state import ABSENT, HELD, IN_BY, IN_DECK, ON_SITE, OUT, OUT_BY, OVER, ROWS, SETUP, Operation

_FREE = 30  # the place of a card that was taken from a player or site and will be dealt again
_TRIES = 100_000


@entry(ROWS, "int64 int64 int64")
def deal_hidden(games, i, player, seed):
    """Deals again what a player of game i cannot know, and reseeds the generator."""
    check(games, i)
    deal_hidden_row(games[i], player, seed)


@jit
def deal_hidden_row(g, player, seed):
    """Deals again what a player cannot know in the game of a row, and reseeds its generator."""
    seed_rng(g["rng"], seed, 1, player)
    deal_recruits(g, player)
    deal_hidden_tiles(g, player)
    # The observer knows that another player who is asked has a choice, and that one who is about to pay can pay. The new cards
    # must agree with that.
    asks_other = g["ask"] != Decision.NOTHING and g["ask"] != Decision.OPEN and g["player"] != player
    payer = placing_player(g)
    if payer == player or (payer >= 0 and not can_pay(g, payer)):
        payer = -1
    if not asks_other and payer < 0:
        deal_cards(g, player)
        if g["ask"] != Decision.NOTHING:
            find_legal(g)
        return
    hands, deck, dilemmas, terms = g["artifacts"].copy(), g["deck"].copy(), g["dilemma"].copy(), int(g["set_a"])
    for _ in range(_TRIES):
        if deal_cards(g, player) and (payer < 0 or can_pay(g, payer)) and (not asks_other or has_choice(g)):
            find_legal(g)
            return
    # No deal was found that agrees with what the player sees, so the real cards stay.
    g["artifacts"][:] = hands
    g["deck"][:] = deck
    g["dilemma"][:] = dilemmas
    g["set_a"] = terms
    find_legal(g)


@jit
def placing_player(g):
    """Returns the player who placed a worker and has not yet paid for its space, or -1."""
    for k in range(int(g["depth"])):
        if g["stack"][k, 0] == Operation.PAY:
            return int(g["stack"][k, 1])
    return -1


@jit
def can_pay(g, p):
    """Returns whether player p can pay now for the space where their worker stands (R4.3)."""
    bumped_other = g["bumped"] >= 0 and g["bumped"] != p
    return payable(g, p, int(g["space"]), bumped_other, int(g["due_morale"]), holdings(g, p))


@jit
def has_choice(g):
    """Returns whether the decision that is asked has at least two legal moves."""
    return find_legal(g) == SEVERAL


@jit
def deal_cards(g, player):
    """Deals the other players' artifacts and dilemmas; returns False if the decision that is asked is impossible with them."""
    deal_dilemmas(g, player)
    deck = g["deck"]
    n = 0
    for q in range(int(g["num_players"])):
        if q != player:
            for kind in range(len(ARTIFACTS)):
                shown = shown_cards(g, q, kind)
                deck[kind] += g["artifacts"][q, kind] - shown
                g["artifacts"][q, kind] = shown
    for kind in range(len(ARTIFACTS)):
        n += int(deck[kind])
    for q in range(int(g["num_players"])):
        if q != player:
            held = 0
            for kind in range(len(ARTIFACTS)):
                held += int(g["artifacts"][q, kind])
            for _ in range(int(g["hand_size"][q]) - held):
                kind = nth_card(deck, random_below(g["rng"], n))
                deck[kind] -= 1
                g["artifacts"][q, kind] += 1
                n -= 1
    return choose_future(g, player)


@jit
def shown_cards(g, p, kind):
    """Returns how many cards of a type a player surely holds: those that they pay, discard or offer, or that are asked for."""
    item = FIRST_ARTIFACT + kind
    asked = int(g["ask"])
    if asked == Decision.SERIES and g["player"] == p and (g["verb"] == Verb.PAY or g["verb"] == Verb.DISCARD):
        return int(g["chosen"][item])
    if (asked == Decision.TRADE or asked == Decision.REPLY) and g["turn_player"] == p:
        return int(g["chosen"][item])
    if asked == Decision.REPLY and g["player"] == p:
        return int(g["asked"][item])
    return 0


@jit
def choose_future(g, player):
    """Chooses the two cards drawn with Bradley, if another player must discard one (R5.7); returns False if they are equal."""
    p = int(g["player"])
    if g["ask"] != Decision.SERIES or g["verb"] != Verb.DISCARD or g["set_a"] == ARTIFACT_SET or p == player:
        return True
    hand = g["artifacts"][p]
    n = int(g["hand_size"][p])
    first = nth_card(hand, random_below(g["rng"], n))
    hand[first] -= 1
    second = nth_card(hand, random_below(g["rng"], n - 1))
    hand[first] += 1
    g["set_a"] = (1 << (FIRST_ARTIFACT + first)) | (1 << (FIRST_ARTIFACT + second))
    return first != second


@jit
def deal_dilemmas(g, player):
    """Deals the unresolved dilemmas of the other players; all six cards differ."""
    left = ALL_DILEMMAS
    for q in range(int(g["num_players"])):
        if q == player or g["resolved"][q]:
            left &= ~(1 << int(g["dilemma"][q]))
    for q in range(int(g["num_players"])):
        if q != player and not g["resolved"][q]:
            g["dilemma"][q] = random_member(g["rng"], left)
            left &= ~(1 << int(g["dilemma"][q]))


@jit
def unknown_cards(places, player):
    """Returns the cards whose place a player does not know, as a set."""
    cards = 0
    for card in range(len(places)):
        place = int(places[card])
        unknown = place == IN_DECK or place == OUT or place == _FREE or (OUT_BY <= place < ON_SITE and place != OUT_BY + player)
        cards |= int(unknown) << card
    return cards


@jit
def forget_places(places, cards):
    """Sorts the places of a set of cards, so that the deal does not depend on where they really are."""
    numbers = np.zeros(_FREE + 1, np.int64)
    left = cards
    while left:
        numbers[places[lowest_bit(left)]] += 1
        left &= left - 1
    place = 0
    while cards:
        while not numbers[place]:
            place += 1
        places[lowest_bit(cards)] = place
        numbers[place] -= 1
        cards &= cards - 1


@jit
def shuffle_places(g, places, cards):
    """Shuffles the places of a set of cards."""
    n = count_bits(cards)
    order = np.empty(n, np.int64)
    for k in range(n):
        order[k] = lowest_bit(cards)
        cards &= cards - 1
    for k in range(n):
        a, b = order[k], order[k + random_below(g["rng"], n - k)]
        places[a], places[b] = places[b], places[a]


@jit
def deal_recruits(g, player):
    """Deals the other players' hidden recruits and hands, the deck and what is out of the game."""
    places = g["recruit_place"]
    n = int(g["num_players"])
    for q in range(n):
        if q != player:
            for k in range(int(g["num_active"][q]), int(g["num_recruits"][q])):
                places[int(g["recruits"][q, k])] = _FREE
            for k in range(DEALT_RECRUITS):
                if g["hand"][q, k] >= 0:
                    places[int(g["hand"][q, k])] = _FREE
                if g["kept"][q, k] >= 0:
                    places[int(g["kept"][q, k])] = _FREE
    unknown = unknown_cards(places, player)
    forget_places(places, unknown)
    concealed = 0
    revealed = int(g["revealed"]) if g["status"] < OVER else 0  # at the end, their recruits may still be hidden (R4.7, R4.9)
    for card in range(NUM_RECRUITS):
        concealed |= (1 - ((revealed >> int(FACTION_OF[card])) & 1)) << card
    for q in range(n):
        if q != player:
            for k in range(int(g["num_active"][q]), int(g["num_recruits"][q])):
                card = deal_one(g, places, HELD + q, unknown & concealed)
                g["recruits"][q, k] = card
                unknown &= ~(1 << card)
    for q in range(n):
        if q != player:
            for k in range(DEALT_RECRUITS):
                if g["hand"][q, k] >= 0:
                    card = deal_one(g, places, HELD + q, unknown)
                    g["hand"][q, k] = card
                    unknown &= ~(1 << card)
                if g["kept"][q, k] >= 0:
                    card = deal_one(g, places, HELD + q, unknown)
                    g["kept"][q, k] = card
                    unknown &= ~(1 << card)
    shuffle_places(g, places, unknown)


@jit
def deal_one(g, places, place, cards):
    """Deals a random one of a set of cards to a place; a card marked `_FREE` gets the place that the dealt card leaves."""
    card = random_member(g["rng"], cards)
    if places[card] != _FREE:
        free = 0
        while places[index_from(free, 0, len(places))] != _FREE:
            free += 1
        places[free] = places[card]
    places[card] = place
    return card


@jit
def deal_hidden_tiles(g, player):
    """Deals the tiles that are not shown: on the sites, in the box, in the hands of the draft (R2.3, R17.2)."""
    places = g["tile_place"]
    if g["status"] == SETUP and g["tile"][0] < 0:
        deal_drafted_tiles(g, player)
        return
    own = site_of_own_tile(g, player)
    keep_own_tile(g, own, 0)
    # Only the player who put a tile in the game knows which it is, so the owners' marks are dealt independently of the tiles.
    marks = places[g["tile"]]
    forget_marks(marks, IN_BY + player)
    for k in range(NUM_MARKETS):
        if not g["built"][k] and marks[k] != IN_BY + player:
            places[int(g["tile"][k])] = _FREE
    unknown = unknown_cards(places, player)
    forget_places(places, unknown)
    for k in range(NUM_MARKETS):
        if not g["built"][k] and marks[k] != IN_BY + player:
            card = deal_one(g, places, ON_SITE, unknown)
            g["tile"][k] = card
            unknown &= ~(1 << card)
    shuffle_places(g, places, unknown)
    for k in range(NUM_MARKETS):
        if marks[k] != IN_BY + player:
            other = k + random_below(g["rng"], NUM_MARKETS - k)
            while marks[other] == IN_BY + player:
                other = k + random_below(g["rng"], NUM_MARKETS - k)
            marks[k], marks[other] = marks[other], marks[k]
        places[int(g["tile"][k])] = marks[k]
    own = site_of_own_tile(g, player)
    if own >= 0:  # not even its owner knows on which site it lies
        keep_own_tile(g, own, random_below(g["rng"], NUM_MARKETS - int(g["built"].sum())))


@jit
def site_of_own_tile(g, player):
    """Returns the site with the tile that the observer put in the game; -1 if there is none, or it is built."""
    for k in range(NUM_MARKETS):
        if not g["built"][k] and g["tile_place"][int(g["tile"][k])] == IN_BY + player:
            return k
    return -1


@jit
def keep_own_tile(g, own, n):
    """Swaps the tile of site `own`, if there is one, with that of the n-th site that is not built."""
    if own < 0:
        return
    k = 0
    while n > 0 or g["built"][k]:
        n -= 1 - int(g["built"][k])
        k += 1
    g["tile"][own], g["tile"][k] = g["tile"][k], g["tile"][own]


@jit
def forget_marks(marks, own):
    """Sorts the marks of the tiles; the observer's own mark stays where it is."""
    for k in range(NUM_MARKETS):
        for other in range(k + 1, NUM_MARKETS):
            if marks[k] != own and marks[other] != own and marks[other] < marks[k]:
                marks[k], marks[other] = marks[other], marks[k]


@jit
def deal_drafted_tiles(g, player):
    """Deals the tiles of a draft under way again, except those that the observer knows."""
    places = g["tile_place"]
    hidden = 0
    for tile in range(NUM_TILES):
        own = places[tile] == HELD + player or places[tile] == OUT_BY + player or places[tile] == IN_BY + player
        hidden |= int(not own and places[tile] != ABSENT) << tile
    forget_places(places, hidden)
    shuffle_places(g, places, hidden)
    for q in range(int(g["num_players"])):
        if q != player:
            k = 0
            for tile in range(NUM_TILES):
                if places[tile] == HELD + q:
                    g["tile_hand"][q, index_from(k, 0, DEALT_TILES)] = tile
                    k += 1


assert np.iinfo(np.int8).max > _FREE > IN_BY + 6
