"""Chance for agents: what is derived from a generator of the games, and tells nothing about it (R19).

A generator can be run backwards, and its `seed_seq` names what it was seeded from. So agents get none from which that of the
games could be computed: between the two stands a hash that cannot be inverted.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from euphoria_env.json_reader import Reader

_DRAWN = 32  # bytes


def _derived(rng: np.random.Generator, size: int) -> int:
    """An integer of this many bytes, the hash of what is drawn."""
    return int.from_bytes(hashlib.blake2b(rng.bytes(_DRAWN), digest_size=size).digest(), "little")


def derived_generator(rng: np.random.Generator) -> np.random.Generator:
    """A generator for agents; equal states of `rng` give equal ones."""
    return np.random.default_rng(_derived(rng, 16))


def derived_seed(rng: np.random.Generator) -> int:
    """A seed of 64 bits for `Game.determinize`, from which a generator is made that agents get."""
    return _derived(rng, 8)


def generator_from(state: Any) -> np.random.Generator:
    """The generator of numpy's default kind that has this state, as JSON may give it.

    Raises:
        ValueError: it is no such state.
    """
    reader, word, half = Reader(), 2**128 - 1, 2**32 - 1
    given = reader.mapping("generator", state, ("bit_generator", "state", "has_uint32", "uinteger"))
    reader.one_of("generator.bit_generator", given.get("bit_generator"), ("PCG64",))
    words = reader.mapping("generator.state", given.get("state"), ("state", "inc"))
    reader.integer("generator.state.state", words.get("state"), 0, word)
    if reader.integer("generator.state.inc", words.get("inc"), 0, word) % 2 == 0:
        reader.must("generator.state.inc", "be odd")  # else it may stand still
    reader.integer("generator.has_uint32", given.get("has_uint32"), 0, 1)
    reader.integer("generator.uinteger", given.get("uinteger"), 0, half)
    rng = np.random.default_rng(0)
    rng.bit_generator.state = given
    return rng
