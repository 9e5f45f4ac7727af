"""Rows whose bytes were changed, in compiled code: each is refused, or played on without an index that leaves its array.

``NUMBA_BOUNDSCHECK=1 python -m tests.tools.mutate_rows --rows 10000000 --seed 1`` tries rows 0 to 9,999,999 of this seed; each
depends on the seed and its number alone, so that ``--first`` goes on where another run stopped. It prints how many were refused
and why, and the bytes of a row that led to anything but a `ValueError`. Without the checks of the compiler such a row may end the
process; ``--rows 1 --first NUMBER`` finds it again.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import random
import resource
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from euphoria_agents import load
from euphoria_agents.players.greedy import judge_moves
from euphoria_agents.players.search.evaluation import WEIGHTS, seat_chances
from euphoria_agents.players.search.playouts import play_out
from euphoria_env import Batch, Game, actions
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.decisions import Decision
from euphoria_env.engine.batch_kernels import play_on
from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.chance import random_below, seed_rng
from euphoria_env.engine.determinize import deal_hidden_row
from euphoria_env.engine.features import NUM_CHANGES, NUM_FEATURES, deal_for_afterstates, describe_seats, fill_afterstate
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.legal_moves import find_legal
from euphoria_env.engine.move_set import count_legal, fill_mask, list_moves, nth_legal
from euphoria_env.engine.observe import fill_events, fill_observation
from euphoria_env.engine.rewards import NUM_NOTES, fill_potential
from euphoria_env.engine.row_checks import _ARGUMENTS, _LIMITS, fits
from euphoria_env.engine.state import GAME_DTYPE, OVER, ROWS
from euphoria_env.engine.tape import TAPE, TAPE_HEADER, empty_tape
from euphoria_env.event_kinds import EVENT_SIZE
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rewards import read_reward, table
from tests.tools.playing import all_rules, prefer
from tests.tools.positions import any_position

WIDTH, AT, EXAMPLES = GAME_DTYPE.itemsize, {name: GAME_DTYPE.fields[name][1] for name in GAME_DTYPE.names}, 3
STACK, DEPTH, ASK = AT["stack"], AT["depth"], AT["ask"]
OPERATIONS, DECISIONS = len(_ARGUMENTS), len(Decision)
MOVES, LOOK, DEAL = 25, 8, 16  # moves played on; between two looks at all that is computed from a row; looks for one deal
AT_A_TIME, HANGS_AFTER = 10_000, 600.0  # rows between two lines; seconds without one, after which a row counts as one that hangs
TRIED, REFUSED, USED, PLAYED = range(4)  # of a tally
NO_MOVE = 2**40
SEARCHES, SEARCHED = ("mcts:6", "mcts:6:weights", "mcts:6:ppo", "mcts:6:ppo+rollouts", "boardspace:6"), 10  # one row of so many
REWARD = read_reward({"potential": {row.name: 1.0 for row in table()}, "gamma": 0.9, "end": "rank"})


@jit
def change_bytes(row, rng, n):  # type: ignore[no-untyped-def]
    """Changes n bytes to any value."""
    for _ in range(n):
        row[random_below(rng, WIDTH)] = random_below(rng, 256) - 128


@jit
def change_within_range(row, limits, rng, n):  # type: ignore[no-untyped-def]
    """Changes n bytes to values that `row_checks` lets pass; all of them if n is 0."""
    for k in range(n if n else WIDTH):
        at = random_below(rng, WIDTH) if n else k
        low = int(limits[0, at])
        row[at] = (low + random_below(rng, int(limits[1, at]) - low + 1)) & ~int(limits[2, at])


@jit
def change_stack(row, rng, players, n):  # type: ignore[no-untyped-def]
    """Puts n other operations with possible arguments on the stack, and mostly asks for another decision."""
    for _ in range(n):
        op, at = random_below(rng, OPERATIONS), STACK + 4 * random_below(rng, 1 + max(0, int(row[DEPTH])))
        row[at], row[at + 1] = op, random_below(rng, players)
        for k in range(2):
            low = int(_ARGUMENTS[op, 2 * k])
            row[at + 2 + k] = low + random_below(rng, int(_ARGUMENTS[op, 2 * k + 1]) - low + 1)
    if random_below(rng, 4):
        row[ASK] = random_below(rng, DECISIONS)
    if random_below(rng, 4) == 0:
        row[DEPTH] = min(16, int(row[DEPTH]) + 1)


@jit
def mutate(sources, row, rng):  # type: ignore[no-untyped-def]
    """Fills a row with a changed one of the sources."""
    row[:] = sources[random_below(rng, len(sources))]
    other = sources[random_below(rng, len(sources))]
    players = min(max(int(row[0]), 2), MAX_PLAYERS)
    limits, n, kind = _LIMITS[players - 2], 1 + random_below(rng, 6), random_below(rng, 16)
    if kind < 2:
        change_bytes(row, rng, 1)
    elif kind < 3:
        change_bytes(row, rng, n)
    elif kind < 7:
        change_within_range(row, limits, rng, 1 << n)
    elif kind < 11:
        change_stack(row, rng, players, 1 + n // 3)
        change_within_range(row, limits, rng, n)
    elif kind < 14:
        first = random_below(rng, WIDTH)  # a piece of another game
        last = min(WIDTH, first + 1 + random_below(rng, 200))
        row[first:last] = other[first:last]
        row[0] = players
    elif kind < 15:
        depth = row[DEPTH]
        change_within_range(row, limits, rng, 0)
        row[0], row[DEPTH] = players, min(int(depth), 1)
        change_stack(row, rng, players, 1)
    else:
        change_bytes(row, rng, WIDTH)


@jit
def look(rows, tape, seed, seen, mask, events, described):  # type: ignore[no-untyped-def]
    """Computes from the first row all that players, agents and environments ask for."""
    g, n = rows[0], int(rows[0]["num_players"])
    weights, moves = np.empty(actions.NUM_ACTIONS), np.empty(actions.NUM_ACTIONS, np.int64)
    moves[:] = NO_MOVE  # what is read before it is written stands out
    fill_mask(g["legal"], mask)
    for p in range(n):
        fill_observation(g, p, seen)
        fill_events(tape, p, n, events)
        describe_seats(g, p, described)
    seat_chances(g, WEIGHTS, np.empty(NUM_FEATURES), np.empty(MAX_PLAYERS))
    if seed % DEAL == 0:  # where no deal agrees with what the player sees, many thousands are tried
        rows[2] = rows[0]
        deal_hidden_row(rows[2], int(seed // DEAL % n), seed)
        find_legal_of(rows[2])
        play_out(rows[2], tape, moves, weights, int(g["turn"]) + 2, 50)
    if g["status"] < OVER and seed % (4 * DEAL) == 0:
        chosen = moves[: min(list_moves(g["legal"], moves), 3)].copy()
        judge_moves(g, 1, seed, tape, chosen, len(chosen))
    if g["status"] < OVER and seed % (4 * DEAL) == DEAL:
        copies, log, change = np.zeros(2, GAME_DTYPE), np.zeros(TAPE_HEADER, np.int32), np.empty(NUM_CHANGES, np.float32)
        deal_for_afterstates(g, seed, copies, described)
        for move in moves[: list_moves(g["legal"], moves)]:
            fill_afterstate(copies, log, int(move), described, change)


@jit
def find_legal_of(g):  # type: ignore[no-untyped-def]
    """Finds the legal moves of a row in which a decision is asked."""
    if g["ask"] != Decision.NOTHING:
        find_legal(g)


@entry("int8[:,:]", ROWS, "int64 int64 int64[:]", TAPE, "float64[:]")
def attack(sources, rows, seed, last, tally, tape, reward):  # type: ignore[no-untyped-def]
    """Tries rows from number `tally[TRIED]` up to `last` - 1; the first row is played on, the second keeps what it was."""
    rng, notes, potential = np.empty(2, np.int64), np.empty(NUM_NOTES), np.empty(MAX_PLAYERS)
    paid, seen, mask = np.empty(MAX_PLAYERS, np.float32), np.empty(OBS_SIZE, np.int8), np.empty(actions.NUM_ACTIONS, np.bool_)
    row, events, tape, g = rows.view(np.int8)[:WIDTH], np.empty((5, EVENT_SIZE), np.int8), pointer_to(tape, 0), rows[0]
    described = np.empty(MAX_PLAYERS * NUM_FEATURES, np.float32)
    while tally[TRIED] < last:
        seed_rng(rng, seed, tally[TRIED], 0)
        tally[TRIED] += 1
        mutate(sources, row, rng)
        rows[1] = rows[0]
        if not fits(rows, 0):
            tally[REFUSED] += 1
            continue
        tally[USED] += 1
        if random_below(rng, 4):
            find_legal_of(g)
        fill_potential(g, reward, potential)
        for k in range(MOVES):
            if k % LOOK == 0:
                look(rows, tape, tally[TRIED] + k, seen, mask, events, described)
            legal = count_legal(g["legal"])
            if legal == 0:
                break
            tally[PLAYED] += 1
            play_on(g, nth_legal(g["legal"], random_below(rng, legal)), tape, reward, notes, potential, paid)


def sources(games: int) -> np.ndarray:
    """The bytes of rows of real games with all rules and from random positions, in all parts of a turn; the same each time."""
    found, rng, np_rng = [], random.Random(1), np.random.default_rng(1)
    for rules in all_rules():
        batch = Batch(games, rules, seed=1)
        for k in range(200):
            batch.step(batch.sample(np_rng))
            if k % 4 == 0:
                found.append(batch.states.copy())
    for _ in range(25 * games):
        game = Game.from_dict(any_position(rng))
        for _ in range(rng.randrange(20)):
            if game.ranking is None:
                game.play(prefer(game, rng) if rng.randrange(2) else rng.choice(game.legal()))
                found.append(game.states.copy())
    return np.concatenate(found).view(np.int8).reshape(-1, WIDTH)


def search(agents: list[Any], row: np.ndarray) -> None:
    """Lets searching agents decide in a row, in which they may find no game."""
    game, nothing = Game.taking(row.copy()), np.zeros(0)
    for agent in agents:
        with contextlib.suppress(ValueError):
            agent.act(nothing, nothing, np.random.default_rng(0), game)


def run(first: int, last: int, seed: int, games: int = 8) -> tuple[np.ndarray, Counter[str], list[str]]:
    """Tries rows; returns the tally, the messages of refusals by number, and what went wrong."""
    found, refusals, faults = sources(games), Counter[str](), list[str]()
    rows, tape = np.zeros(3, GAME_DTYPE), empty_tape(16)
    tally, agents = np.array([first, 0, 0, 0]), [load(spec) for spec in SEARCHES]
    while tally[TRIED] < last:
        faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
        if tally[TRIED] % SEARCHED == 0:
            search(agents, rows[1:2])
        try:
            attack(found, rows, seed, min(last, (int(tally[TRIED]) // AT_A_TIME + 1) * AT_A_TIME), tally, tape, REWARD)
            print(f"row {tally[TRIED]:,}: {len(faults)} faults", file=sys.stderr, flush=True)
        except ValueError as error:
            refusals[str(error)] += 1
        except Exception as error:
            faults.append(f"seed {seed}, row {tally[TRIED] - 1}: {type(error).__name__}: {error}: {rows[1].tobytes().hex()}")
    faulthandler.cancel_dump_traceback_later()
    return tally - [first, 0, 0, 0], refusals, faults


def main() -> int:
    """Runs from the command line; returns 1 if anything but a refusal was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("rows", 100_000), ("first", 0), ("seed", 1), ("processes", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    bounds = np.linspace(given.first, given.first + given.rows, given.processes + 1).astype(int).tolist()
    if given.processes == 1:
        parts = [run(*bounds, given.seed)]
    else:
        run(0, 1, 1)  # compiles
        with ProcessPoolExecutor(given.processes) as pool:
            parts = list(pool.map(partial(run, seed=given.seed), bounds[:-1], bounds[1:]))
    tried, refused, used, played = np.sum([tally for tally, _, _ in parts], 0).tolist()
    print(f"{tried:,} rows: {refused:,} refused at once, {used:,} played on, {played:,} moves")
    for message, times in sum((refusals for _, refusals, _ in parts), Counter[str]()).most_common():
        print(f"{times:>12,}  {message}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
    faults = [fault for _, _, found in parts for fault in found]
    print(f"{len(faults):,} faults", *faults[:EXAMPLES], sep="\n")
    return bool(faults)


if __name__ == "__main__":  # under the name that the tests use, so that both share what is compiled
    from tests.tools import mutate_rows

    sys.exit(mutate_rows.main())
