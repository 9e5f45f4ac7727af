"""A training run: the model with its games, the league, the ratings, and the folder that has them all."""

from __future__ import annotations

import dataclasses
import json
import re
import signal
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from rich.console import Console
from stable_baselines3.common.callbacks import BaseCallback

from euphoria_agents.agent import Agent
from euphoria_agents.files import write_whole
from euphoria_agents.network.checkpoint import parts, read_checkpoint, read_tensors, save_checkpoint, under, write_tensors
from euphoria_agents.players.ppo import PPO
from euphoria_agents.progress import Progress
from euphoria_agents.registry import load, load_untrusted
from euphoria_agents.training.config import Options, check, plain, read_options
from euphoria_agents.training.league import League
from euphoria_agents.training.model import make_envs, make_model
from euphoria_agents.training.ratings import Due, Ratings
from euphoria_agents.training.run_metadata import RunMetadata, WorkerState, check_sizes, read_metadata
from euphoria_agents.training.run_state import pack_network, pack_worker, unpack_network, unpack_worker
from euphoria_agents.training.workers import INTERRUPTED, Group, WorkerLost, is_launched, launch
from euphoria_env.json_reader import Reader, shown

RUN_FORMAT, STATE, PLAYER = "euphoria-run", "state.safetensors", "ppo.safetensors"
PAST_SELF = "[0-9]+"  # the names of past selves: the number of the update


class Job(NamedTuple):
    """What every worker of a run begins with; the first one has read it.

    Attributes:
        options: of the run.
        start: the network to begin with; None: an untrained one.
        state: metadata and arrays of a run to go on with; None: it is a new one.
        selves: the networks of its past selves by their names.
    """

    options: Options
    start: dict[str, np.ndarray] | None
    state: tuple[RunMetadata, dict[str, np.ndarray]] | None
    selves: dict[str, dict[str, np.ndarray]]


class Trained(NamedTuple):
    """What a run has come to.

    Attributes:
        run: its folder.
        decisions, update: how many there were.
        spent: see `Run`.
        interrupted: whether it was asked to stop.
    """

    run: Path
    decisions: int
    update: int
    spent: list[dict[str, float]]
    interrupted: bool


