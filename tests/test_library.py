"""Compiled code on disk: compiled once, damaged files are compiled again, planted ones are not read, no folder is no failure."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from euphoria_env import garbage
from euphoria_env.engine import cache_files, library
from euphoria_env.engine.jit import IS_PLAIN

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(IS_PLAIN, reason="nothing is compiled")

ROOT = Path(__file__).parent.parent
# A small entry point of its own, so that compiling takes a second.
PROGRAM = """
from euphoria_env.engine.jit import entry
from parts import checked

@entry("int64")
def quadruple(x):
    return checked(checked(x))

print(quadruple(21), checked(2))
"""
PARTS = """
from euphoria_env.engine.jit import jit
from more_parts import doubled

@jit
def checked(x):
    if x < 0:
        raise ValueError("negative")
    return doubled(x)
"""
MORE_PARTS = "from euphoria_env.engine.jit import jit\n\n@jit\ndef doubled(x):\n    return 2 * x\n"
TELLS = "compiling __main__"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "more_parts.py").write_text(MORE_PARTS)
    return tmp_path


def start(folder: Path, **environment: str) -> subprocess.Popen[str]:
    found = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    found |= {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(folder / "kept")} | environment
    return subprocess.Popen(
        [sys.executable, "program.py"], cwd=folder, env=found, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(folder: Path, **environment: str) -> str:
    """Runs the program, which must print its result; returns its lines on stderr, which are empty or tell that it compiles."""
    running = start(folder, **environment)
    out, err = running.communicate()
    assert (out, running.returncode) == ("84 4\n", 0), err
    return err


def spoil_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "emptied": lambda path: path.write_bytes(b""),
    "flipped": lambda path: path.write_bytes(path.read_bytes()[:-100] + b"\xff" + path.read_bytes()[-99:]),
    "a folder": spoil_by_a_folder,
}


@pytest.mark.slow
def test_code_is_compiled_once_and_damaged_files_again(folder: Path) -> None:
    assert TELLS in run(folder)
    assert run(folder) == ""
    for name, damage in DAMAGES.items():
        for file in (folder / "kept").glob("__main__*.bin"):
            damage(file)
        assert TELLS in run(folder), name
        if name != "a folder":
            assert run(folder) == "", name


def test_another_source_processor_or_setting_is_another_key(folder: Path) -> None:
    assert f"{TELLS}: nothing is kept; it will be kept in {folder / 'kept'} (0 s)" in run(folder)
    (folder / "program.py").write_text("# a comment\n" + PROGRAM)
    assert run(folder) == ""
    (folder / "more_parts.py").write_text(MORE_PARTS.replace("2 * x", "x + x"))
    assert f"{TELLS}: what is kept is for other sources;" in run(folder)
    assert f"{TELLS}: what is kept is for other settings;" in run(folder, NUMBA_BOUNDSCHECK="1")
    assert f"{TELLS}: what is kept is for another processor;" in run(folder, NUMBA_CPU_NAME="generic")


def test_equal_sources_elsewhere_are_not_compiled_again(folder: Path) -> None:
    """As in a checkout, an editable installation and a wheel, in any environment."""
    run(folder)
    shutil.copytree(folder, folder / "again")
    assert run(folder / "again", NUMBA_CACHE_DIR=str(folder / "kept")) == ""


def test_machine_code_needs_no_numba(folder: Path) -> None:
    run(folder)
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['numba'] = None\n")
    assert run(folder, PYTHONPATH=f"{folder}{os.pathsep}{ROOT}") == ""


def test_two_scripts_in_a_folder_are_two_libraries(folder: Path) -> None:
    run(folder)
    (folder / "program.py").rename(folder / "other.py")
    (folder / "program.py").write_text(PROGRAM.replace("quadruple", "fourfold"))
    assert TELLS in run(folder)
    assert run(folder) == ""


def test_code_that_needs_what_is_not_there_is_refused(folder: Path) -> None:
    """LLVM alone would end the process."""
    run(folder)
    (file,) = (folder / "kept").glob("*.bin")
    needed, code = (cache_files.read(file) or b"").split(b"\n", 1)
    cache_files.write(file, needed.replace(b'"Py_DecRef"', b'"of_another_system"') + b"\n" + code)
    out, err = start(folder).communicate()
    assert (out, err.splitlines()[-1]) == (
        "",
        "ImportError: the compiled __main__ needs of_another_system, which this Python lacks",
    )


CALLS = r"""
import sys
from typing import NamedTuple
import numpy as np
from euphoria_env.engine.jit import array, entry, kind_of

