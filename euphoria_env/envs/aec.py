"""The PettingZoo AEC environment `euphoria_v0`: a step plays one decision."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import ARTIFACTS, MARKETS, MAX_PLAYERS
from euphoria_env.cards.recruits import NUM_RECRUITS
from euphoria_env.cards.tiles import NUM_TILES
from euphoria_env.engine.state import ABSENT, IN_BY, OUT_BY, OVER, TRUNCATED
from euphoria_env.envs.arguments import ILLEGAL_REWARD, game_from, known_number, reset_options
from euphoria_env.envs.environment import FRAMES_PER_SECOND, PICTURE_SIZE, OneGame, RewardFunction, observation_box
from euphoria_env.game import IllegalMove
from euphoria_env.json_reader import read_seed
from euphoria_env.keywords import names_keywords
from euphoria_env.rules import OPTIONS

# Actions of these types need only a check of their value, not the slow check of the action space.
_INTEGER_TYPES = (int, np.int64, np.int32)
# What no player sees, for `raw_env.state`: fields of the state row with their sizes, lowest and highest values. The generator of
# the game is not among them.
_HIDDEN = {
    "tile": (len(MARKETS), -1, NUM_TILES - 1),  # market tile by site, face up or down; -1: none yet
    "deck": (len(ARTIFACTS), 0, 127),  # artifacts left in the deck by type
    "recruit_place": (NUM_RECRUITS, ABSENT, OUT_BY + MAX_PLAYERS - 1),  # where each recruit is (`engine.state`)
    "tile_place": (NUM_TILES, ABSENT, IN_BY + MAX_PLAYERS - 1),
}


@names_keywords(*OPTIONS)
class raw_env(OneGame, AECEnv):
    """Euphoria for 2 to 6 agents `player_0` ..., without PettingZoo's wrappers.

    Args:
        render_mode: "ansi" (a string), "rgb_array" (uint8 (H, W, 3)), "human" (prints the board), or None.
        reward: a name or a dict as in docs/environment.md; for `raw_env` also a function.
        render_size: width and height of "rgb_array" in pixels.
        mask: "observation", or "info": only `infos` has the mask, and without events an observation is a plain array.
        mask_dtype: the dtype of masks: "int8", or "bool" for libraries that need it.
        events: K, the number of the last events in each observation (docs/events.md); 0: none.
        **rules: the fields of `Rules`.

    Attributes:
        state_space: the space of `state()`.

    Raises:
        TypeError: a keyword is unknown.
        ValueError: the value of an argument is not allowed; the message names the argument and what is allowed.

    An observation is a dict of `observation` (int8, (OBS_SIZE,)) and `action_mask` (`mask_dtype`, (NUM_ACTIONS,)), and with
    events of `events` (int8, (K, EVENT_SIZE)). The mask is in `infos` too. All arrays and dicts are fresh after every step. The
    mask is all zeros for players who do not decide, and for all players once the game has ended.
    """

    metadata = {
        "name": "euphoria_v0",
        "render_modes": ["ansi", "rgb_array", "human"],
        "is_parallelizable": False,
        "render_fps": FRAMES_PER_SECOND,
    }
    _takes_functions, _shows = True, True

    def __init__(
        self,
        render_mode: str | None = None,
        reward: str | dict[str, Any] | RewardFunction = "win",
        render_size: tuple[int, int] = PICTURE_SIZE,
        events: int = 0,
        mask: str = "observation",
        mask_dtype: str = "int8",
        **rules: Any,
    ) -> None:
        super().__init__()
        self._configure(rules, reward, render_mode, render_size, mask, mask_dtype, events)
        n = self.rules.num_players
        self.possible_agents = [f"player_{p}" for p in range(n)]
        self._observation_spaces: dict[str, Any] = {agent: self._space() for agent in self.possible_agents}
        self._action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        self._seat = {agent: p for p, agent in enumerate(self.possible_agents)}
        seen, hidden = observation_box(), [np.full((2, size), [[low], [high]]) for size, low, high in _HIDDEN.values()]
        low, high = np.concatenate([np.array([seen.low, seen.high])] * n + hidden, axis=1).astype(np.int8)
        self.state_space = spaces.Box(low, high, dtype=np.int8)
        self._seeds = np.random.default_rng()
        self._infos: dict[str, dict[str, Any]] = {}  # the infos that were read since the last step
        self._infos_of_dead = False  # whether the game had ended when they were made
        self._no_rewards = dict.fromkeys(self.possible_agents, 0.0)

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns the observation space, the same object at every call."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Returns the action space, the same object at every call."""
        return self._action_spaces[agent]

    def _mask_of(self, agent: str) -> np.ndarray:
        """Returns a fresh mask of an agent's legal moves: zeros if another decides or if a wrapper has ended the game."""
        if agent != self._decider or self.terminations.get(agent, True) or self.truncations.get(agent, True):
            return np.zeros(NUM_ACTIONS, self._mask_dtype)
        return self._fresh_mask()

    def _info_of(self, agent: str) -> dict[str, Any]:
        """Returns a fresh info of an agent."""
        return {"action_mask": self._mask_of(agent)}

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The info of each agent, made when it is read for the first time after a step or after a wrapper ended the game."""
        dead = any(self.terminations.values()) or any(self.truncations.values())
        if len(self._infos) < len(self.agents) or dead is not self._infos_of_dead:
            known = self._infos if dead is self._infos_of_dead else {}
            self._infos = {agent: known.get(agent) or self._info_of(agent) for agent in self.agents}
            self._infos_of_dead = dead
        return self._infos

    @infos.setter
    def infos(self, infos: dict[str, dict[str, Any]]) -> None:
        self._infos = infos

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game; equal seeds give equal games.

        Args:
            seed: an integer, or None to go on from the last one.
            options: `{"position": {...}}` starts from a position (docs/positions.md). The key "options", which PettingZoo's tests
                give, says nothing.

        Raises:
            ValueError: the position is impossible, or has other rules; or an option is unknown.
        """
        given = reset_options(options, ("position", "options")).get("position")
        seeds = self._seeds if seed is None else np.random.default_rng(read_seed(seed) % 2**64)
        if given is not None:
            seeds = copy.deepcopy(seeds)  # an impossible position must leave the generator as it was
        game_seed = int(seeds.integers(2**63))
        self._begin(None if given is None else game_from(given, self.rules, game_seed), game_seed)
        self._seeds = seeds
        self.agents = self.possible_agents[:]
        self.rewards = self._no_rewards.copy()
        self._cumulative_rewards = self._no_rewards.copy()
        self.terminations = dict.fromkeys(self.agents, self._status == OVER)
        self.truncations = dict.fromkeys(self.agents, self._status == TRUNCATED)
        self._skip_agent_selection = None  # PettingZoo's note of whom to select after dead steps; some may be left over
        self._select()

    def _select(self) -> None:
        """Selects the player who must decide, or the last one to decide if the game has ended."""
        self.agent_selection = agent = self.possible_agents[self._player]
        self._decider = agent if self._status < OVER else None
        self._infos, self._infos_of_dead = {}, self._status >= OVER

    def observe(self, agent: str) -> Any:
        """Returns the current observation of an agent, in fresh arrays."""
        if not self._begun:
            self._check_begun()
        return self._observed_by(self._seat[agent], self._mask_of(agent) if self._masked else None)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Returns the selected agent's observation, rewards since its last decision, termination, truncation and info."""
        if not self._begun:
            self._check_begun()
        agent = self.agent_selection
        observation = self.observe(agent) if observe else None
        reward, terminated, truncated = self._cumulative_rewards[agent], self.terminations[agent], self.truncations[agent]
        if terminated or truncated:
            return observation, reward, terminated, truncated, self.infos[agent]
        info = self._infos.get(agent)
        if info is None:
            info = self._infos[agent] = self._info_of(agent)
        return observation, reward, terminated, truncated, info

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Iterates over the agents in the order in which they decide."""
        self._check_begun()
        return super().agent_iter(max_iter)

    def state(self) -> np.ndarray:
        """Returns the whole position, for critics that may see hidden information: a fresh int8 array in `state_space`.

        The observations of all players come first, then what no player sees (docs/environment.md).
        """
        self._check_begun()
        seen = [self._seen_by(p) for p in range(self.rules.num_players)]
        return np.concatenate([*seen, *(self._rows[0][name] for name in _HIDDEN)])

    def step(self, action: int | None) -> None:
        """Plays a decision of the selected agent.

        Raises:
            IllegalMove: the action is not legal; nothing is changed.
            ResetNeeded: no game has begun.
        """
        if not self._begun:
            self._check_begun()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if not self._play(known_number(action)):
            raise IllegalMove(self.game.why_illegal(action))
        self._cumulative_rewards[agent] = 0.0
        if self._rewards.tobytes().strip(b"\0"):  # the fastest way to see that one is not 0
            self.rewards = dict(zip(self.possible_agents, self._rewards.tolist(), strict=True))
            self._accumulate_rewards()
        else:
            self.rewards = self._no_rewards.copy()
        if self._status >= OVER:
            self.terminations = dict.fromkeys(self.agents, self._status == OVER)
            self.truncations = dict.fromkeys(self.agents, self._status == TRUNCATED)
        self._select()
        if self.render_mode == "human":
            self.render()

    def _was_dead_step(self, action: int | None) -> None:
        """Removes a dead agent. PettingZoo changes dicts in place, so those that callers may hold are copied first."""
        self.agents, self.rewards, self.infos = self.agents[:], dict(self.rewards), dict(self.infos)
        self.terminations, self.truncations = dict(self.terminations), dict(self.truncations)
        super()._was_dead_step(action)

    def close(self) -> None:
        """Does nothing; PettingZoo's test of rendering calls it."""