class Run(BaseCallback):
    """A training run as one of its workers sees it: the model with its games, the league, the ratings, and the folder.

    Args:
        job: what to begin with.
        bar: shows how far it is.
        group: the workers.
        updates: stop at so many updates, counted from the first one; None: at the end.

    Attributes:
        interrupted: whether it was asked to stop.
        spent: for each update since it went on, the seconds of this worker by what it did: "playing", "learning", "waiting" for
            the others, and "saving" with all else that is due between updates.
    """

    def __init__(self, job: Job, bar: Progress, group: Group, updates: int | None = None) -> None:
        super().__init__()
        self.options = options = job.options
        self._bar, self._group, self._updates = bar, group, updates
        bar.total = options.total
        baselines: dict[str, Agent] = {spec: load(spec) for spec in options.baselines}
        self.league = League(baselines, options.league, options.newest, options.older)
        self._agents = dict(baselines)  # all who play, also those who have left the league
        self._agents |= {name: PPO.of(tensors, self._self_file(name)) for name, tensors in job.selves.items()}
        self.ratings = Ratings(options)
        self._ended: list[tuple[int, list[int], list[str]]] = []  # games of this update, as the league counts them
        self._saved: list[tuple[dict[str, np.ndarray], WorkerState]] = []  # what `save` got from all workers
        self.spent: list[dict[str, float]] = []
        self._seconds, self._resumed = 0.0, False
        self.interrupted, self._stop = False, False  # stop at the end of this update; now
        self._envs = make_envs(options, list(baselines.values()), group.rank)
        self.learner = make_model(options, self._envs, group.rank)
        self.learner.average = group.average if group.size > 1 else None
        if job.start is not None:
            self.learner.policy.load(job.start, options.start)
        if job.state is not None:
            self._restore(*job.state)

    # ------------------------------------------------------------------------------------------------- between two updates

    def go(self) -> None:
        """Trains until the end, or until it is stopped."""
        self._start, self._first = time.monotonic() - self._seconds, self.decisions
        self._started = time.monotonic()
        self._lap = self._started, self._group.waited
        left = -(-self.options.total // self._group.size) - self.learner.num_timesteps  # of each worker
        if left <= 0:
            self._bar.console.print(
                f"the run has made its {self.decisions:,} decisions, and nothing is left to do: "
                f"--resume {self.options.run} --decisions N goes on until there are N"
            )
        try:
            with self._interruptible(), _told_once():
                if left > 0:
                    self.learner.learn(left, callback=self, reset_num_timesteps=not self._resumed)
        finally:
            self.ratings.close()

    def trained(self) -> Trained:
        """Returns what the run has come to."""
        return Trained(self.options.run, self.decisions, self.update, self.spent, self.interrupted)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Ctrl-C, or the signal that asks a process to end, stops the run after its update, on the word of the first worker."""
        self._handlers = {number: signal.signal(number, self._interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            self._leave_signals()

    def _leave_signals(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _interrupt(self, *_: Any) -> None:
        if self._group.first:
            self._bar.console.print("stopping after this update; a second interrupt stops at once, with what was saved last ...")
        self.interrupted = True
        self._leave_signals()

    @property
    def decisions(self) -> int:
        """Decisions of the learner so far, in all workers."""
        return int(self.learner.num_timesteps) * self._group.size

    @property
    def update(self) -> int:
        """Updates so far."""
        return int(self.learner.num_timesteps // (self.learner.n_steps * self._envs.num_envs))

    def _count(self, what: str) -> None:
        """Counts the time since the last call as spent so, but for the waiting in it."""
        (before, had_waited), self._lap = self._lap, (time.monotonic(), self._group.waited)
        if self.spent:
            waited, spent = self._group.waited - had_waited, self.spent[-1]
            spent["waiting"] = spent.get("waiting", 0.0) + waited
            spent[what] = self._lap[0] - before - waited

    def _on_rollout_start(self) -> None:
        self._count("learning")
        self._stop_or_go_on()
        self.spent.append({})
        self._count("saving")

    def _stop_or_go_on(self) -> None:
        """Stops, if it is time, and does what is due."""
        if self._resumed:  # what follows was done before the state was saved
            self._resumed = False
            return
        minutes, updates = self.options.minutes, self._updates
        late = minutes is not None and time.monotonic() - self._started > 60 * minutes
        self._stop = self._group.share(self.interrupted or late or (updates is not None and self.update >= updates))
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
            part.set_opponents(
                pool=[member.agent for member in self.league], chances=chances, same_opponent_prob=options.same_opponent_prob
            )
        if self._group.first and options.rating_games and (update % options.rate == 0 or self.decisions >= options.total):
            self.ratings.add(Due(update, self.decisions, self.seconds / 3600, self.learner.policy.tensors()))
        self._tell_ratings()
        if last or update % options.save == 0:
            self.save()
        if last and not self.interrupted and self.ratings.due:
            self._tell_ratings(wait=True)
            self._write()

    def _take_in_self(self) -> None:
        name, tensors = f"{self.update:06d}", self.learner.policy.tensors()
        if self._group.first:
            self.save_player(self._self_file(name))
        self._agents[name] = PPO.of(tensors)
        self.league.add(name, self._agents[name])

    def _self_file(self, name: str) -> Path:
        return self.options.run / "league" / f"{name}.safetensors"

    def _tell_ratings(self, wait: bool = False) -> None:
        """Says what ratings have been found, or waits for all of them."""
        for results, words in self.ratings.finished(wait):
            self._bar.console.print(words)
            for one in results:
                self.logger.record(f"rating/{one.against}_{one.players}", one.wins / one.games)
            self.logger.record("rating/openskill", results[-1].mu)

    # ------------------------------------------------------------------------------------------------------ in the middle of it

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        for i in np.flatnonzero(self.locals["dones"]).tolist():
            names = self._names(infos[i]["opponents"])
            self._ended.append((int(infos[i]["seat"]), infos[i]["ranking"].tolist(), names))
        return not self._stop

    def _names(self, agents: Sequence[Any]) -> list[str]:
        names = {id(agent): name for name, agent in self._agents.items()}
        return [names[id(agent)] for agent in agents]

    def _on_rollout_end(self) -> None:
        self._take_in_games()
        self._count("playing")
        self._report()

    def _take_in_games(self) -> None:
        """Counts the games of all workers that have ended in this update."""
        for games in self._group.gather(self._ended):
            for game in games:
                self.league.record_game(*game)
        self._ended = []

    def _report(self) -> None:
        """Says how it goes."""
        scores = {member.name: member.score for member in self.league if not member.past}
        for name, score in scores.items():
            self.logger.record(f"league/{name}", score)
        done = self.decisions
        speed = (done - self._first) / (time.monotonic() - self._started)
        against = ", ".join(f"{name} {score:.0%}" for name, score in scores.items())
        self._bar.show(done, f"{speed:,.0f} per second; running score in the league against {against}")

    # ----------------------------------------------------------------------------------------------------------------- files

    @property
    def seconds(self) -> float:
        """How long it took, earlier parts of the run included."""
        return time.monotonic() - self._start

    def save_player(self, path: Path) -> Path:
        """Writes the network as a checkpoint to play with."""
        training = plain(self.options) | {"decisions_learnt": self.decisions}
        return save_checkpoint(path, self.learner.policy.tensors(), training)

    def save(self) -> None:
        """Writes everything; whatever happens while it does, the files are those of before or of now. All workers call it."""
        playing = {id(agent) for part in self._envs.parts for agent in part.opponents}
        members = {member.name for member in self.league}
        self._agents = {name: a for name, a in self._agents.items() if name in members or id(a) in playing}
        self._saved = self._group.gather(self._own_state())
        if self._group.first:
            self._write()

    def _own_state(self) -> tuple[dict[str, np.ndarray], WorkerState]:
        """Arrays and metadata of this worker alone."""
        arrays, generators = pack_worker(self.learner), []
        for k, part in enumerate(self._envs.parts):
            more, generator = part.state()
            arrays |= {f"games.{k}.{name}": array for name, array in more.items()}
            generators.append(generator)
        opponents = [self._names(part.opponents) for part in self._envs.parts]
        return arrays, WorkerState(generators, opponents)

    def _write(self) -> None:
        """Writes the player, the ratings, and the state with what `save` has got from all workers."""
        options, model = self.options, self.learner
        self.save_player(options.run / PLAYER)
        rated, ratings = self.ratings.state()
        arrays = pack_network(model) | rated
        for rank, (own, _) in enumerate(self._saved):
            arrays |= {f"worker.{rank}.{name}": array for name, array in own.items()}
        metadata = RunMetadata(
            self.decisions, model._n_updates, self.seconds, [own for _, own in self._saved], self.league.state(), ratings
        )
        plainly = msgspec.to_builtins(metadata)
        write_whole(options.run / "ratings.json", json.dumps(plainly["ratings"]["results"], indent=1))
        write_tensors(options.run / STATE, RUN_FORMAT, arrays, {"options": plain(options), **plainly})

    def _restore(self, metadata: RunMetadata, arrays: dict[str, np.ndarray]) -> None:
        """Goes on where `save` was called.

        Raises:
            ValueError: what is there is not a state of this run; names what is wrong.
        """
        model, games, group = self.learner, self._envs.parts, self._group
        if metadata.decisions * model.n_epochs != metadata.updates * model.n_steps * self._envs.num_envs * group.size:
            Reader.fail("decisions", f"{metadata.decisions} are not those of {metadata.updates} updates")
        if len(metadata.workers) != group.size:
            Reader.fail("workers", f"must have {group.size} entries")
        mine, own = metadata.workers[group.rank], under(f"worker.{group.rank}.", arrays)
        if len(mine.opponents) != len(games):
            Reader.fail(f"workers[{group.rank}].opponents", f"must have {len(games)} entries")
        self.league.restore(metadata.league, self._agents)
        seen = []
        for k, part in enumerate(games):
            playing = [self._agents[name] for name in mine.opponents[k]]
            try:
                seen.append(part.restore(under(f"games.{k}.", own), mine.generators[k], playing))
            except ValueError as error:
                raise ValueError(f"worker.{group.rank}.games.{k}: {error}") from error
        unpack_network(model, arrays)
        unpack_worker(model, own)
        model.num_timesteps, model._n_updates = metadata.decisions // group.size, metadata.updates
        model._last_obs = np.concatenate(seen)
        if group.first:
            self.ratings.restore(arrays, metadata.ratings)
        self._seconds, self._resumed = metadata.seconds, True


@contextmanager
def _told_once() -> Iterator[None]:
    """Leaves it to the main thread to tell of a full disk: TensorBoard's own fails first, and tells of it at length."""
    hook = threading.excepthook
    threading.excepthook = lambda failed: None if isinstance(failed.exc_value, OSError) else hook(failed)
    try:
        yield
    finally:
        threading.excepthook = hook


# ------------------------------------------------------------------------------------------------------------- the whole run


def train(options: Options, console: Console, updates: int | None = None) -> Trained:
    """Trains, from the start or where a run left off, with all its workers.

    Args:
        options: all of them; of a run that is resumed, its own (see `reopen`).
        console: for the progress bar and the ratings.
        updates: as for `Run`.

    Raises:
        ValueError: an option is wrong, there is a run in the folder already, or the one to be resumed is damaged, or was trained
            against agents from elsewhere that `options.baselines` does not name.
        KeyboardInterrupt: workers that were started here were interrupted; they have saved, and stopped.
        WorkerError, WorkerLost: a worker failed or has gone; what was saved is whole.
    """
    if is_launched():
        return train_here(options, Group.launched(), console, updates).trained()
    job = open_job(options)
    if job.options.workers == 1:
        return train_here(options, Group(), console, updates).trained()
    try:
        trained: Trained = launch(job.options.workers, _work, options, console.quiet, updates)
    except WorkerLost as error:
        raise WorkerLost(f"{error}; the run is as it was last saved: --resume {job.options.run}") from error
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"--resume {job.options.run} goes on where it was")
        raise
    return trained


