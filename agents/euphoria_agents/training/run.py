"""Trains a player with sb3-contrib's MaskablePPO: one learning seat, the others played by a league of baselines and past selves.

Everything is in the run's folder: `ppo.safetensors` plays (as the agent ppo:RUN/ppo.safetensors), `state.safetensors` goes on
(--resume RUN, exactly as if it had not been interrupted), `ratings.json` and `tensorboard` say what became of it. Ctrl-C ends the
update under way, saves and stops.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small arrays, threads would only wait

import dataclasses
import json
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from euphoria_agents import Agent, load, tournament
from euphoria_agents.files import whole_file, write_whole
from euphoria_agents.matches.arena import Played, play_match, wilson
from euphoria_agents.network.checkpoint import read_checkpoint, read_tensors, save_checkpoint, write_tensors
from euphoria_agents.options import command, option, parse_options
from euphoria_agents.players.ppo import PPO
from euphoria_agents.training.league import League
from euphoria_agents.training.policy import Policy, RolloutBuffer, make_features
from euphoria_agents.training.vec_env import EuphoriaVecEnv, JoinedVecEnv
from euphoria_env import Rules

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

RUN_FORMAT = "euphoria-run"
SELF = "self"  # the learner among the baselines of a rating


@dataclasses.dataclass
class Options:
    run: Path = option(Path("runs/ppo"), "folder of the run")
    resume: Path | None = option(None, "go on with the run in this folder; of the other options only --minutes counts then")
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


COUNTS = ("decisions", "envs", "rollout", "epochs", "league", "snapshot", "save", "rate")  # at least 1
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
    if not options.players or options.envs < len(options.players):
        raise ValueError(f"envs must be at least 1 for each of players, not {options.envs} for {options.players}")


def make_envs(options: Options, opponents: list[Agent]) -> JoinedVecEnv:
    """The games, side by side, at first against these opponents."""
    shares = Counter(options.players)
    rules: dict[str, Any] = {"reward": options.reward, "max_turns": options.max_turns, "threads": 1, "pool": opponents}
    sizes = {n: options.envs * share // len(options.players) for n, share in sorted(shares.items())}
    return JoinedVecEnv([EuphoriaVecEnv(size, num_players=n, **rules) for n, size in sizes.items()])


def make_model(options: Options, env: JoinedVecEnv) -> MaskablePPO:
    """The untrained network with its games."""
    torch.set_num_threads(1)
    decisions = options.rollout * env.num_envs  # of an update
    if options.batch < 2 or decisions % options.batch == 1:
        raise ValueError(
            f"batch must be at least 2 and leave no single one of the {decisions} decisions of an update, not {options.batch}"
        )
    return MaskablePPO(
        Policy,
        env,
        n_steps=options.rollout,
        batch_size=min(options.batch, decisions),
        n_epochs=options.epochs,
        learning_rate=lambda left: options.learning_rate * (left + decisions / options.decisions),  # SB3 counts this update too
        gamma=options.gamma,
        gae_lambda=options.gae_lambda,
        clip_range=options.clip,
        ent_coef=options.entropy,
        seed=options.seed,
        rollout_buffer_class=RolloutBuffer,
        tensorboard_log=str(options.run / "tensorboard"),
        policy_kwargs={
            "features": make_features(options.steps),
            "trunk": options.trunk,
            "branch": options.branch,
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        device="cpu",
    )


class Run(BaseCallback):
    """A training run: the model with its games, the league, the ratings so far, and their folder.

    Args:
        options: all of them; those of a run that is resumed come from its folder.
        bar: shows how far it is.
        updates: stop at so many updates, counted from the first one; None: at the end.
    """

    def __init__(self, options: Options, bar: Progress, updates: int | None = None) -> None:
        super().__init__()
        self.options, self._bar, self._updates = options, bar, updates
        self._task = bar.add_task("training", total=options.decisions, report="")
        baselines = {spec: load(spec) for spec in dict.fromkeys(options.baselines)}
        self.league = League(baselines, options.league, options.newest, options.older)
        self._agents: dict[str, Agent] = dict(baselines)  # all who play, also those who have left the league
        self.ratings: list[dict[str, Any]] = []
        self._strengths: dict[str, tuple[float, float]] = {}  # of the baselines, by openskill
        self._seconds, self._resumed = 0.0, False
        self._interrupted, self._stop = False, False  # stop at the end of this update; now
        self._envs = make_envs(options, list(baselines.values()))
        self.learner = make_model(options, self._envs)

    # ------------------------------------------------------------------------------------------------- between two updates

    def go(self) -> None:
        """Trains until the end, or until it is stopped."""
        self._start, self._first = time.monotonic() - self._seconds, self.learner.num_timesteps
        self._started = time.monotonic()
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            left = self.options.decisions - self.learner.num_timesteps
            if left > 0:
                self.learner.learn(left, callback=self, reset_num_timesteps=not self._resumed)
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupt(self, *_: Any) -> None:
        self._bar.console.print("stopping after this update ...")
        self._interrupted = True

    @property
    def update(self) -> int:
        """Updates so far."""
        return int(self.learner.num_timesteps // (self.learner.n_steps * self._envs.num_envs))

    def _on_rollout_start(self) -> None:
        if self._resumed:  # what follows was done before the state was saved
            self._resumed = False
            return
        minutes, updates = self.options.minutes, self._updates
        late = minutes is not None and time.monotonic() - self._started > 60 * minutes
        self._stop = self._interrupted or late or (updates is not None and self.update >= updates)
        self._between_updates(last=self._stop)

    def _on_training_end(self) -> None:
        if not self._stop:
            self._between_updates(last=True)

    def _between_updates(self, last: bool) -> None:
        """What is due at this time; the order is part of what makes resuming exact."""
        options, update = self.options, self.update
        if update % options.snapshot == 0:
            self._take_in_self()
        chances = self.league.chances()
        for part in self._envs.parts:
            part.set_opponents(pool=[member.agent for member in self.league], chances=chances, alike=options.alike)
        finished = self.learner.num_timesteps >= options.decisions
        if options.rating_games and (update % options.rate == 0 or finished):
            self._rate()
            draw_curves(self.ratings, options.run / "curves.png")
        if last or update % options.save == 0:
            self.save()

    def _take_in_self(self) -> None:
        name = f"{self.update:06d}"
        path = self.save_player(self.options.run / "league" / f"{name}.safetensors")
        self._agents[name] = PPO.load(path)
        self.league.add(name, self._agents[name])

    def _rate(self) -> None:
        """Plays against the baselines; the generators of the training are not touched."""
        options = self.options
        tensors = self.learner.policy.tensors()
        player = PPO.of(tensors)
        results: list[dict[str, Any]] = []
        games: list[tuple[tuple[str, ...], Played]] = []
        for n in sorted(set(options.players) & set(options.rating_players)) or sorted(set(options.players)):
            for name in dict.fromkeys(options.baselines):
                line_up = [player, *[self._agents[name]] * (n - 1)]
                match = play_match(line_up, options.rating_games, Rules(num_players=n), seed=self.update)
                games += [((SELF, *[name] * (n - 1)), game) for game in match.played]
                score = match.scores[0]
                result = {"decisions": self.learner.num_timesteps, "hours": self.seconds / 3600, "players": n, "against": name}
                results.append(result | {"wins": score.wins, "games": score.games, "rank": score.mean_rank})
                self._bar.console.print(f"{self.learner.num_timesteps:,}: {n} players, against {name}: {score}")
                self.logger.record(f"rating/{name}_{n}", score.rate)
        self._strengths = tournament.rate([SELF, *dict.fromkeys(options.baselines)], games, self._strengths)
        mu, sigma = self._strengths.pop(SELF)  # the next self is another player
        self._bar.console.print(f"{self.learner.num_timesteps:,}: rating {mu:.1f} ± {sigma:.1f}")
        self.logger.record("rating/openskill", mu)
        self.ratings += [result | {"mu": mu, "sigma": sigma} for result in results]

    # ------------------------------------------------------------------------------------------------------ in the middle of it

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        for i in np.flatnonzero(self.locals["dones"]).tolist():
            self.league.record_game(infos[i]["seat"], infos[i]["ranking"], infos[i]["opponents"])
        return not self._stop

    def _on_rollout_end(self) -> None:
        scores = {member.name: member.score for member in self.league if not member.past}
        for name, score in scores.items():
            self.logger.record(f"league/{name}", score)
        done = self.learner.num_timesteps
        speed = (done - self._first) / (time.monotonic() - self._started)
        report = f"{done:,} decisions, {speed:,.0f}/s; " + ", ".join(f"{name} {score:.0%}" for name, score in scores.items())
        self._bar.update(self._task, completed=done, report=report)

    # ----------------------------------------------------------------------------------------------------------------- files

    @property
    def seconds(self) -> float:
        """How long it took, earlier parts of the run included."""
        return time.monotonic() - self._start

    def save_player(self, path: Path) -> Path:
        """Writes the network as a checkpoint to play with."""
        training = plain(self.options) | {"decisions_learnt": int(self.learner.num_timesteps)}
        return save_checkpoint(path, self.learner.policy.tensors(), training)

    def save(self) -> None:
        """Writes everything; whatever happens while it does, the files are those of before or of now."""
        options, model = self.options, self.learner
        self.save_player(options.run / "ppo.safetensors")
        playing = {id(agent) for part in self._envs.parts for agent in part.opponents}
        members = {member.name for member in self.league}
        self._agents = {name: a for name, a in self._agents.items() if name in members or id(a) in playing}
        names = {id(agent): name for name, agent in self._agents.items()}
        arrays, generators = pack_model(model), []
        for k, part in enumerate(self._envs.parts):
            more, generator = part.state()
            arrays |= {f"games.{k}.{name}": array for name, array in more.items()}
            generators.append(generator)
        facts = {
            "options": plain(options),
            "decisions": model.num_timesteps,
            "updates": model._n_updates,
            "seconds": self.seconds,
            "generators": generators,
            "opponents": [[names[id(agent)] for agent in part.opponents] for part in self._envs.parts],
            "league": self.league.state(),
            "ratings": self.ratings,
            "strengths": self._strengths,
        }
        write_whole(options.run / "ratings.json", json.dumps(self.ratings, indent=1))
        write_tensors(options.run / "state.safetensors", RUN_FORMAT, arrays, facts)

    def restore(self, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
        """Goes on where `save` was called."""
        model = self.learner
        for name in {name for names in facts["opponents"] for name in names} | {one["name"] for one in facts["league"]}:
            if name not in self._agents:
                self._agents[name] = PPO.load(self.options.run / "league" / f"{name}.safetensors")
        self.league.restore(facts["league"], self._agents)
        seen = []
        for k, part in enumerate(self._envs.parts):
            mine = {name.removeprefix(f"games.{k}."): a for name, a in arrays.items() if name.startswith(f"games.{k}.")}
            seen.append(part.restore(mine, facts["generators"][k], [self._agents[name] for name in facts["opponents"][k]]))
        model.num_timesteps, model._n_updates = facts["decisions"], facts["updates"]
        model._last_obs = np.concatenate(seen)
        unpack_model(model, arrays)
        self.ratings, self._strengths = facts["ratings"], facts["strengths"]
        self._seconds, self._resumed = facts["seconds"], True


def pack_model(model: MaskablePPO) -> dict[str, np.ndarray]:
    """Network, optimizer and generators as arrays."""
    arrays = {f"policy.{name}": tensor.numpy() for name, tensor in model.policy.state_dict().items()}
    for k, state in model.policy.optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{k}.{name}": tensor.numpy() for name, tensor in state.items()}
    _, keys, position, _, _ = np.random.get_state()
    starts = model._last_episode_starts
    return arrays | {
        "torch": torch.get_rng_state().numpy(), "numpy": keys, "numpy.position": np.array([position]), "starts": starts
    }  # fmt: skip


def unpack_model(model: MaskablePPO, arrays: dict[str, np.ndarray]) -> None:
    """The reverse of `pack_model`."""
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    policy, optimizer = model.policy, model.policy.optimizer
    policy.load_state_dict({name: tensors[f"policy.{name}"] for name in policy.state_dict()})
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, k, what = name.split(".")
            state.setdefault(int(k), {})[what] = tensor.clone()
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    model._last_episode_starts = arrays["starts"]
    torch.set_rng_state(tensors["torch"])
    np.random.set_state(("MT19937", arrays["numpy"], int(arrays["numpy.position"][0])))


def plain(options: Options) -> dict[str, Any]:
    """The options as JSON has them."""
    return {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}


def draw_curves(ratings: list[dict[str, Any]], path: Path) -> None:
    """Draws win rates with their intervals, and openskill ratings, against decisions and against hours."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 8), sharex="col", sharey="row")
    for column, what in enumerate(("decisions", "hours")):
        for players, against in sorted({(one["players"], one["against"]) for one in ratings}):
            mine = [one for one in ratings if (one["players"], one["against"]) == (players, against)]
            low, high = zip(*(wilson(one["wins"], one["games"]) for one in mine), strict=True)
            times = [one[what] for one in mine]
            label = f"{players} players, against {against}"
            axes[0, column].plot(times, [one["wins"] / one["games"] for one in mine], label=label)
            axes[0, column].fill_between(times, low, high, alpha=0.15)
        points = sorted({(one[what], one["mu"], one["sigma"]) for one in ratings})
        axes[1, column].errorbar(*zip(*((x, mu) for x, mu, _ in points), strict=True), [2 * sigma for *_, sigma in points])
        axes[1, column].set_xlabel(f"{what} of training")
    axes[0, 0].set(ylabel="games won, with 95 % intervals", ylim=(0, 1))
    axes[1, 0].set(ylabel="openskill rating, ± 2 sigma")
    axes[0, 1].legend(fontsize="small")
    figure.tight_layout()
    with whole_file(path) as beside:
        figure.savefig(beside, format="png", dpi=110)
    plt.close(figure)


