"""The layers of the environment whose speed is measured, as a table; each makes its work for a number of players and games."""

from __future__ import annotations

import dataclasses
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from euphoria_agents.child_process import child_environment
from euphoria_agents.speed.measure import Measurement, Timed, clock, clock_of_children, timed
from euphoria_env import Batch, Game, Rules, actions, env, raw_env
from euphoria_env.engine import determinize, loop, observe
from euphoria_env.engine.state import GAME_DTYPE, copy_rows
from euphoria_env.engine.tape import empty_tape
from euphoria_env.envs.environment import PICTURE_SIZE, frame
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.rules import write_rules

DISTINCT = 256  # different games, from which positions at all points of a game are taken
LONGEST = 1200  # decisions to such a position
MIDDLE = 300  # decisions to the middle of a game
ENGINE_DECISIONS, GAME_DECISIONS, LOOP_DECISIONS, CALLS = 1000, 600, 200, 50  # in one step of the measurement
WARM_STEPS = 30  # of a vector environment before it is measured
FRAME_DECISIONS = 700  # of a new game before its frame, at most

Setup = Callable[[int, int, int], Timed]  # from the number of players, the number of games, and a seed


# ---------------------------------------------------------------------------------------------------------------- the engine


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


# ----------------------------------------------------------------------------------------------------------------- many games


def batch(players: int, n: int, seed: int, observed: bool = True, threads: int | None = 1, choice: bool = False) -> Timed:
    """Calls `Batch.step` with uniformly random moves, whose choice may count; all threads (None) are timed by the wall clock."""
    games = Batch(n, Rules(num_players=players), seed, threads=threads, observe=observed)
    games.states[:] = _rows_in_the_middle(players, n, seed)
    games.player[:] = games.states["player"]
    for i in range(n):
        observe.write_mask(games.states, i, games.mask[i])
    return _steps(n, lambda: games.mask, games.step, seed, choice, clock if threads == 1 else time.perf_counter)


def _rows_in_the_middle(players: int, n: int, seed: int) -> np.ndarray:
    """Returns the rows of games at all points of uniformly random play."""
    rows = _distinct_rows(players, seed)
    return rows[np.random.default_rng(seed).integers(len(rows), size=n)]


@cache
def _distinct_rows(players: int, seed: int) -> np.ndarray:
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
    seed: int,
    choice: bool = False,
    now: Callable[[], float] = clock,
) -> Timed:
    """Steps n games with uniformly random moves out of `masks()`; `choice`: choosing them counts too."""
    rng = np.random.default_rng(seed)

    def choose() -> np.ndarray:
        return sample(masks(), rng)

    def play(moves: np.ndarray | None) -> int:
        step(choose() if moves is None else moves)
        return n

    return timed(play, (lambda: None) if choice else choose, now)


def vector_env(players: int, n: int, seed: int) -> Timed:
    """Calls `EuphoriaVectorEnv.step` against random opponents; only the learner's own decisions are counted."""
    vector = EuphoriaVectorEnv(n, opponents="random", num_players=players, threads=1)
    vector.reset(seed=seed)
    return _warm(_steps(n, vector.action_masks, vector.step, seed))


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

    return _warm(_steps(n, lambda: masks, step, seed))


def _warm(work: Timed) -> Timed:
    for _ in range(WARM_STEPS):
        work()
    return work


# ------------------------------------------------------------------------------------------------------------------- one game


def single_env(players: int, n: int, seed: int) -> Timed:
    """Calls `EuphoriaEnv.step` against random opponents; only the learner's own decisions are counted."""
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

    def going() -> Game:
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

    return timed(play, going)


def copies(players: int, n: int, seed: int, copy: Callable[[Game, int, int], Any]) -> Timed:
    """Copies a game in its middle with `copy(game, seat, seed)`."""
    one, numbers = _game_in_the_middle(players, seed), itertools.count()

    def work(_: None) -> int:
        for k in itertools.islice(numbers, CALLS):
            copy(one, k % players, k)
        return CALLS

    return timed(work)


def _game_in_the_middle(players: int, seed: int) -> Game:
    """Returns a game after `MIDDLE` uniformly random decisions."""
    rng = np.random.default_rng(seed)
    while True:
        one = Game(Rules(num_players=players), seed=int(rng.integers(2**62)))
        for _ in range(MIDDLE):
            if _ended(one):
                break
            one.play(sample(one.mask(), rng))
        else:
            return one


def _deal_again(one: Game, seat: int, seed: int) -> None:
    """Copies the row of a game and deals the hidden cards again, as a search in compiled code does."""
    determinize.deal_hidden(copy_rows(one.states), 0, seat, seed)


