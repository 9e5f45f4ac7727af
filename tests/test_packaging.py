"""Wheel and sdist: what is in them, and that they work without the repository beside them."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from euphoria_env.engine import cache_files

ROOT = Path(__file__).parent.parent
HEAVY = ("numba", "torch", "matplotlib", "stable_baselines3", "euphoria_agents")
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.record"))
# Prints the place of the package, after games in every interface and replays of the records that are its arguments.
PROGRAM = """
import sys
from euphoria_env import Batch, Game, Rules, env, __file__
for record in sys.argv[1:]:
    Game.from_record(open(record).read())
game = Game(Rules(num_players=2, max_turns=2), seed=1)
while game.legal():
    game.play(game.legal()[-1])
assert game.truncated and str(game) and game._repr_svg_().lstrip().startswith("<")
batch, environment = Batch(2, seed=1), env(num_players=2)
batch.step(batch.mask.argmax(axis=1))
environment.reset(seed=1)
environment.step(int(environment.last()[0]["action_mask"].argmax()))
print(__file__)
"""


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
    assert {"euphoria_env/py.typed", "euphoria_agents/py.typed"} <= content and any(name.endswith("/LICENSE") for name in names)
    assert scripts.splitlines() == ["[console_scripts]", "euphoria = euphoria_agents.__main__:main"]
    required = re.findall(r"^Requires-Dist: ([\w-]+)(?!.*extra ==)", metadata, re.MULTILINE)
    assert {*required} == {"numpy", "numba", "gymnasium", "pettingzoo"} and "Requires-Python: >=3.11" in metadata


@pytest.mark.slow
def test_the_sdist_holds_what_is_needed_to_work_on_it(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile", "requirements.lock", "biome.json"}
    assert (
        needed | _sources("euphoria_env") | _sources("agents") | _sources("tests") | _sources("scripts") | _sources("benchmarks")
        <= names
    )
    strange = [name for name in names if name.endswith(".pyc") or "__pycache__" in name or ".git/" in name]
    assert strange == []


def test_the_links_of_the_package_page_lead_into_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every link is an address, and those of the repository are of files that exist; without an address README.md is as it is."""
    pytest.importorskip("hatchling")
    page, metadata = runpy.run_path(str(ROOT / "scripts" / "package_page.py"))["PackagePage"](str(ROOT), {}), {"version": "1.2"}
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://host")
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/name")
    page.update(metadata)
    text = metadata["readme"]["text"]
    links = re.findall(r"\]\(([^)]+)\)", text)
    inside = [link.partition("/v1.2/")[2].partition("#")[0] for link in links if "//host/" in link]
    assert len(inside) > 40 and all((ROOT / path).exists() for path in inside)
    assert (
        all(link.startswith(("https://", "#")) for link in links) and "](https://host/owner/name/raw/v1.2/docs/play.webp)" in text
    )
    assert metadata["urls"]["Issues"] == "https://host/owner/name/issues"
    monkeypatch.delenv("GITHUB_REPOSITORY")
    page.update(metadata)
    assert metadata["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8")


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


@pytest.mark.long
def test_the_installed_wheel_works_without_the_repository(built: Path, tmp_path: Path) -> None:
    """In a new environment: it plays in every interface, replays the golden records, and has its command."""
    (wheel,) = built.glob("*.whl")
    _run(sys.executable, "-m", "venv", tmp_path / "venv")
    bin_folder, folder = tmp_path / "venv" / "bin", tmp_path / "empty"
    install = ("pip", "install", "-q", "--disable-pip-version-check", "--no-input", "-c", ROOT / "requirements.lock")
    _run(bin_folder / "python", "-m", *install, f"{wheel}[play]")
    for name in ("euphoria_env", "euphoria_agents"):  # another copy, which the command must not import
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise SystemExit('another copy was imported')")
    (folder / "my_agents.py").write_text(
        "class Mine:\n    def act(self, observation, mask, rng, game=None):\n        return int(mask.argmax())\n"
    )

    def call(program: str, *arguments: object) -> str:
        return _run(bin_folder / program, *arguments, cwd=folder, env=_environment())

    assert call("python", "-P", "-c", PROGRAM, *GOLDEN).startswith(str(tmp_path / "venv"))
    small = ("--games", 40, "--max-turns", 40)
    assert "1 x weights" in call("euphoria", "evaluate", "--agent", "random", "--against", "weights", *small, "--processes", 1)
    call("euphoria", "tournament", "--agents", "my_agents:Mine", "random", "--out", "ladder", *small, "--processes", 2)
    assert (folder / "ladder" / "results.json").exists()
    assert "turns and" in call("euphoria", "replay", GOLDEN[0], "--every", "end")
    failed = subprocess.run([bin_folder / "euphoria", "train"], cwd=folder, env=_environment(), capture_output=True, text=True)
    assert (failed.returncode, failed.stderr) == (2, "error: 'euphoria train' needs torch: pip install 'euphoria-env[train]'\n")


