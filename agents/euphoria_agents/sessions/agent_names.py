"""Names of agents at a table; the spec says how strong they are."""

from __future__ import annotations

AGENT_NAMES = ("Ada", "Boole", "Curie", "Dirac", "Euler", "Fermat")
