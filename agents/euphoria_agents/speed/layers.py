"""The layers that are measured: each is a function that makes a chunk of work for a number of players and games."""

from __future__ import annotations

import dataclasses
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from pettingzoo.utils import wrappers

from euphoria_agents.child_process import child_environment
from euphoria_agents.speed.frames import frames
from euphoria_agents.speed.measure import Chunk, Measurement, clock, clock_of_children
from euphoria_env import Batch, Game, Rules, actions, env, raw_env
from euphoria_env.engine import determinize, loop, observe
from euphoria_env.engine.state import GAME_DTYPE, copy_rows
from euphoria_env.engine.tape import empty_tape
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import write_rules

DISTINCT = 256  # games played on to different points, for the middle of games to be measured
LONGEST = 1200  # decisions to such a point
MIDDLE = 300  # decisions to the middle of a game that is looked at alone
ENGINE_DECISIONS, GAME_DECISIONS, LOOP_DECISIONS, CALLS = 1000, 600, 200, 50  # of a chunk
WARM_STEPS = 30  # of a vector environment, so that setup is behind it

Make = Callable[[int, int, int], Chunk]  # a chunk of work from a number of players, of games, and a seed


def rows_in_the_middle(players: int, n: int, seed: int) -> np.ndarray:
    """Games at all points of uniformly random play, as rows."""
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


def game_in_the_middle(players: int, seed: int) -> Game:
    """A game after a number of uniformly random decisions."""
    rng = np.random.default_rng(seed)
    while True:
        game = Game(Rules(num_players=players), seed=int(rng.integers(2**62)))
        for _ in range(MIDDLE):
            if game.over or game.truncated:
                break
            game.play(sample(game.mask(), rng))
        else:
            return game


# ---------------------------------------------------------------------------------------------------------------- the engine


def engine(players: int, n: int, seed: int) -> Chunk:
    """Uniformly random play inside compiled code, one game after the other."""
    rules, tape = Rules(num_players=players), empty_tape()
    blank = np.zeros(1, GAME_DTYPE)
    write_rules(blank[0], rules)
    rows, generator, episode = blank.copy(), np.array([seed + 1, 2], np.int64), 0
    loop.new_game(rows, 0, seed, episode, 0, tape)

    def chunk() -> tuple[int, float]:
        nonlocal episode
        start = clock()
        played = loop.random_play(rows, 0, ENGINE_DECISIONS, generator, tape)
        spent = clock() - start
        if played < ENGINE_DECISIONS:
            episode += 1
            rows[:] = blank
            loop.new_game(rows, 0, seed, episode, 0, tape)
        return played, spent

    return chunk


# ----------------------------------------------------------------------------------------------------------------- many games


def batch(players: int, n: int, seed: int, observed: bool = True, threads: int | None = 1, choice: bool = False) -> Chunk:
    """`Batch.step`.

    Args:
        players, n, seed: as for each layer.
        observed: whether observations are written.
        threads: how many; None: one per core, by the clock on the wall.
        choice: whether the choice of uniformly random moves counts.
    """
    rules = Rules(num_players=players)
    games = Batch(n, rules, seed, threads=threads, observe=observed)
    games.states[:] = rows_in_the_middle(players, n, seed)
    games.player[:] = games.states["player"]
    for i in range(n):
        observe.write_mask(games.states, i, games.mask[i])
    return _steps(n, lambda: games.mask, games.step, seed, choice, clock if threads == 1 else time.perf_counter)


def _steps(
    n: int,
    masks: Callable[[], np.ndarray],
    step: Callable[[np.ndarray], Any],
    seed: int,
    choice: bool = False,
    now: Callable[[], float] = clock,
) -> Chunk:
    """A step of n games with uniformly random moves out of `masks`, whose choice may count."""
    rng = np.random.default_rng(seed)

    def chunk() -> tuple[int, float]:
        seen = masks()
        before = now()
        moves = sample(seen, rng)
        start = before if choice else now()
        step(moves)
        return n, now() - start

    return chunk


def vector_env(players: int, n: int, seed: int) -> Chunk:
    """`EuphoriaVectorEnv.step` against random opponents; the learner's own decisions count, their choice does not."""
    vector = EuphoriaVectorEnv(n, opponents="random", num_players=players, threads=1)
    vector.reset(seed=seed)
    return _warm(_steps(n, vector.action_masks, vector.step, seed))


