"""Describes the machine and the versions of packages, for figures and results."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PACKAGES = ("euphoria-env", "numpy", "numba", "gymnasium", "pettingzoo", "torch", "stable-baselines3")


def machine() -> dict[str, Any]:
    """Returns a description of the machine and its load."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
    }


def usable_cores() -> int:
    """Returns the number of cores on which this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def commit() -> str | None:
    """Returns the commit of the checkout from which this project runs, with a + if files were changed; None elsewhere."""
    folder = Path(__file__).parents[2]
    if not (folder / "hatch_build.py").is_file():  # installed elsewhere: a repository there is of another project
        return None
    git = "git", "-C", str(folder)
    try:
        found = [
            subprocess.run([*git, *words], capture_output=True, text=True, timeout=10, check=True).stdout.strip()
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no", "."))
        ]
    except (OSError, subprocess.SubprocessError):
        return None
    return found[0] + "+" * bool(found[1])


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Returns the versions of Python and of some packages; packages that are not installed are left out."""
    import importlib.metadata  # imported late, since `usable_cores` serves commands that should start at once

    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
