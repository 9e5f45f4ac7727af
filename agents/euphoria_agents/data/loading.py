"""Reads a data set as arrays, game by game or in shuffled batches."""

from __future__ import annotations

import itertools
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from msgspec import Meta, Struct

from euphoria_agents.data import expansion
from euphoria_agents.data.collecting import ABOUT, DATASET, FORMAT, VERSION, origin_of
from euphoria_agents.data.conversion import convert
from euphoria_agents.data.parquet import Columns, check_games, joined, read_part, sha256
from euphoria_agents.files import read_text, read_whole
from euphoria_agents.network.layouts import Layout, other_layout, present_layout
from euphoria_agents.validation import checked, described
from euphoria_env import Rules
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.json_reader import Json, read_integer, read_json, shown
from euphoria_env.observations import OBS_SIZE

EARLIER = 2  # the version whose `dataset.json` lies beside the parts, which do not say what they are
WINDOW = 1_000_000  # decisions that are shuffled together, by default
Count = Annotated[int, Meta(ge=0)]
Item = TypeVar("Item")
Answer = TypeVar("Answer")


class _File(Struct):
    name: Annotated[str, described(r"^part-\d{5}\.parquet$", "a name such as part-00000.parquet, without a folder")]
    games: Annotated[int, Meta(ge=1)]
    decisions: Count
    sha256: str


class _Agent(Struct):
    spec: str
    files: dict[str, str]


class _Description(Struct):
    version: int
    environment: Json
    agents: Annotated[list[_Agent], Meta(min_length=1, max_length=100)]
    rules: Json
    reward: str
    seed: int
    games: int
    decisions: int
    sha256: str
    files: list[_File]

    def __post_init__(self) -> None:
        for name in ("games", "decisions"):
            if (number := sum(getattr(file, name) for file in self.files)) != getattr(self, name):
                raise ValueError(f"{name} is {getattr(self, name)}, but the files have {number}")
        if sha256("".join(file.sha256 for file in self.files).encode()) != self.sha256:
            raise ValueError("sha256 is not the hash of those of the files")


def load(folder: str | Path, threads: int | None = None) -> Dataset:
    """Returns a data set that `euphoria collect` has written.

    Args:
        folder: the folder of the data set.
        threads: the number of threads that read ahead; None: one for each core.

    Raises:
        ValueError: there is no data set, it is damaged, or it is of another version of the format, or of another one of the
            environment without the names of its layout; or `threads` is not an integer of at least 1.
    """
    return Dataset(Path(folder), os.cpu_count() or 1 if threads is None else read_integer("threads", threads, 1))


def _read_description(folder: Path) -> tuple[Json, _Description, Layout | None]:
    """Reads `dataset.json`; returns it as plain JSON and as a checked type, and its layout if that is not the present one."""
    path = folder / DATASET if (folder / DATASET).exists() else folder / ABOUT / DATASET
    if not path.exists():
        raise ValueError(
            f"{folder}: no data set: there is no {DATASET}, which `euphoria collect` writes when all games are played"
        )
    try:
        found = read_json(read_text(path))
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"not of the format {FORMAT}")
        if found.get("version") not in (EARLIER, VERSION):
            raise ValueError(f"of version {shown(found.get('version'))} of the format, not {VERSION}: collect it again")
        about = checked(found, _Description)
        Rules.from_dict(about.rules)
        other = other_layout(about.environment)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if other is not None:
        told = other.difference(present_layout())
        warnings.warn(f"{folder} was collected with another version of the environment, and is converted; {told}", stacklevel=4)
    return found, about, other


