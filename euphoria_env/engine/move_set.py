"""The legal moves of a decision: a bit set by action id, in words of NUM_SPACES bits; word f - 1 has all `place f SPACE`."""

from __future__ import annotations

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import BIT, NUM_SPACES
from euphoria_env.engine.bits import count_bits, lowest_bit
from euphoria_env.engine.byte_vectors import WIDTH, spread_bits
from euphoria_env.engine.jit import jit

WORD_BITS = NUM_SPACES
LEGAL_WORDS = -(-NUM_ACTIONS // WORD_BITS)
SEVERAL, NONE = -1, -2  # in place of the only legal action
# Of the last 64 entries of a mask, so many are in the last word but one.
_OF_LAST_BUT_ONE = WORD_BITS * (LEGAL_WORDS - 1) - (NUM_ACTIONS - WIDTH)
assert WORD_BITS * (LEGAL_WORDS - 2) + WIDTH <= NUM_ACTIONS and 0 <= _OF_LAST_BUT_ONE <= WORD_BITS


@jit
def clear(words):
    """Makes every action illegal."""
    for w in range(LEGAL_WORDS):
        words[w] = 0


@jit
def allow(words, action):
    """Makes an action legal."""
    words[action // WORD_BITS] |= BIT[action % WORD_BITS]


@jit
def allow_set(words, first, members):
    """Makes the actions first + k legal for all members k of a set of numbers below WORD_BITS."""
    w, shift = first // WORD_BITS, first % WORD_BITS
    words[w] |= (members << shift) & ((1 << WORD_BITS) - 1)
    words[w + 1] |= members >> (WORD_BITS - shift)


@jit
def is_legal(words, action):
    """Returns whether an integer is the id of a legal action."""
    return 0 <= action < NUM_ACTIONS and (words[action // WORD_BITS] >> (action % WORD_BITS)) & 1 != 0


@jit
def only_legal(words):
    """Returns the only legal action; `SEVERAL` or `NONE` if there is not exactly one."""
    found = NONE
    for w in range(LEGAL_WORDS):
        word = words[w]
        if word:
            if found >= 0 or word & (word - 1):
                return SEVERAL
            found = WORD_BITS * w + lowest_bit(word)
    return found


@jit
def list_moves(words, moves):
    """Writes the legal moves, ascending, into an int array (NUM_ACTIONS,); returns their number."""
    n = 0
    for w in range(LEGAL_WORDS):
        word = words[w]
        while word:
            moves[n] = WORD_BITS * w + lowest_bit(word)
            word &= word - 1
            n += 1
    return n


@jit
def count_legal(words):
    """Returns the number of legal actions."""
    n = 0
    for w in range(LEGAL_WORDS):
        n += count_bits(words[w])
    return n


@jit
def nth_legal(words, n):
    """Returns the legal action before which n others are legal; there must be more than n."""
    w = 0
    in_word = count_bits(words[0])
    while n >= in_word:
        n -= in_word
        w += 1
        in_word = count_bits(words[w])
    word = words[w]
    for _ in range(n):
        word &= word - 1
    return WORD_BITS * w + lowest_bit(word)


@jit
def fill_mask(words, mask):
    """Writes the legal moves into a bool or int8 array (NUM_ACTIONS,)."""
    # A word fills more entries than it has bits; the next one writes the others again, and the last entries are written last.
    for w in range(LEGAL_WORDS - 1):
        spread_bits(words[w], mask, WORD_BITS * w)
    last = (words[LEGAL_WORDS - 1] << _OF_LAST_BUT_ONE) | (words[LEGAL_WORDS - 2] >> (WORD_BITS - _OF_LAST_BUT_ONE))
    spread_bits(last, mask, NUM_ACTIONS - WIDTH)


@jit
def set_mask(words, mask):
    """Makes exactly those actions legal that are nonzero in a bool or int8 array: the reverse of `fill_mask`."""
    clear(words)
    for action in range(NUM_ACTIONS):
        if mask[action]:
            allow(words, action)
