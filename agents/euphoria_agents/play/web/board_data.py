"""The public data for the pages: the printed board, cards in words, symbols and colours, options of the rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from euphoria_agents.play import AGENT_NAMES
from euphoria_env import Rules, words
from euphoria_env.board import ARTIFACTS, FACTIONS, GOODS, MAX_PLAYERS, SLOTS, SPACES, TUNNEL_ENDS, TUNNELS
from euphoria_env.cards.recruits import FACTION_OF, RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.events import KINDS, NAMES
from euphoria_env.json_reader import shown
from euphoria_env.render.lettering import FONT
from euphoria_env.render.symbols import die, symbols
from euphoria_env.render.theme import PAGE, variables
from euphoria_env.render.view import REGION_NAMES
from euphoria_env.rules import OPTIONS
from euphoria_env.words import title

STATIC = Path(__file__).parent / "static"
_TITLES = {
    **dict.fromkeys(TUNNELS, "Tunnel"),
    **dict.fromkeys(TUNNEL_ENDS, "Tunnel end"),
    **{slot: title(slot[:-2]) for slot in SLOTS},
    "tank_energy": "Tank, by energy",
    "tank_water": "Tank, by water",
}


def facts(agents: Mapping[str, str]) -> dict[str, Any]:
    """Returns the public data as JSON, with the specs that the pages offer, each with a description."""
    return {
        "agents": list(agents),
        "agent_words": agents,
        "agent_names": AGENT_NAMES,
        "events": {"kinds": KINDS, "names": NAMES},
        "goods": GOODS,
        "artifacts": ARTIFACTS,
        "regions": [{"faction": name, "title": REGION_NAMES[k]} for k, name in enumerate(FACTIONS)],
        "spaces": {name: {"title": _TITLES.get(name) or title(name), "words": words.space_words(name)} for name in SPACES},
        "tiles": {name: {"title": title(name), "words": words.tile_words(name)} for name in TILES},
        "recruits": {
            name: {"title": title(name), "faction": FACTIONS[FACTION_OF[k]], "words": words.recruit_words(name)}
            for k, name in enumerate(RECRUIT_NAMES)
        },
        "dilemmas": {name: words.dilemma_words(name) for name in ARTIFACTS},
        "rules": dict(_options()),
    }


def _options() -> Any:
    """Yields the rules options that the form of a new game offers: neither the number of players, nor lists of cards."""
    for name, option in OPTIONS.items():
        value = getattr(Rules(), name)
        if option.kind is bool:
            yield name, {"type": "flag", "help": option.help, "value": value}
        elif option.kind is int and name != "num_players":
            yield name, {"type": "number", "help": option.help, "value": value, "low": option.low, "high": option.high}


def languages() -> list[str]:
    """Returns the languages of the pages: English, and those that have a catalogue."""
    return ["en", *sorted(path.name.split(".")[1] for path in STATIC.glob("texts.*.json"))]


def catalogue(language: str) -> dict[str, str] | None:
    """Returns the translations of the pages' texts, None for English; raises a `ValueError` for a language they lack."""
    if language not in languages():
        raise ValueError(f"the language of a page must be one of {', '.join(languages())}, not {shown(language)}")
    return None if language == "en" else json.loads((STATIC / f"texts.{language}.json").read_text(encoding="utf-8"))


def symbol_sprite() -> str:
    """Returns an SVG that defines the symbols of the board, which the drawings `<use>`; see `render.symbols`."""
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="sprite" aria-hidden="true">{symbols(PAGE)}</svg>'


def page_icon() -> str:
    """Returns the icon of the pages as SVG: a die."""
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="15 0 26 26">{die(1, 5, "dark")}</svg>'


def colours(font: str = "inter.ttf") -> str:
    """Returns CSS: the font, at an address; the colours of both themes as variables, those of seats and regions as classes."""
    lines = [
        f"@font-face {{ font-family: Inter; src: url({font}); font-weight: 400 700; font-display: swap; }}",
        f"body {{ font-family: {FONT}; }}",
        f":root {{ color-scheme: dark; {variables('dark')} }}",
        f"@media (prefers-color-scheme: light) {{ :root {{ color-scheme: light; {variables('light')} }} }}",
    ]
    for k in range(MAX_PLAYERS):
        lines.append(f".seat{k} {{ {' '.join(f'--seat{part}: var(--seat-{k}{part});' for part in ('', '-ink', '-line'))} }}")
    lines += [f".{name} {{ --region: var(--{name}); --region-cell: var(--{name}-cell); }}" for name in FACTIONS]
    return "\n".join(lines) + "\n"
