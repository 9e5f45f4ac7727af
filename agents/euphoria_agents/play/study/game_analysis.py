"""Analyses a whole recorded game as JSON: a header, and an entry for each decision. An analysis in a file can be resumed."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from euphoria_agents.agent import Explanation, explained
from euphoria_agents.files import append_line, check_writable, read_text, write_whole
from euphoria_agents.matches.match import AgentGenerator
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.work import check_counts, inputs_of, player, sources
from euphoria_agents.play.study.decision_analysis import Judgement, Row, best_of, outcome, regret, rounded
from euphoria_agents.play.study.move_comparison import compare, moves_to_compare
from euphoria_agents.provenance import Inputs, changed_since, joined, unsure
from euphoria_agents.record_steps import Replayed
from euphoria_agents.validation import checked
from euphoria_env import Game
from euphoria_env.derived_seeds import derived_seed
from euphoria_env.engine.tape import KINDS
from euphoria_env.json_reader import read_json, shown
from euphoria_env.record import record_lines

ANALYSIS_FORMAT, ANALYSIS_VERSION = "euphoria-analysis", 2
FUTURES = 8  # determinized games over which the value of a rarely searched move, or the effect of chance, is averaged

Entry = dict[str, Any]


class Analysis:
    """The analysis of a recorded game by an agent. When it is pickled, the copy makes its own agent and replays the record.

    Args:
        record: the text of the record.
        spec: the spec of the agent, as for `euphoria_agents.load`.
        seed: 0 or more; equal seeds give equal analyses, if the agent neither looks at the clock nor searches in threads.

    Attributes:
        game: the game at its end.
        agent: the agent that judges.
        players: the number of players.
        decisions: the number of decisions.

    Raises:
        ValueError: the record, the spec or the seed is wrong.
    """

    def __init__(self, record: str, spec: str, seed: int = 0) -> None:
        check_counts(seed=seed)
        self.record, self.spec, self.seed = record, spec, seed
        self.game, self.agent = Replayed.from_record(record), player(spec)
        self._inputs = inputs_of([spec])
        self.players, self.decisions = self.game.rules.num_players, len(self.game.played)

    def __reduce__(self) -> tuple[Any, ...]:
        return Analysis, (self.record, self.spec, self.seed)

    @property
    def header(self) -> dict[str, Any]:
        """Returns all that is known to determine the entries up to now; see docs/study.md."""
        budget = getattr(self.agent, "budget", None)
        read = self._inputs.get(self.spec, Inputs())
        return {
            **about(self.record, self.game),
            "agent": self.spec,
            "sources": sources((self.spec,)),
            "files": read.files,
            "unseen": read.unseen,
            "budget": None if budget is None else str(budget),
            "seed": self.seed,
        }

    def entries(self, first: int = 0, processes: int = 1) -> Iterator[Entry]:
        """Yields the entries from decision `first` on, in order; they are the same for any number of processes.

        Closing the iterator, or an interrupt, ends the work. Only the main thread can use more than one process.

        Raises:
            ValueError: `processes` is less than 1. An error that the agent raises gets a note that names the agent.
        """
        check_counts(processes=processes)
        last: Judgement | None = None  # an entry needs the judgement of the next decision too
        for ply, judgement in enumerate(self._judgements(first, processes), first):
            if last is not None:
                yield self._entry(ply - 1, last, judgement.seats)
            last = judgement
            self._inputs = joined([self._inputs, judgement.inputs])
        if last is not None:
            yield self._entry(
                self.decisions - 1, last, self._win_probs(self.game, np.random.default_rng((self.seed, self.decisions)))
            )

    def _judgements(self, first: int, processes: int) -> Iterator[Judgement]:
        """Yields the judgement of each decision in order; makes the first one in this process, so that no other must compile."""
        if first < self.decisions:
            yield self._judge(first)
        due, early = first + 1, dict[int, Judgement]()
        with closing(in_processes(self._judge, range(due, self.decisions), processes)) as others:
            for ply, judgement in others:
                early[ply] = judgement
                while due in early:
                    yield early.pop(due)
                    due += 1

    def _judge(self, ply: int) -> Judgement:
        """Returns the judgement of a decision.

        If the search hardly visited the move played, its value is averaged over determinized games instead.
        """
        state, move = self.game.before[ply], self.game.played[ply]
        now = Game.taking(state.copy())
        opinion = self._explain(now, AgentGenerator(np.random.default_rng((self.seed, ply))))
        rows: list[Row] = [list(thought.values()) for thought in opinion["moves"]]
        played = next(row for row in rows if row[0] == move)
        if played[2] is not None and played[2] < FUTURES and best_of(rows) is not played:
            mover = now.player
            found = self._after(ply, lambda seed: now.determinize(mover, seed))
            played[3] = played[3] if found is None else found[mover]
        expected = None
        if self.game.by_chance(ply) and opinion["seats"] is not None:
            expected = self._after(ply, lambda seed: _with_other_chance(state, seed))
        return Judgement(rows, opinion["seats"], regret(rows, played), expected, inputs_of([self.spec]))

    def _explain(self, game: Game, chance: AgentGenerator) -> Explanation:
        """Returns the agent's explanation for the player who must decide, from what that player may know (R19)."""
        seat = game.player
        return explained(self.agent, game.observation(seat), game.mask(), chance.own, chance.deal(game, seat))

    def _win_probs(self, game: Game, rng: np.random.Generator) -> list[float] | None:
        """Returns the win probabilities by seat; None if the agent does not know them."""
        return outcome(game) or self._explain(game, AgentGenerator(rng))["seats"]

    def _after(self, ply: int, start: Callable[[int], Game]) -> list[float] | None:
        """Returns the mean win probabilities after the move played, over games that `start` makes from seeds; None: not known."""
        found = []
        for k in range(FUTURES):
            rng = np.random.default_rng((self.seed, ply, 1 + k))
            game = start(derived_seed(rng) >> 1)
            game.play(self.game.played[ply])
            seats = self._win_probs(game, rng)
            if seats is None:
                return None
            found.append(seats)
        return np.mean(found, axis=0).tolist()

    def _entry(self, ply: int, judgement: Judgement, after: list[float] | None) -> Entry:
        """Returns the entry of a decision; `after`: the win probabilities by seat before the next decision."""
        luck: list[float] | None = None
        chance = self.game.by_chance(ply)
        if not chance:
            luck = [0.0] * self.players
        elif after is not None and judgement.expected is not None:
            luck = [one - other for one, other in zip(after, judgement.expected, strict=True)]
        return {
            "ply": ply,
            "player": self.game.mover(ply),
            "played": self.game.played[ply],
            "moves": [[action, rounded(prior), visits, rounded(value)] for action, prior, visits, value in judgement.moves],
            "values": None if judgement.seats is None else [rounded(chance) for chance in judgement.seats],
            "regret": rounded(judgement.regret),
            "luck": None if luck is None or judgement.seats is None else [rounded(change) for change in luck],
            "chance": [[kind, player] for kind, player in chance],
        }

    def in_file(self, path: str | Path, processes: int = 1) -> Iterator[Entry]:
        """Yields all entries: first those that a file has, then the others, each of which is added to the file first.

        Raises:
            ValueError: the file is damaged or of another analysis, and is left as it is; the message says where, or what differs.
            OSError: the file cannot be read or written.
        """
        path = Path(path)
        check_writable(path)
        # An interrupt at the very start may leave a part of the header.
        new = not path.exists() or json.dumps(self.header).startswith(read_text(path))
        found = [] if new else _read(path, self.header, self.game)
        self.write(path, found)
        yield from found
        header = self.header
        for entry in self.entries(len(found), processes):
            found.append(entry)
            if self.header == header:
                append_line(path, json.dumps(entry))
            else:  # the agent has read more
                self.write(path, found)
            header = self.header
            yield entry

    def write(self, path: Path, entries: Iterable[Entry]) -> None:
        """Writes a file with these entries."""
        write_whole(path, "".join(json.dumps(line) + "\n" for line in (self.header, *entries)))

    def with_playouts(
        self, entries: Iterable[Entry], pairs: int, seconds: float = math.inf, processes: int = 1
    ) -> Iterator[Entry]:
        """Yields entries as they are ready, with `playouts`: the result of `move_comparison.compare`, which explains the budget.

        Raises:
            ValueError: the best move was played, `processes` is less than 1, or no network ships.
        """
        check_counts(processes=processes)
        given = {entry["ply"]: entry for entry in entries}
        with closing(in_processes(partial(self._with_playouts, given, pairs, seconds), given, processes)) as found:
            yield from (entry for _, entry in found)

    def _with_playouts(self, given: dict[int, Entry], pairs: int, seconds: float, ply: int) -> Entry:
        moves = moves_to_compare(given[ply])
        return {**given[ply], "playouts": compare(self.game.before[ply], moves, (self.seed, ply), pairs, seconds)}


