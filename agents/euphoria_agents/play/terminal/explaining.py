"""Explains a recruit, a tile, a dilemma or a space, by a name as people type it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from euphoria_env.board import ARTIFACTS, MARKETS, SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.render.view import MarketView
from euphoria_env.words import cost_words, dilemma_words, recruit_words, space_words, tile_words, title

MAX_OFFERED = 12  # names that are offered
EXPLAINED = (*RECRUIT_NAMES, *TILES, *ARTIFACTS, *SPACES)


def explain(text: str, markets: Mapping[str, MarketView]) -> str:
    """The explanation of the one thing with this name, or with this part of a name.

    Args:
        text: the name, in any case, with spaces or underlines.
        markets: the markets that were built, whose tiles say what they do.

    Raises:
        ValueError: no such name, or several; names some.
    """
    name = "_".join(text.lower().replace("-", " ").replace("_", " ").split())
    found = [name] if name in EXPLAINED else [one for one in EXPLAINED if name and name in one]
    if len(found) == 1:
        return _words(found[0], markets)
    if not found:
        near = difflib.get_close_matches(name, EXPLAINED, 5, 0.5)
        raise ValueError(f"nothing is called {text!r}" + (f"; is it {', '.join(near)}?" if near else ""))
    raise ValueError(f"which one: {', '.join(found[:MAX_OFFERED])}{' ...' if len(found) > MAX_OFFERED else ''}?")


def _words(name: str, markets: Mapping[str, MarketView]) -> str:
    if name in RECRUIT_NAMES:
        return f"{title(name)}, a recruit. {recruit_words(name)}"
    if name in TILES:
        cost = cost_words(MARKETS[0], name)
        return f"{title(name)}, a market. Pay {cost}: a star. Without a star there: {tile_words(name)}"
    if name in ARTIFACTS:
        return f"{title(name)}, an artifact. The dilemma of it: {dilemma_words(name)}"
    tile = markets[name].tile if name in MARKETS else None
    return f"{title(tile or name)}, a space. {space_words(name, tile)}"
