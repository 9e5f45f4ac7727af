"""Plays games between agents, every seed from every seat, and returns win rates with intervals."""

from __future__ import annotations

import hashlib
import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from euphoria_agents.agent import Agent
from euphoria_agents.error_text import missing_library
from euphoria_agents.matches.players import Cast, Players, seed_for
from euphoria_agents.provenance import Inputs, joined
from euphoria_env import Game, Rules
from euphoria_env.agent_protocol import AgentGames, Story, keeps_games_apart, separated
from euphoria_env.derived_seeds import derived_generator, derived_seed
from euphoria_env.event_kinds import EventKind
from euphoria_env.memory import Ids
from euphoria_env.words import log

TABLES = 192  # games played side by side, so that agents answer many decisions at once
Z_95 = 1.959964  # two-sided 95 %


def ratio(over: Sequence[float], under: Sequence[float], strata: Sequence[int]) -> tuple[float, tuple[float, float]]:
    """Returns the ratio of two sums and its 95 % interval, from the terms of independent clusters, whose strata are fixed.

    The interval is that of the t distribution for the linearised ratio. There must be more clusters than strata.

    Args:
        over, under: the terms of each cluster.
        strata: the number of its stratum, such as the opponent in its games; every number from 0 occurs.
    """
    upper, lower, stratum = np.asarray(over, float), np.asarray(under, float), np.asarray(strata)
    mean = float(upper.sum() / lower.sum())
    off = upper - mean * lower
    off -= (np.bincount(stratum, off) / np.bincount(stratum))[stratum]
    free = len(off) - int(stratum.max()) - 1
    error = math.sqrt(len(off) / free * float((off**2).sum())) / float(lower.sum())
    t = Z_95 + (Z_95**3 + Z_95) / (4 * free) + (5 * Z_95**5 + 16 * Z_95**3 + 3 * Z_95) / (96 * free**2)  # Cornish and Fisher
    return mean, (mean - t * error, mean + t * error)


def wilson(wins: float, games: float, z: float = Z_95) -> tuple[float, float]:
    """Returns Wilson's confidence interval of a win rate; (0, 1) without games."""
    if games == 0:
        return 0.0, 1.0
    rate, zz = wins / games, z * z / games
    middle = (rate + zz / 2) / (1 + zz)
    half = z / (1 + zz) * math.sqrt(rate * (1 - rate) / games + zz / (4 * games))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Played:
    """The result of a game. A *place* is an index into the line-up, not a seat.

    Attributes:
        seed: the seed of the game; the games of one seed differ in who sits where.
        winner: the place of the winner; None if the game was cut off.
        ranks: the final ranks by place, 1 is best.
        turns: the number of turns begun.
        decisions: the numbers of decisions by place.
        first: the seat that began.
        seat: the seat of place 0; the other places follow around the table.
    """

    seed: int
    winner: int | None
    ranks: list[int]
    turns: int
    decisions: list[int]
    first: int = 0
    seat: int = 0


@dataclass(frozen=True)
class Score:
    """The results of an agent in some games.

    The games of one seed are not independent: they have the same deal, played once from every seat. `interval` treats them as
    independent; `paired_interval` and `rank_interval` treat the mean over the games of a seed as one observation, so they hold
    however these games depend on each other; that of the rank needs a few dozen seeds, and ranks that are not nearly all equal.

    Attributes:
        wins: games won; a truncated game is won by nobody.
        games: games played, truncated ones included; an agent on two seats of a game has played two.
        mean_rank: the mean of the final ranks, 1 is best.
        win_error: the standard error of the win rate, clustered by seed; infinite with fewer than two seeds.
        rank_error: the same of the mean rank.
        seeds: the number of seeds.
    """

    wins: int
    games: int
    mean_rank: float
    win_error: float = math.inf
    rank_error: float = math.inf
    seeds: int = 0

    @property
    def rate(self) -> float:
        """The share of games won."""
        return self.wins / max(1, self.games)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the win rate."""
        return wilson(self.wins, self.games)

    @property
    def paired_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for as many games as have the same standard error, clustered by seed; (0, 1) with one seed.

        If all seeds have equal results, which do not show how much results vary, a seed counts as one game.
        """
        varies = self.win_error > 1e-9  # more than by rounding
        games = self.rate * (1 - self.rate) / self.win_error**2 if varies else self.seeds
        return wilson(self.rate * games, games)

    @property
    def rank_interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean rank, clustered by seed, by the normal distribution."""
        return self.mean_rank - Z_95 * self.rank_error, self.mean_rank + Z_95 * self.rank_error

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers for JSON, rounded; intervals are null where there are too few seeds for one."""
        return {
            "games": self.games,
            "wins": self.wins,
            "win_rate": round(self.rate, 6),
            "interval": _rounded(self.interval),
            "paired_interval": _rounded(self.paired_interval) if math.isfinite(self.win_error) else None,
            "mean_rank": round(self.mean_rank, 6),
            "rank_interval": _rounded(self.rank_interval) if math.isfinite(self.rank_error) else None,
        }

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:.1%} ({low:.1%} to {high:.1%})"


