"""Results name the files that agents read, in whatever way; changed agents play again, and mixtures are refused."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import shutil
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents.agent_process import AgentProcess
from euphoria_agents.benchmark import judging
from euphoria_agents.benchmark.replaying import Replay
from euphoria_agents.benchmark.tasks import TASKS
from euphoria_agents.matches import work
from euphoria_agents.matches.processes import in_processes
from euphoria_agents.matches.tournament import comparison
from euphoria_agents.matches.work import Journal, WorkUnit, play_units, players_ended, sources
from euphoria_agents.provenance import (
    CLOCK,
    COMPILED,
    CONNECTION,
    LIBRARY,
    NAMES,
    PROCESS,
    Inputs,
    changed_since,
    joined,
    published_names,
)
from euphoria_env import Rules
from tests.tools.commands import euphoria

READER = """
import numpy as np
import helper
import kit.tools

class Reader:
    def __init__(self, path):
        self.n = sum(int(open(name).read()) for name in (path, "weights.txt")) + int(np.load("more.npy")[0])
        try:
            self.n += len(open("extra.txt").read())
        except FileNotFoundError:
            pass
    def act(self, observation, mask, rng):
        import late
        with open("late.txt") as file:
            n = self.n + helper.N + kit.tools.N + late.N + int(file.read())
        legal = mask.nonzero()[0]
        return int(legal[n % len(legal)])
"""
FILES = (
    "helper.py",
    "kit/__init__.py",
    "kit/tools.py",
    "late.py",
    "weights.txt",
    "argument.txt",
    "late.txt",
    "more.npy",
    "reader.py",
)
SPEC = "reader:Reader:argument.txt"
RULES = Rules(num_players=2, max_turns=12)
HERE = partial(in_processes, processes=1)
SHORT = ("--processes", 1, "--max-turns", 12)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder, with an agent that reads all of `FILES`."""
    (tmp_path / "kit").mkdir()
    for name in FILES:
        (tmp_path / name).write_text("N = 0\n" if name.endswith(".py") else "0")
    (tmp_path / "reader.py").write_text(READER)
    np.save(tmp_path / "more.npy", np.zeros(1))
    monkeypatch.chdir(tmp_path)
    before = sys.path.copy()
    yield tmp_path
    sys.path[:] = before


def change(name: str) -> None:
    """Another content of a file; `more.npy` stays an array."""
    if name == "more.npy":
        np.save(name, np.load(name) + 1)
    else:
        path = Path(name)
        path.write_text((path.read_text() if path.exists() else "") + ("N = 1\n" if name.endswith(".py") else "1"))


# ------------------------------------------------------------------------------------------------ what every command notices


@pytest.mark.parametrize(
    ("command", "changed"), [("evaluate", (*FILES, "extra.txt")), ("tournament", ("late.py", "argument.txt", "extra.txt"))]
)
def test_games_of_a_changed_agent_are_played_again(command: str, changed: tuple[str, ...]) -> None:
    agents = ("--agent", SPEC, "--against", "random") if command == "evaluate" else ("--agents", SPEC, "random")
    words = (command, *agents, "--games", 2, "--out", "out", *SHORT)

    def lines() -> int:
        status, _, told = euphoria(*words)
        assert status == 0, told
        return Path("out", "chunks.jsonl").read_text().count("\n")

    units = lines()
    assert lines() == units, "nothing is played again"
    for k, name in enumerate(changed, 2):
        change(name)
        assert lines() == k * units, f"{name} has changed"
    assert lines() == k * units, "nothing is played again"
    entry = json.loads(Path("out", "chunks.jsonl").read_text().splitlines()[-1])
    assert {*entry["result"]["inputs"][SPEC]["files"]} == {*FILES, "extra.txt"}


def each_changed() -> Iterator[str]:
    """The names of the files, each changed as long as the loop is at it."""
    for name in (*FILES, "extra.txt"):
        kept = Path(name).read_bytes() if Path(name).exists() else None
        change(name)
        yield name
        Path(name).unlink() if kept is None else Path(name).write_bytes(kept)