class Dataset:
    """A data set in a folder; `load` makes one. Iterating yields its games as dicts of arrays; its length is their number.

    The arrays of a game have an entry for each of its T decisions, in the order in which they were made:

        observation: int8 (T, OBS_SIZE), what the seat that decided could see.
        action_mask: bool (T, NUM_ACTIONS), its legal moves.
        action: int64 (T,), the move that was played.
        seat: int8 (T,), the seat that decided.
        reward: float32 (T,), the seat's reward from this decision until its next one or the end of the game.
        turns: int32 (T,), the turns from this decision until the next one of the seat; 0 for its last one.
        terminated, truncated: bool (T,), whether the game ended, or was cut off, before the seat decided again.
        final_observation: int8 (T, OBS_SIZE), what the seat saw at the end, where one of these is true; zeros elsewhere.
        rank: int8 (T,), the final rank of the seat, 1 is best.
        game, index: int32 (T,), the numbers of the game and of the decision in it.
        turn: int32 (T,), the number of the turn.
        agent: int8 (T,), the agent that decided, as an index into `agents`.

    Attributes:
        agents: the specs of the agents, each once.
        rules: the rules of the games.
        reward: the name of the reward.
        decisions: the number of decisions.
        about: the content of `dataset.json`.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        self.about, found, self._other = _read_description(folder)
        self.agents = list(dict.fromkeys(agent.spec for agent in found.agents))
        self.rules, self.reward = Rules.from_dict(found.rules), found.reward
        self.decisions = sum(file.decisions for file in found.files)
        self._folder, self._files, self._threads = folder, found.files, threads
        plan = [agent.spec for agent in found.agents], found.rules, found.reward, found.seed
        firsts = itertools.accumulate((file.games for file in found.files), initial=0)
        self._origins = {file.name: origin_of(*plan, first, file.games) for file, first in zip(found.files, firsts, strict=False)}

    def __len__(self) -> int:
        return sum(file.games for file in self._files)

    def __repr__(self) -> str:
        return f"Dataset({str(self._folder)!r}: {len(self):,} games, {self.decisions:,} decisions of {', '.join(self.agents)})"

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        """Yields the games; raises a `ValueError` that names the file if one is missing or damaged."""
        for columns in self._in_threads(self._read_file, self._files):
            ends = np.flatnonzero(np.diff(columns.scalars["game"], append=-1)) + 1
            for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
                yield _arrays(columns, np.arange(first, last))

    def batches(self, size: int, seed: int = 0, window: int = WINDOW) -> Iterator[dict[str, np.ndarray]]:
        """Yields all decisions once, in batches, in random order.

        The files are read in random order, and their decisions are shuffled as soon as there are enough for a window: a data set
        no larger than the window is shuffled as a whole.

        Args:
            size: the decisions in a batch; the last batch of a window may have fewer.
            seed: equal seeds give equal batches.
            window: the decisions in memory at a time, about 300 bytes each; up to a file more are read.

        Raises:
            ValueError: `size` or `window` is not a positive integer, `seed` is not one of at least 0, or a file is damaged.
        """
        size, window = read_integer("size", size, 1), read_integer("window", window, 1)
        rng = np.random.default_rng(read_integer("seed", seed, 0))
        files = [self._files[k] for k in rng.permutation(len(self._files))]
        waiting: list[Columns] = []
        for left, columns in zip(range(len(files) - 1, -1, -1), self._in_threads(self._read_file, files), strict=True):
            waiting.append(columns)
            if left and sum(one.size for one in waiting) < window:
                continue
            together = joined(waiting)
            waiting.clear()
            order = rng.permutation(together.size)
            slices = (order[first : first + size] for first in range(0, together.size, size))
            yield from self._in_threads(partial(_arrays, together), slices)

    def _in_threads(self, work: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        """Yields the results of `work` for all items, in order, which threads compute ahead of time."""
        with ThreadPoolExecutor(self._threads) as pool:
            ahead: deque[Future[Answer]] = deque()
            for item in items:
                ahead.append(pool.submit(work, item))
                if len(ahead) > self._threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()

    def _read_file(self, file: _File) -> Columns:
        path = self._folder / file.name
        content = read_whole(path)
        try:
            if sha256(content) != file.sha256:
                raise ValueError(f"its SHA-256 is not that in {DATASET}")
            origin = self._origins[file.name]
            layout = self._other or present_layout()
            columns = read_part(content, self.agents, layout, None if self.about["version"] == EARLIER else origin)
            if columns.size != file.decisions:
                raise ValueError(f"it has {columns.size} decisions, not {file.decisions} as {DATASET} says")
            check_games(columns.scalars, origin["first"], file.games)
        except ValueError as error:
            raise ValueError(f"{path} is damaged: {error}") from None
        return convert(columns, self._other) if self._other else columns


def _arrays(columns: Columns, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Returns some rows of a part as the arrays of `Dataset`."""
    observation, mask = np.zeros((len(rows), OBS_SIZE), np.int8), np.zeros((len(rows), NUM_ACTIONS), np.bool_)
    final, lists = np.zeros_like(observation), columns.lists
    begins = {name: column.indptr for name, column in lists.items()}
    numbers = {name: _read_only(column.indices) for name, column in lists.items()}
    legal = begins["legal"], numbers["legal"]
    expansion.expand(rows, begins["entries"], numbers["entries"], numbers["values"], *legal, observation, mask)
    nothing = np.zeros_like(begins["legal"]), numbers["legal"]
    expansion.expand(rows, begins["final_entries"], numbers["final_entries"], numbers["final_values"], *nothing, final, mask)
    found: dict[str, Any] = {name: array[rows] for name, array in columns.scalars.items()}
    whole = {"observation": observation, "action_mask": mask, "final_observation": final}
    return {**whole, **found, "action": found["action"].astype(np.int64)}


def _read_only(array: np.ndarray) -> np.ndarray:
    """Returns a read-only view: Arrow's arrays are read-only, and compiled code takes only one type."""
    view = array.view()
    view.flags.writeable = False
    return view
