"""The league: the learner's opponents, fixed baselines and past selves; it meets the hard ones more often than the easy ones.

This is prioritized fictitious self-play. For every opponent the league keeps a running score of the learner's games: 1 if the
learner ranked higher than the opponent, 1/2 for equal ranks, 0 if lower. The opponent's `pfsp_weight` is (1 - score)^2, plus a
little, so that nobody is forgotten. The newest past self gets a fixed share of the seats for past selves; the older ones divide
the rest, and the baselines theirs, in proportion to `pfsp_weight`. Opponents are drawn when a game begins, and stay to its end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy

import msgspec
import numpy as np

from euphoria_agents.training.config import Number, Share
from euphoria_env.json_reader import Reader, shown

PAST_SELVES = 6  # the most past selves in the league
NEWEST = 0.4  # the newest one's share of the seats for past selves
MEMORY = 400.0  # games over which a score is averaged
FLOOR = 0.05  # `pfsp_weight` of an opponent that is always beaten


class LeagueMember(msgspec.Struct):
    """An opponent in the league."""

    name: str  # a spec as for `euphoria_agents.load`, or the file name of a past self
    past: bool  # whether it is a past self
    score: Share = 0.5  # the learner's running score against it
    games: Number = 0  # the number of games against it


def pfsp_weight(member: LeagueMember) -> float:
    """Returns the weight with which an opponent is drawn; the docstring of the module explains it."""
    return (1 - member.score) ** 2 + FLOOR


class League:
    """Baselines and past selves, with the learner's scores against them.

    Args:
        baselines: the specs of the fixed opponents.
        share: the share of the opponents' seats for past selves; the baselines get the rest.

    Attributes:
        members: the baselines, then the past selves in the order in which they were added.

    Raises:
        ValueError: there is no baseline.
    """

    def __init__(self, baselines: Sequence[str], share: float) -> None:
        if not baselines:
            raise ValueError("the league needs at least one baseline")
        self.members = [LeagueMember(name, past=False) for name in dict.fromkeys(baselines)]
        self._share = share

    @property
    def _past(self) -> list[LeagueMember]:
        return [member for member in self.members if member.past]

    def add(self, name: str) -> None:
        """Adds a past self; if there is no room, removes the one against which the learner scores highest, but not the newest."""
        past = self._past
        if len(past) >= PAST_SELVES:
            self.members.remove(max(past[:-1], key=lambda member: member.score))
        self.members.append(LeagueMember(name, past=True))

    def chances(self) -> list[float]:
        """Returns every member's share of the opponents' seats."""
        past = self._past
        groups = [
            (self._share * NEWEST, past[-1:]),
            (self._share - self._share * NEWEST, past[:-1]),
            (1 - self._share, [member for member in self.members if not member.past]),
        ]
        weights = {
            id(member): share * pfsp_weight(member) / sum(map(pfsp_weight, group)) for share, group in groups for member in group
        }
        whole = sum(weights.values())  # less than 1 while there are no older selves
        if not whole:  # the seats are for past selves only, but there are none yet
            return [1 / len(self.members)] * len(self.members)
        return [weights[id(member)] / whole for member in self.members]

    def record(self, name: str, score: float) -> None:
        """Counts a game against a member; ignores names that are no longer in the league."""
        for member in self.members:
            if member.name == name:
                member.games += 1
                member.score += (score - member.score) / min(member.games + 2, MEMORY)

    def record_game(self, learner: str, names: list[str], ranking: list[int]) -> None:
        """Counts a game: each seat of the learner against each other seat, by their ranks; `names` and `ranking` are by seat."""
        for own in (seat for seat, name in enumerate(names) if name == learner):
            for other, name in enumerate(names):
                if name != learner:
                    self.record(name, 0.5 + 0.5 * float(np.sign(ranking[other] - ranking[own])))

    def restore(self, members: Sequence[LeagueMember], known: Collection[str]) -> None:
        """Replaces the members by saved ones, whose names must all be in `known`.

        Raises:
            ValueError: they do not fit these baselines or names; nothing is changed.
        """
        for k, one in enumerate(members):
            if one.name not in known:
                Reader.fail(f"league[{k}].name", f"no agent is called {shown(one.name)}")
        baselines = [member.name for member in self.members if not member.past]
        names, past_names = [one.name for one in members], [one.name for one in members if one.past]
        if names != [*baselines, *past_names] or len(set(names)) < len(names) or len(past_names) > PAST_SELVES:
            Reader.must("league", f"be {', '.join(baselines)} and up to {PAST_SELVES} past selves, each once")
        self.members = [copy(one) for one in members]
