"""Euphoria: Build a Better Dystopia as a reinforcement-learning environment (unofficial; published by Stonemaier Games)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from euphoria_env import garbage as _garbage

with _garbage.collected_rarely():
    from euphoria_env import actions, afterstates, events, observations
    from euphoria_env.envs import register as _register
    from euphoria_env.rules import Rules

    _register()

if TYPE_CHECKING:
    from euphoria_env import rewards
    from euphoria_env.batch import Batch
    from euphoria_env.envs.aec import env, raw_env
    from euphoria_env.envs.text import text_env
    from euphoria_env.game import Game, IllegalMove
    from euphoria_env.sampling import sample_action

__all__ = ["Batch", "Game", "IllegalMove", "Rules", "actions", "afterstates", "env", "events", "observations", "raw_env"]
__all__ += ["rewards", "sample_action", "text_env"]

# These modules are imported when they are first used: importing numpy takes long, and `euphoria --help` does not need it.
_AEC, _GAME = "euphoria_env.envs.aec", "euphoria_env.game"
_LATE = {
    **{"Batch": "euphoria_env.batch", "Game": _GAME, "IllegalMove": _GAME},
    **{"env": _AEC, "raw_env": _AEC, "text_env": "euphoria_env.envs.text"},
    **{"rewards": "euphoria_env.rewards", "sample_action": "euphoria_env.sampling"},
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'euphoria_env' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(_LATE[name])
    value = getattr(module, name, module)
    globals()[name] = value
    return value
