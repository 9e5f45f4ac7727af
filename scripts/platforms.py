"""Installs the package away from the repository, here or on other systems, and plays the golden games there.

`python scripts/platforms.py` prints a row for each system: its versions, the seconds of installing the sdist and of compiling the
engine if the wheel made there does not carry it, and whether all golden games are equal. A system that this machine cannot make
is skipped, with the reason. The systems are folders made by Debian's debootstrap, which needs root; --folder keeps them for the
next time. With --wheel it tries a wheel on this system, in an environment of its own, and fails too if anything is compiled.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# What compares the golden games, and needs nothing else of the repository.
COMPARISON = ("scripts/regenerate_golden.py", "tests/__init__.py", "tests/tools", "tests/golden")
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
EMULATED = Path("/proc/sys/fs/binfmt_misc/qemu-aarch64")  # there if this machine starts programs for arm64
HEADS = "system", "machine", "Python", "numpy", "numba", "installed in", "compiled in", "compiled", "golden games"
VERSIONS = "import platform, numba, numpy; print(platform.python_version(), numpy.__version__, numba.__version__)"
COMPILE = "from euphoria_env.engine import library; library.ready('euphoria_env'); print(library.times_compiled())"
PIP = ("-m", "pip", "install", "-q", "--no-input", "--disable-pip-version-check")


class System(NamedTuple):
    """A system to install on: a release of Debian for a kind of processor."""

    release: str
    machine: str = "amd64"
    environment: tuple[tuple[str, str], ...] = ()
    player: tuple[str, ...] = ()  # an emulator of this machine's folder /usr/bin, with its options, in which the games are played


AT_FIRST_USE = ("HATCH_BUILD_NO_HOOKS", "true")  # a wheel without compiled code: the engine alone is compiled, not the agents
OLD_PROCESSOR = AT_FIRST_USE, ("NUMBA_CPU_NAME", "nehalem")
SYSTEMS = {
    "python-3.11": System("bookworm"),
    "python-3.13": System("trixie"),
    "python-3.14": System("testing"),
    "no-avx2": System("bookworm", environment=OLD_PROCESSOR, player=("qemu-x86_64-static", "-cpu", "Nehalem")),
    "arm64": System("bookworm", "arm64", environment=(AT_FIRST_USE,)),  # emulated, so that compiling takes long
}


def missing(system: System) -> str | None:
    """Returns what this machine lacks to make a system; None if it lacks nothing."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "needs root, to change the root folder"
    if platform.machine() != "x86_64":
        return "needs an x86-64 machine"
    for program in ("debootstrap", *system.player[:1]):
        if shutil.which(program) is None:
            return f"needs {program}: apt-get install debootstrap qemu-user-static"
    if system.machine == "arm64" and not EMULATED.exists():
        return "needs the kernel to start programs for arm64: apt-get install qemu-user-static binfmt-support"
    return None


class Place:
    """An empty folder in which commands run: on this system, or in the folder of another.

    Args:
        folder: the folder.
        root: the folder of the other system.
        system: the other system.
    """

    def __init__(self, folder: Path, root: Path | None = None, system: System | None = None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in COMPARISON:
            source, target = ROOT / name, folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        self.folder, self.prefix = folder, list[str]()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))}
        self.player: tuple[str, ...] = ()
        if root is not None and system is not None:
            given = {name: value for name, value in os.environ.items() if name.startswith("PIP_")} | dict(system.environment)
            self.environment = {"PATH": "/usr/sbin:/usr/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", **given}
            self.prefix = ["chroot", str(root), "/usr/bin/env", "-C", f"/{folder.relative_to(root)}"]
            self.player = system.player

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a command; what it says on stderr is shown."""
        inside = [*self.prefix, *command]
        return subprocess.run(inside, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True, check=check)

    def try_package(self, python: str, package: Path) -> tuple[str, ...]:
        """Installs a wheel or sdist in an environment of its own and plays; returns the cells of the row after the machine."""
        shutil.copy(package, self.folder)
        self.run(python, "-m", "venv", "environment")
        python = str(Path("" if self.prefix else self.folder, "environment", "Scripts" if os.name == "nt" else "bin", "python"))
        times = [time.monotonic()]
        self.run(python, *PIP, package.name)
        times.append(time.monotonic())
        compiled = self.run(python, "-c", COMPILE).stdout.split()
        times.append(time.monotonic())
        games = self.run(*self.player, python, "scripts/regenerate_golden.py", "--check", check=False)
        versions = self.run(python, "-c", VERSIONS).stdout.split()
        seconds = (f"{after - before:.0f} s" for before, after in zip(times, times[1:], strict=False))
        return *versions, *seconds, *compiled, "equal" if games.returncode == 0 else "DIFFERENT"


def place_on(system: System, folder: Path) -> Place:
    """Makes a system in its folder, unless it is there, and a place on it."""
    root = folder / f"{system.release}-{system.machine}"
    if not (made := root / "made").exists():
        shutil.rmtree(root, ignore_errors=True)
        options = ("--variant=minbase", f"--arch={system.machine}", "--include=python3,python3-venv")
        subprocess.run(["debootstrap", *options, system.release, root], stdout=sys.stderr, check=True)
        if Path("/", CERTIFICATES).exists():
            (root / CERTIFICATES).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path("/", CERTIFICATES), root / CERTIFICATES)
        made.touch()
    for program in system.player[:1]:
        shutil.copy(str(shutil.which(program)), root / "usr/bin")
    return Place(root / "work", root, system)


def row(name: str, folder: Path, sdist: Path) -> tuple[str, ...]:
    """Returns the row of a system."""
    system = SYSTEMS[name]
    if reason := missing(system):
        return name, f"skipped: {reason}"
    try:
        return name, system.machine, *place_on(system, folder).try_package("/usr/bin/python3", sdist)
    except subprocess.CalledProcessError as error:
        return name, f"FAILED: {error}"


def show(cells: tuple[str, ...]) -> str:
    """Prints a row of the table at once; returns its last cell."""
    print("| " + " | ".join(cells) + " |", flush=True)
    return cells[-1]


def main() -> int:
    """Prints the table; returns 1 if something failed, or a golden game is different somewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=[*SYSTEMS], help="all, unless named")
    parser.add_argument("--folder", type=Path, help="keep the systems here; by default they are deleted")
    parser.add_argument("--wheel", type=Path, help="try this wheel on this system")
    options = parser.parse_args()
    show(HEADS)
    with tempfile.TemporaryDirectory() as temporary:
        if options.wheel:
            cells = Place(Path(temporary, "work")).try_package(sys.executable, options.wheel)
            show((sys.platform, platform.machine(), *cells))
            return int(cells[-2:] != ("0", "equal"))
        subprocess.run([sys.executable, "-m", "build", "-s", "-o", temporary, ROOT], stdout=sys.stderr, check=True)
        (sdist,) = Path(temporary).glob("*.tar.gz")
        folder = (options.folder or Path(temporary)).absolute()
        results = [show(row(name, folder, sdist)) for name in options.systems]
    return int(any(cell.startswith(("DIFFERENT", "FAILED")) for cell in results))


if __name__ == "__main__":
    sys.exit(main())
