"""The check of rows that come from outside: compiled code checks no index, so every value must fit the arrays that it indexes.

A row that passes may still be impossible. The engine then leaves no array, comes to an end, and at worst raises a `ValueError`.
"""

from __future__ import annotations

import numpy as np

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.jit import IS_PLAIN, entry, jit
from euphoria_env.engine.move_set import WORD_BITS
from euphoria_env.engine.state import FIELDS, GAME_DTYPE, OPERATIONS, ROWS, SETUP, Operation

_FEWEST, _WIDTH, _PLAIN = 2, GAME_DTYPE.itemsize, IS_PLAIN


def _limits(n: int) -> list[np.ndarray]:
    """Returns the lowest and the highest value of each byte of a row with n players, and the bits that must not be set.

    A wide field has a range from 0 on; of its highest value the check knows only the number of bits.
    """
    low, high, closed = np.full(_WIDTH, -128, np.int8), np.full(_WIDTH, 127, np.int8), np.zeros(_WIDTH, np.int8)
    for name, kind, _, least, most in FIELDS:
        most = most(n) if callable(most) else most
        if kind is np.int8:
            low.view(GAME_DTYPE)[name], high.view(GAME_DTYPE)[name] = least, most
        else:
            closed.view(GAME_DTYPE)[name] = -1 << most.bit_length()
    closed.view(GAME_DTYPE)["legal"][0, -1] = -1 << NUM_ACTIONS % WORD_BITS
    return [low, high, closed]


_LIMITS = np.array([_limits(n) for n in range(_FEWEST, MAX_PLAYERS + 1)])
# For each operation the ranges of a and b, and the times that it goes around the table; then the decisions that it answers.
_ARGUMENTS = np.array([(*row.a, *row.b, row.rounds) for row in OPERATIONS.values()], np.int8)
_ANSWERS = np.array([sum(1 << decision for decision in row.answers) for row in OPERATIONS.values()], np.int64)
assert list(map(int, OPERATIONS)) == list(range(len(_ARGUMENTS)))
_ANSWERED = int(np.bitwise_or.reduce(_ANSWERS))


@jit
def is_pending(g, k):
    """Returns whether operation k of the stack exists, has possible arguments, and is where one may lie that takes an answer."""
    op, player, a, b = int(g["stack"][k, 0]), int(g["stack"][k, 1]), int(g["stack"][k, 2]), int(g["stack"][k, 3])
    if not 0 <= op < len(_ARGUMENTS) or (op >= Operation.DRAFT) != (g["status"] == SETUP and op >= Operation.TRIGGER):
        return False
    low_a, high_a, low_b, high_b, rounds = _ARGUMENTS[op]
    n = int(g["num_players"])
    asked = (1 << int(g["ask"])) & _ANSWERED if k == g["depth"] - 1 else 0
    in_range = 0 <= player <= (rounds * n if rounds else n - 1) and low_a <= a <= high_a and low_b <= b <= high_b
    return in_range and (asked & int(_ANSWERS[op]) != 0 or (asked == 0 and _ANSWERS[op] == 0))


@jit
def has_cards(g, p):
    """Returns whether a player has a dilemma, and a card in each place that counts as a recruit."""
    good = g["dilemma"][p] >= 0 and g["num_active"][p] <= g["num_recruits"][p]
    for k in range(int(g["num_recruits"][p])):
        good &= g["recruits"][p, k] >= 0
    return good


@jit
def in_range(row, low, high, closed):
    """Returns whether all bytes of a row are within their limits; computed with bytes, the loop is vectorized."""
    if _PLAIN:  # as plain Python the loop would take longer than the rest of the engine
        return not ((row < low) | (row > high) | (row & closed != 0)).any()
    wrong = np.int8(0)
    for k in range(_WIDTH):
        wrong = np.int8(wrong | np.int8((row[k] < low[k]) | (row[k] > high[k])) | (row[k] & closed[k]))
    return wrong == 0


@jit
def fits(rows, i):
    """Returns whether all values of row i are in range, so that compiled code may use it."""
    g = rows[i]
    limits = _LIMITS[min(max(int(g["num_players"]), _FEWEST), MAX_PLAYERS) - _FEWEST]
    good = in_range(rows.view(np.int8)[_WIDTH * i : _WIDTH * (i + 1)], limits[0], limits[1], limits[2])
    if good:
        for k in range(int(g["depth"])):
            good &= is_pending(g, k)
        for p in range(int(g["num_players"])):
            good &= has_cards(g, p)
    return good


@jit
def check(rows, i):
    """Refuses row i if one of its values is out of range.

    Raises:
        ValueError: one is.
    """
    if not fits(rows, i):
        raise ValueError("rows hold no possible game: a value is out of range, or there is no such operation")


@entry(ROWS)
def check_rows(rows):
    """Refuses rows of which one has a value out of range.

    Raises:
        ValueError: one has.
    """
    for i in range(len(rows)):
        check(rows, i)
