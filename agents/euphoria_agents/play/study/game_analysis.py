"""The analysis of a whole recorded game, as JSON: a header, and an entry for each decision."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from euphoria_agents.files import read_text, write_whole
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.tournament import check_counts, sources
from euphoria_agents.play.study.decision_analysis import Judge, Judgement
from euphoria_agents.record_steps import Replayed
from euphoria_agents.validation import checked
from euphoria_env.engine.tape import KINDS
from euphoria_env.json_reader import read_json, shown
from euphoria_env.record import record_lines

ANALYSIS_FORMAT, ANALYSIS_VERSION = "euphoria-analysis", 2
DIGITS = 5  # of everything that is a chance

Entry = dict[str, Any]


class Analysis:
    """The analysis of a recorded game by an agent.

    Args:
        record: the text of the record.
        spec: of the agent, as for `euphoria_agents.load`.
        seed: 0 or more; equal seeds give equal analyses, if the agent neither looks at the clock nor searches in threads.

    Attributes:
        header: everything that determines the entries; see docs/study.md.
        players: how many play.
        decisions: how many decisions the game has.

    Raises:
        ValueError: the record, the spec or the seed is wrong.
    """

    def __init__(self, record: str, spec: str, seed: int = 0) -> None:
        check_counts(seed=seed)
        self._judge = Judge(record, spec, seed)
        game, agent = self._judge.game, self._judge.agent
        self.players, self.decisions = game.rules.num_players, len(game.played)
        budget = getattr(agent, "budget", None)
        self.header = {
            **about(record, game),
            "agent": spec,
            "sources": sources((spec,)),
            "budget": None if budget is None else str(budget),
            "seed": seed,
        }

    def entries(self, first: int = 0, processes: int = 1) -> Iterator[Entry]:
        """Yields the entries from decision `first` on, in order; the same for any number of processes.

        Closing the iterator, or an interrupt, ends the work. Only the main thread can use more than one process.

        Raises:
            ValueError: fewer than one process. An error raised by the agent gets a note that names it.
        """
        check_counts(processes=processes)
        last: Judgement | None = None  # an entry needs the judgement of the next decision too
        for ply, judgement in enumerate(self._judgements(first, processes), first):
            if last is not None:
                yield self._entry(ply - 1, last, judgement.seats)
            last = judgement
        if last is not None:
            yield self._entry(self.decisions - 1, last, self._judge.seats_at_end())

    def _judgements(self, first: int, processes: int) -> Iterator[Judgement]:
        """Yields the judgement of each decision in order; makes the first here, so that processes find all compiled."""
        if first < self.decisions:
            yield self._judge(first)
        due, early = first + 1, dict[int, Judgement]()
        with closing(in_processes(self._judge, range(due, self.decisions), processes)) as others:
            for ply, judgement in others:
                early[ply] = judgement
                while due in early:
                    yield early.pop(due)
                    due += 1

    def _entry(self, ply: int, judgement: Judgement, after: list[float] | None) -> Entry:
        """Returns the entry of a decision; `after`: the chances by seat before the next one."""
        luck: list[float] | None = None
        chance = self._judge.game.by_chance(ply)
        if not chance:
            luck = [0.0] * self.players
        elif after is not None and judgement.expected is not None:
            luck = [one - other for one, other in zip(after, judgement.expected, strict=True)]
        return {
            "ply": ply,
            "player": self._judge.game.mover(ply),
            "played": self._judge.game.played[ply],
            "moves": [[action, _rounded(prior), visits, _rounded(value)] for action, prior, visits, value in judgement.moves],
            "values": None if judgement.seats is None else [_rounded(chance) for chance in judgement.seats],
            "regret": _rounded(judgement.regret),
            "luck": None if luck is None or judgement.seats is None else [_rounded(change) for change in luck],
            "chance": [[kind, player] for kind, player in chance],
        }

    def write(self, path: str | Path, entries: Iterable[Entry]) -> None:
        """Writes a file of JSON lines: the header, then the entries.

        Raises:
            OSError: it cannot be written, and is left as it was.
        """
        write_whole(path, "".join(json.dumps(line) + "\n" for line in (self.header, *entries)))


def about(record: str, game: Replayed) -> dict[str, Any]:
    """Returns the part of the header that describes the record; `game`: at its end."""
    lines = "\n".join(line for _, line in record_lines(record))
    return {
        "format": ANALYSIS_FORMAT,
        "version": ANALYSIS_VERSION,
        "record": hashlib.blake2b(lines.encode(), digest_size=16).hexdigest(),
        "fingerprint": game.fingerprint(),
        "players": game.rules.num_players,
        "decisions": len(game.played),
    }


def saved_entries(path: Path, record: str, game: Replayed) -> list[Entry]:
    """Reads the entries in the file of an analysis of this record by any agent; the last ones may be missing.

    Raises:
        ValueError: the file is damaged, or of another record; says where, or what differs.
    """
    first, *lines = read_text(path).splitlines() or [""]
    try:
        header = read_json(first or "null")
        if not isinstance(header, dict) or header.get("format") != ANALYSIS_FORMAT:
            raise ValueError("not an analysis of this project")
        differ = [(key, header.get(key), here) for key, here in about(record, game).items() if header.get(key) != here]
        if differ:
            told = (f"{key} is {shown(there)} there and {shown(here)} here" for key, there, here in differ)
            raise ValueError(f"it is of another analysis: {'; '.join(told)}")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if len(lines) > len(game.played):
        raise ValueError(f"{path} has {len(lines)} entries, but the game only {len(game.played)} decisions")
    found = []
    for ply, line in enumerate(lines):
        try:
            found.append(_checked_entry(read_json(line), ply, game.played[ply], game.rules.num_players))
        except ValueError as error:
            raise ValueError(f"{path}, line {ply + 2}: {error}") from error
    return found


Chance = Annotated[float, Meta(ge=0, le=1)]
Change = Annotated[float, Meta(ge=-1, le=1)]
Natural = Annotated[int, Meta(ge=0, le=2**62)]


class SavedEntry(msgspec.Struct, forbid_unknown_fields=True):
    """An entry in a file; see `Analysis._entry`."""

    ply: Natural
    player: Annotated[int, Meta(ge=0, le=5)]
    played: Natural
    moves: list[tuple[Annotated[int, Meta(ge=0, le=2**15)], Chance | None, Natural | None, Chance | None]]
    values: list[Chance] | None = None
    regret: Chance | None = None
    luck: list[Change] | None = None
    chance: list[tuple[Literal[KINDS], Annotated[int, Meta(ge=-1, le=5)]]] = []  # type: ignore[valid-type]


def _checked_entry(entry: Any, ply: int, played: int, players: int) -> Entry:
    """Checks an entry against its decision and the number of players, and returns it."""
    found = checked(entry, SavedEntry)
    if (found.ply, found.played) != (ply, played) or found.player >= players:
        raise ValueError(f"ply, played, player must be {ply}, {played} and less than {players}")
    for name, chances in (("values", found.values), ("luck", found.luck)):
        if chances is not None and len(chances) != players:
            raise ValueError(f"{name} must have {players} entries")
    given: Entry = entry
    return given


def _rounded(chance: float | None) -> float | None:
    """Rounds a chance as files have it; never to -0.0."""
    return None if chance is None else round(chance, DIGITS) + 0.0
