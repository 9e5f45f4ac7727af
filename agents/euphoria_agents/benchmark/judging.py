"""Judges an agent by a task: plays the games in units of work whose results are saved, and writes the files of the result."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from euphoria_agents.benchmark import measures
from euphoria_agents.benchmark.regret import play_and_judge
from euphoria_agents.benchmark.results import FORMAT, PROTOCOL, VERSION, check_name, read_result
from euphoria_agents.benchmark.tasks import FROZEN, Task
from euphoria_agents.files import file_hash, read_text, write_whole
from euphoria_agents.machine import machine, versions
from euphoria_agents.matches.match import MatchResult, score
from euphoria_agents.matches.processes import Run
from euphoria_agents.matches.tournament import comparison, rate
from euphoria_agents.matches.work import Journal, WorkUnit, play_unit, play_units, players_ended, sources
from euphoria_agents.provenance import Inputs, absolute_name, changed_since, check_sure, joined, published_names
from euphoria_agents.registry import file_hashes, files_of, is_builtin
from euphoria_agents.validation import decoded
from euphoria_env import Rules
from euphoria_env.json_reader import Json

SEEDS = 10  # in a unit of work, of a task with a judge 1; the same for every agent, since the deals depend on it
CERTAIN = 1e-4  # the sigma of the opponents' ratings, so small that games do not change them
_GAME = "seed", "winner", "ranks", "turns", "decisions"  # of a game, in the file of all games
JUDGED = ""  # stands for the judged agent among the rated ones; no spec is empty
UNFINISHED, RESULT, GAMES, ROW, TIMES = "unfinished.jsonl", "result.json", "games.jsonl", "row.md", "times.json"
RECORDS = "records"

Results = Mapping[WorkUnit, MatchResult]


@dataclass(frozen=True)
class Match:
    """A match of a task: the agent sits alone against opponents of one kind, in games of one number of players."""

    players: int
    against: str
    units: tuple[WorkUnit, ...]

    def result(self, played: Results) -> MatchResult:
        """Returns the result of the whole match."""
        return MatchResult.joined([played[unit] for unit in self.units])


def matches_of(task: Task, spec: str, runs: int = 1) -> list[Match]:
    """Returns all matches of a task, each game `runs` times; the deals are the same for every agent."""
    few = bool(task.judge)

    def units(rules: Rules, k: int) -> Iterator[WorkUnit]:
        found = comparison(spec, task.opponents[k], rules, task.games, task.seed + few * k, 1 if few else SEEDS)
        return (replace(unit, run=run) for run in range(runs) for unit in found)

    return [
        Match(rules.num_players, opponent, tuple(units(rules, k)))
        for rules in task.rules
        for k, opponent in enumerate(task.opponents)
    ]


def player_of(task: Task) -> Callable[..., MatchResult]:
    """Returns the function that plays the units of a task, and judges the moves if the task asks for it."""
    return partial(play_and_judge, judge=task.judge) if task.judge else play_unit


@cache
def fingerprint(task: Task) -> str:
    """Returns a hash of some games of a task; results with different fingerprints cannot be compared.

    The last opponent plays the last deal of every match, so the hash changes with the rules, the deals, the opponents and the
    name of the judge, and with nothing else.
    """
    digest = hashlib.sha256()
    for match in matches_of(task, task.opponents[-1]):
        for record in play_unit(replace(match.units[-1], seeds=1), records=True).records:
            digest.update(record.encode())
    digest.update(task.judge.encode())
    return digest.hexdigest()[:16]


def check_repeatable(task: Task, spec: str) -> None:
    """Raises a `ValueError` unless the agent plays a game twice alike, once after another game; raises its other faults too."""
    rules = task.rules[0]
    unit = WorkUnit((spec, *["weights"] * (rules.num_players - 1)), 0, task.seed, 1, rules, sources([spec, "weights"]))
    runs = (replace(unit, number=number, run=run) for number, run in ((1, 1), (0, 1), (0, 2)))  # run 0 is that of the result
    _, first, second = (play_unit(one, True, task.seconds).records[0] for one in runs)  # the last one in another process
    if first != second:
        pairs = enumerate(zip(first.splitlines(), second.splitlines(), strict=False))
        line, one, other = next((k, *pair) for k, pair in pairs if pair[0] != pair[1])
        moves = " and ".join(repr(move.split(" | ")[0]) for move in (one, other))
        raise ValueError(
            f"agent {spec!r} plays differently when it is asked again: {moves} in decision {line - 1} of the same game; with "
            "--unrepeatable, and another --out, it is judged all the same, and the result records it"
        )  # line 0 is the header of the record, so decision 0 is line 1


def _ended(result: MatchResult) -> list[float]:
    """Returns what a result records of a unit: games won, the sum of ranks and, if it was judged, decisions and their regret."""
    judged = [int(result.counts["judged"]), result.counts["regret"]] if "judged" in result.counts else []
    return [sum(game.winner == 0 for game in result.played), sum(game.ranks[0] for game in result.played), *judged]


@players_ended()
def judge(
    task: Task,
    spec: str,
    folder: Path,
    run: Run[WorkUnit, MatchResult],
    name: str = "",
    repeatable: bool = True,
    progress: Callable[[int], None] | None = None,
    processes: int | None = 1,
) -> Json:
    """Judges an agent, writes the files of the result, and returns it (docs/benchmark.md).

    Args:
        folder: the folder of the result, whose finished games are not played again.
        run: plays the games: `in_processes`, or on a cluster.
        name: the agent's name in the result; by default its spec.
        repeatable: whether the agent must play equal games when it is asked again.
        progress: called with a number of games when they have been played.
        processes: the number of processes of `run`, which times.json records; None on a cluster.

    Raises:
        ValueError: the agent cannot be made or repeated; its name cannot stand in a table; the folder holds another result.
        AgentFailed, IllegalMove: the agent failed, or a decision took longer than the task allows (`TooSlow`).
    """
    about = _about(task, spec, name or spec, repeatable)
    if result := _result_in(folder, task, about, spec):
        return result
    if repeatable:
        check_repeatable(task, spec)
    matches = matches_of(task, spec, task.runs(repeatable))
    journal = Journal(folder / UNFINISHED, folder / RECORDS if task.judge else None)
    units = [unit for match in matches for unit in match.units]
    played = play_units(units, journal, run, progress, task.seconds, player_of(task))
    known, files = _read_by(spec, played)
    about["agent"] |= known
    found = {"format": FORMAT, "version": VERSION, "protocol": PROTOCOL, "task": task.name, **about}
    found |= scores(task, matches, played)
    effort = {"seconds": round(journal.seconds(played), 3), "processes": processes, **_effort(matches, played), "files": files}
    _complete(folder, "".join(_game_lines(match, played) for match in matches), effort, found)
    return found


def _read_by(spec: str, played: Results) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns what a result says of the files that its agent read, and their hashes by their paths, for this machine alone."""
    inputs = joined(result.inputs for result in played.values()).get(spec, Inputs())
    read = inputs.files | {str(path): file_hash(path) for path in files_of(spec).values()}
    known = {"files": file_hashes(spec) | published_names(inputs.files), **({"unseen": inputs.unseen} if inputs.unseen else {})}
    return known, {absolute_name(name): digest for name, digest in read.items()}


