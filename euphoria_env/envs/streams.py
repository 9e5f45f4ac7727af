"""Chance for agents: what is derived from a generator of the games, and tells nothing about it (R19).

A generator can be run backwards, and its `seed_seq` names what it was seeded from. So agents get none from which that of the
games could be computed: between the two stands a hash that cannot be inverted.
"""

from __future__ import annotations

import hashlib

import numpy as np

_DRAWN = 32  # bytes


def _derived(rng: np.random.Generator, size: int) -> int:
    """An integer of so many bytes, the hash of what is drawn."""
    return int.from_bytes(hashlib.blake2b(rng.bytes(_DRAWN), digest_size=size).digest(), "little")


def derived_generator(rng: np.random.Generator) -> np.random.Generator:
    """A generator for agents; equal states of `rng` give equal ones."""
    return np.random.default_rng(_derived(rng, 16))


def derived_seed(rng: np.random.Generator) -> int:
    """A seed of 64 bits for `Game.determinize`, from which a generator is made that agents get."""
    return _derived(rng, 8)