def _work(options: Options, quiet: bool, updates: int | None) -> Trained:
    """Does the part of a worker that was started by `train`."""
    group = Group.launched()
    try:
        trained = train_here(options, group, Console(quiet=quiet or not group.first, emoji=False), updates).trained()
    finally:
        group.close()
    if trained.interrupted:
        raise SystemExit(INTERRUPTED)
    return trained


def train_here(options: Options, group: Group, console: Console, updates: int | None = None) -> Run:
    """Does the part of this worker; arguments and errors as of `train`."""
    group.agree()
    job = group.share(open_job(options, group.size) if group.first else None)
    with Progress(console if group.first else Console(quiet=True), "training", "decisions") as bar:
        run = open_run(job, bar, group, updates)
        run.go()
    return run


def open_job(options: Options, launched: int | None = None) -> Job:
    """Begins or reopens a run.

    Args:
        options: of the run.
        launched: how many workers there are; None: the run says how many are to be started.

    Raises:
        ValueError: see `train`; or the run has another number of workers than were launched.
    """
    job = begin(options, launched) if options.resume is None else reopen(options, options.resume)
    if launched not in (None, job.options.workers):
        raise ValueError(f"the run has {job.options.workers} workers, but {launched} were started")
    return job


def begin(options: Options, launched: int | None = None) -> Job:
    """Begins a run; arguments and errors as of `open_job`."""
    if (options.run / STATE).exists():
        raise ValueError(f"there is a run in {options.run} already: choose another --run, or --resume {options.run}")
    if launched is not None:
        options = dataclasses.replace(options, workers=launched)
    check(options)
    return Job(options, None if options.start is None else read_checkpoint(options.start)[1], None, {})


