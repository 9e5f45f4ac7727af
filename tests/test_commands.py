"""The command `euphoria`: its options, what it says of bad input, and agents of your own."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from euphoria_agents.__main__ import main
from euphoria_agents.commands import COMMANDS, imported
from euphoria_agents.dataclass_arguments import command, parse_options
from euphoria_env import Rules
from euphoria_env.engine import library
from tests.tools.commands import PATHS, euphoria, heed_interrupts

RECORD = Path(__file__).parent / "golden" / "2_players.record"
ENTRY = Path(__file__).parent.parent / "benchmarks" / "results" / "text-v1" / "weights.json"
PLAYED = tuple(dict.fromkeys(name for name in COMMANDS if imported(COMMANDS[name].options).__dataclass_fields__.get("game")))

MY_AGENTS = '''
class Mine:
    def act(self, observation, mask, rng, game=None):
        return int(mask.argmax())

class Raises:
    """After a while: when it is asked for the first time, all is well."""

    asked = 0

    def act(self, observation, mask, rng, game=None):
        Raises.asked += 1
        return int(mask.argmax()) if Raises.asked < 20 else {}["gold"]
'''


def python(program: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process that heeds interrupts."""
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PATHS},
        preexec_fn=heed_interrupts,
    )


# ------------------------------------------------------------------------------------------------------- the command line


@pytest.mark.parametrize(
    ("words", "printed"), [([], "usage: euphoria COMMAND"), (["--help"], "usage:"), (["--version"], "euphoria-env ")]
)
def test_help_and_version(words: list[str], printed: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    out = capsys.readouterr().out
    assert ended.value.code == 0 and out.startswith(printed)
    assert "--version" in words or all(f"  {name} " in out for name in COMMANDS)


def test_every_command_has_help_and_imports_no_big_library_for_it() -> None:
    """Neither what compiles, nor what draws or trains; the overview needs no library at all."""
    big = {"rich", "torch", "stable_baselines3", "safetensors", "matplotlib", "openskill", "pyarrow", "ray", "numba", "llvmlite"}
    program = (
        "import sys\nfrom euphoria_agents.__main__ import main\n"
        f"for words in {[[], *(name.split() for name in COMMANDS)]}:\n"
        "    try: main([*words, '--help'])\n    except SystemExit: pass\n    print('loaded', *sys.modules)"
    )
    printed = python(program).stdout
    assert all(f"usage: euphoria {name} " in printed for name in COMMANDS)
    overview, *others = (set(line.split()) for line in printed.splitlines() if line.startswith("loaded "))
    assert not overview & {"numpy", "numba"} and len(others) == len(COMMANDS)
    for name, loaded in zip(COMMANDS, others, strict=True):
        assert not loaded & big, name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("dance", "there is no command 'dance'"),
        ("trian --players 2", "there is no command 'trian'; do you mean train?"),
        ("evaluate --games x", "argument --games: invalid int value: 'x'"),
        ("evaluate --games 1000000000000000000", "games must"),
        ("evaluate --agent nobody", "no agent is called 'nobody'"),
        ("evaluate --against weights ppo:/none", "cannot be read as a checkpoint"),
        ("evaluate --players 2 7", "num_players must"),
        ("evaluate --processes 0", "processes must"),
        ("tournament --agents random weights random", "two or more different agents, not random, weights, random"),
        ("tournament --seed -1", "seed must"),
        ("tournament --out /dev/null", "/dev/null is not a folder"),
        ("replay", "the following arguments are required: record"),
        ("replay /none", "/none: no such file"),
        ("replay x --every night", "argument --every: invalid choice: 'night'"),
        ("play --seats me nobody", "agent"),
        ("play --seats me ppo ppo --players 2", "--seats names 3, more than the 2 of --players"),
        ("play --players 1000000", "num_players must be an integer from 2 to 6"),
        ("play --allow nobody", "nobody"),
        ("play --load x --seats me", "--load takes seats"),
        (f"analyse {RECORD} --agent nobody", "no agent is called 'nobody'"),
        (f"analyse {RECORD} --threshold 2", "threshold must"),
        (f"analyse {RECORD} --processes 0", "processes must"),
        ("speed --seconds nan", "seconds must be positive"),
        ("speed --groups all", "invalid choice: 'all'"),
        ("collect --reward gold", "reward must be one of"),
        ("collect --games 0", "games must be at least 1"),
        ("collect --agents nobody", "no agent is called 'nobody'"),
        ("collect --seed -1", "seed must"),
        ("benchmark duel-v1 --agent nobody", "no agent is called 'nobody'"),
        ("benchmark duel-v1 --check /none", "/none"),
        ("benchmark duel-v1 --name a|b", "name must be"),
        ("benchmark nothing-v1", "nothing-v1"),
        ("benchmark judge /none", "/none: no such file"),
        (f"benchmark judge {ENTRY} --agent nobody", "no agent is called 'nobody'"),
        (f"benchmark judge {ENTRY} --seed -1", "seed must"),
        ("evaluate --max-turns 0", "max_turns must"),
        ("speed --sizes 0", "sizes must"),
        ("speed --players 7", "num_players must"),
        (f"analyse {RECORD} --seed -1", "seed must"),
        (f"analyse {RECORD} --playouts x", "playouts"),
        ("serve /none", "/none: no such file"),
        ("serve --data /none/games.sqlite", "there is no folder /none"),
        ("serve --agents nobody", "no agent is called 'nobody'"),
        ("play --load /none", "/none: no such file"),
        ("play --stars-to-win 99", "stars_to_win must"),
    ],
)
def test_bad_input_is_told_in_a_line(words: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "ready", lambda package: pytest.fail("compiled before the options were checked"))
    status, printed, told = euphoria(*words.split())
    assert (status, printed) == (2, "") and told.startswith("error: ") and message in told and told.count("\n") == 1