def _rounded(interval: tuple[float, float]) -> list[float]:
    return [round(end, 6) for end in interval]


def score(results: Iterable[tuple[int, bool, int]]) -> Score:
    """Returns the score of an agent in games, each given as (seed, whether it won, its rank)."""
    rows = list(results)
    seeds, wins, ranks = zip(*rows, strict=True) if rows else ((), (), ())
    mean_rank, errors = float(np.mean(ranks)) if rows else 0.0, (_error(seeds, wins), _error(seeds, ranks))
    return Score(sum(wins), len(rows), mean_rank, *errors, len(set(seeds)))


def _error(seeds: Sequence[int], values: Sequence[float]) -> float:
    """Returns the standard error of the mean of values that are clustered by seed."""
    _, cluster = np.unique(np.array(seeds), return_inverse=True)
    clusters = int(cluster.max(initial=-1)) + 1
    if clusters < 2:
        return math.inf
    off = np.bincount(cluster, np.asarray(values, float) - np.mean(values))  # by cluster, the sum of the deviations from the mean
    return float(math.sqrt(clusters / (clusters - 1) * (off**2).sum()) / len(values))


@dataclass(frozen=True, repr=False)
class MatchResult:
    """The result of a match; its `repr` gives the games cut off, which nobody has won, and the win rate of each place.

    Attributes:
        played: the games; those of a seed stand together.
        thinking: by place, the seconds that its agent took to choose; the time of a batch is divided evenly among its decisions.
        seconds: how long the match took.
        records: the games as records, if they were asked for.
        counts: what was counted in these games, such as the tokens of the first agent, by name.
        inputs: by spec, what the agents read; `play_match` leaves it empty, `play_unit` does not.
        seed: the seed with which `play_match` repeats them.
    """

    played: list[Played]
    thinking: list[float]
    seconds: float
    records: list[str] = field(default_factory=list)
    counts: dict[str, float] = field(default_factory=dict)
    inputs: dict[str, Inputs] = field(default_factory=dict)
    seed: int | tuple[int, ...] | None = None

    def __repr__(self) -> str:
        won = "; ".join(f"place {place}: {score}" for place, score in enumerate(self.scores))
        return f"{self.games:,} games, {self.truncated:,} of them cut off; won by {won}"

    @property
    def games(self) -> int:
        """The number of games played."""
        return len(self.played)

    @property
    def truncated(self) -> int:
        """The number of games that were cut off."""
        return sum(game.winner is None for game in self.played)

    def scores_by(self, key: Callable[[Played], int]) -> dict[int, Score]:
        """Returns the score of the first agent of the line-up in each group of games: those with an equal `key`, ascending."""
        groups: dict[int, list[Played]] = {}
        for game in self.played:
            groups.setdefault(key(game), []).append(game)
        return {k: score((one.seed, one.winner == 0, one.ranks[0]) for one in groups[k]) for k in sorted(groups)}

    @property
    def decisions(self) -> int:
        """The number of decisions of all agents together."""
        return sum(sum(game.decisions) for game in self.played)

    @property
    def scores(self) -> list[Score]:
        """The score of each place of the line-up."""
        places = range(len(self.thinking))
        return [score((game.seed, game.winner == place, game.ranks[place]) for game in self.played) for place in places]

    @classmethod
    def joined(cls, results: Sequence[MatchResult]) -> MatchResult:
        """Joins several results of the same line-up."""
        played = [game for result in results for game in result.played]
        thinking = np.sum([result.thinking for result in results], axis=0).tolist()
        inputs = joined(result.inputs for result in results)
        return cls(played, thinking, sum(result.seconds for result in results), inputs=inputs)

    @property
    def decision_times(self) -> list[float]:
        """The mean seconds per decision, by place; 0 without decisions."""
        made = np.sum([game.decisions for game in self.played], axis=0)
        return [seconds / max(1, n) for seconds, n in zip(self.thinking, made.tolist(), strict=True)]


