"""Wheel and sdist: what is in them, and that they work without the repository beside them, on every Python that is here."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = ("numba", "torch", "matplotlib", "stable_baselines3", "euphoria_agents")
CHECK = ROOT / "tests" / "tools" / "check_installed.py"
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.record"))


def _run(*command: object, **options) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it, without compiled code."""
    return _build(tmp_path_factory.mktemp("dist"), HATCH_BUILD_NO_HOOKS="true")


def _build(folder: Path, **environment: str) -> Path:
    here = ["--no-isolation"] if importlib.util.find_spec("hatchling") else []
    _run(sys.executable, "-m", "build", *here, "--outdir", folder, ROOT, env=os.environ | environment)
    return folder


def _sources(folder: str, root: Path = ROOT) -> set[str]:
    """The files below a folder, by their paths from `root`."""
    return {
        str(path.relative_to(root))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        scripts = next(archive.read(name).decode() for name in names if name.endswith("/entry_points.txt"))
        metadata = next(archive.read(name).decode() for name in names if name.endswith("/METADATA"))
    content = {name for name in names if ".dist-info/" not in name}
    assert content == _sources("euphoria_env") | _sources("agents", ROOT / "agents")
    assert {name.partition("/")[0] for name in content} == {"euphoria_env", "euphoria_agents"}, "nothing is called `agents`"
    assert {"euphoria_env/py.typed", "euphoria_agents/py.typed"} <= content
    assert scripts.splitlines() == ["[console_scripts]", "euphoria = euphoria_agents.__main__:main"]
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


def _name(requirement: str) -> str:
    """The name of a requirement, as package indexes compare names."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def test_every_requirement_is_locked() -> None:
    """The extra `rllib` needs other versions than the rest, and has a lock of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    others = [one for name, group in extras.items() if name != "rllib" for one in group]
    for lock, group in (("requirements.lock", others), ("requirements-rllib.lock", [*extras["play"], *extras["rllib"]])):
        wanted = {_name(one) for one in (*project["dependencies"], *group)} - {"euphoria-env"}
        assert wanted <= {_name(line) for line in (ROOT / lock).read_text(encoding="utf-8").splitlines()}, lock


def _interpreters() -> list[Any]:
    """One of every Python version from 3.11 that is on the PATH or in pyenv, this one first; the others are for a long test."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [sys.executable, *filter(None, (shutil.which(f"python3.{minor}") for minor in range(11, 20)))]
    candidates += map(str, sorted(pyenv.glob("versions/3.*/bin/python")))
    found: dict[str, str] = {}
    for python in candidates:
        asked = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
        version = asked.stdout.strip()
        if asked.returncode == 0 and tuple(map(int, version.split())) >= (3, 11):
            found.setdefault(version, python)
    return [pytest.param(python, marks=[pytest.mark.long] if python != sys.executable else []) for python in found.values()]


@pytest.mark.long
@pytest.mark.parametrize("python", _interpreters())
def test_the_wheel_works_without_the_repository(built: Path, tmp_path: Path, python: str) -> None:
    """In a new environment elsewhere: it imports lightly, compiles, plays, replays the golden records, and has its command."""
    (wheel,) = built.glob("*.whl")
    _run(python, "-m", "venv", tmp_path / "venv")
    inside = tmp_path / "venv" / "bin" / "python"
    pip = [inside, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input"]
    installed = subprocess.run(
        [str(part) for part in (*pip, "-c", ROOT / "requirements.lock", f"{wheel}[play]")], capture_output=True, text=True
    )
    if installed.returncode != 0 and python != sys.executable:
        pytest.skip(f"the pinned dependencies cannot be installed for {python}: {installed.stderr[-300:]}")
    assert installed.returncode == 0, installed.stderr[-3000:]
    text = _run(inside, CHECK, ROOT, *GOLDEN, cwd=tmp_path, env=_environment())
    assert text.startswith("euphoria_env works") and f"{len(GOLDEN)} records replayed" in text
    _check_commands(tmp_path / "venv" / "bin" / "euphoria", tmp_path / "empty")


@pytest.mark.long
def test_a_wheel_carries_the_engine(tmp_path: Path) -> None:
    """Nothing is compiled where it is unpacked, nor written; where it does not fit, it is compiled, and the wheel says so."""
    (wheel,) = _build(tmp_path).glob("*.whl")
    assert not wheel.name.endswith("-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    program = (
        "from euphoria_env.engine import library; from euphoria_env import Game; from euphoria_agents import load\n"
        "game = Game(seed=1); agent = load('mcts:2')\n"
        "agent.act(game.observation(game.player), game.mask(), __import__('numpy').random.default_rng(0), game)\n"
        "print(library.times_compiled())"
    )
    there = {"PYTHONPATH": str(tmp_path / "installed"), "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    assert _run(sys.executable, "-P", "-c", program, cwd=tmp_path, env=_environment(**there)) == "0\n"
    for file in (tmp_path / "installed" / "euphoria_env" / "compiled").glob("euphoria_env-*"):
        file.write_bytes(file.read_bytes()[:-1])
    assert _run(sys.executable, "-P", "-c", program, cwd=tmp_path, env=_environment(**there)) == "1\n"


def _environment(**more: str) -> dict[str, str]:
    """The environment of this process without the variables that would lead Python to the repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))} | more


