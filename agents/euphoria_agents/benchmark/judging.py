"""Judging an agent by a task: its games, played in chunks that are not lost, and the files that say what came of them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from euphoria_agents.benchmark.results import FORMAT, VERSION, check_name, read_result
from euphoria_agents.benchmark.tasks import FROZEN, Task
from euphoria_agents.files import keep_to, read_text, write_whole
from euphoria_agents.machine import machine, versions
from euphoria_agents.matches.match import MatchResult, Played, Score, score
from euphoria_agents.matches.tournament import Chunk, Journal, Run, comparison, play, play_chunk, players_ended, rate, sources
from euphoria_agents.registry import files_of
from euphoria_env.json_reader import Json

REPLAYED = 8  # chunks
SEEDS = 10  # in a chunk, whoever is judged, for the deals depend on it
CERTAIN = 1e-4  # the uncertainty of the opponents' ratings, which games do not change
JUDGED = ""  # its name among the rated; no agent is called so
UNFINISHED, RESULT, GAMES, ROW, TIMES = "unfinished.jsonl", "result.json", "games.jsonl", "row.md", "times.json"
PLAN = "plan.json"  # see `keep_to`


@dataclass(frozen=True)
class Match:
    """The agent, alone against opponents of one kind, with one number of players."""

    players: int
    against: str
    chunks: tuple[Chunk, ...]


def matches_of(task: Task, spec: str) -> list[Match]:
    """All matches of a task; the deals are the same for every agent."""
    return [
        Match(rules.num_players, opponent, tuple(comparison(spec, opponent, rules, task.games, task.seed, SEEDS)))
        for rules in task.rules
        for opponent in task.opponents
    ]


@cache
def fingerprint(task: Task) -> str:
    """A hash of some games of a task: another one means that results of old do not compare.

    The last of the opponents plays the last deal of every match, so it changes with the rules, the deals and the opponents, and
    with nothing else.
    """
    digest = hashlib.sha256()
    for match in matches_of(task, task.opponents[-1]):
        for record in play_chunk(replace(match.chunks[-1], seeds=1), records=True).records:
            digest.update(record.encode())
    return digest.hexdigest()[:16]


def check_repeatable(task: Task, spec: str) -> None:
    """Has the agent play one game twice.

    Raises:
        ValueError: the games differ, so the result could not be reproduced. Anything else wrong with an agent is raised, too.
    """
    rules = task.rules[0]
    chunk = Chunk((spec, *["weights"] * (rules.num_players - 1)), 0, task.seed, 1, rules, sources([spec, "weights"]))
    first, second = (play_chunk(chunk, True, task.seconds).records[0] for _ in range(2))
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


def drawn(found: Json, chunks: Sequence[Chunk], entropy: bytes = b"") -> list[Chunk]:
    """The chunks of a result that are played again, drawn by its hash, so that nobody chooses them.

    Args:
        found: the result.
        chunks: all of its chunks.
        entropy: if given, nobody can foresee what is drawn.
    """
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode() + entropy).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "little"))
    return [chunks[k] for k in rng.choice(len(chunks), min(REPLAYED, len(chunks)), replace=False)]


@players_ended()
def check(task: Task, spec: str, path: Path, run: Run) -> int:
    """Has the agent of a result play some of its chunks again; those of repeatable agents must end as it says.

    Args:
        task: that of the result.
        spec: of the agent, here.
        path: the file of the result.
        run: as for `judge`.

    Returns:
        How many games were played.

    Raises:
        ValueError: it is no result of this task; it cannot be checked; or a chunk ended otherwise.
    """
    found, matches = read_result(path, task), matches_of(task, spec)
    reasons = {
        "its agent is not repeatable": not found["agent"]["repeatable"],
        "it does not say how each chunk ended: it was judged by an older version": "chunks" not in found["matches"][0],
        "its agent has other files": found["agent"]["files"] != _hashes(spec),
        "this version plays other games": found["environment"]["fingerprint"] != fingerprint(task),
    }
    for reason, holds in reasons.items():
        if holds:
            raise ValueError(f"{path} cannot be checked: {reason}")
    pairs = zip(found["matches"], matches, strict=True)
    said = {chunk: ended for one, match in pairs for chunk, ended in zip(match.chunks, one["chunks"], strict=True)}
    chosen = drawn(found, list(said), os.urandom(16))
    for chunk, result in run(partial(play_chunk, limit=task.seconds), chosen):
        if _ended(result) != said[chunk]:
            raise ValueError(f"{path}: chunk {chunk.number} against {chunk.lineup[1]} did not end as it says")
    return sum(chunk.games for chunk in chosen)


def _ended(result: MatchResult) -> list[int]:
    """A chunk as a result counts it: games won, and the sum of ranks."""
    return [sum(game.winner == 0 for game in result.played), sum(game.ranks[0] for game in result.played)]


@players_ended()
def judge(
    task: Task,
    spec: str,
    folder: Path,
    run: Run,
    name: str = "",
    repeatable: bool = True,
    progress: Callable[[int], None] | None = None,
    processes: int | None = 1,
) -> Json:
    """Judges an agent and writes result.json, row.md, games.jsonl and times.json; what is finished there is not played again.

    Args:
        task: by which.
        spec: of the agent, as for `euphoria_agents.load`.
        folder: of the result.
        run: plays the games: `in_processes`, or on a cluster.
        name: the agent's name in the result; by default its spec.
        repeatable: whether the agent must play equal games when it is asked again.
        progress: called with a number of games when they have been played.
        processes: how many `run` has, for the times; None on a cluster.

    Returns:
        The result; see docs/benchmark.md.

    Raises:
        ValueError: the agent cannot be made, or is not repeatable; its name cannot stand in a table; the folder holds another
            result.
        AgentFailed: an agent of your own failed, or took longer than the task allows (`TooSlow`).
        IllegalMove: a move was not legal.
    """
    matches = matches_of(task, spec)
    check_name(name or spec)
    asked = {"task": task.name, "agent": spec, "name": name or spec, "repeatable": repeatable}
    plan = asked | {"version of code or files": sources([spec, *task.opponents])}
    before = _judged(task, asked, folder / RESULT)
    if before is not None:
        keep_to(folder, plan)
        (folder / UNFINISHED).unlink(missing_ok=True)
        return before
    if repeatable:
        check_repeatable(task, spec)
    keep_to(folder, asked)  # until there is a result the version may change: an agent that failed can be corrected
    write_whole(folder / PLAN, json.dumps(plan, indent=1) + "\n")
    began, journal = time.perf_counter() - _seconds_before(folder / TIMES), Journal(folder / UNFINISHED)

    def report(games: int) -> None:
        write_whole(folder / TIMES, json.dumps({"seconds": round(time.perf_counter() - began, 3)}))
        if progress:
            progress(games)

    chunks = [chunk for match in matches for chunk in match.chunks]
    played = play(chunks, journal, run, report, task.seconds)
    by_match = {match: MatchResult.joined([played[chunk] for chunk in match.chunks]) for match in matches}
    found = {
        "format": FORMAT,
        "version": VERSION,
        "task": task.name,
        "environment": {"version": version("euphoria-env"), "fingerprint": fingerprint(task)},
        "agent": {"name": name or spec, "spec": spec, "files": _hashes(spec), "repeatable": repeatable},
        **_scores(task, by_match, played),
    }
    if repeatable:
        _replay(task, spec, found, played, journal, run)
    times = {
        "games": sum(result.games for result in by_match.values()),
        "seconds": round(time.perf_counter() - began, 3),
        "milliseconds a decision": {
            _title(match): round(1000 * result.decision_times[0], 6) for match, result in by_match.items()
        },
        "processes": processes,
        "machine": machine(),
        "versions": versions(),
    }
    write_whole(folder / GAMES, "".join(_lines(by_match)))
    write_whole(folder / ROW, row(found) + "\n")
    write_whole(folder / TIMES, json.dumps(times, indent=1) + "\n")
    write_whole(folder / RESULT, json.dumps(found, indent=1) + "\n")
    (folder / UNFINISHED).unlink(missing_ok=True)
    return found


def _seconds_before(path: Path) -> float:
    """The seconds that a judging had taken when it was interrupted."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return max(0.0, float(json.loads(read_text(path))["seconds"]))
    return 0.0


