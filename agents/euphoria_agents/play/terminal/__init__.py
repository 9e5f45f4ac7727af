"""Games in the terminal: played by people and agents at one screen."""

from __future__ import annotations

from euphoria_agents.play.terminal.game import TerminalGame
from euphoria_agents.play.terminal.screen import Screen

__all__ = ["Screen", "TerminalGame"]
