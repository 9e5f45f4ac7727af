"""What agents are called at a table; how strong they are is their spec."""

from __future__ import annotations

AGENT_NAMES = ("Ada", "Boole", "Curie", "Dirac", "Euler", "Fermat")
