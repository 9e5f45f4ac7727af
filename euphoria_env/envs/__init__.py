"""The environments: PettingZoo AEC (`aec`), one learning seat (`single`), many games for Gymnasium (`vector`) and SB3 (`sb3`).

Those of `text` are for language models. Also OpenSpiel's game (`open_spiel`).
"""

from __future__ import annotations

GYMNASIUM_ID = "euphoria_env/Euphoria-v0"
TEXT_ID = "euphoria_env/EuphoriaText-v0"
PETTINGZOO_ID = "euphoria_env/euphoria-v0"


def register() -> None:
    """Registers the environments with Gymnasium and PettingZoo; further calls do nothing.

    Entry points of the package cannot do this: Gymnasium has not read them since 1.0, and PettingZoo never did.
    """
    from gymnasium.envs import registration

    if GYMNASIUM_ID not in registration.registry:
        registration.register(
            GYMNASIUM_ID,
            entry_point="euphoria_env.envs.single:EuphoriaEnv",
            vector_entry_point="euphoria_env.envs.vector:EuphoriaVectorEnv",
        )
    if TEXT_ID not in registration.registry:
        registration.register(TEXT_ID, entry_point="euphoria_env.envs.text:EuphoriaTextEnv")
    import pettingzoo

    if PETTINGZOO_ID not in getattr(pettingzoo, "aec_registry", [PETTINGZOO_ID]):  # before 1.26 there was no registry
        pettingzoo.register("aec", PETTINGZOO_ID, entry_point="euphoria_env.envs.aec:env")
