"""Wheel and sdist: what is in them, and that they work without the repository beside them, on every Python that is here."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = ("torch", "matplotlib", "stable_baselines3", "agents")
CHECK = ROOT / "tests" / "check_installed.py"


def _run(*command: object, **options) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=500, **options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    here = ["--no-isolation"] if importlib.util.find_spec("hatchling") else []
    _run(sys.executable, "-m", "build", *here, "--outdir", folder, ROOT)
    return folder


def _sources(package: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next(archive.read(name).decode() for name in names if name.endswith("/METADATA"))
    content = {name for name in names if ".dist-info/" not in name}
    assert content == _sources("euphoria_env") | _sources("agents")
    assert {"euphoria_env/py.typed", "agents/py.typed"} <= content
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "Requires-Python: >=3.11" in metadata
    required = {
        re.split(r"[^\w-]", line.split()[1])[0]
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist") and "extra ==" not in line
    }
    assert required == {"numpy", "numba", "gymnasium", "pettingzoo"}


@pytest.mark.slow
def test_the_sdist_holds_what_is_needed_to_work_on_it(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile", "requirements.lock"}
    assert (
        needed | _sources("euphoria_env") | _sources("agents") | _sources("tests") | _sources("scripts") | _sources("benchmarks")
        <= names
    )
    strange = [name for name in names if name.endswith((".pyc", ".nbi", ".nbc")) or "__pycache__" in name or ".git/" in name]
    assert strange == []


def _interpreters() -> list[str]:
    """One of every Python version from 3.11 that is on the PATH or in pyenv, this one first."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [sys.executable, *filter(None, (shutil.which(f"python3.{minor}") for minor in range(11, 20)))]
    candidates += map(str, sorted(pyenv.glob("versions/3.*/bin/python")))
    found: dict[str, str] = {}
    for python in candidates:
        asked = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
        version = asked.stdout.strip()
        if asked.returncode == 0 and tuple(map(int, version.split())) >= (3, 11):
            found.setdefault(version, python)
    return list(found.values())


@pytest.mark.slow
@pytest.mark.parametrize("python", _interpreters())
def test_the_wheel_works_without_the_repository(built: Path, tmp_path: Path, python: str) -> None:
    """In a new environment elsewhere: it imports lightly, compiles, plays, and replays the golden records bit for bit."""
    (wheel,) = built.glob("*.whl")
    _run(python, "-m", "venv", tmp_path / "venv")
    inside = tmp_path / "venv" / "bin" / "python"
    pip = [inside, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input"]
    installed = subprocess.run(
        [str(part) for part in (*pip, "-c", ROOT / "requirements.lock", wheel)], capture_output=True, text=True
    )
    if installed.returncode != 0 and python != sys.executable:
        pytest.skip(f"the pinned dependencies cannot be installed for {python}: {installed.stderr[-300:]}")
    assert installed.returncode == 0, installed.stderr[-3000:]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))}
    records = sorted((ROOT / "tests" / "golden").glob("*.record"))
    text = _run(inside, CHECK, ROOT, *records, cwd=tmp_path, env=environment)
    assert text.startswith("euphoria_env works") and f"{len(records)} records replayed" in text


def _loaded(names: tuple[str, ...]) -> str:
    program = f"import sys, euphoria_env; print([name for name in {names} if name in sys.modules])"
    return _run(sys.executable, "-c", program, cwd=ROOT).strip()


def test_importing_is_light() -> None:
    """Neither torch, matplotlib nor the agents are loaded before they are used; PettingZoo is, for its registry, in 20 ms."""
    assert _loaded(HEAVY) == "[]"
