"""The rules for a system text: in short, made from the tables of moves, spaces and costs, or whole, as in docs/rules.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from euphoria_env import actions
from euphoria_env.board import AREAS, COMMODITIES, MARKETS, SLOTS, SPACES, WORKERS_TO_BUILD
from euphoria_env.cards.spaces import SITE_COSTS
from euphoria_env.rules import OPTIONS, Rules
from euphoria_env.text.options import TextOptions
from euphoria_env.words import CHECK, RETRIEVING, area_gains, cost_words, dilemma_words, lessons, short_gain

_LESSONS = ("Where stars go", "What allegiance gives you")
_PARAGRAPHS = re.compile(r" \((?=R\d|Geek|Amanda)[^)]*\)$")  # what a meaning cites
_NEEDS = {"R15": "trading", "R17.2": "market_draft", "R17.3": "track_draft"}  # the options of the moves that cite these
_FEW = 6  # the most moves of one kind that are all named


@lru_cache(64)
def rules_text(kind: str, rules: Rules) -> str:
    """Returns the rules of a game as text: "none" (empty), "short" (at most 1,500 tokens) or "whole" (about 10,500).

    Raises:
        ValueError: `kind` is something else.
    """
    TextOptions(rules=kind)
    if kind == "none":
        return ""
    if kind == "whole":
        return Path(__file__).with_name("rules.md").read_text(encoding="utf-8")
    parts = {
        f"Euphoria for {rules.num_players} players": [
            f"Who first has {rules.stars_to_win} stars placed wins.",
            "A turn is one of these: place a worker (then perhaps more that showed the same face when the turn began); retrieve "
            f"any of your workers and roll them ({RETRIEVING}); resolve your dilemma.",
            "A worker on a space for one is bumped by the next one there: its owner rolls it and has it back.",
            f"Knowledge check: {CHECK}. So you want low knowledge.",
            "You hold at most as many artifacts as you have morale. Two of one kind are a pair.",
            f"Dilemma: {dilemma_words('book').replace('book', 'artifact that it shows')}.",
            "At step 6 a miner makes the hidden recruits of its faction active, at step 9 it opens their players a tunnel end.",
            *_options(rules),
        ],
        **{heading: [lessons()[heading]] for heading in _LESSONS},
        "Spaces (cost -> gain)": [*_spaces(rules.num_players)],
        "Moves": [*_moves(rules)],
    }
    return "\n\n".join("\n".join([f"## {heading}", *lines]) for heading, lines in parts.items())


def _options(rules: Rules) -> Iterator[str]:
    """Yields a line with the options other than usual."""
    unusual = [name for name in vars(rules) if getattr(rules, name) != getattr(Rules, name)]
    told = [OPTIONS[name].help.partition(" (")[0] for name in unusual if getattr(rules, name) is True]
    if told:
        yield f"In this game: {'; '.join(told)}."


def _spaces(players: int) -> Iterator[str]:
    """Yields a line for the areas, the sites, and all other spaces with one cost and gain."""
    areas = ", ".join(f"{area} ({good})" for area, good in zip(AREAS, COMMODITIES, strict=True))
    gains = "; ".join(f"{sums}: {gain}" for sums, gain in area_gains("commodity"))
    yield f"- {areas}: free, by the sum of all faces there: {gains}"
    costs = "; ".join(f"{site} {first}, then {rest}" for site, (first, rest, *_) in SITE_COSTS.items())
    yield f"- slots 1 to 4 of a site, such as {SLOTS[0]}: 1 resource -> a star once it has {WORKERS_TO_BUILD[players]} workers"
    yield f"- the resource of each slot: {costs}"
    alike: dict[str, list[str]] = {}
    for space in SPACES:
        if space not in (*AREAS, *SLOTS):
            cost = "as its tile says" if space in MARKETS else cost_words(space) or "free"
            alike.setdefault(f"{cost} -> {short_gain(space)}", []).append(space)
    for recipe, spaces in alike.items():
        yield f"- {', '.join(spaces) if len(spaces) < len(MARKETS) else f'{spaces[0]} ... {spaces[-1]}'}: {recipe}"


def _moves(rules: Rules) -> Iterator[str]:
    """Yields a line for each kind of move that the options allow: all moves or the first and the last, and what they mean."""
    for meaning, rows in groupby(actions.table(), key=lambda row: row.meaning):
        if not all(getattr(rules, option) for cited, option in _NEEDS.items() if f"({cited}" in meaning):
            continue
        names = [row.name for row in rows]
        same = names[0].rpartition(" ")[0]
        few = f"{same} {'|'.join(name.removeprefix(f'{same} ') for name in names)}" if len(names) > 1 else names[0]
        shown = few if len(names) <= _FEW else f"{names[0]} ... {names[-1]}"
        yield f"- {shown}: {_PARAGRAPHS.sub('', meaning)}"
