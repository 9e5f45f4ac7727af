"""The things that the repository names exist: files, modules, names, make targets; words that must not be there are not."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import io
import pkgutil
import re
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from euphoria_env.rules import OPTIONS

ROOT = Path(__file__).parent.parent
PACKAGES = ("euphoria_env", "euphoria_agents")
SKIPPED = {".git", ".venv", ".venv-rllib", ".venv-dqn", "build", "dist", "runs", "golden", "__pycache__", "shared"}
SUFFIXES = {".py", ".md", ".yaml", ".yml", ".toml", ".cff", ""}
SHOWN = {".github", ".ci", ".pre-commit-config.yaml", ".gitignore"}
ITSELF = Path(__file__).resolve()


def project_files() -> list[Path]:
    """The texts that people write: what git knows or would add; without git all but caches and build products."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode == 0:
        files = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        files = [file for file in ROOT.rglob("*") if not any(part.endswith(".egg-info") for part in file.parts)]
    found = []
    for file in sorted(files):
        parts = file.relative_to(ROOT).parts
        hidden = any(part.startswith(".") and part not in SHOWN for part in parts)
        if file.is_file() and file.suffix in SUFFIXES and not hidden and not SKIPPED & set(parts):
            found.append(file)
    return found


FILES = project_files()
PROSE = [file for file in FILES if file.suffix == ".md"]


@cache
def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def words(file: Path) -> str:
    """The words of a file: all of a page, the comments and docstrings of code, the comments of other files."""
    text = read(file)
    if file.suffix == ".py":
        tree = ast.parse(text)
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        said = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented)]
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return "\n".join([*said, *(token.string for token in tokens if token.type == tokenize.COMMENT)])
    if file.suffix == ".md":
        return text
    return "\n".join(re.findall(r"(?:^|\s)#.*", text))


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


# ------------------------------------------------------------------------------------------------------------------- files

FOLDERS = "docs|tests|scripts|agents|euphoria_env|benchmarks|euphoria_agents"
PATH = re.compile(rf"(?<![\w./-])((?:\.\./)?(?:{FOLDERS})/[\w./*-]*[\w*/]|[\w-]+\.(?:md|lock|toml|cff))(?![\w(])")
# Files that exist only when something has been run, or in somebody else's project.
NOT_HERE = {"my_agent.py", "report.md", "row.md", "table.md", "Euphoria-v0", "euphoria-v0"}


def paths_in(text: str) -> Iterator[str]:
    """The paths into this repository that a text names; links to other sites and placeholders in capitals apart."""
    for path in PATH.findall(re.sub(r"\w+://\S+", "", text)):
        if not re.search(r"\b[A-Z]{2,}\.(?:yaml|py)$", path):
            yield path


def exists(path: str, beside: Path) -> bool:
    """Whether a path leads somewhere: from the root, from the file that names it, or in the folder of the agents."""
    roots = (ROOT, beside.parent, ROOT / "agents", ROOT / "docs")
    return Path(path).name in NOT_HERE or any(any(root.glob(path)) if "*" in path else (root / path).exists() for root in roots)


def test_files_exist() -> None:
    faults = []
    for file in FILES:
        text = read(file) if file.suffix in {".md", ".toml", ".yaml", ".yml"} or file.name == "Makefile" else words(file)
        missing = sorted({path for path in paths_in(text) if not exists(path, file)})
        faults += [f"{name_of(file)} names {', '.join(missing)}"] if missing else []
    assert not faults, "\n".join(faults)


def test_a_missing_file_is_found() -> None:
    assert list(paths_in("see `docs/nowhere.md`, tests/gone.py and https://x.org/docs/there.md")) == [
        "docs/nowhere.md",
        "tests/gone.py",
    ]
    assert list(paths_in("INTERFACE.md says")) == ["INTERFACE.md"] and not exists("INTERFACE.md", ROOT / "README.md")
    assert exists("tests/test_*.py", ROOT / "README.md") and exists("rules.md", ROOT / "docs" / "actions.md")
    assert not exists("scripts/gone_*.py", ROOT / "README.md")


# ------------------------------------------------------------------------------------------------------------------- names

