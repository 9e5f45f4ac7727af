"""The layout of the code: names that two modules need are public."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PRIVATE_OF_LIBRARIES = {("numba.extending", "_Intrinsic")}  # as which what is copied byte by byte is compiled
MODULES = sorted([*(ROOT / "euphoria_env").rglob("*.py"), *(ROOT / "agents").rglob("*.py")])


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def defined(tree: ast.Module) -> set[str]:
    """The private names that a module defines: functions, classes, variables, arguments and attributes."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return {name for name in names if private(name)}


def borrowed(tree: ast.Module, elsewhere: set[str]) -> Iterator[str]:
    """The places where a module uses private names of another one; `elsewhere`: the private names of all the others.

    An attribute counts if only other modules define it. Attributes of `self` or `cls` may be inherited, from libraries too.
    """
    own = defined(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names if (node.module, alias.name) not in PRIVATE_OF_LIBRARIES]
            yield from (f"line {node.lineno}: import of {name}" for name in names if private(name))
        elif isinstance(node, ast.Attribute) and node.attr in elsewhere - own:
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def test_no_module_uses_what_another_one_keeps_to_itself() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}
    owners: defaultdict[str, set[Path]] = defaultdict(set)
    for path, tree in trees.items():
        for name in defined(tree):
            owners[name].add(path)
    found = []
    for path, tree in trees.items():
        elsewhere = {name for name, paths in owners.items() if paths - {path}}
        found += [f"{path.relative_to(ROOT)}, {what}" for what in borrowed(tree, elsewhere)]
    assert found == []


SCRIPTS = sorted((ROOT / "agents" / "euphoria_agents" / "play" / "web" / "static").glob("*.js"))


def test_no_line_of_a_script_is_long() -> None:
    """Biome breaks lines at 120 characters, but leaves texts alone."""
    lines = [(path.name, k, line) for path in SCRIPTS for k, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
    assert len(SCRIPTS) > 10 and [(name, k) for name, k, line in lines if len(line) > 120] == []


def test_no_wait_in_a_test_has_a_limit_of_its_own() -> None:
    """The run has one, for a game that hangs; a busy machine would break any other."""
    limit = re.compile(
        r"\btimeout=[1-9]|\.(wait|join|poll|wait_for)\([1-9]|monotonic\(\) \+ \d|\bdeadline=(?!None)|mark\.timeout"
    )
    files = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    found = [f"{path.name}: {line}" for path in files for line in path.read_text("utf-8").splitlines() if limit.search(line)]
    assert found == []
