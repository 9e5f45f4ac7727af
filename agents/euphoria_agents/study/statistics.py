"""Statistics of many games: each is counted from its record, and tables are made from the counts."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from euphoria_agents.matches.match import score, wilson
from euphoria_agents.matches.tournament import Chunk, play_chunk, sources
from euphoria_agents.record_steps import steps
from euphoria_env import Rules
from euphoria_env.board import ARTIFACT_MARKETS, ICARUS, MARKETS, SLOTS, SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.events import EventKind

# Causes of stars: the building of a market (R9.4), a worker on a market (R10.2), on an artifact market (R10.1) or in Icarus
# (R11.1), an allegiance track at its end (R7.6), the ethical dilemma (R14.1).
STAR_SOURCES = ("construction", "market", "artifact market", "icarus", "allegiance", "dilemma")
_BY_SPACE = {
    **dict.fromkeys(SLOTS, "construction"),
    **dict.fromkeys(MARKETS, "market"),
    **dict.fromkeys(ARTIFACT_MARKETS, "artifact market"),
    **dict.fromkeys(ICARUS, "icarus"),
}
_K = EventKind
# The counts by seat: the field of `Counted`, and the names of the event's `a`, or one name for all.
_COUNTED: dict[int, tuple[str, Sequence[str] | str]] = {
    _K.PLACED: ("spaces", SPACES),
    _K.BUMPED: ("bumps", SPACES),
    _K.ABILITY: ("abilities", RECRUIT_NAMES),
    _K.WAY: ("abilities", RECRUIT_NAMES),
    _K.REACTION: ("abilities", RECRUIT_NAMES),
    _K.PENALTY: ("penalties", TILES),
    _K.STAR_ON_RECRUIT: ("stars", "allegiance"),
    _K.STAR_ON_DILEMMA: ("stars", "dilemma"),
}


@dataclass(frozen=True)
class Counted:
    """The counts of a game; JSON can hold all of them.

    Attributes:
        deal: games of the same number had the same cards dealt.
        agents: who sat on each seat; empty if nobody knows.
        winner: the seat; None if the game was cut off.
        ranking: by seat, 1 is best.
        turns, decisions: how many there were.
        stars: by seat, the stars placed by source.
        recruits: by seat, those that were active at the end.
        markets: by tile on the board, the turn in which it was built, 0 if it stood from the start; None if it never was.
        spaces: by seat, the workers placed by space; a site is one space, and a built market has the name of its tile.
        bumps: by seat, the own workers bumped, by space.
        abilities: by seat, how often each recruit acted.
        penalties: by seat, how often each market penalty was suffered.
    """

    deal: int
    agents: list[str]
    winner: int | None
    ranking: list[int]
    turns: int
    decisions: int
    stars: list[dict[str, int]]
    recruits: list[list[str]]
    markets: dict[str, int | None]
    spaces: list[dict[str, int]]
    bumps: list[dict[str, int]] = field(default_factory=list)
    abilities: list[dict[str, int]] = field(default_factory=list)
    penalties: list[dict[str, int]] = field(default_factory=list)


def count(record: str, agents: Sequence[str] = (), deal: int = 0) -> Counted:
    """Counts a game from its record; `agents` and `deal` are those of `Counted`.

    Raises:
        ValueError: it is not a record, or the game has not ended.
    """
    replay = steps(record)
    game, _ = next(replay)
    space = int(game.states[0]["space"])  # of the placement under way, if there is one
    deque(replay, 0)
    if game.ranking is None:
        raise ValueError("the game has not ended")
    events, row = game.event_array(None).tolist(), game.states[0]
    tiles, players = row["tile"].tolist(), range(game.rules.num_players)
    turn = game.turn - sum(event[0] == _K.TURN for event in events)
    built = dict.fromkeys(np.flatnonzero(row["built"]).tolist(), 0)
    seats = {key: [Counter[str]() for _ in players] for key in ("stars", "spaces", "bumps", "abilities", "penalties")}
    for kind, player, a, _ in events:
        turn += kind == _K.TURN
        space = a if kind == _K.PLACED else space
        if kind == _K.BUILT:
            built[a] = turn
        key, names = ("stars", _BY_SPACE[SPACES[space]]) if kind == _K.STAR else _COUNTED.get(kind, ("", ""))
        if key:
            seats[key][player][names if isinstance(names, str) else _name(names[a], tiles)] += 1
    active = [int(row["active_cards"][p]) for p in players]
    return Counted(
        deal=deal,
        agents=list(agents),
        winner=game.winner,
        ranking=game.ranking,
        turns=game.turn,
        decisions=len(game.decided()),
        recruits=[[name for k, name in enumerate(RECRUIT_NAMES) if cards >> k & 1] for cards in active],
        markets={TILES[tile]: built.get(k) for k, tile in enumerate(tiles) if tile >= 0},
        **{key: [dict(one) for one in counts] for key, counts in seats.items()},
    )


def _name(name: str, tiles: list[int]) -> str:
    """The name under which something is counted: a slot by its site, a market by its tile."""
    if name in SLOTS:
        return name.rpartition("_")[0]
    return TILES[tiles[MARKETS.index(name)]] if name in MARKETS else name


def play_deal(agents: Sequence[str], rules: Rules, seed: int, deal: int) -> list[Counted]:
    """Plays a deal once from every seat, as `euphoria evaluate` plays it, and counts its games.

    Args:
        agents: their specs, one for each player.
        rules: the options.
        seed: of all deals.
        deal: its number, from 0.

    Raises:
        ValueError: a wrong agent.
    """
    lineup, n = tuple(agents), len(agents)
    result = play_chunk(Chunk(lineup, deal, seed, 1, rules, sources(lineup)), records=True)
    seated = ([lineup[(seat - turned) % n] for seat in range(n)] for turned in range(n))
    return [count(record, who, deal) for record, who in zip(result.records, seated, strict=True)]


# ----------------------------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True)
class StatisticsTable:
    """A table of numbers.

    Attributes:
        name: a word.
        caption: what it shows.
        columns: heading and kind of each; the kinds are "text", "recruit", "tile" and "space" (identifiers), "count",
            "share" (0 to 1) and "mean".
        rows: the cells; None where there is nothing to say.
        note: how they are to be read.
    """

    name: str
    caption: str
    columns: list[tuple[str, str]]
    rows: list[list[Any]]
    note: str = ""

    def csv(self) -> str:
        """The same as comma-separated values, with a line of headings."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([heading for heading, _ in self.columns])
        writer.writerows(self.rows)
        return text.getvalue()