def _with_other_chance(state: np.ndarray, seed: int) -> Game:
    """Returns the game with the same hidden cards, but with other random outcomes from now on."""
    game = Game.taking(state.copy())
    game.reseed(seed)
    return game


def about(record: str, game: Replayed) -> dict[str, Any]:
    """Returns the part of the header that describes the record; `game` is the recorded game at its end."""
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
    """Reads the first entries of an analysis of this record by any agent; a `ValueError` says what is wrong or differs."""
    return _read(path, about(record, game), game)


def _read(path: Path, wanted: dict[str, Any], game: Replayed) -> list[Entry]:
    """Reads the entries from the complete lines of a file whose header must have the values `wanted`."""
    whole, _, torn = read_text(path).rpartition("\n")
    first, *lines = (whole or torn).split("\n")
    try:
        header = read_json(first or "null")
        if not isinstance(header, dict) or header.get("format") != ANALYSIS_FORMAT:
            raise ValueError("not an analysis of this project")
        if differ := differences(header, wanted):
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


def differences(header: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Returns in which keys a header does not have the values `wanted`, with both values.

    An agent that has just been made may have read fewer files than one that has judged; none of them may have changed, and there
    may be nothing else whose changes nobody notices.
    """
    differ = [(key, header.get(key), here) for key, here in wanted.items() if header.get(key) != here]
    before, unseen = header.get("files"), header.get("unseen")
    if "unseen" in wanted and unsure([Inputs(unseen=[*map(str, unseen)] if isinstance(unseen, list) else [])]):
        return [("unseen", unseen, []), *differ]
    if not isinstance(before, dict) or changed_since([Inputs(before)]) or not wanted.get("files", {}).items() <= before.items():
        return differ
    return [one for one in differ if one[0] not in ("files", "unseen")]


Chance = Annotated[float, Meta(ge=0, le=1)]
Change = Annotated[float, Meta(ge=-1, le=1)]
Natural = Annotated[int, Meta(ge=0, le=2**62)]


class SavedPlayouts(msgspec.Struct, forbid_unknown_fields=True):
    """The result of the playouts of a decision; see `move_comparison.compare`."""

    pairs: Annotated[int, Meta(ge=1, le=2**40)]
    difference: Change
    margin: Annotated[float, Meta(ge=0, le=2)]
    certainty: Chance
    certain: bool


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
    playouts: SavedPlayouts | msgspec.UnsetType = msgspec.UNSET


def _checked_entry(entry: Any, ply: int, played: int, players: int) -> Entry:
    """Checks an entry against its decision and the number of players, and returns it."""
    found = checked(entry, SavedEntry)
    if (found.ply, found.played) != (ply, played) or found.player >= players:
        raise ValueError(f"ply, played, player must be {ply}, {played} and less than {players}")
    for name, chances in (("values", found.values), ("luck", found.luck)):
        if chances is not None and len(chances) != players:
            raise ValueError(f"{name} must have {players} entries")
    return entry