def reopen(given: Options, folder: Path) -> Job:
    """Reads the run in a folder as it was saved; it keeps its options, except for `decisions` and `minutes` if they are given.

    Raises:
        ValueError: see `train`; or the run has made more decisions than it is now to make.
    """
    header, arrays = read_tensors(folder / STATE, RUN_FORMAT)
    with _of_a_run(folder):
        options = read_options(header.get("options"), run=folder, resume=None, start=None, minutes=given.minutes)
    for spec in options.baselines:
        _look_at(spec, given.baselines)
    with _of_a_run(folder):
        check_sizes(options, arrays)
        metadata = read_metadata(header)
        selves = dict.fromkeys(_past_self(name) for name in metadata.names() if name not in options.baselines)
        networks = {name: _read_self(folder, name) for name in selves}
    if given.decisions is not None:
        if given.decisions < metadata.decisions:
            raise ValueError(
                f"decisions: the run in {folder} has made {metadata.decisions:,} already, more than {given.decisions:,}"
            )
        options = dataclasses.replace(options, decisions=given.decisions)
        check(options)
    return Job(options, None, (metadata, arrays), networks)


def open_run(job: Job, bar: Progress, group: Group, updates: int | None = None) -> Run:
    """The run of a job; arguments as of `Run`, errors as of `train`."""
    if job.state is None:
        return Run(job, bar, group, updates)
    with _of_a_run(job.options.run):
        return Run(job, bar, group, updates)


@contextmanager
def _of_a_run(folder: Path) -> Iterator[None]:
    """Names the file, if something is wrong with the run in it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{folder / STATE} is damaged, or of another kind: {error}") from error


def _past_self(name: str) -> str:
    """Returns the name of a past self; a path would lead elsewhere."""
    if not re.fullmatch(PAST_SELF, name):
        raise ValueError(f"no past self is called {shown(name)}")
    return name


def _read_self(folder: Path, name: str) -> dict[str, np.ndarray]:
    return read_checkpoint(folder / "league" / f"{name}.safetensors")[1]


def _look_at(spec: str, allowed: Collection[str]) -> None:
    """Refuses a baseline of a run that is resumed if it is neither built in nor was named again: it is from a file."""
    try:
        load_untrusted(spec, allowed)
    except ValueError as error:
        again = "" if spec in allowed else f" (here: --baselines {spec})"
        raise ValueError(f"{error}{again}") from error