_SCORE = [
    *(("games", "count"), ("won", "count"), ("rate", "share"), ("low", "share"), ("high", "share")),
    *(("paired low", "share"), ("paired high", "share"), ("mean rank", "mean")),
]
_NOTE = (
    "Low and high bound the rate with 95 %: as if all games were independent, and (paired) with each deal as one observation, "
    "which is right from a few dozen deals on."
)
Seat = tuple[Counted, int]


def tables(games: Sequence[Counted]) -> list[StatisticsTable]:
    """All tables of some games; none of no games."""
    if not games:
        return []
    seats = [(game, seat) for game in games for seat in range(len(game.ranking))]
    by_agent = _grouped(seats, lambda game, seat: game.agents[seat] if game.agents else None)
    by_seat = _grouped(seats, lambda game, seat: str(seat))
    return [
        *(
            [StatisticsTable("agents", "Wins by agent", [("agent", "text"), *_SCORE], _scores(by_agent), _NOTE)]
            if by_agent
            else []
        ),
        StatisticsTable("seats", "Wins by seat", [("seat", "text"), *_SCORE], _scores(by_seat), _NOTE),
        _length(games),
        _star_table(by_agent or by_seat),
        _recruit_table(games, seats),
        _market_table(games),
        _space_table(games),
    ]


def _grouped(seats: Iterable[Seat], key: Callable[[Counted, int], str | None]) -> dict[str, list[Seat]]:
    groups: dict[str, list[Seat]] = defaultdict(list)
    for game, seat in seats:
        if (name := key(game, seat)) is not None:
            groups[name].append((game, seat))
    return dict(sorted(groups.items()))


