"""Compiled code on disk: damaged files are compiled again, planted ones are not read, and no folder is no reason to fail."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numba
import pytest

from euphoria_env.engine import cache, jit

ROOT = Path(__file__).parent.parent
# A small entry point of its own, so that compiling takes a second.
PROGRAM = """
from euphoria_env.engine import cache, jit

@jit.entry
def double(x):
    return 2 * x

print(double(21), len(double.stats.cache_hits), sum(double.stats.cache_misses.values()))
"""


def run(folder: Path, **environment: str) -> list[str]:
    (folder / "program.py").write_text(PROGRAM)
    found = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    found |= {"PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run([sys.executable, "program.py"], cwd=folder, env=found, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def spoil_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "emptied": lambda path: path.write_bytes(b""),
    "halved": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "zeroed": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "flipped": lambda path: path.write_bytes(path.read_bytes()[:-100] + b"\xff" + path.read_bytes()[-99:]),
    "a folder": spoil_by_a_folder,
}


@pytest.mark.long
def test_damaged_files_are_compiled_anew(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert run(tmp_path, NUMBA_CACHE_DIR=str(kept)) == ["42", "0", "1"]
    assert run(tmp_path, NUMBA_CACHE_DIR=str(kept)) == ["42", "1", "0"]
    for name, damage in DAMAGES.items():
        (file,) = kept.glob("program.double*.nbc")
        damage(file)
        assert run(tmp_path, NUMBA_CACHE_DIR=str(kept)) == ["42", "0", "1"], name
        if name != "a folder":
            assert run(tmp_path, NUMBA_CACHE_DIR=str(kept)) == ["42", "1", "0"], name


def test_comments_and_docstrings_compile_nothing(tmp_path: Path) -> None:
    plain, told, other = (tmp_path / folder / "rules.py" for folder in ("plain", "told", "other"))
    texts = (
        "def f(x):\n    assert x\n    return 1\n",
        '"""M."""\n\n\ndef f(x):\n    """D."""\n    # c\n    assert x\n    return 1\n',
    )
    for path, text in zip((plain, told, other), (*texts, texts[0].replace("assert x", "assert not x")), strict=True):
        path.parent.mkdir()
        path.write_text(text)
    first, second, third = (cache._sources_hash([path]) for path in (plain, told, other))
    assert first == second != third
    assert first == cache._sources_hash([plain]), "as it was kept"


@pytest.mark.slow
def test_another_source_is_another_key(tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    run(tmp_path, NUMBA_CACHE_DIR=kept)
    (tmp_path / "beside.py").write_text("NUMBER = 1  # of a file that the program might import\n")
    assert run(tmp_path, NUMBA_CACHE_DIR=kept) == ["42", "0", "1"]


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_only_entry_points_become_machine_code() -> None:
    """A part is linked into those who call it, once; called from Python it runs as Python, with the same result."""

    @jit.jit
    def checked(x: int) -> int:
        if x < 0:
            raise ValueError("negative")
        return x + 1

    @jit.jit
    def twice(x: int) -> int:
        return checked(checked(x))

    @jit.entry
    def outer(x: int) -> int:
        return twice(x) + checked(x)

    assert outer(1) == 5
    with pytest.raises(ValueError, match="negative"):
        outer(-5)
    compiled = [next(iter(function.overloads.values())) for function in (outer, twice, checked)]
    assert [result.library.get_pointer_to_function(result.fndesc.llvm_func_name) > 0 for result in compiled] == [
        True,
        False,
        False,
    ]
    assert twice(1) == 3
    with pytest.raises(ValueError, match="negative"):
        twice(-1)


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Nowhere to write but the temporary folder; which is given."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(cache, "_PACKAGE", tmp_path / "a_file")
    (tmp_path / "a_file").write_text("")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: (_ for _ in ()).throw(RuntimeError("no home"))))
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    return shared


def test_without_a_home_there_is_a_private_folder(homeless: Path) -> None:
    folder = cache.cache_directory()
    assert folder == homeless / f"euphoria_env-{os.getuid()}" and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache.cache_directory() == folder


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_to_is_not_used(homeless: Path, mode: int) -> None:
    planted = homeless / f"euphoria_env-{os.getuid()}"
    planted.mkdir()
    planted.chmod(mode)
    assert cache.cache_directory() is None


def test_a_link_or_a_folder_of_somebody_else_is_not_used(homeless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = homeless / f"euphoria_env-{os.getuid()}"
    planted.symlink_to(homeless.parent)
    assert cache.cache_directory() is None
    planted.unlink()
    uid = os.getuid()
    planted.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    shutil.move(planted, homeless / f"euphoria_env-{uid + 1}")
    assert cache.cache_directory() is None


def test_a_relative_cache_home_is_ignored(homeless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(homeless.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.cache_directory() == homeless / f"euphoria_env-{os.getuid()}" and not Path("relative").exists()
    monkeypatch.setenv("XDG_CACHE_HOME", str(homeless.parent / "absolute"))
    assert cache.cache_directory() == homeless.parent / "absolute" / "euphoria_env"


ENTRY_POINTS = """
import sys
from importlib import import_module
from euphoria_agents.commands import compile
from euphoria_env.engine.jit import ENTRIES

for module in sys.argv[1:]:
    import_module(module)
for step in compile.steps().values():
    step()
signatures = {name: len(entry.overloads) for name, entry in ENTRIES.items()}
assert len(signatures) >= len(sys.argv[1:])
print({name: number for name, number in signatures.items() if number != 1})
"""


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compile_reaches_every_entry_point_with_one_signature() -> None:
    """A new entry point that `euphoria compile` leaves out would be compiled while somebody plays."""
    pytest.importorskip("safetensors")
    sources = [*(ROOT / "euphoria_env").rglob("*.py"), *(ROOT / "agents" / "euphoria_agents").rglob("*.py")]
    found = [path for path in sources if "\n@entry\n" in path.read_text(encoding="utf-8")]
    roots = (ROOT / "agents", ROOT)
    modules = [
        ".".join(path.relative_to(next(root for root in roots if path.is_relative_to(root))).with_suffix("").parts)
        for path in found
    ]
    assert "euphoria_env.engine.loop" in modules and "euphoria_agents.players.greedy" in modules
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}"}
    done = subprocess.run([sys.executable, "-c", ENTRY_POINTS, *modules], env=environment, capture_output=True, text=True)
    assert done.stdout == "{}\n", done.stdout + done.stderr


def test_what_is_compiled_is_named(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(ROOT)}
    for told in ("compiling __main__.double ...\n", ""):
        done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.stderr == told


ELSEWHERE = """
from euphoria_agents.web.jobs import compile_in_process
from euphoria_env.engine.cache import compiled_elsewhere
from part import double

with compiled_elsewhere(compile_in_process):
    print(double(21), len(double.stats.cache_hits), sum(double.stats.cache_misses.values()))
"""


def test_a_server_has_code_compiled_in_another_process(tmp_path: Path) -> None:
    """The code is then found in the cache; where nothing can be kept, it is compiled here."""
    (tmp_path / "part.py").write_text(PROGRAM.rpartition("print")[0])
    for kept, found in ((tmp_path / "kept", ["42", "1", "0"]), (tmp_path / "part.py" / "nowhere", ["42", "0", "1"])):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(kept), "PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}:{tmp_path}"}
        done = subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.stdout.split() == found, done.stderr
        assert done.stderr == "compiling part.double ...\n"