def sb3_env(players: int, n: int, seed: int) -> Chunk:
    """`EuphoriaVecEnv.step` with `env_method("action_masks")`, as MaskablePPO calls them; otherwise the same."""
    from euphoria_env.envs.sb3 import EuphoriaVecEnv

    vector = EuphoriaVecEnv(n, opponents="random", num_players=players, threads=1, seed=seed)
    vector.reset()
    masks = vector.action_masks()

    def step(moves: np.ndarray) -> None:
        nonlocal masks
        vector.step(moves)
        masks = np.stack(vector.env_method("action_masks"))

    return _warm(_steps(n, lambda: masks, step, seed))


def _warm(chunk: Chunk) -> Chunk:
    for _ in range(WARM_STEPS):
        chunk()
    return chunk


# ------------------------------------------------------------------------------------------------------------------- one game


def single_env(players: int, n: int, seed: int) -> Chunk:
    """`EuphoriaEnv.step` against random opponents; the learner's own decisions count, their choice does not."""
    one = EuphoriaEnv(opponents="random", num_players=players)
    rng = np.random.default_rng(seed)
    _, info = one.reset(seed=seed)

    def chunk() -> tuple[int, float]:
        nonlocal info
        move = sample(info["action_mask"], rng)
        start = clock()
        _, _, terminated, truncated, info = one.step(move)
        spent = clock() - start
        if terminated or truncated:
            _, info = one.reset()
        return 1, spent

    return chunk


def game(players: int, n: int, seed: int, prepare: Callable[[int], Any]) -> Chunk:
    """`Game.play`: the beginning of a game is played, then measured when it is played again, with what `prepare` makes of ids."""
    rng, rules = np.random.default_rng(seed), Rules(num_players=players)

    def chunk() -> tuple[int, float]:
        game_seed = int(rng.integers(2**62))
        game, moves = Game(rules, seed=game_seed), list[Any]()
        while len(moves) < GAME_DECISIONS and not (game.over or game.truncated):
            moves.append(prepare(sample(game.mask(), rng)))
            game.play(moves[-1])
        game = Game(rules, seed=game_seed)
        start = clock()
        for move in moves:
            game.play(move)
        return len(moves), clock() - start

    return chunk


def game_loop(players: int, n: int, seed: int) -> Chunk:
    """The loop of the README: a text of `Game.legal()`, at random, to `Game.play`; all of it counts."""
    import random

    rng = random.Random(seed)
    game = Game(Rules(num_players=players), seed=seed)

    def chunk() -> tuple[int, float]:
        nonlocal game
        played, start = 0, clock()
        while played < LOOP_DECISIONS and not (game.over or game.truncated):
            game.play(rng.choice(game.legal()))
            played += 1
        spent = clock() - start
        if game.over or game.truncated:
            game = Game(game.rules, seed=rng.getrandbits(62))
        return played, spent

    return chunk


def _calls(call: Callable[[int], Any]) -> Chunk:
    numbers = itertools.count()

    def chunk() -> tuple[int, float]:
        start = clock()
        for k in itertools.islice(numbers, CALLS):
            call(k)
        return CALLS, clock() - start

    return chunk


def clone(players: int, n: int, seed: int) -> Chunk:
    """`Game.clone` in the middle of a game."""
    copied = game_in_the_middle(players, seed)
    return _calls(lambda _: copied.clone())


def determinize_game(players: int, n: int, seed: int) -> Chunk:
    """`Game.determinize` in the middle of a game."""
    dealt = game_in_the_middle(players, seed)
    return _calls(lambda k: dealt.determinize(k % players, k))


def determinize_row(players: int, n: int, seed: int) -> Chunk:
    """The copy of a row and `deal_hidden` on it, which is what a search in compiled code pays."""
    row = game_in_the_middle(players, seed).states.copy()
    return _calls(lambda k: determinize.deal_hidden(copy_rows(row), 0, k % players, k))


# ----------------------------------------------------------------------------------------------------------------- PettingZoo


class EmptyAEC(raw_env):
    """An AEC environment without a game: the same spaces and dicts as ours, and nothing else to do."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins nothing."""
        super().reset(seed, options)
        self._observation = np.zeros(OBS_SIZE, np.int8)
        self._legal = np.zeros(actions.NUM_ACTIONS, np.int8)
        self._legal[::80] = 1
        self._after = dict(zip(self.agents, self.agents[1:] + self.agents[:1], strict=True))

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Nothing, in fresh arrays."""
        return {"observation": self._observation.copy(), "action_mask": self._legal.copy()}

    def step(self, action: int | None) -> None:
        """The next one's turn."""
        self.agent_selection = self._after[self.agent_selection]