def test_a_data_set_does_not_mix_agents() -> None:
    pytest.importorskip("pyarrow")
    words = ("collect", "--agents", SPEC, "random", "--games", 2, "--out", "out", *SHORT)
    about = Path("out", "_about", "dataset.json")
    assert euphoria(*words)[0] == 0 and euphoria(*words)[0] == 0
    finished = about.read_bytes()
    found = json.loads(finished)["agents"][0]
    assert {*found["files"]} == {*FILES} and found["unseen"] == []
    for name in each_changed():
        for is_finished in (True, False):
            about.write_bytes(finished) if is_finished else about.unlink()
            status, _, told = euphoria(*words)
            assert status == 2 and told == f"error: out holds the results of another {name}: choose another --out, or delete it\n"


def small() -> Any:
    """A task of few short games."""
    return dataclasses.replace(
        TASKS["duel-v1"], games=8, judged={"max_turns": 12}, opponents=("random", "weights"), anchors=(1, 2)
    )


def test_judging_notices_changes() -> None:
    out, task = Path("out"), small()

    def judge(run: Callable[..., Any] = HERE) -> Any:
        return judging.judge(task, SPEC, out, run)

    def interrupted(work: Any, units: list[Any]) -> Iterator[Any]:
        yield units[0], work(units[0])
        raise KeyboardInterrupt

    played: list[Any] = []

    def counted(work: Any, units: list[Any]) -> Iterator[Any]:
        played.extend(units)
        return HERE(work, units)

    with pytest.raises(KeyboardInterrupt):
        judge(interrupted)
    change("weights.txt")
    found = judge(counted)
    assert len(played) == sum(len(match.units) for match in judging.matches_of(task, SPEC)), "the finished game does not count"
    assert {*found["agent"]["files"]} == {*FILES} and "unseen" not in found["agent"]
    assert judge() == found and Replay(task, SPEC, out / "result.json", HERE).check()
    for name in each_changed():
        with pytest.raises(ValueError, match=rf"result\.json is of another \S*/{name}: choose another --out"):
            judge()
        with pytest.raises(ValueError, match=f"cannot be checked: its agent has other files: {name}"):
            Replay(task, SPEC, out / "result.json", HERE).check()
    assert judge() == found


def test_an_analysis_is_of_one_agent() -> None:
    from euphoria_agents.play.study.game_analysis import Analysis
    from tests.test_study import record_of

    text = record_of(RULES, ["random", "random"], decisions=6)
    with players_ended():
        found = list(Analysis(text, SPEC).in_file("a.jsonl"))
        assert {*json.loads(Path("a.jsonl").read_text().splitlines()[0])["files"]} >= {*FILES} - {"late.py", "late.txt"}
    with players_ended():
        assert list(Analysis(text, SPEC).in_file("a.jsonl")) == found
    change("weights.txt")
    with players_ended(), pytest.raises(ValueError, match="it is of another analysis: files is"):
        list(Analysis(text, SPEC).in_file("a.jsonl"))


# ------------------------------------------------------------------------------------------------ mixtures


@pytest.mark.parametrize("renewed", [False, True], ids=["the same process", "a new process"])
@pytest.mark.parametrize("name", ["weights.txt", "late.txt", "helper.py"])
def test_files_that_change_meanwhile_are_named(name: str, renewed: bool) -> None:
    units, journal = comparison(SPEC, "random", RULES, 6, 0, 1), Journal(Path("journal.jsonl"))

    def run(work: Any, some: list[WorkUnit]) -> Iterator[Any]:
        for unit in some:
            yield unit, work(unit)
            change(name)
            if renewed:
                with players_ended():
                    pass

    with players_ended(), pytest.raises(ValueError, match=f"^{name} changed while the games were played"):
        play_units(units, journal, run)
    assert len(journal.finished(units)) == 0
    with players_ended():
        assert len(play_units(units, journal, HERE)) == 3


