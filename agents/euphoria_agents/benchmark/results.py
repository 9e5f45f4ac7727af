"""The format of a result file, and the checks of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from euphoria_agents.benchmark.tasks import BUDGETS, Task, task_of
from euphoria_agents.files import read_text
from euphoria_agents.validation import checked, described
from euphoria_env.json_reader import Json, read_json

FORMAT, VERSION = "euphoria-result", 1
PROTOCOL = 2  # how games are played; 1, of older results, let one process of an agent play a deal from several seats
MOST_DECISIONS = BUDGETS[-1] * 21 // 20  # more than the budget, since training always completes its last update
ROUNDED = 2e-6  # tolerance for numbers that are rounded to six digits

Count = Annotated[int, Meta(ge=0, le=10**12)]
Rate = Annotated[float, Meta(ge=0, le=1)]
Time = Annotated[float, Meta(ge=0, le=1e9)]


class _Score(Struct, forbid_unknown_fields=True, kw_only=True):
    games: Annotated[int, Meta(ge=1, le=10**12)]
    wins: Count
    win_rate: Rate
    interval: tuple[Rate, Rate]
    paired_interval: tuple[Rate, Rate]
    mean_rank: Annotated[float, Meta(ge=1, le=6)]
    rank_interval: tuple[float, float]


class _Match(_Score, kw_only=True):
    players: int
    against: str
    truncated: Count
    # Games won, the sum of ranks and, in a task with a judge, decisions and their regret; older results do not have them.
    chunks: list[Annotated[list[float], Meta(min_length=2, max_length=4)]] | None = None


class _Environment(Struct, forbid_unknown_fields=True):
    version: str
    fingerprint: str


class _Agent(Struct, forbid_unknown_fields=True):
    name: str
    spec: str
    files: dict[str, str]
    repeatable: bool
    unseen: list[str] = []  # what else its moves may depend on; see `Inputs`


class _Rating(Struct, forbid_unknown_fields=True):
    mu: Annotated[float, Meta(ge=-1000, le=1000)]
    sigma: Annotated[float, Meta(ge=0, le=1000)]


class _Measure(Struct, forbid_unknown_fields=True):
    total: float
    mean: float
    interval: tuple[float, float]


class _Training(Struct):
    decisions: Annotated[int, Meta(ge=1, le=MOST_DECISIONS)]
    seed: Count
    command: str
    hours: Time | None = None  # of processor time, all cores together


Day = Annotated[str, described(r"^\d{4}-\d\d-\d\d$", "a day such as 2026-01-31")]
Link = Annotated[
    str,
    described(r"^(https?://[^\s|()<>]+|\w[\w./-]*)$", "an address of the web, or a path in the repository"),
    Meta(max_length=300),
]


class Entry(Struct, forbid_unknown_fields=True):
    """A row of the leaderboard, without the numbers of its result."""

    date: Day  # when the agent was judged
    code: Link | None = None  # an address, or a path in this repository
    paper: Link | None = None  # the same of a paper
    milliseconds: Time | None = None  # of processor time for a decision, when the agent was judged
    reproduced_by: list[str] = []  # who had the agent play its games again (`--check`), or trained it again


class _Fresh(Struct, forbid_unknown_fields=True):
    """The score on deals that were drawn after the submission; `Replay.judge` explains the difference."""

    seed: Annotated[int, Meta(ge=0)]
    date: Day
    opponents: dict[str, _Score]
    all: _Score
    difference: float
    interval: tuple[float, float]
    milliseconds: Time


class _Result(Struct, forbid_unknown_fields=True):
    format: Literal["euphoria-result"]
    version: Literal[1]
    task: str
    environment: _Environment
    agent: _Agent
    matches: list[_Match]
    opponents: dict[str, _Score]
    all: _Score
    rating: _Rating | None = None  # if the task has ratings
    protocol: Literal[1, 2] = 1
    measures: dict[str, _Measure] = {}
    training: _Training | None = None
    entry: Entry | None = None
    fresh: _Fresh | None = None


def check_name(name: str) -> None:
    """Raises a `ValueError` for a name that cannot stand in a Markdown table: empty, unprintable, or with one of | ` < >."""
    if not name.strip() or not name.isprintable() or set(name) & set("|`<>"):
        raise ValueError(f"name must be a printable text without any of | ` < >, not {name!r}")


