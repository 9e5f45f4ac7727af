"""The layers of the environment whose speed is measured.

Each is an endless generator: it does some work, then yields its amount and the seconds of it that count.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.speed.measure import clock
from euphoria_env import Batch, Game, Rules, actions, env, raw_env
from euphoria_env.engine import loop
from euphoria_env.engine.state import GAME_DTYPE
from euphoria_env.engine.tape import empty_tape
from euphoria_env.envs.environment import PICTURE_SIZE, frame
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.rules import write_rules

DISTINCT, LONGEST = 256, 1200  # the games from which a batch begins, and the limit of the decisions already made in them
WARM_STEPS = 30  # steps of a vector environment before it is measured
FRAME_DECISIONS = 700  # the most decisions of a new game before its frame is drawn

Work = Iterator[tuple[int, float]]


def engine(players: int, n: int, seed: int) -> Work:
    """Plays games of uniformly random moves inside compiled code."""
    blank, tape, generator = np.zeros(1, GAME_DTYPE), empty_tape(), np.array([seed + 1, 2], np.int64)
    write_rules(blank[0], Rules(num_players=players))
    for episode in itertools.count():
        rows = blank.copy()
        loop.new_game(rows, 0, seed, episode, 0, tape)
        start = clock()
        yield loop.random_play(rows, 0, 10**9, generator, tape), clock() - start


def batch(players: int, n: int, seed: int, observe_too: bool = True, choice: bool = False) -> Work:
    """Calls `Batch.step` with uniformly random moves, from all stages of a game; `choice`: the time to choose them counts too."""
    games, rng = Batch(n, Rules(num_players=players), seed, threads=1, observe=observe_too), np.random.default_rng(seed)
    starts = _distinct_games(players, seed)
    games.restart(range(n), {i: starts[k] for i, k in enumerate(rng.integers(len(starts), size=n).tolist())})
    return _steps(n, lambda: games.mask, games.step, rng, choice)


@cache
def _distinct_games(players: int, seed: int) -> list[Game]:
    """Returns `DISTINCT` games of uniformly random play at all stages."""
    rng = np.random.default_rng(seed)
    games = Batch(DISTINCT, Rules(num_players=players), seed, threads=1, observe=False)
    decisions = rng.integers(LONGEST, size=DISTINCT)
    for k in range(LONGEST):
        games.step(sample(games.mask, rng), decisions > k)
    return [games.game(i) for i in range(DISTINCT)]


def _steps(
    n: int,
    masks: Callable[[], np.ndarray],
    step: Callable[[np.ndarray], Any],
    rng: np.random.Generator,
    choice: bool = False,
) -> Work:
    """Steps n games with uniformly random moves that `masks()` allows; `choice`: the time to choose them counts too."""
    while True:
        begun = clock()
        moves = sample(masks(), rng)
        start = begun if choice else clock()
        step(moves)
        yield n, clock() - start


def vector_env(players: int, n: int, seed: int) -> Work:
    """Calls `EuphoriaVectorEnv.step` against random opponents; counts only the learner's own decisions."""
    vector = EuphoriaVectorEnv(n, opponents="random", num_players=players, threads=1)
    vector.reset(seed=seed)
    return itertools.islice(_steps(n, vector.action_masks, vector.step, np.random.default_rng(seed)), WARM_STEPS, None)


def sb3_env(players: int, n: int, seed: int) -> Work:
    """Calls `EuphoriaVecEnv.step` and `env_method("action_masks")`, as MaskablePPO does; counts as `vector_env` does."""
    from euphoria_env.envs.sb3 import EuphoriaVecEnv

    vector = EuphoriaVecEnv(n, opponents="random", num_players=players, threads=1, seed=seed)
    vector.reset()
    masks = [vector.action_masks()]

    def step(moves: np.ndarray) -> None:
        vector.step(moves)
        masks[0] = np.stack(vector.env_method("action_masks"))

    return itertools.islice(_steps(n, lambda: masks[0], step, np.random.default_rng(seed)), WARM_STEPS, None)