def test_what_is_joined_must_agree() -> None:
    one, other = {"a:A": Inputs({"x": "1"}, ["b"])}, {"a:A": Inputs({"y": "2"}, ["a"]), "b:B": Inputs({"x": "1"})}
    assert joined([one, other]) == {"a:A": Inputs({"x": "1", "y": "2"}, ["a", "b"]), "b:B": Inputs({"x": "1"})}
    with pytest.raises(ValueError, match="^x changed while"):
        joined([one, {"b:B": Inputs({"x": ""})}])


def test_results_that_do_not_say_what_was_read_are_played_again(folder: Path) -> None:
    units, journal = comparison(SPEC, "random", RULES, 2, 0, 1), Journal(Path("journal.jsonl"))
    with players_ended():
        play_units(units, journal, HERE)
    assert len(journal.finished(units)) == 1
    line = json.loads(Path("journal.jsonl").read_text())
    del line["result"]["inputs"]
    Path("journal.jsonl").write_text(json.dumps(line) + "\n")
    assert not journal.finished(units)


# ------------------------------------------------------------------------------------------------ what is seen

DOES = {
    "Path('a.txt').read_text()": ({"a.txt"}, []),
    "Path('a.txt').resolve().open('rb').read(1)": ({"a.txt", "about//a.txt"}, []),
    "os.close(os.open('a.txt', os.O_RDONLY))": ({"a.txt"}, []),
    "np.fromfile('a.txt', np.int8)": ({"a.txt"}, []),
    "np.load('more.npy', mmap_mode='r')": ({"more.npy"}, []),
    "__import__('sqlite3').connect('a.db').close()": ({"a.db"}, []),
    "__import__('zlib'), __import__('zipfile').ZipFile('a.zip').read('x')": ({"a.zip"}, []),
    "sys.path.insert(0, 'a.zip'), __import__('zipped')": ({"a.zip"}, []),
    "exec(open('a.txt').read())": ({"a.txt"}, []),
    "open('link').read()": ({"link"}, []),
    "os.chdir('kit'), open('../a.txt').read()": ({"a.txt"}, []),
    "os.path.exists('a.txt') or open('b.txt')": ({"about//a.txt"}, []),
    "Path('none').exists()": ({"about//none"}, []),
    "os.stat('a.txt').st_size": ({"about//a.txt"}, []),
    "Path('no').exists() or __import__('ctypes').CDLL(None).mkdir(b'no', 0o700)": (
        set(),
        [COMPILED, "no, which it also writes"],
    ),
    "os.access('none', os.R_OK), os.path.isdir('kit')": ({"about//none", "about//kit"}, []),
    "open(__import__('_struct').__file__), open('a.so')": ({"a.so"}, [LIBRARY]),
    "__import__('pickle').dumps((os.stat, os.open))": (set(), []),
    "os.readlink('link')": ({"about//link"}, []),
    "os.path.islink('a.txt')": ({"about//a.txt"}, []),
    "os.stat('tools.py', dir_fd=os.open('kit', os.O_RDONLY))": ({"about//kit/tools.py"}, []),
    "__import__('concurrent.futures').futures.ThreadPoolExecutor(1).submit(os.path.exists, 'none').result()": (
        {"about//none"},
        [],
    ),
    "os.path.exists('new') or open('new', 'w').close(), open('new').read()": (set(), []),
    "os.makedirs('new/er'), Path('new/er/a').write_text('3'), Path('new/er/a').exists()": (set(), []),
    "os.makedirs('kit', exist_ok=True)": ({"about//kit"}, []),
    "os.path.exists('a.txt') and open('a.txt', 'a').write('3')": (set(), ["a.txt, which it also writes"]),
    "os.open('tools.py', os.O_RDONLY, dir_fd=os.open('kit', os.O_RDONLY))": ({"kit/tools.py", "tools.py"}, []),
    "open('tools.py', opener=lambda path, flags: os.open(path, flags, dir_fd=os.open('kit', os.O_RDONLY)))": (
        {"kit/tools.py", "tools.py"},
        [],
    ),
    "open('/proc/self/cwd/a.txt').read()": ({"a.txt"}, []),
    "(lambda f: open(f'/proc/self/fd/{f}').read())(os.open('a.txt', os.O_RDONLY))": ({"a.txt"}, []),
    "(lambda f: open(f'/dev/fd/{f}').read())(os.open('a.txt', os.O_RDONLY))": ({"a.txt"}, []),
    "open('kit/site-packages/a.txt').read()": ({"kit/site-packages/a.txt"}, []),
    "open('__pycache__/a.txt').read()": ({"__pycache__/a.txt"}, []),
    "os.environ['HOME'], os.environ.get('EUPHORIA_NO'), 'PATH' in os.environ": (
        {"environment//HOME", "environment//EUPHORIA_NO", "environment//PATH"},
        [],
    ),
    "os.getenv('EUPHORIA_NO'), os.environb.get(b'PATH')": ({"environment//EUPHORIA_NO", "environment//PATH"}, []),
    "os.environ.setdefault('EUPHORIA_NO', '1'), os.environ['EUPHORIA_NO']": ({"environment//EUPHORIA_NO"}, []),
    "list(os.environ)": ({"environment//"}, []),
    "os.link('a.txt', 'other'), open('other').read(), os.remove('other')": ({"a.txt"}, []),
    "os.rename('a.txt', 'b'), open('b').read(), os.rename('b', 'a.txt')": (set(), ["a.txt, which it also writes"]),
    "open('none')": ({"none"}, []),
    "open('new.txt', 'w').write('1'), open('new.txt').read()": (set(), []),
    "open('log.txt', 'w').close(), open('log.txt', 'a').close()": (set(), []),
    "open('a.txt').read(), open('a.txt', 'w').write('3')": (set(), ["a.txt, which it also writes"]),
    "open('a.txt', 'r+').write('3')": (set(), ["a.txt, which it also writes"]),
    "open('a.txt', 'a+').read()": (set(), ["a.txt, which it also writes"]),
    "np.memmap('a.txt')": (set(), ["a.txt, which it also writes"]),
    "open('a.txt').read(), open('n', 'w').write('3'), os.replace('n', 'a.txt')": (set(), ["a.txt, which it also writes"]),
    "__import__('tempfile').TemporaryFile().write(b'3')": (set(), []),
    "open('/proc/self/status').read(), open('/dev/null').read()": (set(), []),
    "__import__('json.tool'), __import__('rich.table')": (set(), []),
    "__import__('socket').create_connection(('127.0.0.1', 9), 1)": (set(), [CONNECTION]),
    "__import__('subprocess').run(['true'])": (set(), [PROCESS]),
    "os.system('true')": (set(), [PROCESS]),
    "os.fork() or os._exit(0)": (set(), [PROCESS]),
    "os.posix_spawn('/bin/true', ['true'], {})": (set(), [PROCESS]),
    "__import__('multiprocessing.util').util.spawnv_passfds(b'/bin/true', [b'true'], [])": (set(), [PROCESS]),
    "__import__('multiprocessing').get_context('spawn').Process(target=abs, args=(1,)).start()": (set(), [PROCESS]),
    "__import__('concurrent.futures').futures.ProcessPoolExecutor(1).submit(abs, 1).result()": (set(), [CONNECTION, PROCESS]),
    "__import__('ctypes').CDLL(None).getpid()": (set(), [COMPILED]),
    "__import__('numba').njit(lambda x: x + 1)(1)": (set(), []),
    "os.listdir('.')": (set(), [NAMES]),
    "list(Path('.').glob('*.txt'))": (set(), [NAMES]),
    "list(os.walk('kit'))": ({"about//kit/site-packages"}, [NAMES]),
}
PROBE = """import os, sys
from pathlib import Path
import numpy as np
class Probe:
    def act(self, observation, mask, rng):
        try:
            %s
        except OSError:
            pass
        return int(mask.argmax())
"""


