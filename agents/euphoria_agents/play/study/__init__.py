"""Studying a recorded game: what an agent thinks of every decision, what mistakes cost, and what was luck."""
