"""The pending part of a turn as JSON: each value is checked before compiled code sees it.

It belongs to exactly the position it was written with, which a hash verifies. The hash guards against mistakes, not against
malice; so every number must be in its range too, every operation of the stack must be one that the engine could have put
there, and what is asked must have two answers or more (R18.1).
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np

from euphoria_env.board import (
    DEALT_RECRUITS,
    DEALT_TILES,
    FIRST_MARKET,
    FIRST_SLOT,
    FIRST_TUNNEL,
    GOODS,
    KNOWLEDGE_ITEM,
    NUM_AREAS,
    NUM_ARTIFACT_CARDS,
    TRACK_END,
    TUNNELS,
)
from euphoria_env.cards.recruits import ROW_AT, ROW_PROGRAM, ROW_TRIGGER
from euphoria_env.cards.spaces import SPACE_PROGRAM
from euphoria_env.cards.vocabulary import Effect, Trigger
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.move_set import count_legal
from euphoria_env.engine.retrieval import on_board
from euphoria_env.engine.state import (
    GAME_DTYPE,
    HELD,
    IN_DECK,
    OPERATIONS,
    PENDING,
    SETUP,
    Operation,
)
from euphoria_env.json_reader import Json, Reader

_TAKERS = {op for op, row in OPERATIONS.items() if row.answers}
_PAYS = {Operation.PAID, Operation.DILEMMA_PAID, Operation.BLISS_PAID}  # take the answer to a series that pays
_OF_SETUP = tuple(op for op in Operation if op >= Operation.DRAFT)
# The steps that cards and spaces consist of, beside draws of any number.
_STEPS = {tuple(step) for programs in (ROW_PROGRAM, SPACE_PROGRAM) for step in programs.reshape(-1, 3).tolist() if step[0] >= 0}
_IN_TUNNEL = (Effect.MINER, Effect.TUNNEL_RESOURCE, Effect.TUNNEL_CHOICE)
_IN_AREA = (Effect.AREA, Effect.OTHERS_THERE)
_OF_BUMP = (Trigger.BUMPED, Trigger.BUMPING)


def row_digest(row: np.void) -> str:
    """A hash of a row, the same on every machine; the legal moves, which follow from the rest, do not count."""
    bare = np.zeros(1, GAME_DTYPE)
    bare[0] = row
    bare["legal"] = 0
    return hashlib.blake2b(portable_bytes(bare[0]), digest_size=16).hexdigest()


def portable_bytes(row: np.void) -> bytes:
    """The bytes of a row in little-endian order, without the observed options, which repeat others."""
    whole = row.tobytes() if sys.byteorder == "little" else np.array(row).byteswap().tobytes()
    return whole[: -GAME_DTYPE["shown_rules"].itemsize]


def to_dict(row: np.void) -> Json:
    """The pending part of a row."""
    return {field.name: row[field.name].tolist() for field in PENDING} | {"check": row_digest(row)}


def read(row: np.void, reader: Reader, value: object) -> None:
    """Fills in what is pending; the rest of the row is there already.

    Raises:
        ValueError: something is missing, out of its range, impossible, or of another position.
    """
    pending = reader.mapping("pending", value, (*(field.name for field in PENDING), "check"))
    for name, _, shape, low, high in PENDING:
        key = f"pending.{name}"
        if name not in pending:
            reader.fail(key, "is missing")
        highest = high(reader.n) if callable(high) else high
        row[name] = np.array(reader.integers(key, pending[name], shape, low, highest)).reshape(shape)
    _hold_cards(row, reader)
    _check_stack(row, reader)
    _check_workers(row, reader)
    _check_question(row, reader)
    _check_chosen(row, reader)
    _check_hands(row, reader)
    if row["status"] == SETUP:
        _check_setup(row, reader)
    if row_digest(row) != pending.get("check"):
        reader.fail("pending", "does not belong to this position; leave it out to begin the turn of `player`")


def check_answers(row: np.void) -> None:
    """Refuses a decision without a choice, once the legal moves are found.

    Raises:
        ValueError: there are less than two.
    """
    if row["ask"] != Decision.NOTHING and count_legal(row["legal"]) < 2:
        Reader.fail("pending", "what is asked must have two answers or more (R18.1)")


def _hold_cards(row: np.void, reader: Reader) -> None:
    """The cards in hands of the setup, the draft or the dilemma are held, each by one player."""
    for name, places in (("hand", "recruit_place"), ("kept", "recruit_place"), ("tile_hand", "tile_place")):
        for p, cards in enumerate(row[name].tolist()):
            for card in cards:
                if card >= 0:
                    if p >= reader.n or row[places][card] != IN_DECK:
                        reader.fail(f"pending.{name}", "a card is in two places")
                    row[places][card] = HELD + p


def _check_stack(row: np.void, reader: Reader) -> None:
    """Each operation must be one of the engine's, with arguments that it can have here."""
    n, space, depth = reader.n, int(row["space"]), int(row["depth"])
    if row["stack"][depth:].any():
        reader.fail("pending.stack", f"has more than {depth} operations")
    for k, (op, p, a, b) in enumerate(row["stack"][:depth].tolist()):
        key, most = f"pending.stack[{k}]", n - 1
        if op not in OPERATIONS and not 0 <= op < len(Effect):
            reader.fail(key, f"{[op, p, a, b]} is no operation that can be pending here")
        if 0 <= op < len(Effect):
            good = (op, a, b) in _STEPS or (op == Effect.DRAW and 0 <= a <= NUM_ARTIFACT_CARDS and b == 0)
            good &= op not in _IN_TUNNEL or FIRST_TUNNEL <= space < FIRST_TUNNEL + len(TUNNELS)
            good &= (op not in _IN_AREA or space < NUM_AREAS) and (op != Effect.SACRIFICE_PLACED or space >= NUM_AREAS)
            good &= op != Effect.BUMPED_KNOWLEDGE or row["bumped"] >= 0
        else:
            (low_a, high_a), (low_b, high_b), _, rounds = OPERATIONS[Operation(op)]
            most = rounds * n or most
            good = low_a <= a <= high_a and low_b <= b <= high_b and (op in _OF_SETUP) == (row["status"] == SETUP)
            good &= op != Operation.CONSTRUCT or FIRST_SLOT <= space < FIRST_MARKET
            if op == Operation.TRIGGER:
                good &= a not in _OF_BUMP or row["bumped"] >= 0
            elif op == Operation.ABILITY_ANSWERED:
                good &= ROW_TRIGGER[a] not in _OF_BUMP or row["bumped"] >= 0
                good &= ROW_TRIGGER[a] not in (Trigger.PLACED, Trigger.BUMPED) or bool(int(ROW_AT[a]) >> space & 1)
        if not good or not 0 <= p <= most or (op in (Operation.DRAW_ANSWERED,) and b >= row["num_active"][p]):
            reader.fail(key, f"{[op, p, a, b]} is no operation that can be pending here")


