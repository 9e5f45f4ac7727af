"""No output of a command is one of its inputs, by whatever path, and no two outputs are one file."""

from __future__ import annotations

import dataclasses
import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from euphoria_agents.commands import COMMANDS, imported
from euphoria_agents.dataclass_arguments import parse_options, written, written_folder
from euphoria_agents.files import same_file
from tests.tools.commands import euphoria
from tests.tools.scripts import SCRIPTS

RECORD = Path(__file__).parent / "golden" / "2_players.record"
# Which options name what is written; a new option of the type `Path` must be entered here, or read alone.
OUTPUTS = {
    "train": {"run", "resume"},
    "evaluate": {"out", "records"},
    "tournament": {"out", "records"},
    "benchmark": {"out"},
    "collect": {"out"},
    "serve": {"data"},
    "replay": {"svg", "html"},
    "analyse": {"out", "plot"},
    "speed": {"json", "plot"},
}
INPUTS = {
    "train": {"start"},
    "benchmark": {"check"},
    "play": {"load"},
    "serve": {"record"},
    "replay": {"record", "analysis"},
    "analyse": {"record"},
}
WORDS = {"benchmark": ["duel-v1"], "replay": [str(RECORD)], "analyse": [str(RECORD)]}  # what must be named


def paths_of(options: Any) -> dict[str, Any]:
    """The options that name a path, with what argparse is told of them."""
    found = [field for field in dataclasses.fields(options) if "Path" in str(field.type)]
    return {field.name: field.metadata["argument"].get("type") for field in found}


def is_output(kind: Any) -> bool:
    return kind in (written, written_folder)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_path_is_an_input_or_an_output(name: str) -> None:
    paths = paths_of(imported(COMMANDS[name].options))
    assert {path for path, kind in paths.items() if is_output(kind)} == OUTPUTS.get(name, set())
    assert {path for path, kind in paths.items() if not is_output(kind)} == INPUTS.get(name, set())


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_every_output_of_a_script_is_known_as_one(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "parse_options" not in script.read_text(encoding="utf-8"):
        pytest.skip("it reads its command line itself")
    monkeypatch.syspath_prepend(script.parent)
    try:
        options = runpy.run_path(str(script))["Options"]
    except ModuleNotFoundError as error:
        pytest.skip(str(error))
    for name, kind in paths_of(options).items():
        assert is_output(kind) == (name in ("out", "results")), name


def flags(name: str) -> list[tuple[Any, Any]]:
    """Pairs of an output and an input of a command, or of two outputs."""
    paths = paths_of(imported(COMMANDS[name].options))
    fields = {field.name: field for field in dataclasses.fields(imported(COMMANDS[name].options))}
    ends = [(key, kind, fields[key].metadata.get("unless")) for key, kind in paths.items()]
    return [
        (first[0], second[0])
        for first in ends
        for second in ends
        if is_output(first[1]) and first[0] != second[0] and first[2] != second[0] and second[2] != first[0]
        and not (is_output(second[1]) and (first[0] > second[0] or written_folder in (first[1], second[1])))
    ]  # fmt: skip


PAIRS = [(name, *pair) for name in COMMANDS for pair in flags(name)]
FILES = [pair for pair in PAIRS if paths_of(imported(COMMANDS[pair[0]].options))[pair[1]] is written]
FOLDERS = [pair for pair in PAIRS if pair not in FILES]


def words_for(name: str, paths: dict[str, Any]) -> list[str]:
    """A command line with these paths."""
    found, named = [], list(WORDS.get(name, []))
    for field in dataclasses.fields(imported(COMMANDS[name].options)):
        if field.name in paths:
            flag = field.metadata["argument"].get("flag", "--" + field.name)
            positional = field.default is dataclasses.MISSING or field.metadata["argument"].get("nargs") == "?"
            if positional:
                named = [one for one in named if one != str(RECORD)] + [str(paths[field.name])]
            else:
                found += [flag, str(paths[field.name])]
    return [*named, *found]


def refused(name: str, paths: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"(would replace what|are one file)") as caught:
        parse_options(imported(COMMANDS[name].options), f"euphoria {name}", words_for(name, paths))
    assert "\n" not in str(caught.value)


def same(path: Path) -> Path:
    return path


def relative(path: Path) -> Path:
    return Path(os.path.relpath(path))


def detour(path: Path) -> str:
    (path.parent / "sub").mkdir()
    return f"{path.parent}/sub/../{path.name}"


def link(path: Path) -> Path:
    (found := path.parent / "link").symlink_to(path.name)
    return found


def hard_link(path: Path) -> Path:
    (found := path.parent / "hard").hardlink_to(path)
    return found


def link_of_folder(path: Path) -> Path:
    (found := path.parent.parent / "there").symlink_to(path.parent)
    return found / path.name


WAYS = [same, relative, detour, link, hard_link, link_of_folder]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize(("name", "output", "read"), FILES)
def test_no_file_is_written_over_what_is_read(
    name: str, output: str, read: str, way: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "here").mkdir()
    (path := folder / "a").write_bytes(RECORD.read_bytes())
    monkeypatch.chdir(folder)
    other = way(path)
    refused(name, {read: path, output: other})
    refused(name, {read: other, output: path})
    assert path.read_bytes() == RECORD.read_bytes()
    parse_options(imported(COMMANDS[name].options), name, words_for(name, {read: path, output: folder / "b"}))


@pytest.mark.parametrize(("name", "output", "read"), FOLDERS)
def test_no_folder_of_outputs_holds_what_is_read(name: str, output: str, read: str, tmp_path: Path) -> None:
    (folder := tmp_path / "here" / "deeper").mkdir(parents=True)
    (path := folder / "a").write_bytes(RECORD.read_bytes())
    for above in (folder, folder.parent, tmp_path, path):
        refused(name, {read: path, output: above})
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "ppo.safetensors").symlink_to(path)
    refused(name, {read: path, output: tmp_path / "links"})
    refused(name, {read: tmp_path / "links" / "ppo.safetensors", output: tmp_path / "links"})
    parse_options(imported(COMMANDS[name].options), name, words_for(name, {read: path, output: tmp_path / "elsewhere"}))