# Modules of others, and objects of the standard library that the texts speak of.
FOREIGN = {
    *("np", "numpy", "torch", "gymnasium", "pettingzoo", "random", "chess", "numba", "os", "sys", "json", "ast", "argparse"),
    *(
        "importlib",
        "ray",
        "sb3_contrib",
        "stable_baselines3",
        "openskill",
        "matplotlib",
        "nn",
        "math",
        "asyncio",
        "pickle",
        "TimeLimit",
        "observation",  # a variable of the examples, an array
    ),
}
# Names of variables in the examples and docstrings: what they stand for is looked up instead.
VARIABLES = {"game": "Game", "batch": "Batch", "agent": "Agent", "rules": "Rules", "analysis": "Analysis"}
DOTTED = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")
FILE_ENDINGS = {
    "py",
    "md",
    "yaml",
    "yml",
    "toml",
    "json",
    "png",
    "svg",
    "lock",
    "zip",
    "npz",
    "safetensors",
    "cff",
    "record",
    "csv",
    "html",
    "jsonl",
}


@cache
def modules() -> dict[str, str]:
    """The modules of both packages, by every name that ends their full one: `state`, `engine.state`, ..."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.submodule_search_locations
        full = [package, *(found.name for found in pkgutil.walk_packages(spec.submodule_search_locations, f"{package}."))]
        for name in full:
            parts = name.split(".")
            for k in range(len(parts)):
                found.setdefault(".".join(parts[k:]), name)
    found.update({f"tests.{path.stem}": f"tests.{path.stem}" for path in (ROOT / "tests").glob("test_*.py")})
    return found


@cache
def names_of(module: str) -> dict[str, ast.AST | None]:
    """The names that a module defines or imports at its top, without importing it; some need big libraries."""
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin
    found: dict[str, ast.AST | None] = {}
    for node in ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.setdefault(node.name, node)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found.update({alias.asname or alias.name: None for alias in node.names})
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, None)
    return found


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """All classes of both packages by name."""
    found: dict[str, list[ast.ClassDef]] = {}
    for module in set(modules().values()):
        for name, node in names_of(module).items():
            if isinstance(node, ast.ClassDef):
                found.setdefault(name, []).append(node)
    return found


def members(node: ast.ClassDef) -> set[str]:
    """The members of a class: methods, fields, what is set on `self`, and the same of its bases of this project."""
    found = {child.name for child in ast.walk(node) if isinstance(child, ast.FunctionDef)}
    found |= {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)}
    found |= {child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store)}
    for base in node.bases:
        for parent in classes().get(base.id, []) if isinstance(base, ast.Name) else []:
            found |= members(parent)
    return found


PLAIN_BASES = {"ABC", "Protocol", "NamedTuple", "IntEnum", "Enum", "ValueError", "RuntimeError", "Exception", "object"}


def has(node: ast.ClassDef, name: str) -> bool:
    """Whether a class has a member; one with a base of somebody else's library may have it from there."""
    bases = {base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in node.bases}
    return name in members(node) or bool(bases - set(classes()) - PLAIN_BASES - {"Generic", ""})


def resolves(name: str, beside: str | None = None) -> bool:
    """Whether a dotted name is a module of the packages, or something in one, or in a class."""
    parts = name.split(".")
    parts[0] = VARIABLES.get(parts[0], parts[0]) if not modules().get(parts[0]) or len(parts) == 2 else parts[0]
    if parts[0] in FOREIGN or name.rpartition(".")[2] in FILE_ENDINGS:
        return True
    for k in range(len(parts), 0, -1):
        module = modules().get(".".join(parts[:k]))
        if module is not None:
            rest = parts[k:]
            if not rest:
                return True
            node = names_of(module).get(rest[0], False)
            if node is not False and (len(rest) == 1 or not isinstance(node, ast.ClassDef) or has(node, rest[1])):
                return True
    inner = [node for node in classes().get(parts[0], []) if len(parts) == 2 and has(node, parts[1])]
    return bool(inner) or bool(beside and not classes().get(parts[0]) and local(parts, beside))


def local(parts: list[str], module: str) -> bool:
    """Whether the first part is a variable or argument of the code whose docstring speaks of it."""
    tree = ast.parse(module)
    return any(
        (isinstance(node, ast.arg) and node.arg == parts[0]) or (isinstance(node, ast.Name) and node.id == parts[0])
        for node in ast.walk(tree)
    )


# Fields of the observation, keys of rules, names of moves and other people's things that look like names of code.
def is_data(name: str) -> bool:
    from euphoria_env import observations

    fields = {field.name for field in observations.table()} | {f"rules.{option}" for option in OPTIONS}
    return name in fields or name.startswith(("rules.", "load.", "players[", "events."))


def in_prose(file: Path) -> Iterator[str]:
    """The dotted names in backticks."""
    text = re.sub(r"^```.*?^```", "", words(file), flags=re.MULTILINE | re.DOTALL) if file.suffix == ".md" else words(file)
    yield from DOTTED.findall(text)


