"""The entries of the leaderboard: results, with a date and links, in `benchmarks/results` of a clone of the repository."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from euphoria_agents.benchmark.judging import RESULT, UNFINISHED, effort_in, fingerprint
from euphoria_agents.benchmark.results import read_result, validate_result
from euphoria_agents.benchmark.tasks import task_of
from euphoria_agents.network.checkpoint import CHECKPOINT_FORMAT, read_tensors
from euphoria_agents.registry import file_hashes, files_of, is_builtin, ships
from euphoria_env.json_reader import Json

RESULTS, GENERATOR = Path("benchmarks", "results"), Path("scripts", "generate_docs.py")  # in a clone
NOTHING_ADDED = {"entry": None, "training": None, "fresh": None}  # the keys of an entry that judging does not write


def read_entries(folder: Path, new: Mapping[Path, Json] | None = None) -> dict[Path, Json]:
    """Reads all results under a folder, and the new ones that are to be written there, and returns them by their paths.

    Raises a `ValueError` that names the file: of no task, of no result of its task, or with name, decisions and seed of another.
    """
    found: dict[Path, Json] = {}
    trainings: dict[tuple[Any, ...], Path] = {}
    new = new or {}
    for path in sorted({*folder.rglob("*.json"), *new}):
        result = found[path] = new[path] if path in new else read_result(path, task_of(path.parent.name))
        training = result.get("training") or {}
        key = result["task"], result["agent"]["name"], training.get("decisions"), training.get("seed")
        if (other := trainings.setdefault(key, path)) != path:
            raise ValueError(f"{path}: agent, decisions and seed are those of {other.name}; each training counts once")
    return found


def check_entries(clone: Path, new: Mapping[Path, Json] | None = None) -> None:
    """Checks the entries in a clone: CI does it for all, and `euphoria benchmark submit` for the new one.

    Args:
        clone: the root of the repository.
        new: entries that are to be written, by their paths; only their games and links are checked, those of others were before.

    Raises:
        ValueError: an error of `read_entries`; the games of a result are not those of this version; a path in it leads nowhere;
            or, if no new ones are given, trainings are missing.
    """
    entries = read_entries(clone / RESULTS, new)
    for path, result in (new or entries).items():
        judged = result["environment"]
        if (here := fingerprint(task_of(result["task"]))) != judged["fingerprint"]:
            raise ValueError(
                f"{path}: judged by version {judged['version']}, which played other games than this version (environment."
                f"fingerprint is {judged['fingerprint']}, not {here}): judge the agent again"
            )
        for key in ("code", "paper"):
            link = (result.get("entry") or {}).get(key) or ""
            if "://" not in link and not (clone / link).exists():
                raise ValueError(f"{path}: entry.{key} must be an address, or a path in the repository, not {link!r}")
    for told in [] if new else missing_seeds(entries.values()):
        raise ValueError(f"{clone / RESULTS}: {told}")


def missing_seeds(entries: Iterable[Json]) -> Iterator[str]:
    """Yields a text for each agent of which fewer trainings were judged than its task asks for."""
    trained = [(one["task"], one["agent"]["name"], one["training"]["decisions"]) for one in entries if one.get("training")]
    for (task, name, decisions), seeds in Counter(trained).items():
        if seeds < (needed := task_of(task).seeds):
            yield f"{task}: {name} has {seeds} of {needed} trainings with {decisions:,} decisions, each with a seed of its own"


def find_clone() -> Path | None:
    """Returns the root of the clone of the repository to which the working folder belongs; None if it belongs to none."""
    roots = (root for root in (Path.cwd(), *Path.cwd().parents) if (root / RESULTS).is_dir() and (root / GENERATOR).is_file())
    return next((Path(os.path.relpath(root)) for root in roots), None)


def make_entry(folder: Path, links: Mapping[str, str], training: Mapping[str, Any]) -> Json:
    """Makes an entry of a finished result.

    Args:
        links: the values of `code` and `paper` that are known.
        training: what is known of the training: `decisions`, `seed`, `command`, `hours`.

    Raises:
        ValueError: the folder has no result, or a damaged one; what is said of the training is wrong or missing.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder}: " + ("not a folder" if folder.exists() else "no such folder"))
    path = folder / RESULT
    if not path.exists():
        unfinished = (folder / UNFINISHED).exists()
        why = "the judging is not finished, and the same command continues it" if unfinished else "no agent was judged there"
        raise ValueError(f"{folder} has no {RESULT}: {why}")
    found = {key: value for key, value in read_result(path).items() if key != "fresh"}  # whoever submits does not judge that
    training = {**_training_in_file(found["agent"]), **training}
    if not training and is_builtin(found["agent"]["spec"]) and not ships(found["agent"]["spec"]):
        raise ValueError(f"{path}: {found['agent']['spec']!r} was trained: say how, by --decisions, --seed and --command")
    found["entry"] = {"date": date.fromtimestamp(path.stat().st_mtime).isoformat(), **links}
    if (milliseconds := effort_in(folder).milliseconds) is not None:
        found["entry"]["milliseconds"] = milliseconds
    found |= {"training": training} if training else {}
    validate_result(found)
    return found


def _training_in_file(agent: Mapping[str, Any]) -> Json:
    """Returns what the file of a player of `euphoria train` says of its training; nothing for other agents."""
    spec = agent["spec"]
    if not is_builtin(spec) or ships(spec) or file_hashes(spec) != agent["files"]:
        return {}
    options = read_tensors(next(iter(files_of(spec).values())), CHECKPOINT_FORMAT)[0].get("training")
    if not isinstance(options, dict) or "decisions_learnt" not in options:
        return {}
    about = {"decisions": options["decisions_learnt"], "seed": options.get("seed")}
    return {**about, "command": "euphoria train", "options": options}


def entry_path(clone: Path, entry: Json) -> Path:
    """Returns the path of an entry, after the agent's name and, if it was trained, decisions and seed.

    Raises:
        ValueError: the name has neither letters nor digits; or the file is the entry of another agent.
    """
    name, training = entry["agent"]["name"], entry.get("training", {})
    words = [name, *(str(training[key]) for key in ("decisions", "seed") if training)]
    file = re.sub(r"[^\w.@+-]+", "-", "-".join(words)).strip(".-")
    if not re.search(r"\w", name):
        raise ValueError(f"the name {name!r} has neither letters nor digits for a file: judge the agent with another --name")
    path = clone / RESULTS / entry["task"] / f"{file}.json"
    if path.exists() and read_result(path) | NOTHING_ADDED != entry | NOTHING_ADDED:
        raise ValueError(f"{path}: the name is taken, with other games: judge the agent with another --name")
    return path
