"""Generators and seeds for agents, derived from a generator of the games without revealing anything about it (R19).

From a generator, its earlier states and its seed can be computed. So agents get only generators that are seeded with a hash,
which cannot be inverted. A small seed can still be found by trying many; so what agents from elsewhere get is hashed with a key
that takes long to make from a seed.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np

from euphoria_env.json_reader import Reader

_BYTES_DRAWN = 32


@lru_cache(maxsize=64)
def stretched(seed: Any) -> bytes:
    """Returns a key made from a seed, an integer or a tuple, in about 20 ms and 8 MB, so that trying a million takes hours."""
    return hashlib.scrypt(str(seed).encode(), salt=b"euphoria", n=1 << 13, r=8, p=1, dklen=_BYTES_DRAWN)


def _derived(rng: np.random.Generator, size: int, key: bytes) -> int:
    """Returns the hash of 32 drawn bytes as an integer of `size` bytes."""
    return int.from_bytes(hashlib.blake2b(rng.bytes(_BYTES_DRAWN), digest_size=size, key=key).digest(), "little")


def beside_deals(seed: int) -> np.random.Generator:
    """Returns a generator for the chance of a game that is not in its deal: seats, opponents, moves played at random.

    What it draws changes no later game, whose seed comes from another generator.
    """
    return np.random.default_rng(np.random.SeedSequence(seed % 2**64, spawn_key=(1,)))


def drawn_for(seed: int, numbers: np.ndarray) -> np.ndarray:
    """Returns a random number from [0, 1) for each row of integers (K, C), float64 (K,), by splitmix64 of seed and row alone."""
    words = np.full(len(numbers), seed % 2**64, np.uint64)
    for column in numbers.T.astype(np.uint64):
        words += (column + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        words ^= words >> np.uint64(31)
    return (words >> np.uint64(11)) * 2.0**-53


def derived_generator(rng: np.random.Generator, key: bytes = b"") -> np.random.Generator:
    """Returns a generator for agents; it depends only on the state of `rng` and the key (`stretched`)."""
    return np.random.default_rng(_derived(rng, 16, key))


def derived_seed(rng: np.random.Generator, key: bytes = b"") -> int:
    """Returns a seed of 64 bits for `Game.determinize`, whose result agents get."""
    return _derived(rng, 8, key)


def generator_from(state: Any) -> np.random.Generator:
    """Returns a generator with this state, which may come from JSON; raises a `ValueError` for anything else."""
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
