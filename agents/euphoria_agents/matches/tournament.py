"""Tournaments: line-ups by a fixed schedule, played in units of work so that they can be resumed, and the standings.

The result of a `WorkUnit` depends on nothing but its fields, so units can be played in any order, on any machine, and again. A
`Journal` saves the results of finished units; `standings` rates the agents by them.
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
from typing import Any, NamedTuple

import msgspec
import numpy as np
from openskill.models import PlackettLuce

import euphoria_env
from euphoria_agents.agent_process import counts_of
from euphoria_agents.files import append_line, read_text, write_whole
from euphoria_agents.matches.match import MatchResult, Played, Score, play_cast, score
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


# ------------------------------------------------------------------------------------------------------------- schedules


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


def comparison(agent: str, opponent: str, rules: Rules, games: int, seed: int, size: int) -> list[WorkUnit]:
    """Returns the units of an agent against opponents of one kind, with at least `games` games.

    Comparisons with equal rules, `seed` and `size`, the number of seeds in a unit (`seeds_of_a_unit`), have the same deals.
    Raises a `ValueError` if an agent or a number is wrong.
    """
    check_counts(games=games, seed=seed)
    lineup = (agent, *[opponent] * (rules.num_players - 1))
    left, version = -(-games // rules.num_players), sources(lineup)
    firsts = range(0, left, size)
    return [WorkUnit(lineup, k, seed, min(size, left - first), rules, version) for k, first in enumerate(firsts)]


def schedule(specs: Sequence[str], rules: Rules, games: int, seed: int) -> list[WorkUnit]:
    """Returns the units of a tournament in which each agent plays at least `games` games.

    With 2 players each pair meets in every round, all with the same deals. With more players, a round has as many line-ups as
    there are agents, drawn so that each agent is in equally many; an agent sits on two seats only if there are fewer agents than
    players. A schedule of fewer games is the beginning of one of more.

    Raises:
        ValueError: there are fewer than two agents, an agent is wrong or named twice, or a number is wrong.
    """
    check_counts(games=games, seed=seed)
    if len(specs) < 2 or len(set(specs)) < len(specs):
        raise ValueError(f"a tournament needs two or more different agents, not {', '.join(specs)}")
    n, size, seed = rules.num_players, seeds_of_a_unit(specs), seed_for(map(player, specs), seed)
    lineups_of_one = len(specs) - 1 if n == 2 else n  # of one agent in a round
    units = []
    for turn in range(-(-games // (lineups_of_one * n * size))):
        for number, lineup in _round(specs, n, turn, seed):
            units.append(WorkUnit(lineup, number, seed, size, rules, sources(lineup)))
    return units


def _round(specs: Sequence[str], n: int, turn: int, seed: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields the line-ups of a round, each with the number of its unit."""
    if n == 2:
        yield from ((turn, pair) for pair in itertools.combinations(specs, 2))
        return
    rng = np.random.default_rng((seed, n, turn))
    times = np.zeros(len(specs), np.int64)  # how often each agent has been drawn in this round
    all_of_them, drawn = divmod(n, len(specs))
    for k in range(len(specs)):
        fewest = np.lexsort((rng.random(len(specs)), times))[:drawn]
        times[fewest] += 1
        places = rng.permutation([*list(range(len(specs))) * all_of_them, *fewest])
        yield turn * len(specs) + k, tuple(specs[place] for place in places)


# --------------------------------------------------------------------------------------------------------------- playing


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


# --------------------------------------------------------------------------------------------------------------- results


class Standing(NamedTuple):
    """An agent's row in the standings."""

    agent: str  # its spec
    mu: float  # the rating by openskill's Plackett-Luce model; everybody begins with 25
    sigma: float  # its uncertainty, at first 8.33
    score: Score  # its score in all its games
    # by opponent, in how many encounters it ranked higher (equal ranks count half), and how many there were
    beaten: dict[str, tuple[float, int]]
    decision_time: float  # its mean seconds per decision

    def to_dict(self) -> dict[str, Any]:
        """Returns the row for JSON, without the time, which differs from run to run."""
        rating = {"mu": round(self.mu, 6), "sigma": round(self.sigma, 6)}
        beaten = {opponent: list(counts) for opponent, counts in self.beaten.items()}
        return {"agent": self.agent, "rating": rating, **self.score.to_dict(), "beaten": beaten}


def standings(results: Mapping[WorkUnit, MatchResult]) -> list[Standing]:
    """Returns the standings, best rating first; they depend slightly on the order of the units."""
    specs = list(dict.fromkeys(spec for unit in results for spec in unit.lineup))
    games = [(unit.lineup, game) for unit, result in results.items() for game in result.played]
    ratings, times = rate(specs, games), _decision_times(specs, results)
    found = [Standing(spec, *ratings[spec], _score_of(spec, games), _beaten_by(spec, games), times[spec]) for spec in specs]
    return sorted(found, key=lambda standing: -standing.mu)


def rate(
    specs: Sequence[str],
    games: Iterable[tuple[tuple[str, ...], Played]],
    known: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, tuple[float, float]]:
    """Returns the ratings (mu, sigma) after games, which count in their order.

    An agent on several seats of a game gets the mean of the new ratings of these seats. `known` has ratings from before.
    """
    model = PlackettLuce(tau=0.0)  # the strength of an agent does not change
    ratings = {spec: (known or {}).get(spec, (model.mu, model.sigma)) for spec in specs}
    for lineup, game in games:
        teams = [[model.create_rating(list(ratings[spec]))] for spec in lineup]
        after = [team[0] for team in model.rate(teams, ranks=game.ranks)]
        for spec in set(lineup):
            own = [rating for rating, other in zip(after, lineup, strict=True) if other == spec]
            ratings[spec] = (float(np.mean([one.mu for one in own])), float(np.mean([one.sigma for one in own])))
    return ratings


def _score_of(spec: str, games: Iterable[tuple[tuple[str, ...], Played]]) -> Score:
    """Returns the score of an agent on all its seats."""
    return score(
        (game.seed, game.winner == place, game.ranks[place])
        for lineup, game in games
        for place, other in enumerate(lineup)
        if other == spec
    )


def _beaten_by(spec: str, games: Iterable[tuple[tuple[str, ...], Played]]) -> dict[str, tuple[float, int]]:
    """Returns for each opponent in how many encounters the agent ranked higher, and their number."""
    counts: dict[str, tuple[float, int]] = {}
    for lineup, game in games:
        for place, other in itertools.product(range(len(lineup)), repeat=2):
            if lineup[place] == spec != lineup[other]:
                won, met = counts.get(lineup[other], (0.0, 0))
                difference = game.ranks[other] - game.ranks[place]
                counts[lineup[other]] = (won + (difference > 0) + (difference == 0) / 2, met + 1)
    return counts


def _decision_times(specs: Sequence[str], results: Mapping[WorkUnit, MatchResult]) -> dict[str, float]:
    """Returns the mean seconds per decision of each agent."""
    seconds, decisions = dict.fromkeys(specs, 0.0), dict.fromkeys(specs, 0)
    for unit, result in results.items():
        for place, spec in enumerate(unit.lineup):
            seconds[spec] += result.thinking[place]
            decisions[spec] += sum(game.decisions[place] for game in result.played)
    return {spec: seconds[spec] / max(1, decisions[spec]) for spec in specs}
