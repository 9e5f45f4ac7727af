"""One game with people and agents at a table: what the terminal and the server have in common."""

from __future__ import annotations

from euphoria_agents.play.agents import Agents
from euphoria_agents.play.session import AGENT_NAMES, AgentFailed, Seat, Session, Stale, WrongSeat

__all__ = ["AGENT_NAMES", "AgentFailed", "Agents", "Seat", "Session", "Stale", "WrongSeat"]
