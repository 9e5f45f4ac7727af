"""The file of a result: what it must say, wherever it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from euphoria_agents.benchmark.tasks import BUDGETS, OPPONENTS, Task
from euphoria_env.json_reader import Json, Reader, read_json, shown

FORMAT, VERSION = "euphoria-result", 1
PARTS = ("format", "version", "task", "environment", "agent", "matches", "opponents", "all", "rating", "training")
SCORE = ("games", "wins", "win_rate", "interval", "paired_interval", "mean_rank", "rank_interval")
MOST = 10**12  # of games and seeds
MOST_DECISIONS = BUDGETS[-1] * 21 // 20  # a budget is rounded up to a whole update
ROUNDED = 2e-6  # more than numbers differ that are rounded to six digits
READ = Reader()


def check_name(name: str) -> None:
    """Refuses a name of an agent that cannot stand in a table.

    Raises:
        ValueError: it is empty or has something else in it than printable characters, or one of | ` < >.
    """
    if not name.strip() or not name.isprintable() or set(name) & set("|`<>"):
        raise ValueError(f"name: must be a printable text without any of | ` < >, not {name!r}")


def read_result(path: Path, task: Task) -> Json:
    """A result of this task.

    Raises:
        ValueError: it is none, or what it says cannot be; names the file and the key.
        OSError: it cannot be read.
    """
    try:
        found = READ.mapping("", read_json(path.read_text(encoding="utf-8")), PARTS)
        if (found.get("format"), found.get("version")) != (FORMAT, VERSION):
            READ.fail("format", f"must be {FORMAT} of version {VERSION}")
        if found.get("task") != task.name:
            READ.fail("task", f"must be {task.name}, not {shown(found.get('task'))}")
        _check_agent(found)
        _check_scores(found, task)
        if "training" in found:
            _check_training(found["training"])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return found


def _check_agent(found: Json) -> None:
    """Who was judged, and in which version of the environment."""
    environment = READ.mapping("environment", found.get("environment"), ("version", "fingerprint"))
    agent = READ.mapping("agent", found.get("agent"), ("name", "spec", "files", "repeatable"))
    for key, part, names in (("environment", environment, ("version", "fingerprint")), ("agent", agent, ("name", "spec"))):
        for name in names:
            READ.text(f"{key}.{name}", part.get(name))
    READ.boolean("agent.repeatable", agent.get("repeatable"))
    files = agent.get("files")
    if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
        READ.fail("agent.files", "must be the hashes of the agent's files, by their names")
    check_name(agent["name"])


def _check_scores(found: Json, task: Task) -> None:
    """The scores: of all matches of the task, and of what is made of them."""
    expected = [(n, opponent) for n in task.players for opponent in OPPONENTS]
    entries = READ.items("matches", found.get("matches"))
    matches = [READ.mapping(f"matches[{k}]", one, ("players", "against", "truncated", *SCORE)) for k, one in enumerate(entries)]
    if [(one.get("players"), one.get("against")) for one in matches] != expected:
        READ.fail("matches", f"must be those of {task.name}, in their order")
    opponents = READ.mapping("opponents", found.get("opponents"), OPPONENTS)
    for k, match in enumerate(matches):
        _check_score(f"matches[{k}]", {key: match.get(key) for key in SCORE}, match["players"])
        if match["games"] != task.games:
            READ.fail(f"matches[{k}].games", f"must be {task.games}")
        READ.integer(f"matches[{k}].truncated", match.get("truncated"), 0, task.games)
    for opponent in OPPONENTS:
        own = [match for match in matches if match["against"] == opponent]
        _check_sum(f"opponents.{opponent}", opponents.get(opponent), own, task)
    _check_sum("all", found.get("all"), matches, task)
    rating = READ.mapping("rating", found.get("rating"), ("mu", "sigma"))
    READ.number("rating.mu", rating.get("mu"), -1000, 1000)
    READ.number("rating.sigma", rating.get("sigma"), 0, 1000)


def _check_sum(key: str, score: Any, matches: list[Json], task: Task) -> None:
    """A score that is made of those of some matches."""
    score = READ.mapping(key, score, SCORE)
    _check_score(key, score, max(task.players))
    for name in ("games", "wins"):
        if score[name] != (total := sum(match[name] for match in matches)):
            READ.fail(f"{key}.{name}", f"must be {total}, as the matches say")
    rank = sum(match["games"] * match["mean_rank"] for match in matches) / score["games"]
    if abs(score["mean_rank"] - rank) > ROUNDED:
        READ.fail(f"{key}.mean_rank", f"must be {rank:.6f}, as the matches say")


def _check_score(key: str, score: Json, players: int) -> None:
    games = READ.integer(f"{key}.games", score.get("games"), 1, MOST)
    wins = READ.integer(f"{key}.wins", score.get("wins"), 0, games)
    rate = READ.number(f"{key}.win_rate", score.get("win_rate"), 0, 1)
    if abs(rate - wins / games) > ROUNDED:
        READ.fail(f"{key}.win_rate", f"must be {wins / games:.6f}, as games and wins say")
    rank = READ.number(f"{key}.mean_rank", score.get("mean_rank"), 1, players)
    _check_interval(f"{key}.interval", score.get("interval"), rate, 0, 1)
    _check_interval(f"{key}.paired_interval", score.get("paired_interval"), rate, 0, 1)
    _check_interval(f"{key}.rank_interval", score.get("rank_interval"), rank, -MOST, MOST)


def _check_interval(key: str, interval: Any, estimate: float, least: float, most: float) -> None:
    """A lower and an upper end, with what they are about between them."""
    ends = [READ.number(key, end, least, most) for end in READ.items(key, interval)]
    if len(ends) != 2 or not ends[0] - ROUNDED <= estimate <= ends[1] + ROUNDED:
        READ.fail(key, f"must be a lower and an upper end, around {estimate}")


def _check_training(training: Any) -> None:
    if not isinstance(training, dict):
        READ.fail("training", "must be an object")
    for name, least, most in (("decisions", 1, MOST_DECISIONS), ("seed", 0, MOST)):
        READ.integer(f"training.{name}", training.get(name), least, most)
    READ.text("training.command", training.get("command"))