def train(options: Options, console: Console, updates: int | None = None) -> Run:
    """Trains, from the start or where a run left off.

    Args:
        options: all of them; of a run that is resumed, its own.
        console: for the progress bar and the ratings.
        updates: as for `Run`.

    Raises:
        ValueError: an option is wrong, there is a run in the folder already, or the one to be resumed is damaged.
    """
    arrays, facts = None, {}
    if options.resume is not None:
        facts, arrays = read_tensors(options.resume / "state.safetensors", RUN_FORMAT)
        known = {field.name for field in dataclasses.fields(Options)}
        kept = {name: value for name, value in facts["options"].items() if name in known}
        options = Options(**{**kept, "run": options.resume, "resume": None, "minutes": options.minutes})
    elif (options.run / "state.safetensors").exists():
        raise ValueError(f"there is a run in {options.run} already: choose another --run, or --resume {options.run}")
    check(options)
    report = TextColumn("{task.fields[report]}")
    with Progress(BarColumn(20), TimeElapsedColumn(), TimeRemainingColumn(), report, console=console) as bar:
        run = Run(options, bar, updates)
        if arrays is not None:
            run.restore(arrays, facts)
        elif options.start is not None:
            run.learner.policy.load(read_checkpoint(options.start)[1])
        run.go()
    return run


def main() -> None:
    console = Console()
    run = train(parse_options(Options, __doc__), console)
    console.print(f"written: {run.options.run}")


if __name__ == "__main__":
    command(main)
