"""The baselines of the leaderboard: trains well-known algorithms by the rules of the benchmark tasks, judges them and fixed
players, and writes the results, with a learning curve beside that of each training. Finished work is not repeated: an interrupt
costs no more than the training under way.

A baseline whose library has an environment of its own is trained, and judged, by the Python there (docs/benchmark.md)."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from euphoria_agents.benchmark.entries import make_entry
from euphoria_agents.benchmark.tasks import BUDGETS, CURRENT, FIXED, NETWORKS, TASKS, Task, task_of
from euphoria_agents.child_process import child_environment
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.files import write_whole
from euphoria_agents.machine import PACKAGES, machine, versions
from euphoria_agents.matches.work import check_counts
from euphoria_agents.own_files import READ

BEGUN = "begun"  # in the folder of each training
ROOT = Path(__file__).resolve().parent.parent
SEEDS = tuple(range(5))
CURVES = {rf"{task}/[\w-]+-\d+-\d+\.csv": rb"update,decisions|decisions|[\w/,]*time/fps" for task in TASKS}
SEARCHERS = ("mcts:100:greedy", *(f"mcts:100:{network}" for network in NETWORKS.values()))


@dataclasses.dataclass
class Options:
    """Trains and judges the baselines of the leaderboard."""

    tasks: list[str] = option([task.name for task in CURRENT], "by which they are judged")
    algorithms: list[str] = option([], "which; all whose library is here, if none is named")
    seeds: list[int] = option(list(SEEDS), "of the training runs")
    decisions: int = option(BUDGETS[0], "of each learner")
    out: Path = option(Path("runs/baselines"), "folder of the trainings, from the root of the repository", files=READ)
    results: Path = option(Path("benchmarks/results"), "folder of the results, likewise", files=CURVES)
    processes: int = option(os.cpu_count() or 1, "that judge; each training takes one core")


class Baseline(NamedTuple):
    """An algorithm of the leaderboard.

    Attributes:
        program: the arguments of Python that start its training.
        file: the file of the trained player, in the folder of the training.
        agent: the spec of the player up to its file.
        options: further options of the training.
        tasks: the tasks that it is trained for.
        one_number: whether it knows one number of players only; of several it gets the middle one.
        library: a module that it needs.
    """

    program: tuple[str, ...]
    file: str
    agent: str
    options: tuple[str, ...] = ()
    tasks: tuple[str, ...] = tuple(name for name, task in TASKS.items() if not task.judge)
    one_number: bool = False
    library: str = "sb3_contrib"

    @property
    def curve(self) -> Path:
        """The file of its learning curve, in the folder of the training."""
        file = Path(self.file)
        return file.with_name("progress.csv") if self.program == TRAIN else file.with_suffix(".csv")

    @property
    def is_installed(self) -> bool:
        """Whether this Python can train it."""
        return importlib.util.find_spec(self.library) is not None

    def arguments(self, task: Task, decisions: int, seed: int, folder: Path) -> list[str]:
        """The arguments of Python that train it by the rules of a task."""
        players = task.players[len(task.players) // 2 :][:1] if self.one_number else task.players
        if self.program == TRAIN:
            out, rules = folder / self.file.partition("/")[0], [*rules_as_options(task)]
        else:
            out, rules = folder / self.file, ["--rules", json.dumps(dict(task.training))]
        common = ["--decisions", str(decisions), "--seed", str(seed), "--players", *map(str, players)]
        return [*self.program, "--run" if self.program == TRAIN else "--out", str(out), *common, *self.options, *rules]


def rules_as_options(task: Task) -> Iterator[str]:
    """The rules of a training as options of `euphoria train`."""
    for name, value in task.training.items():
        values = value if isinstance(value, tuple) else () if value is True else (value,)
        yield from (f"--{name.replace('_', '-')}", *map(str, values))


TRAIN = ("-m", "euphoria_agents", "train")
OURS = (  # for all budgets alike; the league has an opponent that is not soon beaten
    "--threads", "1", "--rating-games", "0", "--win-probs-games", "0", "--learning-rate", "0.0012", "--envs", "512",
    "--save-every", "10", "--baselines", "weights", "greedy:3", "--self-play", "0.8",
)  # fmt: skip
SHORT = ("duel-v2", "short-v2")
BASELINES = {
    "euphoria-train": Baseline(TRAIN, "run/ppo.safetensors", "ppo", OURS),
    "single-file": Baseline(("scripts/train_single_file.py",), "player.safetensors", "ppo", one_number=True),
    "maskable-ppo": Baseline(("scripts/train_maskable_ppo.py",), "player.safetensors", "train_maskable_ppo:Player"),
    "rllib-ppo": Baseline(
        ("scripts/train_rllib.py",), "player.safetensors", "train_rllib:Player", ("--rating-games", "0"), SHORT, True, "ray"
    ),
}  # fmt: skip


def main() -> None:
    os.chdir(ROOT)  # so that the commands of training, which stand in the results, are those of any checkout
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    check_counts(decisions=options.decisions, processes=options.processes)
    known = [*dict.fromkeys(chain.from_iterable(map(untrained, TASKS.values()))), *BASELINES]
    if unknown := [name for name in options.algorithms if name not in known]:
        raise ValueError(f"there is no baseline {unknown[0]!r}; there are {', '.join(known)}")
    if missing := [name for name in options.algorithms if name in BASELINES and not BASELINES[name].is_installed]:
        raise ValueError(f"{missing[0]} needs {BASELINES[missing[0]].library}, which is not installed (docs/benchmark.md)")
    for task in [task_of(name) for name in options.tasks]:
        installed = [name for name, baseline in BASELINES.items() if baseline.is_installed]
        for name in options.algorithms or [*untrained(task), *installed]:
            if name not in BASELINES:
                judge_one(options, console, task, name, name, options.out / task.name / name.replace(":", "-"))
            elif task.name in BASELINES[name].tasks:
                for seed in options.seeds:
                    train_and_judge(options, console, task, name, seed)


def untrained(task: Task) -> list[str]:
    """The fixed players and searchers that are judged by a task, its opponents among them."""
    return [*dict.fromkeys([*FIXED, *NETWORKS.values(), *task.opponents, *SEARCHERS])]


def train_and_judge(options: Options, console: Console, task: Task, name: str, seed: int) -> None:
    """A training with one seed, its curve and its result, unless the result is there."""
    baseline = BASELINES[name]
    folder = options.out / task.name / f"{name}-{options.decisions}-{seed}"
    if result_file(options, task, folder).exists():
        return
    arguments, done = baseline.arguments(task, options.decisions, seed, folder), folder / "training.json"
    if not done.exists():
        console.print(f"{task.name}: training {name}, seed {seed}")
        if folder.exists() and not (folder / BEGUN).exists():
            raise ValueError(f"{folder} is no training of this script: choose another --out")
        shutil.rmtree(folder, ignore_errors=True)  # what an interrupted one left
        write_whole(folder / BEGUN, "")
        began, used_before = time.perf_counter(), processor_seconds()
        run(arguments)
        told = {"command": shlex.join(["python", *arguments]), "seconds": round(time.perf_counter() - began, 1)}
        told["hours"] = round((processor_seconds() - used_before) / 3600, 4)
        used = versions([*PACKAGES, baseline.library.replace("_", "-")])
        about = {"decisions": options.decisions, "seed": seed, **told, "machine": machine(), "versions": used}
        write_whole(done, json.dumps(about, indent=1))
    training = json.loads(done.read_text())
    write_whole(options.results / task.name / f"{folder.name}.csv", (folder / baseline.curve).read_bytes())
    judge_one(options, console, task, name, f"{baseline.agent}:{folder / baseline.file}", folder, training)


def processor_seconds() -> float:
    """The processor time of all programs that this one has run."""
    times = os.times()
    return times.children_user + times.children_system


def result_file(options: Options, task: Task, folder: Path) -> Path:
    """Where the leaderboard looks for the result of a folder."""
    return options.results / task.name / f"{folder.name}.json"


def judge_one(
    options: Options, console: Console, task: Task, name: str, spec: str, folder: Path, training: dict[str, Any] | None = None
) -> None:
    """Judges a player, and puts its result where the leaderboard looks for it, unless one is there."""
    at = result_file(options, task, folder)
    if at.exists():
        return
    console.print(f"{task.name}: judging {folder.name}")
    judged = folder / "judged"
    run(["-m", "euphoria_agents", "benchmark", task.name, "--agent", spec, "--name", name, "--out", str(judged),
         "--processes", str(options.processes)])  # fmt: skip
    write_whole(at, json.dumps(make_entry(judged, {}, training or {}), indent=1) + "\n")


def run(arguments: list[str]) -> None:
    """Runs Python, where it imports what this process does.

    Raises:
        RuntimeError: it failed, or was interrupted; it has said why.
    """
    ended = subprocess.run([sys.executable, *arguments], env={**os.environ, **child_environment()}, check=False)
    if ended.returncode:
        raise RuntimeError(f"{shlex.join(arguments)} ended with status {ended.returncode}")


if __name__ == "__main__":
    command(main)
