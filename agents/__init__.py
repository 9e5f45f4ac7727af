"""Agents that play Euphoria."""
