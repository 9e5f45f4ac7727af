"""Uses the environments through other libraries, each in an environment of its own under build/clients, and prints a table.

    python scripts/test_clients.py [--keep] [name ...]

Installs from the package index (and PIP_FIND_LINKS etc., as pip does). Runs the snippet of docs/clients.md for each client
(scripts/snippets), which must learn to beat random play, and the tests that need it. Then removes the environment, unless it is
to be kept; one that was kept is used again.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "clients"
SNIPPETS = ROOT / "scripts" / "snippets"
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
TORCH, *PYTEST = [next(line for line in LOCK if line.startswith(f"{name}==")) for name in ("torch", "pytest", "pytest-timeout")]

# Name: what to install, beside the package itself. PyTorch is the project's own, whatever a client would rather have.
CLIENTS: dict[str, list[str]] = {
    "gymnasium": ["gymnasium==1.4.0", "pettingzoo==1.27.0", "moviepy==2.2.1"],
    "sb3": ["stable-baselines3==2.9.2", "sb3-contrib==2.9.2", "moviepy==2.2.1"],
    "torchrl": ["torchrl==0.14.1"],
    "rllib": ["ray[rllib]==2.60.0", TORCH],
    "jax": ["jax==0.10.2", "optax==0.2.8"],
    "openspiel": ["open_spiel==2.0.2", TORCH],
}
TESTS = {"openspiel": "tests/test_open_spiel.py"}  # of what this package has for a client; elsewhere they are skipped
# The steps for each, and the limit of each in seconds: the first use compiles the engine.
INSTALL, USE, TEST = ("installing", 1200), ("using it", 600), ("testing", 1200)
# PyTorch on several threads waits for them at every small operation: a hundred times as long where other jobs run.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


class Failed(Exception):
    """A step did not work out; says why."""


def run(step: tuple[str, int], *command: str | Path, cwd: Path = ROOT) -> str:
    """Runs a command and returns what it prints.

    Raises:
        Failed: an error, with its last line, or it takes too long.
    """
    what, seconds = step
    parts, environment = [str(part) for part in command], {**os.environ, **ONE_THREAD}
    try:
        done = subprocess.run(parts, capture_output=True, text=True, cwd=cwd, timeout=seconds, env=environment)
    except subprocess.TimeoutExpired:
        raise Failed(f"{what} took longer than {seconds} s") from None
    if done.returncode:
        raise Failed(
            f"{what}: " + ((done.stderr.strip() or done.stdout.strip()).splitlines() or ["?"])[-1][:200].replace("|", "/")
        )
    return done.stdout


def install(name: str, python: Path) -> None:
    """Makes the environment of a client; one that was kept is completed."""
    constraints = FOLDER / "constraints.txt"
    constraints.write_text(TORCH + "\n", encoding="utf-8")
    pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", constraints)
    if not python.exists():
        run(INSTALL, sys.executable, "-m", "venv", FOLDER / name)
    tests = PYTEST if name in TESTS else ()
    run(INSTALL, *pip, *CLIENTS[name], *tests, "-e", f"{ROOT}[render]")


def versions(name: str) -> str:
    """The versions that are installed for a client."""
    return ", ".join(need.replace("==", " ") for need in CLIENTS[name])


def learned(name: str) -> str:
    """The row of a snippet: how often what it learned won against random play, and in how many seconds.

    Raises:
        Failed: the client cannot be installed, the snippet or a test fails, or what it learned is no better than random play.
    """
    python = FOLDER / name / "bin" / "python"
    install(name, python)
    began = time.perf_counter()
    printed = run(USE, python, SNIPPETS / f"with_{name}.py", cwd=FOLDER / name).strip().splitlines()
    seconds = time.perf_counter() - began
    score = re.fullmatch(r"([\d.]+)% \(([\d.]+)% to [\d.]+%\) of 100 games won", printed[-1] if printed else "")
    if not score or float(score[2]) <= 50:
        raise Failed(f"the snippet learned nothing: {score[0] if score else 'no score'}")
    if name in TESTS:
        run(TEST, python, "-m", "pytest", "-q", TESTS[name])
    return f"| {versions(name)} | `with_{name}.py` | {score[0]}, in {seconds:.0f} s |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(CLIENTS)}; without any all of them")
    parser.add_argument("--keep", action="store_true", help="keep the environments: some gigabytes")
    options = parser.parse_args()
    names = options.names or list(CLIENTS)
    if unknown := [name for name in names if name not in CLIENTS]:
        print(f"no such client: {', '.join(unknown)}; there are {', '.join(CLIENTS)}", file=sys.stderr)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("| client | snippet | result |\n|---|---|---|", flush=True)
    failed = False
    for name in names:
        try:
            print(learned(name), flush=True)
        except Failed as error:
            print(f"| {name} | | failed: {error} |", flush=True)
            failed = True
        if not options.keep:
            shutil.rmtree(FOLDER / name, ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
