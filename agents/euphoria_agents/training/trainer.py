"""A training run: games are played, the network learns from them, and each update ends with the league, ratings and files."""

from __future__ import annotations

import json
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
from euphoria_agents.players.ppo import PPO
from euphoria_agents.progress import Progress
from euphoria_agents.registry import load
from euphoria_agents.training.config import CARDS, Options, plain
from euphoria_agents.training.league import PAST_SELVES, League
from euphoria_agents.training.learner import STEEPEST, DeviceLearner, Learner, ThreadedLearner
from euphoria_agents.training.machines import Group, ProcessLost
from euphoria_agents.training.network import Network, make_features
from euphoria_agents.training.ratings import Due, Ratings
from euphoria_agents.training.rollout import LEARNER, Actor, Rollout, join
from euphoria_agents.training.rules_mixture import game_parts
from euphoria_agents.training.run_log import RunLog
from euphoria_agents.training.saved_run import (
    PLAYER,
    RUN_FORMAT,
    STATE,
    ActorState,
    Job,
    ProcessState,
    RunMetadata,
    of_a_run,
    open_job,
    self_file,
)  # fmt: skip
from euphoria_agents.training.threads import Threads
from euphoria_agents.training.win_probs import learn_win_probs
from euphoria_env import Rules
from euphoria_env.envs.derived_seeds import generator_from
from euphoria_env.json_reader import Reader, read_array
from euphoria_env.trajectories import OPEN