# Calls the backend as pip does, in a process that has neither numba nor numpy; prints what it needs, and what it wrote.
BACKEND = """
import os, sys
sys.modules |= dict.fromkeys(("numba", "numpy", "llvmlite"))
os.environ["PIP_BUILD_TRACKER"] = "set by pip"
import hatch_build
print(hatch_build.get_requires_for_build_wheel() == [], hatch_build.get_requires_for_build_editable())
print(getattr(hatch_build, sys.argv[1])(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("hatchling"), reason="hatchling is not installed")
def test_metadata_alone_compiles_nothing(tmp_path: Path) -> None:
    nothing_kept = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    command = [sys.executable, "-c", BACKEND, "prepare_metadata_for_build_wheel", tmp_path]
    needed, folder = _run(*command, cwd=ROOT, env=nothing_kept).splitlines()
    assert needed == "False []" and "Requires-Python: >=3.11" in (tmp_path / folder / "METADATA").read_text()
    assert not list((tmp_path / "kept").glob("*.bin"))


@pytest.mark.skipif(not importlib.util.find_spec("hatchling"), reason="hatchling is not installed")
def test_an_old_python_is_refused_before_anything_is_installed() -> None:
    program = "import sys; sys.version_info = (3, 10, 0); import hatch_build"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("euphoria-env requires Python 3.11 or newer; this is Python ")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("hatchling"), reason="hatchling is not installed")
def test_a_wheel_carries_what_was_compiled(tmp_path: Path) -> None:
    """With both libraries in the cache it is built without numba; nothing is compiled where it is unpacked, nor written."""
    wheels = os.environ | {"NUMBA_CPU_NAME": {"x86_64": "x86-64-v3", "AMD64": "x86-64-v3"}.get(platform.machine(), "generic")}
    _run(sys.executable, "-m", "euphoria_agents", "compile", cwd=ROOT, env=wheels)
    needed, wheel = _run(sys.executable, "-c", BACKEND, "build_wheel", tmp_path, cwd=ROOT, env=wheels).splitlines()
    assert needed == "True []" and not wheel.endswith("-none-any.whl")
    with zipfile.ZipFile(tmp_path / wheel) as archive:
        archive.extractall(tmp_path / "installed")
    program = (
        "from euphoria_env.engine import library; from euphoria_env import Game; from euphoria_agents import load\n"
        "game = Game(seed=1); agent = load('mcts:2')\n"
        "agent.act(game.observation(game.player), game.mask(), __import__('numpy').random.default_rng(0), game)\n"
        "print(library.times_compiled(), 'numba' in __import__('sys').modules)"
    )
    there = {
        "PYTHONPATH": str(tmp_path / "installed"),
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
        "NUMBA_CPU_NAME": wheels["NUMBA_CPU_NAME"],
    }
    assert _run(sys.executable, "-P", "-c", program, cwd=tmp_path, env=_environment(**there)) == "0 False\n"
    assert not list((tmp_path / "kept").glob("*"))
    for file in (tmp_path / "installed" / "euphoria_env" / "compiled").glob("euphoria_env.*"):
        file.write_bytes(file.read_bytes()[:-1])  # damaged: what was kept serves as well
    there["NUMBA_CACHE_DIR"] = str(cache_files.cache_directory())
    assert _run(sys.executable, "-P", "-c", program, cwd=tmp_path, env=_environment(**there)) == "0 False\n"


def test_two_copies_are_refused(tmp_path: Path) -> None:
    """As where Python starts in a checkout, and a wheel is installed."""
    shutil.copytree(
        ROOT / "agents" / "euphoria_agents",
        tmp_path / "site" / "euphoria_agents",
        ignore=shutil.ignore_patterns("*.json", "*.js"),
    )
    there = _environment(PYTHONPATH=str(tmp_path / "site"))
    done = subprocess.run([sys.executable, "-c", "import euphoria_agents"], cwd=ROOT, env=there, capture_output=True, text=True)
    assert (
        f"two copies: euphoria_env is in {ROOT}, euphoria_agents in {tmp_path / 'site'}" in done.stderr
        and "pip install -e ." in done.stderr
    )
    assert _run(sys.executable, "-c", "import euphoria_agents", cwd=ROOT, env=_environment(PYTHONPATH=str(ROOT / "agents"))) == ""


def _environment(**more: str) -> dict[str, str]:
    """The environment of this process without the variables that would lead Python to the repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))} | more


def test_the_wheel_plays_in_an_empty_folder(built: Path, tmp_path: Path) -> None:
    """Unpacked, as plain Python; the long test installs it and compiles."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    (tmp_path / "empty").mkdir()
    there = {"cwd": tmp_path / "empty", "env": _environment(PYTHONPATH=str(tmp_path / "installed"), NUMBA_DISABLE_JIT="1")}
    assert _run(sys.executable, "-P", "-c", PROGRAM, GOLDEN[0], **there).startswith(str(tmp_path / "installed"))
    assert "tournament" in _run(sys.executable, "-P", "-m", "euphoria_agents", "--help", **there)


def test_the_golden_games_are_compared_away_from_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`scripts/platforms.py` copies all that the comparison reads, and says what a machine lacks."""
    script = runpy.run_path(str(ROOT / "scripts" / "platforms.py"))
    place = script["Place"](tmp_path / "work")
    place.environment["NUMBA_DISABLE_JIT"] = "1"
    play = "import sys; sys.path.insert(0, '.'); from tests.tools import golden_games; golden_games.play('2_players'); print(len("
    assert place.run(sys.executable, "-c", f"{play}[*golden_games.FOLDER.glob('*.record')]))").stdout == f"{len(GOLDEN)}\n"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setenv("PATH", "")
    assert script["missing"](script["SYSTEMS"]["arm64"]) == "needs debootstrap: apt-get install debootstrap qemu-user-static"
    monkeypatch.setattr("os.geteuid", lambda: 1)
    assert script["row"]("arm64", tmp_path, tmp_path) == ("arm64", "skipped: needs root, to change the root folder")


def test_importing_is_light() -> None:
    """Neither numba, torch, matplotlib nor the agents are loaded before use; PettingZoo is, for its registry, in 20 ms."""
    program = f"import sys, euphoria_env; print([name for name in {HEAVY} if name in sys.modules])"
    assert _run(sys.executable, "-c", program, cwd=ROOT).strip() == "[]"
