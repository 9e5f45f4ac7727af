"""The mid-turn state: the part of a position, under the key `pending`, that exists only during a turn or the setup.

A hash ties it to the rest of the position. Anybody can compute that hash, and compiled code does not check indices. So the
reader checks each number against its range in `engine.state.PENDING`, and each operation on the stack against the row.
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np

from euphoria_env.board import (
    DEALT_TILES,
    FIRST_MARKET,
    FIRST_SLOT,
    FIRST_TUNNEL,
    MAX_RECRUITS,
    NUM_AREAS,
    NUM_ARTIFACT_CARDS,
    NUM_SPACES,
    TRACK_END,
    TUNNELS,
)
from euphoria_env.cards.recruits import ROW_AT, ROW_PROGRAM, ROW_TRIGGER
from euphoria_env.cards.spaces import SPACE_PROGRAM
from euphoria_env.cards.vocabulary import Effect, Trigger
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.move_set import count_legal
from euphoria_env.engine.retrieval import on_board
from euphoria_env.engine.state import GAME_DTYPE, HELD, IN_DECK, OPERATIONS, PENDING, SETUP, Operation, OperationRow
from euphoria_env.json_reader import Json, Reader

# The steps in the programs of cards and spaces; a stack may have these, and draws of any number of cards.
_STEPS = {tuple(step) for programs in (ROW_PROGRAM, SPACE_PROGRAM) for step in programs.reshape(-1, 3).tolist() if step[0] >= 0}
_TUNNELS = range(FIRST_TUNNEL, FIRST_TUNNEL + len(TUNNELS))
# Operations that use the space of the placement under way as an index, with the spaces for which they are possible.
_SPACES: dict[int, range] = {
    Effect.MINER: _TUNNELS,
    Effect.TUNNEL_RESOURCE: _TUNNELS,
    Effect.TUNNEL_CHOICE: _TUNNELS,
    Effect.AREA: range(NUM_AREAS),
    Effect.OTHERS_THERE: range(NUM_AREAS),
    Effect.SACRIFICE_PLACED: range(NUM_AREAS, NUM_SPACES),
    Operation.CONSTRUCT: range(FIRST_SLOT, FIRST_MARKET),
}
_BEGIN_PLACEMENTS = {Operation.FURTHER, Operation.FURTHER_ANSWERED, Operation.CHASE, Operation.OPENED, Operation.NEXT_TURN}
_ADD_RECRUITS = [Operation.DILEMMA_PAID, Operation.DILEMMA_RECRUIT, Operation.RECRUIT_KEPT]
_TAKEN = {decision for row in OPERATIONS.values() for decision in row.answers}


def row_digest(row: np.void) -> str:
    """Returns a hash of a row without its legal moves, which follow from the rest; the same on every machine."""
    bare = np.zeros(1, GAME_DTYPE)
    bare[0] = row
    bare["legal"] = 0
    return hashlib.blake2b(portable_bytes(bare[0]), digest_size=16).hexdigest()


def portable_bytes(row: np.void) -> bytes:
    """Returns the bytes of a row in little-endian order, without `shown_rules`, which repeats other fields."""
    whole = row.tobytes() if sys.byteorder == "little" else np.array(row).byteswap().tobytes()
    return whole[: -GAME_DTYPE["shown_rules"].itemsize]


def write_mid_turn(row: np.void) -> Json:
    """Returns the mid-turn state of a row."""
    return {field.name: row[field.name].tolist() for field in PENDING} | {"check": row_digest(row)}


def read_mid_turn(row: np.void, reader: Reader, value: object) -> None:
    """Fills in the mid-turn state; the rest of the row is already there.

    Raises:
        ValueError: a value is missing, out of its range or impossible, or belongs to another position.
    """
    given = reader.mapping("pending", value, (*(field.name for field in PENDING), "check"))
    for name, _, shape, low, high in PENDING:
        if name not in given:
            reader.fail(f"pending.{name}", "is missing")
        row[name] = reader.integers(f"pending.{name}", given[name], shape, low, high(reader.n) if callable(high) else high)
    _hold_cards(row, reader)
    _check_stack(row, reader)
    _check_workers(row, reader)
    _check_chosen(row, reader)
    if row_digest(row) != given.get("check"):
        reader.fail("pending", "does not belong to this position; leave it out to begin the turn of `player`")


def check_answers(row: np.void) -> None:
    """Refuses a decision without a choice, once the legal moves are found.

    Raises:
        ValueError: there are fewer than two.
    """
    if row["ask"] != Decision.NOTHING and count_legal(row["legal"]) < 2:
        Reader.fail("pending", "what is asked must have two answers or more (R18.1)")


def _hold_cards(row: np.void, reader: Reader) -> None:
    """Stores the places of the cards that players hold in the setup, the draft or the dilemma."""
    for name, places in (("hand", "recruit_place"), ("kept", "recruit_place"), ("tile_hand", "tile_place")):
        for p, cards in enumerate(row[name].tolist()):
            for card in cards:
                if card >= 0:
                    if p >= reader.n or row[places][card] != IN_DECK:
                        reader.fail(f"pending.{name}", "a card is in two places")
                    row[places][card] = HELD + p


def _check_stack(row: np.void, reader: Reader) -> None:
    """Refuses operations that the engine cannot have put there, or that would index arrays out of bounds."""
    depth, space = int(row["depth"]), int(row["space"])
    stack = row["stack"][:depth].tolist()
    if depth == 0 or row["stack"][depth:].any():
        reader.must("pending.stack", f"have from 1 to {len(row['stack'])} operations, as many as `depth`, and 0 after them")
    placed = False  # whether an operation higher up begins another placement, on another space
    for k, (op, p, a, b) in reversed([*enumerate(stack)]):
        good = _is_operation(row, reader.n, op, p, a, b) and _takes_answer(row, op, p, k == depth - 1)
        good = good and (op not in _SPACES or (space in _SPACES[op] and not placed))
        if not good:
            reader.fail(f"pending.stack[{k}]", f"{[op, p, a, b]} is no operation that can be pending here")
        placed |= op in _BEGIN_PLACEMENTS
    for p, recruits in enumerate(row["num_recruits"].tolist()):
        if recruits + sum(op in _ADD_RECRUITS and player == p for op, player, _, _ in stack) > MAX_RECRUITS:
            reader.fail("pending.stack", f"player {p} would have more than {MAX_RECRUITS} recruits")
    if row["status"] == SETUP:
        _check_setup(row, reader, [op for op, *_ in stack])


def _is_operation(row: np.void, n: int, op: int, p: int, a: int, b: int) -> bool:
    """Returns whether an operation exists, with these arguments, for this player and in this part of the game."""
    if 0 <= op < len(Effect):
        return 0 <= p < n and ((op, a, b) in _STEPS or (op == Effect.DRAW and 0 <= a <= NUM_ARTIFACT_CARDS and b == 0))
    if op not in OPERATIONS:
        return False
    (low_a, high_a), (low_b, high_b), _, rounds = OPERATIONS[Operation(op)]
    if not (0 <= p <= (rounds * n or n - 1) and low_a <= a <= high_a and low_b <= b <= high_b):
        return False
    if op == Operation.ABILITY_ANSWERED and ROW_TRIGGER[a] in (Trigger.PLACED, Trigger.BUMPED):
        return bool(int(ROW_AT[a]) >> int(row["space"]) & 1)
    return (op >= Operation.DRAFT) == (row["status"] == SETUP) and (op != Operation.DRAW_ANSWERED or b < row["num_active"][p])


def _takes_answer(row: np.void, op: int, p: int, top: bool) -> bool:
    """Returns whether an operation fits its place on the stack: the top one takes the answer that is due, others take none."""
    answers, asked = OPERATIONS.get(op, OperationRow()).answers, int(row["ask"])  # type: ignore[call-overload]
    if not top or asked not in _TAKEN:
        return not answers
    return asked in answers and (asked in (Decision.TRACK, Decision.REPLY) or p == row["player"])


def _check_setup(row: np.void, reader: Reader, operations: list[int]) -> None:
    """Refuses a stack that no setup has with these rules (R2, R17.1 to R17.3), or workers and tiles that do not fit it."""
    dealt = [Operation.LAY_TILES] + [Operation.DEAL_TILES] * bool(row["market_draft"])
    stacks = [[*dealt, Operation.RECRUIT_CHOSEN]]
    stacks += [[*dealt, Operation.CHOOSE_RECRUITS, Operation.DRAFTED]] * bool(row["recruit_draft"])
    stacks += [[Operation.LAY_TILES, Operation.TILE_CHOSEN]] * bool(row["market_draft"])
    stacks += [[Operation.TRACK_SET]] * bool(row["track_draft"])
    if operations not in stacks:
        reader.fail("pending.stack", "does not belong to a setup with these rules")
    workers = 2 if operations[-1] == Operation.TRACK_SET else 0
    if (row["owned"][: reader.n] != 2).any() or (row["available"][: reader.n].sum(axis=1) != workers).any():
        reader.fail("players", f"everybody has {workers} workers at this time of the setup")
    first = int(row["stack"][len(operations) - 1, 1]) if operations[-1] == Operation.TILE_CHOSEN else reader.n
    tiles = np.repeat(np.arange(reader.n) >= first, DEALT_TILES)
    if not np.array_equal((row["tile_hand"][: reader.n] >= 0).ravel(), tiles):
        reader.must("pending.tile_hand", f"hold {DEALT_TILES} tiles of each player from {first} on")


def _check_workers(row: np.void, reader: Reader) -> None:
    """Refuses workers to be retrieved that are not on the board, and a further worker that is not available."""
    taken, n = row["taken"].tolist(), int(row["num_taken"])
    player, face = int(row["turn_player"]), int(row["placed_face"])
    if min(taken[:n], default=0) < 0 or any(worker >= 0 for worker in taken[n:]):
        reader.must("pending.taken", f"be {n} workers, then -1")
    if any(on_board(row, player, worker) < taken.count(worker) for worker in taken[:n]):
        reader.fail("pending.taken", f"player {player} has no such workers on the board")
    if row["ask"] == Decision.FURTHER and (face == 0 or row["available"][row["player"], face - 1] == 0):
        reader.must("pending.placed_face", "be the face of an available worker")


def _check_chosen(row: np.void, reader: Reader) -> None:
    """Refuses goods chosen to be paid, lost or given that the player does not have (R15.2, R18.2)."""
    trading, series = row["ask"] in (Decision.TRADE, Decision.REPLY), row["ask"] == Decision.SERIES
    for name, chooses in (("chosen", trading or series), ("asked", trading)):
        if row[name].any() and not chooses:
            reader.fail(f"pending.{name}", "nothing is being chosen")
    if trading or (series and row["verb"] not in (Verb.GAIN, Verb.MINE)):
        p = int(row["turn_player"] if trading else row["player"])
        held = [*row["goods"][p], *row["artifacts"][p], 0 if trading else TRACK_END - row["knowledge"][p]]
        if (row["chosen"] > held).any():
            reader.fail("pending.chosen", f"is more than player {p} has")
