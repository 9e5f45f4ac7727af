"""Writes the reference of public classes and functions as Markdown, from their docstrings; nothing is imported for it."""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

# The names that each part of the page has, in its order; `__doc__` is the docstring of a module.
_VIEW = ("view_of", "View", "PlayerView", "MarketView", "RecruitView")
_WORDS = ("Move", "legal_moves", "question", "log", "area_gains", "cost_words", "dilemma_words", "lessons", "recruit_words")
_WORDS += ("space_words", "tile_words", "short_gain", "short_name", "short_title", "title")
_TEXT = ("observation_text", "facts_of", "rules_text", "read_answer", "split_thinking", "Answer", "TextOptions")
NAMES = {
    "games": ("euphoria_env.Game", "euphoria_env.events.Decided", "euphoria_env.IllegalMove", "euphoria_env.Rules",
              "euphoria_env.Batch", "euphoria_env.sample_action"),
    "trajectories": tuple(f"euphoria_env.trajectories.{name}" for name in ("__doc__", "Trajectories", "estimate_advantages")),
    "pictures": (*(f"euphoria_env.render.{name}" for name in ("__doc__", "board_text", "board_svg", "board_array")),
                 *(f"euphoria_env.render.board.{name}" for name in ("__doc__", "board_fragment", "places")),
                 *(f"euphoria_env.render.view.{name}" for name in _VIEW)),
    "pettingzoo": ("euphoria_env.env", "euphoria_env.raw_env"),
    "gymnasium": ("euphoria_env.envs.single.EuphoriaEnv", "euphoria_env.envs.vector.EuphoriaVectorEnv"),
    "sb3": ("euphoria_env.envs.sb3.EuphoriaVecEnv",),
    "openspiel": ("euphoria_env.envs.open_spiel.__doc__", "euphoria_env.envs.open_spiel.EuphoriaGame"),
    "actions": tuple(f"euphoria_env.actions.{name}" for name in ("__doc__", "name", "parse", "number", "table", "ActionRow")),
    "afterstates": tuple(f"euphoria_env.afterstates.{name}" for name in ("__doc__", "table")),
    "observations": tuple(f"euphoria_env.observations.{name}"
                          for name in ("__doc__", "table", "fields", "scale", "start_of", "Field")),
    "rewards": tuple(f"euphoria_env.rewards.{name}" for name in ("__doc__", "table", "QuantityRow")),
    "events": tuple(f"euphoria_env.events.{name}" for name in ("__doc__", "Event", "EventRow", "table")),
    "cards": ("euphoria_env.cards.features", "euphoria_env.cards.description.CardFeatures"),
    "words": ("euphoria_env.words.__doc__", *(f"euphoria_env.words.{name}" for name in _WORDS),
              "euphoria_env.words.move_text.MoveFacts", "euphoria_env.phrases.Phrase", "euphoria_env.phrases.say"),
    "agents": ("euphoria_agents.load", "euphoria_agents.specs", "euphoria_agents.Agent", "euphoria_env.agent_protocol.Player",
               "euphoria_agents.registry.load_untrusted"),
    "thoughts": tuple(f"euphoria_agents.agent.{name}" for name in ("explained", "Explanation", "MoveThought")),
    "networks": ("euphoria_agents.players.ppo.PPO", "euphoria_agents.training.policy_and_value.PolicyAndValue",
                 "euphoria_agents.save_checkpoint"),
    "matches": ("euphoria_agents.play_match",
                *(f"euphoria_agents.matches.match.{name}" for name in ("MatchResult", "Score", "Played", "wilson"))),
    "studies": ("euphoria_agents.play.study.game_analysis.Analysis", "euphoria_agents.play.study.move_comparison.compare",
                *(f"euphoria_agents.play.study.summary.{name}"
                  for name in ("PlayerSummary", "suspects", "mistakes", "summarise"))),
    "data": ("euphoria_agents.data.loading.load", "euphoria_agents.data.loading.Dataset"),
    "text": (*(f"euphoria_env.text.{name}" for name in _TEXT), "euphoria_env.envs.text.EuphoriaTextEnv",
             "euphoria_env.envs.text.text_env"),
}  # fmt: skip
_SECTIONS = {"Args": "Arguments", "Attributes": "Attributes", "Raises": "Raises", "Returns": "Returns"}