def single_env(players: int, n: int, seed: int) -> Work:
    """Calls `EuphoriaEnv.step` against random opponents; counts only the learner's own decisions."""
    one, rng = EuphoriaEnv(opponents="random", num_players=players), np.random.default_rng(seed)
    for game_seed in itertools.count(seed):
        over, (_, info) = False, one.reset(seed=game_seed)
        while not over:
            move = sample(info["action_mask"], rng)
            start = clock()
            _, _, terminated, truncated, info = one.step(move)
            yield 1, clock() - start
            over = terminated or truncated


def game(players: int, n: int, seed: int, encode: Callable[[int], Any]) -> Work:
    """Calls `Game.play` with the moves of a game that was played before; `encode` turns action ids into arguments."""
    rng, rules = np.random.default_rng(seed), Rules(num_players=players)
    for game_seed in itertools.count(seed):
        first, moves = Game(rules, seed=game_seed), list[Any]()
        while not _ended(first):
            moves.append(encode(sample(first.mask(), rng)))
            first.play(moves[-1])
        again = Game(rules, seed=game_seed)
        start = clock()
        for move in moves:
            again.play(move)
        yield len(moves), clock() - start


def game_loop(players: int, n: int, seed: int) -> Work:
    """Plays as the README does: `Game.play` gets a random move of `Game.legal()`; all of the time counts."""
    rng, rules = random.Random(seed), Rules(num_players=players)
    for game_seed in itertools.count(seed):
        one, played, start = Game(rules, seed=game_seed), 0, clock()
        while not _ended(one):
            one.play(rng.choice(one.legal()))
            played += 1
        yield played, clock() - start


def aec_loop(players: int, n: int, seed: int, make: Callable[..., Any]) -> Work:
    """Runs PettingZoo's usual loop on an environment: `last`, a compiled sampler, and `step`."""
    aec, rng = make(num_players=players), np.random.default_rng(seed)
    for game_seed in itertools.count(seed):
        aec.reset(seed=game_seed)
        played, start = 0, clock()
        for _agent in aec.agent_iter():
            observation, _, terminated, truncated, _ = aec.last()
            over = terminated or truncated
            aec.step(None if over else sample(observation["action_mask"], rng))
            played += not over
        yield played, clock() - start


def frames(players: int, n: int, seed: int, new: bool) -> Work:
    """Draws a frame of a new game, or of the same game one decision later; the time of playing does not count."""
    import resvg_py  # noqa: F401  # so that an error names it if it is missing

    rng, current = np.random.default_rng(seed), Game(Rules(num_players=players), seed=seed)
    while True:
        if new or _ended(current):
            current = Game(current.rules, seed=int(rng.integers(2**62)))
        for _ in range(int(rng.integers(FRAME_DECISIONS)) if new else 1):
            if not _ended(current):
                current.play(sample(current.mask(), rng))
        start = clock()
        frame(current, "rgb_array", PICTURE_SIZE)
        yield 1, clock() - start


def _ended(one: Game) -> bool:
    return one.over or one.truncated


class Layer(NamedTuple):
    """A layer whose speed is measured."""

    name: str  # its name in results
    group: str  # the name by which the command line selects it
    work: Callable[[int, int, int], Work]  # makes the generator of the number of players, the number of games, and a seed
    unit: str = "decisions/s"  # the unit of its rate
    many: bool = False  # whether it is measured for different numbers of games


LAYERS = (
    Layer("engine", "engine", engine),
    Layer("batch, mask", "batch", partial(batch, observe_too=False), many=True),
    Layer("batch, observation", "batch", batch, many=True),
    Layer("batch, moves chosen too", "batch", partial(batch, choice=True), many=True),
    Layer("vector env", "vector", vector_env, "own decisions/s", many=True),
    Layer("SB3 VecEnv", "vector", sb3_env, "own decisions/s", many=True),
    Layer("single env", "single", single_env, "own decisions/s"),
    Layer("Game.play(id)", "game", partial(game, encode=int)),
    Layer("Game.play(text)", "game", partial(game, encode=actions.name)),
    Layer("Game.legal() + play(text)", "game", game_loop),
    Layer("AEC raw", "aec", partial(aec_loop, make=raw_env)),
    Layer("AEC wrapped", "aec", partial(aec_loop, make=env)),
    Layer("frame, new", "picture", partial(frames, new=True), "frames/s"),
    Layer("frame, little changed", "picture", partial(frames, new=False), "frames/s"),
)