def _check_commands(euphoria: Path, folder: Path) -> None:
    """The command, beside another copy; what agents need is compiled on the way, search excepted, which takes the longest."""
    for name in ("euphoria_env", "euphoria_agents"):  # another copy, which nobody may import
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise SystemExit('another copy was imported')")
    (folder / "my_agents.py").write_text(
        "class Mine:\n    def act(self, observation, mask, rng, game=None):\n        return int(mask.argmax())\n"
    )

    def call(*arguments: object) -> str:
        return _run(euphoria, *arguments, cwd=folder, env=_environment())

    assert "tournament" in call("--help")
    small = ("--games", 40, "--max-turns", 40)
    assert "1 x weights" in call("evaluate", "--agent", "random", "--against", "weights", *small, "--processes", 1)
    call("tournament", "--agents", "my_agents:Mine", "random", "--out", "ladder", *small, "--processes", 2)
    assert {"plot.png", "results.json"} <= {file.name for file in (folder / "ladder").iterdir()}
    assert "turns and" in call("replay", GOLDEN[0], "--every", "end")
    tiny = ("--quick", "--groups", "batch", "vector", "--players", 2, "--sizes", 1, "--seconds", 0.001, "--repeats", 1)
    assert "batch, mask" in call("speed", *tiny, "--json", "a.json")
    assert "1.00" in call("speed", "compare", "a.json", "a.json")
    failed = subprocess.run([str(euphoria), "train"], cwd=folder, env=_environment(), capture_output=True, text=True)
    assert (failed.returncode, failed.stderr) == (2, "error: 'euphoria train' needs torch: pip install 'euphoria-env[train]'\n")


def test_the_wheel_plays_in_an_empty_folder(built: Path, tmp_path: Path) -> None:
    """Unpacked, as plain Python: the package, a golden record, the command; the long test installs it and compiles."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    (tmp_path / "empty").mkdir()
    there = {"cwd": tmp_path / "empty", "env": _environment(PYTHONPATH=str(tmp_path / "installed"), NUMBA_DISABLE_JIT="1")}
    program = "import euphoria_env, sys; print(euphoria_env.__file__); euphoria_env.Game.from_record(open(sys.argv[1]).read())"
    assert _run(sys.executable, "-P", "-c", program, GOLDEN[0], **there).startswith(str(tmp_path / "installed"))
    assert "tournament" in _run(sys.executable, "-P", "-m", "euphoria_agents", "--help", **there)


@pytest.mark.long
def test_training_works_in_an_empty_folder(built: Path, tmp_path: Path) -> None:
    """From the wheel, with the libraries of this environment."""
    pytest.importorskip("sb3_contrib")
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    small = "--decisions 80 --threads 1 --win-probs-games 4 --players 2 --envs 10 --batch 16 --rating-games 2 --max-turns 20"
    (tmp_path / "empty").mkdir()
    euphoria = [sys.executable, "-P", "-m", "euphoria_agents"]
    environment = _environment(PYTHONPATH=str(tmp_path / "installed"))
    _run(*euphoria, "train", "--run", "mine", *small.split(), cwd=tmp_path / "empty", env=environment)
    assert {"ppo.safetensors", "ratings.json"} <= {file.name for file in (tmp_path / "empty" / "mine").iterdir()}


def _loaded(names: tuple[str, ...]) -> str:
    program = f"import sys, euphoria_env; print([name for name in {names} if name in sys.modules])"
    return _run(sys.executable, "-c", program, cwd=ROOT).strip()


def test_importing_is_light() -> None:
    """Neither numba, torch, matplotlib nor the agents are loaded before use; PettingZoo is, for its registry, in 20 ms."""
    assert _loaded(HEAVY) == "[]"