def read_result(path: Path, task: Task | None = None) -> Json:
    """Reads a result of a task (None: the one that it names); a `ValueError` names the file, and the key that is wrong."""
    text = read_text(path)
    try:
        found: Json = read_json(text)
        validate_result(found, task)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return found


def validate_result(found: Json, task: Task | None = None) -> None:
    """Raises a `ValueError` that names the key unless names, sums and means of a result fit each other and the task."""
    result = checked(found, _Result)
    task = task or task_of(result.task)
    for name in (result.agent.name, *(result.entry.reproduced_by if result.entry else [])):
        check_name(name)
    _same("task", result.task, task.name)
    matches = [(n, opponent) for n in task.players for opponent in task.opponents]
    _same("matches", [(one.players, one.against) for one in result.matches], matches)
    _same("opponents", sorted(result.opponents), sorted(task.opponents))
    for k, match in enumerate(result.matches):
        _same(f"matches[{k}].games", match.games, task.games * task.runs(result.agent.repeatable))
        _check_score(f"matches[{k}]", match, [match])
        if match.chunks is not None:
            wins, ranks, *_ = map(sum, zip(*match.chunks, strict=True))
            _same(f"matches[{k}].wins", match.wins, wins)
            _near(f"matches[{k}].mean_rank", match.mean_rank, ranks / match.games)
    for opponent, score in result.opponents.items():
        _check_score(f"opponents.{opponent}", score, [match for match in result.matches if match.against == opponent])
    _check_score("all", result.all, result.matches)
    if task.judge:
        _check_regret(result)
    if result.fresh:
        _check_fresh(result, result.fresh)


def _check_score(key: str, score: _Score, matches: Sequence[_Score]) -> None:
    """Checks the sums and means of a score against those that it summarises."""
    _same(f"{key}.games", score.games, sum(match.games for match in matches))
    _same(f"{key}.wins", score.wins, sum(match.wins for match in matches))
    _near(f"{key}.win_rate", score.win_rate, score.wins / score.games)
    _near(f"{key}.mean_rank", score.mean_rank, sum(match.games * match.mean_rank for match in matches) / score.games)


def _check_fresh(result: _Result, fresh: _Fresh) -> None:
    """Checks the score on fresh deals: as many games as on the public ones, and the difference between them."""
    _same("fresh.opponents", sorted(fresh.opponents), sorted(result.opponents))
    for opponent, score in fresh.opponents.items():
        _same(f"fresh.opponents.{opponent}.games", score.games, result.opponents[opponent].games)
    _check_score("fresh.all", fresh.all, [*fresh.opponents.values()])
    _near("fresh.difference", fresh.difference, fresh.all.wins / fresh.all.games - result.all.wins / result.all.games)


def _check_regret(result: _Result) -> None:
    """Checks the regret of a result against its chunks."""
    judged = [chunk[2:] for match in result.matches for chunk in match.chunks or [] if len(chunk) == 4]
    if not judged or not {"regret", "regret_per_game"} <= set(result.measures):
        raise ValueError("measures must have the regret, and matches the chunks from which it comes")
    decisions, regret = map(sum, zip(*judged, strict=True))
    for name, by in (("regret", decisions), ("regret_per_game", result.all.games)):
        _near(f"measures.{name}.total", result.measures[name].total, regret)
        _near(f"measures.{name}.mean", result.measures[name].mean, regret / by)


def _same(key: str, value: Any, expected: Any) -> None:
    if value != expected:
        raise ValueError(f"{key} must be {json.dumps(expected)}, not {json.dumps(value)}")


def _near(key: str, value: float, expected: float) -> None:
    if abs(value - expected) > ROUNDED:
        raise ValueError(f"{key} must be {expected:.6f}, not {value}")
