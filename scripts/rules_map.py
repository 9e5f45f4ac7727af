"""The tables of docs/rules-map.md: the files that cite a paragraph or name a card, and the scenarios about it; links to rules."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from euphoria_env.board import FACTIONS
from euphoria_env.cards import recruits, tiles
from tests.tools.scenario_runner import Scenario, read_folder

ROOT = Path(__file__).resolve().parent.parent
Cells = Iterable[object]
_PARAGRAPH = re.compile(r'<a id="(r\d+-\d+)"></a>\*\*(R\d+\.\d+)\*\*')
_RANGE = re.compile(r"R(\d+)\.(\d+) (?:to|and|-) R?(?:\1\.)?(\d+)\b(?!\.)")
CITED = re.compile(r"\bR(\d+(?:\.\d+)?)\b")


@dataclass(frozen=True)
class Sources:
    """Texts of the engine by path, and the scenarios."""

    code: dict[str, str]
    scenarios: list[Scenario]


@cache
def sources() -> Sources:
    """Reads the package and the scenarios."""
    files = sorted((ROOT / "euphoria_env").rglob("*.py"))
    code = {str(file.relative_to(ROOT / "euphoria_env")): file.read_text(encoding="utf-8") for file in files}
    return Sources(code, [item for _, item in read_folder() if isinstance(item, Scenario)])


def cited(text: str, known: Iterable[str]) -> set[str]:
    """The paragraphs that a text cites; ranges count whole, a chapter counts for all its paragraphs."""
    found = {f"R{number}" for number in CITED.findall(text)}
    for chapter, first, last in _RANGE.findall(text):
        found |= {f"R{chapter}.{k}" for k in range(int(first), int(last) + 1)} if int(last) > int(first) else set()
    return {paragraph for paragraph in known if paragraph in found or paragraph.split(".")[0] in found}


def code_links(files: Iterable[str]) -> str:
    """Links to files of the package; `link_targets` says where they lead."""
    return ", ".join(f"[{file}]" for file in sorted(files)) or "-"


def scenario_links(wanted: Callable[[Scenario], bool]) -> str:
    """Links to the files of some scenarios, with how many of them are in each."""
    counts = Counter(scenario_file(scenario).stem for scenario in sources().scenarios if wanted(scenario))
    return ", ".join(f"[{name}] {n}" for name, n in sorted(counts.items())) or "-"


def scenario_file(scenario: Scenario) -> Path:
    """The file of a scenario, from the root of the project."""
    return Path(scenario.where.rpartition(":")[0])


def link_targets() -> list[str]:
    """The targets of the links."""
    code = {file: f"../euphoria_env/{file}" for file in sources().code}
    scenarios = {scenario_file(s).stem: f"../{scenario_file(s).as_posix()}" for s in sources().scenarios}
    return [f"[{name}]: {target}" for name, target in {**code, **scenarios}.items()]


def paragraph_rows() -> Iterator[Cells]:
    """Each paragraph with the files that cite it and the scenarios that cover it."""
    paragraphs = _PARAGRAPH.findall((ROOT / "docs" / "rules.md").read_text(encoding="utf-8"))
    citing = {file: cited(text, [number for _, number in paragraphs]) for file, text in sources().code.items()}

    def row(anchor: str, number: str) -> Cells:
        files = (file for file, numbers in citing.items() if number in numbers)
        return f"[{number}](rules.md#{anchor})", code_links(files), scenario_links(lambda scenario: number in scenario.rules)

    return (row(*paragraph) for paragraph in paragraphs)


def recruit_rows() -> Iterator[Cells]:
    """Each recruit with its card, where it acts, the files that import it by name, and its scenarios."""
    importing = importers()

    def row(number: int, recruit: recruits.Recruit) -> Cells:
        files = {"cards/recruits.py", *importing[number], *(f"engine/{module}.py" for module in recruit.acts_in.split(", "))}
        covering = scenario_links(lambda scenario: recruit.name in scenario.cards)
        return f"`{recruit.name}`", FACTIONS[recruit.faction], code_links(files), covering

    return (row(k, recruit) for k, recruit in enumerate(recruits.RECRUITS))


def importers() -> dict[int, set[str]]:
    """The files that import the constant of a recruit, by its number."""
    found: dict[int, set[str]] = defaultdict(set)
    for file, text in sources().code.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module == recruits.__name__:
                for name in (alias.name for alias in node.names):
                    value = getattr(recruits, name)
                    if type(value) is int and name != "NUM_RECRUITS":
                        found[value].add(file)
    return found


def tile_rows() -> Iterator[Cells]:
    """Each tile with the files that name it and the scenarios in whose position it is."""
    constants = {value: name for name, value in vars(tiles).items() if name.isupper() and type(value) is int}
    del constants[tiles.NUM_TILES]

    def row(number: int, tile: str) -> Cells:
        names = [constants[number], tile, *(["FACE_PENALTY"] if number in tiles.FACE_PENALTY[1:] else [])]
        word = re.compile(rf"\b({'|'.join(names)})\b")
        files = {file for file, text in sources().code.items() if word.search(text)} - {"render/view.py"}
        return f"`{tile}`", code_links(files), scenario_links(lambda s: f"'{tile}'" in str((s.given or {}).get("markets")))

    return (row(k, tile) for k, tile in enumerate(tiles.TILES))


_CHAPTER = re.compile(r"^## (\d+) (.+)$", re.MULTILINE)


def _link(found: re.Match[str]) -> str:
    """A link to a paragraph of the rules, or to a chapter."""
    chapter, _, paragraph = found[1].partition(".")
    if paragraph:
        return f"[R{found[1]}](rules.md#r{chapter}-{paragraph})"
    titles = dict(_CHAPTER.findall((ROOT / "docs" / "rules.md").read_text(encoding="utf-8")))
    return f"[R{chapter}](rules.md#{chapter}-{titles[chapter].lower().replace(' ', '-')})"


def linked(text: str) -> str:
    """A text with links from the paragraphs and chapters that it cites."""
    return CITED.sub(_link, text)