def play_match(
    agents: Sequence[Agent | str],
    games: int,
    rules: Rules | None = None,
    seed: int | Sequence[int] | None = None,
    progress: Callable[[int], None] | bool | None = None,
    records: bool = False,
    salt: int = 0,
) -> MatchResult:
    """Plays a number of games between the agents of a line-up, from every seat in turn.

    No agent gets a deal twice. Agents of this project keep games apart and play each deal from every seat. So do other agents
    that are given by their specs: each of their seats of a deal has a process of its own, in which the games come in an order of
    its own. An object of any other class may remember games: with one in the line-up every game has its own deal. Objects can
    still share what belongs to their class or module, and processes can share files; docs/agents.md says more.

    Args:
        agents: for each player an agent or a spec as for `load`; the same one may be given several times.
        games: the number of games; a multiple of the number of players gives everybody every seat equally often.
        rules: the rules; by default the usual ones for as many players as there are agents.
        seed: equal seeds give equal matches, if no agent looks at the clock or searches in threads. None: 128 random bits.
            Whoever knows the seed knows all cards and dice, and a small one can be guessed from one's own cards.
        progress: called with the number of games that have just ended; True: shown on stderr, in a terminal as a bar.
        records: whether the result has the records of the games.
        salt: a match with equal seeds and another salt, 0 or more, plays the same deals under other names, by which agents that
            keep notes tell games apart.

    Raises:
        ValueError: an argument does not fit the others, a spec is wrong, or an object with several places cannot be copied.
        AgentFailed: an agent in a process failed.
    """
    rules = _rules_for(agents, games, rules)
    seed = secrets.randbits(128) if seed is None else seed
    number = int(seed) if isinstance(seed, int | np.integer) else tuple(map(int, seed))
    objects: Any = iter(separated([agent for agent in agents if not isinstance(agent, str)]))
    lineup = [agent if isinstance(agent, str) else next(objects) for agent in agents]
    with closing(Players()) as players, _reporter(progress, games) as report:
        cast = players.cast(lineup, number)
        given = seed_for(chain(*cast), number)
        return replace(play_cast(cast, games, rules, given, given, records, salt, report), seed=number)


def _rules_for(agents: Sequence[Any], games: int, rules: Rules | None) -> Rules:
    """Returns these rules, or the usual ones, for as many players as agents; raises a `ValueError` if a number is wrong."""
    rules = Rules(num_players=len(agents)) if rules is None else rules
    if rules.num_players != len(agents):
        raise ValueError(f"a game of {rules.num_players} needs as many agents, not {len(agents)}")
    if games < 1:
        raise ValueError(f"games must be a positive integer, not {games}")
    return rules