def frames(players: int, n: int, seed: int, new: bool) -> Timed:
    """Draws a frame of a new game, or of the same game one decision later; playing does not count."""
    import resvg_py  # noqa: F401  # to report it by name if it is missing

    rng = np.random.default_rng(seed)
    current = Game(Rules(num_players=players), seed=seed)

    def play() -> Game:
        nonlocal current
        if new or _ended(current):
            current = Game(current.rules, seed=int(rng.integers(2**62)))
        for _ in range(int(rng.integers(FRAME_DECISIONS)) if new else 1):
            if _ended(current):
                break
            current.play(sample(current.mask(), rng))
        return current

    def draw(shown: Game) -> int:
        frame(shown, "rgb_array", PICTURE_SIZE)
        return 1

    return timed(draw, play)


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


def _ended(one: Game) -> bool:
    return one.over or one.truncated


# ------------------------------------------------------------------------------------------------------- start and memory

_IMPORT = "import euphoria_env"
_START = (
    "from euphoria_env import Batch, Game\n"
    "batch = Batch(1, seed=0); batch.step(batch.mask.argmax(axis=1))\n"
    "game = Game(seed=0); game.play(game.legal()[0]); game.observation(0)"
)


def startup(repeats: int) -> Iterator[Measurement]:
    """Measures the seconds from the start of Python to the first decisions, with an empty cache and with a full one."""
    with tempfile.TemporaryDirectory() as folder:
        cold = [_seconds(_START, folder)]
        yield Measurement("import", 0, 0, "s", [_seconds(_IMPORT, folder) for _ in range(repeats)])
        yield Measurement("cold start", 0, 0, "s", cold)
        yield Measurement("warm start", 0, 0, "s", [_seconds(_START, folder) for _ in range(repeats)])


def _seconds(code: str, cache: str) -> float:
    start = clock_of_children()
    environment = {**os.environ, **child_environment(), "NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, stderr=subprocess.DEVNULL)
    return clock_of_children() - start


def memory(players: int, n: int = 64) -> Iterator[Measurement]:
    """Measures the bytes of a game: its row alone, and with the arrays of a `Batch`."""
    yield Measurement("memory, state", players, 0, "bytes", [float(GAME_DTYPE.itemsize)])
    for name, observed in (("memory, batch, mask", False), ("memory, batch, observation", True)):
        games = Batch(n, Rules(num_players=players), seed=0, observe=observed)
        arrays = [value for value in vars(games).values() if isinstance(value, np.ndarray) and len(value) == n]
        yield Measurement(name, players, 0, "bytes", [sum(array.nbytes for array in arrays) / n])


# ------------------------------------------------------------------------------------------------------------------ all of it


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer whose speed is measured.

    Attributes:
        name: in results.
        group: by which the command line selects it.
        setup: makes its work from the number of players, the number of games, and a seed.
        unit: what is counted.
        many: whether it is measured for different numbers of games.
        least, most: the smallest and the largest of these numbers.
        extra: the optional dependencies of the package that it needs.
    """

    name: str
    group: str
    setup: Setup
    unit: str = "decisions/s"
    many: bool = False
    least: int = 1
    most: int = 2**31
    extra: str = "train"


LAYERS = (
    Layer("engine", "engine", engine),
    Layer("batch, mask", "batch", partial(batch, observed=False), many=True),
    Layer("batch, observation", "batch", batch, many=True),
    Layer("batch, all cores", "batch", partial(batch, threads=None), many=True, least=512),
    Layer("batch, moves chosen too", "batch", partial(batch, choice=True), many=True),
    Layer("vector env", "vector", vector_env, "own decisions/s", many=True, most=4096),
    Layer("SB3 VecEnv", "vector", sb3_env, "own decisions/s", many=True, most=4096),
    Layer("single env", "single", single_env, "own decisions/s"),
    Layer("Game.play(id)", "game", partial(game, encode=int)),
    Layer("Game.play(text)", "game", partial(game, encode=actions.name)),
    Layer("Game.legal() + play(text)", "game", game_loop),
    Layer("Game.clone", "copy", partial(copies, copy=lambda one, *_: one.clone()), "calls/s"),
    Layer("Game.determinize", "copy", partial(copies, copy=Game.determinize), "calls/s"),
    Layer("row copied and dealt again", "copy", partial(copies, copy=_deal_again), "calls/s"),
    Layer("AEC raw", "aec", partial(aec_loop, make=raw_env)),
    Layer("AEC wrapped", "aec", partial(aec_loop, make=env)),
    Layer("frame, new", "picture", partial(frames, new=True), "frames/s", extra="render"),
    Layer("frame, little changed", "picture", partial(frames, new=False), "frames/s", extra="render"),
)
