"""The league: whom a learner meets. Fixed baselines and past selves, the hard ones more often than the easy ones.

This is prioritized fictitious self-play. Of every opponent the league keeps a running score: how often the learner came in
before them (1), level with them (1/2) or after them (0). Their pfsp_weight is (1 - score)^2, plus a little: nobody is forgotten.
The newest self gets a fixed share of the seats of past selves; the older ones and the baselines divide their shares in proportion
to pfsp_weight. The players are drawn when a game begins; nobody is replaced in the middle of one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy

import msgspec
import numpy as np

from euphoria_agents.training.config import Number, Share
from euphoria_env.json_reader import Reader, shown

PAST_SELVES = 6  # in the league of a run
NEWEST = 0.4  # share of the newest in the seats of past selves
MEMORY = 400.0  # games that a score looks back on
FLOOR = 0.05  # pfsp_weight of somebody who is always beaten


class LeagueMember(msgspec.Struct):
    """An opponent in the league."""

    name: str  # a spec as for `euphoria_agents.load`, or of a past self the name of its file
    past: bool  # whether it is a past self
    score: Share = 0.5  # the learner's, against this one
    games: Number = 0  # how many there were


def pfsp_weight(member: LeagueMember) -> float:
    """See the module."""
    return (1 - member.score) ** 2 + FLOOR


class League:
    """Baselines and past selves, with what the learner scored against them.

    Args:
        baselines: fixed opponents by their specs.
        share: of the seats for past selves; the baselines get the rest.

    Attributes:
        members: the baselines, then the past selves in the order in which they came.

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
        """Takes in a past self; when there is no room, the easiest leaves, but never the newest."""
        past = self._past
        if len(past) >= PAST_SELVES:
            self.members.remove(max(past[:-1], key=lambda member: member.score))
        self.members.append(LeagueMember(name, past=True))

    def chances(self) -> list[float]:
        """The share of the seats of every member."""
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
        if not whole:  # all seats are for past selves: until there are some, for everybody
            return [1 / len(self.members)] * len(self.members)
        return [weights[id(member)] / whole for member in self.members]

    def record(self, name: str, score: float) -> None:
        """Counts a game against somebody; those who have left are passed over."""
        for member in self.members:
            if member.name == name:
                member.games += 1
                member.score += (score - member.score) / min(member.games + 2, MEMORY)

    def record_game(self, learner: str, names: list[str], ranking: list[int]) -> None:
        """Counts a game of the seats of the learner against all others, by their ranks; `names` and ranks by seat."""
        for own in (seat for seat, name in enumerate(names) if name == learner):
            for other, name in enumerate(names):
                if name != learner:
                    self.record(name, 0.5 + 0.5 * float(np.sign(ranking[other] - ranking[own])))

    def restore(self, members: Sequence[LeagueMember], known: Collection[str]) -> None:
        """Takes over the members of another league, all of them known by name.

        Raises:
            ValueError: they do not fit these baselines and agents; nothing is changed.
        """
        for k, one in enumerate(members):
            if one.name not in known:
                Reader.fail(f"league[{k}].name", f"no agent is called {shown(one.name)}")
        baselines = [member.name for member in self.members if not member.past]
        names, past_names = [one.name for one in members], [one.name for one in members if one.past]
        if names != [*baselines, *past_names] or len(set(names)) < len(names) or len(past_names) > PAST_SELVES:
            Reader.must("league", f"be {', '.join(baselines)} and up to {PAST_SELVES} past selves, each once")
        self.members = [copy(one) for one in members]
