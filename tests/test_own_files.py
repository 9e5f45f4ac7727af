"""Commands leave the files of others alone: every path option of every command, with everything that may lie in its place."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from euphoria_agents import own_files
from euphoria_agents.commands import COMMANDS, imported
from euphoria_agents.dataclass_arguments import _flag, option, parse_options
from euphoria_agents.own_files import RESULT, RUN, check_outputs
from euphoria_agents.players.ppo import SHIPPED
from euphoria_env.engine import library
from tests.tools.commands import euphoria

RECORD = Path(__file__).parent / "golden" / "2_players.record"
GIVEN = {
    **{name: [str(RECORD)] for name in ("replay", "analyse")},
    "benchmark": ["duel-v1"],
    **{name: ["."] for name in ("benchmark submit", "benchmark judge", "curves")},
}
NAMES = {  # of files of the patterns in the tables
    r"chunks\.jsonl": "chunks.jsonl",
    r"results\.json": "results.json",
    r"table\.md": "table.md",
    r"plot\.png": "plot.png",
    r"\d{5,}-[0-9a-f]{8}-\d{3,}_.*\.record": "00000-0123abcd-000_random_weights.record",
    r".*\.jsonl": "results.jsonl",
    r"unfinished\.jsonl": "unfinished.jsonl",
    r"result\.json": "Result.json",  # the same file where case does not count
    r"games\.jsonl": "games.jsonl",
    r"row\.md": "row.md",
    r"times\.json": "times.json",
    r"records/\d{5,}-[0-9a-f]{8}-\d{3,}_.*\.record": "records/00000-0123abcd-000_random_weights.record",
    r"_seed\.txt": "_seed.txt",
    r"_about/plan\.json": "_about/plan.json",
    r"_about/dataset\.json": "_about/dataset.json",
    r"_about/parts\.jsonl": "_about/parts.jsonl",
    r"part-\d{5,}\.parquet": "part-00000.parquet",
    r"state\.safetensors": "state.safetensors",
    r"(ppo|critic|league/\d{6,})\.safetensors": "league/000000.safetensors",
    r"ratings\.json": "ratings.json",
    r"progress\.csv": "progress.csv",
    r"evaluations\.csv": "evaluations.csv",
    r"config\.json": "config.json",
    r"\d{5,}\.svg": "00039.svg",
    "": "",
}
CONTENTS = {
    "a text": b"my notes, which nobody has a copy of\n",
    "JSON of another kind": b'{"version": 1, "results": [1, 2, 3]}',
    "a line without its end": b'{"version":',
    "a table": b"name,value\na,1\n",
    "a page": b"<!doctype html>\n<html lang='en'><title>mine</title></html>\n",
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0",
    "bytes": bytes(range(256)),
    "tensors": b"\x10\0\0\0\0\0\0\0" + b'{"__metadata__":{"format":"pt"}}',
    "nothing": b"",
}


def paths_of(options: Any) -> Iterator[dataclasses.Field[Any]]:
    """The options that are paths, by the types alone."""
    hints = typing.get_type_hints(options)
    yield from (field for field in dataclasses.fields(options) if "Path" in str(hints[field.name]))


OUTPUTS = [
    pytest.param(
        name, _flag(field), pattern, id=f"{name} {_flag(field)} {NAMES.get(pattern, pattern) or 'file'}".replace(" ", "-")
    )
    for name, chosen in COMMANDS.items()
    for field in paths_of(imported(chosen.options))
    for pattern in field.metadata["files"]
    if not pattern.endswith("/")
]


def state(folder: Path) -> dict[str, Any]:
    """Everything under a folder: kinds, times and contents."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        found[str(path)] = (about.st_mode, about.st_mtime_ns, about.st_ino, content)
    return found


def words(name: str, flag: str, value: Any) -> list[str]:
    return [*name.split(), *GIVEN.get(name, []), flag, str(value)]


@pytest.fixture
def compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "ready", lambda package: pytest.fail("compiled before the options were checked"))


def refused(name: str, flag: str, value: Path, named: str, folder: Path) -> str:
    """Returns what a command says that refuses a path; it must name the file, and leave all in the folder as it was."""
    before = state(folder)
    status, printed, told = euphoria(*words(name, flag, value), cwd=folder)
    assert status == 2 and printed == "" and told.startswith("error: ") and told.count("\n") == 1, told
    assert named in told and state(folder) == before, told
    return told


# ------------------------------------------------------------------------------------------------------- declarations