def _replay(task: Task, spec: str, found: Json, played: Mapping[Chunk, MatchResult], journal: Journal, run: Run) -> None:
    """Has some chunks played again, also those that were in the journal: an agent may change with time, and a file by hand.

    Raises:
        ValueError: one ended otherwise; the journal is removed.
    """
    for chunk, result in run(partial(play_chunk, limit=task.seconds), drawn(found, list(played))):
        if result.played != played[chunk].played:
            if journal.file is not None:
                journal.file.unlink(missing_ok=True)
            raise _unrepeatable(spec, f"some games against {chunk.lineup[1]} ended otherwise the second time")


def _judged(task: Task, asked: Mapping[str, Any], path: Path) -> Json | None:
    """The result that is there already, if there is one.

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
    """The headings of a table with rows of a task."""
    columns = [*(f"`{FROZEN.get(one, one)}`" for one in task.opponents), "all", "rank", "rating"]
    return f"| agent | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}"


def row(result: Mapping[str, Any]) -> str:
    """A result as a row of Markdown: name, wins against each opponent and in all, mean rank, rating."""
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


def _scores(task: Task, by_match: Mapping[Match, MatchResult], played: Mapping[Chunk, MatchResult]) -> dict[str, Any]:
    """The scores of the agent in each match, against each kind of opponents and in all, and its rating."""

    def pooled(results: list[MatchResult]) -> Score:
        return score((game.seed, game.winner == 0, game.ranks[0]) for result in results for game in result.played)

    matches = [
        {
            **{"players": match.players, "against": match.against, "truncated": result.truncated},
            **result.scores[0].to_dict(),
            "chunks": [_ended(played[chunk]) for chunk in match.chunks],
        }
        for match, result in by_match.items()
    ]
    opponents = {
        opponent: pooled([result for match, result in by_match.items() if match.against == opponent]).to_dict()
        for opponent in task.opponents
    }
    mu, sigma = _rating(task, by_match)
    rating = {"mu": round(mu, 6), "sigma": round(sigma, 6)}
    return {"matches": matches, "opponents": opponents, "all": pooled(list(by_match.values())).to_dict(), "rating": rating}


def _rating(task: Task, by_match: Mapping[Match, MatchResult]) -> tuple[float, float]:
    """The rating of the agent among opponents whose ratings are known; games of all matches by turns, so that none comes last."""
    known = {opponent: (mu, CERTAIN) for opponent, mu in task.ratings.items()}
    games: list[tuple[int, tuple[str, ...], Played]] = []
    for match, result in by_match.items():
        lineup = (JUDGED, *[match.against] * (match.players - 1))
        games += [(k, lineup, game) for k, game in enumerate(result.played)]
    games.sort(key=lambda one: one[0])
    return rate([JUDGED, *task.opponents], [(lineup, game) for _, lineup, game in games], known)[JUDGED]


def _hashes(spec: str) -> dict[str, str]:
    """The files of an agent, by name, with the beginning of their hash."""
    return {name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for name, path in files_of(spec).items()}


def _lines(by_match: Mapping[Match, MatchResult]) -> Iterator[str]:
    """Every game as a line of JSON."""
    for match, result in by_match.items():
        for game in result.played:
            yield json.dumps({"players": match.players, "against": match.against, **asdict(game)}) + "\n"


def _title(match: Match) -> str:
    return f"{match.players - 1} x {match.against}"