@pytest.mark.parametrize("does", DOES)
def test_what_an_agent_reads_is_seen(does: str, folder: Path) -> None:
    import zipfile

    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("x", "1")
        archive.writestr("zipped.py", "1")
    for name in ("a.txt", "a.db"):
        Path(name).write_text("1" if name == "a.txt" else "")
    os.symlink("a.txt", "link")
    for place in ("kit/site-packages", "__pycache__"):
        os.mkdir(place)
        shutil.copy("a.txt", place)
    shutil.copy("a.txt", "a.so")
    (folder / "probe.py").write_text(PROBE % does)
    files, unseen = DOES[does]
    with AgentProcess("probe:Probe") as agent:
        assert agent.inputs() == Inputs({"probe.py": agent.inputs().files["probe.py"]})
        agent.act(np.zeros(9, np.int8), np.ones(9, np.int8), np.random.default_rng(0))
        found = agent.inputs()
    assert {*found.files} == {"probe.py", *files} and found.unseen == unseen
    for name, digest in found.files.items():
        what = name.rpartition("//")[2]
        assert len(digest) == 16 * (name == "environment//" or what in os.environ or os.path.exists(what))
    if "environment//" not in found.files:  # pytest changes one from test to test
        assert not changed_since([found])


@pytest.mark.parametrize(
    ("line", "unseen"),
    [
        ("import time", [CLOCK]),
        ("import os, datetime as d", [CLOCK]),
        ("from time import perf_counter", [CLOCK]),
        ("import timeit", []),
        ("import safetensors", [LIBRARY]),
        ("import os, posix", [COMPILED]),
        ("0 and torch.UntypedStorage.from_file('w.bin')", [COMPILED]),
        ("0 and os.path.getmtime('w.bin')", [CLOCK]),
        ("TEXT = 'import time'", []),
    ],
)
def test_what_nobody_can_see_is_said(line: str, unseen: list[str], folder: Path) -> None:
    (folder / "probe.py").write_text(PROBE % "0" + line + "\n")
    with AgentProcess("probe:Probe") as agent:
        assert agent.inputs().unseen == unseen


