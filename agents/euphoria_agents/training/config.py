"""The options of a training run; for the command line the core is enough."""

from __future__ import annotations

import dataclasses
import os
import types
import typing
from collections import Counter
from pathlib import Path
from typing import Any

from euphoria_agents.dataclass_arguments import option, positional, rules_options, written
from euphoria_env.json_reader import Reader, shown
from euphoria_env.rules import OPTIONS, Rules

CARDS = NAMES, FEATURES = "names", "features"
NOT_OF_GAME = ("num_players", "max_turns")  # options of the rules that have one of their own here


@dataclasses.dataclass
class Options:
    """Trains a player with sb3-contrib's MaskablePPO: one learning seat, the others for a league of baselines and past selves.

    Everything is in the run's folder: `ppo.safetensors` plays (as the agent ppo:RUN/ppo.safetensors), `state.safetensors` goes on
    (--resume RUN, exactly as if it had not been interrupted), `ratings.json` and `tensorboard` say what became of it. Ctrl-C ends
    the update under way, saves and stops; a second one stops at once.
    """

    run: Path = option(Path("runs/ppo"), "folder of the run")
    resume: Path | None = option(
        None,
        "go on with the run in this folder; besides, only --minutes and --ray count, and --baselines must name own agents again",
    )
    workers: int = option(
        os.cpu_count() or 1, "processes that train together; a run keeps their number, on which its games depend"
    )
    ray: bool = option(False, "start the workers on a Ray cluster instead of this machine")
    ray_address: str | None = option(None, "of a cluster that runs, such as auto or host:6379; without it, this machine")
    decisions: int = option(10_000_000, "decisions of the learner, from the first to the last update")
    minutes: float | None = option(None, "save and stop after so many minutes, if that comes first")
    device: str = option("cpu", "where the network learns: cpu, or cuda, as a dense network")
    start: Path | None = option(None, "begin with the network of this checkpoint, not with an untrained one")
    players: list[int] = option([2, 3, 4, 5, 6], "numbers of players that share the games; one named twice gets two shares")
    reward: str = option("stars", "what is learnt from: win, rank or stars")
    max_turns: int = option(600, "training games are cut off after so many turns")
    baselines: list[str] = option(["random", "weights"], "fixed opponents in the league")
    newest: float = option(0.4, "share of the seats for the newest past self")
    older: float = option(0.3, "share of the seats for the older past selves; the baselines get the rest")
    league: int = option(6, "past selves in the league")
    snapshot: int = option(20, "updates between two past selves")
    same_opponent_prob: float = option(0.5, "share of the games in which all opponents are the same one")
    envs: int = option(1024, "games side by side")
    rollout: int = option(24, "decisions in each game between two updates")
    batch: int = option(1024, "decisions in a step of the optimizer")
    epochs: int = option(3, "how often an update goes through its decisions")
    learning_rate: float = option(7e-4, "of Adam in the first update; goes down towards 0 in a straight line")
    gamma: float = option(0.995, "discount of a decision")
    gae_lambda: float = option(0.95, "of the advantage estimate")
    clip: float = option(0.2, "how far an update may change the probability of a move")
    entropy: float = option(0.006, "weight of the entropy bonus")
    trunk: list[int] = option([256, 128], "widths of the layers that policy and value share")
    branch: list[int] = option([], "widths of the layers that each has for itself")
    steps: bool = option(True, "whether the network sees single steps of numbers where they matter, besides the scaled entries")
    cards: str = option("names", "how the network meets recruits and tiles: by their names, or by their features", choices=CARDS)
    seed: int = option(0, "of the games and the network")
    save: int = option(20, "updates between two saves")
    rate: int = option(100, "updates between two ratings")
    rating_games: int = option(200, "games against each baseline in a rating; 0: no ratings")
    rating_players: list[int] = option([2, 4], "numbers of players that are rated")
    mixed: float = option(0.0, "share of the games in which the options below that are not set are drawn at random")
    game: dict[str, Any] = rules_options(without=NOT_OF_GAME)

    def shares(self) -> dict[int, int]:
        """How many games a worker has of each number of players."""
        parts = len(self.players) * self.workers
        return {n: self.envs * share // parts for n, share in sorted(Counter(self.players).items())}


@dataclasses.dataclass
class OutlookOptions:
    """Gives a trained player an outlook: how probable it is that each seat wins, learnt from games that it plays against itself.

    With it `mcts:BUDGET:ppo:NEW` judges a position in one pass for all seats. Policy and value stay as they are.
    """

    player: Path = positional("the file of the player, such as ppo.safetensors in the folder of a run")
    new: Path = positional("the file to write; it may be the same", type=written)
    games: int = option(40_000, "games of each number of players")
    players: list[int] = option([2, 3, 4, 5, 6], "numbers of players")
    mixed: float = option(0.06, "share of the games with other options, drawn at random")
    epsilon: float = option(0.03, "share of the moves that are drawn from all that are legal")
    widths: list[int] = option([128, 64], "widths of the hidden layers")
    batch: int = option(1024, "positions in a step of the optimizer")
    epochs: int = option(2, "how often it goes through the positions")
    learning_rate: float = option(1e-3, "of Adam at the beginning; goes down towards 0 in a straight line")
    half: bool = option(False, "write all weights as numbers of 16 bits, which takes half the space")
    processes: int = option(os.cpu_count() or 1, "that play; any number gives the same result")
    seed: int = option(0, "of the games and the network")

    def facts(self) -> dict[str, Any]:
        """What the file says of how it came about."""
        return {name: value for name, value in vars(self).items() if name not in ("player", "new", "processes")}


MANY, MOST_IN_ALL, MOST_WIDE = 10**9, 10**12, 2**14
# The lowest and the highest value of integers, and of those in lists; and of other numbers.
INTEGERS: dict[str, tuple[int, int]] = {
    "workers": (1, 10**4),
    "decisions": (1, MOST_IN_ALL), "envs": (1, 10**6), "rollout": (1, 10**6), "batch": (2, MANY), "epochs": (1, 10**4),
    "league": (1, 10**4), "snapshot": (1, MANY), "save": (1, MANY), "rate": (1, MANY), "rating_games": (0, 10**6),
    "seed": (0, 2**32 - 1), "max_turns": (1, 2**31 - 1),
    "players": (2, 6), "rating_players": (2, 6), "trunk": (1, MOST_WIDE), "branch": (1, MOST_WIDE),
    "games": (1, MANY), "widths": (1, MOST_WIDE), "processes": (1, 10**4),
}  # fmt: skip
NUMBERS: dict[str, tuple[float, float]] = {"minutes": (0, MANY)}  # the others are shares, from 0 to 1
ABOVE_0 = ("minutes", "learning_rate", "gamma", "gae_lambda", "clip")
MOST_IN_UPDATE = 2**22  # decisions; they take some 0.5 kB each, or 2 kB for a dense network


def check(options: Options) -> None:
    """Looks at the types and ranges of all options, and at what goes together.

    Raises:
        ValueError: an option is wrong; names it and what is allowed.
    """
    reader = Reader()
    _check_values(reader, options)
    if not options.trunk:
        raise ValueError("trunk: must have at least one width")
    if options.cards not in CARDS:
        raise ValueError(f"cards: must be one of {', '.join(CARDS)}, not {shown(options.cards)}")
    if not options.players or options.envs < len(options.players) * options.workers:
        raise ValueError(
            f"envs: must be at least 1 for each of players and workers, not {options.envs} for {options.players} "
            f"and {options.workers} workers"
        )
    if options.envs * options.rollout > MOST_IN_UPDATE:
        raise ValueError(f"rollout: envs * rollout must be at most {MOST_IN_UPDATE}, not {options.envs} * {options.rollout}")
    reader.mapping("game", options.game, set(OPTIONS) - set(NOT_OF_GAME))
    for n in options.players:
        Rules.from_dict({**options.game, "num_players": n, "max_turns": options.max_turns})


def check_outlook(options: OutlookOptions) -> None:
    """Looks at the types and ranges of all options.

    Raises:
        ValueError: an option is wrong; names it and what is allowed.
    """
    _check_values(Reader(), options)
    for name in ("players", "widths"):
        if not getattr(options, name):
            raise ValueError(f"{name}: must have at least one")


def _check_values(reader: Reader, options: Any) -> None:
    """Looks at the types and ranges of all options of a dataclass."""
    hints = typing.get_type_hints(type(options))
    for name, value in vars(options).items():
        kinds = typing.get_args(hints[name]) if isinstance(hints[name], types.UnionType) else (hints[name],)
        if not (value is None and types.NoneType in kinds):
            _check_value(reader, name, value, kinds[0])
    for name in ABOVE_0:
        if getattr(options, name, None) == 0:
            raise ValueError(f"{name}: must be above 0")


def _check_value(reader: Reader, name: str, value: Any, kind: Any) -> None:
    """Looks at the type and range of one option, or of each value in a list."""
    if typing.get_origin(kind) is list:
        for k, one in enumerate(reader.items(name, value)):
            _check_value(reader, f"{name}[{k}]", one, typing.get_args(kind)[0])
    elif kind is int:
        reader.integer(name, value, *INTEGERS[name.partition("[")[0]])
    elif kind is float:
        reader.number(name, value, *NUMBERS.get(name, (0, 1)))
    elif kind is bool:
        reader.boolean(name, value)
    elif kind is str:
        reader.text(name, value)
    elif kind is Path and not isinstance(value, Path):
        reader.fail(name, f"must be a path, not {shown(value)}")


def read_options(d: Any, **known: Any) -> Options:
    """Options as `plain` wrote them, with some that are known better.

    Raises:
        ValueError: not a mapping, or see `check`.
    """
    if not isinstance(d, dict):
        raise ValueError(f"options: must be an object, not {shown(d)}")
    names = {field.name for field in dataclasses.fields(Options)}
    options = Options(**{**{name: value for name, value in d.items() if name in names}, **known})
    check(options)
    return options


def plain(options: Options) -> dict[str, Any]:
    """The options as JSON has them."""
    return {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
