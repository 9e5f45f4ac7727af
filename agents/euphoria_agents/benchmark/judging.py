"""Judges an agent by a task: plays the games in units of work that are kept, and writes the files of the result."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from euphoria_agents.benchmark.results import FORMAT, VERSION, check_name, read_result
from euphoria_agents.benchmark.tasks import FROZEN, Task
from euphoria_agents.files import read_text, write_whole
from euphoria_agents.machine import machine, versions
from euphoria_agents.matches.journal import Run, pin_plan
from euphoria_agents.matches.match import MatchResult, score
from euphoria_agents.matches.tournament import Journal, WorkUnit, comparison, play_unit, play_units, players_ended, rate, sources
from euphoria_agents.registry import file_hashes
from euphoria_env.json_reader import Json

REPLAYED = 8  # units of work
SEEDS = 10  # in a unit, whoever is judged: the deals depend on it
CERTAIN = 1e-4  # the uncertainty of the opponents' ratings, which games do not change
JUDGED = ""  # its name among the rated; no agent is called so
UNFINISHED, RESULT, GAMES, ROW, TIMES = "unfinished.jsonl", "result.json", "games.jsonl", "row.md", "times.json"
PLAN = "plan.json"  # see `pin_plan`

Results = Mapping[WorkUnit, MatchResult]
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Match:
    """The agent, alone against opponents of one kind, with one number of players."""

    players: int
    against: str
    units: tuple[WorkUnit, ...]

    def result(self, played: Results) -> MatchResult:
        """Returns the result of the whole match."""
        return MatchResult.joined([played[unit] for unit in self.units])


def matches_of(task: Task, spec: str) -> list[Match]:
    """Returns all matches of a task; the deals are the same for every agent."""
    return [
        Match(rules.num_players, opponent, tuple(comparison(spec, opponent, rules, task.games, task.seed, SEEDS)))
        for rules in task.rules
        for opponent in task.opponents
    ]


@cache
def fingerprint(task: Task) -> str:
    """Returns a hash of some games of a task; results with another one cannot be compared.

    The last opponent plays the last deal of every match, so the hash changes with the rules, the deals and the opponents, and
    with nothing else.
    """
    digest = hashlib.sha256()
    for match in matches_of(task, task.opponents[-1]):
        for record in play_unit(replace(match.units[-1], seeds=1), records=True).records:
            digest.update(record.encode())
    return digest.hexdigest()[:16]


def check_repeatable(task: Task, spec: str) -> None:
    """Has the agent play one game twice.

    Raises:
        ValueError: the games differ, so the result could not be reproduced. Every other fault of an agent is raised, too.
    """
    rules = task.rules[0]
    unit = WorkUnit((spec, *["weights"] * (rules.num_players - 1)), 0, task.seed, 1, rules, sources([spec, "weights"]))
    first, second = (play_unit(unit, True, task.seconds).records[0] for _ in range(2))
    if first != second:
        pairs = enumerate(zip(first.splitlines(), second.splitlines(), strict=False))
        line, one, other = next((k, *pair) for k, pair in pairs if pair[0] != pair[1])
        moves = " and ".join(repr(move.split(" | ")[0]) for move in (one, other))
        raise _unrepeatable(spec, f"{moves} in decision {line - 1} of the same game")  # the first line is the heading


def _unrepeatable(spec: str, how: str) -> ValueError:
    return ValueError(
        f"agent {spec!r} plays differently when it is asked again: {how}; with --unrepeatable, and another --out, it is judged "
        "all the same, and the result records it"
    )


def audit_sample(found: Json, units: Sequence[WorkUnit], entropy: bytes = b"") -> list[WorkUnit]:
    """Draws units to play again, by the hash of the result, so that nobody chooses them; with entropy nobody can predict them."""
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode() + entropy).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "little"))
    return [units[k] for k in rng.choice(len(units), min(REPLAYED, len(units)), replace=False)]


@players_ended()
def check_result(task: Task, spec: str, path: Path, run: Run[WorkUnit, MatchResult]) -> int:
    """Has the agent of a result in a file play some of its units again, compares how they end, and returns the number of games.

    Raises:
        ValueError: it is no result of this task; it cannot be checked; or a unit ended otherwise.
    """
    found, matches = read_result(path, task), matches_of(task, spec)
    reasons = {
        "its agent is not repeatable": not found["agent"]["repeatable"],
        "it does not say how each chunk ended: it was judged by an older version": "chunks" not in found["matches"][0],
        "its agent has other files": found["agent"]["files"] != file_hashes(spec),
        "this version plays other games": found["environment"]["fingerprint"] != fingerprint(task),
    }
    for reason, holds in reasons.items():
        if holds:
            raise ValueError(f"{path} cannot be checked: {reason}")
    pairs = zip(found["matches"], matches, strict=True)
    claimed = {unit: ended for one, match in pairs for unit, ended in zip(match.units, one["chunks"], strict=True)}
    chosen = audit_sample(found, list(claimed), os.urandom(16))
    for unit, result in run(partial(play_unit, limit=task.seconds), chosen):
        if _ended(result) != claimed[unit]:
            raise ValueError(f"{path}: chunk {unit.number} against {unit.lineup[1]} did not end as it says")
    return sum(unit.games for unit in chosen)


def _ended(result: MatchResult) -> list[int]:
    """Returns what a result says of a unit: the games won, and the sum of ranks."""
    return [sum(game.winner == 0 for game in result.played), sum(game.ranks[0] for game in result.played)]


@players_ended()
def judge(
    task: Task,
    spec: str,
    folder: Path,
    run: Run[WorkUnit, MatchResult],
    name: str = "",
    repeatable: bool = True,
    progress: Progress | None = None,
    processes: int | None = 1,
) -> Json:
    """Judges an agent, writes result.json, row.md, games.jsonl and times.json, and returns the result (docs/benchmark.md).

    Finished games that the folder has are not played again.

    Args:
        task, spec, folder: the task, the agent (as for `euphoria_agents.load`), and the folder of the result.
        run: plays the games: `in_processes`, or on a cluster.
        name: the agent's name in the result; by default its spec.
        repeatable: whether the agent must play equal games when it is asked again.
        progress: called with a number of games when they have been played.
        processes: how many `run` has, for the times; None on a cluster.

    Raises:
        ValueError: the agent cannot be made or repeated; its name cannot stand in a table; the folder holds another result.
        AgentFailed, IllegalMove: the agent failed, or took longer than the task allows (`TooSlow`).
    """
    check_name(name or spec)
    asked = {"task": task.name, "agent": spec, "name": name or spec, "repeatable": repeatable}
    plan = asked | {"version of code or files": sources([spec, *task.opponents])}
    found = _judged(task, asked, folder / RESULT)
    if found is not None:
        pin_plan(folder, plan)
    else:
        if repeatable:
            check_repeatable(task, spec)
        pin_plan(folder, asked)  # until there is a result the version may change: an agent that failed can be corrected
        _write_json(folder / PLAN, plan)
        found = _play_and_write(task, asked, folder, run, progress, processes)
    (folder / UNFINISHED).unlink(missing_ok=True)
    return found


def _play_and_write(
    task: Task,
    asked: Mapping[str, Any],
    folder: Path,
    run: Run[WorkUnit, MatchResult],
    progress: Progress | None,
    processes: int | None,
) -> Json:
    """Plays what is missing, and writes all files of the result."""
    began, journal = time.perf_counter() - _seconds_before(folder / TIMES), Journal(folder / UNFINISHED)

    def report(games: int) -> None:
        _write_json(folder / TIMES, {"seconds": round(time.perf_counter() - began, 3)})
        if progress:
            progress(games)

    matches = matches_of(task, asked["agent"])
    played = play_units([unit for match in matches for unit in match.units], journal, run, report, task.seconds)
    found = _result(task, asked, matches, played)
    if asked["repeatable"]:
        _replay(task, found, played, journal, run)
    times = {f"{match.players - 1} x {match.against}": match.result(played).decision_times[0] for match in matches}
    write_whole(folder / GAMES, "".join(_lines(matches, played)))
    write_whole(folder / ROW, row(found) + "\n")
    about = {
        "games": sum(result.games for result in played.values()),
        "seconds": round(time.perf_counter() - began, 3),
        "milliseconds a decision": {match: round(1000 * seconds, 6) for match, seconds in times.items()},
        "processes": processes,
        "machine": machine(),
        "versions": versions(),
    }
    _write_json(folder / TIMES, about)
    _write_json(folder / RESULT, found)
    return found


def _write_json(path: Path, value: Json) -> None:
    write_whole(path, json.dumps(value, indent=1) + "\n")


def _seconds_before(path: Path) -> float:
    """Returns the seconds that an interrupted judging had taken."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return max(0.0, float(json.loads(read_text(path))["seconds"]))
    return 0.0


