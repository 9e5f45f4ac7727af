"""Uses the environments through real clients, each in an environment of its own under build/clients, and prints the results.

    python scripts/test_clients.py [name ...]

Installs from the package index (and PIP_FIND_LINKS etc., as pip does); an existing environment is used again. The use of
each client is in scripts/clients.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "clients"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TORCH = next(need for need in PROJECT["optional-dependencies"]["train"] if need.startswith("torch=="))
BOUNDS = [re.sub(r">=([\d.]+).*", r"==\1", need) for need in PROJECT["dependencies"]]

# Name: what to install, beside the package itself. PyTorch is the project's own, whatever a client would rather have.
CLIENTS: dict[str, list[str]] = {
    "bounds": BOUNDS,
    "gymnasium": ["gymnasium", "moviepy"],
    "pettingzoo": ["pettingzoo", "moviepy"],
    "sb3": ["sb3-contrib", "moviepy"],
    "torchrl": ["torchrl"],
    "tianshou": ["tianshou"],
    "agilerl": ["agilerl", "peft"],  # which it imports and does not ask for
    "supersuit": ["supersuit"],
}
# The steps for each, and the limit of each in seconds: the first use compiles the engine.
INSTALL, USE = ("installing", 1200), ("using it", 600)
# PyTorch on several threads waits for them at every small operation: a hundred times as long where other jobs run.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
FAILED = "| failed: "  # how the result of a row begins


class Failed(Exception):
    """A step did not work out; says why."""


def run(step: tuple[str, int], *command: str | Path) -> str:
    """Runs a command and returns what it prints, also where it ends with an error that its rows report.

    Raises:
        Failed: an error, with its last line, or it takes too long.
    """
    what, seconds = step
    parts = [str(part) for part in command]
    try:
        done = subprocess.run(parts, capture_output=True, text=True, cwd=ROOT, timeout=seconds, env={**os.environ, **ONE_THREAD})
    except subprocess.TimeoutExpired:
        raise Failed(f"{what} took longer than {seconds} s") from None
    if done.returncode and FAILED not in done.stdout:
        raise Failed(f"{what}: " + (done.stderr.strip().splitlines() or ["?"])[-1][:200].replace("|", "/"))
    return done.stdout


def rows(text: str) -> list[str]:
    """The rows of a table among what a client printed."""
    return [line for line in text.splitlines() if line.startswith("| ")]


def check(name: str) -> list[str]:
    """The rows of a client: its versions, what was used, steps a second or what went wrong."""
    python = FOLDER / name / "bin" / "python"
    constraints = FOLDER / "constraints.txt"
    constraints.write_text(TORCH + "\n", encoding="utf-8")
    pip = ("-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", constraints)
    try:
        if not python.exists():
            run(INSTALL, sys.executable, "-m", "venv", FOLDER / name)
        run(INSTALL, python, *pip, *CLIENTS[name], "-e", f"{ROOT}[render]")
        return rows(run(USE, python, "-m", "scripts.clients", name))
    except Failed as error:
        return [f"| {name} |  {FAILED}{error} |"]


def main() -> int:
    names = sys.argv[1:] or list(CLIENTS)
    unknown = [name for name in names if name not in CLIENTS]
    if unknown:
        print(f"no such client: {', '.join(unknown)}; there are {', '.join(CLIENTS)}", file=sys.stderr)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("| client | what was used | result |\n|---|---|---|", flush=True)
    failed = False
    for name in names:
        found = check(name)
        print(*found, sep="\n", flush=True)
        failed |= any(FAILED in row for row in found)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