def test_what_is_not_seen_is_told_with_the_results(folder: Path) -> None:
    (folder / "probe.py").write_text("import time\n" + PROBE % "os.listdir('.')")
    status, printed, told = euphoria("evaluate", "--agent", "probe:Probe", "--games", 2, "--out", "out", *SHORT)
    assert status == 0, told
    assert f"probe:Probe may also depend on {CLOCK}, {NAMES}" in " ".join(printed.split())
    assert json.loads(Path("out", "results.json").read_text())[0]["unseen"] == {"probe:Probe": [CLOCK, NAMES]}


@pytest.mark.parametrize("does", ["os.system('true')", "open('a.txt', 'r+').close()", "os.listdir('.')"])
def test_games_whose_changes_cannot_be_noticed_are_not_used_again(does: str, folder: Path) -> None:
    from euphoria_agents.play.study.game_analysis import differences

    Path("a.txt").write_text("1")
    (folder / "probe.py").write_text(PROBE % does)
    words = ("--games", 2, "--out", "out", *SHORT)
    for k in (1, 2):
        status, _, told = euphoria("evaluate", "--agent", "probe:Probe", *words)
        assert status == 0 and Path("out", "chunks.jsonl").read_text().count("\n") == k
        assert ("games are played again, since their agents may depend on" in told) == (k == 2)
    unseen = json.loads(Path("out", "results.json").read_text())[0]["unseen"]["probe:Probe"]
    shutil.rmtree("out")
    found = judging.judge(small(), "probe:Probe", Path("judged"), HERE)
    assert found["agent"]["unseen"] == unseen
    with pytest.raises(ValueError, match=rf"result\.json is not used again, since its agents may depend on {unseen[0]}"):
        judging.judge(small(), "probe:Probe", Path("judged"), HERE)
    header = {"files": {}, "unseen": unseen}
    assert differences(header, header) and not differences({**header, "unseen": [CLOCK]}, {**header, "unseen": []})
    if importlib.util.find_spec("pyarrow"):
        words = ("collect", "--agents", "probe:Probe", "random", *words)
        assert euphoria(*words)[0] == 0
        before = {file: file.read_bytes() for file in Path("out").rglob("*.*")}
        status, _, told = euphoria(*words)
        assert status == 2 and told.startswith(f"error: out is not used again, since its agents may depend on {unseen[0]}")
        assert before == {file: file.read_bytes() for file in Path("out").rglob("*.*")}