@cache
def _module(name: str) -> tuple[str, ast.Module]:
    """Returns the text of a module and its syntax tree."""
    root = ROOT / "agents" if name.startswith("euphoria_agents") else ROOT
    path = root / name.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (text := file.read_text(encoding="utf-8")), ast.parse(text)


def _find(name: str) -> tuple[str, Definition]:
    """Returns the text of the module that defines a class or function, and the definition; imports are followed."""
    place, _, short = name.rpartition(".")
    source, tree = _module(place)
    for node in ast.walk(tree):
        if isinstance(node, Definition) and node.name == short:
            return source, node
        if isinstance(node, ast.ImportFrom) and short in [alias.name for alias in node.names]:
            return _find(f"{node.module}.{short}")
    raise ValueError(f"{place} has no {short}")


_HEADINGS = {
    name.rpartition(".")[2]: f"{'language-models' if block == 'text' else 'api'}.md#{name.replace('.', '').lower()}"
    for block, names in NAMES.items()
    for name in names
}


def _linked(text: str) -> str:
    """A text in which the names of classes are links to their headings."""
    known = re.compile("`(" + "|".join(name for name in _HEADINGS if name[0].isupper()) + ")`")
    return known.sub(lambda found: f"[{found[0]}]({_HEADINGS[found[1]]})", text)


def _documented(text: str) -> Iterator[str]:
    """A docstring: its paragraphs, and its sections as lists."""
    for part in re.split(r"\n\n(?=\S)", text):
        title, _, rest = part.partition(":\n")
        if title not in _SECTIONS:
            yield from ("", *_linked(part).split("\n"))
            continue
        rest = textwrap.dedent(rest)
        if title != "Returns":
            rest = re.sub(r"^(\S[^:`\n]*): ", r"- `\1`: ", rest, flags=re.MULTILINE)
            rest = re.sub(r"^ +", "  ", rest, flags=re.MULTILINE)
        yield from ("", f"*{_SECTIONS[title]}*", "", *_linked(rest).split("\n"))


def _signature(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef, bound: bool) -> str:
    """A call of a function as its definition has it, with the types; `bound`: without the first argument."""
    arguments = copy.deepcopy(node.args)
    if bound:
        (arguments.posonlyargs or arguments.args).pop(0)
    returned = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    return f"{name}({ast.unparse(arguments).replace('=', ' = ')}){returned}"


def _code(lines: list[str]) -> list[str]:
    return ["", "```py", *lines, "```"]  # not `python`: the tests run blocks of that


def _method(owner: str, node: ast.FunctionDef) -> Iterator[str]:
    """A method or property of a class, unless it has no docstring or is private."""
    text, marks = ast.get_docstring(node), [ast.unparse(mark) for mark in node.decorator_list]
    if text is None or node.name.startswith("_"):
        return
    if any(mark.endswith("property") for mark in marks):
        call = f"{owner}.{node.name}" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")
    else:
        call = _signature(f"{owner}.{node.name}", node, bound="staticmethod" not in marks)
    yield from _code(textwrap.wrap(call, 128, subsequent_indent="    ", break_on_hyphens=False))
    yield from _documented(text)


def _entry(name: str) -> Iterator[str]:
    """A class with its members, a function, or the docstring of a module."""
    if name.endswith(".__doc__"):
        yield from _documented(ast.get_docstring(_module(name.removesuffix(".__doc__"))[1]) or "")
        return
    source, node = _find(name)
    yield from ("", f"#### `{name}`")
    if isinstance(node, ast.ClassDef):
        made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        lines = source.splitlines()
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and not ast.unparse(one.target).startswith("_")]
        call = _signature(node.name, made[0], bound=True) if made else f"class {node.name}"
        code = [line for one in fields for line in lines[one.lineno - 1 : one.end_lineno]] if not made else []
    else:
        call, code = _signature(node.name, node, bound=False), []
    yield from _code([*textwrap.wrap(call, 128, subsequent_indent="    ", break_on_hyphens=False), *code])
    yield from _documented(ast.get_docstring(node) or "")
    for method in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(method, ast.FunctionDef):
            yield from _method(node.name, method)


def part(block: str) -> list[str]:
    """The lines of a part of the reference."""
    return [line for name in NAMES[block] for line in _entry(name)][1:]
