"""Leads through all compiled code beyond the engine, and prints the results: a line for each stop, to compare builds.

`python -m tests.tools.tour` prints the lines of this interpreter; NUMBA_BOUNDSCHECK=1 checks every index on the way.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from euphoria_agents import load
from euphoria_env import Batch, Game, Rules, raw_env
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.trajectories import Trajectories, estimate_advantages
from euphoria_env.words import legal_moves

SHORT = Rules(num_players=3, trading=True, max_turns=8)


def digest(*arrays: Any) -> str:
    """A hash of arrays."""
    found = hashlib.blake2b(digest_size=8)
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def batches() -> Iterator[str]:
    """Steps, ends, restarts, starts, states, copies, events and threads."""
    rng, batch = np.random.default_rng(1), Batch(520, SHORT, seed=2, reward="rank", threads=2, events=3)
    trajectories = Trajectories(batch, 100_000)
    for k in range(90):
        some = np.flatnonzero(rng.random(batch.n) < 0.8)
        trajectories.add(some)
        batch.step(batch.sample(rng), None if k % 3 else rng.random(batch.n) < 0.9)
        trajectories.credit()
        yield digest(batch.end_states, *batch.seen_at_end(rng.integers(3, size=len(batch.ended))))
        if k % 30 == 10:
            batch.restart(range(0, 520, 7), {14: batch.game(20), 0: Game(SHORT, 1)})
            batch = copy.copy(batch) if k == 40 else batch
            trajectories = Trajectories(batch, 100_000)
    n, found = trajectories.size, trajectories.arrays()
    values = rng.random(n).astype(np.float32)
    yield digest(estimate_advantages(values, found["reward"][:n], found["following"][:n], 0.99, 0.9))
    trajectories.carry_over()
    yield digest(batch.observation, batch.mask, batch.final_observation, batch.events, *trajectories.arrays().values())


def environments() -> Iterator[str]:
    """All environments, with their opponents."""
    rng = np.random.default_rng(2)
    vector = EuphoriaVectorEnv(5, pool=["random", "weights", "ppo", "greedy:1"], num_players=3, max_turns=8, events=2)
    _, infos = vector.reset(seed=1)
    single = EuphoriaEnv("weights", num_players=2, max_turns=8, events=2)
    _, info = single.reset(seed=1)
    aec = raw_env(num_players=4, max_turns=8, events=2)
    aec.reset(seed=1)
    for _ in range(40):
        observations, rewards, _, _, infos = vector.step(sample(infos["action_mask"], rng))
        observation, reward, terminated, truncated, info = single.step(sample(info["action_mask"], rng))
        if terminated or truncated:
            _, info = single.reset()
        if not aec.game.legal():
            aec.reset()
        aec.step(sample(aec.observe(aec.agent_selection)["action_mask"], rng))
        yield digest(*observations.values(), rewards, *observation.values(), reward, aec.state())


def agents() -> Iterator[str]:
    """Every agent that ships, with what it explains, in games of all sizes; the words for the moves on the way."""
    for players in range(2, 7):
        rules = Rules(num_players=players, trading=players % 2 == 0, recruit_draft=players == 3)
        game = Game(rules, seed=players)
        for spec in ("random", "weights", "greedy:2", "ppo", "mcts:12", "mcts:12:ppo", "boardspace:12"):
            agent, rng = load(spec), np.random.default_rng(players)
            for _ in range(6):
                seat = game.player
                dealt = game.determinize(seat, int(rng.integers(2**60)))
                given = game.observation(seat), game.mask()
                thoughts = [move["prior"] or 0.0 for move in agent.explain(*given, rng, dealt)["moves"]]
                words = [move.text for move in legal_moves(game, seat)]
                game.play(agent.act(*given, rng, dealt))
                yield f"{digest(np.round(thoughts, 3))} {digest(np.frombuffer(''.join(words).encode(), np.uint8))}"
            yield f"{players} {spec} {game.fingerprint()}"


STOPS: tuple[Callable[[], Iterator[str]], ...] = (batches, environments, agents)


def tour() -> Iterator[str]:
    """The lines of all stops."""
    for stop in STOPS:
        for k, line in enumerate(stop()):
            yield f"{stop.__name__} {k} {line}"


if __name__ == "__main__":
    for text in tour():
        print(text)