def _replay(task: Task, found: Json, played: Results, journal: Journal, run: Run[WorkUnit, MatchResult]) -> None:
    """Plays a sample of the units again, also those of the journal: an agent may change with time, and a file by hand.

    Raises:
        ValueError: one ended otherwise; the journal is removed.
    """
    for unit, result in run(partial(play_unit, limit=task.seconds), audit_sample(found, list(played))):
        if result.played != played[unit].played:
            if journal.file is not None:
                journal.file.unlink(missing_ok=True)
            raise _unrepeatable(unit.lineup[0], f"some games against {unit.lineup[1]} ended otherwise the second time")


def _judged(task: Task, asked: Mapping[str, Any], path: Path) -> Json | None:
    """Returns the result that the folder has; None if it has none.

    Raises:
        ValueError: it is damaged, or that of something else than is asked.
    """
    if not path.exists():
        return None
    found = read_result(path, task)
    there = {"agent": found["agent"]["spec"], **found["agent"]}
    if other := [key for key in ("agent", "name", "repeatable") if there[key] != asked[key]]:
        raise ValueError(f"{path} is of another {', '.join(other)}: choose another --out")
    return found


def heading(task: Task) -> str:
    """Returns the headings of a table with rows of a task."""
    columns = [*(f"`{FROZEN.get(one, one)}`" for one in task.opponents), "all", "rank", "rating"]
    return f"| agent | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}"


