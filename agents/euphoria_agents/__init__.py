"""Agents that play Euphoria, their training and their matches; `load` makes one from a line of text.

The parts, each of which imports only from those named before it: `network` (layers and checkpoints), `players` (with their
search), `registry`, `agent_process`, `matches` (with tournaments), `training`, `speed`, then `benchmark`, `data` and `play` (in
the terminal and the browser, with analyses of recorded games), and `commands` (the subcommands of `euphoria`).
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from euphoria_agents.agent import Agent
    from euphoria_agents.matches.match import play_match
    from euphoria_agents.registry import load, specs
    from euphoria_agents.training.policy_and_value import save_checkpoint
    from euphoria_env.envs.sb3 import EuphoriaVecEnv

__all__ = ["Agent", "EuphoriaVecEnv", "load", "play_match", "save_checkpoint", "specs"]

# These names are imported when they are first used, so that `euphoria --help` is quick; the last two need PyTorch
# and Stable-Baselines3.
_LATE = {
    "Agent": "euphoria_agents.agent",
    "load": "euphoria_agents.registry",
    "specs": "euphoria_agents.registry",
    "play_match": "euphoria_agents.matches.match",
    "save_checkpoint": "euphoria_agents.training.policy_and_value",
    "EuphoriaVecEnv": "euphoria_env.envs.sb3",
}


def _refuse_two_copies() -> None:
    """Raises an ImportError if `euphoria_env` is of another copy of this project, as in a checkout beside an installed wheel."""
    spec = find_spec("euphoria_env")
    here, there = Path(__file__).resolve().parent.parent, Path((spec and spec.origin) or "").resolve().parent.parent
    if spec and there not in (here, here.parent):  # beside each other, or in the folder `agents` of a checkout
        raise ImportError(
            f"these are two copies: euphoria_env is in {there}, euphoria_agents in {here}; "
            "in a checkout, install with `pip install -e .`, or start Python in another folder"
        )


_refuse_two_copies()


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'euphoria_agents' has no attribute {name!r}")
    value = getattr(import_module(_LATE[name]), name)
    globals()[name] = value
    return value