def _check_workers(row: np.void, reader: Reader) -> None:
    """Workers being retrieved stand on the board; those to be rolled again lie with their owners."""
    taken, n = row["taken"].tolist(), int(row["num_taken"])
    player = int(row["turn_player"])
    if min(taken[:n], default=0) < 0 or any(worker >= 0 for worker in taken[n:]):
        reader.must("pending.taken", f"be {n} workers, then -1")
    if any(on_board(row, player, worker) < taken.count(worker) for worker in taken[:n]):
        reader.fail("pending.taken", f"player {player} has no such workers on the board")
    back = list(zip(row["back_owner"].tolist(), row["back_face"].tolist(), strict=True))
    for owner, face in back:
        if (owner < 0) != (face == 0) or (owner >= 0 and row["available"][owner, face - 1] < back.count((owner, face))):
            reader.must("pending.back_owner", "name available workers, each with its face")


def _check_question(row: np.void, reader: Reader) -> None:
    """The question must fit the state of the game."""
    asked, p = int(row["ask"]), int(row["player"])
    if row["depth"] == 0:
        reader.fail("pending.depth", "something must follow the answer")
    top = row["stack"][int(row["depth"]) - 1].tolist()
    paying = asked == Decision.SERIES and row["verb"] == Verb.PAY
    takers = _PAYS if paying else {op for op in _TAKERS if asked in OPERATIONS[op].answers}
    fits = top[0] in takers if takers else top[0] not in _TAKERS | _PAYS
    of_another = bool(takers) and not paying and asked not in (Decision.TRACK, Decision.REPLY) and top[1] != p
    if not fits or of_another or (asked == Decision.REPLY and row["partner"] != p):
        reader.fail("pending.ask", "is not what the operation on top of the stack takes the answer to")
    if asked == Decision.FURTHER and (row["placed_face"] == 0 or row["available"][p, int(row["placed_face"]) - 1] == 0):
        reader.must("pending.placed_face", "be the face of an available worker")
    if asked in (Decision.TRADE, Decision.REPLY) and (row["partner"] < 0 or row["partner"] == row["turn_player"]):
        reader.must("pending.partner", "be another player")


