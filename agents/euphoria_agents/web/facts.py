"""What the pages need and everybody may know: the printed board, the cards in words, the symbols and colours, the rules' options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from euphoria_env import Rules, words
from euphoria_env.board import (
    AREAS,
    ARTIFACT_MARKETS,
    ARTIFACTS,
    FACTIONS,
    GOODS,
    ICARUS,
    MARKETS,
    SITES,
    SLOTS_PER_SITE,
    SPACES,
    TANK,
    TERRITORIES,
    TUNNEL_ENDS,
    TUNNELS,
)
from euphoria_env.cards.recruits import FACTION_OF, RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.render.canvas import FACTION_COLOURS, ICONS, PLAYER_COLOURS, STAR_POINTS
from euphoria_env.render.view import REGION_NAMES, cost_view, title
from euphoria_env.rules import OPTIONS, Flag, Integer

_TITLES = {
    **dict.fromkeys(TUNNELS, "Tunnel"),
    **dict.fromkeys(TUNNEL_ENDS, "Tunnel end"),
    "tank_energy": "Tank, by energy",
    "tank_water": "Tank, by water",
}


def facts(agents: Mapping[str, str]) -> dict[str, Any]:
    """The facts, as JSON; `agents`: the specs that are offered, with what they are."""
    return {
        "agents": list(agents),
        "agent_words": agents,
        "goods": GOODS,
        "artifacts": ARTIFACTS,
        "regions": [_region(k) for k in range(len(FACTIONS))],
        "tank": TANK,
        "spaces": {
            name: {"title": _TITLES.get(name) or title(name), "cost": cost_view(name), "words": words.space_words(name)}
            for name in SPACES
        },
        "tiles": {
            name: {"title": title(name), "cost": cost_view(MARKETS[0], name), "words": words.tile_words(name)} for name in TILES
        },
        "recruits": {
            name: {"title": title(name), "faction": FACTIONS[FACTION_OF[k]], "words": words.recruit_words(name)}
            for k, name in enumerate(RECRUIT_NAMES)
        },
        "dilemmas": {name: words.dilemma_words(name) for name in ARTIFACTS},
        "rules": dict(_options()),
    }


def _region(k: int) -> dict[str, Any]:
    ground = k < len(TUNNELS)
    sites = SITES[2 * k : 2 * k + 2]
    return {
        "faction": FACTIONS[k],
        "title": REGION_NAMES[k],
        "area": AREAS[k],
        "territory": TERRITORIES[k],
        "tunnel": TUNNELS[k] if ground else None,
        "tunnel_end": TUNNEL_ENDS[k] if ground else None,
        "markets": MARKETS[2 * k : 2 * k + 2],
        "slots": [[f"{site}_{slot}" for slot in range(1, SLOTS_PER_SITE + 1)] for site in sites],
        "spaces": [ARTIFACT_MARKETS[k]] if ground else ICARUS,
    }


def _options() -> Any:
    """The options that a form offers; the number of players is that of the seats, and lists of cards are for the API alone."""
    for name, option in OPTIONS.items():
        value = getattr(Rules(), name)
        if isinstance(option, Flag):
            yield name, {"type": "flag", "help": option.help, "value": value}
        elif isinstance(option, Integer) and name != "num_players":
            yield name, {"type": "number", "help": option.help, "value": value, "low": option.low, "high": option.high}


def symbols() -> str:
    """The symbols of the picture, as an SVG of symbols called `symbol-NAME`."""
    star = f'<polygon points="{STAR_POINTS}" fill="currentColor"/>'
    shapes = (
        f"<symbol id={quoteattr('symbol-' + name.replace(' ', '-'))} viewBox='0 0 16 16'>{shape}</symbol>"
        for name, shape in {**ICONS, **{name: ICONS["artifact"] for name in ARTIFACTS}, "star": star}.items()
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="sprite" aria-hidden="true">{"".join(shapes)}</svg>'


def page_icon() -> str:
    """A star on a die."""
    star = f'<polygon points="{STAR_POINTS}" fill="#f3d27a"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 20 20"><rect x="-2" y="-2" width="20" height="20" rx="4"/>{star}</svg>'


def colours() -> str:
    """The colours of seats and regions, as CSS."""
    seats = (f".seat{k} {{ --seat: {fill}; --seat-ink: {ink}; }}" for k, (fill, ink) in enumerate(PLAYER_COLOURS))
    regions = (f".{name} {{ --region: {colour}; }}" for name, colour in zip(FACTIONS, FACTION_COLOURS, strict=True))
    return "\n".join([*seats, *regions]) + "\n"
