"""Chance: takes the next loaded outcome from the tape (`engine.tape`); if there is none, asks the generator in the row.

The generator is a multiply-with-carry of 64 bits (multiplier 698769069, Marsaglia's KISS99), kept in two integers so that it
runs the same in numba and in plain Python. The caller logs the outcome as an event.
"""

from __future__ import annotations

from euphoria_env.board import ARTIFACTS
from euphoria_env.engine.bits import count_bits, lowest_bit
from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import ABSENT, HELD, IN_DECK, ON_SITE, OUT_BY
from euphoria_env.engine.tape import KINDS, TAPE_ERROR, TAPE_VIEWER, loaded, log_event, waiting
from euphoria_env.event_kinds import EventKind

DICE, ARTIFACT_CARDS, RECRUIT_CARDS, MARKET_TILES, DILEMMAS, LOTS = range(len(KINDS))
ALL_DILEMMAS = (1 << len(ARTIFACTS)) - 1
_MULTIPLIER = 698769069
_LOW = 0xFFFFFFFF


@jit
def seed_rng(rng, a, b, c):
    """Seeds a generator (int64[2]) from three integers; equal ones give equal sequences on every machine."""
    x = 0x2545F491
    y = 0x1B873593
    for word in (a & _LOW, (a >> 32) & _LOW, b & _LOW, c & _LOW):
        x = (x ^ word) & _LOW
        for _ in range(2):
            x = ((x ^ (x >> 16)) * 0x7FEB352D) & _LOW
            x = ((x ^ (x >> 15)) * 0x46CA68B7) & _LOW
        y = (y * 0x2C1B3C6D + x) & _LOW
    rng[0] = x ^ (x >> 16)
    rng[1] = y % _MULTIPLIER + 1
    for _ in range(8):
        random_bits(rng)


@jit
def random_bits(rng):
    """Returns 32 random bits."""
    t = _MULTIPLIER * rng[0] + rng[1]
    rng[0] = t & _LOW
    rng[1] = t >> 32
    return (rng[0] ^ rng[1]) & _LOW


@jit
def random_below(rng, n):
    """Returns a random integer from 0 to n - 1."""
    return (random_bits(rng) * n) >> 32


@jit
def random_member(rng, members):
    """Returns a random member of a set of bits.

    Raises:
        ValueError: the set is empty.
    """
    if members == 0:
        raise ValueError("no card is left to deal")
    for _ in range(random_below(rng, count_bits(members))):
        members &= members - 1
    return lowest_bit(members)


@jit
def roll_die(g, tape):
    """Rolls a die: returns a face, 1 to 6."""
    face = loaded(tape, DICE)
    if face < 0:
        face = 1 + random_below(g["rng"], 6)
    return face


@jit
def draw_lot(g, tape, players):
    """Draws a lot: returns one of a set of players."""
    player = loaded(tape, LOTS)
    if player < 0:
        player = random_member(g["rng"], players)
    elif not (players >> player) & 1:
        tape[TAPE_ERROR] = LOTS + 1
    log_event(tape, EventKind.LOT, -1, player, -1)
    return player


@jit
def draw_dilemma(g, tape):
    """Draws a dilemma: returns an artifact type whose dilemma nobody has."""
    left = ALL_DILEMMAS
    for p in range(int(g["num_players"])):
        if g["dilemma"][p] >= 0:
            left &= ~(1 << int(g["dilemma"][p]))
    kind = loaded(tape, DILEMMAS)
    if kind < 0:
        kind = random_member(g["rng"], left)
    elif not (left >> kind) & 1:
        tape[TAPE_ERROR] = DILEMMAS + 1
    return kind


@jit
def draw_artifact(g, tape):
    """Draws a card; the discards form a new deck if it is empty (R5.7). Returns the type of the card, or -1 if there is none."""
    deck = g["deck"]
    n = 0
    for k in range(len(deck)):
        n += deck[k]
    if n == 0:
        for k in range(len(deck)):
            n += g["discards"][k]
            deck[k] = g["discards"][k]
            g["discards"][k] = 0
        if n == 0:
            return -1
        log_event(tape, EventKind.SHUFFLED, -1, -1, -1)
        if tape[TAPE_VIEWER]:
            tape[TAPE_VIEWER] = 0  # the new deck is known
    kind = loaded(tape, ARTIFACT_CARDS)
    if kind < 0 or (deck[kind] == 0 and not swap_in(g, tape, kind)):
        if kind >= 0:
            tape[TAPE_ERROR] = ARTIFACT_CARDS + 1
        kind = nth_card(deck, random_below(g["rng"], n))
    deck[kind] -= 1
    return kind


@jit
def swap_in(g, tape, kind):
    """Swaps a card of a hand that the viewer of the tape cannot see with the deck's first card; returns whether there was one."""
    for q in range(int(g["num_players"])):
        if tape[TAPE_VIEWER] and q != tape[TAPE_VIEWER] - 1 and g["artifacts"][q, kind]:
            other = nth_card(g["deck"], 0)
            g["artifacts"][q, kind] -= 1
            g["artifacts"][q, other] += 1
            g["deck"][other] -= 1
            g["deck"][kind] += 1
            return True
    return False


@jit
def nth_card(counts, n):
    """Returns the type of the n-th card of a pile kept as counts; the last type if there are fewer cards."""
    kind = 0
    while kind < len(counts) - 1 and n >= counts[kind]:
        n -= counts[kind]
        kind += 1
    return kind


@jit
def draw_card(g, tape, places, kind):
    """Draws a recruit or a tile from its deck, and returns its number; -1 if the deck is empty.

    A loaded card that is out of the game changes places with the first card of the deck.
    """
    deck = 0
    for card in range(len(places)):
        deck |= int(places[card] == IN_DECK) << card
    if deck == 0:
        return -1
    card = loaded(tape, kind)
    if card < 0:
        card = random_member(g["rng"], deck & ~waiting(tape, kind) or deck)
    elif places[card] != IN_DECK:
        if places[card] == ABSENT or HELD <= places[card] < OUT_BY or places[card] >= ON_SITE:
            tape[TAPE_ERROR] = kind + 1
        places[lowest_bit(deck)] = places[card]
        places[card] = IN_DECK
    return card