def test_outputs_that_are_not_there_yet_are_one_file_in_any_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for first, second in (("a", "a"), ("a", "A"), ("x/../a", "a"), ("\u00e9", "e\u0301")):
        refused("speed", {"json": first, "plot": second})
    assert same_file(Path("a"), tmp_path / "a") and not same_file(Path("a"), Path("b"))


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["analyse", str(RECORD), "--agent", "ppo:p", "--plot", "p"], "p"),
        (["analyse", str(RECORD), "--agent", "mcts:5:ppo:p", "--out", "./p"], "p"),
        (["analyse", str(RECORD), "--agent", "mine:Agent", "--plot", "mine.py"], "mine.py"),
        (["analyse", str(RECORD), "--agent", "mine:Agent:p", "--plot", "p"], "p"),
        (["evaluate", "--agent", "ppo:p", "--out", "."], "p"),
        (["tournament", "--agents", "random", "ppo:runs/p", "--records", "runs"], "runs/p"),
        (["train", "--run", "runs", "--baselines", "random", "ppo:runs/p"], "runs/p"),
        (["train", "--resume", "runs", "--baselines", "ppo:runs/p"], "runs/p"),
        (["benchmark", "duel-v1", "--agent", "ppo:p", "--out", "."], "p"),
        (["collect", "--agents", "pack:Agent", "--out", "pack/data"], "pack/__init__.py"),
        (["serve", "--agents", "mine:Agent", "--data", "mine.py"], "mine.py"),
        (["replay", "p", "--html", "p"], "p"),
    ],
    ids=lambda one: "-".join(one[:1]) if isinstance(one, list) else None,
)
def test_what_an_agent_is_made_of_is_an_input(words: list[str], read: str, tmp_path: Path) -> None:
    (tmp_path / read).parent.mkdir(exist_ok=True)
    (tmp_path / read).write_bytes(RECORD.read_bytes())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    status, _, told = euphoria(*words, cwd=tmp_path)
    assert status == 2 and "would replace what" in told and told.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("train", ["--resume", "runs/ppo"]),
        ("train", ["--resume", "runs/a", "--run", "runs/a"]),
        ("benchmark", ["duel-v1", "--check", "runs/benchmark/result.json"]),
        ("tournament", ["--agents", "random", "weights", "--out", "runs", "--records", "runs"]),
        ("tournament", ["--agents", "random", "weights", "--out", "new", "--records", "new"]),
        ("evaluate", ["--agent", "ppo:here/p", "--out", "ppo"]),
    ],
)
def test_what_does_no_harm_is_allowed(name: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("runs/benchmark", "ppo", "here"):
        Path(folder).mkdir(parents=True)
    for file in ("runs/benchmark/result.json", "here/p"):
        Path(file).touch()
    parse_options(imported(COMMANDS[name].options), name, words)
