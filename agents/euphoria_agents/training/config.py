"""The options of a training run."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from euphoria_agents.dataclass_arguments import option, rules_options
from euphoria_agents.machine import usable_cores
from euphoria_agents.own_files import NEW_RUN, READ, RUN
from euphoria_agents.validation import checked
from euphoria_env.json_reader import Reader
from euphoria_env.rules import OPTIONS, Rules

CONFIG = "config.json"  # in the folder of a run, how it is made
TRAINING_TURNS = 600  # turns after which a game of training is truncated, by default
DECISIONS = 10_000_000  # of the learner in a run, by default
THREADS = min(usable_cores(), 64)  # by default
PRESENT_SELF = 4 / 7  # the present learner's share of the seats for `self_play`; its past selves get the rest

Count = Annotated[int, Meta(ge=1, le=10**9)]
Large = Annotated[int, Meta(ge=1, le=10**12)]
Envs = Annotated[int, Meta(ge=1, le=2**16)]  # an update keeps some 25 kB of each
Seed = Annotated[int, Meta(ge=0, le=2**32 - 1)]
PlayerCount = Annotated[int, Meta(ge=2, le=6)]
ThreadCount = Annotated[int, Meta(ge=1, le=256)]
Count0 = Annotated[int, Meta(ge=0, le=10**9)]
Width = Annotated[int, Meta(ge=1, le=2**14)]
Width0 = Annotated[int, Meta(ge=0, le=2**10)]
Share = Annotated[float, Meta(ge=0, le=1)]
Number = Annotated[int, Meta(ge=0, le=10**12)]
Time = Annotated[float, Meta(ge=0, le=1e10)]
Positive = Annotated[float, Meta(gt=0, le=1)]  # a share that is not 0


@dataclasses.dataclass
class Options:
    """Trains a player by masked PPO: it plays against itself and against a league of baselines and past selves.

    Everything is in the run's folder: `ppo.safetensors` plays (as the agent ppo:RUN/ppo.safetensors), --resume RUN continues
    from `state.safetensors` (as if it had not been interrupted), `config.json` says how it was made, and `evaluations.csv`,
    `ratings.json`, `progress.csv` and `tensorboard` show its progress. Ctrl-C ends the update under way, saves and stops; a
    second one stops at once.
    """

    run: Path = option(Path("runs/ppo"), "folder of the run", files=NEW_RUN, unless="resume")
    resume: Path | None = option(
        None,
        "continue the run in this folder; of the other options --decisions, --total-minutes and your --baselines count",
        files=RUN,
    )
    config: Path | None = option(None, "TOML file with options by name; those of the command line win", files=READ)
    threads: ThreadCount = option(THREADS, "threads that play and learn; a run keeps their number, on which its games depend")
    decisions: Large | None = option(
        None, f"decisions of the learner in all; default {DECISIONS:,}, or those that a resumed run was given before"
    )
    total_minutes: Annotated[float, Meta(gt=0, le=10**9)] | None = option(
        None,
        "end the run after this number of minutes of training in all; the learning rate goes down to 0 by the clock until then, "
        "so that equal seeds give different runs",
    )
    start: Path | None = option(None, "begin with the network of this checkpoint, not with an untrained one", files=READ)
    critic: Path | None = option(
        None,
        "take the values for the advantages from the win probabilities of this checkpoint; only for --reward win",
        files=READ,
    )
    players: Annotated[list[PlayerCount], Meta(min_length=1)] = option(
        [2, 3, 4, 5, 6], "numbers of players that share the games; one named twice gets two shares"
    )
    reward: str = option("stars", "the reward that is learned from, by its name in docs/environment.md")
    baselines: list[str] = option(["random", "weights"], "fixed opponents in the league")
    self_play: Share = option(
        0.7,
        "share of the seats, besides one in each game, for the learner (4 of 7) and its past selves; the baselines get the rest",
    )
    save_every: Count = option(20, "updates between two past selves; everything is saved with each")
    envs: Envs = option(512, "games side by side")
    batch: Annotated[int, Meta(ge=2, le=10**9)] = option(1024, "decisions in a step of the optimizer")
    learning_rate: Positive = option(1e-3, "of Adam in the first update; goes down towards 0 in a straight line")
    gamma: Positive = option(0.995, "discount of a decision")
    gae_lambda: Positive = option(0.8, "of the advantage estimate")
    entropy: Share = option(0.006, "weight of the entropy bonus")
    trunk: Annotated[list[Width], Meta(min_length=1)] = option([256, 128], "widths of the layers that policy and value share")
    afterstates: Width0 = option(
        0, "hidden units of a head that corrects the policy by what each move changes; 0: as --start has, or none"
    )
    seed: Seed = option(0, "of the games and the network; without --total-minutes equal seeds and threads give equal runs")
    rating_games: Annotated[int, Meta(ge=0, le=10**6)] = option(
        200, "games of the finished player against each baseline; 0: none"
    )
    evaluate_every: Count | None = option(
        None, "play matches after each such number of decisions, without counting their time; rows of evaluations.csv"
    )
    against: list[str] = option(["weights", "greedy"], "opponents in these matches, at each number of players")
    evaluation_games: Count = option(200, "games of each of these matches")
    win_probs_games: Count0 = option(
        2000,
        "games of each number of players, after the training, from which it learns each seat's chances to win; 0: none. "
        "The win probabilities of --critic are trained further",
    )
    random_rules: Share = option(0.0, "share of the games in which the options below that are not set are drawn at random")
    game: dict[str, Any] = rules_options(max_turns=TRAINING_TURNS)

    @property
    def total(self) -> int:
        """The number of decisions of the learner in the whole run."""
        return DECISIONS if self.decisions is None else self.decisions

    def shares(self) -> dict[int, int]:
        """Returns the number of games that are played side by side, by number of players."""
        return {n: self.envs * share // len(self.players) for n, share in sorted(Counter(self.players).items())}


def check(options: Options) -> None:
    """Checks the types and ranges of all options, and their combinations.

    Raises:
        ValueError: an option is wrong; the message names it and what is allowed.
    """
    checked(vars(options), Options)
    least = len(options.players) * options.threads
    if options.envs < least:
        raise ValueError(
            f"envs must be at least 1 for each of players and threads, {least}, not {options.envs}: "
            "use fewer --threads or more --envs"
        )
    from euphoria_env.engine.rewards import reward_number  # imported late, since it imports numpy, which --help does not need

    reward_number(options.reward)
    if options.critic is not None and options.reward != "win":
        raise ValueError(f"a critic says who wins: it needs the reward win, not {options.reward!r}")
    Reader().mapping("game", options.game, set(OPTIONS) - {"num_players"})
    for n in options.players:
        Rules.from_dict({**options.game, "num_players": n})


def read_options(saved: Any, **known: Any) -> Options:
    """Converts what `plain` returned back to options; those given in `known` replace the saved ones.

    Raises:
        ValueError: it is not an object, or an option is wrong (see `check`).
    """
    d = checked(saved, dict[str, Any], "options")
    names = {field.name for field in dataclasses.fields(Options)}
    options = Options(**{**{name: value for name, value in d.items() if name in names}, **known})
    check(options)
    return options


def plain(options: Any) -> dict[str, Any]:
    """Converts options to plain data, which can be written as JSON."""
    return {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
