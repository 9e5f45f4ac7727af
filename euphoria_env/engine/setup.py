"""Setup and the drafts (R2, R17.1 to R17.3)."""

from __future__ import annotations

from euphoria_env.actions import CHOOSE_RECRUIT, CHOOSE_TILE, SET_KNOWLEDGE, SET_MORALE
from euphoria_env.board import ARTIFACTS, BIT, CARDS_PER_ARTIFACT, DEALT_RECRUITS, DEALT_TILES, NUM_MARKETS, STARS, TRACK_END
from euphoria_env.cards.recruits import NUM_RECRUITS
from euphoria_env.cards.tiles import NUM_TILES
from euphoria_env.decisions import Decision
from euphoria_env.engine.bits import index_from, lowest_bit
from euphoria_env.engine.chance import (
    MARKET_TILES,
    RECRUIT_CARDS,
    draw_card,
    draw_dilemma,
    draw_lot,
    random_member,
    roll_die,
)
from euphoria_env.engine.jit import jit
from euphoria_env.engine.placement_legality import update_open_spaces
from euphoria_env.engine.state import ABSENT, HELD, IN_BY, IN_DECK, ON_SITE, OUT_BY, PLAYING, Operation, ask_for, push, seat_after
from euphoria_env.engine.tape import TAPE_ERROR, loaded, log_cause, log_event
from euphoria_env.engine.turn import begin_turn, clear_pending
from euphoria_env.event_kinds import EventKind


@jit
def blank(g):
    """Prepares a row in which only rules and generator are set; deals nothing yet (R2.1, R2.5)."""
    clear_pending(g)
    g["winner"] = -1
    g["recruits"][:] = -1
    g["hand"][:] = -1
    g["kept"][:] = -1
    g["tile_hand"][:] = -1
    g["dilemma"][:] = -1
    g["tile"][:] = -1
    g["occupant"][:] = -1
    for kind in range(len(ARTIFACTS)):
        g["deck"][kind] = CARDS_PER_ARTIFACT
    for card in range(NUM_RECRUITS):
        g["recruit_place"][card] = ABSENT if (int(g["absent_recruits"]) >> card) & 1 else IN_DECK
    for tile in range(NUM_TILES):
        g["tile_place"][tile] = ABSENT if (int(g["absent_markets"]) >> tile) & 1 else IN_DECK
    for p in range(int(g["num_players"])):
        g["morale"][p] = 1
        g["knowledge"][p] = 3
        g["stars"][p] = STARS
        g["owned"][p] = 2
    update_open_spaces(g)


@jit
def begin_setup(g, tape):
    """Deals dilemmas and recruits, and asks for the first choice (R2.7)."""
    blank(g)
    for p in range(int(g["num_players"])):
        g["dilemma"][p] = draw_dilemma(g, tape)
        log_event(tape, EventKind.DILEMMA_DEALT, p, g["dilemma"][p], -1)
    for p in range(int(g["num_players"])):
        for k in range(DEALT_RECRUITS):
            deal_recruit(g, tape, p, k)
    push(g, Operation.LAY_TILES, 0, 0, 0)
    if g["market_draft"]:
        push(g, Operation.DEAL_TILES, 0, 0, 0)
    push(g, Operation.CHOOSE_RECRUITS, 0, 0, 0)
    if g["recruit_draft"]:
        push(g, Operation.DRAFT, 0, 0, 0)


@jit
def deal_recruit(g, tape, p, k):
    """Deals one recruit to a player's hand."""
    card = draw_card(g, tape, g["recruit_place"], RECRUIT_CARDS)
    g["hand"][p, k] = card
    g["recruit_place"][card] = HELD + p
    log_event(tape, EventKind.RECRUIT_DEALT, p, card, -1)


@jit
def take_from_hand(g, p, card):
    """Takes a recruit out of a hand."""
    k = 0
    while g["hand"][p, index_from(k, 0, DEALT_RECRUITS)] != card:
        k += 1
    for j in range(k, DEALT_RECRUITS - 1):
        g["hand"][p, j] = g["hand"][p, j + 1]
    g["hand"][p, DEALT_RECRUITS - 1] = -1


