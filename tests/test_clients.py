"""`make test-clients`, as far as it can be looked at without installing anything."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

from scripts import test_clients as script

sys.path.append(str(script.ROOT / "scripts" / "language_models"))
from table import Table  # noqa: E402

ROOT = Path(__file__).parents[1]


PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")


def test_the_page_has_every_snippet_and_the_versions_tested() -> None:
    included = re.findall(r"```{literalinclude} \.\./scripts/snippets/(\S+)\n", PAGE)
    assert sorted(included) == sorted(path.name for path in script.SNIPPETS.glob("*.py"))
    assert {name.removeprefix("with_").removesuffix(".py") for name in included} == set(script.CLIENTS)
    for name in included:
        client = name.removeprefix("with_").removesuffix(".py")
        assert f"| {script.versions(client)} | `{name}` | " in PAGE


def test_the_scripts_with_a_language_model_are_on_their_page() -> None:
    page = (ROOT / "docs" / "language-models.md").read_text(encoding="utf-8")
    for name in script.LANGUAGE_MODELS:
        assert (ROOT / "scripts" / "language_models" / f"with_{name}.py").exists()
        assert f"| {script.versions(name)} | `with_{name}.py` | " in page


def test_a_table_of_a_model_and_an_agent_gives_rewards() -> None:
    rules = {"num_players": 2, "stars_to_win": 1, "illegal": "random", "tries": 1, "max_turns": 30}
    table = Table(7, ["random"], judge="greedy", **rules)
    answers, rng = ["rubbish"], random.Random(7)
    while asked := table.asked():
        assert asked.player == "player_0"
        table.answer(answers[-1])
        answers.append(rng.choice(asked.legal))
    rewards = table.rewards("player_0")
    assert rewards["win"] == -table.rewards("player_1")["win"] and 0 <= rewards["stars"] <= 1
    assert -1 <= rewards["regret"] < 0 < rewards["legal"] < 1
    with pytest.raises(ValueError, match="at most 1 opponents, not 2"):
        Table(7, ["random", "random"], **rules)
