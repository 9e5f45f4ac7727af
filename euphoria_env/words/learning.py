"""The text that teaches the game, for the documentation, the browser and the terminal alike."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path


@cache
def lessons() -> dict[str, str]:
    """The parts of the text, as Markdown without tables and code, by their headings."""
    text = Path(__file__).with_name("learn.md").read_text(encoding="utf-8")
    return {
        heading: body.strip() for heading, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    }
