"""`python -m euphoria_agents.training.rllib_run`: self-play with RLlib's PPO. Needs Ray, in an environment of its own."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small arrays, threads would only wait
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # its future default; a warning otherwise

import dataclasses
import json
import logging
import shutil
import warnings
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from euphoria_agents.files import write_whole
from euphoria_agents.matches.arena import play_match
from euphoria_agents.matches.cluster import connected
from euphoria_agents.matches.tournament import check_counts
from euphoria_agents.options import command, option, parse_options, rules_options
from euphoria_agents.registry import load
from euphoria_env import Rules
from euphoria_env.reader import read_json

STATE, LATEST = "state-", "latest.json"
COLUMNS = [TextColumn("training"), BarColumn(20), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[text]}")]


@dataclasses.dataclass
class Options:
    """Trains a player with RLlib's PPO and action masks by self-play: one network on all seats, here or on a Ray cluster.

    Needs Ray, in an environment of its own (docs/benchmarking-agents.md). The checkpoints are RLlib's and hold pickles: resume
    only from your own.
    """

    run: Path = option(Path("runs/rllib"), "folder of the run; one that is there is gone on with, if the options fit")
    players: int = option(2, "number of players, 2 to 6")
    reward: str = option("stars", "what is learnt from: win, rank or stars")
    max_turns: int = option(600, "games are cut off after so many turns")
    updates: int = option(50, "updates in all, those before a resumption included")
    save_every: int = option(5, "updates between two checkpoints")
    decisions: int = option(4000, "decisions of all seats in an update")
    batch: int = option(500, "decisions in a step of the optimizer")
    epochs: int = option(4, "how often an update goes through its decisions")
    learning_rate: float = option(3e-4, "of Adam")
    gamma: float = option(0.995, "discount of a decision")
    entropy: float = option(0.01, "weight of the entropy bonus")
    hidden: list[int] = option([256, 128], "width of the layers")
    runners: int = option(0, "processes that play, anywhere in the cluster; 0: the one that learns plays too")
    envs: int = option(8, "games in each of them")
    seed: int = option(0, "of network and games")
    ray_address: str | None = option(None, "of a cluster that runs, such as auto or host:6379; without it, this machine")
    rating_games: int = option(200, "games against random and weights after training; 0: none")
    game: dict[str, Any] = rules_options(without=["num_players", "max_turns"])


def check(options: Options) -> Rules:
    """The rules of the games.

    Raises:
        ValueError: an option that is not allowed.
    """
    names = ("updates", "save_every", "decisions", "batch", "epochs", "envs", "seed")
    check_counts(**{name: getattr(options, name) for name in names})
    if options.reward not in ("win", "rank", "stars"):
        raise ValueError(f"reward must be win, rank or stars, not {options.reward!r}")
    if options.runners < 0 or options.rating_games < 0:
        raise ValueError("runners and rating_games must be at least 0")
    return Rules(num_players=options.players, max_turns=options.max_turns, **options.game)


def identity(options: Options) -> dict[str, Any]:
    """The options that a run cannot change in its middle."""
    free = ("run", "updates", "save_every", "runners", "ray_address", "rating_games")
    return {name: value for name, value in vars(options).items() if name not in free}


def build(options: Options, rules: Rules) -> tuple[Any, int]:
    """The algorithm, and how many updates it has made: new, or as the last checkpoint of the run has it.

    Raises:
        ValueError: the run has other options, or its checkpoint cannot be read.
    """
    from euphoria_agents.training.rllib import ppo_config

    latest = options.run / LATEST
    state = read_latest(latest) if latest.exists() else None
    if state is not None and state["options"] != identity(options):
        other = [name for name, value in identity(options).items() if state["options"].get(name) != value]
        raise ValueError(f"{options.run} was begun with another {', '.join(other)}; choose another --run")
    config = ppo_config(
        {**rules.to_dict(), "reward": options.reward}, options.hidden, options.seed, options.runners, options.envs
    )
    config = config.training(
        train_batch_size_per_learner=options.decisions,
        minibatch_size=options.batch,
        num_epochs=options.epochs,
        lr=options.learning_rate,
        gamma=options.gamma,
        entropy_coeff=options.entropy,
    )
    algorithm = config.build_algo()
    if state is None:
        return algorithm, 0
    algorithm.restore_from_path(str((options.run / state["folder"]).resolve()))
    return algorithm, int(state["updates"])


def read_latest(file: Path) -> dict[str, Any]:
    """What the run says of its last checkpoint.

    Raises:
        ValueError: it cannot be read.
    """
    try:
        state = read_json(file.read_text())
        if not (file.parent / state["folder"]).is_dir() or type(state["updates"]) is not int:
            raise ValueError("its folder is not there")
        return {"options": dict(state["options"]), **state}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{file} does not name a checkpoint: {error}") from error


def save(options: Options, algorithm: Any, updates: int) -> None:
    """Writes a checkpoint beside the last one, then its name; only then the last one is removed."""
    folder = options.run / f"{STATE}{updates:06}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    algorithm.save_to_path(str(folder.resolve()))
    state = {"folder": folder.name, "updates": updates, "options": identity(options)}
    write_whole(options.run / LATEST, json.dumps(state, indent=1))
    for other in options.run.glob(f"{STATE}*"):
        if other != folder:
            shutil.rmtree(other)


def learn(options: Options, algorithm: Any, updates: int, console: Console) -> None:
    """Trains under a progress bar; Ctrl-C ends it after a save."""
    with Progress(*COLUMNS, console=console) as bar:
        task = bar.add_task("training", total=options.updates, completed=updates, text="")
        saved = updates  # at 0 there is nothing to go on from
        try:
            while updates < options.updates:
                result = algorithm.train()
                updates += 1
                decisions = result["env_runners"]["num_env_steps_sampled_lifetime"]
                bar.update(task, completed=updates, text=f"{decisions:,.0f} decisions")
                if updates % options.save_every == 0 or updates == options.updates:
                    save(options, algorithm, updates)
                    saved = updates
        except KeyboardInterrupt:
            if updates != saved:
                save(options, algorithm, updates)
            raise


def rate(options: Options, algorithm: Any, console: Console) -> None:
    """Games of the network against simple players."""
    from euphoria_agents.training.rllib import RLModuleAgent

    for opponent in ("random", "weights"):
        lineup = [RLModuleAgent(algorithm), *[load(opponent)] * (options.players - 1)]
        result = play_match(lineup, options.rating_games, Rules(num_players=options.players, **options.game), options.seed)
        console.print(f"against {options.players - 1} {opponent}: {result.scores[0]} of {result.games} games won")


def main() -> None:
    """Reads the options, trains and rates."""
    options = parse_options(Options)
    rules = check(options)
    warnings.simplefilter("ignore", DeprecationWarning)  # Ray's own
    logging.getLogger("ray").setLevel(logging.ERROR)
    console = Console()
    with connected(options.ray_address):
        algorithm, updates = build(options, rules)
        try:
            learn(options, algorithm, updates, console)
            console.print(f"{options.updates} updates; checkpoint in {options.run}")
            if options.rating_games:
                rate(options, algorithm, console)
        finally:
            algorithm.stop()


if __name__ == "__main__":
    command(main)
