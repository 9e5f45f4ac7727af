"""The game as one row of a structured array, and the operations that may be pending.

A row holds the position, a stack of operations still to be carried out, and the decision that is asked. An operation is four
small integers: operation, player, a, b. It may push other operations or ask for a decision. Operations that
must follow the decision are pushed before it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np

from euphoria_env import board
from euphoria_env.actions import NUM_ACTIONS, NUM_BOARD_WORKERS
from euphoria_env.cards.recruits import FACTION_CARDS, NUM_RECRUITS, ROW_PROGRAM, ROW_TRIGGER, TRIGGER_CARDS
from euphoria_env.cards.spaces import SPACE_PROGRAM
from euphoria_env.cards.tiles import ACADEMY, NUM_TILES, REGISTRY
from euphoria_env.cards.vocabulary import Effect, Trigger
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.jit import array, jit
from euphoria_env.engine.move_set import LEGAL_WORDS
from euphoria_env.rules import DIGIT, OPTIONS, OPTIONS_SIZE

STACK_DEPTH = 24

SETUP, PLAYING, OVER, TRUNCATED = range(4)
RESOLVED_STAR, RESOLVED_RECRUIT = 1, 2
USED_GEEK, USED_GAMBLER = 1, 2
# Where a recruit or a tile is; ABSENT: not in the game at all (R17.6).
ABSENT, IN_DECK, OUT, HELD, OUT_BY, ON_SITE, IN_BY = -1, 0, 1, 2, 8, 14, 16
PAID, PAID_GOLD, PAID_ARTIFACT, PAID_ONE_ARTIFACT, PAID_FOOD_FOR_BLISS = 1, 2, 4, 8, 16
RETRIEVE_FREE, RETRIEVE_FOOD, RETRIEVE_BLISS, RETRIEVE_ENERGY = range(4)


class Operation(IntEnum):
    """The operations that are not effects; their numbers follow those of `Effect`."""

    TRIGGER = len(Effect)  # the recruits of a player act on an event
    ABILITY_ANSWERED = auto()
    LIMITS = auto()
    DRAW_ANSWERED = auto()
    GEEK_DISCARD = auto()
    STAR_CHOSEN = auto()
    STAR_REACTIONS = auto()
    BARGAIN_CHOSEN = auto()
    FACE_SET = auto()
    SACRIFICED = auto()
    BLISS_PAID = auto()
    OPENED = auto()
    FURTHER = auto()
    FURTHER_ANSWERED = auto()
    CHASE = auto()
    NEXT_TURN = auto()
    PAY = auto()
    WAY_CHOSEN = auto()
    PAID = auto()
    CONSTRUCT = auto()
    END_CHECK = auto()
    CLOSE = auto()
    REROLL = auto()
    ACTIVATE = auto()
    RETRIEVE_PAID = auto()
    HYPNOSIS_ANSWERED = auto()
    RETRIEVE_ROLL = auto()
    DILEMMA_WAY_CHOSEN = auto()
    DILEMMA_PAID = auto()
    DILEMMA_RECRUIT = auto()
    RECRUIT_KEPT = auto()
    OFFERED = auto()
    REPLIED = auto()
    DRAFT = auto()
    DRAFTED = auto()
    CHOOSE_RECRUITS = auto()
    RECRUIT_CHOSEN = auto()
    DEAL_TILES = auto()
    TILE_CHOSEN = auto()
    LAY_TILES = auto()
    TRACK = auto()
    TRACK_SET = auto()


Range = tuple[int, int]


class OperationRow(NamedTuple):
    """The values that an operation or effect on the stack may have.

    Attributes:
        a, b: the range of each argument.
        answers: the decisions whose answer it takes; it lies on top of the stack while the player is asked.
        rounds: how often it goes around the table; its player field then counts the turns so far. 0: the field is a seat.
    """

    a: Range = (0, 0)
    b: Range = (0, 0)
    answers: tuple[Decision, ...] = ()
    rounds: int = 0


_FURTHER: tuple[Range, Range] = ((1, 6), (0, board.MAX_WORKERS))  # face, and how many more workers may follow
_ROUND: Range = (0, board.DEALT_RECRUITS - 1)  # the rounds of the draft
_STEPS = np.concatenate([ROW_PROGRAM.reshape(-1, 3), SPACE_PROGRAM.reshape(-1, 3)])


def _effect_row(effect: Effect) -> OperationRow:
    """Returns the arguments that an effect has in the programs of cards and spaces."""
    steps = _STEPS[_STEPS[:, 0] == effect]
    (_, a, b), (_, most_a, most_b) = steps.min(0).tolist(), steps.max(0).tolist()
    return OperationRow((a, most_a), (b, most_b))


OPERATIONS: dict[IntEnum, OperationRow] = {effect: _effect_row(effect) for effect in Effect}
OPERATIONS |= dict.fromkeys(Operation, OperationRow()) | {
    Effect.DRAW: OperationRow((0, board.NUM_ARTIFACT_CARDS)),
    Operation.OPENED: OperationRow(answers=(Decision.OPEN,)),
    Operation.TRIGGER: OperationRow((0, len(Trigger) - 1), (0, board.MAX_RECRUITS)),
    Operation.ABILITY_ANSWERED: OperationRow((0, len(ROW_TRIGGER) - 1), answers=(Decision.USE,)),
    Operation.DRAW_ANSWERED: OperationRow((1, board.NUM_ARTIFACT_CARDS), (0, board.MAX_RECRUITS - 1), (Decision.USE,)),
    Operation.HYPNOSIS_ANSWERED: OperationRow(answers=(Decision.USE,)),
    Operation.STAR_CHOSEN: OperationRow((0, len(board.FACTIONS) - 1), answers=(Decision.STAR,)),
    Operation.FACE_SET: OperationRow(answers=(Decision.SET_FACE,)),
    Operation.SACRIFICED: OperationRow(answers=(Decision.SACRIFICE,)),
    Operation.FURTHER: OperationRow(*_FURTHER),
    Operation.FURTHER_ANSWERED: OperationRow(*_FURTHER, answers=(Decision.FURTHER,)),
    Operation.WAY_CHOSEN: OperationRow(answers=(Decision.ARTIFACT_WAY,)),
    Operation.RETRIEVE_PAID: OperationRow(answers=(Decision.TAKE,)),
    Operation.DILEMMA_WAY_CHOSEN: OperationRow(answers=(Decision.DILEMMA_WAY,)),
    Operation.DILEMMA_PAID: OperationRow((1, 2)),
    Operation.RECRUIT_KEPT: OperationRow(answers=(Decision.RECRUIT,)),
    Operation.OFFERED: OperationRow(answers=(Decision.TRADE,)),
    Operation.REPLIED: OperationRow(answers=(Decision.REPLY,)),
    Operation.DRAFT: OperationRow(_ROUND, rounds=1),
    Operation.DRAFTED: OperationRow(_ROUND, answers=(Decision.RECRUIT,)),
    Operation.CHOOSE_RECRUITS: OperationRow((0, 1), rounds=1),
    Operation.RECRUIT_CHOSEN: OperationRow((0, 1), answers=(Decision.RECRUIT,)),
    Operation.DEAL_TILES: OperationRow(rounds=1),
    Operation.TILE_CHOSEN: OperationRow(answers=(Decision.TILE,)),
    Operation.TRACK: OperationRow(rounds=2),
    Operation.TRACK_SET: OperationRow(answers=(Decision.TRACK,), rounds=2),
}


class Field(NamedTuple):
    """A field of a row, with the range of its values; `high` may be a function of the number of players."""

    name: str
    kind: type
    shape: tuple[int, ...]
    low: int
    high: int | Callable[[int], int]


def _last_player(n: int) -> int:
    return n - 1


def _set_of_players(n: int) -> int:
    return (1 << n) - 1


_P, _PLACES = board.MAX_PLAYERS, (ABSENT, OUT_BY + board.MAX_PLAYERS - 1)
_RECRUIT_SET, _TILE_SET, _ALL_ITEMS = (1 << NUM_RECRUITS) - 1, (1 << NUM_TILES) - 1, (1 << len(board.ITEMS)) - 1
_CARDS, _WORKERS, _LAST_OPERATION = board.NUM_ARTIFACT_CARDS, board.MAX_WORKERS, len(Effect) + len(Operation) - 1
assert _LAST_OPERATION >= _CARDS  # the largest number in the stack
FIELDS = (
    *(Field(option.row_field(name), option.dtype, (), *option.stored) for name, option in OPTIONS.items()),
    # players
    Field("knowledge", np.int8, (_P,), 0, board.TRACK_END),
    Field("morale", np.int8, (_P,), 0, board.TRACK_END),
    Field("stars", np.int8, (_P,), 0, board.STARS),  # the stars still to place
    Field("goods", np.int16, (_P, len(board.GOODS)), 0, board.MOST_GOODS),
    Field("artifacts", np.int8, (_P, len(board.ARTIFACTS)), 0, board.CARDS_PER_ARTIFACT),
    Field("hand_size", np.int8, (_P,), 0, _CARDS),  # the sum of `artifacts`
    Field("available", np.int8, (_P, 6), 0, _WORKERS),  # available workers by face - 1
    Field("owned", np.int8, (_P,), 0, _WORKERS),  # workers, available and on the board
    Field("lost_worker", np.int8, (_P,), 0, 1),  # whether a worker was lost to the knowledge check this turn (R5.3)
    Field("used", np.int8, (_P,), 0, USED_GEEK | USED_GAMBLER),  # the abilities used this turn
    # the active ones in order of activation, then the hidden ones; -1
    Field("recruits", np.int8, (_P, board.MAX_RECRUITS), -1, NUM_RECRUITS - 1),
    Field("num_recruits", np.int8, (_P,), 0, board.MAX_RECRUITS),
    Field("num_active", np.int8, (_P,), 0, board.MAX_RECRUITS),
    Field("active_cards", np.int64, (_P,), 0, _RECRUIT_SET),  # the active recruits as a set
    Field("starred", np.int64, (), 0, _RECRUIT_SET),  # the recruits with a star, as a set
    Field("dilemma", np.int8, (_P,), -1, len(board.ARTIFACTS) - 1),  # artifact type; -1 before the deal
    Field("resolved", np.int8, (_P,), 0, RESOLVED_RECRUIT),  # 0, RESOLVED_STAR, RESOLVED_RECRUIT
    Field("penalty", np.int32, (_P,), 0, _TILE_SET),  # the market penalties in force, as a set of tiles (R12.1)
    # board
    Field("area", np.int8, (board.NUM_AREAS, _P, 6), 0, _WORKERS),  # workers in the areas by player and face - 1
    Field("occupant", np.int8, (board.NUM_SPACES,), -1, _last_player),  # the player with a worker on the other spaces, or -1
    Field("face", np.int8, (board.NUM_SPACES,), 0, 6),  # the face of that worker
    Field("allegiance", np.int8, (len(board.FACTIONS),), 0, board.ALLEGIANCE_END),
    Field("miners", np.int8, (len(board.TUNNELS),), 0, board.MINER_END),
    Field("tile", np.int8, (board.NUM_MARKETS,), -1, NUM_TILES - 1),  # -1 before it is laid
    Field("built", np.int8, (board.NUM_MARKETS,), 0, 1),
    Field("market_stars", np.int8, (board.NUM_MARKETS,), 0, _set_of_players),  # players with a star there, as a set
    Field("territory", np.int8, (len(board.FACTIONS), _P), 0, board.STARS),  # stars
    Field("deck", np.int8, (len(board.ARTIFACTS),), 0, board.CARDS_PER_ARTIFACT),
    Field("discards", np.int8, (len(board.ARTIFACTS),), 0, board.CARDS_PER_ARTIFACT),
    Field("recruit_place", np.int8, (NUM_RECRUITS,), *_PLACES),  # ABSENT, IN_DECK, OUT, HELD + player, OUT_BY + player
    Field("tile_place", np.int8, (NUM_TILES,), ABSENT, IN_BY + _P - 1),  # the same, or ON_SITE, IN_BY + player
    # the spaces that are in use: built markets, sites not built, open tunnel ends
    Field("open_spaces", np.int64, (), 0, board.ALL_SPACES),
    # the turn
    Field("status", np.int8, (), SETUP, TRUNCATED),
    Field("turn", np.int32, (), 0, 2**31 - 1),
    Field("turn_player", np.int8, (), 0, _last_player),  # whose turn it is
    Field("offers", np.int8, (), 0, OPTIONS["trades_per_turn"].high),  # trades begun this turn
    Field("winner", np.int8, (), -1, _last_player),  # -1: none
    Field("ranking", np.int8, (_P,), 0, _P),  # 0 before the end
    # The turn under way. Each of the operations on the stack of a position that is read may push more. In play the stack reaches
    # 12: Chase's owner places a further worker on the tank with Phil and Julia, and bumps a worker of Amanda's owner, whom Brian
    # lets choose.
    Field("depth", np.int8, (), 0, 16),
    Field("stack", np.int8, (STACK_DEPTH, 4), -board.TRACK_END, _LAST_OPERATION),
    Field("revealed", np.int8, (), 0, (1 << len(board.FACTIONS)) - 1),  # the factions revealed (R4.9), as a set
    # the decision asked: what, who, and its terms
    Field("ask", np.int8, (), 0, len(Decision) - 1),
    Field("player", np.int8, (), 0, _last_player),
    Field("card", np.int8, (), 0, NUM_RECRUITS - 1),  # the recruit that Decision.USE is about
    Field("verb", np.int8, (), 0, len(Verb) - 1),  # of a series
    Field("units_a", np.int8, (), 0, _CARDS),
    Field("set_a", np.int16, (), 0, _ALL_ITEMS),  # for Decision.STAR: the places, of `actions.STAR_PLACES`
    Field("units_b", np.int8, (), 0, _CARDS),
    Field("set_b", np.int16, (), 0, _ALL_ITEMS),
    Field("last", np.int8, (), 0, len(board.ITEMS) - 1),  # last item chosen of a series (R18.2)
    Field("chosen", np.int8, (len(board.ITEMS),), 0, _CARDS),  # of a series or an offer
    Field("asked", np.int8, (len(board.ITEMS),), 0, _CARDS),  # of an offer
    Field("partner", np.int8, (), -1, _last_player),  # of an offer
    Field("answer", np.int16, (), 0, NUM_ACTIONS - 1),
    # the setup and the dilemma
    Field("hand", np.int8, (_P, board.DEALT_RECRUITS), -1, NUM_RECRUITS - 1),  # recruits to choose from
    Field("kept", np.int8, (_P, board.DEALT_RECRUITS), -1, NUM_RECRUITS - 1),  # recruits kept in the draft
    Field("tile_hand", np.int8, (_P, board.DEALT_TILES), -1, NUM_TILES - 1),  # tiles to choose from
    # the placement under way (R4)
    Field("space", np.int8, (), 0, board.NUM_SPACES - 1),
    Field("placed_face", np.int8, (), 0, 6),
    Field("bumped", np.int8, (), -1, _last_player),  # the player whose worker was bumped
    Field("bumped_face", np.int8, (), 0, 6),
    Field("before", np.int8, (len(board.FACTIONS),), 0, board.ALLEGIANCE_END),  # allegiance before this placement (R4.4)
    Field("due_morale", np.int8, (), 0, 2),
    Field("due_knowledge", np.int8, (), 0, 2),
    Field("paid", np.int8, (), 0, 31),  # the set of PAID, PAID_GOLD, ...
    Field("star_placed", np.int8, (), 0, 1),
    Field("took_resource", np.int8, (), 0, 1),
    Field("helped", np.int8, (), 0, _set_of_players),  # players who helped to build, as a set
    Field("fresh_stars", np.int8, (_P,), 0, 1 + board.MAX_RECRUITS),  # stars of the event under way (R4.12)
    Field("new_worker", np.int8, (), 0, 1),  # 1: due (R4.8)
    Field("new_face", np.int8, (), 0, 6),  # the face of a worker gained in this placement
    # the roll under way (R5.2)
    Field("set_face", np.int8, (), 0, 6),
    Field("roller", np.int8, (), -1, _last_player),
    Field("back_owner", np.int8, (_WORKERS,), -1, _last_player),  # workers returned and not yet rolled
    Field("back_face", np.int8, (_WORKERS,), 0, 6),
    # the retrieval under way (R3.4)
    Field("payment", np.int8, (), 0, 3),
    Field("taken", np.int8, (_WORKERS,), -1, NUM_BOARD_WORKERS - 1),  # numbers of `actions.TAKE`
    Field("num_taken", np.int8, (), 0, _WORKERS),
    Field("all_subterra", np.int8, (), 0, 1),
    # the generator (`engine.chance`), then what is derived: the legal moves (`engine.move_set`) and the options as observed
    Field("rng", np.int64, (2,), 0, 2**32 - 1),
    Field("legal", np.int64, (LEGAL_WORDS,), 0, board.ALL_SPACES),
    Field("shown_rules", np.int8, (OPTIONS_SIZE,), 0, DIGIT - 1),
)

GAME_DTYPE = np.dtype([field[:3] for field in FIELDS])
ROWS = array(GAME_DTYPE)  # the type of games in arguments of entry points


def copy_rows(rows: np.ndarray) -> np.ndarray:
    """Returns a copy of contiguous rows, made of their bytes: numpy makes and copies a structured array field by field."""
    return np.ndarray(rows.shape, rows.dtype, rows.view(np.uint8).copy())


def copy_chosen(rows: np.ndarray, chosen: np.ndarray, out: np.ndarray) -> None:
    """Copies the rows with the numbers in `chosen` to the beginning of `out`."""
    width = rows.dtype.itemsize
    room = out.view(np.uint8).reshape(-1, width)[: len(chosen)]
    np.take(rows.view(np.uint8).reshape(-1, width), chosen, axis=0, out=room, mode="clip")  # "raise" would make a copy first


def put_rows(rows: np.ndarray, chosen: np.ndarray, out: np.ndarray) -> None:
    """Copies rows into `out`, at the indices in `chosen`."""
    width = rows.dtype.itemsize
    out.view(np.uint8).reshape(-1, width)[chosen] = rows.view(np.uint8).reshape(-1, width)


@jit
def push(g, op, player, a, b):
    """Puts an operation on the stack; the last one pushed is carried out first."""
    depth = int(g["depth"])
    if depth >= STACK_DEPTH:
        raise ValueError("more operations are pending than the stack has room for")
    g["stack"][depth, 0] = op
    g["stack"][depth, 1] = player
    g["stack"][depth, 2] = a
    g["stack"][depth, 3] = b
    g["depth"] = depth + 1


@jit
def push_program(g, programs, row, player):
    """Pushes the steps of a program, the first on top."""
    for k in range(programs.shape[1] - 1, -1, -1):
        if programs[row, k, 0] >= 0:
            push(g, programs[row, k, 0], player, programs[row, k, 1], programs[row, k, 2])


@jit
def push_trigger(g, player, event):
    """Lets the recruits of a player act on a trigger; whether they may is checked when they act (R13.8)."""
    if g["active_cards"][player] & TRIGGER_CARDS[event]:
        push(g, Operation.TRIGGER, player, event, 0)


@jit
def ask_for(g, what, player):
    """Asks a player for a decision."""
    g["ask"] = what
    g["player"] = player


@jit
def ask_use(g, player, card):
    """Asks whether a recruit is used (R13.1)."""
    g["card"] = card
    ask_for(g, Decision.USE, player)


@jit
def ask_series(g, player, verb, units_a, set_a, units_b, set_b):
    """Asks for a series of single choices (R18.2): units_a items of set_a and units_b of set_b."""
    g["verb"] = verb
    g["units_a"] = units_a
    g["set_a"] = set_a
    g["units_b"] = units_b
    g["set_b"] = set_b
    g["last"] = 0
    ask_for(g, Decision.SERIES, player)


@jit
def has_penalty(g, player, tile):
    """Returns whether the penalty of a market is in force for a player (R12.1)."""
    return (int(g["penalty"][player]) >> tile) & 1


@jit
def enabled_recruits(g, player):
    """Returns the recruits of a player whose abilities act, as a set (R1.7, R12.3)."""
    if has_penalty(g, player, ACADEMY):
        return 0
    return int(g["active_cards"][player])


@jit
def has_ability(g, player, card):
    """Returns whether a player has the ability of a recruit now."""
    return (enabled_recruits(g, player) >> card) & 1


@jit
def member(g, player, faction):
    """Returns whether a player has an active recruit of a faction (R7.1)."""
    return (g["active_cards"][player] & FACTION_CARDS[faction]) != 0


@jit
def has_bonus(g, player, faction, tier):
    """Returns whether a player has the bonus of a tier (R7.2, R7.3, R12.4), by allegiance before this placement (R4.4)."""
    return g["before"][faction] >= tier and member(g, player, faction) and not has_penalty(g, player, REGISTRY)


@jit
def stars_missing(g, p):
    """Returns the number of stars a player must still place to win (R16.1, R17.5)."""
    return max(0, int(g["stars"][p]) - (board.STARS - int(g["stars_to_win"])))


@jit
def seat_after(g, k):
    """Returns the k-th player in turn order, from the active one (R4.11); k is at most the number of players."""
    p = int(g["turn_player"]) + k
    return p - int(g["num_players"]) if p >= g["num_players"] else p


@jit
def update_penalties(g):
    """Stores the penalties in force for each player (R12.1)."""
    for p in range(int(g["num_players"])):
        penalties = 0
        for k in range(len(g["built"])):
            if g["built"][k] and not (int(g["market_stars"][k]) >> p) & 1:
                penalties |= board.BIT[int(g["tile"][k])]
        g["penalty"][p] = penalties
