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
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from euphoria_agents.speed.measure import Chunk, Measurement, choose_clock, clock, clock_of_children, rates
from euphoria_env import Batch, Game, Rules, actions, env, raw_env
from euphoria_env.engine import determinize, loop, observe
from euphoria_env.engine.state import GAME_DTYPE, OVER, copy_rows
from euphoria_env.engine.tape import empty_tape
from euphoria_env.envs.observation_space import observation_space
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import write_rules

DISTINCT = 256  # games played on to different points, for the middle of games to be measured
LONGEST = 1200  # decisions to such a point
ENGINE_DECISIONS, GAME_DECISIONS, LOOP_DECISIONS, CALLS = 1000, 600, 200, 50  # of a chunk
WARM_STEPS = 30  # of a vector environment, so that setup is behind it


def rows_in_the_middle(rules: Rules, n: int, seed: int) -> np.ndarray:
    """Games at all points of uniformly random play, as rows."""
    rng, tape = np.random.default_rng(seed), empty_tape()
    generator = np.array([seed + 1, 1], np.int64)
    rows = np.zeros(DISTINCT, GAME_DTYPE)
    for i in range(DISTINCT):
        write_rules(rows[i], rules)
        loop.new_game(rows, i, seed, i, 0, tape)
        loop.random_play(rows, i, int(rng.integers(LONGEST)), generator, tape)
    living = np.flatnonzero(rows["status"] < OVER)
    return rows[living[rng.integers(len(living), size=n)]]


def game_in_the_middle(players: int, seed: int, decisions: int = 300) -> Game:
    """A game after a number of uniformly random decisions."""
    rng = np.random.default_rng(seed)
    while True:
        game = Game(Rules(num_players=players), seed=int(rng.integers(2**62)))
        for _ in range(decisions):
            if game.over or game.truncated:
                break
            game.play(sample(game.mask(), rng))
        else:
            return game


# ---------------------------------------------------------------------------------------------------------------- the engine


def engine(players: int, n: int, seed: int) -> Chunk:
    """Uniformly random play inside compiled code, one game after the other."""
    rules, tape = Rules(num_players=players), empty_tape()
    rows = rows_in_the_middle(rules, 1, seed)
    blank = np.zeros(1, GAME_DTYPE)
    write_rules(blank[0], rules)
    generator = np.array([seed + 1, 2], np.int64)
    episode = 0

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


def _batch(players: int, n: int, seed: int, observed: bool = True, threads: int | None = 1, choice: bool = False) -> Chunk:
    rules = Rules(num_players=players)
    batch = Batch(n, rules, seed, threads=threads, observe=observed)
    batch.states[:] = rows_in_the_middle(rules, n, seed)
    batch.player[:] = batch.states["player"]
    for i in range(n):
        observe.write_mask(batch.states, i, batch.mask[i])
    rng = np.random.default_rng(seed)
    now = clock if threads == 1 else time.perf_counter

    def chunk() -> tuple[int, float]:
        before = now()
        moves = sample(batch.mask, rng)
        start = before if choice else now()
        batch.step(moves)
        return n, now() - start

    return chunk


def batch_mask(players: int, n: int, seed: int) -> Chunk:
    """`Batch.step` without observations, one thread; the choice of the moves does not count."""
    return _batch(players, n, seed, observed=False)


def batch_observation(players: int, n: int, seed: int) -> Chunk:
    """`Batch.step` with masks and observations, one thread; the choice of the moves does not count."""
    return _batch(players, n, seed)


def batch_threads(players: int, n: int, seed: int) -> Chunk:
    """The same with a thread a core; always by the wall clock."""
    return _batch(players, n, seed, threads=None)


def batch_played(players: int, n: int, seed: int) -> Chunk:
    """The same, one thread, the choice of uniformly random moves included."""
    return _batch(players, n, seed, choice=True)


def vector_env(players: int, n: int, seed: int) -> Chunk:
    """`EuphoriaVectorEnv.step` against random opponents; the learner's own decisions count, their choice does not."""
    vector = EuphoriaVectorEnv(n, opponents="random", num_players=players, threads=1)
    rng = np.random.default_rng(seed)
    vector.reset(seed=seed)

    def chunk() -> tuple[int, float]:
        moves = sample(vector.action_masks(), rng)
        start = clock()
        vector.step(moves)
        return n, clock() - start

    for _ in range(WARM_STEPS):
        chunk()
    return chunk


