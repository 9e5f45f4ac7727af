"""A training run: in each update games are played, the network learns from them, and the league and the files are updated."""

from __future__ import annotations

import dataclasses
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from rich.console import Console

from euphoria_agents.agent import Agent
from euphoria_agents.files import write_whole
from euphoria_agents.network.checkpoint import parts, read_checkpoint, save_checkpoint, under, write_tensors
from euphoria_agents.network.features import make_features
from euphoria_agents.players.ppo import PPO
from euphoria_agents.progress import Progress
from euphoria_agents.registry import load
from euphoria_agents.training.config import PRESENT_SELF, Options, plain
from euphoria_agents.training.evaluations import Evaluations
from euphoria_agents.training.league import League
from euphoria_agents.training.learner import STEEPEST, Learner
from euphoria_agents.training.network import Network
from euphoria_agents.training.ratings import rate_player
from euphoria_agents.training.rollout import LEARNER, Actor, Rollout, join
from euphoria_agents.training.rules_mixture import game_parts
from euphoria_agents.training.run_log import RunLog, write_config
from euphoria_agents.training.saved_run import (
    CRITIC,
    PLAYER,
    RATINGS,
    RUN_FORMAT,
    STATE,
    ActorState,
    Job,
    RunMetadata,
    of_a_run,
    open_job,
    self_file,
)
from euphoria_agents.training.threads import Threads
from euphoria_agents.training.win_probs import learn_win_probs, new_model
from euphoria_env import Rules
from euphoria_env.derived_seeds import generator_from
from euphoria_env.json_reader import Reader, read_array
from euphoria_env.trajectories import OPEN


