"""Processes that a program starts: they run the code that it runs, and end with it, with what they have started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import euphoria_agents
import euphoria_env
from euphoria_agents import child_process
from euphoria_agents.agent_process import AgentProcess
from euphoria_agents.child_process import ChildProcess, check_homes, homes
from euphoria_agents.matches.ray_cluster import on_ray
from tests.tools.commands import start

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a descendant can leave the group of its parent")

# ------------------------------------------------------------------------------------------------------------ which code


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with a copy of this project, as pip makes it."""
    folder = tmp_path_factory.mktemp("site")
    for package in (euphoria_env, euphoria_agents):
        home = Path(package.__file__ or "").parent
        shutil.copytree(home, folder / home.name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "bin").mkdir()
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with another copy, which is noticed when it is imported, and an agent."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("euphoria_env", "euphoria_agents"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise SystemExit('another copy was imported')")
    (folder / "mine.py").write_text(AGENT)
    return folder


AGENT = """
import os, sys, euphoria_agents, euphoria_env
variables = [os.environ.get(name) for name in ("PYTHONPATH", "PYTHONSAFEPATH")]
print("runs", euphoria_env.__file__, euphoria_agents.__file__, *variables, file=sys.stderr)
class First:
    def act(self, observation, mask, rng):
        return int(mask.argmax())
"""


def test_processes_run_the_code_of_their_parent(site: Path, checkout: Path) -> None:
    """A program of one copy runs in the folder of the other."""
    program = site / "bin" / "program.py"
    program.write_text("from euphoria_agents.__main__ import main\nmain()")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"}
    words = ["evaluate", "--agent", "mine:First", "--against", "random", "--games", "4", "--max-turns", "3", "--processes", "2"]
    command = [sys.executable, str(program), *words]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    runs = [line for line in done.stderr.splitlines() if line.startswith("runs")]
    here = f"runs {site}/euphoria_env/__init__.py {site}/euphoria_agents/__init__.py {site} None"
    assert len(runs) >= 2 and set(runs) == {here}, "in the environment of its parent, too"


def test_another_copy_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    check_homes(homes())
    monkeypatch.setattr(euphoria_env, "__file__", "/elsewhere/euphoria_env/__init__.py")
    with pytest.raises(RuntimeError, match=r"imports /.*, the other /elsewhere/.*: all must run the same copy"):
        check_homes((str(Path("/", "here")), euphoria_agents.__file__))
    child = ChildProcess(Path.touch, tmp_path / "worked")
    assert child.exit_status(60) == 1 and not (tmp_path / "worked").exists()
    child.end()


def test_a_cluster_of_this_machine_runs_the_same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself is in `tests/test_rllib.py`; this one calls at once, in this process."""
    given: dict[str, Any] = {}
    ray = SimpleNamespace(
        is_initialized=lambda: False,
        init=lambda address, **options: given.update(options),
        shutdown=lambda: None,
        remote=lambda **_: lambda work: SimpleNamespace(remote=lambda item: partial(work, item)),
        wait=lambda calls, num_returns: (calls[:1], calls[1:]),
        get=lambda call: call(),
        cancel=lambda call, force: None,
        exceptions=SimpleNamespace(RayTaskError=KeyError, RayError=IndexError),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    assert dict(on_ray(abs, [-1, -2])) == {-1: 1, -2: 2}
    assert given["runtime_env"] == {"env_vars": child_process.child_environment()}


def test_the_environment_is_as_before() -> None:
    before = dict(os.environ)
    AgentProcess("random").close()
    assert dict(os.environ) == before and set(child_process.child_environment()) == {"PYTHONPATH", "PYTHONSAFEPATH"}


# ------------------------------------------------------------------------------------------------------- the whole tree

WILD = """
import ctypes, os, signal, sys, time

def stay(fifo):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    held = open(fifo, "wb", 0)
    held.write(b"x")
    while True:
        time.sleep(3600)

def leave(fifo, how):
    if os.fork() == 0:
        if how != "group":
            os.setsid()
        if how == "daemon" and os.fork():
            os._exit(0)
        if how == "deep":
            for _ in range(3):
                if os.fork():
                    stay(os.devnull)
                os.setsid()
        if how == "closed":
            os.closerange(0, 100)
        stay(fifo)

class Wild:
    def __init__(self, argument):
        how, fifo = argument.split("@")
        leave(fifo, how)
        self.how = how
    def act(self, observation, mask, rng):
        guard = os.getppid()
        if self.how == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "lets go":
            ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # it need not end with its parent
        if self.how in ("kills", "lets go"):
            os.kill(guard, signal.SIGKILL)
            time.sleep(3600)
        if self.how == "stops both":
            with open(f"/proc/{guard}/stat") as file:
                os.kill(int(file.read().rpartition(")")[2].split()[1]), signal.SIGSTOP)
        if self.how in ("stops", "stops both"):
            os.kill(guard, signal.SIGSTOP)
        return int(mask.argmax())

class Slow(Wild):
    def act(self, observation, mask, rng):
        time.sleep(3600)
"""
HOW = ["group", "session", "daemon", "deep", "closed", "dies"]


@pytest.fixture
def wild(tmp_path: Path) -> Path:
    """A folder with agents whose descendants would live on, and a pipe that they hold."""
    (tmp_path / "wild.py").write_text(WILD)
    os.mkfifo(tmp_path / "held")
    return tmp_path


def evaluate(folder: Path, agent: str, processes: int) -> subprocess.Popen[str]:
    return start("evaluate", "--agent", agent, "--games", 2, "--max-turns", 2, "--processes", processes, cwd=folder)


@linux
@pytest.mark.parametrize("how", HOW)
def test_descendants_end_with_their_agent(wild: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(wild)
    agent = AgentProcess(f"wild:Wild:{how}@{wild / 'held'}")
    with (wild / "held").open("rb", 0) as held:
        assert held.read(1) == b"x"
        agent.close()
        assert held.read() == b""
    sys.modules.pop("wild", None)


@linux
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_descendants_end_with_the_command(wild: Path, processes: int, number: signal.Signals | None) -> None:
    agent = "Wild" if number is None else "Slow"
    command = evaluate(wild, f"wild:{agent}:daemon@{wild / 'held'}", processes)
    with (wild / "held").open("rb", 0) as held:
        assert held.read(1) == b"x"
        if number is not None:
            command.send_signal(number)
        assert held.read().strip(b"x") == b""
    _, told = command.communicate()
    assert command.returncode == {None: 0, signal.SIGINT: 130}.get(number, -(number or 0)), told


@linux
@pytest.mark.parametrize("how", ["dies", "kills", "lets go", "stops", "stops both"])
def test_descendants_end_with_an_agent_that_dies_or_turns_on_its_guards(wild: Path, how: str) -> None:
    command = evaluate(wild, f"wild:Wild:{how}@{wild / 'held'}", 1)
    with (wild / "held").open("rb", 0) as held:
        assert held.read(1) == b"x" and held.read().strip(b"x") == b""
    _, told = command.communicate()
    if "stops" in how:
        assert command.returncode == 0, told
    else:
        assert command.returncode == 2 and "was ended by SIGKILL" in told
