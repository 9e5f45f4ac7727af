"""Euphoria: Build a Better Dystopia as a reinforcement-learning environment (unofficial; published by Stonemaier Games)."""

from __future__ import annotations

from euphoria_env import actions, observations
from euphoria_env.game import Game, IllegalMove
from euphoria_env.rules import Rules

__all__ = ["Game", "IllegalMove", "Rules", "actions", "observations"]
