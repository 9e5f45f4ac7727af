"""The options of a training run; for the command line the core is enough."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from euphoria_agents.options import option, rules_options


@dataclasses.dataclass
class Options:
    """Trains a player with sb3-contrib's MaskablePPO: one learning seat, the others for a league of baselines and past selves.

    Everything is in the run's folder: `ppo.safetensors` plays (as the agent ppo:RUN/ppo.safetensors), `state.safetensors` goes on
    (--resume RUN, exactly as if it had not been interrupted), `ratings.json` and `tensorboard` say what became of it. Ctrl-C ends
    the update under way, saves and stops.
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
    start: Path | None = option(None, "begin with the network of this checkpoint, not with an untrained one")
    players: list[int] = option([2, 3, 4, 5, 6], "numbers of players that share the games; one named twice gets two shares")
    reward: str = option("stars", "what is learnt from: win, rank or stars")
    max_turns: int = option(600, "training games are cut off after so many turns")
    baselines: list[str] = option(["random", "weights"], "fixed opponents in the league")
    newest: float = option(0.4, "share of the seats for the newest past self")
    older: float = option(0.3, "share of the seats for the older past selves; the baselines get the rest")
    league: int = option(6, "past selves in the league")
    snapshot: int = option(20, "updates between two past selves")
    alike: float = option(0.5, "share of the games in which all opponents are the same one")
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
    seed: int = option(0, "of the games and the network")
    save: int = option(20, "updates between two saves")
    rate: int = option(100, "updates between two ratings")
    rating_games: int = option(200, "games against each baseline in a rating; 0: no ratings")
    rating_players: list[int] = option([2, 4], "numbers of players that are rated")
    game: dict[str, Any] = rules_options(without=["num_players", "max_turns"])


COUNTS = ("workers", "decisions", "envs", "rollout", "epochs", "league", "snapshot", "save", "rate")  # at least 1
SHARES = ("gamma", "gae_lambda", "clip")  # above 0, at most 1


def check(options: Options) -> None:
    """Looks at what nobody else does.

    Raises:
        ValueError: an option is wrong; names it and what is allowed.
    """
    for name in COUNTS:
        if getattr(options, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(options, name)}")
    for name in SHARES:
        if not 0 < getattr(options, name) <= 1:
            raise ValueError(f"{name} must be above 0 and at most 1, not {getattr(options, name)}")
    if not 0 < options.learning_rate < 1 or not 0 <= options.entropy < 1:
        raise ValueError(f"learning_rate and entropy must be below 1, not {options.learning_rate} and {options.entropy}")
    if options.minutes is not None and not options.minutes > 0:
        raise ValueError(f"minutes must be above 0, not {options.minutes}")
    if set(options.rating_players) - set(range(2, 7)):
        raise ValueError(f"rating_players must be 2 to 6, not {options.rating_players}")
    if not options.trunk or min([*options.trunk, *options.branch]) < 1:
        raise ValueError(f"trunk must have at least one width, and all of them be at least 1, not {options.trunk}")
    if not options.players or options.envs < len(options.players) * options.workers:
        raise ValueError(
            f"envs must be at least 1 for each of players and workers, not {options.envs} for {options.players} "
            f"and {options.workers} workers"
        )


def plain(options: Options) -> dict[str, Any]:
    """The options as JSON has them."""
    return {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
