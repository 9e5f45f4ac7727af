"""Deals everything again that one player cannot know, consistently with what he sees (R19)."""

from __future__ import annotations

from euphoria_env.engine.jit import entry, jit


@entry
def deal_hidden(games, i, player, seed):
    """PLACEHOLDER"""
