"""Converts the columns of a part to a Parquet file and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from euphoria_agents.network.layouts import Layout
from euphoria_agents.training.csr import CSR, join_lists
from euphoria_env.board import MAX_PLAYERS

LEVEL = 6  # of compression; a higher one takes longer and saves 2 %
ORIGIN = "euphoria"  # the key of what a file says of its games
ROWS = 1 << 17  # in a row group
PAGE = 1 << 24  # bytes of a page, which is large since the compression finds repetitions only within a page
# The columns in their order: first those with a number for each decision, then those with a list.
SCALARS = {
    "game": np.int32,
    "index": np.int32,
    "seat": np.int8,
    "agent": np.int8,
    "turn": np.int32,
    "action": np.int16,
    "reward": np.float32,
    "turns": np.int32,
    "terminated": np.bool_,
    "truncated": np.bool_,
    "rank": np.int8,
}
LISTS = {"entries": np.int16, "values": np.int8, "legal": np.int16, "final_entries": np.int16, "final_values": np.int8}


class Columns(NamedTuple):
    """The decisions of some games."""

    # arrays (T,) with the names and types in `SCALARS`; an agent is an index into the list of the specs
    scalars: dict[str, np.ndarray]
    # T lists for each name in `LISTS`: entries of the observation that are not 0, their values; the legal moves; and such
    # entries and values of the final observation, which only the last decision of a seat has
    lists: dict[str, CSR]

    @property
    def size(self) -> int:
        """The number of decisions, T."""
        return len(self.scalars["game"])


def write_part(columns: Columns, agents: Sequence[str], origin: Mapping[str, Any]) -> bytes:
    """Returns a part as the bytes of a Parquet file, which has its origin; equal parts give equal bytes with one pyarrow."""
    agent = pa.DictionaryArray.from_arrays(pa.array(columns.scalars["agent"]), pa.array(agents, pa.string()))
    arrays = [pa.array(columns.scalars[name]) if name != "agent" else agent for name in SCALARS]
    arrays += [
        pa.ListArray.from_arrays(pa.array(one.indptr, pa.int32()), pa.array(one.indices), _list(LISTS[name]))
        for name, one in columns.lists.items()
    ]
    sink = pa.BufferOutputStream()
    table = pa.Table.from_arrays(arrays, schema=_schema().with_metadata({ORIGIN: json.dumps(origin)}))
    pq.write_table(
        table, sink, row_group_size=ROWS, data_page_size=PAGE, compression="zstd", compression_level=LEVEL,
        use_dictionary=["agent"], write_statistics=["game"],
    )  # fmt: skip
    return sink.getvalue().to_pybytes()


def read_part(content: bytes, agents: Sequence[str], layout: Layout, origin: Mapping[str, Any] | None = None) -> Columns:
    """Returns the columns of a part, from the bytes of its file and the specs of the data set, or raises a `ValueError`."""
    try:
        table = pq.read_table(pa.BufferReader(content), use_threads=False).combine_chunks()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"not a file of Parquet: {error}") from None
    if not table.schema.equals(_schema()):
        raise ValueError("its columns are not those of a data set")
    if origin is not None and (table.schema.metadata or {}).get(ORIGIN.encode()) != json.dumps(origin).encode():
        raise ValueError("its games are not those that are wanted")
    if not len(table):
        raise ValueError("it has no decisions")
    arrays = {name: table.column(name).chunk(0) for name in table.column_names}
    arrays["agent"] = _places(arrays["agent"], agents)
    scalars = {name: arrays[name].to_numpy(zero_copy_only=False) for name in SCALARS}
    lists = {name: _lists(arrays[name]) for name in LISTS}
    for entries, values in (("entries", "values"), ("final_entries", "final_values")):
        if not np.array_equal(lists[entries].indptr, lists[values].indptr):
            raise ValueError("there are not as many entries as values")
        _check_range("an entry", lists[entries].indices, len(layout.entries))
    _check_range("a legal move", lists["legal"].indices, len(layout.actions))
    _check_range("an action", scalars["action"], len(layout.actions))
    _check_range("a seat", scalars["seat"], MAX_PLAYERS)
    return Columns(scalars, lists)


def check_games(scalars: Mapping[str, np.ndarray], first: int, games: int) -> None:
    """Raises a `ValueError` if the decisions are not those of `games` whole games from number `first` on, in their order."""
    game, size = scalars["game"], len(scalars["game"])
    begins = np.flatnonzero(np.diff(game, prepend=game[0] - 1))
    if not np.array_equal(game[begins], np.arange(first, first + games)):
        raise ValueError(f"its games are not the {games} from number {first} on, in their order")
    if not np.array_equal(scalars["index"], np.arange(size) - np.repeat(begins, np.diff(begins, append=size))):
        raise ValueError("the decisions of a game are not in their order, or not all there")
    last = np.full(games * MAX_PLAYERS, -1)  # by game and seat
    last[(game - first) * MAX_PLAYERS + scalars["seat"]] = np.arange(size)
    ends = np.flatnonzero(scalars["terminated"] | scalars["truncated"])
    if not np.array_equal(np.sort(last[last >= 0]), ends) or not np.isin(np.append(begins[1:], size) - 1, ends).all():
        raise ValueError("a game does not end with the last decisions of its seats")


def joined(parts: Sequence[Columns]) -> Columns:
    """Joins the columns of several parts."""
    if len(parts) == 1:
        return parts[0]
    scalars = {name: np.concatenate([part.scalars[name] for part in parts]) for name in SCALARS}
    return Columns(scalars, {name: join_lists([part.lists[name] for part in parts]) for name in LISTS})


def sha256(content: bytes) -> str:
    """Returns the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _list(kind: Any) -> Any:
    return pa.list_(pa.field("element", pa.from_numpy_dtype(kind), nullable=False))


def _schema() -> Any:
    kinds: Mapping[str, Any] = {name: pa.from_numpy_dtype(kind) for name, kind in SCALARS.items()}
    kinds = {**kinds, "agent": pa.dictionary(pa.int8(), pa.string()), **{name: _list(kind) for name, kind in LISTS.items()}}
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in kinds.items()])


def _lists(array: Any) -> CSR:
    begins = array.offsets.to_numpy().astype(np.int64)
    return CSR(begins - begins[0], array.flatten().to_numpy())


def _places(array: Any, agents: Sequence[str]) -> Any:
    """Returns the indices of the agents in the list of the data set."""
    specs = array.dictionary.to_pylist()
    if not set(specs) <= set(agents):
        raise ValueError(f"its agents are {', '.join(specs)}, not some of {', '.join(agents)}")
    return pa.array([agents.index(spec) for spec in specs], pa.int8()).take(array.indices)


def _check_range(what: str, found: np.ndarray, end: int) -> None:
    if len(found) and not (found.min() >= 0 and found.max() < end):
        raise ValueError(f"{what} is not one from 0 to {end - 1}")
