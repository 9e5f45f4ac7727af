"""The game in text, for language models: prompts, rules and the reading of answers.

Nothing in a prompt is hidden from the player who reads it (R19).
"""

from __future__ import annotations

from euphoria_env.text.answers import Answer, read_answer, split_thinking
from euphoria_env.text.facts import facts_of
from euphoria_env.text.observation import observation_text
from euphoria_env.text.options import TextOptions
from euphoria_env.text.rules_text import rules_text

__all__ = ["Answer", "TextOptions", "facts_of", "observation_text", "read_answer", "rules_text", "split_thinking"]
