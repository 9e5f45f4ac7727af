"""Generators and seeds for agents, derived from a generator of the games without revealing anything about it (R19).

From a generator, its earlier states and its seed can be computed. So agents get only generators that are seeded with a hash,
which cannot be inverted.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from euphoria_env.json_reader import Reader

_BYTES_DRAWN = 32


def _derived(rng: np.random.Generator, size: int) -> int:
    """Returns the hash of 32 drawn bytes as an integer of `size` bytes."""
    return int.from_bytes(hashlib.blake2b(rng.bytes(_BYTES_DRAWN), digest_size=size).digest(), "little")


def beside_deals(seed: int) -> np.random.Generator:
    """Returns a generator for the chance of a game that is not in its deal: seats, opponents, moves played at random.

    What it draws changes no later game, whose seed comes from another generator.
    """
    return np.random.default_rng(np.random.SeedSequence(seed % 2**64, spawn_key=(1,)))


def derived_generator(rng: np.random.Generator) -> np.random.Generator:
    """Returns a generator for agents; it depends only on the state of `rng`."""
    return np.random.default_rng(_derived(rng, 16))


def derived_seed(rng: np.random.Generator) -> int:
    """Returns a seed of 64 bits for `Game.determinize`, whose result agents get."""
    return _derived(rng, 8)


def generator_from(state: Any) -> np.random.Generator:
    """Returns a generator of numpy's default kind with this state, which may come from JSON.

    Raises:
        ValueError: it is not the state of such a generator.
    """
    reader, word, half = Reader(), 2**128 - 1, 2**32 - 1
    given = reader.mapping("generator", state, ("bit_generator", "state", "has_uint32", "uinteger"))
    reader.one_of("generator.bit_generator", given.get("bit_generator"), ("PCG64",))
    words = reader.mapping("generator.state", given.get("state"), ("state", "inc"))
    reader.integer("generator.state.state", words.get("state"), 0, word)
    if reader.integer("generator.state.inc", words.get("inc"), 0, word) % 2 == 0:
        reader.must("generator.state.inc", "be odd")  # with an even increment the generator may repeat one value
    reader.integer("generator.has_uint32", given.get("has_uint32"), 0, 1)
    reader.integer("generator.uinteger", given.get("uinteger"), 0, half)
    rng = np.random.default_rng(0)
    rng.bit_generator.state = given
    return rng