def _check_chosen(row: np.void, reader: Reader) -> None:
    """Goods chosen to be paid, lost or traded must exist; those asked of a partner may be missing (R15.2, R18.2)."""
    trading, series = row["ask"] in (Decision.TRADE, Decision.REPLY), row["ask"] == Decision.SERIES
    if (row["chosen"].any() and not trading and not series) or (row["asked"].any() and not trading):
        reader.fail("pending.chosen" if row["chosen"].any() else "pending.asked", "nothing is being chosen")
    if trading or (series and row["verb"] not in (Verb.GAIN, Verb.MINE)):
        p = int(row["turn_player"] if trading else row["player"])
        held = [*row["goods"][p], *row["artifacts"][p], 0 if trading else TRACK_END - row["knowledge"][p]]
        if (row["chosen"] > held).any():
            reader.fail("pending.chosen", f"is more than player {p} has")
    if trading:
        partner = int(row["partner"])
        goods, cards = row["asked"][: len(GOODS)], row["asked"][len(GOODS) : KNOWLEDGE_ITEM]
        good = (
            (goods <= row["goods"][partner]).all()
            and cards.sum() <= row["hand_size"][partner]
            and row["asked"][KNOWLEDGE_ITEM] == 0
        )
        if not good or (row["ask"] == Decision.REPLY and (cards > row["artifacts"][partner]).any()):
            reader.fail("pending.asked", f"is more than player {partner} has")


def _check_hands(row: np.void, reader: Reader) -> None:
    """Everybody has as many cards in hand as there must be while one after the other chooses (R2.2, R14.1, R17.1, R17.2)."""
    op, p, a, _ = row["stack"][int(row["depth"]) - 1].tolist()
    first, others = np.arange(reader.n) < p, np.arange(reader.n) == p
    hand = kept = tiles = np.zeros(reader.n, np.int64)
    if op == Operation.DRAFTED:
        hand, kept = DEALT_RECRUITS - a - first, a + first
    elif op == Operation.RECRUIT_CHOSEN:
        hand = np.where(first, 0, DEALT_RECRUITS - a * others)
    elif op == Operation.RECRUIT_KEPT:
        hand = 2 * others
    elif op == Operation.TILE_CHOSEN:
        tiles = np.where(first, 0, DEALT_TILES)
    for name, expected in (("hand", hand), ("kept", kept), ("tile_hand", tiles)):
        held = row[name][: reader.n] >= 0
        packed = np.arange(held.shape[1]) < expected[:, None]
        if not np.array_equal(held, packed):
            reader.must(f"pending.{name}", f"hold {expected.tolist()} cards, in this order of the players")


def _check_setup(row: np.void, reader: Reader) -> None:
    """The operations of the setup lie in their order, and those of a draft are there only if the rules have it."""
    operations = row["stack"][: int(row["depth"]), 0].tolist()
    rolled = 2 if operations[-1] == Operation.TRACK_SET else 0
    if row["area"].any() or (row["occupant"] >= 0).any():
        reader.fail("workers", "nobody has placed any in the setup")
    if (row["available"][: reader.n].sum(axis=1) != rolled).any():
        reader.fail("players", f"everybody has {rolled} workers at this time of the setup")
    drafts = {Operation.DRAFT: "recruit_draft", Operation.DRAFTED: "recruit_draft", Operation.DEAL_TILES: "market_draft"}
    drafts |= {Operation.TILE_CHOSEN: "market_draft", Operation.TRACK: "track_draft", Operation.TRACK_SET: "track_draft"}
    tracks = operations[-1] == Operation.TRACK_SET
    begun = Operation.LAY_TILES in operations
    if any(op in drafts and not row[drafts[op]] for op in operations) or tracks == begun or (tracks and len(operations) > 1):
        reader.fail("pending.stack", "does not belong to a setup with these rules")
    order = [
        Operation.LAY_TILES,
        Operation.DEAL_TILES,
        Operation.TILE_CHOSEN,
        Operation.CHOOSE_RECRUITS,
        Operation.RECRUIT_CHOSEN,
    ]
    ranks = [[*order, Operation.DRAFTED].index(op) if op in (*order, Operation.DRAFTED) else -1 for op in operations]
    if not tracks and (ranks[0] != 0 or ranks != sorted(set(ranks))):
        reader.fail("pending.stack", "does not belong to a setup with these rules")