def sb3_env(players: int, n: int, seed: int) -> Chunk:
    """`EuphoriaVecEnv.step` with `env_method("action_masks")`, as MaskablePPO calls them; otherwise the same."""
    from euphoria_env.envs.sb3 import EuphoriaVecEnv

    vector = EuphoriaVecEnv(n, opponents="random", num_players=players, threads=1, seed=seed)
    rng = np.random.default_rng(seed)
    vector.reset()
    masks = vector.action_masks()

    def chunk() -> tuple[int, float]:
        nonlocal masks
        moves = sample(masks, rng)
        start = clock()
        vector.step(moves)
        masks = np.stack(vector.env_method("action_masks"))
        return n, clock() - start

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


def _game(players: int, seed: int, prepare: Callable[[int], Any]) -> Chunk:
    """`Game.play`: the beginning of a game is played, then measured when it is played again."""
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


def game_ids(players: int, n: int, seed: int) -> Chunk:
    """`Game.play` with action ids; their choice does not count."""
    return _game(players, seed, int)


def game_text(players: int, n: int, seed: int) -> Chunk:
    """`Game.play` with texts; their choice does not count."""
    return _game(players, seed, actions.name)


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
    numbers = iter(range(2**62))

    def chunk() -> tuple[int, float]:
        start = clock()
        for _ in range(CALLS):
            call(next(numbers))
        return CALLS, clock() - start

    return chunk


def clone(players: int, n: int, seed: int) -> Chunk:
    """`Game.clone` in the middle of a game."""
    game = game_in_the_middle(players, seed)
    return _calls(lambda k: game.clone())


def determinize_game(players: int, n: int, seed: int) -> Chunk:
    """`Game.determinize` in the middle of a game."""
    game = game_in_the_middle(players, seed)
    return _calls(lambda k: game.determinize(k % players, k))


def determinize_row(players: int, n: int, seed: int) -> Chunk:
    """The copy of a row and `deal_hidden` on it, which is what a search in compiled code pays."""
    row = rows_in_the_middle(Rules(num_players=players), 1, seed)

    def call(k: int) -> None:
        determinize.deal_hidden(copy_rows(row), 0, k % players, k)

    return _calls(call)


# ----------------------------------------------------------------------------------------------------------------- PettingZoo


class EmptyAEC(AECEnv):
    """An AEC environment without a game: the same spaces and dicts as ours, and nothing else to do."""

    metadata = {"name": "empty_v0", "is_parallelizable": False, "render_modes": []}

    def __init__(self, players: int) -> None:
        super().__init__()
        self.render_mode = None
        self.possible_agents = [f"player_{p}" for p in range(players)]
        self._observation_spaces = {agent: observation_space(True, 0) for agent in self.possible_agents}
        self._action_spaces = {agent: spaces.Discrete(actions.NUM_ACTIONS) for agent in self.possible_agents}
        self._after = dict(zip(self.possible_agents, self.possible_agents[1:] + self.possible_agents[:1], strict=True))

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """As ours."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """As ours."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins nothing."""
        self._observation = np.zeros(OBS_SIZE, np.int8)
        self._mask = np.zeros(actions.NUM_ACTIONS, np.int8)
        self._mask[::80] = 1
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Nothing, in fresh arrays."""
        return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}

    def step(self, action: int | None) -> None:
        """The next one's turn."""
        self.agent_selection = self._after[self.agent_selection]

    def close(self) -> None:
        """Nothing to close."""


def aec_loop(aec: Any, seed: int, choose: Callable[[Any], int]) -> Chunk:
    """PettingZoo's usual loop, the choice of the moves included."""
    aec.reset(seed=seed)

    def chunk() -> tuple[int, float]:
        played, start = 0, clock()
        for _ in aec.agent_iter(LOOP_DECISIONS):
            observation, _, terminated, truncated, _ = aec.last()
            if terminated or truncated:
                aec.step(None)
            else:
                aec.step(choose(observation))
                played += 1
        spent = clock() - start
        if not aec.agents:
            aec.reset()
        return played, spent

    return chunk