class Trainer:
    """A training run.

    Args:
        job: what the run begins with.
        bar: shows the progress.
        threads: the threads that play and learn, as many as the options say.
        updates: stop after this number of updates, counted from the beginning of the run; None: only at the end of the run.

    Attributes:
        decisions, update: the numbers of decisions learned from and of updates.
        interrupted: whether the run was asked to stop.
    """

    def __init__(self, job: Job, bar: Progress, threads: Threads, updates: int | None = None) -> None:
        self.options = options = job.options
        self._bar, self.threads, self._updates = bar, threads, updates
        bar.total = options.total
        torch.manual_seed(options.seed)
        self.network = network = Network(make_features(), options.trunk, options.afterstates)
        if job.start is not None:
            head = network.afterstates.tensors() if network.afterstates else {}  # stays as it is if the checkpoint has none
            network.load(head | job.start, options.start or "the checkpoint")
        self.learner = Learner(network, options, threads)
        self._rng = np.random.default_rng([options.seed, 0])
        games = game_parts(options)
        seeds = np.random.SeedSequence([options.seed, 0]).generate_state(len(games)).tolist()
        self.actors = [
            Actor(
                [(size, Rules(**rules)) for size, rules in parts], options.reward, seed,
                {spec: load(spec) for spec in options.baselines}, network.first.rows, options.critic,
            )
            for parts, seed in zip(games, seeds, strict=True)
        ]  # fmt: skip
        if options.critic is not None:
            new_model(network.first.features, options.critic)  # refuses now a critic that could not be trained further
        self._own_share = options.self_play * PRESENT_SELF
        self.league = League(options.baselines, (options.self_play - self._own_share) / (1 - self._own_share))
        self._selves: dict[str, Agent] = {name: PPO.of(one, self_file(options.run, name)) for name, one in job.selves.items()}
        self.decisions = self.update = 0
        self.interrupted = False
        self._seconds = 0.0  # of training until the end of the last update
        self._new = job.state is None
        if job.state is not None:
            self._restore(*job.state)

    # ---------------------------------------------------------------------------------------------------------- the loop

    def train(self) -> None:
        """Trains until the end of the run, or until it is interrupted."""
        self._start, self._before = time.monotonic() - self._seconds, (self.decisions, self._seconds)
        (self.options.run / RATINGS).unlink(missing_ok=True)  # which are those of a player with less training
        write_config(self.options, resumed=not self._new)
        with RunLog(self.options.run, self.update) as log, self._interruptible():
            evaluations = Evaluations(self.options, self.decisions)
            if self._new:
                self._begin()
                if self.options.evaluate_every is not None:
                    self._evaluate(evaluations)
            while not self._over():
                before, facts = self.decisions, self.advance()
                self.update += 1
                self._seconds = self._elapsed()
                if evaluations.due(before, self.decisions):
                    self._evaluate(evaluations)
                self._after_update(facts, log)
            self.save()

    def how_to_go_on(self) -> str:
        """Returns a sentence on why the run is over, and how to make it longer."""
        resume, limit = f"--resume {self.options.run}", self.options.total_minutes
        if self.decisions >= self.options.total or limit is None:
            return f"the run has made its {self.decisions:,} decisions; {resume} --decisions N goes on until there are N"
        return f"the run has had its {limit:g} minutes; {resume} --total-minutes N goes on until it has had N"

    def _begin(self) -> None:
        """Begins a new run: keeps its critic, adds the network to the league as it is, and begins the first games."""
        self._new = False
        if self.options.critic is not None:
            write_whole(self.options.run / CRITIC, self.options.critic.read_bytes())
        self._add_self()
        self._seat()
        for actor in self.actors:
            actor.begin_games()

    def advance(self) -> dict[str, float]:
        """Makes an update; returns the figures to report."""
        return self.learn(self.play())

    def play(self) -> Rollout:
        """Plays with the network as it is, counts the games that ended in the league, and returns the learner's decisions."""
        player = self.network.player()
        for actor in self.actors:
            actor.begin(player)
        self.threads.run([actor.play for actor in self.actors])
        for actor in self.actors:
            for names, ranking in actor.ended():
                self.league.record_game(LEARNER, names, ranking)
        return join([actor.collected() for actor in self.actors])

    def learn(self, rollout: Rollout) -> dict[str, float]:
        """Learns from decisions; returns the figures to report."""
        closed = int(np.count_nonzero(rollout.following != OPEN))
        steps = min(max(1, round(closed / self.options.batch)), closed)
        facts = self.learner.update(rollout, self.options.learning_rate * (1 - self.progress), self._rng, steps)
        self.decisions += closed
        return facts

    @property
    def progress(self) -> float:
        """The share of the run that is done, from 0 to 1: of its decisions or of its time, whichever is larger."""
        done, limit = self.decisions / self.options.total, self.options.total_minutes
        return min(1.0, done if limit is None else max(done, self._seconds / (60 * limit)))

    def _over(self) -> bool:
        """Returns whether to stop after this update."""
        return self.update == self._updates or self.interrupted or self.progress >= 1

    def _elapsed(self) -> float:
        """Returns the seconds of training, those before the run was resumed included."""
        return time.monotonic() - self._start

    # --------------------------------------------------------------------------------------------------- between updates

    def _after_update(self, facts: dict[str, float], log: RunLog) -> None:
        """Updates the league and the files; in another order, a resumed run would not repeat exactly."""
        options = self.options
        parts(self.network.tensors(), f"{options.run}, after update {self.update}")  # a network that diverged is not saved
        due = self.update % options.save_every == 0
        if due:
            self._add_self()
        self._seat()
        self._report(facts, log)
        if due:
            self.save()

    def _evaluate(self, evaluations: Evaluations) -> None:
        """Plays the matches of this moment, whose time does not count."""
        began = time.monotonic()
        for line in evaluations.evaluate(self.network.tensors(), self.decisions, self._seconds):
            self._bar.console.print(line)
        self._start += time.monotonic() - began

    def _add_self(self) -> None:
        """Adds the present network to the league."""
        name = f"{self.update:06d}"
        self.save_player(self_file(self.options.run, name))
        self._selves[name] = PPO.of(self.network.tensors())
        self.league.add(name)

    def _seat(self) -> None:
        """Gives the actors the players of new games with their shares of the seats; forgets past selves that nobody needs."""
        members = zip(self.league.members, self.league.chances(), strict=True)
        shares = {LEARNER: self._own_share} | {member.name: (1 - self._own_share) * chance for member, chance in members}
        for actor in self.actors:
            actor.seat(self._selves, shares)
        known = {name for actor in self.actors for name in actor.names}
        self._selves = {name: agent for name, agent in self._selves.items() if name in known}

    def _report(self, facts: dict[str, float], log: RunLog) -> None:
        """Writes and shows the figures of the update."""
        scores = {member.name: member.score for member in self.league.members if not member.past}
        decisions, seconds = self._before
        speed = (self.decisions - decisions) / (self._elapsed() - seconds)
        figures = {"decisions": self.decisions, "decisions_per_second": speed}
        figures |= {f"train/{name}": fact for name, fact in facts.items()}
        figures |= {f"league/{name}": score for name, score in scores.items()}
        log.write(self.update, figures)
        against = ", ".join(f"{name} {score:.0%}" for name, score in scores.items())
        if self.progress:
            self._bar.total = round(self.decisions / self.progress)  # fewer than --decisions if --total-minutes comes first
        self._bar.show(self.decisions, f"{speed:,.0f} per second; running score in the league against {against}")

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Makes Ctrl-C or SIGTERM stop the run after its update; a second one stops it at once."""
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def restore() -> None:
            for number, handler in handlers.items():
                signal.signal(number, handler)

        def interrupt(*_: Any) -> None:
            how = "stopping after this update; a second interrupt stops at once, with what was saved last ..."
            self._bar.console.print(how)
            self.interrupted = True
            restore()

        for number in handlers:
            signal.signal(number, interrupt)
        try:
            yield
        finally:
            restore()

    # ------------------------------------------------------------------------------------------------------------- files

    def save_player(self, path: Path) -> Path:
        """Writes the network as a checkpoint that the agent `ppo` can play."""
        return save_checkpoint(path, self.network.tensors(), plain(self.options) | {"decisions_learnt": self.decisions})

    def save(self) -> None:
        """Saves the player and the state of the run; a crash at any moment leaves each file as it was or as it should be."""
        options, learner = self.options, self.learner
        self.save_player(options.run / PLAYER)
        arrays = {f"network.{name}": tensor.numpy() for name, tensor in self.network.state_dict().items()}
        arrays |= {"adam.mean": learner.mean.numpy(), "adam.square": learner.square.numpy()}
        arrays |= {f"actor.{k}.{name}": array for k, actor in enumerate(self.actors) for name, array in actor.state().items()}
        metadata = RunMetadata(
            self.decisions, self.update, learner.steps, self._seconds, dict(self._rng.bit_generator.state),
            [ActorState(dict(actor.rng.bit_generator.state), actor.names) for actor in self.actors],
            self.league.members,
        )  # fmt: skip
        write_tensors(options.run / STATE, RUN_FORMAT, arrays, {"options": plain(options), **msgspec.to_builtins(metadata)})

    def _restore(self, metadata: RunMetadata, arrays: dict[str, np.ndarray]) -> None:
        """Continues from where `save` was called.

        Raises:
            ValueError: the state does not fit this run; the message names what is wrong.
        """
        learner = self.learner
        if len(metadata.actors) != len(self.actors):
            Reader.must("actors", f"have {len(self.actors)} entries")
        self.league.restore(metadata.league, [*self.options.baselines, *self._selves])
        for k, (actor, saved) in enumerate(zip(self.actors, metadata.actors, strict=True)):
            try:
                actor.restore(under(f"actor.{k}.", arrays), saved.opponents, self._selves, saved.generator)
            except ValueError as error:
                raise ValueError(f"actor.{k}: {error}") from error
        for name, tensor in self.network.state_dict().items():
            tensor.copy_(torch.from_numpy(read_array(arrays, f"network.{name}", tuple(tensor.shape), np.float32).copy()))
        parts(self.network.tensors(), "network")
        most = 1.02 * STEEPEST  # bounds a mean of gradients, whose norm is at most STEEPEST, with room for rounding
        kept = [("adam.mean", learner.mean, -most, most), ("adam.square", learner.square, 0, most**2)]
        for name, array, low, high in kept:
            array.copy_(torch.from_numpy(read_array(arrays, name, tuple(array.shape), np.float32, low, high).copy()))
        learner.steps = metadata.steps
        self._rng = generator_from(metadata.generator)
        self.decisions, self.update, self._seconds = metadata.decisions, metadata.updates, metadata.seconds
        self._seat()


# ------------------------------------------------------------------------------------------------------------- the whole run


def train(options: Options, console: Console, updates: int | None = None) -> Trainer:
    """Trains a new run, or continues a saved one.

    Args:
        options: the options; a run that is resumed keeps most of its own (see `saved_run.reopen`).
        console: shows the progress bar and the ratings.
        updates: as for `Trainer`.

    Raises:
        ValueError: an option is wrong, the folder already has a run, or the run to be resumed is damaged, or has baselines that
            are neither built in nor named by `options.baselines`.
    """
    job = open_job(options)
    with Progress(console, "training", "decisions") as bar, closing(Threads(job.options.threads)) as threads:
        trainer = open_trainer(job, bar, threads, updates)
        finished = trainer.progress >= 1
        if not finished:
            trainer.train()
    if trainer.progress >= 1 and not trainer.interrupted and not _conclude(trainer.options, console) and finished:
        console.print(f"nothing is left to do: {trainer.how_to_go_on()}")
    return trainer


def _conclude(options: Options, console: Console) -> bool:
    """Rates the finished player and trains its win probabilities, unless that is done; returns whether there was work to do."""
    player, ratings = options.run / PLAYER, options.run / RATINGS
    unrated = options.rating_games > 0 and not ratings.exists()
    if unrated:
        rate_player(options, player, ratings, console)
    lacking = options.win_probs_games > 0 and not parts(read_checkpoint(player)[1], player).win_probs
    if lacking:
        critic = options.critic and options.run / CRITIC  # the copy, since the original may have changed
        learn_win_probs(dataclasses.replace(options, critic=critic), player, console)
    return unrated or lacking


def open_trainer(job: Job, bar: Progress, threads: Threads, updates: int | None = None) -> Trainer:
    """Returns the trainer of a job; its arguments are those of `Trainer`, and it raises what `train` raises."""
    with nullcontext() if job.state is None else of_a_run(job.options.run):
        return Trainer(job, bar, threads, updates)