class Pair(NamedTuple):
    x: np.ndarray
    n: int

@entry("int64[:] float64[:,:] bool_ float64", array(np.int8, read_only=True), kind_of(Pair(np.zeros(1), 3)))
def total(a, b, c, d, e, pair):
    copy = np.empty(len(a), np.int64)
    for i in range(len(a)):
        copy[i] = a[i]
    return copy.sum() + b[0, 1] + (1000 if c else 0) + d + e[0] + pair.x[0] * pair.n, len(a) > 2

@entry("int64[:] int64[:]")
def write(a, b):
    if b[0] < 0:
        raise OverflowError("less than", "nothing")
    a[:] = b

def refused(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"

class Claims:
    @property
    def __class__(self):
        print("is asked what it is")
        return np.ndarray

a, b, e = np.arange(3), np.ones((2, 3)), np.frombuffer(b"\5", np.int8)
good = [a, b, True, 0.5, e, Pair(np.array([2.0]), 3)]
print(total(*good), total(*good[:2], np.bool_(False), np.float32(1), *good[4:]), write(a, a + 1), a)
for k, wrong in enumerate((b, b.T, None, "x", [5], (1,), Pair([1], 2), Pair(np.ones(1), 2.5), Pair(np.ones(1), "3"))):
    print(refused(total, *good[: min(k, 5)], wrong, *good[min(k, 5) + 1 :]))
print(refused(total, *good, 1))
for arguments in ((np.broadcast_to(a, 3), a), (Claims(), a), (a, -a), (a, a[:2])):
    print(refused(write, *arguments))
before = [sys.getrefcount(each) for each in good]
for _ in range(1000):
    total(*good), refused(total, 1, *good[1:])
print(before == [sys.getrefcount(each) for each in good])
"""
CALLED = """\
(1015.5, True) (16.0, True) None [1 2 3]
TypeError: argument 1 of total() must be an array of int64, C-contiguous, with 1 dimensions, and not read-only
TypeError: argument 2 of total() must be an array of float64, C-contiguous, with 2 dimensions, and not read-only
(18.5, True)
TypeError: must be real number, not str
TypeError: argument 5 of total() must be an array of int8, C-contiguous, with 1 dimensions
TypeError: argument 6 of total() must be a tuple of 2
TypeError: argument 6 of total() must be an array of float64, C-contiguous, with 1 dimensions, and not read-only
TypeError: 'float' object cannot be interpreted as an integer
TypeError: 'str' object cannot be interpreted as an integer
TypeError: total() takes 6 positional arguments
TypeError: argument 1 of write() must be an array of int64, C-contiguous, with 1 dimensions, and not read-only
TypeError: argument 1 of write() must be an array of int64, C-contiguous, with 1 dimensions, and not read-only
OverflowError: ('less than', 'nothing')
ValueError: refused by compiled code
True
"""


def test_calls_check_their_arguments(folder: Path) -> None:
    """Compiled code checks nothing by itself: a wrong array would make it read or write any memory."""
    (folder / "program.py").write_text(CALLS)
    out, err = start(folder).communicate()
    assert out == CALLED and "Traceback" not in err


LISTS = """
import numpy as np
from euphoria_env.engine.jit import entry

@entry("int64")
def quadruple(x):
    found = [1]
    for k in range(1, 40):
        found.append(k)
    return int(np.array(found).reshape((20, 2)).T.copy().sum()) - 781 + 4 * x

print(quadruple(21), 4)
"""


def test_code_of_others_may_call_functions_of_numba(folder: Path) -> None:
    """For lists, for example; it is kept, too."""
    (folder / "program.py").write_text(LISTS)
    assert TELLS in run(folder)
    assert run(folder) == ""


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """Opening a named pipe would wait for another process."""
    for name in ("pipe", "lock"):
        os.mkfifo(tmp_path / name)
    assert cache_files.read(tmp_path / "pipe") is None and cache_files.read(tmp_path) is None
    with cache_files.locked(tmp_path / "lock"):
        assert cache_files.write(tmp_path / "pipe", b"x") and cache_files.read(tmp_path / "pipe") == b"x"


@pytest.mark.slow
def test_a_process_waits_for_the_one_that_compiles_and_outlives_its_death(folder: Path) -> None:
    (folder / "kept").mkdir(mode=0o700)
    hold = "import fcntl, sys, signal; file = open(sys.argv[1], 'wb'); fcntl.flock(file, 2); print(flush=True); signal.pause()"
    holder = subprocess.Popen([sys.executable, "-c", hold, str(folder / "kept" / "__main__.lock")], stdout=subprocess.PIPE)
    assert holder.stdout is not None and holder.stdout.readline()
    waiting = start(folder)
    assert waiting.stderr is not None and "another process compiles" in waiting.stderr.readline()
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    out, err = waiting.communicate()
    assert out == "84 4\n" and TELLS in err


@pytest.mark.slow
def test_without_a_folder_it_is_compiled_for_the_process(folder: Path) -> None:
    """As in a container whose file system is read-only, temporary folders included."""
    (folder / "program.py").write_text(
        "import tempfile\nfrom euphoria_env.engine import cache_files\n\n"
        "def none():\n    raise FileNotFoundError('No usable temporary directory')\n\n"
        "tempfile.gettempdir = none\ncache_files._is_usable = lambda folder: False\n" + PROGRAM
    )
    err = run(folder, NUMBA_CACHE_DIR="")
    assert f"{TELLS}: nothing is kept; it will be for this process alone, since no folder can keep it" in err
    assert "once" not in err and "cannot be kept" not in err
    assert not (folder / "kept").exists()


# Two entry points more, one with code of its own: machine code of it is made in a process of its own.
APART = """
from more_parts import doubled

@entry("int64", apart=True)
def octuple(x):
    return quadruple(doubled(x))

import gc

gc.set_threshold(321, 4, 5)
print(octuple(1), gc.get_threshold())
"""
BEFORE = {
    "one that works": ("", "started\\n"),
    "one that fails": ("", "started\\nbroken\\n"),
    "no other core": ("import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n", ""),
    "no temporary files": ("import tempfile\ndef none():\n    raise FileNotFoundError\ntempfile.gettempdir = none\n", ""),
}
if not hasattr(os, "sched_setaffinity"):
    del BEFORE["no other core"]


def program_with_helper(folder: Path, name: str) -> None:
    """Writes a program that compiles with the help of another process: a shell script, which tells that it was started."""
    before, told = BEFORE[name]
    end = "exit 1" if "broken" in told else f'exec {sys.executable} "$@"'
    (folder / "python").write_text(f"#!/bin/sh\nprintf '{told}' >&2\n{end}\n")
    (folder / "python").chmod(0o700)
    program, last = PROGRAM[: PROGRAM.index("print(")], PROGRAM[PROGRAM.index("print(") :]
    (folder / "program.py").write_text(f"{before}import sys\nsys.executable = {str(folder / 'python')!r}\n{program}{APART}{last}")


@pytest.mark.slow
@pytest.mark.parametrize("name", BEFORE)
def test_another_process_helps_to_compile(folder: Path, name: str) -> None:
    program_with_helper(folder, name)
    out, err = start(folder).communicate()
    told = [word for word in ("started", "broken", "Traceback") if word in err]  # lines of two processes may run together
    assert (out, told) == ("8 (321, 4, 5)\n84 4\n", BEFORE[name][1].split("\\n")[:-1])
    assert start(folder).communicate() == ("8 (321, 4, 5)\n84 4\n", "")


@pytest.mark.slow
def test_an_interrupt_ends_the_process_that_helps(folder: Path) -> None:
    program_with_helper(folder, "one that works")
    (folder / "python").write_text("#!/bin/sh\necho helper $$ >&2\nexec sleep 1000\n")
    running = start(folder)
    assert running.stderr is not None
    helper = next(int(told[1]) for line in running.stderr if (told := re.search(r"helper (\d+)", line)))  # lines may run together
    running.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in running.communicate()[1] and not list((folder / "kept").glob("*.bin"))
    with pytest.raises(ProcessLookupError):
        os.kill(helper, 0)


ENTRY = r"\n@entry\((?:.*\n)*?def (\w+)"


def _module(file: Path) -> str:
    root = next(parent for parent in file.parents if not (parent / "__init__.py").exists())
    return ".".join(file.relative_to(root).with_suffix("").parts)


@pytest.mark.slow
def test_every_entry_point_is_in_its_library() -> None:
    """Their code needs Python and the system alone."""
    library.ready_all()
    for package in cache_files.PACKAGES:
        files = cache_files.files_with_entries(package)
        names = [f"{_module(file)}.{name}" for file in files for name in re.findall(ENTRY, file.read_text())]
        assert len(names) == sum(file.read_text().count("\n@entry(") for file in files) > 10
        assert all(map(library._engine(package).get_function_address, names))
        needed, _ = json.loads((cache_files.kept(package) or b"").partition(b"\n")[0])
        assert [name for name in needed if name.startswith(("NRT_", "numba_"))] == []


def test_a_process_that_compiles_nothing_does_not_load_numba() -> None:
    library.ready("euphoria_env")
    program = "import gc, sys; gc.set_threshold(321, 4, 5); from euphoria_env import Game; Game(seed=1); "
    program += "print('numba' in sys.modules, 'euphoria_env.render' in sys.modules, gc.get_threshold())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False False (321, 4, 5)\n", "")


def test_uses_of_the_collector_may_overlap() -> None:
    before = gc.get_threshold()
    first, second = garbage.collected_rarely(), garbage.collected_rarely()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    rarely = gc.get_threshold()
    second.__exit__(None, None, None)
    assert rarely[0] > before[0] and gc.get_threshold() == before


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home to write in; the folder of the package cannot be written to."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(cache_files, "PACKAGE", tmp_path / "a_file")
    (tmp_path / "a_file").write_text("")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def cache_directory() -> Path | None:
    return cache_files.cache_directory.__wrapped__()


def test_the_cache_is_a_private_folder_in_the_home(home: Path) -> None:
    folder = cache_directory()
    assert folder == home / ".cache" / "euphoria_env" and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache_directory() == folder


def test_a_folder_that_others_can_write_to_or_own_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = home / ".cache" / "euphoria_env"
    planted.parent.mkdir(parents=True)
    planted.symlink_to(home)
    assert cache_directory() is None
    planted.unlink()
    planted.mkdir()
    for mode in (0o777, 0o770):
        planted.chmod(mode)
        assert cache_directory() is None
    planted.chmod(0o700)
    assert cache_directory() == planted
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    assert cache_directory() is None


def test_a_relative_cache_home_is_ignored(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_directory() == home / ".cache" / "euphoria_env" and not Path("relative").exists()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home.parent / "absolute"))
    assert cache_directory() == home.parent / "absolute" / "euphoria_env"