def _scores(groups: dict[str, list[Seat]]) -> list[list[Any]]:
    rows = []
    for name, seats in groups.items():
        one = score((game.deal, game.winner == seat, game.ranking[seat]) for game, seat in seats).to_dict()
        paired = one["paired_interval"] or [None, None]
        rows.append([name, one["games"], one["wins"], one["win_rate"], *one["interval"], *paired, one["mean_rank"]])
    return rows


def _length(games: Sequence[Counted]) -> StatisticsTable:
    columns = [("length", "text"), *((name, "mean") for name in ("mean", "least", "10 %", "median", "90 %", "most"))]
    rows = []
    for name in ("turns", "decisions"):
        values = [getattr(game, name) for game in games]
        cuts = np.quantile(values, (0, 0.1, 0.5, 0.9, 1)).round(6).tolist()
        rows.append([name, _ratio(sum(values), len(values)), *cuts])
    return StatisticsTable("length", "Length of the games", columns, rows)


def _star_table(groups: dict[str, list[Seat]]) -> StatisticsTable:
    sums = {name: Counter[str]() for name in groups}
    for name, seats in groups.items():
        for game, seat in seats:
            sums[name].update(game.stars[seat])
    everything = sum(sums.values(), Counter[str]())
    rows = [
        [source, everything[source], _ratio(everything[source], everything.total())]
        + [_ratio(sums[name][source], len(groups[name])) for name in groups]
        for source in STAR_SOURCES
    ]
    columns = [("source", "text"), ("stars", "count"), ("share", "share"), *((f"a game: {name}", "mean") for name in groups)]
    return StatisticsTable("stars", "Stars by what placed them", columns, rows)


def _recruit_table(games: Sequence[Counted], seats: Sequence[Seat]) -> StatisticsTable:
    held, won, acted = Counter[str](), Counter[str](), _sum(games, "abilities")
    for game, seat in seats:
        held.update(game.recruits[seat])
        won.update(game.recruits[seat] if game.winner == seat else [])
    rows = [
        [name, n, won[name], _ratio(won[name], n), *wilson(won[name], n), acted[name], _ratio(acted[name], n)]
        for name, n in held.items()
    ]
    columns = [("recruit", "recruit"), ("active", "count"), ("won", "count"), *((x, "share") for x in ("rate", "low", "high"))]
    columns += [("acted", "count"), ("a game", "mean")]
    return StatisticsTable("recruits", "Wins of those with a recruit active at the end", columns, _ordered(rows, 3))


def _market_table(games: Sequence[Counted]) -> StatisticsTable:
    there, suffered = Counter(tile for game in games for tile in game.markets), _sum(games, "penalties")
    turns: dict[str, list[int]] = defaultdict(list)
    for game in games:
        for tile, turn in game.markets.items():
            if turn is not None:
                turns[tile].append(turn)
    rows = [
        [tile, n, (m := len(turns[tile])), _ratio(m, n), _ratio(sum(turns[tile]), m), suffered[tile], _ratio(suffered[tile], m)]
        for tile, n in there.items()
    ]
    columns = [("market", "tile"), ("on the board", "count"), ("built", "count"), ("share", "share"), ("mean turn", "mean")]
    columns += [("penalties", "count"), ("a game", "mean")]
    return StatisticsTable("markets", "Markets built, and penalties that changed something", columns, _ordered(rows, 3))


def _space_table(games: Sequence[Counted]) -> StatisticsTable:
    placed, bumped = _sum(games, "spaces"), _sum(games, "bumps")
    total = placed.total()
    rows = [
        [name, n, _ratio(n, total), _ratio(n, len(games)), bumped[name], _ratio(bumped[name], n)] for name, n in placed.items()
    ]
    columns = [("space", "space"), ("workers", "count"), ("share", "share"), ("a game", "mean")]
    columns += [("bumped", "count"), ("of those placed", "share")]
    return StatisticsTable("spaces", "Spaces used", columns, _ordered(rows, 1))


def _sum(games: Sequence[Counted], key: str) -> Counter[str]:
    """The counts of all seats of all games together."""
    return sum((Counter(one) for game in games for one in getattr(game, key)), Counter[str]())


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 6) if whole else None


def _ordered(rows: list[list[Any]], column: int) -> list[list[Any]]:
    """The greatest first, and equal ones by name."""
    return sorted(rows, key=lambda row: (-row[column], row[0]))
