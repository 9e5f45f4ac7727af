"""The prose of the project is plain English: patterns that native readers stumble over do not come back.

To widen this test, add a pattern with its reason to `PATTERNS`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Each pattern with the reason why it is wrong and what to write.
PATTERNS = {
    r"\banew\b": "archaic: again, from scratch",
    r"\bsome (?:minutes|seconds|hours|time|days)\b(?! (?:later|ago))": "a German 'einige': a few minutes",
    r"(?:\d|\b(?:ms|[kM]B|bytes|seconds|time|games|moves|points|simulations|lines|times|once|twice|one|two|percent)|%) "
    r"an? (?:decision|update|simulation|match|batch|process|core|star|placement|observation|row|agent|seat)\b": "per decision",
    r"\bdear(?:er|est|ly)?\b": "of costs: expensive, slow",
    r"\bsurer\b": "more reliable, more confident",
    r"\bmend(?:s|ed|ing)?\b": "of code: fix, correct",
    r"\bheed(?:s|ed|ing)?\b": "programs do not heed: use, respect, read",
    r"\bso great\b": "so large",
    r"\bless than (?:two|three|\d+) (?:players|games|workers|moves|seats|seeds|agents)\b": "countable: fewer than",
    r"\bfor ever\b": "forever",
    r"\bis no (?:text|number|integer|list|object|file|agent|record|seat|space|market|recruit|artifact|move of)\b": "is not a ...",
    r"\b(?:is|are|was|were|be) there(?=[.,;)]|$)": "exists, is present, is available",
    r"\bbeyond all measure\b": "immeasurably, without limit",
    r"\b(?:gone|going|went|goes|go) on with\b": "continue, resume",
    r"\b(?:is|are|was|be) (?:had|got) (?:again|back)\b": "reproduce, recover",
    r"\blearnt\b": "American spelling, as everywhere: learned",
    r"\bthe more so\b": "especially",
    r"\bfalls? away\b": "a German 'entfällt': does not apply, is dropped",
    r"\ba piece\b(?! of)": "a German 'je': each",
    r"\bwhat plays\b": "a clause as the subject of 'install' or 'need': name the thing (playing, the players)",
    r"\bis none of\b(?! (?:my|your|their))": "is not one of",
    r"\b(?:be|is|are) had\b": "is available, can be obtained",
    r"\b(?:comes?|came) of (?:it|this|that)\b": "results, follows",
    r"\bsome dozens\b": "a few dozen",
    r"\bso many (?!(?:that|of)\b)": "a German 'so viele': that many, a number of",
    r"\b(?:one's own|of one's) (?:agents?|network|algorithm|class|player|file)\b": "address the reader: your own",
    r"\b(?:agents?|network|algorithm|class|player|file)s? of one's own\b": "address the reader: your own",
    r"; how (?:many|much)\b": "say what a function returns: returns the number",
    r"\bfor who\b|\b(?:of|by) who (?:sees|must|decides|asks|gives|has)\b": "a pronoun without a noun: the player who",
    r"\bif (?:nothing|none) (?:is|are) said\b": "by default",
    r"\bgoes on where it was\b": "continues where it stopped",
    r"\b(?:all|what) there is\b(?! to)": "everything, the results so far",
    r"\bhangs? on\b": "depends on",
    r"\bfor another one in each\b": "drawn for each",
    r"[,;] for (?:they|we|there|it) (?:is|are|was|were|has|have|had|would|must|may|might|can|cannot|never|only|always|needs?|"
    r"does|do|takes?|reports?)\b": "an archaic 'because': since, because",
    r"\b(?:file|page|program|docstring|text|result|command|table|record|column|row|message|error|figure)s? (?:say|tell)s?\b": (
        "things do not speak: contains, shows, states, lists, names"
    ),
    r"\bmust needs\b|\bwhereof\b|\bthereof\b|\bthereby\b|\bhitherto\b|\bthitherto\b": "archaic",
}
# `else` as an adverb after these words only ("nobody else", "or else"); otherwise it means "otherwise".
ELSE = re.compile(r"(\w+)[,;:]? else\b(?!:)")
BEFORE_ELSE = {f"{one}{what}" for one in ("some", "any", "no", "every") for what in ("body", "thing", "where", "one")}
BEFORE_ELSE |= {"what", "who", "where", "or", "whose", "how", "anybody's", "somebody"}
# A sentence that is no question does not begin with a clause as its subject.
CLAUSE = re.compile(r"(?:^|(?<=[.;:] )|(?<=^\| )|(?<=^- ))(?:What|Who|Whoever|Whatever) [^.?|]*[.|]", re.MULTILINE)

# A docstring names its subject or begins with a verb: one that begins so is the rest of a sentence. A whole question may.
FRAGMENT = re.compile(r"(?:What|Who|Whose|Whoever|Whatever|Which|Where|How|Of|That|Those|By) [^?]*(?:\.|$)")
COMMENT = re.compile(r"(?:^\s*|  )# ?(?!noqa|type:|fmt)(.*)")

# Made of the same sources, and the wrong words of this test.
EXCEPT = {"docs/rules-map.md", "docs/changelog.md", "docs/contributing.md", "tests/test_english.py"}
FOLDERS = ("docs", "euphoria_env", "agents", "scripts", "benchmarks", "tests")
SUFFIXES = (".md", ".py", ".ipynb", ".js")


def _covered() -> Iterator[Path]:
    """The pages and the sources."""
    files = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")]
    files += [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*")) if file.suffix in SUFFIXES]
    yield from (file for file in files if file.relative_to(ROOT).as_posix() not in EXCEPT)


def prose(file: Path) -> Iterator[tuple[int, str, bool]]:
    """The running text of a file: its line, the text, and whether it is a docstring. Of Markdown all but code, of Python comments
    and strings, except those of code, of JavaScript the comments; one on lines of its own counts as a docstring.
    """
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        yield from _of_python(text)
        return
    if file.suffix == ".js":
        yield from _of_javascript(text)
        return
    if file.suffix == ".ipynb":
        cells = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n\n".join("".join(lines) for lines in cells) + "\n"
    text = re.sub(r"^```.*?^```|`[^`\n]*`|^<!--.*?-->", _blank, text, flags=re.MULTILINE | re.DOTALL)
    for found in re.finditer(r"(?:^.*\S.*\n)+", text, re.MULTILINE):
        yield text.count("\n", 0, found.start()) + 1, re.sub(r"\n(?![-|#\d])\s*", " ", found[0]), False


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "", found[0]) or "it"


def _of_python(text: str) -> Iterator[tuple[int, str, bool]]:
    for number, line in enumerate(text.splitlines(), 1):
        if comment := COMMENT.search(line):
            yield number, comment[1], False
    documenting = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr):
            documenting.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value and "def " not in node.value:
            said = re.sub(r"\n[ \t]*(?=\S)", " ", re.sub(r"`[^`\n]*`", "it", node.value))
            yield node.lineno, said, node in documenting


def _of_javascript(text: str) -> Iterator[tuple[int, str, bool]]:
    for found in re.finditer(r"^[ \t]*//.*(?:\n[ \t]*//.*)*| // .*", text, re.MULTILINE):
        said = re.sub(r"(?:^|\s+)// ?", " ", found[0], flags=re.MULTILINE).strip()
        yield text.count("\n", 0, found.start()) + 1, re.sub(r"`[^`\n]*`", "it", said), not found[0].startswith(" // ")


def stumbles(text: str, docstring: bool = False) -> Iterator[str]:
    """The wrong words of a text, with the reasons."""
    for pattern, reason in PATTERNS.items():
        for found in re.finditer(pattern, text, re.IGNORECASE):
            yield f"{found[0]!r} ({reason})"
    for found in ELSE.finditer(text):
        if found[1].lower() not in BEFORE_ELSE:
            yield f"{found[0]!r} (otherwise)"
    for found in CLAUSE.finditer(text):
        yield f"{found[0][:50]!r} (begin with the subject that acts)"
    if docstring and FRAGMENT.match(text):
        yield f"{text[:50]!r} (a docstring names its subject, or begins with a verb)"


@pytest.mark.parametrize("file", list(_covered()), ids=lambda file: file.relative_to(ROOT).as_posix())
def test_plain_english(file: Path) -> None:
    found = [f"line {line}: {wrong}" for line, text, docstring in prose(file) for wrong in stumbles(text, docstring)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "wrong",
    [
        "Training starts anew.", "It takes some minutes.", "It takes 3 ms a decision.", "Searching is dear.", "A surer agent.",
        "It is found once an update.", "The default is 3, else 4.", "if the file is there.", "What plays is installed.",
        "less than two players", "Who has a recruit may use it.", "The run is gone on with.", "The page says how.",
        "an agent of one's own", "It waits, for it needs more.", "The rest hangs on it.", "It plays games; how many they were.",
        "It is the place of who decides.", "It takes more time a decision.",
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(wrong: str) -> None:
    assert list(stumbles(wrong))


@pytest.mark.parametrize(
    "right", ["Nobody else plays.", "once a turn", "What is a seat?", "or else it waits", "There is a file.", "none, for now"]
)
def test_what_is_right_is_left_alone(right: str) -> None:
    assert not list(stumbles(right))


@pytest.mark.parametrize(
    "text", ["What it costs.", "How many there are.", "Of the opponents.", "Where it stands; None: nowhere.", "How to search"]
)
def test_fragments_are_found(text: str) -> None:
    assert list(stumbles(text, docstring=True))


@pytest.mark.parametrize("text", ["The price.", "Whether it ends.", "Which is best? It tries all of them.", "Howls."])
def test_sentences_are_no_fragments(text: str) -> None:
    assert not list(stumbles(text, docstring=True))