@jit
def draft(g, tape, p, round_):
    """Asks a player to keep a recruit of their pack; after all have chosen, passes the packs to the left (R17.1)."""
    n = int(g["num_players"])
    if p < n:
        push(g, Operation.DRAFTED, p, round_, 0)
        ask_for(g, Decision.RECRUIT, p)
        return
    for k in range(DEALT_RECRUITS):
        first = g["hand"][n - 1, k]
        for q in range(n - 1, 0, -1):
            g["hand"][q, k] = g["hand"][q - 1, k]
        g["hand"][0, k] = first
    if round_ + 1 < DEALT_RECRUITS:
        for q in range(n):
            for k in range(DEALT_RECRUITS):
                if g["hand"][q, k] >= 0:
                    g["recruit_place"][int(g["hand"][q, k])] = HELD + q
                    log_event(tape, EventKind.PASSED, q, g["hand"][q, k], -1)
        push(g, Operation.DRAFT, 0, round_ + 1, 0)
        return
    for q in range(n):
        for k in range(DEALT_RECRUITS):
            g["hand"][q, k] = g["kept"][q, k]
            g["kept"][q, k] = -1


@jit
def drafted(g, tape, p, round_):
    """Keeps the chosen recruit."""
    card = index_from(g["answer"], CHOOSE_RECRUIT, NUM_RECRUITS)
    take_from_hand(g, p, card)
    g["kept"][p, round_] = card
    log_event(tape, EventKind.DRAFTED, p, card, -1)
    push(g, Operation.DRAFT, p + 1, round_, 0)


@jit
def choose_recruits(g, tape, p, step):
    """Asks for the active recruit (step 0), then the hidden one; reveals the active ones when everybody has chosen (R2.2)."""
    n = int(g["num_players"])
    if p >= n:
        for q in range(n):
            g["num_active"][q] = 1
            g["active_cards"][q] = BIT[index_from(g["recruits"][q, 0], 0, NUM_RECRUITS)]
            log_event(tape, EventKind.RECRUIT_ACTIVE, q, g["recruits"][q, 0], -1)
        return
    push(g, Operation.RECRUIT_CHOSEN, p, step, 0)
    ask_for(g, Decision.RECRUIT, p)


@jit
def recruit_chosen(g, tape, p, step):
    """Keeps the chosen recruit; after the second choice the other two go out of the game."""
    card = index_from(g["answer"], CHOOSE_RECRUIT, NUM_RECRUITS)
    take_from_hand(g, p, card)
    g["recruits"][p, step] = card
    g["num_recruits"][p] = step + 1
    log_event(tape, EventKind.RECRUIT_KEPT, p, card, -1)
    if step == 0:
        push(g, Operation.CHOOSE_RECRUITS, p, 1, 0)
        return
    for k in range(2):
        log_event(tape, EventKind.RECRUIT_OUT, p, g["hand"][p, k], -1)
        g["recruit_place"][int(g["hand"][p, k])] = OUT_BY + p
        g["hand"][p, k] = -1
    push(g, Operation.CHOOSE_RECRUITS, p + 1, 0, 0)


@jit
def deal_tiles(g, tape, p):
    """Deals two market tiles to each player, then asks them one after another (R17.2)."""
    n = int(g["num_players"])
    if p == 0:
        for q in range(n):
            for k in range(DEALT_TILES):
                tile = draw_card(g, tape, g["tile_place"], MARKET_TILES)
                g["tile_hand"][q, k] = tile
                g["tile_place"][tile] = HELD + q
                log_event(tape, EventKind.TILE_DEALT, q, tile, -1)
    if p < n:
        push(g, Operation.TILE_CHOSEN, p, 0, 0)
        ask_for(g, Decision.TILE, p)
        return
    for _ in range(NUM_MARKETS - n):
        tile = draw_card(g, tape, g["tile_place"], MARKET_TILES)
        g["tile_place"][tile] = ON_SITE
        log_event(tape, EventKind.TILE_DEALT, -1, tile, -1)