def _complete(folder: Path, games: str, effort: Json, found: Json) -> None:
    """Writes the files of a result; the last one, with which the folder is complete, is the result itself."""
    texts = {GAMES: games, ROW: row(found), TIMES: json.dumps(effort, indent=1), RESULT: json.dumps(found, indent=1)}
    for file, text in texts.items():
        write_whole(folder / file, text.rstrip("\n") + "\n")
    (folder / UNFINISHED).unlink(missing_ok=True)


def _about(task: Task, spec: str, name: str, repeatable: bool) -> dict[str, Any]:
    """Returns the part of a result that says which games it is of, and which agent; raises a `ValueError` for a bad name."""
    check_name(name)
    agent = {"name": name, "spec": spec, "repeatable": repeatable}
    return {"environment": {"version": version("euphoria-env"), "fingerprint": fingerprint(task)}, "agent": agent}


def _effort(matches: Sequence[Match], played: Results) -> dict[str, Any]:
    """Returns the number of games, the agent's milliseconds per decision, the machine and the versions."""
    times = {f"{match.players - 1} x {match.against}": match.result(played).decision_times[0] for match in matches}
    return {
        "games": sum(result.games for result in played.values()),
        "milliseconds a decision": {match: round(1000 * seconds, 6) for match, seconds in times.items()},
        "processor milliseconds a decision": processor_milliseconds(played),
        "machine": machine(),
        "versions": versions(),
    }


def processor_milliseconds(played: Results) -> float:
    """Returns the mean processor time of the agent's decisions, as its processes count it."""
    seconds = sum(result.counts.get("processor_seconds", 0.0) for result in played.values())
    return round(1000 * seconds / max(1, sum(game.decisions[0] for result in played.values() for game in result.played)), 6)


