"""Units of work: games that can be played in any order, on any machine, and again, and the journal of those that are finished.

The result of a `WorkUnit` depends on nothing but its fields; a `Journal` saves the results of finished units.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import secrets
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec

import euphoria_env
from euphoria_agents.agent_process import counts_of
from euphoria_agents.files import append_line, read_text, write_whole
from euphoria_agents.matches.match import MatchResult, play_cast
from euphoria_agents.matches.players import Players, seed_for
from euphoria_agents.matches.processes import Run, resume_work
from euphoria_agents.provenance import CONNECTION, Inputs, changed_since, joined, unsure
from euphoria_agents.registry import file_hashes, is_builtin, language_models
from euphoria_agents.validation import decoded_lines
from euphoria_env import Rules
from euphoria_env.engine import cache_files

SEED = "_seed.txt"  # in the folder of a run; readers of Parquet pass over files with such names
DATA = ["safetensors", "md", "toml"]  # endings of the files of this project, besides its code, that agents read
SEEDS = 16  # in a unit of work; each is played once from every seat
MOST_GAMES = 10_000_000  # the most games of an agent in a match
SEEDS_OF_SEARCHERS = 1  # in a unit of work with agents that search: their games take long, and an interrupt loses a whole unit

_hashes_once = cache(file_hashes)
PLAYERS = Players()  # of this process
player = PLAYERS.player


@contextlib.contextmanager
def players_ended() -> Iterator[None]:
    """Ends the processes of all players when the `with` statement ends."""
    with contextlib.closing(PLAYERS):
        yield


@dataclass(frozen=True)
class WorkUnit:
    """A unit of work: some seeds, each played once from every seat."""

    lineup: tuple[str, ...]  # the specs of the agents, one for each player
    number: int  # units with equal number, seed and number of players have the same deals, whoever plays (but see `deals`)
    seed: int  # the seed of the tournament, 0 or more
    seeds: int  # how many seeds the unit has
    rules: Rules
    sources: str  # what `sources(lineup)` returned when the work began
    run: int = 0  # tells units apart that play the same games again

    @property
    def games(self) -> int:
        """The number of games."""
        return self.seeds * len(self.lineup)

    @property
    def key(self) -> str:
        """The unit as a line of JSON."""
        return _key(asdict(self))

    @property
    def deals(self) -> tuple[int, ...]:
        """The seed of its deals; no units of other line-ups share those of a language model, whose server may remember them."""
        own = [replace(self, run=0).salt] if language_models(self.lineup) else []
        return self.seed, len(self.lineup), self.number, *own

    @property
    def salt(self) -> int:
        """A number for the names of its games, which units of other line-ups, rules or runs do not share."""
        about = _key({"lineup": self.lineup, "rules": asdict(self.rules), "run": self.run})
        return int.from_bytes(hashlib.blake2b(about.encode(), digest_size=8).digest())

    def record_names(self) -> list[str]:
        """Returns the file names for the records of its games: a number, and the agents in the order of their seats."""
        digest, n = hashlib.blake2b(self.key.encode(), digest_size=4).hexdigest(), len(self.lineup)
        short = [re.sub(r"[^A-Za-z0-9.]+", "-", spec)[-30:] for spec in self.lineup]
        seated = ["_".join(short[(seat - rotation) % n] for seat in range(n)) for rotation in range(n)]
        return [f"{self.number:05}-{digest}-{k:03}_{seated[k % n]}.record" for k in range(self.games)]


def play_unit(unit: WorkUnit, records: bool = False, limit: float | None = None) -> MatchResult:
    """Plays a unit of work, always with the same result, which has the counts of the first agent (`Player.counts`).

    Args:
        records: whether the result has the records of the games.
        limit: the seconds for a decision of the first agent; if its `act_batch` answers many at once, for the average.

    Raises:
        ValueError: the code or the checkpoints here differ from those of the unit, or a file that an agent read has changed.
        AgentFailed: an agent failed, or took too long.
    """
    if unit.sources != sources(unit.lineup):
        raise ValueError("code or checkpoints are not those with which the games began")
    cast = PLAYERS.cast(unit.lineup, unit.deals, limit)
    secret = seed_for(itertools.chain(*cast), unit.seed), *unit.deals[1:]
    firsts = {id(row[0]): row[0] for row in cast}.values()
    before = _counted(firsts)
    result = play_cast(cast, unit.games, unit.rules, unit.deals, secret, records, unit.salt)
    counts = {name: counted - before[name] for name, counted in _counted(firsts).items()}
    return replace(result, counts=counts, inputs=inputs_of(unit.lineup))


def inputs_of(specs: Collection[str]) -> dict[str, Inputs]:
    """Returns what the players of these specs have read in their processes; a `ValueError` names a file that has changed."""
    models = {spec: Inputs(unseen=[CONNECTION]) for spec in language_models(specs)}
    return joined([models, *({one.name: one.inputs()} for one in PLAYERS.processes(specs))])


def _counted(agents: Iterable[Any]) -> dict[str, float]:
    """Returns the sums of what agents have counted."""
    found = defaultdict[str, float](float)
    for agent in agents:
        for name, counted in counts_of(agent).items():
            found[name] += counted
    return found


def sources(specs: Sequence[str]) -> str:
    """Returns a hash of what is known before the games: the code, the shipped checkpoints, and files in specs of this project."""
    digest = hashlib.blake2b(hash_of_code(), digest_size=8)
    for spec in sorted(set(specs)):
        if hashes := _hashes_once(spec):
            digest.update(json.dumps(hashes).encode())
    return digest.hexdigest()


@cache
def hash_of_code() -> bytes:
    """Returns a hash of the code of this project, without comments and docstrings, and of the networks and texts that it has."""
    folders = Path(euphoria_env.__file__).parent, Path(__file__).parent.parent
    code, data = ([file for one in folders for end in ends for file in sorted(one.rglob(f"*.{end}"))] for ends in (["py"], DATA))
    text = cache_files.short_hash(b"\0".join(str(file).encode() + file.read_bytes() for file in [*code, *data]))
    kept = (cache_files.cache_directory() or Path(os.devnull)) / f"euphoria_agents-matches-{text}.key"
    key = cache_files.read(kept)  # since the next line takes a second
    if key is None:
        contents = [hashlib.sha256(file.read_bytes()).hexdigest() for file in data]
        key = cache_files.short_hash(repr((cache_files.code_key(code), contents)).encode()).encode()
        cache_files.write(kept, key)
    return key


def check_counts(**counts: int) -> None:
    """Raises a `ValueError` that names the option for a number that is too small, or for too many games."""
    for name, value in counts.items():
        least = 0 if name == "seed" else 1
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")
        if name == "games" and value > MOST_GAMES:
            raise ValueError(f"games must be at most {MOST_GAMES:,}, not {value:,}")


def choose_seed(given: int | None, folder: Path | None) -> int:
    """Returns the seed of a run: the one given, else that which `keep_seed` has put into its folder, else 128 random bits."""
    if given is not None or folder is None or not (folder / SEED).exists():
        return secrets.randbits(128) if given is None else given
    try:
        return int(read_text(folder / SEED))
    except ValueError:
        raise ValueError(f"{folder / SEED} must be a number: name the seed by --seed") from None


def keep_seed(folder: Path | None, seed: int) -> None:
    """Writes the seed of a run that was given none into its folder, so that the same command continues it."""
    if folder and not (folder / SEED).exists():
        write_whole(folder / SEED, f"{seed}\n")


def seeds_of_a_unit(specs: Sequence[str]) -> int:
    """Returns the number of seeds in a unit of work of these agents."""
    agents = [player(spec) for spec in specs]
    if any(hasattr(agent, "act_games") for agent in agents):
        return SEEDS  # asked for many games at once
    return SEEDS_OF_SEARCHERS if any(getattr(agent, "needs_game", False) for agent in agents) else SEEDS


class Journal:
    """Saves the results of finished units of work as lines of JSON in a file, and the records of their games in a folder.

    A line is written after the unit's records; an incomplete line is ignored.

    Args:
        file: the file; None: results are not saved.
        records: the folder; None: records are not saved. With a folder, a unit is finished only if it has all of its records.
    """

    def __init__(self, file: Path | None = None, records: Path | None = None) -> None:
        self.file, self.records = file, records
        self._latest = time.perf_counter()
        self.unsure: list[str] = []  # why `finished` left out kept games: what else their agents may depend on

    def finished(self, units: Iterable[WorkUnit]) -> dict[WorkUnit, MatchResult]:
        """Returns the results of those units that are finished, by agents that would read the same files today."""
        last = {_key(entry.chunk): entry.result for entry in self._entries()}
        found = {unit: last[unit.key] for unit in units if unit.key in last and self._has_records(unit)}
        read = [inputs for result in found.values() for inputs in result.inputs.values()]
        self.unsure, changed = unsure(read), changed_since(read)
        return {unit: result for unit, result in found.items() if _is_known(unit, result, changed)}

    def seconds(self, units: Iterable[WorkUnit]) -> float:
        """Returns how long these units took by the clock, over all starts: the processes play at the same time."""
        keys = {unit.key for unit in units}
        return sum(entry.seconds for entry in self._entries() if _key(entry.chunk) in keys)

    def _has_records(self, unit: WorkUnit) -> bool:
        return self.records is None or all((self.records / name).exists() for name in unit.record_names())

    def _entries(self) -> Iterator[_Entry]:
        return iter(()) if self.file is None else decoded_lines(self.file, _Entry)

    def add(self, unit: WorkUnit, result: MatchResult) -> None:
        """Saves the result of a unit, and its records."""
        if self.records is not None:
            for name, text in zip(unit.record_names(), result.records, strict=True):
                write_whole(self.records / name, text)
        if self.file is not None:
            now = time.perf_counter()
            passed, self._latest = round(now - self._latest, 3), now
            line = {"chunk": asdict(unit), "result": asdict(replace(result, records=[])), "seconds": passed}
            append_line(self.file, json.dumps(line))


class _Entry(msgspec.Struct):
    """A line of a journal; the seconds are those since the line before it, or since the start."""

    chunk: dict[str, Any]
    result: MatchResult
    seconds: float = 0.0


def _is_known(unit: WorkUnit, result: MatchResult, changed: Collection[tuple[str, str]]) -> bool:
    """Returns whether a result says all that the agents of its unit read, and none of that has changed."""
    own, read = {spec for spec in unit.lineup if not is_builtin(spec)}, result.inputs.values()
    return own <= {*result.inputs} and not unsure(read) and not any(pair in changed for one in read for pair in one.files.items())


def _key(unit: Mapping[str, Any]) -> str:
    return json.dumps(unit, sort_keys=True)


def play_units(
    units: Sequence[WorkUnit],
    journal: Journal,
    run: Run[WorkUnit, MatchResult],
    progress: Callable[[int], None] | None = None,
    limit: float | None = None,
    play: Callable[..., MatchResult] = play_unit,
) -> dict[WorkUnit, MatchResult]:
    """Plays the units that the journal does not have, adds their results to it, and returns the results of all units in order.

    Args:
        run, progress, limit: see `resume_work` and `play_unit`.
        play: plays a unit, with the arguments of `play_unit`.

    Raises:
        ValueError: a file that an agent reads changed while the units were played; the message names it.
    """
    results = journal.finished(units)
    if what := ", ".join(journal.unsure):
        print(f"games are played again, since their agents may depend on {what}", file=sys.stderr, flush=True)
    known = joined([*(result.inputs for result in results.values()), inputs_of({spec for one in units for spec in one.lineup})])

    def save(unit: WorkUnit, result: MatchResult) -> None:
        nonlocal known
        known = joined([known, result.inputs])
        journal.add(unit, result)
        results[unit] = result

    work = partial(play, records=journal.records is not None, limit=limit)
    in_order = sorted(units, key=lambda unit: unit.lineup)  # so that few processes get the same deals, and must be replaced
    resume_work(in_order, set(results), work, run, save, progress, journal.file is not None)
    return {unit: results[unit] for unit in units}
