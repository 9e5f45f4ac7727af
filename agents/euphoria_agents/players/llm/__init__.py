"""`llm:MODEL[@URL][?OPTIONS]`: a language model behind an OpenAI-compatible server plays in words."""
