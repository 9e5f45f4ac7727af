"""Game records: text that replays to the identical final state on any machine (docs/positions.md).

Line 1 is JSON: format, version, where the game starts, and the outcomes of chance before the first decision. A line for each
decision follows, such as `MOVE | dice 3 5 | artifacts book`, a line `load {...}` where outcomes were loaded, a line
`load [...]` before a move that was played with outcomes, and a line `seed N` where the generator was seeded again. The last line
is `fingerprint HEX`. What was played since the turn of a position began is in such lines too, without the outcomes of the moves.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from euphoria_env.actions import NAMES
from euphoria_env.json_reader import BYTE_ORDER_MARK, FieldError, Reader, read_json, shown
from euphoria_env.rules import Rules

if TYPE_CHECKING:
    from euphoria_env.game import Game

RECORD_FORMAT, RECORD_VERSION = "euphoria-record", 2

Outcome = tuple[str, int | str]  # the kind and the value of a random outcome
# The moves before it; the outcomes of `load`, or of the next `play`, or the seed of `reseed`.
Load = tuple[int, dict[str, list[Any]] | list[list[Any]] | int]
_MOST_SINCE = 2_000  # lines of a position's `since`; turns are far shorter
_NO_MOVE = "a move must follow the outcomes that are given for it"
New = TypeVar("New", bound="Game")


def outcomes_text(outcomes: Iterable[Outcome]) -> str:
    """Returns outcomes as ` | kind value value ...`, in the order in which they were drawn."""
    runs = groupby(outcomes, key=lambda outcome: outcome[0])
    return "".join(f" | {kind} {' '.join(str(value) for _, value in run)}" for kind, run in runs)


def decision_lines(moves: list[int], marks: list[int], outcomes: list[Outcome]) -> list[str]:
    """Returns a line for each move with the outcomes that it drew; `marks` counts those before the first and after each move."""
    ends = zip(moves, marks[:-1], marks[1:], strict=True)
    return [NAMES[move] + outcomes_text(outcomes[start:end]) for move, start, end in ends]


def with_loads(lines: Iterable[str], loads: Iterable[Load], first: int = 0) -> list[str]:
    """Returns lines for the decisions from number `first` on, with a line for each load, which says how many came before it."""
    loaded = defaultdict[int, list[str]](list)
    for after, what in loads:
        loaded[after].append(f"{'seed' if isinstance(what, int) else 'load'} {json.dumps(what)}")
    text = [one for k, line in enumerate(lines, first) for one in (*loaded.pop(k, ()), line)]
    return text + [line for last in loaded.values() for line in last]


def format_record(start: dict[str, Any], setup: list[Outcome], lines: list[str], fingerprint: str) -> str:
    """Returns the text of a record; `lines` are those between the first and the last."""
    header = {"format": RECORD_FORMAT, "version": RECORD_VERSION, **start, "outcomes": [list(outcome) for outcome in setup]}
    return "\n".join([json.dumps(header), *lines, f"fingerprint {fingerprint}"]) + "\n"


def record_lines(text: str) -> list[tuple[int, str]]:
    """Returns the lines that are not blank, with their numbers, without a byte-order mark and blanks at their ends."""
    lines = enumerate(text.removeprefix(BYTE_ORDER_MARK).splitlines(), 1)
    return [(number, line.rstrip()) for number, line in lines if line.strip()]


def replayed(text: str, new: type[New]) -> Iterator[tuple[New, str]]:
    """Replays a record in a game of the class `new`, and compares every outcome.

    Yields:
        Always the same game: before each line with that line, and at the end with an empty line.

    Raises:
        ValueError: a line does not replay as written; the message names it.
    """
    if not isinstance(text, str):
        raise ValueError(f"a record is text, not {shown(text)}")
    lines = record_lines(text)
    if not lines:
        raise ValueError("this is not a game record: it is empty")
    (first, start), (last, end) = lines[0], lines[-1]
    try:
        game = _start(start, new)
    except ValueError as error:
        raise ValueError(f"line {first}: {error}") from error
    if not end.startswith("fingerprint "):
        raise ValueError(f"line {last}: the last line of a record must be 'fingerprint HEX', not {shown(end)}")
    given = None
    for number, line in lines[1:-1]:
        yield game, line
        try:
            given = _replay_line(game, line, given)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    if given is not None:
        raise ValueError(f"line {last}: {_NO_MOVE}")
    if end != f"fingerprint {game.fingerprint()}":
        raise ValueError(f"line {last}: {shown(end)} is not the fingerprint of the game that was replayed")
    yield game, ""


def _start(line: str, new: type[New]) -> New:
    try:
        header = read_json(line)
    except json.JSONDecodeError as error:
        raise ValueError("this is not a game record") from error
    if not isinstance(header, dict) or header.get("format") != RECORD_FORMAT:
        raise ValueError(f"this is not a game record: 'format' must be {RECORD_FORMAT!r}")
    version = header.get("version")
    if type(version) is not int or version != RECORD_VERSION:
        raise ValueError(f"version {shown(version)} cannot be read; this is version {RECORD_VERSION}")
    start = ("position",) if "position" in header else ("rules", "seed", "load")
    Reader().mapping("", header, ("format", "version", "outcomes", *start))
    if "position" in header:
        game = new.from_dict(header["position"])
    elif header.get("seed") is None:
        raise ValueError("'seed' or 'position' is missing")
    else:
        game = new(Rules.from_dict(header.get("rules", {})), header["seed"], header.get("load"))
    if "outcomes" not in header:
        raise ValueError("'outcomes' is missing: what chance gave before the first decision, [] if nothing")
    if header["outcomes"] != [list(outcome) for outcome in game.outcomes]:
        raise ValueError("'outcomes' are not those of this start")
    return game


def _replay_line(game: Game, line: str, given: list[Any] | None) -> list[Any] | None:
    """Plays a line, and compares the outcomes; `given` and the result as for `_play_line`."""
    move, before = line.split(" | ", 1)[0], len(game._log.outcomes())  # not `game.outcomes`, which copies all of them
    given = _play_line(game, move, given)
    replayed = move + outcomes_text(game._log.outcomes()[before:])
    if replayed != line:
        raise ValueError(f"the record has {shown(line)}, but the replay gives {shown(replayed)}")
    return given


def _play_line(game: Game, line: str, given: list[Any] | None) -> list[Any] | None:
    """Plays a move with the outcomes that the line before it gave, or loads outcomes; returns those for the next line."""
    kind, _, rest = line.partition(" ")
    if kind not in ("load", "seed"):
        game.play(line, given)
        return None
    if given is not None:
        raise ValueError(_NO_MOVE)
    what = read_json(rest)
    if kind == "seed":
        game.reseed(what)
    elif isinstance(what, list):
        return what
    elif isinstance(what, dict):
        game.load(**what)
    else:
        raise ValueError(f"load must be an object of lists by kind, or a list of pairs, not {shown(what)}")
    return None


def play_since(game: Game, lines: Any) -> None:
    """Plays what was played in a position since its turn began; a `ValueError` names the line that cannot be played."""
    given = None
    Reader.require(
        len(lines := Reader().items("since", lines)) <= _MOST_SINCE, "since", f"these are more than {_MOST_SINCE} lines"
    )
    for k, line in enumerate(lines):
        if not isinstance(line, str):
            Reader.must(f"since[{k}]", f"be a move or a line of outcomes, not {shown(line)}")
        try:
            given = _play_line(game, line, given)
        except ValueError as error:
            raise FieldError(f"since[{k}]", str(error)) from error
    Reader.require(given is None, f"since[{len(lines) - 1}]", _NO_MOVE)