def aec_loop(environment: Callable[[int], Any]) -> Make:
    """PettingZoo's usual loop: `last`, a compiled sampler, and `step`; `environment` makes one for a number of players."""

    def make(players: int, n: int, seed: int) -> Chunk:
        aec, rng = environment(players), np.random.default_rng(seed)
        aec.reset(seed=seed)

        def chunk() -> tuple[int, float]:
            played, start = 0, clock()
            for _ in aec.agent_iter(LOOP_DECISIONS):
                observation, _, terminated, truncated, _ = aec.last()
                if terminated or truncated:
                    aec.step(None)
                else:
                    aec.step(sample(observation["action_mask"], rng))
                    played += 1
            spent = clock() - start
            if not aec.agents:
                aec.reset()
            return played, spent

        return chunk

    return make


def _empty_wrapped(players: int) -> Any:
    """The same under PettingZoo's three standard wrappers, to see what they cost."""
    wrapped = wrappers.TerminateIllegalWrapper(EmptyAEC(num_players=players), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


# ------------------------------------------------------------------------------------------------------- start and memory

_IMPORT = "import euphoria_env"
_START = (
    "from euphoria_env import Batch, Game\n"
    "batch = Batch(1, seed=0); batch.step(batch.mask.argmax(axis=1))\n"
    "game = Game(seed=0); game.play(game.legal()[0]); game.observation(0)"
)


def startup(repeats: int) -> Iterator[Measurement]:
    """Seconds from the start of Python to the first decisions, with an empty cache and with a full one."""
    with tempfile.TemporaryDirectory() as folder:
        cold = [_seconds(_START, folder)]
        yield Measurement("import", 0, 0, "s", [_seconds(_IMPORT, folder) for _ in range(repeats)])
        yield Measurement("cold start", 0, 0, "s", cold)
        yield Measurement("warm start", 0, 0, "s", [_seconds(_START, folder) for _ in range(repeats)])


def _seconds(code: str, cache: str) -> float:
    start = clock_of_children()
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={**os.environ, **child_environment(), "NUMBA_CACHE_DIR": cache},
        stderr=subprocess.DEVNULL,
    )
    return clock_of_children() - start


def memory(players: int, n: int = 64) -> Iterator[Measurement]:
    """Bytes of a game: its row alone, and with the arrays of a `Batch`."""
    yield Measurement("memory, state", players, 0, "bytes", [float(GAME_DTYPE.itemsize)])
    for name, observed in (("memory, batch, mask", False), ("memory, batch, observation", True)):
        batch = Batch(n, Rules(num_players=players), seed=0, observe=observed)
        arrays = [value for value in vars(batch).values() if isinstance(value, np.ndarray) and len(value) == n]
        yield Measurement(name, players, 0, "bytes", [sum(array.nbytes for array in arrays) / n])


# ------------------------------------------------------------------------------------------------------------------ all of it


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer that is measured as work in a second.

    Attributes:
        name: what results call it.
        group: what the command line calls it and its like.
        make: makes a chunk from players, games and seed.
        unit: what is counted.
        many: whether it is measured for different numbers of games.
        least, most: the numbers of games between which it is measured.
        extra: of the package, which has what it needs.
    """

    name: str
    group: str
    make: Make
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
    Layer("Game.play(id)", "game", partial(game, prepare=int)),
    Layer("Game.play(text)", "game", partial(game, prepare=actions.name)),
    Layer("Game.legal() + play(text)", "game", game_loop),
    Layer("Game.clone", "copy", clone, "calls/s"),
    Layer("Game.determinize", "copy", determinize_game, "calls/s"),
    Layer("row copied and dealt again", "copy", determinize_row, "calls/s"),
    Layer("AEC raw", "aec", aec_loop(lambda players: raw_env(num_players=players))),
    Layer("AEC empty raw", "aec", aec_loop(lambda players: EmptyAEC(num_players=players))),
    Layer("AEC wrapped", "aec", aec_loop(lambda players: env(num_players=players))),
    Layer("AEC empty wrapped", "aec", aec_loop(_empty_wrapped)),
    Layer("frame, new", "picture", partial(frames, new=True), "frames/s", extra="render"),
    Layer("frame, little changed", "picture", partial(frames, new=False), "frames/s", extra="render"),
)
