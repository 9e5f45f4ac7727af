"""The layers of the environment whose speed is measured, each with a function that sets up its work."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.speed.measure import Timed, timed
from euphoria_env import Batch, Game, Rules, actions, env, raw_env
from euphoria_env.engine import loop, observe
from euphoria_env.engine.state import GAME_DTYPE, copy_rows
from euphoria_env.engine.tape import empty_tape
from euphoria_env.envs.frames import PICTURE_SIZE, frame
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.rules import write_rules

DISTINCT, LONGEST = 256, 1200  # different games from which a batch begins, each after fewer decisions than that
ENGINE_DECISIONS, GAME_DECISIONS, LOOP_DECISIONS = 1000, 600, 200  # in one step of the measurement
WARM_STEPS = 30  # of a vector environment before it is measured
FRAME_DECISIONS = 700  # of a new game before its frame, at most


# ------------------------------------------------------------------------------------------------------- engine and many games


def engine(players: int, n: int, seed: int) -> Timed:
    """Plays uniformly random moves inside compiled code, one game after the other."""
    blank, tape = np.zeros(1, GAME_DTYPE), empty_tape()
    write_rules(blank[0], Rules(num_players=players))
    rows, generator, episodes, played = blank.copy(), np.array([seed + 1, 2], np.int64), itertools.count(), 0

    def begin() -> None:
        if played < ENGINE_DECISIONS:  # the last game has ended
            rows[:] = blank
            loop.new_game(rows, 0, seed, next(episodes), 0, tape)

    def play(_: None) -> int:
        nonlocal played
        played = loop.random_play(rows, 0, ENGINE_DECISIONS, generator, tape)
        return played

    return timed(play, begin)


def batch(players: int, n: int, seed: int, observe_too: bool = True, choice: bool = False) -> Timed:
    """Calls `Batch.step` with uniformly random moves, from all points of a game; `choice`: choosing the moves counts too."""
    games, rng = Batch(n, Rules(num_players=players), seed, threads=1, observe=observe_too), np.random.default_rng(seed)
    rows = _distinct_rows(players, seed)
    games.states[:] = rows[rng.integers(len(rows), size=n)]
    games.player[:] = games.states["player"]
    for i in range(n):
        observe.write_mask(games.states, i, games.mask[i])
    return _steps(n, lambda: games.mask, games.step, rng, choice)


@cache
def _distinct_rows(players: int, seed: int) -> np.ndarray:
    """Returns the rows of `DISTINCT` games at all points of uniformly random play."""
    rng = np.random.default_rng(seed)
    games = Batch(DISTINCT, Rules(num_players=players), seed, threads=1, observe=False)
    decisions = rng.integers(LONGEST, size=DISTINCT)
    for k in range(LONGEST):
        games.step(sample(games.mask, rng), decisions > k)
    return copy_rows(games.states)


def _steps(
    n: int,
    masks: Callable[[], np.ndarray],
    step: Callable[[np.ndarray], Any],
    rng: np.random.Generator,
    choice: bool = False,
) -> Timed:
    """Steps n games with uniformly random moves out of `masks()`; `choice`: choosing them counts too."""

    def choose() -> np.ndarray:
        return sample(masks(), rng)

    def play(moves: np.ndarray | None) -> int:
        step(choose() if moves is None else moves)
        return n

    return timed(play, (lambda: None) if choice else choose)


def vector_env(players: int, n: int, seed: int) -> Timed:
    """Calls `EuphoriaVectorEnv.step` against random opponents; counts only the learner's own decisions."""
    vector = EuphoriaVectorEnv(n, opponents="random", num_players=players, threads=1)
    vector.reset(seed=seed)
    return _warm(_steps(n, vector.action_masks, vector.step, np.random.default_rng(seed)))


def sb3_env(players: int, n: int, seed: int) -> Timed:
    """Calls `EuphoriaVecEnv.step` and `env_method("action_masks")`, as MaskablePPO does; counts as `vector_env` does."""
    from euphoria_env.envs.sb3 import EuphoriaVecEnv

    vector = EuphoriaVecEnv(n, opponents="random", num_players=players, threads=1, seed=seed)
    vector.reset()
    masks = vector.action_masks()

    def step(moves: np.ndarray) -> None:
        nonlocal masks
        vector.step(moves)
        masks = np.stack(vector.env_method("action_masks"))

    return _warm(_steps(n, lambda: masks, step, np.random.default_rng(seed)))