class Effort(msgspec.Struct):
    """The part of times.json that other commands read: the agent's files with their hashes, and its processor time."""

    files: dict[str, str] | None = None
    milliseconds: float | None = msgspec.field(default=None, name="processor milliseconds a decision")


def effort_in(folder: Path) -> Effort:
    """Returns what the folder of a result says of the judging; nothing if it does not tell."""
    try:
        return decoded(read_text(folder / TIMES), Effort)
    except ValueError:
        return Effort()


def _result_in(folder: Path, task: Task, about: Mapping[str, Any], spec: str) -> Json | None:
    """Returns the result in a folder, None if it has none; raises a `ValueError` unless it is one of this task and agent."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: choose another --out")
    if not (folder / RESULT).exists():
        return None
    found = read_result(folder / RESULT, task)
    pairs = [(key, value, found[part][key]) for part in about for key, value in about[part].items() if key != "version"]
    other = [key for key, value, there in pairs if value != there]
    if is_builtin(spec):
        other += ["files"] * (found["agent"]["files"] != file_hashes(spec))
    elif not other:
        files = effort_in(folder).files
        check_sure(folder / RESULT, [Inputs(unseen=found["agent"].get("unseen", []))])
        other = ["version"] if files is None else [path for path, _ in sorted(changed_since([Inputs(files)]))]
    if other:
        raise ValueError(f"{folder / RESULT} is of another {', '.join(other)}: choose another --out")
    return found


def heading(task: Task) -> str:
    """Returns the first two lines of a Markdown table of a task's results: headings and alignment."""
    columns = [*(f"`{FROZEN.get(one, one)}`" for one in task.opponents), "all", "rank", *["rating"] * bool(task.anchors)]
    columns += [measures.column_title(name) for name in measures.MEASURES if task.judge]
    return f"| agent | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}"


def row(result: Mapping[str, Any]) -> str:
    """Returns a result as a row of that table: name, win rates against each opponent and in all, mean rank, perhaps rating."""
    total, rating = result["all"], result.get("rating")
    low, high = total["paired_interval"]
    cells = [
        f"`{result['agent']['name']}`",
        *(f"{100 * against['win_rate']:.1f} %" for against in result["opponents"].values()),
        f"{100 * total['win_rate']:.1f} % ({100 * low:.1f} to {100 * high:.1f})",
        f"{total['mean_rank']:.2f}",
        *([f"{rating['mu']:.1f} ± {1.96 * rating['sigma']:.1f}"] if rating else []),
        *(measures.measure_text(result, name) or "-" for name in measures.MEASURES if result.get("measures")),
    ]
    return f"| {' | '.join(cells)} |"


def scores(task: Task, matches: Sequence[Match], played: Results) -> dict[str, Any]:
    """Returns the scores of the agent in each match, against each kind of opponents and in all, and its rating."""
    results = {match: match.result(played) for match in matches}

    def pooled(some: Iterable[MatchResult]) -> dict[str, Any]:
        return score((game.seed, game.winner == 0, game.ranks[0]) for result in some for game in result.played).to_dict()

    return {
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
        **({"rating": _rating(task, results)} if task.anchors else {}),
        "measures": measures.measures(_deals(matches, played)) if task.judge else {},
    }


def _deals(matches: Sequence[Match], played: Results) -> dict[tuple[int, int], Counter[str]]:
    """Returns the counts in the games of each deal; its runs are added, since they are not independent."""
    deals: dict[tuple[int, int], Counter[str]] = {}
    for k, match in enumerate(matches):
        for unit in match.units:
            result = played[unit]
            deals.setdefault((k, unit.number), Counter()).update(result.counts | {"games": result.games})
    return deals


def _rating(task: Task, results: Mapping[Match, MatchResult]) -> dict[str, float]:
    """Rates the agent against opponents whose ratings are fixed.

    The games of all matches take turns, since later games count more.
    """
    known = {opponent: (mu, CERTAIN) for opponent, mu in task.ratings.items()}
    games = [
        (k, (JUDGED, *[match.against] * (match.players - 1)), game)
        for match, result in results.items()
        for k, game in enumerate(result.played)
    ]
    games.sort(key=lambda one: one[0])
    mu, sigma = rate([JUDGED, *task.opponents], [(lineup, game) for _, lineup, game in games], known)[JUDGED]
    return {"mu": round(mu, 6), "sigma": round(sigma, 6)}


def _game_lines(match: Match, played: Results) -> str:
    """Returns the games of a match, each as a line of JSON."""
    about = {"players": match.players, "against": match.against}
    return "".join(
        json.dumps(about | {name: getattr(game, name) for name in _GAME}) + "\n" for game in match.result(played).played
    )
