"""The benchmark tasks, by name and version: the games, opponents, deals and options for training.

A task never changes: another number of games, other opponents or other rules make a new version of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from euphoria_env import Rules
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES

# Frozen players: their checkpoints come with the package, and specs name them by their hashes.
NETWORKS = {"network": "ppo:@b109aa4237be"}
PARTNERS = {
    "stars": "ppo:@3e0959f7c309",
    "win": "ppo:@d014d34656ed",
    "rank": "ppo:@6f153837b63b",
    "options": "ppo:@330bca720a41",
    "features": "ppo:@c7134b4f2186",
    "hunter": "ppo:@1fcaa622ae65",
    "single-file": "ppo:@f67af7ca0cfc",
    "clone": "ppo:@31d183061b24",
}
FROZEN = {spec: name for name, spec in (NETWORKS | PARTNERS).items()}  # the names of the frozen players by their specs
FIXED = ("random", "weights", "greedy")
JUDGE = "mcts:200:ppo:@9e763b08636a"  # frozen too
BUDGETS = (2_000_000, 20_000_000)  # of a training run: decisions of the learner
RUNS = 3
UNSEEN_RECRUITS = (  # three of each faction
    "gary_the_electrician", "laura_the_philanthropist", "yordy_the_demotivator", "curtis_the_propagandist",
    "maggie_the_outlaw", "xander_the_excavator", "ian_the_horticulturist", "nick_the_understudy", "steven_the_scholar",
    "josh_the_negotiator", "maxime_the_ambassador", "zong_the_astronomer",
)  # fmt: skip
UNSEEN_TILES = (
    "arena_of_peaceful_conflict", "center_for_reduced_literacy", "disassemble_a_teddy_bear_shop",
    "laboratory_of_selective_genetics", "registry_of_personal_secrets", "theater_of_revelatory_propaganda",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Task:
    """The games by which an agent is judged.

    A task with a judge has few games: each opponent has deals of its own, and an agent that is not repeatable plays all of them
    `RUNS` times.
    """

    name: str  # the name, which ends with the version
    about: str  # what the task asks for, in a few words
    players: tuple[int, ...]  # numbers of players; the agent sits alone, on each seat in turn, against opponents of one kind
    games: int  # the number of games against each kind of opponents, with each number of players
    seed: int  # the seed of the deals
    judged: Mapping[str, Any] = field(default_factory=dict)  # options of the games by which the agent is judged
    trained: Mapping[str, Any] | None = None  # options of the games in which it may be trained; None: `judged`
    opponents: tuple[str, ...] = ()  # specs of the opponents
    # their ratings by openskill, from a round robin with the options `judged` (`python scripts/anchors.py`); empty: no ratings
    anchors: tuple[float, ...] = ()
    seconds: float = 10.0  # the time limit of a decision
    judge: str = ""  # the spec of the searcher that judges the agent's moves; empty: none does
    seeds: int = 3  # how many trainings, with a seed each, make a row of the leaderboard
    earlier: str = ""  # the name of a task that has the same games, among others

    @property
    def rules(self) -> list[Rules]:
        """The rules of the judged games, for each number of players."""
        return [Rules(num_players=n, **self.judged) for n in self.players]

    @property
    def training(self) -> Mapping[str, Any]:
        """The options of the games in which the agent may be trained."""
        return self.judged if self.trained is None else self.trained

    @property
    def ratings(self) -> dict[str, float]:
        """The specs of the opponents, with their ratings."""
        return dict(zip(self.opponents, self.anchors, strict=True))

    def runs(self, repeatable: bool) -> int:
        """Returns how often an agent plays each game."""
        return RUNS if self.judge and not repeatable else 1


ANCHORS = {
    "duel": (-0.93, 13.16, 38.5, 49.85),
    "table": (2.04, 6.91, 45.07, 49.73),
    "any": (3.64, 3.88, 41.26, 49.57),
    "short": (2.96, 20.75, 36.67, 43.41),
    "cards": (-5.75, 15.26, 38.8, 52.26),
    "trade": (2.35, 9.31, 48.28, 44.64),
    "text": (-0.93, 13.16, 38.5, 49.85),
    "partners": (27.93, 26.52, 14.05, 26.2, 13.87, 18.67, 17.98, 3.3),
}
BASES = (  # what the versions of a task have in common; the opponents are those of its versions, if none are named
    Task("duel", "two players", (2,), 1000, 101),
    Task("table", "alone against three", (4,), 1000, 102),
    Task("any", "one player for every number of players", (2, 3, 4, 5, 6), 240, 103),
    Task(
        "partners", "strangers: eight players of distinct lineages", (2, 3, 4, 5, 6), 60, 107, opponents=tuple(PARTNERS.values())
    ),
    Task("short", "two players, five stars win: minutes on a laptop", (2,), 1000, 104, {"stars_to_win": 5}),
    Task(
        "cards", "cards that were never seen in training", (2,), 1000, 105,
        {"recruits": UNSEEN_RECRUITS, "markets": UNSEEN_TILES},
        {
            "recruits": tuple(name for name in RECRUIT_NAMES if name not in UNSEEN_RECRUITS),
            "markets": tuple(name for name in TILES if name not in UNSEEN_TILES),
        },
    ),
    Task("trade", "alone against three, with trading", (4,), 1000, 106, {"trading": True}),
    Task(
        "text", "two players, 40 games, every move judged: for language models", (2,), 10, 110, seconds=600.0, judge=JUDGE
    ),
)  # fmt: skip
SECOND = ("duel", "partners", "short", "cards", "trade")  # those that have a version 2


def _version_1(task: Task) -> Task:
    """Returns version 1 of a task, with its opponents and their ratings."""
    opponents = task.opponents or (*FIXED, NETWORKS["network"])
    return replace(task, name=f"{task.name}-v1", opponents=opponents, anchors=ANCHORS[task.name])


def _version_2(task: Task) -> Task:
    """Returns version 2 of a task: the deals of version 1, without its weakest opponents."""
    opponents = task.opponents or ("greedy", NETWORKS["network"])
    return replace(task, name=f"{task.name}-v2", opponents=opponents, seeds=5, earlier=f"{task.name}-v1")


_FIRST = {task.name: _version_1(task) for task in BASES}
CURRENT = (*(_version_2(task) for task in BASES if task.name in SECOND), _FIRST["text"])  # the others are former ones
TASKS = {task.name: task for task in (*CURRENT, *_FIRST.values())}


def task_of(name: str) -> Task:
    """Returns the task of this name; if there is none, raises a `ValueError` that names those that there are."""
    if name not in TASKS:
        raise ValueError(f"there is no task {name!r}; there are {', '.join(TASKS)}")
    return TASKS[name]
