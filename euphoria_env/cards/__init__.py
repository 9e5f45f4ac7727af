"""The cards and spaces as data; `features` gives recruits and tiles as numbers."""

from __future__ import annotations

from euphoria_env.cards.description import CardFeatures, features

__all__ = ["CardFeatures", "features"]