def _warm(work: Timed) -> Timed:
    for _ in range(WARM_STEPS):
        work()
    return work


# ------------------------------------------------------------------------------------------------------------------- one game


def single_env(players: int, n: int, seed: int) -> Timed:
    """Calls `EuphoriaEnv.step` against random opponents; counts only the learner's own decisions."""
    one = EuphoriaEnv(opponents="random", num_players=players)
    rng, over = np.random.default_rng(seed), False
    _, info = one.reset(seed=seed)

    def choose() -> np.integer:
        nonlocal info
        if over:
            _, info = one.reset()
        return sample(info["action_mask"], rng)

    def play(move: np.integer) -> int:
        nonlocal info, over
        _, _, terminated, truncated, info = one.step(move)
        over = terminated or truncated
        return 1

    return timed(play, choose)


def game(players: int, n: int, seed: int, encode: Callable[[int], Any]) -> Timed:
    """Calls `Game.play` with the moves of a game that was played before; `encode` turns their ids into arguments."""
    rng, rules = np.random.default_rng(seed), Rules(num_players=players)

    def play_before() -> tuple[Game, list[Any]]:
        game_seed = int(rng.integers(2**62))
        first, moves = Game(rules, seed=game_seed), list[Any]()
        while len(moves) < GAME_DECISIONS and not _ended(first):
            moves.append(encode(sample(first.mask(), rng)))
            first.play(moves[-1])
        return Game(rules, seed=game_seed), moves

    def play(prepared: tuple[Game, list[Any]]) -> int:
        again, moves = prepared
        for move in moves:
            again.play(move)
        return len(moves)

    return timed(play, play_before)


def game_loop(players: int, n: int, seed: int) -> Timed:
    """Plays as the README does: a random text of `Game.legal()` goes to `Game.play`; all of it counts."""
    rng, current = random.Random(seed), Game(Rules(num_players=players), seed=seed)

    def unfinished() -> Game:
        nonlocal current
        if _ended(current):
            current = Game(current.rules, seed=rng.getrandbits(62))
        return current

    def play(one: Game) -> int:
        played = 0
        while played < LOOP_DECISIONS and not _ended(one):
            one.play(rng.choice(one.legal()))
            played += 1
        return played

    return timed(play, unfinished)


def aec_loop(players: int, n: int, seed: int, make: Callable[..., Any]) -> Timed:
    """Runs PettingZoo's usual loop on an environment: `last`, a compiled sampler, and `step`."""
    aec, rng = make(num_players=players), np.random.default_rng(seed)
    aec.reset(seed=seed)

    def reset() -> None:
        if not aec.agents:
            aec.reset()

    def play(_: None) -> int:
        played = 0
        for _agent in aec.agent_iter(LOOP_DECISIONS):
            observation, _, terminated, truncated, _ = aec.last()
            over = terminated or truncated
            aec.step(None if over else sample(observation["action_mask"], rng))
            played += not over
        return played

    return timed(play, reset)


def frames(players: int, n: int, seed: int, new: bool) -> Timed:
    """Draws a frame of a new game, or of the same game one decision later; playing does not count."""
    import resvg_py  # noqa: F401  # to report it by name if it is missing

    rng, current = np.random.default_rng(seed), Game(Rules(num_players=players), seed=seed)

    def play() -> Game:
        nonlocal current
        if new or _ended(current):
            current = Game(current.rules, seed=int(rng.integers(2**62)))
        for _ in range(int(rng.integers(FRAME_DECISIONS)) if new else 1):
            if not _ended(current):
                current.play(sample(current.mask(), rng))
        return current

    def draw(shown: Game) -> int:
        frame(shown, "rgb_array", PICTURE_SIZE)
        return 1

    return timed(draw, play)


def _ended(one: Game) -> bool:
    return one.over or one.truncated


class Layer(NamedTuple):
    """A layer whose speed is measured.

    Attributes:
        name: in results.
        group: by which the command line selects it.
        setup: makes its work from the number of players, the number of games, and a seed.
        unit: what is counted.
        many: whether it is measured for different numbers of games.
    """

    name: str
    group: str
    setup: Callable[[int, int, int], Timed]
    unit: str = "decisions/s"
    many: bool = False


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
