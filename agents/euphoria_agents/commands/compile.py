"""`euphoria compile`: calls every entry point once, so that all are compiled and kept."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
import time
from collections.abc import Callable
from functools import partial

import numba
import numpy as np
from euphoria_env.engine.cache import cache_directory, times_compiled

from euphoria_agents.agent import explained
from euphoria_agents.commands.shared_arguments import CompileOptions
from euphoria_agents.data.expansion import expand
from euphoria_agents.machine import usable_cores
from euphoria_agents.network.checkpoint import Features
from euphoria_agents.network.weight_layout import features_of_rows, flatten, row_begins
from euphoria_agents.registry import BUILTIN, load
from euphoria_agents.speed import layers
from euphoria_agents.training import kernels
from euphoria_env import Batch, Game, Rules, words
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.engine import batch_kernels
from euphoria_env.engine.jit import ENTRIES
from euphoria_env.engine.state import copy_rows
from euphoria_env.engine.tape import empty_tape
from euphoria_env.envs.aec import env
from euphoria_env.envs.asking import ask
from euphoria_env.envs.random_moves import sample
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.observations import OBS_SIZE
from euphoria_env.trajectories import Trajectories, estimate_advantages

SMALLEST_BUDGET = "1"  # of those who must be told, or would take their time


def run(options: CompileOptions) -> None:
    """The command.

    Raises:
        ValueError: the compiler is switched off.
    """
    if numba.config.DISABLE_JIT:
        raise ValueError("NUMBA_DISABLE_JIT is set: nothing can be compiled")
    start = time.perf_counter()
    work = steps()
    for k, (name, step) in enumerate(work.items(), 1):
        print(f"{k}/{len(work)} {name} ... ", end="", file=sys.stderr, flush=True)
        began = time.perf_counter()
        with contextlib.redirect_stderr(io.StringIO()):  # the engine names what it compiles; here the steps do
            step()
        print(f"{time.perf_counter() - began:.1f} s", file=sys.stderr, flush=True)
    if not importlib.util.find_spec("safetensors"):
        print("left out: trained networks; they need safetensors: pip install 'euphoria-env[play]'", file=sys.stderr)
    new = f"{times_compiled()} of {len(ENTRIES)} entry points compiled in {time.perf_counter() - start:.0f} s, all kept in"
    done = new if times_compiled() else f"all {len(ENTRIES)} entry points were compiled already, in"
    print(f"{done} {cache_directory() or 'no folder: there is none that only this user can write to'}")


def steps() -> dict[str, Callable[[], None]]:
    """The steps that call every entry point, by name; `tests/test_commands.py` compares them with the list of entry points."""
    return {
        "game": play_game,
        "words": explain_moves,
        "batch": play_batch,
        "environments": play_environments,
        "speed": measure_engine,
        **{spec: partial(ask_agent, spec) for spec in agents()},
        "trajectories": learn_from_batch,
        "data": read_data,
        "training": train_a_little,
    }


def agents() -> list[str]:
    """The specs of all built-in agents: searching ones with every evaluator and in threads, trained ones if readable here."""
    from euphoria_agents.players.search.tree_search import EVALUATORS

    found = []
    for name, row in BUILTIN.items():
        if name == "mcts":
            found += [f"{name}:{SMALLEST_BUDGET}:{evaluator}" for evaluator in EVALUATORS]
            found += [f"{name}:{SMALLEST_BUDGET}*2"] * (usable_cores() > 1)
        else:
            found.append(f"{name}:{SMALLEST_BUDGET}" if "BUDGET" in row.form else name)
    trained = importlib.util.find_spec("safetensors") is not None
    return [spec for spec in found if trained or "ppo" not in spec.split(":")]


def play_game() -> None:
    """All that `Game` can do."""
    game = Game(Rules(), seed=0)
    game.load(dice=[1])
    game.play(game.legal()[0])
    game.observation(0)
    game.determinize(0, 0)
    Game.from_dict({"rules": {"num_players": 2}, "players": [{}, {}]}).legal()
    Game.from_record(game.to_record())


def explain_moves() -> None:
    """Foretells moves; nothing is foretold in the setup."""
    game = Game.from_dict({"rules": {"num_players": 2}, "players": [{}, {}]})
    words.legal_moves(game, game.player)


def play_batch() -> None:
    """All that `Batch` can do, with uniformly random moves."""
    for observe in (False, True):
        batch = Batch(2, Rules(), seed=0, observe=observe, events=int(observe))
        batch.step(batch.sample(np.random.default_rng(0)))
        batch.restore(batch.state())
    rows, none = copy_rows(batch.states), np.zeros(0, np.int64)
    batch_kernels.show_ends(rows, none, np.zeros((2, batch.rules.num_players, OBS_SIZE), np.int8))
    batch_kernels.show_seats(rows, none, none, np.zeros((0, OBS_SIZE), np.int8))
    batch_kernels.show_last_events(rows, np.stack([empty_tape(1)]), none, none, batch.events[:0])


def play_environments() -> None:
    """Each environment, for a decision or two."""
    rng = np.random.default_rng(0)
    aec = env(events=1)
    aec.reset(seed=0)
    aec.step(sample(aec.observe(aec.agent_selection)["action_mask"], rng))
    single = EuphoriaEnv(opponents="random")
    _, info = single.reset(seed=0)
    single.step(sample(info["action_mask"], rng))
    vector = EuphoriaVectorEnv(2, opponents="random")
    vector.reset(seed=0)
    vector.step(sample(vector.action_masks(), rng))


def measure_engine() -> None:
    """Compiles what only `euphoria speed` calls."""
    layers.engine(2, 0, 0)()


def ask_agent(spec: str) -> None:
    """A decision of an agent, and what it thinks of it."""
    game = Game(Rules(), seed=0)
    seen, masks = game.observation(game.player)[None], game.mask()[None]
    agent, rng, dealt = load(spec), np.random.default_rng(0), game.determinize(game.player, 0)
    ask(agent, seen, masks, rng, lambda _: dealt)
    explained(agent, seen[0], masks[0], rng, dealt)


def learn_from_batch() -> None:
    """Trajectories, and what is estimated from them."""
    batch = Batch(2, Rules(), seed=0)
    decisions = Trajectories(batch, 2)
    decisions.add(np.arange(2))
    batch.step(batch.sample(np.random.default_rng(0)))
    decisions.credit()
    estimate_advantages(np.zeros(2, np.float32), decisions.reward, decisions.following, 1.0, 1.0)


def read_data() -> None:
    """Compiles the part that loads a data set; pyarrow itself is not needed."""
    one, begins = np.zeros(1, np.int64), np.array([0, 1])
    entries, values = (np.frombuffer(bytes(kind.itemsize), kind) for kind in (np.dtype(np.int16), np.dtype(np.int8)))
    observation, mask = np.zeros((1, OBS_SIZE), np.int8), np.zeros((1, NUM_ACTIONS), np.bool_)
    expand(one, begins, entries, values, begins, entries, observation, mask)


def train_a_little() -> None:
    """The compiled parts of an update, with a network of a layer that has one neuron; PyTorch itself is not needed."""
    features = Features(np.zeros(1), np.zeros(1), np.ones(1))
    begins = row_begins(features)
    rows = features_of_rows(features, begins)
    weight, bias = np.zeros((1, 1), np.float32), np.zeros(1, np.float32)
    table, out = np.zeros((int(begins[-1]), 1), np.float32), np.zeros((1, 1), np.float32)
    head, head_bias = np.zeros((NUM_ACTIONS, 1), np.float32), np.zeros(NUM_ACTIONS, np.float32)
    weights, (layers,) = flatten([[(weight[:0], bias)]])
    batch, which, move, log_prob = Batch(1, Rules(), seed=0), np.arange(1), np.zeros(1, np.int64), np.zeros(1, np.float32)
    seen, legal = ((np.zeros(2, np.int64), np.zeros(size, np.int16)) for size in (OBS_SIZE, NUM_ACTIONS))
    kernels.play_and_record(
        batch.observation, batch.mask, which, np.zeros(1), begins, table, weights, layers, head, head_bias, 0, move, log_prob,
        *seen, *legal,
    )  # fmt: skip
    kernels.record_observations(batch.observation, begins, *seen)
    kernels.weigh_rows(*rows, weight, 0, len(table), table)
    kernels.first_layer(*seen, which, table, bias, out)
    kernels.first_layer_back(*seen, which, out, *rows, 0, len(table), weight)
    kernels.judge_moves(out, head, head_bias, *legal, which, np.zeros(NUM_ACTIONS, np.float32))
    kernels.learn_moves(
        out, head, head_bias, *legal, which, move, log_prob, bias, bias, 0.2, 0.01, 0.0, 1.0, out.copy(), head.copy(),
        head_bias.copy(), np.zeros(5),
    )  # fmt: skip
    kernels.adam(bias, log_prob, bias.copy(), bias.copy(), 1.0, 1e-3, 0.9, 0.999, 1e-5, 1)