def test_every_path_says_which_files_are_written_there() -> None:
    for name, chosen in COMMANDS.items():
        for field in paths_of(imported(chosen.options)):
            assert isinstance(field.metadata["files"], dict), (name, field.name)
        parse_options(imported(chosen.options), name, GIVEN.get(name, []))

    @dataclasses.dataclass
    class New:
        there: Path | None = option(None, "a path of which nobody thought")

    with pytest.raises(TypeError, match="there: every path"):
        parse_options(New, "new", [])
    assert {pattern for case in OUTPUTS for pattern in case.values[2:]} <= NAMES.keys()  # type: ignore[operator]


# ------------------------------------------------------------------------------------------------- files of others


@pytest.mark.usefixtures("compiles_nothing")
@pytest.mark.parametrize(("name", "flag", "pattern"), OUTPUTS)
def test_files_of_others_are_refused_and_stay(name: str, flag: str, pattern: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    file = out / NAMES[pattern] if pattern else out
    for content in CONTENTS.values():
        if not content and name == "serve":
            continue  # an empty file has nothing to lose, and may be made for the server with its mode
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        refused(name, flag, out, str(file), tmp_path)
        file.chmod(0o444)
        refused(name, flag, out, str(file), tmp_path)
        (tmp_path / "link").symlink_to(out)
        refused(name, flag, tmp_path / "link", "link", tmp_path)
        for link in ("back", "folder"):
            (tmp_path / link).symlink_to(Path("missing", "..", "out" if link == "back" else "."))
        for back in (
            Path("missing", "..", "out"),
            Path("missing", "more", "..", "..", "out"),
            Path("back"),
            Path("folder", "out"),
        ):
            refused(name, flag, back, str(back).partition("/")[0], tmp_path)
        for link in ("back", "folder"):
            (tmp_path / link).unlink()
        refused(name, flag, Path("out", "..", "out") if file != out else Path("..", tmp_path.name, "out"), file.name, tmp_path)
        (tmp_path / "link").unlink()
        file.unlink()
    file.mkdir()
    (file / "mine").write_text("mine")
    refused(name, flag, out, str(file), tmp_path)
    shutil.rmtree(file)
    os.mkfifo(file)
    refused(name, flag, out, str(file), tmp_path)
    file.unlink()
    target = tmp_path / "target"
    target.write_text("mine")
    file.symlink_to(target)
    refused(name, flag, out, str(file), tmp_path)


@pytest.mark.usefixtures("compiles_nothing")
@pytest.mark.parametrize(("name", "flag"), dict.fromkeys(case.values[:2] for case in OUTPUTS))
def test_a_place_where_nothing_can_be_written_is_refused(name: str, flag: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for place in ("file", "file/out", "file/more/out", "loop", "loop/out", "pipe", "pipe/out"):
        refused(name, flag, tmp_path / place, place.partition("/")[0], tmp_path)


# ------------------------------------------------------------------------------------------------ inputs are no outputs


INPUTS = {
    "train": ["--start", "{}"], "replay": ["{}"], "analyse": ["{}"], "serve": ["{}"],
    "evaluate": ["--agent", "ppo:{}"], "tournament": ["--agents", "random", "mcts:5:ppo:{}"], "collect": ["--agents", "ppo:{}"],
    "benchmark": ["duel-v1", "--agent", "ppo:{}"], "speed": None, "curves": ["{}"],
}  # fmt: skip


@pytest.mark.usefixtures("compiles_nothing")
@pytest.mark.parametrize(("name", "flag", "pattern"), OUTPUTS)
def test_no_output_is_an_input(name: str, flag: str, pattern: str, tmp_path: Path) -> None:
    if (given := INPUTS[name]) is None:
        return
    out = tmp_path / "out"
    file = out / NAMES[pattern] if pattern else out
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(SHIPPED, file)
    (tmp_path / "hard").hardlink_to(file)
    (tmp_path / "link").symlink_to(file)
    (tmp_path / "folder").symlink_to(file.parent)
    before = state(tmp_path)
    for read in (
        file,
        tmp_path / "hard",
        tmp_path / "link",
        tmp_path / "folder" / file.name,
        f"{file.parent}/../{file.parent.name}/{file.name}",
    ):
        status, _, told = euphoria(*name.split(), *(word.format(read) for word in given), flag, out, cwd=tmp_path)
        assert status == 2 and "would replace what" in told and str(file) in told and told.count("\n") == 1, told
    assert state(tmp_path) == before


def test_an_input_beside_the_outputs_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "mine.safetensors").write_bytes(SHIPPED.read_bytes())
    for name in ("evaluate", "collect", "benchmark"):
        given = [word.format(tmp_path / "mine.safetensors") for word in INPUTS[name] or []]
        parse_options(imported(COMMANDS[name].options), name, [*given, "--out", str(tmp_path)])


# ------------------------------------------------------------------------------------------------- files of our own

SMALL = ["--games", "2", "--max-turns", "12", "--processes", "1"]
AGAIN = {
    "evaluate": ["--agent", "random", *SMALL, "--out", "out", "--records", "records"],
    "tournament": [*SMALL, "--out", "out", "--records", "out"],
    "collect": ["--agents", "random", *SMALL, "--out", "out"],
    "replay": [str(RECORD), "--every", "end", "--svg", "out"],
    "replay page": [str(RECORD), "--html", "page.html"],
    "analyse": [str(RECORD), "--agent", "random", "--processes", "1", "--out", "out.jsonl"],
    "speed": ["--groups", "engine", "--sizes", "1", "--seconds", "0.01", "--repeats", "1", "--json", "out.json"],
}


@pytest.mark.parametrize("name", AGAIN)
def test_the_same_command_knows_its_own_files(name: str, tmp_path: Path) -> None:
    """Each file that it wrote is in the table of an option, so that the check sees all of them."""
    command = name.split()[0]
    if command == "collect":
        pytest.importorskip("pyarrow")
    for _ in range(2):
        status, _, told = euphoria(command, *AGAIN[name], cwd=tmp_path)
        assert status == 0, told
    tables = [field.metadata["files"] for field in paths_of(imported(COMMANDS[command].options))]
    patterns = [pattern for table in tables for pattern in table if pattern]
    for file in tmp_path.rglob("*"):
        below = "/".join(file.relative_to(tmp_path).parts[1:])
        known = file.is_dir() or file.parent == tmp_path or any(re.fullmatch(pattern, below) for pattern in patterns)
        assert known, f"{command} writes {file}, of which its options say nothing"


def test_a_training_knows_its_own_files(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    run = tmp_path / "run"
    small = "--threads 1 --players 2 --baselines random --envs 4 --batch 8 --trunk 4 --rating-games 2 --win-probs-games 0"
    common = ["train", *small.split(" "), "--max-turns", "8", "--decisions", "60", "--save-every", "1"]
    assert euphoria(*common, "--run", run, cwd=tmp_path)[0] == 0
    check_outputs([("--resume", run, RUN)], [])
    assert euphoria("train", "--resume", run, "--decisions", "3000", cwd=tmp_path)[0] == 0
    files = [str(file.relative_to(run)) for file in run.rglob("*") if file.is_file() and file.parent.name != "tensorboard"]
    assert len(files) > 4 and all(any(re.fullmatch(pattern, file) for pattern in RUN) for file in files)
    for file in files:
        left = state(tmp_path)
        status, _, told = euphoria(*common, "--run", run, cwd=tmp_path)
        assert status == 2 and "there is a run in this folder already" in told and state(tmp_path) == left
        (run / file).unlink()  # each of them is enough
    (run / "ratings.json").write_text("[]")
    (tmp_path / "state.safetensors").write_bytes(b"")
    assert "ratings.json" in refused("train", "--run", run, "ratings.json", tmp_path)


def test_a_result_knows_its_own_files(tmp_path: Path) -> None:
    from tests.test_tasks import HERE, SMALL, judge

    judge(SMALL, "weights", tmp_path, HERE)
    check_outputs([("--out", tmp_path, RESULT)], [])
    assert all(any(re.fullmatch(pattern, file.name) for pattern in RESULT) for file in tmp_path.iterdir())


def test_a_file_that_is_cut_off_is_still_ours(tmp_path: Path) -> None:
    (tmp_path / "chunks.jsonl").write_text('{"chunk": {"lineup": ["random"], "num')
    check_outputs([("--out", tmp_path, own_files.MATCHES)], [])


@pytest.mark.parametrize("content", [b'{"version":', b'{"version":1,"mine":2}', b'{"version":1}\n{"version":', b"", b"mine"])
def test_transcripts_touch_nothing_before_they_write(content: bytes, tmp_path: Path) -> None:
    from euphoria_agents.players.llm.client import Reply
    from euphoria_agents.players.llm.transcript import Transcripts

    (tmp_path / "results.jsonl").write_bytes(content)
    before = state(tmp_path)
    with pytest.raises(ValueError, match=r"results\.jsonl.*use another folder"):
        Transcripts(tmp_path)
    assert state(tmp_path) == before
    Transcripts(tmp_path / "new" / "folder")
    assert state(tmp_path) == before, "a folder is made with the first answer"
    kept, asked = tmp_path / "kept", [{"role": "user", "content": "your move"}]
    for text in ("one", "two"):
        Transcripts(kept).add("game", asked, Reply(text, "", 1, 1), 1, "", 0.1)
        with (kept / "game.jsonl").open("ab") as file:
            file.write(b'{"version":1,"key":"0123')  # an interrupt
        cut = state(kept)
        found = Transcripts(kept)
        assert state(kept) == cut and found.known("game", asked) is not None
    assert (kept / "game.jsonl").read_bytes().count(b'"answer":') == 2
