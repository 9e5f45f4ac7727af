"""A training run: the model with its games, the league, the ratings, and the folder that has them all."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from stable_baselines3.common.callbacks import BaseCallback

from euphoria_agents.agent import Agent
from euphoria_agents.files import write_whole
from euphoria_agents.matches import tournament
from euphoria_agents.matches.arena import Played, play_match
from euphoria_agents.network.checkpoint import parts, read_checkpoint, read_tensors, save_checkpoint, write_tensors
from euphoria_agents.players.ppo import PPO
from euphoria_agents.registry import load, load_untrusted
from euphoria_agents.training.curves import draw_curves
from euphoria_agents.training.facts import Facts, check_sizes
from euphoria_agents.training.league import League
from euphoria_agents.training.model import make_envs, make_model
from euphoria_agents.training.options import Options, check, plain, read_options
from euphoria_agents.training.state import pack_model, unpack_model
from euphoria_env import Rules
from euphoria_env.reader import Reader, shown

RUN_FORMAT, STATE = "euphoria-run", "state.safetensors"
SELF = "self"  # the learner among the baselines of a rating
PAST_SELF = "[0-9]+"  # their names: the number of the update


class Run(BaseCallback):
    """A training run: the model with its games, the league, the ratings so far, and their folder.

    Args:
        options: all of them; those of a run that is resumed come from its folder.
        baselines: the fixed opponents, by their specs.
        bar: shows how far it is.
        updates: stop at so many updates, counted from the first one; None: at the end.
    """

    def __init__(self, options: Options, baselines: dict[str, Agent], bar: Progress, updates: int | None = None) -> None:
        super().__init__()
        self.options, self._bar, self._updates = options, bar, updates
        self._task = bar.add_task("training", total=options.decisions, report="")
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
        self._on_interrupt = signal.signal(signal.SIGINT, self._interrupt)
        try:
            left = self.options.decisions - self.learner.num_timesteps
            if left > 0:
                with _told_once():
                    self.learner.learn(left, callback=self, reset_num_timesteps=not self._resumed)
        finally:
            signal.signal(signal.SIGINT, self._on_interrupt)

    def _interrupt(self, *_: Any) -> None:
        self._bar.console.print("stopping after this update; a second interrupt stops at once, with what was saved last ...")
        self._interrupted = True
        signal.signal(signal.SIGINT, self._on_interrupt)

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
        parts(self.learner.policy.tensors(), f"{options.run}, after update {update}")  # a network that diverged is not saved
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
                match = play_match(line_up, options.rating_games, Rules(num_players=n, **options.game), seed=self.update)
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
        write_tensors(options.run / STATE, RUN_FORMAT, arrays, facts)

    def restore(self, arrays: dict[str, np.ndarray], facts: Facts) -> None:
        """Goes on where `save` was called.

        Raises:
            ValueError: what is there is not a state of this run; names what is wrong.
        """
        model, games = self.learner, self._envs.parts
        if facts.decisions * model.n_epochs != facts.updates * model.n_steps * self._envs.num_envs:
            Reader.fail("decisions", f"{facts.decisions} are not those of {facts.updates} updates")
        if len(facts.opponents) != len(games):
            Reader.fail("opponents", f"must have {len(games)} entries")
        for name in facts.names():
            if not isinstance(name, str) or name not in self._agents:
                if not isinstance(name, str) or not re.fullmatch(PAST_SELF, name):  # a path would lead elsewhere
                    raise ValueError(f"no past self is called {shown(name)}")
                self._agents[name] = PPO.load(self.options.run / "league" / f"{name}.safetensors")
        self.league.restore(facts.league, self._agents)
        seen = []
        for k, part in enumerate(games):
            mine = {name.removeprefix(f"games.{k}."): a for name, a in arrays.items() if name.startswith(f"games.{k}.")}
            playing = [self._agents[name] for name in facts.opponents[k]]
            try:
                seen.append(part.restore(mine, facts.generators[k], playing))
            except ValueError as error:
                raise ValueError(f"games.{k}: {error}") from error
        unpack_model(model, arrays)
        model.num_timesteps, model._n_updates = facts.decisions, facts.updates
        model._last_obs = np.concatenate(seen)
        self.ratings, self._strengths = facts.ratings, facts.strengths
        self._seconds, self._resumed = facts.seconds, True


@contextmanager
def _told_once() -> Iterator[None]:
    """Leaves it to the main thread to tell of a full disk: TensorBoard's own fails first, and tells of it at length."""
    hook = threading.excepthook
    threading.excepthook = lambda failed: None if isinstance(failed.exc_value, OSError) else hook(failed)
    try:
        yield
    finally:
        threading.excepthook = hook


def train(options: Options, console: Console, updates: int | None = None) -> Run:
    """Trains, from the start or where a run left off.

    Args:
        options: all of them; of a run that is resumed, its own.
        console: for the progress bar and the ratings.
        updates: as for `Run`.

    Raises:
        ValueError: an option is wrong, there is a run in the folder already, or the one to be resumed is damaged, or was trained
            against agents from elsewhere that `options.baselines` does not name.
    """
    if options.resume is not None:
        with _progress(console) as bar:
            run = reopen(options, options.resume, bar, updates)
            run.go()
        return run
    if (options.run / STATE).exists():
        raise ValueError(f"there is a run in {options.run} already: choose another --run, or --resume {options.run}")
    check(options)
    with _progress(console) as bar:
        run = Run(options, {spec: load(spec) for spec in options.baselines}, bar, updates)
        if options.start is not None:
            run.learner.policy.load(read_checkpoint(options.start)[1], options.start)
        run.go()
    return run


def reopen(given: Options, folder: Path, bar: Progress, updates: int | None = None) -> Run:
    """The run in a folder, as it was when it was saved; arguments and errors as of `Run` and `train`."""
    facts, arrays = read_tensors(folder / STATE, RUN_FORMAT)
    try:
        options = read_options(facts.get("options"), run=folder, resume=None, start=None, minutes=given.minutes)
        baselines = {spec: _load_again(spec, given.baselines) for spec in options.baselines}
        check_sizes(options, arrays)
        run = Run(options, baselines, bar, updates)
        run.restore(arrays, Facts.read(facts))
    except ValueError as error:
        raise ValueError(f"{folder / STATE} is damaged, or of another kind: {error}") from error
    return run


def _load_again(spec: str, allowed: Collection[str]) -> Agent:
    """A baseline of a run that is resumed: from a file, so nothing else than built-in ones, or what was named again."""
    try:
        agent: Agent = load_untrusted(spec, allowed)
    except ValueError as error:
        again = "" if spec in allowed else f" (here: --baselines {spec})"
        raise ValueError(f"{error}{again}") from error
    return agent


def _progress(console: Console) -> Progress:
    """The bar, and what there is to say of the last update."""
    return Progress(
        BarColumn(20), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[report]}"), console=console
    )