def test_names_exist() -> None:
    faults = []
    for file in FILES:
        code = read(file) if file.suffix == ".py" else None
        missing = sorted({name for name in in_prose(file) if not is_data(name) and not resolves(name, code)})
        faults += [f"{name_of(file)} names {', '.join(missing)}"] if missing else []
    assert not faults, "\n".join(faults)


def test_a_missing_name_is_found() -> None:
    for name in (
        "engine.state",
        "engine.state.push",
        "Game.deciding",
        "cards.vocabulary",
        "decisions.DECISIONS",
        "np.int8",
        "euphoria_env.Game",
    ):
        assert resolves(name), name
    for name in ("engine.nowhere", "engine.state.pull", "Game.settled", "cards.effects", "agents.network", "Nobody.act"):
        assert not resolves(name), name
    assert DOTTED.findall("`engine.state` and `Game.play(x)`, `a b.c`") == ["engine.state", "Game.play"]


# ---------------------------------------------------------------------------------------------------- citations and targets


def cited(text: str) -> set[str]:
    return set(re.findall(r"\bR\d+\.\d+\b", text))


def test_cited_paragraphs_exist() -> None:
    known = set(re.findall(r"\*\*(R\d+\.\d+)\*\*", read(ROOT / "docs" / "rules.md")))
    wrong = {name_of(file): cited(read(file)) - known for file in FILES if file.resolve() != ITSELF}
    assert not {file: found for file, found in wrong.items() if found}
    assert cited("R4.3 and R99.1") - known == {"R99.1"}


def targets(text: str) -> set[str]:
    """The targets of make that a text names, in backticks or at the start of a line of code."""
    return set(re.findall(r"(?:^|`|\n)make ([a-z-]+)", text))


def test_targets_of_make_exist() -> None:
    known = set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    assert not {f"{name_of(file)}: make {name}" for file in FILES for name in targets(words(file)) - known}
    assert targets("`make docs` and\nmake gone") == {"docs", "gone"}


def test_extras_exist() -> None:
    known = set(tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["optional-dependencies"])
    for file in FILES:
        for names in re.findall(r"\.\[([a-z,]+)\]", read(file)):
            assert set(names.split(",")) <= known, f"{name_of(file)} names the extra {names}"


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
            assert word or line[0].startswith("--"), f"{name_of(file)}: euphoria {' '.join(line)}"
            if word is None:
                continue
            module, _, name = main.COMMANDS[word].options.partition(":")
            known = flags(getattr(importlib.import_module(module), name))
            for option in (part.partition("=")[0] for part in line if part.startswith("--")):
                assert {option, option.replace("--no-", "--", 1)} & known, f"{name_of(file)}: euphoria {word} {option}"


def flags(options: Any) -> set[str]:
    """The options of a dataclass of the command line, those of the rules included."""
    found = {"--help"}
    for field in dataclasses.fields(options):
        if "rules" in field.metadata:
            found |= {f"--{name}".replace("_", "-") for name in OPTIONS if name not in field.metadata["rules"]}
        else:
            found.add(field.metadata.get("argument", {}).get("flag", f"--{field.name}".replace("_", "-")))
    return found


# ------------------------------------------------------------------------------------------------------- words, in all files

GENDERED = re.compile(r"\b(he|his|him|himself|she|her|hers|herself)\b", re.IGNORECASE)
# Sources that are not part of the project, and things that have gone.
GONE = re.compile(r"\bINTERFACE\b|\bRULES\.md\b|\bcards\.toml\b|\.\./shared|\b[Ss]ection \d+ of\b")


@pytest.mark.parametrize(
    ("words_", "why"), [(GENDERED, "a player is `they`"), (GONE, "is not in the project")], ids=["they", "gone"]
)
def test_words_that_must_not_be_there(words_: re.Pattern[str], why: str) -> None:
    lines = [
        f"{name_of(file)}:{n}: {line.strip()}"
        for file in FILES
        if file.resolve() != ITSELF
        for n, line in enumerate(read(file).splitlines(), 1)
        if words_.search(line)
    ]
    assert not lines, why + "\n" + "\n".join(lines)


def test_such_words_are_found() -> None:
    assert GENDERED.search("of his own") and GENDERED.search("lee-Her-gift") and not GENDERED.search("the others, there, this")
    assert GONE.search("INTERFACE section 4") and GONE.search("RULES.md") and GONE.search("section 7 of it")
    assert not GONE.search("docs/rules.md") and not GONE.search("the interface")
