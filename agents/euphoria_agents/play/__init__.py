"""Games with people and agents, and analyses of recorded games by agents.

The terminal (`play.terminal`) and the browser (`play.web`) share the session of this package; `play.study` analyses records.
"""

from __future__ import annotations

from euphoria_agents.play.agents import Agents
from euphoria_agents.play.failures import PlayerFailed, Stale, WrongSeat
from euphoria_agents.play.seats import AGENT_NAMES, Seat
from euphoria_agents.play.session import CANNOT_UNDO, Session, load_game, save_game

__all__ = ["AGENT_NAMES", "CANNOT_UNDO", "PlayerFailed", "Agents", "Seat", "Session", "Stale", "WrongSeat"]
__all__ += ["load_game", "save_game"]