def row(result: Mapping[str, Any]) -> str:
    """Returns a result as a row of Markdown: name, wins against each opponent and in all, mean rank, rating."""
    total, rating = result["all"], result["rating"]
    low, high = total["paired_interval"]
    cells = [
        f"`{result['agent']['name']}`",
        *(f"{100 * against['win_rate']:.1f} %" for against in result["opponents"].values()),
        f"{100 * total['win_rate']:.1f} % ({100 * low:.1f} to {100 * high:.1f})",
        f"{total['mean_rank']:.2f}",
        f"{rating['mu']:.1f} ± {1.96 * rating['sigma']:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _result(task: Task, asked: Mapping[str, Any], matches: Sequence[Match], played: Results) -> Json:
    """Returns the result: the agent, and its scores in each match, against each kind of opponents and in all, and its rating."""
    results = {match: match.result(played) for match in matches}

    def pooled(some: Iterable[MatchResult]) -> dict[str, Any]:
        return score((game.seed, game.winner == 0, game.ranks[0]) for result in some for game in result.played).to_dict()

    return {
        "format": FORMAT,
        "version": VERSION,
        "task": task.name,
        "environment": {"version": version("euphoria-env"), "fingerprint": fingerprint(task)},
        "agent": {
            "name": asked["name"],
            "spec": asked["agent"],
            "files": file_hashes(asked["agent"]),
            "repeatable": asked["repeatable"],
        },
        "matches": [
            {"players": match.players, "against": match.against, "truncated": result.truncated}
            | result.scores[0].to_dict()
            | {"chunks": [_ended(played[unit]) for unit in match.units]}
            for match, result in results.items()
        ],
        "opponents": {
            opponent: pooled(result for match, result in results.items() if match.against == opponent)
            for opponent in task.opponents
        },
        "all": pooled(results.values()),
        "rating": _rating(task, results),
    }


def _rating(task: Task, results: Mapping[Match, MatchResult]) -> dict[str, float]:
    """Rates the agent among opponents whose ratings are known, by games of all matches in turn, so that none comes last."""
    known = {opponent: (mu, CERTAIN) for opponent, mu in task.ratings.items()}
    games = [
        (k, (JUDGED, *[match.against] * (match.players - 1)), game)
        for match, result in results.items()
        for k, game in enumerate(result.played)
    ]
    games.sort(key=lambda one: one[0])
    mu, sigma = rate([JUDGED, *task.opponents], [(lineup, game) for _, lineup, game in games], known)[JUDGED]
    return {"mu": round(mu, 6), "sigma": round(sigma, 6)}


def _lines(matches: Iterable[Match], played: Results) -> Iterator[str]:
    """Yields every game as a line of JSON."""
    for match in matches:
        for game in match.result(played).played:
            yield json.dumps({"players": match.players, "against": match.against, **asdict(game)}) + "\n"
