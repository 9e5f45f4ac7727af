"""The public data for the pages: the printed board, cards in words, symbols and colours, options of the rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from euphoria_agents.play import AGENT_NAMES
from euphoria_env import Rules, words
from euphoria_env.board import ARTIFACTS, FACTIONS, GOODS, MAX_PLAYERS, SLOTS, SPACES, TANK, TUNNEL_ENDS, TUNNELS
from euphoria_env.cards.recruits import FACTION_OF, RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.events import KINDS, NAMES
from euphoria_env.json_reader import shown
from euphoria_env.phrases import LANGUAGES, Phrase, say
from euphoria_env.render.lettering import FONT
from euphoria_env.render.symbols import die, symbols
from euphoria_env.render.theme import PAGE, variables
from euphoria_env.rules import OPTIONS
from euphoria_env.words.names import site, space_title

STATIC = Path(__file__).parent / "static"


def facts(agents: Mapping[str, str], language: str = "en") -> dict[str, Any]:
    """Returns the public data as JSON in a language, with the specs that the pages offer, each with a description."""

    def name(of: str) -> str:
        return say(Phrase(f"name.{of}"), language)

    return {
        "agents": list(agents),
        "agent_words": agents,
        "agent_names": AGENT_NAMES,
        "events": {"kinds": KINDS, "names": NAMES},
        "goods": GOODS,
        "artifacts": ARTIFACTS,
        "regions": [{"faction": one, "title": say(Phrase(f"region.{one}"), language)} for one in FACTIONS],
        "spaces": {
            one: {"title": say(_heading(one), language), "words": words.space_words(one, language=language)} for one in SPACES
        },
        "tiles": {one: {"title": name(one), "words": words.tile_words(one, language)} for one in TILES},
        "recruits": {
            one: {"title": name(one), "faction": FACTIONS[FACTION_OF[k]], "words": words.recruit_words(one, language)}
            for k, one in enumerate(RECRUIT_NAMES)
        },
        "dilemmas": {one: words.dilemma_words(one, language) for one in ARTIFACTS},
        "rules": dict(_options()),
    }


def _heading(space: str) -> Phrase:
    """Returns the name of a space as the pages have it above what it does."""
    if space in TUNNELS or space in TUNNEL_ENDS:
        faction, _, kind = space.partition("_")
        return Phrase(f"heading.{kind}", region=Phrase(f"region.{faction}"))
    if space in TANK:
        return Phrase(f"heading.{space}")
    return Phrase("capital", text=site(space[:-2])) if space in SLOTS else space_title(space)


def _options() -> Any:
    """Yields the rules options that the form of a new game offers: neither the number of players, nor lists of cards."""
    for name, option in OPTIONS.items():
        value = getattr(Rules(), name)
        if option.kind is bool:
            yield name, {"type": "flag", "help": option.help.partition(" (")[0], "value": value}
        elif option.kind is int and name != "num_players":
            yield (
                name,
                {
                    "type": "number",
                    "help": option.help.partition(" (")[0],
                    "value": value,
                    "low": option.low,
                    "high": option.high,
                },
            )


def catalogue(language: str) -> dict[str, str] | None:
    """Returns the translations of the pages' texts, None for English; raises a `ValueError` for a language they lack."""
    if language not in LANGUAGES:
        raise ValueError(f"the language of a page must be one of {', '.join(LANGUAGES)}, not {shown(language)}")
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