def _aec(aec: Any, seed: int) -> Chunk:
    rng = np.random.default_rng(seed)
    return aec_loop(aec, seed, lambda observation: sample(observation["action_mask"], rng))


def aec_raw(players: int, n: int, seed: int) -> Chunk:
    """`raw_env`, with `last`, a compiled sampler, and `step`."""
    return _aec(raw_env(num_players=players), seed)


def aec_wrapped(players: int, n: int, seed: int) -> Chunk:
    """`env`, the same under PettingZoo's standard wrappers."""
    return _aec(env(num_players=players), seed)


def empty_raw(players: int, n: int, seed: int) -> Chunk:
    """An environment without a game: what PettingZoo's loop costs."""
    return _aec(EmptyAEC(players), seed)


def empty_wrapped(players: int, n: int, seed: int) -> Chunk:
    """The same under the standard wrappers: what they cost."""
    wrapped = wrappers.TerminateIllegalWrapper(EmptyAEC(players), illegal_reward=-1)
    return _aec(wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped)), seed)


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
        [sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache}, stderr=subprocess.DEVNULL
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
    """

    name: str
    group: str
    make: Callable[[int, int, int], Chunk]
    unit: str = "decisions/s"
    many: bool = False
    least: int = 1
    most: int = 2**31


LAYERS = (
    Layer("engine", "engine", engine),
    Layer("batch, mask", "batch", batch_mask, many=True),
    Layer("batch, observation", "batch", batch_observation, many=True),
    Layer("batch, all cores", "batch", batch_threads, many=True, least=512),
    Layer("batch, moves chosen too", "batch", batch_played, many=True),
    Layer("vector env", "vector", vector_env, "own decisions/s", many=True, most=4096),
    Layer("SB3 VecEnv", "vector", sb3_env, "own decisions/s", many=True, most=4096),
    Layer("single env", "single", single_env, "own decisions/s"),
    Layer("Game.play(id)", "game", game_ids),
    Layer("Game.play(text)", "game", game_text),
    Layer("Game.legal() + play(text)", "game", game_loop),
    Layer("Game.clone", "copy", clone, "calls/s"),
    Layer("Game.determinize", "copy", determinize_game, "calls/s"),
    Layer("row copied and dealt again", "copy", determinize_row, "calls/s"),
    Layer("AEC raw", "aec", aec_raw),
    Layer("AEC empty raw", "aec", empty_raw),
    Layer("AEC wrapped", "aec", aec_wrapped),
    Layer("AEC empty wrapped", "aec", empty_wrapped),
)
GROUPS = (*dict.fromkeys(layer.group for layer in LAYERS), "memory", "start")


@dataclasses.dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes:
        groups: which of GROUPS.
        players: for which numbers of players.
        sizes: with which numbers of games.
        seconds: how long a repeat measures.
        repeats: how many of them.
        seed: of games and moves.
        clock: which of CLOCKS measures.
    """

    groups: list[str]
    players: list[int]
    sizes: list[int]
    seconds: float
    repeats: int
    seed: int
    clock: str = "wall"


def measure(plan: Plan) -> Iterator[Measurement]:
    """All figures, one after the other."""
    choose_clock(plan.clock)
    for layer in LAYERS:
        if layer.group in plan.groups:
            try:
                yield from _rates_of(layer, plan)
            except ImportError as error:
                needed = error.name or error
                print(f"{layer.name} left out, it needs {needed}: pip install 'euphoria-env[train]'", file=sys.stderr)
    if "memory" in plan.groups:
        for players in plan.players:
            yield from memory(players)
    if "start" in plan.groups:
        yield from startup(plan.repeats)


def _rates_of(layer: Layer, plan: Plan) -> Iterator[Measurement]:
    """The figures of a layer."""
    sizes = [n for n in plan.sizes if layer.least <= n <= layer.most] if layer.many else [0]
    for players, n in itertools.product(plan.players, sizes):
        chunk = layer.make(players, n, plan.seed)
        yield Measurement(layer.name, players, n, layer.unit, rates(chunk, plan.seconds, plan.repeats))