@jit
def tile_chosen(g, tape, p):
    """Puts the chosen tile in the game, the other one out of it."""
    tile = index_from(g["answer"], CHOOSE_TILE, NUM_TILES)
    log_event(tape, EventKind.TILE_IN, p, tile, -1)  # first, or the order would show which tile was dealt first
    for k in range(DEALT_TILES):
        other = int(g["tile_hand"][p, k])
        g["tile_place"][other] = IN_BY + p if other == tile else OUT_BY + p
        if other != tile:
            log_event(tape, EventKind.TILE_OUT, p, other, -1)
        g["tile_hand"][p, k] = -1
    push(g, Operation.DEAL_TILES, p + 1, 0, 0)


@jit
def lay_drafted_tile(g, tape, laid):
    """Draws one of the six drafted tiles that are not yet laid."""
    left = 0
    for tile in range(NUM_TILES):
        left |= int(g["tile_place"][tile] >= ON_SITE) << tile
    left &= ~laid
    tile = loaded(tape, MARKET_TILES)
    if tile < 0:
        tile = random_member(g["rng"], left)
    elif not (left >> tile) & 1:
        tape[TAPE_ERROR] = MARKET_TILES + 1
    return tile


@jit
def lay_tiles(g, tape):
    """Lays the tiles of the six sites in order, rolls two workers for each player, and finds who starts (R2.3, R2.6)."""
    laid = 0
    for k in range(NUM_MARKETS):
        if g["market_draft"]:
            tile = lay_drafted_tile(g, tape, laid)
            laid |= 1 << tile
        else:
            tile = draw_card(g, tape, g["tile_place"], MARKET_TILES)
            g["tile_place"][tile] = ON_SITE
        g["tile"][k] = tile
        log_event(tape, EventKind.TILE_LAID, -1, tile, k)
    highest, tied = 0, 0
    for p in range(int(g["num_players"])):
        total = 0
        log_cause(tape, EventKind.ROLL, p, 2, -1)
        for _ in range(2):
            face = roll_die(g, tape)
            log_event(tape, EventKind.DIE, p, face, -1)
            g["available"][p, face - 1] += 1
            total += face
        if total > highest:
            highest, tied = total, 0
        if total == highest:
            tied |= 1 << p
    first = draw_lot(g, tape, tied) if tied & (tied - 1) else lowest_bit(tied)
    g["turn_player"] = first
    log_event(tape, EventKind.STARTS, first, -1, -1)
    if g["track_draft"]:
        for p in range(int(g["num_players"])):
            g["morale"][p] = 0
            g["knowledge"][p] = 0
            log_event(tape, EventKind.MORALE_SET, p, 0, -1)
            log_event(tape, EventKind.KNOWLEDGE_SET, p, 0, -1)
        push(g, Operation.TRACK, 0, 0, 0)
    else:
        begin_play(g, tape)


@jit
def begin_play(g, tape):
    """Begins the first turn."""
    g["status"] = PLAYING
    begin_turn(g, tape, int(g["turn_player"]))


@jit
def track(g, tape, step):
    """Asks the next player of the track draft to place a marker: once around the table, then back again (R17.3)."""
    n = int(g["num_players"])
    if step >= 2 * n:
        begin_play(g, tape)
        return
    push(g, Operation.TRACK_SET, step, 0, 0)
    ask_for(g, Decision.TRACK, seat_after(g, step if step < n else 2 * n - 1 - step))


@jit
def track_set(g, tape, step):
    """Puts the marker on the chosen space."""
    p, action = int(g["player"]), SET_MORALE + index_from(g["answer"], SET_MORALE, 2 * TRACK_END)
    if action >= SET_KNOWLEDGE:
        g["knowledge"][p] = action - SET_KNOWLEDGE + 1
        log_event(tape, EventKind.KNOWLEDGE_SET, p, g["knowledge"][p], -1)
    else:
        g["morale"][p] = action - SET_MORALE + 1
        log_event(tape, EventKind.MORALE_SET, p, g["morale"][p], -1)
    push(g, Operation.TRACK, step + 1, 0, 0)
