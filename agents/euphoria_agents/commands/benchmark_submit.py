"""`euphoria benchmark submit`: makes a result an entry of the leaderboard, and says what to send."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from euphoria_agents.benchmark.entries import (
    GENERATOR,
    RESULTS,
    check_entries,
    entry_path,
    find_clone,
    make_entry,
    missing_seeds,
    read_entries,
)
from euphoria_agents.benchmark.judging import effort_in
from euphoria_agents.benchmark.results import read_result
from euphoria_agents.commands.shared_arguments import SubmitOptions
from euphoria_agents.files import MOST_READ, atomic_write, check_writable, file_hash, write_whole
from euphoria_agents.registry import ships
from euphoria_env.json_reader import Json

PAGES = ("leaderboard.md", "leaderboard.svg")
COPIES = "agent"  # the folder of the agent's files, in that of the result


def run(options: SubmitOptions) -> None:
    """Writes the entry and the leaderboard, and prints what to do next."""
    entry = make_entry(options.folder, _given(options, "code", "paper"), _given(options, "decisions", "seed", "command", "hours"))
    clone = find_clone()
    if clone is None:
        again = f"euphoria benchmark submit {shlex.quote(str(options.folder.absolute()))}"
        raise ValueError(f"entries are written in a clone of the repository: fork and clone it, and call there `{again}`")
    path = entry_path(clone, entry)
    if path.exists():  # what was said of it before still holds
        before = read_result(path)
        entry = {**before, **entry, "entry": (before.get("entry") or {}) | entry["entry"]}
    check_entries(clone, {path: entry})
    copies = {} if ships(entry["agent"]["spec"]) else _copies(options.folder, entry["agent"]["files"])
    write_whole(path, json.dumps(entry, indent=1) + "\n")
    for name, source in copies.items():
        with atomic_write(options.folder / COPIES / name) as copy:
            shutil.copyfile(source, copy)
    _draw_leaderboard(clone, path)
    files = [path, *(clone / "docs" / page for page in PAGES)]
    for line in _told(entry, options.folder / COPIES if copies else None, path, files):
        print(line)
    for missing in missing_seeds(read_entries(clone / RESULTS).values()):
        print(f"\nNot complete: {missing}; submit the others too")


def _copies(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """Returns the paths of the files that an agent read, by the names of their copies; a `ValueError` names a changed one."""
    paths = {digest: path for path, digest in (effort_in(folder).files or {}).items()}
    found = {name: paths[digest] for name, digest in files.items() if digest in paths}
    for name, path in found.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"{folder}: {name!r} is no name of a file of the agent")
        if file_hash(path) != files[name]:
            raise ValueError(f"{path} is not as it was when the agent was judged: judge the agent again")
        copy = folder / COPIES / name
        check_writable(copy)
        if copy.exists() and file_hash(str(copy)) != files[name]:
            raise ValueError(f"{copy} is not a copy of {path}, and stays as it is: move it elsewhere")
        if not Path(path).is_relative_to(Path.cwd()) and (size := os.path.getsize(path)) > MOST_READ:
            raise ValueError(
                f"{path} cannot be copied: {size >> 20} MiB, and outside the working folder at most {MOST_READ >> 20}; judge the "
                "agent with the file in the working folder"
            )
    return found


def _given(options: SubmitOptions, *names: str) -> Json:
    """Returns the options of these names that were given."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def _draw_leaderboard(clone: Path, path: Path) -> None:
    """Draws the leaderboard of a clone by the code in it; raises a `RuntimeError` that says why if that fails."""
    code = [str((clone / folder).absolute()) for folder in ("", "agents")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(code)}
    program = [sys.executable, str(clone / GENERATOR), "--only", *PAGES]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason is known"])[-1]
        raise RuntimeError(f"{path} is written, but not the leaderboard: {why}; `python {program[1]}` draws it")


def _told(entry: Json, copies: Path | None, path: Path, files: Iterable[Path]) -> list[str]:
    """Returns what is printed: what was done, and what to send."""
    agent, code = entry["agent"], entry["entry"].get("code")
    lines = [
        f"{path} passes the checks of CI, and the leaderboard has it: {agent['name']} wins {entry['all']['win_rate']:.1%}",
        "",
        "To join, commit these files and open a pull request, with a sentence about the idea behind the agent:",
        "",
        f"  git add {shlex.join(map(str, files))}",
        f"  git commit -m {shlex.quote(entry['task'] + ': ' + agent['name'])}",
    ]
    return lines if ships(agent["spec"]) else [*lines, "", *_files_to_publish(agent, code, copies)]


def _files_to_publish(agent: dict[str, Any], code: str | None, copies: Path | None) -> list[str]:
    """Returns what is printed of an agent whose files do not come with the project."""
    where = f"must be at {code}" if code else "are not sent along: publish them, and call this again with --code ADDRESS"
    hashes = (f"  {name}, SHA-256 {digest}..." for name, digest in agent["files"].items())
    lines = [f"The files of {agent['spec']!r}, which others need to check it, {where}", *hashes]
    lines += [f"Copies of them are in {copies}"] if copies else []
    unseen = agent.get("unseen")
    return [*lines, f"Say in the pull request that its moves may also depend on {', '.join(unseen)}"] if unseen else lines
