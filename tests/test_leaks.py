"""No agent can compute what it must not know (R19): attacks on the generator that `act` gets, tried at every decision."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules, batch, game
from euphoria_env.engine import loop
from euphoria_env.envs import environment
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv

REACH = 20  # draws backwards and forwards
WEIGHTS = load("weights")
_64 = 2**64


def neighbours(rng: np.random.Generator) -> Iterator[int]:
    """The past and future of a generator: PCG64 runs backwards."""
    bits = copy.deepcopy(rng.bit_generator).advance(-REACH % 2**128)
    for _ in range(2 * REACH):
        yield from numbers(np.random.Generator(bits))
        bits.advance(1)


def numbers(generator: np.random.Generator) -> Iterator[int]:
    """The seeds that may have been drawn from a generator at one place."""
    state = generator.bit_generator.state
    for high in (2**62, 2**63 - 1, 2**63):
        yield int(generator.integers(high))
        generator.bit_generator.state = state


def relatives(rng: np.random.Generator) -> Iterator[int]:
    """The secrets that the seed sequence and its relatives reveal."""
    sequence = rng.bit_generator.seed_seq
    entropy = sequence.entropy
    roots = [copy.deepcopy(sequence), np.random.SeedSequence(entropy)]
    yield from (int(word) for word in np.ravel(entropy).tolist())
    for root in roots:
        for one in (root, *root.spawn(3)):
            for word in one.generate_state(8, np.uint64).tolist():
                yield from (word, word >> 1, word >> 2)
            yield from numbers(np.random.default_rng(one))
    state = rng.bit_generator.state["state"]
    for number in state.values():
        yield from (number, number % _64, number >> 64)


class Thief(Agent):
    """Plays like `weights`, and notes every number that may be a seed."""

    def __init__(self, needs_game: bool = False) -> None:
        self.needs_game = needs_game
        self.found: set[int] = set()
        self.asked = 0

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        self.asked += 1
        self.found.update(number % _64 for number in (*neighbours(rng), *relatives(rng)))
        if game is not None:
            self.found.update(number % _64 for number in game.states["rng"][0].tolist())
        return int(WEIGHTS.act(observation, mask, rng))


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The seeds of games, of batches and of deals for searchers, as they come into use."""
    seen: set[int] = set()

    def noted(function: Any, position: int) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            seen.add(int(arguments[position]) % _64)
            return function(*arguments, **named)

        return call

    monkeypatch.setattr(loop, "new_game", noted(loop.new_game, 2))
    monkeypatch.setattr(batch.batch_kernels, "start_games", noted(batch.batch_kernels.start_games, 5))
    monkeypatch.setattr(game.determinize, "deal_hidden", noted(game.determinize.deal_hidden, 3))
    assert environment.loop is loop
    return seen


def play_in(make: Callable[..., Any]) -> Callable[[Thief], None]:
    """Plays in an environment, with a seed and without one."""

    def play(thief: Thief) -> None:
        env = make(opponents=thief, num_players=3)
        for seed in (3, None):
            _, info = env.reset(seed=seed)
            for _ in range(16):
                *_, info = env.step(sample(info["action_mask"], np.random.default_rng(0)))

    return play


def play_matches(thief: Thief) -> None:
    """A match of some games."""
    play_match([thief, WEIGHTS], 4, Rules(num_players=2, max_turns=12), seed=3)


@pytest.mark.parametrize("needs_game", [False, True])
@pytest.mark.parametrize("play", [play_in(EuphoriaEnv), play_in(partial(EuphoriaVectorEnv, 2)), play_matches])
def test_an_agent_finds_no_seed(secrets: set[int], play: Callable[[Thief], None], needs_game: bool) -> None:
    thief = Thief(needs_game)
    play(thief)
    assert thief.asked > 20 and secrets and not thief.found & secrets
