"""Measures other environments beside ours, in the same run: uniformly random legal play, decisions a second.

    python benchmarks/peers.py --json build/peers.json

Each peer is installed from PyPI into an environment of its own below build/peers/, at the first run; one that cannot be is left
out, and said so. Games differ in what a decision costs: the figures show what to expect, not who is better.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import euphoria_agents
from euphoria_agents.machine import machine, versions
from euphoria_agents.speed import layers
from euphoria_agents.speed.measure import CLOCKS, choose_clock, measure_rates, readable, write_report

HERE = Path(__file__).resolve().parent
OURS = Path(euphoria_agents.__file__).resolve().parent.parent  # where peers find the clock: it needs no library
FOLDER = HERE.parent / "build" / "peers"
INSTALL_SECONDS, RUN_SECONDS = 1800, 1800  # after which we give up
PACKAGES = {  # what is tried in turn
    "pettingzoo": [["pettingzoo[classic]"], ["pettingzoo", "chess", "pygame", "rlcard"]],
    "open_spiel": [["open_spiel"]],
    "pgx": [["pgx"]],
    "rlcard": [["rlcard"]],
    "catanatron": [["catanatron"]],
    "pufferlib": [["--only-binary", "pufferlib", "pufferlib"]],
}


@dataclasses.dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        peer: whose; "euphoria-env" for ours.
        version: of it.
        game: which of its games.
        mode: how it is played.
        values: decisions a second, one for each repeat.
    """

    peer: str
    version: str
    game: str
    mode: str
    values: list[float]


class Failed(Exception):
    """A peer cannot be measured here."""


def _call(command: list[str], seconds: float) -> str:
    """The output of a command.

    Raises:
        Failed: it fails, or takes too long; says why.
    """
    try:
        environment = {**os.environ, "PYTHONPATH": str(OURS)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(str(error)) from error
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise Failed(lines[-1] if lines else f"exit code {done.returncode}")
    return done.stdout


def install(peer: str, folder: Path) -> Path:
    """The Python of the peer's environment, which is made if there is none.

    Raises:
        Failed: nothing can be installed.
    """
    home = folder / peer
    python, stamp = home / "bin" / "python", home / ".installed"
    if stamp.exists():
        return python
    _call([sys.executable, "-m", "venv", "--clear", str(home)], INSTALL_SECONDS)
    failure = Failed("nothing to install")
    for packages in PACKAGES[peer]:
        try:
            _call([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages], INSTALL_SECONDS)
        except Failed as error:
            failure = error
        else:
            stamp.touch()
            return python
    raise failure


def measure_peer(peer: str, found: argparse.Namespace) -> Iterator[Figure]:
    """The figures of a peer.

    Raises:
        Failed: it cannot be installed, or does not run.
    """
    python = install(peer, found.folder)
    worker = [str(python), str(HERE / "peer_worker.py"), peer, str(found.seconds), str(found.repeats), found.clock]
    for line in _call(worker, RUN_SECONDS).splitlines():
        if line.startswith("{"):
            yield Figure(**json.loads(line))


def measure_ours(found: argparse.Namespace) -> Iterator[Figure]:
    """Our own figures, of the modes that the peers have."""
    version = versions(["euphoria-env"]).get("euphoria-env", "?")
    known = {layer.name: layer.work for layer in layers.LAYERS}
    for mode, layer, n in (
        ("AEC raw", "AEC raw", 0),
        ("AEC wrapped", "AEC wrapped", 0),
        ("Game.legal() + play(text)", "Game.legal() + play(text)", 0),
        ("batch, moves chosen too, 1024 games", "batch, moves chosen too", 1024),
        ("inside compiled code", "engine", 0),
    ):
        values = measure_rates(known[layer](found.players, n, 0).__next__, found.seconds, found.repeats)
        yield Figure("euphoria-env", version, f"Euphoria, {found.players} players", mode, values)


def table(figures: list[Figure]) -> Table:
    """All figures, ours last."""
    made = Table("peer", "version", "game", "mode", "decisions/s", title="medians", title_justify="left")
    made.columns[-1].justify = "right"
    before = ""
    for figure in figures:
        if before not in ("", figure.peer):
            made.add_section()
        first = (figure.peer, figure.version) if figure.peer != before else ("", "")
        made.add_row(*first, figure.game, figure.mode, readable(statistics.median(figure.values)))
        before = figure.peer
    return made


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="*", choices=PACKAGES, default=list(PACKAGES), metavar="NAME", help=", ".join(PACKAGES))
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the environments are made; default %(default)s")
    parser.add_argument("--players", type=int, default=4, help="of our own game; default %(default)s")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each repeat; default %(default)s")
    parser.add_argument("--repeats", type=int, default=5, help="default %(default)s")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: processor time instead, of all threads, for busy machines"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures, versions and the machine as JSON")
    return parser.parse_args(arguments)


def main() -> None:
    """Installs, measures, prints and writes."""
    found, console = read_arguments(), Console(emoji=False, markup=False)
    choose_clock(found.clock)
    figures: list[Figure] = []
    left_out: dict[str, str] = {}
    for peer in found.peers:
        with console.status(f"{peer}: installing and measuring ..."):
            try:
                figures.extend(measure_peer(peer, found))
            except Failed as error:
                left_out[peer] = str(error)
                console.print(f"{peer} left out: {error}", style="yellow")
    with console.status("euphoria-env: measuring ..."):
        figures.extend(measure_ours(found))
    if found.json:
        rows: list[dict[str, Any]] = [dataclasses.asdict(figure) for figure in figures]
        write_report(
            found.json,
            {"machine": machine(), "versions": versions(), "clock": found.clock, "left_out": left_out, "results": rows},
        )
        console.print(f"written: {found.json}")
    console.print(table(figures))


if __name__ == "__main__":
    main()
