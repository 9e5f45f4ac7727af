"""Texts of the terminal: the explanation of a card, a player's belongings, the opinion of an agent."""

from __future__ import annotations

from collections.abc import Mapping

from euphoria_agents.agent import Explanation, MoveThought
from euphoria_agents.play.study.decision_analysis import best_thoughts
from euphoria_env.board import ARTIFACTS, MARKETS, SPACES, STARS
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.render.view import MarketView, PlayerView
from euphoria_env.words import cost_words, dilemma_words, recruit_words, short_name, space_words, tile_words, title

MAX_OFFERED = 12  # names that are listed if several fit
BEST = 5  # moves that a hint names
EXPLAINED = (*RECRUIT_NAMES, *TILES, *ARTIFACTS, *SPACES)


def explain(text: str, markets: Mapping[str, MarketView]) -> str:
    """Returns the explanation of the card, artifact or space with this name or part of a name, in any case, with blanks or "_".

    The tiles of the `markets`, which were built, say what they do. Raises a `ValueError` if no name fits, or several do.
    """
    name = "_".join(text.lower().replace("-", " ").replace("_", " ").split())
    found = [name] if name in EXPLAINED else [one for one in EXPLAINED if name and name in one]
    if not found:
        raise ValueError(f"nothing is called {text!r}")
    if len(found) > 1:
        raise ValueError(f"which one: {', '.join(found[:MAX_OFFERED])}{' ...' if len(found) > MAX_OFFERED else ''}?")
    (name,) = found
    if name in RECRUIT_NAMES:
        return f"{title(name)}, a recruit. {recruit_words(name)}"
    if name in TILES:
        cost = cost_words(MARKETS[0], name)
        return f"{title(name)}, a market. Pay {cost}: a star. Without a star there: {tile_words(name)}"
    if name in ARTIFACTS:
        return f"{title(name)}, an artifact. The dilemma of it: {dilemma_words(name)}"
    tile = markets[name].tile if name in MARKETS else None
    return f"{title(tile or name)}, a space. {space_words(name, tile)}"


def possessions(me: PlayerView) -> str:
    """Returns a player's belongings in a line."""
    workers = f"workers {' '.join(map(str, me.workers))}" if me.workers else "no worker in hand"
    goods = ", ".join(f"{n} {name}" for name, n in me.goods.items()) or "no goods"
    cards = ", ".join(f"{n} {name}" for name, n in (me.artifacts or {}).items())
    tracks = f"knowledge {me.knowledge or '-'}, morale {me.morale or '-'}"
    recruits = ", ".join(short_name(one.name) + ("" if one.active else " (hidden)") for one in me.recruits)
    facts = [workers, tracks, goods, f"artifacts: {cards}" if cards else "no artifacts", stars_placed(me), recruits]
    return "; ".join(filter(None, facts))


def stars_placed(player: PlayerView) -> str:
    """Returns how many stars a player has placed."""
    placed = STARS - player.stars
    return f"{placed} star{'' if placed == 1 else 's'} placed"


def best_moves(opinion: Explanation) -> list[tuple[int, str]]:
    """Returns the action ids of the best moves, each with the agent's opinion as text; empty if it has no opinion of any move."""
    return [(thought["action"], _opinion(thought)) for thought in best_thoughts(opinion["moves"], BEST)]


def _opinion(thought: MoveThought) -> str:
    """Returns an agent's opinion of a move, as far as it has one."""
    value, visits, prior = thought["value"], thought["visits"], thought["prior"]
    parts = [
        f"{value:.0%} to win" if value is not None else "",
        f"looked at {visits} times" if visits is not None else "",
        f"would play it {prior:.0%} of the time" if prior is not None and visits is None else "",
    ]
    return ", ".join(filter(None, parts))
