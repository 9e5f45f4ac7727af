"""Checks that commands, options, make targets and extras that the pages name exist, and that every requirement is locked."""

from __future__ import annotations

import dataclasses
import importlib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from euphoria_env.rules import OPTIONS

ROOT = Path(__file__).parent.parent
PROSE = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]


@cache
def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def test_cited_paragraphs_exist() -> None:
    known = set(re.findall(r"\*\*(R\d+\.\d+)\*\*", read(ROOT / "docs" / "rules.md")))
    folders = ("euphoria_env", "agents", "tests/referee", "tests/scenarios")
    files = [file for folder in folders for kind in ("*.py", "*.yaml") for file in (ROOT / folder).rglob(kind)]
    wrong = {file.name: set(re.findall(r"\bR\d+\.\d+\b", read(file))) - known for file in (*files, *PROSE)}
    assert not {file: found for file, found in wrong.items() if found}


def test_targets_of_make_exist() -> None:
    known = set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    assert not {
        f"{file.name}: make {name}"
        for file in PROSE
        for name in re.findall(r"(?:^|`|\n)make ([a-z-]+)", read(file))
        if name not in known
    }


def test_extras_exist() -> None:
    known = set(tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["optional-dependencies"])
    for file in PROSE:
        for names in re.findall(r"\.\[([a-z,]+)\]", read(file)):
            assert set(names.split(",")) <= known, f"{file.name} names the extra {names}"


# Extras whose libraries exclude those of the others have a lock of their own.
LOCKS = {"rllib": "requirements-rllib.lock", "dqn": "requirements-dqn.lock"}


def normal(requirement: str) -> str:
    """The name of what is required, as package indexes compare names."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()  # type: ignore[index]


def unlocked(project: dict[str, Any], locked: dict[str, set[str]]) -> list[str]:
    """The requirements of the project and of its extras that the lock of their extra does not pin."""
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    wanted = {(LOCKS.get(extra, "requirements.lock"), one) for extra, found in extras.items() for one in found}
    wanted |= {(lock, one) for lock in LOCKS.values() for one in (*extras[""], *extras["play"])}
    missing = {(lock, one) for lock, one in wanted if normal(one) not in locked[lock] | {normal(project["name"])}}
    return sorted(f"{lock} does not pin {one}" for lock, one in missing)


def test_every_requirement_is_locked() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    locks = ["requirements.lock", *LOCKS.values()]
    locked = {lock: {normal(line) for line in re.findall(r"^[\w.-]+==.*", read(ROOT / lock), re.MULTILINE)} for lock in locks}
    assert unlocked(project, locked) == []
    project["optional-dependencies"]["web"].append("no_such.Thing>=1")
    assert unlocked(project, locked) == ["requirements.lock does not pin no_such.Thing>=1"]


def commands(text: str) -> Iterator[list[str]]:
    """The command lines `euphoria WORD ...` of a page, words and options."""
    for line in re.findall(
        r"(?:^|[`/\s])euphoria ((?:[a-z]|--)[^`\n#]*)", "\n".join(re.findall(r"```sh\n.*?```|`[^`\n]+`", text, re.DOTALL))
    ):
        yield line.split()


def test_commands_and_options_exist() -> None:
    """The commands on the pages are understood by `euphoria`."""
    main: Any = pytest.importorskip("euphoria_agents.commands")
    for file in PROSE:
        for line in commands(read(file)):
            word = next((" ".join(line[:k]) for k in (2, 1) if " ".join(line[:k]) in main.COMMANDS), None)
            assert word or line[0].startswith("--"), f"{file.name}: euphoria {' '.join(line)}"
            if word is None:
                continue
            module, _, name = main.COMMANDS[word].options.partition(":")
            known = flags(getattr(importlib.import_module(module), name))
            for option in (part.partition("=")[0] for part in line if part.startswith("--")):
                assert {option, option.replace("--no-", "--", 1)} & known, f"{file.name}: euphoria {word} {option}"


def flags(options: Any) -> set[str]:
    """The options of a dataclass of the command line, those of the rules included."""
    found = {"--help"}
    for field in dataclasses.fields(options):
        if "rules" in field.metadata:
            found |= {f"--{name}".replace("_", "-") for name in OPTIONS if name not in field.metadata["rules"]}
        else:
            found.add(field.metadata.get("argument", {}).get("flag", f"--{field.name}".replace("_", "-")))
    return found
