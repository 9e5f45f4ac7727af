"""Hostile input of every kind: refused in one line that says what is wrong, or accepted and then as good as any other.

``python -m tests.tools.fuzz [kind ...] --inputs 1000 --seed 1`` prints how many inputs were refused, how many used, and what
failed. Set NUMBA_DISABLE_JIT=1 for `since` and `position`: as plain Python, an index beyond an array is an error.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import faulthandler
import functools
import json
import random
import re
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from euphoria_agents import load
from euphoria_env import Game, IllegalMove, Rules, actions, observations
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.json_reader import FieldError
from tests.tools.playing import is_sound, prefer, random_move
from tests.tools.positions import any_position, random_rules

MOVES = 25  # played on with what is accepted
HANGS_AFTER = 300.0  # seconds an input, the first of which may compile
LONGEST = 4500  # of a refusal, in characters; some list all legal moves

DEEP = "nested deep"  # stands for lists in lists, 100,000 of them
SCALARS = (
    None, True, False, "", "star", "7", "no such name", [], {}, [[]], [1, 2], {"a": 1}, DEEP,
    0.5, 1.0, float("nan"), float("inf"), -1, 0, 1, 2, 3, 6, 7, 12, 127, 128, 255, 2**15, 2**31 - 1, 2**31, 2**63 - 1, 2**63,
    -(2**63), 10**30,
)  # fmt: skip
KEYS = (
    "rules", "seed", "version", "load", "since", "players", "status", "no such key", "two\nlines", "options", "league",
    "reward",
)  # fmt: skip
TEXTS = (*'\0\x85\u2028\ud800é"[]{},: \r\t-0', " | ", "9" * 5000)
DTYPES = ("bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64")


class Case(NamedTuple):
    """One hostile input.

    Attributes:
        read: reads it; may refuse it.
        use: what must work with what was read.
        named: a regular expression for what a refusal must name.
    """

    read: Callable[[], Any]
    use: Callable[[Any], Any]
    named: str


# ------------------------------------------------------------------------------------------------------------- changing JSON


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything in a JSON value."""
    found = [path]
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found += places(child, (*path, key))
    return found


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """The value at a place."""
    return functools.reduce(lambda inner, key: inner[key], path, value)


def change(d: Any, rng: random.Random) -> None:
    """Changes one thing in a JSON value: drops, adds, renames or doubles it, or puts something else in its place."""
    everywhere = [path for path in places(d) if path]
    *outer, key = rng.choice(everywhere if rng.random() < 0.5 else [path for path in everywhere if len(path) <= 3])
    parent, other = at(d, tuple(outer)), copy.deepcopy(rng.choice((rng.choice(SCALARS), at(d, rng.choice(everywhere)))))
    kind, value, is_object = rng.randrange(6), parent[key], isinstance(parent, dict)
    if kind == 0:
        del parent[key]
    elif kind == 1 and type(value) is int:
        parent[key] = value + rng.randint(-2, 2)
    elif kind == 2 and not is_object:
        parent.append(copy.deepcopy(value))
    elif kind == 3 and is_object:
        parent[rng.choice(KEYS)] = parent.pop(key)
    elif kind == 4 and is_object:
        parent[rng.choice(KEYS)] = other
    else:
        parent[key] = other


def changed(d: Any, rng: random.Random) -> Any:
    """A copy with one to three changes."""
    d = copy.deepcopy(d)
    for _ in range(rng.choice((1, 1, 2, 3))):
        if d:
            change(d, rng)
    return d


def json_text(value: Any) -> str:
    """As JSON, in which `DEEP` is what it stands for."""
    return json.dumps(value).replace(f'"{DEEP}"', "[" * 100_000 + "]" * 100_000)


