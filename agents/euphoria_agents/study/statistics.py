"""What happened in many games: each is counted from its record, and tables are made of the counts."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from euphoria_agents.matches.match import score, wilson
from euphoria_agents.matches.tournament import Chunk, play_chunk, sources
from euphoria_agents.study.decision_analysis import Replayed
from euphoria_env import Rules, actions
from euphoria_env.board import ARTIFACT_MARKETS, ICARUS, MARKETS, NUM_SPACES, SLOTS, SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.engine.state import RESOLVED_STAR

# What places stars: the building of a market (R9.4), a worker on a market (R10.2), on an artifact market (R10.1) or in Icarus
# (R11.1), an allegiance track at its end (R7.6), the ethical dilemma (R14.1).
STAR_SOURCES = ("construction", "market", "artifact market", "icarus", "allegiance", "dilemma")
_IN_TERRITORY = {
    **dict.fromkeys(MARKETS, "market"),
    **dict.fromkeys(ARTIFACT_MARKETS, "artifact market"),
    **dict.fromkeys(ICARUS, "icarus"),
}


@dataclass(frozen=True)
class Counted:
    """What is counted of a game; JSON can hold all of it.

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


def count(record: str, agents: Sequence[str] = (), deal: int = 0) -> Counted:
    """Counts a game from its record; `agents` and `deal` are those of `Counted`.

    Raises:
        ValueError: it is no record, or the game has not ended.
    """
    game: Any = Replayed.from_record(record)
    if game.ranking is None:
        raise ValueError("the game has not ended")
    rows = [*(rows[0] for rows in game.before), game.states[0]]
    n, last = game.rules.num_players, rows[-1]
    stars, spaces = [Counter[str]() for _ in range(n)], [Counter[str]() for _ in range(n)]
    turn_built = {k: 0 for k in range(len(MARKETS)) if rows[0]["built"][k]}
    for action, old, new in zip(game.played, rows, rows[1:], strict=False):
        placing = action < actions.END
        space = SPACES[action % NUM_SPACES if placing else int(old["space"])]
        if placing:
            spaces[int(old["player"])][_name(space, old)] += 1
        if (old["stars"] != new["stars"]).any():
            for p in range(n):
                stars[p].update(_stars(old, new, p, space))
        for k in np.flatnonzero(new["built"] > old["built"]).tolist():
            turn_built[k] = int(old["turn"])
    return Counted(
        deal=deal,
        agents=list(agents),
        winner=game.winner,
        ranking=game.ranking,
        turns=game.turn,
        decisions=len(game.played),
        stars=[dict(one) for one in stars],
        recruits=[[RECRUIT_NAMES[k] for k in _bits(int(last["active_cards"][p]))] for p in range(n)],
        markets={TILES[tile]: turn_built.get(k) for k, tile in enumerate(last["tile"].tolist()) if tile >= 0},
        spaces=[dict(one) for one in spaces],
    )


def _name(space: str, row: np.void) -> str:
    if space in SLOTS:
        return space.rpartition("_")[0]
    return TILES[int(row["tile"][MARKETS.index(space)])] if space in MARKETS else space


def _stars(old: np.void, new: np.void, p: int, space: str) -> dict[str, int]:
    """The stars that a decision placed for a player, by source; `space`: where the worker stands that it is about."""
    found: dict[str, int] = defaultdict(int)
    found["allegiance"] += len(_bits(int(new["starred"]) & ~int(old["starred"]) & int(new["active_cards"][p])))
    found["dilemma"] += int(new["resolved"][p] == RESOLVED_STAR != old["resolved"][p])
    for k in range(len(MARKETS)):
        if (int(new["market_stars"][k]) & ~int(old["market_stars"][k])) >> p & 1:
            found["artifact market" if old["built"][k] else "construction"] += 1
    if placed := int(new["territory"][:, p].sum() - old["territory"][:, p].sum()):
        found[_IN_TERRITORY[space]] += placed
    return {source: n for source, n in found.items() if n}


def _bits(number: int) -> list[int]:
    return [k for k in range(number.bit_length()) if number >> k & 1]


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
    "which is right from some dozens of deals on."
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
        _recruit_table(seats),
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


def _recruit_table(seats: Sequence[Seat]) -> StatisticsTable:
    held, won = Counter[str](), Counter[str]()
    for game, seat in seats:
        held.update(game.recruits[seat])
        won.update(game.recruits[seat] if game.winner == seat else [])
    rows = [[name, held[name], won[name], _ratio(won[name], held[name]), *wilson(won[name], held[name])] for name in held]
    columns = [("recruit", "recruit"), ("active", "count"), ("won", "count"), *((x, "share") for x in ("rate", "low", "high"))]
    return StatisticsTable("recruits", "Wins of those with a recruit active at the end", columns, _ordered(rows, 3))


def _market_table(games: Sequence[Counted]) -> StatisticsTable:
    there = Counter(tile for game in games for tile in game.markets)
    turns: dict[str, list[int]] = defaultdict(list)
    for game in games:
        for tile, turn in game.markets.items():
            if turn is not None:
                turns[tile].append(turn)
    rows = [
        [tile, n, len(turns[tile]), _ratio(len(turns[tile]), n), _ratio(sum(turns[tile]), len(turns[tile]))]
        for tile, n in there.items()
    ]
    columns = [("market", "tile"), ("on the board", "count"), ("built", "count"), ("share", "share"), ("mean turn", "mean")]
    return StatisticsTable("markets", "Markets built", columns, _ordered(rows, 3))


def _space_table(games: Sequence[Counted]) -> StatisticsTable:
    placed = sum((Counter(one) for game in games for one in game.spaces), Counter[str]())
    rows = [[name, n, _ratio(n, placed.total()), _ratio(n, len(games))] for name, n in placed.items()]
    columns = [("space", "space"), ("workers", "count"), ("share", "share"), ("a game", "mean")]
    return StatisticsTable("spaces", "Spaces used", columns, _ordered(rows, 1))


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 6) if whole else None


def _ordered(rows: list[list[Any]], column: int) -> list[list[Any]]:
    """The greatest first, and equal ones by name."""
    return sorted(rows, key=lambda row: (-row[column], row[0]))
