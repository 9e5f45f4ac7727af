"""Plays the games of a result again, to check it, and as many on fresh deals, to see whether its figure holds there too."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import Any

from euphoria_agents.benchmark.judging import Match, Results, fingerprint, matches_of, player_of, processor_milliseconds, scores
from euphoria_agents.benchmark.results import PROTOCOL, ROUNDED, read_result, validate_result
from euphoria_agents.benchmark.tasks import Task
from euphoria_agents.files import check_writable, write_whole
from euphoria_agents.matches.match import Z_95, MatchResult, Score, score
from euphoria_agents.matches.processes import Run
from euphoria_agents.matches.work import Journal, WorkUnit, play_units, players_ended
from euphoria_agents.provenance import Inputs, published_names
from euphoria_agents.registry import file_hashes, is_builtin
from euphoria_env.json_reader import Json

CLOSE = 0.05  # less than a game, and as much as the regret in a unit may differ between machines, which round otherwise


class Replay:
    """Has the agent of a result in a file play its games again.

    Args:
        task: by which it was judged.
        spec: the agent, which may lie elsewhere than it did then.
        path: the file.
        run: plays the games: `in_processes`, or on a cluster.

    Raises:
        ValueError: the file is no result of this task.
    """

    def __init__(self, task: Task, spec: str, path: Path, run: Run[WorkUnit, MatchResult]) -> None:
        self.task, self.spec, self.path, self.run = task, spec, path, run
        self.found = read_result(path, task)

    @players_ended()
    def check(self, progress: Callable[[int], None] | None = None) -> Results:
        """Plays all games of the result, and returns them.

        Args:
            progress: called with a number of games when they have been played.

        Raises:
            ValueError: the result cannot be checked, or says something else than its games do.
            AgentFailed, IllegalMove: the agent failed, or a decision took longer than the task allows (`TooSlow`).
        """
        self._check_same()
        matches = matches_of(self.task, self.spec)
        played = self._played(matches, progress)
        known = {key: value for key, value in scores(self.task, matches, played).items() if key != "measures"}
        for key, here in known.items():  # measures follow from the chunks, or are counts of the agent
            for told in _differences(key, here, self.found.get(key, {}), CLOSE if self.task.judge else ROUNDED):
                raise ValueError(f"{self.path}: {told}")
        return played

    @players_ended()
    def judge(self, seed: int, progress: Callable[[int], None] | None = None) -> Json:
        """Checks the result, plays as many games on the deals of another seed, adds their score to the file, and returns it.

        The file is written at the end, whole or not at all. Equal seeds, 0 or more, give equal figures but for the milliseconds.
        `difference` is the share of games won on the fresh deals less that on the public ones, with its 95 % interval; a deal,
        played from every seat against every opponent, is one observation. `progress` and errors are those of `check`, and an
        `OSError` says that the file cannot be written.
        """
        check_writable(self.path)
        public = _score(self.check(progress))
        matches = matches_of(replace(self.task, seed=seed), self.spec)
        played = self._played(matches, progress)
        fresh = _score(played)
        difference, half = fresh.rate - public.rate, Z_95 * math.hypot(fresh.win_error, public.win_error)
        known = scores(self.task, matches, played)
        added = {
            "seed": seed,
            "date": date.today().isoformat(),
            "opponents": known["opponents"],
            "all": known["all"],
            "difference": round(difference, 6),
            "interval": [round(difference - half, 6), round(difference + half, 6)],
            "milliseconds": processor_milliseconds(played),
        }
        validate_result(self.found | {"fresh": added}, self.task)
        write_whole(self.path, json.dumps(self.found | {"fresh": added}, indent=1) + "\n")
        return added

    def _check_same(self) -> None:
        """Raises a `ValueError` if the games cannot be played again as they were."""
        agent, files = self.found["agent"], file_hashes(self.spec)
        reasons = {
            "its agent is not repeatable": not agent["repeatable"],
            "it was judged by an older protocol": self.found.get("protocol", 1) < PROTOCOL and not is_builtin(self.spec),
            "its agent has other files": is_builtin(self.spec) and {*agent["files"].values()} != {*files.values()},
            "this version plays other games": self.found["environment"]["fingerprint"] != fingerprint(self.task),
        }
        for reason, applies in reasons.items():
            if applies:
                raise ValueError(f"{self.path} cannot be checked: {reason}")

    def _played(self, matches: Sequence[Match], progress: Callable[[int], None] | None) -> Results:
        """Plays matches; raises a `ValueError` if the agent reads files that it did not read when it was judged."""
        claims = self.found["agent"]["files"]

        def run(work: Callable[[WorkUnit], MatchResult], units: Iterable[WorkUnit]) -> Iterator[tuple[WorkUnit, MatchResult]]:
            for unit, result in self.run(work, units):
                read = published_names(result.inputs.get(self.spec, Inputs()).files)
                known = {name: [claims[name]] if name in claims else claims.values() for name in read}
                if others := [name for name, digest in read.items() if digest not in known[name]]:
                    raise ValueError(f"{self.path} cannot be checked: its agent has other files: {', '.join(others)}")
                yield unit, result

        units = [unit for match in matches for unit in match.units]
        return play_units(units, Journal(), run, progress, self.task.seconds, player_of(self.task))


def holds(fresh: Json) -> bool:
    """Returns whether the public figure holds on fresh deals: their share of games won is not lower beyond chance (95 %)."""
    return fresh["interval"][1] >= 0


def _score(played: Results) -> Score:
    """Returns the score of the agent in all games."""
    return score((game.seed, game.winner == 0, game.ranks[0]) for result in played.values() for game in result.played)


def _differences(key: str, here: Any, there: Any, tolerance: float) -> Iterator[str]:
    """Yields what a result says that its games, played again here, do not; it may say less than they do."""
    if isinstance(there, dict):
        for name, value in there.items():
            yield from _differences(f"{key}.{name}", here.get(name), value, tolerance)
    elif isinstance(there, list) and isinstance(here, list):
        for k, pair in enumerate(zip_longest(here, there)):
            yield from _differences(f"{key}[{k}]", *pair, tolerance)
    elif here != there and not (isinstance(here, int | float) and abs(here - there) <= tolerance):
        yield f"{key} is {here}, not {there}, when all games are played again"