def deepened(value: Any) -> Any:
    """The same as a value, which the JSON module would refuse to read."""
    if isinstance(value, dict):
        return {key: deepened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [deepened(inner) for inner in value]
    return functools.reduce(lambda inner, _: [inner], range(100_000), []) if value == DEEP else value


# ------------------------------------------------------------------------------------------------------------- changing files


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Bytes of which some in the middle are others, or that are cut."""
    if rng.random() < 0.2:
        return data[: rng.randrange(len(data))]
    found = bytearray(data)
    start = rng.choice((0, rng.randrange(len(data))))  # the header comes first
    for _ in range(rng.choice((1, 4, 20))):
        found[min(start + rng.randrange(rng.choice((8, 1000, 100_000))), len(found) - 1)] = rng.randrange(256)
    return bytes(found)


def change_array(arrays: dict[str, np.ndarray], rng: random.Random) -> None:
    """Changes one array: drops or renames it, or gives it another type, shape or other values."""
    name = rng.choice(sorted(arrays))
    array, kind = arrays.pop(name).copy(), rng.randrange(8)
    flat = np.atleast_1d(array)
    if kind == 0:
        return
    if kind == 1:
        name = rng.choice((f"{name}.x", name[:-1], rng.choice(sorted(arrays))))
    elif kind == 2:
        array = array.astype(rng.choice(DTYPES))
    elif kind == 3:
        array = rng.choice((array[None], array.ravel(), flat[:-1], flat[:0], array.T, np.concatenate([flat, flat])))
    elif array.size:
        where = [rng.randrange(array.size) for _ in range(rng.choice((1, 3, 20)))]
        if kind < 6:
            value = rng.choice((np.nan, np.inf, -1.0, 0.0, 1.0, 2.0, 5.0, 7.5, 127.0, 1e30, 3e38))
            array.reshape(-1)[where] = np.float64(value).astype(array.dtype)
        else:
            raw = array.reshape(-1).view(np.uint8)
            raw[[rng.randrange(raw.size) for _ in where]] = [rng.randrange(256) for _ in where]
    arrays[name] = array


def hostile_file(arrays: dict[str, np.ndarray], header: dict[str, Any], rng: random.Random) -> bytes:
    """A safetensors file with one or two changes in its arrays, in what its header says, or in its bytes."""
    from safetensors.numpy import save

    arrays, text = dict(arrays), json_text(header)
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.5:
            change_array(arrays, rng)
        else:
            text = json_text(changed(header, rng))
    data = save({name: np.array(array, order="C") for name, array in arrays.items()}, {"euphoria": text})
    return damaged(data, rng) if rng.random() < 0.2 else data


# --------------------------------------------------------------------------------------------------------- positions, records


def game_under_way(rng: random.Random) -> Game:
    """A game in its setup or in the middle."""
    if rng.random() < 0.3:
        game, moves = Game(Rules(**random_rules(rng)), seed=rng.getrandbits(30)), rng.randrange(40)
    else:
        game, moves = Game.from_dict({**any_position(rng), "seed": rng.getrandbits(30)}), rng.randrange(1, 12)
    for _ in range(moves):
        if game.legal():
            game.play((prefer if rng.random() < 0.5 else random_move)(game, rng))
    return game


def play_on(game: Game, rng: random.Random) -> None:
    """Plays random moves."""
    for _ in range(MOVES):
        if game.legal():
            game.play(random_move(game, rng))


def since_case(rng: random.Random, folder: Path) -> Case:
    """A position in the middle of a turn, in which one to three of the lines are others, dropped, doubled or new."""
    while not (d := game_under_way(rng).to_dict()).get("since"):
        pass
    lines = d["since"]
    loads = ('load {"dice": [6, 1]}', 'load {"recruits": ["phil_the_spy"]}', 'load [["dice", 2]]', "load []", "load 7", "seed -1")
    for _ in range(rng.choice((1, 1, 2, 3))):
        k, other = rng.randrange(len(lines) + 1), rng.choice((rng.choice(actions.NAMES), rng.choice(loads), rng.choice(SCALARS)))
        lines[k : k + rng.randrange(2)] = rng.choice(([other], [other, *lines[k : k + 1]], lines[k : k + 1] * 2, []))
    return Case(lambda: Game.from_dict(d), lambda game: is_sound(game, rng.getrandbits(30)), r"^since\b")


def position_case(rng: random.Random, folder: Path) -> Case:
    """A whole position with one to three changes."""
    d = any_position(rng) if rng.random() < 0.3 else game_under_way(rng).to_dict()
    if rng.random() < 0.7:
        d.pop("since", None)
    wrong, keys = deepened(changed(d, rng)), "|".join((*d, *KEYS, "'two", "winner", "ranking"))
    return Case(lambda: Game.from_dict(wrong), lambda game: is_sound(game, rng.getrandbits(30)), rf"^({keys})\b")


@functools.cache
def records() -> tuple[list[str], ...]:
    """The lines of some short records, of games with loaded outcomes too."""
    rng, found = random.Random(1), []
    for number in range(20):
        game = game_under_way(rng)
        if game.legal() and number % 2:
            game.load(dice=[1, 6], lots=[0])
        play_on(game, rng)
        found.append(game.to_record().splitlines())
    return tuple(found)


def record_case(rng: random.Random, folder: Path) -> Case:
    """A record with other characters, words, lines, moves, outcomes to load, or another first line."""
    lines = rng.choice(records()).copy()
    k, kind = rng.randrange(len(lines)), rng.randrange(6)
    words, cut = lines[k].split(" "), rng.randrange(len(lines[k]) + 1)
    if kind == 0:
        lines[k : k + 1] = rng.choice(([], [rng.choice(lines), lines[k]], [rng.choice(actions.NAMES)]))
    elif kind == 1:
        lines.insert(k, "load " + json_text(changed({"dice": [1, 2], "artifacts": ["bat"], "lots": [0]}, rng)))
    elif kind < 4:
        lines[0] = json_text(changed(json.loads(lines[0]), rng))
    elif kind == 4:
        words[rng.randrange(len(words))] = rng.choice(rng.choice(lines).split(" "))
        lines[k] = " ".join(words)
    else:
        lines[k] = lines[k][:cut] + rng.choice(TEXTS) + lines[k][cut + rng.randrange(3) :]
    text = rng.choice(("\n", "\n", "\n", "\r\n")).join(lines) + rng.choice(("", "\n"))
    return Case(lambda: Game.from_record(text), lambda game: is_sound(game, rng.getrandbits(30)), r"^line \d+: ")


# ------------------------------------------------------------------------------------------------------------ files of networks


def small_network() -> dict[str, np.ndarray]:
    """The tensors of a checkpoint; some of its features are -1 where the observation is 0."""
    rng, f = np.random.default_rng(0), 400
    tensors: dict[str, np.ndarray] = {
        "features.source": np.sort(rng.integers(observations.OBS_SIZE, size=f)).astype(np.int32),
        "features.offset": rng.choice([0.0, 0.5, 1.5], f),
        "features.scale": rng.choice([0.2, 2.0], f),
    }
    shapes = {
        "trunk.0": (8, f), "policy.0": (actions.NUM_ACTIONS, 8), "value.0": (1, 8),
        "outlook.0": (5, f), "outlook.1": (MAX_PLAYERS, 5),
    }  # fmt: skip
    for name, shape in shapes.items():
        tensors |= {f"{name}.weight": rng.normal(size=shape), f"{name}.bias": rng.normal(size=shape[0])}
    return {name: tensor if tensor.dtype == np.int32 else tensor.astype(np.float32) for name, tensor in tensors.items()}


@functools.cache
def player() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Tensors and header of a checkpoint."""
    from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint

    with tempfile.TemporaryDirectory() as folder:
        training = {"reward": "win", "gamma": 0.99, "players": [2, 3], "trunk": [8], "decisions_learnt": 100}
        header, tensors = read_checkpoint(save_checkpoint(Path(folder) / "player", small_network(), training))
    return tensors, header


def checkpoint_case(rng: random.Random, folder: Path) -> Case:
    """A trained player in a file with changes."""
    path = folder / "player.safetensors"
    path.write_bytes(hostile_file(*player(), rng))
    spec = f"{rng.choice(('ppo', 'ppo', 'mcts:3:ppo'))}:{path}"

    def use(agent: Any) -> None:
        game, chance = Game(Rules(num_players=2), seed=rng.getrandbits(30)), np.random.default_rng(0)
        for _ in range(MOVES):
            if spec.startswith("ppo"):
                found = agent.log_chances(game.observation(game.player)[None], game.mask()[None])[0][game.mask()]
                assert not np.isnan(found).any() and np.isclose(np.exp(found).sum(), 1, atol=1e-3), found
            game.play(agent.act(game.observation(game.player), game.mask(), chance, game.determinize(game.player, 1)))

    return Case(lambda: load(spec), use, re.escape(str(path)))


# ----------------------------------------------------------------------------------------------------------------------- runs


class SavedRun(NamedTuple):
    """A training run as its folder has it: the state's arrays and header, and the past selves by file name."""

    arrays: dict[str, np.ndarray]
    header: dict[str, Any]
    league: dict[str, bytes]


@functools.cache
def saved_run() -> SavedRun:
    """A small run of two updates."""
    from rich.console import Console

    from euphoria_agents.network.checkpoint import read_tensors
    from euphoria_agents.training.config import Options
    from euphoria_agents.training.saved_run import RUN_FORMAT, STATE
    from euphoria_agents.training.trainer import train

    with tempfile.TemporaryDirectory() as folder:
        small = {
            "decisions": 600, "players": [2, 2, 3], "threads": 1, "win_probs_games": 0, "envs": 3, "batch": 60,
            "game": {"max_turns": 40}, "save_every": 1, "rating_games": 0, "trunk": [4, 3],
        }  # fmt: skip
        train(Options(run=Path(folder), **small), Console(quiet=True), updates=2)
        header, arrays = read_tensors(Path(folder) / STATE, RUN_FORMAT)
        league = {path.name: path.read_bytes() for path in (Path(folder) / "league").iterdir()}
    return SavedRun(arrays, header, league)


def run_case(rng: random.Random, folder: Path) -> Case:
    """A training run with changes in its state, or in the file of a past self, to be resumed for one update."""
    from rich.console import Console

    from euphoria_agents.network.checkpoint import read_tensors
    from euphoria_agents.progress import Progress
    from euphoria_agents.training.config import Options
    from euphoria_agents.training.saved_run import RUN_FORMAT, STATE, reopen
    from euphoria_agents.training.threads import Threads
    from euphoria_agents.training.trainer import open_trainer

    saved, run_folder = saved_run(), folder / "run"
    shutil.rmtree(run_folder, ignore_errors=True)
    (run_folder / "league").mkdir(parents=True)
    whole = rng.random() < 0.9
    league = saved.league if whole else {name: damaged(data, rng) for name, data in saved.league.items()}
    for name, data in league.items():
        (run_folder / "league" / name).write_bytes(data)
    from safetensors.numpy import save

    state = hostile_file(saved.arrays, saved.header, rng) if whole else save(saved.arrays, {"euphoria": json.dumps(saved.header)})
    (run_folder / STATE).write_bytes(state)
    bar = Progress(Console(quiet=True), "training", "decisions")

    def use(run: Any) -> None:
        try:
            run.train()
        except ValueError as error:  # numbers that can be, and diverge at once
            assert re.match(rf"{re.escape(str(run_folder))}, after update \d+: the tensors", str(error)), error
            return
        assert all(np.isfinite(tensor.numpy()).all() for tensor in run.network.state_dict().values())
        assert np.isfinite(run.league.chances()).all()
        read_tensors(run_folder / STATE, RUN_FORMAT)

    def load() -> Any:
        return open_trainer(reopen(Options(resume=run_folder), run_folder), bar, Threads(1), updates=3)

    return Case(load, use, re.escape(str(run_folder)))


KINDS: dict[str, Callable[[random.Random, Path], Case]] = {
    "since": since_case,
    "position": position_case,
    "record": record_case,
    "checkpoint": checkpoint_case,
    "run": run_case,
}


# ------------------------------------------------------------------------------------------------------------------- fuzzing


@dataclasses.dataclass
class Found:
    """The results of some inputs: the numbers refused and used; a line for each that failed."""

    refused: int = 0
    used: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)