def test_changes_of_what_is_asked_are_noticed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.symlink("argument.txt", "link")
    asked = "os.path.exists('a.txt'), os.path.isdir('none'), os.stat('late.txt'), os.path.islink('link'), os.environ.get('HOME')"
    (folder / "probe.py").write_text(PROBE % asked)
    with AgentProcess("probe:Probe") as agent:
        agent.act(np.zeros(9, np.int8), np.ones(9, np.int8), np.random.default_rng(0))
        before = agent.inputs()
    changes = {
        "about//a.txt": lambda: Path("a.txt").write_text("1"),
        "about//none": lambda: Path("none").mkdir(),
        "about//late.txt": lambda: Path("late.txt").write_text("10"),
        "about//link": lambda: (os.remove("link"), os.symlink("late.txt", "link")),
        "environment//HOME": lambda: monkeypatch.setenv("HOME", "elsewhere"),
    }
    assert changes.keys() == before.files.keys() - {"probe.py"} and not published_names({name: "1" for name in changes})
    for name, make in changes.items():
        assert name not in dict(changed_since([before]))
        make()
        assert name in dict(changed_since([before]))


def test_a_plugin_and_what_it_imports_count(folder: Path) -> None:
    home = folder / "site-packages"  # which is no folder of installed packages for its name alone
    (home / "plug").mkdir(parents=True)
    (home / "plug" / "__init__.py").write_text("import other\n" + READER.replace("import helper", "import plug.helper as helper"))
    (home / "plug" / "helper.py").write_text("N = 0\n")
    (home / "other.py").write_text("")
    sys.path.append(str(home))
    with AgentProcess("plug:Reader:argument.txt") as agent:
        files = agent.inputs().files
    own = {"site-packages/plug/__init__.py", "site-packages/plug/helper.py", "site-packages/other.py", "weights.txt"}
    assert own < {*files}


def test_published_names_do_not_tell_where_files_lie() -> None:
    names = published_names({"a/b.py": "1", "/here/me/w.bin": "2", "/here/you/w.bin": "3", "/none": ""})
    assert names == {"a/b.py": "1", "2/w.bin": "2", "3/w.bin": "3"}


def test_comments_in_the_project_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one" / "__init__.py", tmp_path / "two" / "matches" / "work.py"
    for path in (one, two):
        path.parent.mkdir(parents=True)
        path.write_text("A = 1\n")
    monkeypatch.setattr(work, "euphoria_env", types.SimpleNamespace(__file__=str(one)))
    monkeypatch.setattr(work, "__file__", str(two))
    monkeypatch.setattr(work.cache_files, "cache_directory", lambda: tmp_path)
    key = work.hash_of_code.__wrapped__
    before = key()
    two.write_text('"""Says."""\nA = 1  # one\n')
    assert key() == before
    two.write_text("A = 2\n")
    assert key() != before
    before = key()
    (two.parent / "rules.md").write_text("What language models read.\n")
    assert key() != before
    shutil.rmtree(two.parent)
    assert len(sources(["random"])) == 16