@pytest.mark.parametrize("name", PLAYED)
def test_every_option_of_the_rules_is_one_of_the_command(name: str) -> None:
    assert parse_options(imported(COMMANDS[name].options), name, []).game == {}, "unset, so that a training may draw them"
    chosen = parse_options(imported(COMMANDS[name].options), name, ["--trading", "--trades-per-turn", "3", "--no-track-draft"])
    assert Rules(**chosen.game) == Rules(trading=True, trades_per_turn=3)


def test_a_missing_library_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "euphoria_agents.commands.train", None)
    monkeypatch.delitem(sys.modules, "euphoria_agents.commands.train")
    for name in [name for name in sys.modules if name.startswith("euphoria_agents.training.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit) as ended:
        main(["train"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "error: 'euphoria train' needs torch: pip install 'euphoria-env[train]'\n"


def test_a_broken_library_is_not_told_as_a_missing_one(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    (tmp_path / "pyarrow").mkdir()
    (tmp_path / "pyarrow" / "__init__.py").write_text("import a_part_of_it")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [
        name for name in sys.modules if name.startswith(("pyarrow", "euphoria_agents.data", "euphoria_agents.commands.collect"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SystemExit) as ended:
        main(["collect", "--out", str(tmp_path / "out")])
    assert ended.value.code == 2 and capsys.readouterr().err == "error: No module named 'a_part_of_it'\n"


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"]])
def test_output_that_cannot_be_written_is_an_error(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2 and capsys.readouterr().err.startswith("error: the output cannot be written: No space left")


def test_a_fault_of_ours_is_no_bad_input() -> None:
    with pytest.raises(KeyError):
        command(lambda: {}["a"])


# ------------------------------------------------------------------------------------------------------- interrupts


INTERRUPTED_AT = """
import os, signal, sys

class Stage:
    def find_spec(self, name, *_):
        if name == {stage!r}:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

for name in [name for name in sys.modules if name.startswith(("argparse", "euphoria_"))]:
    del sys.modules[name]  # as if nothing had been imported before
from euphoria_agents.__main__ import main
sys.meta_path.insert(0, Stage())
sys.argv[1:] = {words!r}
main()
"""
SMALL_RUN = (
    "train --run run --threads 1 --win-probs-games 0 --players 2 --baselines random --envs 4 --batch 8 --trunk 4 --rating-games 0"
)


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("euphoria_agents.commands", ""),
        ("argparse", "play --help"),
        ("rich", "evaluate"),
        ("torch", SMALL_RUN),
        ("torch.distributed", SMALL_RUN),
    ],
)
def test_an_interrupt_leaves_no_traceback_while_it_imports(stage: str, words: str, tmp_path: Path) -> None:
    """The interrupt may come during any import, from the first module after the entry point on."""
    if words == SMALL_RUN:
        pytest.importorskip("torch")
    done = python(INTERRUPTED_AT.format(stage=stage, words=words.split()), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nstopped\n")
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_an_interrupted_training_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    """The first decision of the first update interrupts."""
    pytest.importorskip("torch")
    program = (
        "import signal, sys\nfrom euphoria_agents.__main__ import main\nfrom euphoria_agents.training.trainer import Trainer\n"
        "play = Trainer.play\n"
        "def interrupted(trainer):\n    signal.raise_signal(signal.SIGINT)\n    Trainer.play = play\n    return play(trainer)\n"
        f"Trainer.play = interrupted\nsys.argv[1:] = {SMALL_RUN.split()!r}\nmain()\n"
    )
    done = python(program, tmp_path)
    assert done.returncode == 130 and "Traceback" not in done.stderr
    assert (
        done.stderr.endswith("stopped; --resume run continues where it stopped\n")
        and (tmp_path / "run/state.safetensors").exists()
    )


@pytest.mark.parametrize(
    "lost",
    [
        "try: signal.raise_signal(signal.SIGINT)\n    except KeyboardInterrupt: raise ImportError('a library') from None",
        "class Lost:\n        def __del__(self): signal.raise_signal(signal.SIGINT)\n    Lost()\n    time.sleep(3600)",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n    end_quietly()\n    signal.raise_signal(signal.SIGINT)\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n    end_quietly()\n    signal.raise_signal(signal.SIGINT)",
    ],
    ids=["made another error", "in a callback", "ignored before"],
)
def test_an_interrupt_is_not_lost(lost: str) -> None:
    modules = "dataclass_arguments import command", "interrupts import end_quietly"
    imports = "\n".join(["import signal, time", *(f"from euphoria_agents.{module}" for module in modules)])
    done = python(f"{imports}\ndef main():\n    {lost}\ncommand(main)\n")
    assert (done.returncode, done.stderr) == (130, "\nstopped\n")


def test_a_warning_is_one_line() -> None:
    done = python(
        "import warnings\nfrom euphoria_agents.dataclass_arguments import command\n"
        "command(lambda: warnings.warn('FILE is converted'))"
    )
    assert (done.returncode, done.stderr) == (0, "warning: FILE is converted\n")


# ------------------------------------------------------------------------------------------------------- agents of your own


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder but for some agents."""
    (tmp_path / "my_agents.py").write_text(MY_AGENTS)
    return tmp_path


SMALL = ("--games", 40, "--max-turns", 30)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (
            "tests.tools.faulty_agents:Cheats",
            r"error: the agent tests\.tools\.faulty_agents:Cheats answered '.*', which is illegal",
        ),
        ("my_agents:Raises", r"error: the agent my_agents:Raises raised KeyError: 'gold' \(my_agents\.py, line 13\)"),
        ("my_agents:Nobody", r"error: agent 'my_agents:Nobody': module 'my_agents' has no 'Nobody'"),
    ],
)
def test_faults_of_agents_are_told_in_a_line(folder: Path, agent: str, message: str) -> None:
    status, _, told = euphoria("evaluate", "--agent", agent, "--processes", 1, *SMALL, cwd=folder)
    assert status == 2 and re.fullmatch(message + "\n", told), told


@pytest.mark.slow
def test_the_traceback_is_there_for_those_who_ask(folder: Path) -> None:
    words = ("evaluate", "--agent", "my_agents:Raises", "--processes", 2, "--traceback")
    status, _, told = euphoria(*words, *SMALL, cwd=folder)
    assert status == 2 and told.startswith("Traceback") and "(my_agents.py, line 13)" in told
    assert told.splitlines()[-1].startswith("error: the agent my_agents:Raises raised KeyError: 'gold'")


def test_another_version_of_an_agent_plays_its_games_again(folder: Path) -> None:
    words = ("tournament", "--agents", "my_agents:Mine", "random", "--out", "out", "--processes", 1, *SMALL)
    chunks, agents = folder / "out" / "chunks.jsonl", folder / "my_agents.py"
    euphoria(*words, cwd=folder)
    first = chunks.read_text()
    euphoria(*words, cwd=folder)
    assert chunks.read_text() == first
    agents.write_text(agents.read_text().replace("argmax()", "nonzero()[0][-1]"))
    for _ in range(2):
        euphoria(*words, cwd=folder)
        assert chunks.read_text().startswith(first) and chunks.read_text().count("\n") == 2 * first.count("\n")


# ------------------------------------------------------------------------------------------------------- compile


def test_compile_says_what_is_there(tmp_path: Path) -> None:
    euphoria("compile", cwd=tmp_path)
    assert euphoria("compile", cwd=tmp_path)[1] == "everything was compiled already\n"