class Trainer:
    """A run, as one of its processes sees it.

    Args:
        job: what to begin with.
        bar: shows how far it is.
        group: the processes.
        threads: play and learn; as many as the options say.
        updates: stop after this number of updates, counted from the first one; None: at the end.

    Attributes:
        decisions, update: the numbers of decisions learned from, in all processes, and of updates.
        interrupted: whether it was asked to stop.
    """

    def __init__(self, job: Job, bar: Progress, group: Group, threads: Threads, updates: int | None = None) -> None:
        self.options = options = job.options
        self._bar, self.group, self._updates = bar, group, updates
        self.threads = threads
        bar.total = options.total
        torch.manual_seed(options.seed)  # the same network in all processes
        network = Network(make_features(), options.trunk, CARDS[options.cards])
        if job.start is not None:
            network.load(job.start, options.start or "the checkpoint")
        self.network = network.to(options.device)
        average = group.average if group.size > 1 else None
        self.learner: Learner = (
            ThreadedLearner(network, options, threads, average)
            if options.device == "cpu"
            else DeviceLearner(self.network, options, average)
        )
        self._rng = np.random.default_rng([options.seed, group.rank])
        games = game_parts(options, group.rank)
        seeds = np.random.SeedSequence([options.seed, group.rank]).generate_state(len(games)).tolist()
        self.actors = [
            Actor(
                [(size, Rules(**rules)) for size, rules in parts], options, seed,
                {spec: load(spec) for spec in options.baselines}, network.first.rows,
            )
            for parts, seed in zip(games, seeds, strict=True)
        ]  # fmt: skip
        self.league = League(options.baselines, PAST_SELVES, options.newest, options.older)
        self._selves: dict[str, Agent] = {name: PPO.of(one, self_file(options.run, name)) for name, one in job.selves.items()}
        self.ratings = Ratings(options)
        self.decisions = self.update = 0
        self.interrupted = False
        self._seconds = 0.0  # of training, by the clock of the first process at the end of the last update
        self._new = job.state is None
        if job.state is not None:
            self._restore(*job.state)

    # ---------------------------------------------------------------------------------------------------------- the loop

    def train(self) -> None:
        """Trains until the end, or until it is stopped."""
        self._start, self._first = time.monotonic() - self._seconds, self.decisions
        self._started = time.monotonic()
        finished = self.progress >= 1
        try:
            if not finished:
                log = RunLog(self.options.run, self.update) if self.group.first else nullcontext()
                with log as self._run_log, self._interruptible():
                    self._go()
            left = not self.interrupted and self._conclude()
        finally:
            self.ratings.close()
        if finished and not left:
            self._bar.console.print(f"nothing is left to do: {self._how_to_go_on()}")

    def _go(self) -> None:
        """Makes updates until the end, and saves."""
        if self._new:
            self._begin()
        while not self._over():
            facts = self.advance()
            self.update += 1
            self._after_update(facts)
        if self.group.first and self.progress >= 1 and self.update % self.options.rate:
            self._rate()
        self.save()

    def _how_to_go_on(self) -> str:
        """Why the run is over, and what makes it longer."""
        resume, limit = f"--resume {self.options.run}", self.options.finish
        if self.decisions >= self.options.total or limit is None:
            return f"the run has made its {self.decisions:,} decisions; {resume} --decisions N goes on until there are N"
        return f"the run has had its {limit:g} minutes; {resume} --finish N goes on until it has had N"

    def _begin(self) -> None:
        """Begins a new run: with the network as it is in the league, and with the first games."""
        self._new = False
        self._take_in_self()
        self._seat()
        for actor in self.actors:
            actor.begin_games()
        if self.group.first:
            self._rate()

    def advance(self) -> dict[str, float]:
        """Makes an update; returns what is to be reported."""
        return self.learn(self.play())

    def play(self) -> Rollout:
        """Plays the games of an update with the network as it is; returns the decisions, and scores the games that ended."""
        player = self.network.player()
        for actor in self.actors:
            actor.begin(player)
        self.threads.run([actor.play for actor in self.actors])
        for games in self.group.gather([game for actor in self.actors for game in actor.ended()]):
            for names, ranking in games:
                self.league.record_game(LEARNER, names, ranking)
        return join([actor.collected() for actor in self.actors])

    def learn(self, rollout: Rollout) -> dict[str, float]:
        """Learns from decisions; returns what is to be reported."""
        counts = self.group.gather(int(np.count_nonzero(rollout.following != OPEN)))
        steps = min(max(1, round(sum(counts) / self.options.batch)), *counts)  # each with a decision in every process
        facts = self.learner.update(rollout, self.options.learning_rate * (1 - self.progress), self._rng, steps)
        self.decisions += sum(counts) if steps else 0
        return facts

    @property
    def progress(self) -> float:
        """The share of the run that is done, from 0 to 1: of its decisions or of its time, whichever is more."""
        done, limit = self.decisions / self.options.total, self.options.finish
        return min(1.0, done if limit is None else max(done, self._seconds / (60 * limit)))

    def _over(self) -> bool:
        """Whether to stop here, on the word of the first process."""
        done = self._updates is not None and self.update >= self._updates
        self._seconds = self.group.share(time.monotonic() - self._start)
        self.interrupted = self.group.share(self.interrupted)
        return bool(self.group.share(done or self.interrupted or self.progress >= 1))

    # --------------------------------------------------------------------------------------------------- between updates

    def _after_update(self, facts: dict[str, float]) -> None:
        """Does what is due; the order is part of what makes resuming exact."""
        options = self.options
        parts(self.network.tensors(), f"{options.run}, after update {self.update}")  # a network that diverged is not saved
        due = self.update % options.snapshot == 0
        if due:
            self._take_in_self()
        self._seat()
        if self.group.first and self.update % options.rate == 0:
            self._rate()
        if self._run_log is not None:
            self._report(facts, self._run_log)
        if due:
            self.save()

    def _conclude(self) -> bool:
        """Waits for the ratings that are due, and gives the finished player its win probabilities; returns whether it did any."""
        due = bool(self.group.share(bool(self.ratings.due)))
        if due:
            self._tell_ratings(wait=True)
            self.save()
        if not self.group.first or self.progress < 1 or not self.options.win_probs_games:
            return due
        player = self.options.run / PLAYER
        lacking = not parts(read_checkpoint(player)[1], player).win_probs
        if lacking:
            learn_win_probs(self.options, player, self._bar.console)
        return due or lacking

    def _take_in_self(self) -> None:
        """Takes the network as it is into the league."""
        name, tensors = f"{self.update:06d}", self.network.tensors()
        if self.group.first:
            self.save_player(self_file(self.options.run, name))
        self._selves[name] = PPO.of(tensors)
        self.league.add(name)

    def _seat(self) -> None:
        """Tells the actors who plays in the games that begin from now on, and forgets the past selves that play no more."""
        chances = dict(zip([member.name for member in self.league.members], self.league.chances(), strict=True))
        for actor in self.actors:
            actor.seat(self._selves, chances)
        known = chances.keys() | {name for actor in self.actors for name in actor.names()}
        self._selves = {name: agent for name, agent in self._selves.items() if name in known}

    def _rate(self) -> None:
        if self.options.rating_games:
            self.ratings.due.append(Due(self.update, self.decisions, self._seconds / 3600, self.network.tensors()))

    def _tell_ratings(self, wait: bool = False) -> dict[str, float]:
        """Prints the ratings that have been found, or waits for all of them; returns the figures for the log."""
        figures: dict[str, float] = {}
        for results, report in self.ratings.finished(wait):
            self._bar.console.print(report)
            figures |= {f"rating/{one.against}_{one.players}": one.wins / one.games for one in results}
            figures["rating/openskill"] = results[-1].mu
        return figures

    def _report(self, facts: dict[str, float], log: RunLog) -> None:
        """Writes the figures of the update."""
        scores = {member.name: member.score for member in self.league.members if not member.past}
        speed = (self.decisions - self._first) / (time.monotonic() - self._started)
        figures = {"decisions": self.decisions, "decisions_per_second": speed}
        figures |= {f"train/{name}": fact for name, fact in facts.items()}
        figures |= {f"league/{name}": score for name, score in scores.items()}
        log.write(self.update, figures)
        log.mark(self.update, self._tell_ratings())
        against = ", ".join(f"{name} {score:.0%}" for name, score in scores.items())
        if self.progress:
            self._bar.total = round(self.decisions / self.progress)  # fewer than --decisions if --finish comes first
        self._bar.show(self.decisions, f"{speed:,.0f} per second; running score in the league against {against}")

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Ctrl-C, or the signal that asks a process to end, stops the run after its update; a second one at once."""
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def restore() -> None:
            for number, handler in handlers.items():
                signal.signal(number, handler)

        def interrupt(*_: Any) -> None:
            if self.group.first:
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
        """Writes the network as a checkpoint to play with."""
        return save_checkpoint(path, self.network.tensors(), plain(self.options) | {"decisions_learnt": self.decisions})

    def save(self) -> None:
        """Writes everything; a crash at any moment leaves the files of before or of now. All processes call it."""
        states = self.group.gather(self._own_state())
        if not self.group.first:
            return
        options, learner = self.options, self.learner
        self.save_player(options.run / PLAYER)
        rated, ratings = self.ratings.state()
        arrays = {f"network.{name}": tensor.cpu().numpy() for name, tensor in self.network.state_dict().items()} | rated
        arrays |= {"adam.mean": learner.mean.cpu().numpy(), "adam.square": learner.square.cpu().numpy()}
        for rank, (own, _) in enumerate(states):
            arrays |= {f"process.{rank}.{name}": array for name, array in own.items()}
        processes = [state for _, state in states]
        metadata = RunMetadata(self.decisions, self.update, learner.steps, self._seconds, processes, self.league.members, ratings)
        plainly = msgspec.to_builtins(metadata)
        write_whole(options.run / "ratings.json", json.dumps(plainly["ratings"]["results"], indent=1))
        write_tensors(options.run / STATE, RUN_FORMAT, arrays, {"options": plain(options), **plainly})

    def _own_state(self) -> tuple[dict[str, np.ndarray], ProcessState]:
        """Arrays and metadata of this process alone."""
        arrays = {f"actor.{k}.{name}": array for k, actor in enumerate(self.actors) for name, array in actor.state().items()}
        actors = [ActorState(dict(actor.rng.bit_generator.state), actor.names()) for actor in self.actors]
        return arrays, ProcessState(dict(self._rng.bit_generator.state), actors)

    def _restore(self, metadata: RunMetadata, arrays: dict[str, np.ndarray]) -> None:
        """Continues from where `save` was called.

        Raises:
            ValueError: it is not a state of this run; names what is wrong.
        """
        rank, learner = self.group.rank, self.learner
        state, own = metadata.processes[rank], under(f"process.{rank}.", arrays)
        if len(state.actors) != len(self.actors):
            Reader.must(f"processes[{rank}].actors", f"have {len(self.actors)} entries")
        self.league.restore(metadata.league, [*self.options.baselines, *self._selves])
        for k, (actor, saved) in enumerate(zip(self.actors, state.actors, strict=True)):
            try:
                actor.restore(under(f"actor.{k}.", own), saved.opponents, self._selves, saved.generator)
            except ValueError as error:
                raise ValueError(f"process.{rank}.actor.{k}: {error}") from error
        for name, tensor in self.network.state_dict().items():
            tensor.copy_(torch.from_numpy(read_array(arrays, f"network.{name}", tuple(tensor.shape), np.float32).copy()))
        parts(self.network.tensors(), "network")
        most = 1.02 * STEEPEST  # of a moment, with some room for rounding
        kept = [("adam.mean", learner.mean, -most, most), ("adam.square", learner.square, 0, most**2)]
        for name, array, low, high in kept:
            array.copy_(torch.from_numpy(read_array(arrays, name, tuple(array.shape), np.float32, low, high).copy()))
        learner.steps = metadata.steps
        self._rng = generator_from(state.generator)
        if self.group.first:
            self.ratings.restore(arrays, metadata.ratings)
        self.decisions, self.update, self._seconds = metadata.decisions, metadata.updates, metadata.seconds
        self._seat()


# ------------------------------------------------------------------------------------------------------------- the whole run


def train(options: Options, console: Console, updates: int | None = None) -> Trainer:
    """Trains, from the start or where a run left off.

    Args:
        options: all of them; of a run that is resumed, its own (see `saved_run.reopen`).
        console: for the progress bar and the ratings.
        updates: as for `Trainer`.

    Raises:
        ValueError: an option is wrong, there is a run in the folder already, or the one to be resumed is damaged, or was trained
            against agents from elsewhere that `options.baselines` does not name.
        ProcessLost: another process has gone; what was saved is whole.
    """
    group = Group()
    try:
        group.agree()
        job = group.share(open_job(options, group.size) if group.first else None)
        shown = console if group.first else Console(quiet=True)
        with Progress(shown, "training", "decisions") as bar, closing(Threads(job.options.threads)) as threads:
            trainer = open_trainer(job, bar, group, threads, updates)
            trainer.train()
        return trainer
    except ProcessLost as error:
        raise ProcessLost(f"{error}; the run is as it was last saved: --resume {options.resume or options.run}") from error
    finally:
        group.close()


def open_trainer(job: Job, bar: Progress, group: Group, threads: Threads, updates: int | None = None) -> Trainer:
    """The trainer of a job; arguments as of `Trainer`, errors as of `train`."""
    with nullcontext() if job.state is None else of_a_run(job.options.run):
        return Trainer(job, bar, group, threads, updates)