class env(raw_env):
    """`raw_env` that behaves as in PettingZoo's TerminateIllegalWrapper, AssertOutOfBoundsWrapper and OrderEnforcingWrapper.

    It raises and warns as they do. An illegal action ends the game with a reward of -1 for the agent who chose it; from then on
    nobody decides.
    """

    _takes_functions = False
    _stepped = False  # whether `step` or `reset` was called since `agent_iter` named an agent

    def _check_begun(self) -> None:
        if not self._begun:  # errors of a type that PettingZoo's tests expect, and that `python -O` keeps
            raise AssertionError("reset() needs to be called before anything else")

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game; see `raw_env.reset`."""
        super().reset(seed, options)
        self._stepped = True

    def step(self, action: Any) -> None:
        """Plays a decision of the selected agent; an illegal action ends the game.

        Raises:
            AssertionError: `reset` was not called, or the action is not in the action space.
            ValueError: the agent is dead, but its action is not None.
        """
        if not self._begun:
            self._check_begun()
        self._stepped = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        if type(action) not in _INTEGER_TYPES or not 0 <= action < NUM_ACTIONS:
            agent = self.agent_selection
            dead = self.terminations[agent] or self.truncations[agent]
            known = self.action_space(agent).contains(action) and known_number(action) >= 0  # True and False are in the space
            if not (known or (action is None and dead)):
                raise AssertionError("action is not in action space")
        try:
            super().step(action)
        except IllegalMove:
            EnvLogger.warn_on_illegal_move()
            self._forfeit()

    def _forfeit(self) -> None:
        """Ends the game, with a reward for the selected agent alone."""
        culprit = self.agent_selection
        self._cumulative_rewards[culprit] = 0
        self.terminations, self.truncations = dict.fromkeys(self.agents, True), dict.fromkeys(self.agents, True)
        self.rewards = {**dict.fromkeys(self.agents, 0), culprit: ILLEGAL_REWARD}
        self._accumulate_rewards()
        self._deads_step_first()

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Returns an iterator over the agents who decide; between two of them `step` or `reset` must be called."""
        self._check_begun()
        return self._turns(max_iter)

    def _turns(self, left: int) -> Iterator[str]:
        while self.agents and left > 0:
            left -= 1
            if not self._stepped:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            self._stepped = False
            yield self.agent_selection