def play_cast(
    cast: Cast,
    games: int,
    rules: Rules,
    seed: Any,
    secret: Any,
    records: bool = False,
    salt: int = 0,
    report: Callable[[int], None] = lambda ended: None,
) -> MatchResult:
    """Plays games between agents: each deal once in every rotation, or once if an agent plays in several that may remember it.

    Args:
        cast: the agents, by rotation and place.
        seed, secret: of the deals, and of all else that agents get, as for `numpy.random.SeedSequence`.
        games, rules, records, salt, report: as for `play_match`; `report` is its `progress`.
    """
    start, seated = time.perf_counter(), [agent for row in cast for agent in {id(agent): agent for agent in row}.values()]
    strangers = list({id(agent): agent for agent in seated if not keeps_games_apart(agent)}.values())
    again = any(sum(agent is one for one in seated) > 1 for agent in strangers)
    deals, choices = np.random.SeedSequence(seed).spawn(2)[0], np.random.SeedSequence(secret).spawn(2)[1]
    seeds = (deals.generate_state(games if again else -(-games // len(cast)), np.uint64) >> 1).tolist()
    # Agents see the names of games: they must tell neither seeds nor which games have the same deal (R19).
    naming = np.random.SeedSequence(choices.entropy, spawn_key=(*choices.spawn_key, salt))
    names = [f"{name:016x}" for name in naming.generate_state(games, np.uint64).tolist()]
    if strangers:
        names = [hashlib.blake2b(name.encode(), digest_size=8).hexdigest() for name in names]
    dealt = seeds if again else [seed for seed in seeds for _ in cast]
    tables = [_Table(Game(rules, dealt[k]), k, dealt[k], cast[k % len(cast)], names[k]) for k in range(games)]
    players = _Tables(cast, strangers, np.random.default_rng(choices))
    for first in range(0, games, TABLES):
        players.play(tables[first : first + TABLES], report)
    texts = [table.game.to_record() for table in tables] if records else []
    return MatchResult([table.played() for table in tables], players.thinking.tolist(), time.perf_counter() - start, texts)


@contextmanager
def _reporter(progress: Callable[[int], None] | bool | None, games: int) -> Iterator[Callable[[int], None]]:
    """Yields the function to call when games have ended."""
    if progress is not True:
        yield progress or (lambda ended: None)
        return
    try:
        from rich.console import Console

        from euphoria_agents.progress import Progress
    except ModuleNotFoundError as error:
        if missing_library(error) != "rich":
            raise
        raise ImportError("progress=True needs rich: pip install 'euphoria-env[play]'") from error
    with Progress(Console(stderr=True, emoji=False, markup=False), "playing", "games", games) as bar:
        yield bar.advance


class AgentGenerator:
    """An agent's own generator, and one for determinizing its games; neither reveals anything about other seeds (R19)."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.own, self._deals = derived_generator(rng), derived_generator(rng)

    def deal(self, game: Game, seat: int, agent: Any = None, name: str = "") -> Game:
        """Returns the game as the agent on a seat gets it, determinized for that seat; with its story, if the agent needs it."""
        dealt = game.determinize(seat, derived_seed(self._deals))
        if getattr(agent, "needs_story", False):
            last = max((k for k, decided in enumerate(game.decided()) if decided.player == seat), default=0)
            dealt.story = Story(f"{name}-{seat}", log(game, seat, since=last))
        return dealt


class _Table:
    """A game and its agents: the one at place p sits on seat p + `rotation`, counted around the table."""

    def __init__(self, game: Game, number: int, seed: int, agents: list[Agent], name: str) -> None:
        self.game, self.number, self.seed, self.agents, self.name = game, number, seed, agents, name
        self.n = game.rules.num_players
        self.rotation = number % self.n
        self.decisions = [0] * self.n

    @property
    def place(self) -> int:
        """The place of the player who must decide."""
        return (self.game.player - self.rotation) % self.n

    @property
    def agent(self) -> Agent:
        """The agent that must decide."""
        return self.agents[self.place]

    def played(self) -> Played:
        """Returns the result of the game, which has ended."""
        game, n = self.game, self.n
        ranking = game.ranking or []
        ranks = [ranking[(place + self.rotation) % n] for place in range(n)]
        winner = None if game.winner is None else (game.winner - self.rotation) % n
        events = game.event_array(None)
        first = int(events[(events[:, 0] == EventKind.TURN).argmax(), 1])
        return Played(self.seed, winner, ranks, game.turn, self.decisions, first, self.rotation)


class _Tables(AgentGames):
    """Games side by side; an agent that may remember games gets its own in an order of its own, so that no two can pair them."""

    def __init__(self, cast: Cast, strangers: Sequence[Agent], rng: np.random.Generator) -> None:
        self.thinking = np.zeros(len(cast))  # (places,), the seconds that the agent at each place took to choose
        self._generators = {id(agent): AgentGenerator(rng) for agent in chain(cast[0], strangers)}
        self._orders = {id(agent): derived_generator(rng).permutation(TABLES).tolist() for agent in strangers}
        self._tables: list[_Table] = []
        self.ids = Ids()  # the names of games are secret already

    def play(self, tables: list[_Table], report: Callable[[int], None]) -> None:
        """Plays some games to their end; `report` is called with a number of games that have ended."""
        self._tables = tables
        while self.play_round(lambda agent: self._generators[id(agent)].own):
            if ended := len(tables) - len(self._tables):
                tables = self._tables
                report(ended)

    def deciding(self) -> Iterable[tuple[Agent, list[int]]]:
        """Yields each agent that must decide now, once, with the numbers of its games."""
        found: dict[int, tuple[Agent, list[int]]] = {}
        for k, table in enumerate(self._tables):
            found.setdefault(id(table.agent), (table.agent, []))[1].append(k)
        for one in found.keys() & self._orders.keys():
            found[one][1].sort(key=lambda k, order=self._orders[one]: order[self._tables[k].number % TABLES])  # type: ignore[misc]
        return found.values()

    def inputs(self, games: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the observations and action masks of the players that must decide in these games."""
        waiting = [self._tables[k].game for k in games]
        return np.stack([game.observation(game.player) for game in waiting]), np.stack([game.mask() for game in waiting])

    def name(self, game: int) -> str:
        """Returns the name of a game."""
        return self._tables[game].name

    def deciders(self, games: list[int]) -> list[int]:
        """Returns the seats that decide in these games."""
        return [self._tables[k].game.player for k in games]

    def last_events(self, games: list[int], k: int) -> np.ndarray:
        """Returns the last k events of these games as the players to move see them."""
        waiting = [self._tables[i].game for i in games]
        return np.stack([game.last_events(game.player, k) for game in waiting])

    def determinized(self, game: int) -> Game:
        """Returns a game, determinized for the player who must decide."""
        table = self._tables[game]
        return self._generators[id(table.agent)].deal(table.game, table.game.player, table.agent, table.name)

    def store(self, games: list[int], moves: np.ndarray, seconds: float) -> None:
        """Plays the moves, and divides the seconds evenly among their places."""
        for k, move in zip(games, moves.tolist(), strict=True):
            table = self._tables[k]
            self.thinking[table.place] += seconds / len(games)
            table.decisions[table.place] += 1
            table.game.play(move)

    def advance(self) -> None:
        """Removes the games that have ended."""
        self.ids.end(table.name for table in self._tables if table.game.ranking is not None)
        self._tables = [table for table in self._tables if table.game.ranking is None]
