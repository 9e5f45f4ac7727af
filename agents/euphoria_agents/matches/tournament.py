"""Tournaments: comparisons and line-ups by a fixed schedule, as units of work, and the standings by their results."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from openskill.models import PlackettLuce

from euphoria_agents.matches.match import MatchResult, Played, Score, score
from euphoria_agents.matches.players import seed_for
from euphoria_agents.matches.work import WorkUnit, check_counts, player, seeds_of_a_unit, sources
from euphoria_env import Rules


def comparison(agent: str, opponent: str, rules: Rules, games: int, seed: int, size: int) -> list[WorkUnit]:
    """Returns the units of an agent against opponents of one kind, with at least `games` games.

    Comparisons with equal rules, `seed` and `size`, the number of seeds in a unit (`seeds_of_a_unit`), have the same deals.
    Raises a `ValueError` if an agent or a number is wrong.
    """
    check_counts(games=games, seed=seed)
    lineup = (agent, *[opponent] * (rules.num_players - 1))
    left, version = -(-games // rules.num_players), sources(lineup)
    firsts = range(0, left, size)
    return [WorkUnit(lineup, k, seed, min(size, left - first), rules, version) for k, first in enumerate(firsts)]


def schedule(specs: Sequence[str], rules: Rules, games: int, seed: int) -> list[WorkUnit]:
    """Returns the units of a tournament in which each agent plays at least `games` games.

    With 2 players each pair meets in every round, all with the same deals. With more players, a round has as many line-ups as
    there are agents, drawn so that each agent is in equally many; an agent sits on two seats only if there are fewer agents than
    players. A schedule of fewer games is the beginning of one of more.

    Raises:
        ValueError: there are fewer than two agents, an agent is wrong or named twice, or a number is wrong.
    """
    check_counts(games=games, seed=seed)
    if len(specs) < 2 or len(set(specs)) < len(specs):
        raise ValueError(f"a tournament needs two or more different agents, not {', '.join(specs)}")
    n, size, seed = rules.num_players, seeds_of_a_unit(specs), seed_for(map(player, specs), seed)
    lineups_of_one = len(specs) - 1 if n == 2 else n  # of one agent in a round
    units = []
    for turn in range(-(-games // (lineups_of_one * n * size))):
        for number, lineup in _round(specs, n, turn, seed):
            units.append(WorkUnit(lineup, number, seed, size, rules, sources(lineup)))
    return units


def _round(specs: Sequence[str], n: int, turn: int, seed: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields the line-ups of a round, each with the number of its unit."""
    if n == 2:
        yield from ((turn, pair) for pair in itertools.combinations(specs, 2))
        return
    rng = np.random.default_rng((seed, n, turn))
    times = np.zeros(len(specs), np.int64)  # how often each agent has been drawn in this round
    all_of_them, drawn = divmod(n, len(specs))
    for k in range(len(specs)):
        fewest = np.lexsort((rng.random(len(specs)), times))[:drawn]
        times[fewest] += 1
        places = rng.permutation([*list(range(len(specs))) * all_of_them, *fewest])
        yield turn * len(specs) + k, tuple(specs[place] for place in places)


# --------------------------------------------------------------------------------------------------------------- results


class Standing(NamedTuple):
    """An agent's row in the standings."""

    agent: str  # its spec
    mu: float  # the rating by openskill's Plackett-Luce model; everybody begins with 25
    sigma: float  # its uncertainty, at first 8.33
    score: Score  # its score in all its games
    # by opponent, in how many encounters it ranked higher (equal ranks count half), and how many there were
    beaten: dict[str, tuple[float, int]]
    decision_time: float  # its mean seconds per decision

    def to_dict(self) -> dict[str, Any]:
        """Returns the row for JSON, without the time, which differs from run to run."""
        rating = {"mu": round(self.mu, 6), "sigma": round(self.sigma, 6)}
        beaten = {opponent: list(counts) for opponent, counts in self.beaten.items()}
        return {"agent": self.agent, "rating": rating, **self.score.to_dict(), "beaten": beaten}


def standings(results: Mapping[WorkUnit, MatchResult]) -> list[Standing]:
    """Returns the standings, best rating first; they depend slightly on the order of the units."""
    specs = list(dict.fromkeys(spec for unit in results for spec in unit.lineup))
    games = [(unit.lineup, game) for unit, result in results.items() for game in result.played]
    ratings, times = rate(specs, games), _decision_times(specs, results)
    found = [Standing(spec, *ratings[spec], _score_of(spec, games), _beaten_by(spec, games), times[spec]) for spec in specs]
    return sorted(found, key=lambda standing: -standing.mu)


def rate(
    specs: Sequence[str],
    games: Iterable[tuple[tuple[str, ...], Played]],
    known: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, tuple[float, float]]:
    """Returns the ratings (mu, sigma) after games, which count in their order.

    An agent on several seats of a game gets the mean of the new ratings of these seats. `known` has ratings from before.
    """
    model = PlackettLuce(tau=0.0)  # the strength of an agent does not change
    ratings = {spec: (known or {}).get(spec, (model.mu, model.sigma)) for spec in specs}
    for lineup, game in games:
        teams = [[model.create_rating(list(ratings[spec]))] for spec in lineup]
        after = [team[0] for team in model.rate(teams, ranks=game.ranks)]
        for spec in set(lineup):
            own = [rating for rating, other in zip(after, lineup, strict=True) if other == spec]
            ratings[spec] = (float(np.mean([one.mu for one in own])), float(np.mean([one.sigma for one in own])))
    return ratings


def _score_of(spec: str, games: Iterable[tuple[tuple[str, ...], Played]]) -> Score:
    """Returns the score of an agent on all its seats."""
    return score(
        (game.seed, game.winner == place, game.ranks[place])
        for lineup, game in games
        for place, other in enumerate(lineup)
        if other == spec
    )


def _beaten_by(spec: str, games: Iterable[tuple[tuple[str, ...], Played]]) -> dict[str, tuple[float, int]]:
    """Returns for each opponent in how many encounters the agent ranked higher, and their number."""
    counts: dict[str, tuple[float, int]] = {}
    for lineup, game in games:
        for place, other in itertools.product(range(len(lineup)), repeat=2):
            if lineup[place] == spec != lineup[other]:
                won, met = counts.get(lineup[other], (0.0, 0))
                difference = game.ranks[other] - game.ranks[place]
                counts[lineup[other]] = (won + (difference > 0) + (difference == 0) / 2, met + 1)
    return counts


def _decision_times(specs: Sequence[str], results: Mapping[WorkUnit, MatchResult]) -> dict[str, float]:
    """Returns the mean seconds per decision of each agent."""
    seconds, decisions = dict.fromkeys(specs, 0.0), dict.fromkeys(specs, 0)
    for unit, result in results.items():
        for place, spec in enumerate(unit.lineup):
            seconds[spec] += result.thinking[place]
            decisions[spec] += sum(game.decisions[place] for game in result.played)
    return {spec: seconds[spec] / max(1, decisions[spec]) for spec in specs}
