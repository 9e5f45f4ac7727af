"""The environments: PettingZoo AEC (`aec`), one learning seat for Gymnasium (`single`), many games at once (`vector`)."""

from __future__ import annotations

GYMNASIUM_ID = "euphoria_env/Euphoria-v0"


def register() -> None:
    """Tells Gymnasium of `euphoria_env/Euphoria-v0`; once is enough, twice does no harm."""
    from gymnasium.envs import registration

    if GYMNASIUM_ID not in registration.registry:
        registration.register(
            GYMNASIUM_ID,
            entry_point="euphoria_env.envs.single:EuphoriaEnv",
            vector_entry_point="euphoria_env.envs.vector:EuphoriaVectorEnv",
        )
