"""PettingZoo's three standard wrappers as one, for `raw_env`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper
from pettingzoo.utils.wrappers.order_enforcing import AECOrderEnforcingIterable

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.envs.arguments import ILLEGAL_REWARD
from euphoria_env.game import IllegalMove

_SURE = (int, np.int64, np.int32)  # types of actions of which the check of the space, which is slow, would look at the value only


class StandardWrapper(OrderEnforcingWrapper):
    """PettingZoo's TerminateIllegalWrapper, AssertOutOfBoundsWrapper and OrderEnforcingWrapper around `raw_env`, in one layer.

    It raises and warns as they do. An illegal action ends the game with a reward of -1 for the agent who chose it; from then on
    nobody decides.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game; see `raw_env.reset`. Where it fails, all stays as it was."""
        self.env.reset(seed=seed, options=options)
        self._has_reset = self._has_updated = True

    def last(self, observe: bool = True) -> Any:
        """Tells the selected agent everything; see `raw_env.last`."""
        return self.env.last(observe) if self._has_reset else super().last(observe)

    def observe(self, agent: str) -> Any:
        """The present observation of an agent; see `raw_env.observe`."""
        return self.env.observe(agent) if self._has_reset else super().observe(agent)

    def step(self, action: Any) -> None:
        """Plays a decision of the selected agent, or ends the game if it is illegal.

        Raises:
            AssertionError: `reset` was not called, or the action is not in the action space.
            ValueError: the agent is dead, and its action not None.
        """
        raw = self.env
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not raw.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        if type(action) not in _SURE or not 0 <= action < NUM_ACTIONS:
            agent = raw.agent_selection
            dead = raw.terminations[agent] or raw.truncations[agent]
            assert (action is None and dead) or raw.action_space(agent).contains(action), "action is not in action space"
        try:
            raw.step(action)
        except IllegalMove:
            EnvLogger.warn_on_illegal_move()
            raw.forfeit(ILLEGAL_REWARD)

    def agent_iter(self, max_iter: int = 2**63) -> AECOrderEnforcingIterable[Any, Any, Any]:
        """The agents who decide, one after the other; between two of them, `step` or `reset` must be called."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return _Turns(self, max_iter)

    def __copy__(self) -> StandardWrapper:
        return copy.deepcopy(self)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and self._has_reset:
            return getattr(self.env, name)
        return super().__getattr__(name)

    def __str__(self) -> str:
        return str(self.env)


class _Turns(AECOrderEnforcingIterable):
    """The agents who decide, without PettingZoo's way through the wrapper for each of them."""

    def __iter__(self) -> Iterator[str]:
        wrapper, raw, left = self.env, self.env.env, self.max_iter
        while raw.agents and left > 0:
            left -= 1
            assert wrapper._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
            wrapper._has_updated = False
            yield raw.agent_selection
