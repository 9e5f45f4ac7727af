"""Measures one peer with uniformly random legal play. `peers.py` runs it in the peer's environment; of ours it needs the clock.

    python peer_worker.py open_spiel 0.5 5 wall

It prints a line of JSON for each game: name, version, mode and decisions a second of each repeat.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from euphoria_agents.machine import versions
from euphoria_agents.speed.measure import Timed, choose_clock, clock, measure_rates

CHUNK = 500  # decisions, about
BATCH, SCAN = 1024, 64  # of pgx and PufferLib: games, and steps of a loop

Peer = Iterator[tuple[str, str, Timed]]  # game, mode, work


def _aec(make: Callable[[], Any]) -> Timed:
    """PettingZoo's usual loop, sampling with its own spaces."""
    aec = make()
    aec.reset(seed=0)

    def chunk() -> tuple[int, float]:
        played, start = 0, clock()
        for agent in aec.agent_iter(CHUNK):
            observation, _, terminated, truncated, _ = aec.last()
            if terminated or truncated:
                aec.step(None)
            else:
                aec.step(aec.action_space(agent).sample(observation["action_mask"]))
                played += 1
        spent = clock() - start
        if not aec.agents:
            aec.reset()
        return played, spent

    return chunk


def pettingzoo() -> Peer:
    """The classic games, raw and under the standard wrappers."""
    for name in ("tictactoe_v3", "connect_four_v3", "chess_v6"):
        module = importlib.import_module(f"pettingzoo.classic.{name}")
        yield name, "AEC raw", _aec(module.raw_env)
        yield name, "AEC wrapped", _aec(module.env)


def _spiel(game: Any) -> Timed:
    rng = random.Random(0)

    def chunk() -> tuple[int, float]:
        played, start = 0, clock()
        while played < CHUNK:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(outcomes, weights)[0])
                else:
                    state.apply_action(rng.choice(state.legal_actions()))
                    played += 1
        return played, clock() - start

    return chunk


def open_spiel() -> Peer:
    """Some games, through the state API; the outcomes of chance do not count as decisions."""
    import pyspiel

    for name in ("connect_four", "backgammon", "gin_rummy", "hanabi"):
        if name in pyspiel.registered_names():
            yield name, "state API", _spiel(pyspiel.load_game(name))


def _pgx(environment: Any) -> Timed:
    import jax
    from pgx.experimental import auto_reset

    init, step = jax.vmap(environment.init), jax.vmap(auto_reset(environment.step, environment.init))

    def play(state: Any, key: Any) -> tuple[Any, None]:
        choice, after = jax.random.split(key)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf)
        moves = jax.random.categorical(choice, logits)
        return step(state, moves, jax.random.split(after, BATCH)), None

    scan = jax.jit(lambda state, key: jax.lax.scan(play, state, jax.random.split(key, SCAN))[0])
    key, first = jax.random.split(jax.random.PRNGKey(0))
    state = jax.jit(init)(jax.random.split(first, BATCH))

    def chunk() -> tuple[int, float]:
        nonlocal state, key
        key, now = jax.random.split(key)
        start = clock()
        state = jax.block_until_ready(scan(state, now))
        return BATCH * SCAN, clock() - start

    return chunk


def pgx() -> Peer:
    """Some games, compiled loops over a batch."""
    import pgx

    for name in ("connect_four", "backgammon"):
        yield name, f"scan of vmap, {BATCH} games", _pgx(pgx.make(name))


def _rlcard(environment: Any) -> Timed:
    rng = random.Random(0)

    def chunk() -> tuple[int, float]:
        played, start = 0, clock()
        while played < CHUNK:
            state, _ = environment.reset()
            while not environment.is_over():
                state, _ = environment.step(rng.choice(list(state["legal_actions"])))
                played += 1
        return played, clock() - start

    return chunk


def rlcard() -> Peer:
    """Some card games."""
    import rlcard

    for name in ("uno", "gin-rummy"):
        yield name, "env.step", _rlcard(rlcard.make(name))


def catanatron() -> Peer:
    """Catan for four, whole games."""
    from catanatron import Color, Game, RandomPlayer

    def chunk() -> tuple[int, float]:
        game = Game([RandomPlayer(color) for color in Color])
        start = clock()
        game.play()
        spent = clock() - start
        state = game.state
        return len(state.action_records if hasattr(state, "action_records") else state.actions), spent

    yield "Catan", "Game.play()", chunk


def _compiled_connect_four() -> tuple[Any, list[Any]]:
    """PufferLib's games of connect four, and their arrays, which they do not keep alive: observations, moves, rewards, ends.

    Its wheels have the compiled module, but not the Python around it.
    """
    import numpy as np  # which not every peer has

    folder = Path(importlib.metadata.distribution("pufferlib").locate_file("pufferlib/ocean/connect4"))
    spec = importlib.util.spec_from_file_location("cy_connect4", next(folder.glob("cy_connect4.*.so")))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arrays = [
        np.zeros((BATCH, 42), np.float32),
        np.zeros(BATCH, np.int32),
        np.zeros(BATCH, np.float32),
        np.zeros(BATCH, np.uint8),
    ]
    return module.CyConnect4(*arrays, BATCH, 672, 784, 96, 96), arrays


def pufferlib() -> Peer:
    """Connect four in C; a step is a move and the answer of a built-in opponent. Moves are not masked: a full column loses."""
    import numpy as np

    games, arrays = _compiled_connect_four()
    games.reset()
    rng = np.random.default_rng(0)

    def chunk() -> tuple[int, float]:
        start = clock()
        for _ in range(SCAN):
            arrays[1][:] = rng.integers(0, 7, BATCH)
            games.step()
        return BATCH * SCAN, clock() - start

    yield "connect_four", f"native, {BATCH} games", chunk


PEERS: dict[str, tuple[Callable[[], Peer], str]] = {  # what measures it, and what it is called on PyPI
    "pettingzoo": (pettingzoo, "pettingzoo"),
    "open_spiel": (open_spiel, "open_spiel"),
    "pgx": (pgx, "pgx"),
    "rlcard": (rlcard, "rlcard"),
    "catanatron": (catanatron, "catanatron"),
    "pufferlib": (pufferlib, "pufferlib"),
}


def main() -> None:
    """Measures the peer that the command line names."""
    name, seconds, repeats, chosen = sys.argv[1:]
    choose_clock(chosen)
    make, package = PEERS[name]
    version = versions([package]).get(package, "?")
    for game, mode, chunk in make():
        values = measure_rates(chunk, float(seconds), int(repeats))
        print(json.dumps({"peer": name, "version": version, "game": game, "mode": mode, "values": values}), flush=True)


if __name__ == "__main__":
    main()