def is_refused(case: Case) -> bool:
    """Whether an input is refused; if not, it was used.

    Raises:
        Exception: neither went as it must.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # as numpy's of numbers that are none
            made = case.read()
    except (ValueError, OSError) as error:
        text = str(error)
        ours = isinstance(error, OSError | IllegalMove | FieldError) or type(error) is ValueError
        assert ours, "an error that somebody else made"
        assert re.search(case.named, text), f"does not name {case.named}: {text[:300]}"
        assert text.isprintable() and len(text) < LONGEST, f"is not one line: {text[:300]!r}"
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        case.use(made)
    return False


def fuzz(kind: str, inputs: int, seed: int, first: int = 0) -> Found:
    """Tries inputs of a kind, from number `first` on; input k is the same for any number of them."""
    found = Found()
    with tempfile.TemporaryDirectory() as folder:
        for number in tqdm(range(first, first + inputs), kind, disable=None):
            faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                case = KINDS[kind](random.Random(f"{seed} {kind} {number}"), Path(folder))
            try:
                refused = is_refused(case)
            except Exception as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{Path(place.filename).name}:{place.lineno}"
                found.failures.append(f"{kind} {number}: {where}: {type(error).__name__}: {str(error)[:300]}")
            else:
                found.refused += refused
                found.used += not refused
    faulthandler.cancel_dump_traceback_later()
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="kind", help=f"of {', '.join(KINDS)}; all of them")
    parser.add_argument("--inputs", type=int, default=1000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first input, to see one again")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"there is no kind {', '.join(sorted(unknown))}; allowed are {', '.join(KINDS)}")
    failures = 0
    for kind in options.kinds or KINDS:
        found = fuzz(kind, options.inputs, options.seed, options.first)
        print(
            f"{kind}: {found.refused} refused, {found.used} used, {len(found.failures)} failed",
            *found.failures,
            sep="\n",
            flush=True,
        )
        failures += len(found.failures)
    raise SystemExit(failures > 0)


if __name__ == "__main__":
    main()
