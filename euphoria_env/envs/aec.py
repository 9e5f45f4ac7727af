"""The PettingZoo AEC environment `euphoria_v0`: one step is one asked decision."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv, ParallelEnv

from euphoria_env import actions
from euphoria_env.engine import batch_kernels, loop, observe, tape
from euphoria_env.engine.rewards import reward_number
from euphoria_env.engine.state import GAME_DTYPE, OVER, TRUNCATED, copy_rows
from euphoria_env.envs.arguments import (
    choice,
    game_from,
    known_number,
    picture_size,
    refuse_unknown,
    reset_options,
    rules_from,
    why_illegal,
)
from euphoria_env.envs.frames import FRAMES_PER_SECOND, PICTURE_SIZE, frame
from euphoria_env.envs.full_state import full_state, state_box
from euphoria_env.envs.observation_space import observation_space, observed
from euphoria_env.envs.wrappers import ParallelWrapper, StandardWrapper
from euphoria_env.event_kinds import EVENT_SIZE, number_of_events
from euphoria_env.game import Game, IllegalMove
from euphoria_env.json_reader import read_seed
from euphoria_env.observations import OBS_SIZE
from euphoria_env.rules import write_rules

_INT8 = np.dtype(np.int8)
_RENDER_MODES = ("ansi", "rgb_array", "human")


class raw_env(AECEnv):
    """Euphoria for 2 to 6 agents `player_0` ..., without PettingZoo's wrappers.

    Args:
        render_mode: "ansi" (a string), "rgb_array" (uint8 (H, W, 3)), "human" (prints the board), or None.
        reward: a reward in the table of docs/environment.md.
        render_size: width and height of "rgb_array" in pixels.
        mask: "observation", or "info": the mask is in `infos` alone, and without events an observation is an array.
        mask_dtype: the dtype of masks: "int8", or "bool" for libraries that need it.
        events: K, the number of the last events in each observation (docs/events.md); 0: none.
        **rules: the fields of `Rules`.

    Attributes:
        state_space: of `state()`.

    Raises:
        TypeError: an unknown keyword.
        ValueError: an argument that is not allowed; the message names it and what is.

    An observation is a dict of `observation` (int8, (OBS_SIZE,)) and `action_mask` (`mask_dtype`, (NUM_ACTIONS,)), and with
    events of `events` (int8, (K, EVENT_SIZE)). The mask is in `infos` too. All arrays and dicts are fresh after every step. The
    mask is all zeros for players who do not decide, and for all players once the game has ended.
    """

    metadata = {
        "name": "euphoria_v0",
        "render_modes": list(_RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": FRAMES_PER_SECOND,
    }

    def __init__(
        self,
        render_mode: str | None = None,
        reward: str = "win",
        render_size: tuple[int, int] = PICTURE_SIZE,
        events: int = 0,
        mask: str = "observation",
        mask_dtype: str = "int8",
        **rules: Any,
    ) -> None:
        super().__init__()
        self.rules = rules_from(rules, raw_env)
        self.render_mode = choice("render_mode", render_mode, (*_RENDER_MODES, None))
        self.render_size = picture_size(render_size)
        self._kind = reward_number(reward)
        self.possible_agents = [f"player_{p}" for p in range(self.rules.num_players)]
        self._events = number_of_events(events)
        self._mask_dtype = np.dtype(choice("mask_dtype", mask_dtype))
        self._masked = choice("mask", mask) == "observation"
        self._observation_spaces: dict[str, Any] = {
            agent: observation_space(self._mask_dtype if self._masked else None, events) for agent in self.possible_agents
        }
        self._action_spaces = {agent: spaces.Discrete(actions.NUM_ACTIONS) for agent in self.possible_agents}
        self._seat = {agent: p for p, agent in enumerate(self.possible_agents)}
        self.state_space = state_box(self.rules.num_players)
        self._rewards = np.zeros(self.rules.num_players, np.float32)
        self._tape = tape.empty_tape(self._events)
        self._seeds = np.random.default_rng()
        self._mask = np.zeros(actions.NUM_ACTIONS, self._mask_dtype)  # of the player who decides; never handed out
        self._compiled_mask = self._mask.view(np.bool_)  # the same memory, as compiled code takes it
        self._infos: dict[str, dict[str, Any]] = {}  # those that were read since the last step
        self._infos_of_dead = False  # whether the game had ended when they were made
        self._no_rewards = dict.fromkeys(self.possible_agents, 0.0)
        self._begun, self.agent_selection = False, self.possible_agents[0]

    def __copy__(self) -> raw_env:
        return copy.deepcopy(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores a copy or a pickle, in which the two masks share no memory."""
        self.__dict__.update(state)
        self._compiled_mask = self._mask.view(np.bool_)

    def _check_begun(self) -> None:
        if not self._begun:
            raise ResetNeeded("no game has begun: call reset()")

    def observation_space(self, agent: str) -> spaces.Dict:
        """The observation space, the same object at every call."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The action space, the same object at every call."""
        return self._action_spaces[agent]

    def _mask_of(self, agent: str) -> np.ndarray:
        """A fresh mask of an agent's legal moves: zeros if another decides or if a wrapper has ended the game."""
        if agent != self._decider or self.terminations.get(agent, True) or self.truncations.get(agent, True):
            return np.zeros(actions.NUM_ACTIONS, self._mask_dtype)
        return self._mask.copy()

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The info of each agent, made when it is read for the first time after a step or after a wrapper ended the game."""
        dead = any(self.terminations.values()) or any(self.truncations.values())
        if len(self._infos) < len(self.agents) or dead is not self._infos_of_dead:
            known = self._infos if dead is self._infos_of_dead else {}
            self._infos = {agent: known.get(agent) or {"action_mask": self._mask_of(agent)} for agent in self.agents}
            self._infos_of_dead = dead
        return self._infos

    @infos.setter
    def infos(self, infos: dict[str, dict[str, Any]]) -> None:
        self._infos = infos

    @property
    def game(self) -> Game:
        """A copy of the game with all hidden cards."""
        self._check_begun()
        return Game.taking(copy_rows(self._rows))

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game; equal seeds give equal games.

        Args:
            seed: an integer, or None to go on from the last one.
            options: `{"position": {...}}` starts from a position (docs/positions.md); other keys are ignored.

        Raises:
            ValueError: an impossible position, or one with other rules.
        """
        given = reset_options(options, allowed=None).get("position")
        seeds = self._seeds if seed is None else np.random.default_rng(read_seed(seed) % 2**64)
        if given is not None:
            seeds = copy.deepcopy(seeds)  # an impossible position must not move the generator
        game_seed = int(seeds.integers(2**63))
        rows = np.zeros(1, GAME_DTYPE)
        notes = tape.empty_tape(self._events)
        if given is not None:
            rows[:] = game_from(given, self.rules, game_seed).states
        else:
            write_rules(rows[0], self.rules)
            loop.new_game(rows, 0, game_seed, 0, 0, notes)
        self._seeds, self._rows, self._tape, self._begun = seeds, rows, notes, True
        self.agents = self.possible_agents[:]
        self.rewards = self._no_rewards.copy()
        self._cumulative_rewards = self._no_rewards.copy()
        status = int(self._rows[0]["status"])
        self.terminations = dict.fromkeys(self.agents, status >= OVER and status != TRUNCATED)
        self.truncations = dict.fromkeys(self.agents, status == TRUNCATED)
        self._skip_agent_selection = None  # PettingZoo's, of dead steps that were not all taken
        observe.write_mask(self._rows, 0, self._compiled_mask)
        self._select(int(self._rows[0]["player"]), status)

    def _select(self, player: int, status: int) -> None:
        """Selects a player, who must decide unless the game has ended."""
        self.agent_selection = agent = self.possible_agents[player]
        self._decider = agent if status < OVER else None
        self._infos, self._infos_of_dead = {}, status >= OVER

    def observe(self, agent: str) -> Any:
        """The current observation of an agent, in fresh arrays."""
        if not self._begun:
            self._check_begun()
        observation = np.empty(OBS_SIZE, _INT8)
        observe.write_observation(self._rows, 0, self._seat[agent], observation)
        mask = self._mask_of(agent) if self._masked else None
        if not self._events:
            return observation if mask is None else {"observation": observation, "action_mask": mask}
        events = np.empty((self._events, EVENT_SIZE), np.int8)
        observe.write_events(self._tape, self._seat[agent], self.rules.num_players, events)
        return observed(observation, mask, events)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, rewards since its last decision, termination, truncation and info of the selected agent."""
        agent = self.agent_selection
        observation = self.observe(agent) if observe else None
        if not self._begun:
            self._check_begun()
        reward, terminated, truncated = self._cumulative_rewards[agent], self.terminations[agent], self.truncations[agent]
        if terminated or truncated:
            return observation, reward, terminated, truncated, self.infos[agent]
        if agent not in self._infos:
            self._infos[agent] = {"action_mask": self._mask_of(agent)}
        return observation, reward, terminated, truncated, self._infos[agent]

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Iterates over the agents in the order in which they decide."""
        self._check_begun()
        return super().agent_iter(max_iter)

    def state(self) -> np.ndarray:
        """The whole position, hidden cards included: a fresh int8 array as `state_space` says (docs/environment.md)."""
        self._check_begun()
        return full_state(self._rows, self.rules.num_players)

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
        status, player = batch_kernels.play(
            self._rows, 0, known_number(action), self._tape, self._kind, self._rewards, self._compiled_mask
        )
        if status < 0:
            raise IllegalMove(why_illegal(self.game, action))
        self._cumulative_rewards[agent] = 0.0
        rewards = self._rewards.tolist()
        if any(rewards):
            self.rewards = dict(zip(self.possible_agents, rewards, strict=True))
            self._accumulate_rewards()
        else:
            self.rewards = self._no_rewards.copy()
        if status == TRUNCATED:
            self.truncations = dict.fromkeys(self.agents, True)
        elif status >= OVER:
            self.terminations = dict.fromkeys(self.agents, True)
        self._select(player, status)
        if self.render_mode == "human":
            self.render()

    def _was_dead_step(self, action: int | None) -> None:
        """Removes a dead agent; PettingZoo does it in place, so dicts that callers may keep are copied first."""
        self.agents, self.rewards, self.infos = self.agents[:], dict(self.rewards), dict(self.infos)
        self.terminations, self.truncations = dict(self.terminations), dict(self.truncations)
        super()._was_dead_step(action)

    def forfeit(self, reward: float) -> None:
        """Ends the game and gives only the selected agent a reward, as PettingZoo's TerminateIllegalWrapper does."""
        culprit = self.agent_selection
        self._cumulative_rewards[culprit] = 0
        self.terminations, self.truncations = dict.fromkeys(self.agents, True), dict.fromkeys(self.agents, True)
        self.rewards = {**dict.fromkeys(self.agents, 0), culprit: reward}
        self._accumulate_rewards()
        self._deads_step_first()

    def render(self) -> str | np.ndarray | None:
        """Returns the board as text or picture, or prints it, by `render_mode`."""
        shown = frame(self.game, self.render_mode, self.render_size)
        if self.render_mode == "human":
            print(shown)
            return None
        return shown

    def close(self) -> None:
        """Does nothing; PettingZoo's test wants it beside `render`."""


def env(**kwargs: Any) -> AECEnv:
    """`raw_env` with PettingZoo's standard wrappers: an illegal action ends the game with a penalty, misuse is an error."""
    refuse_unknown(kwargs, raw_env, "env")
    return StandardWrapper(raw_env(**kwargs))


def parallel_env(**kwargs: Any) -> ParallelEnv:
    """`env` as a parallel environment: all agents act at every step, and only the action of the agent that decides counts.

    All agents get their observation at every step, with a mask of zeros unless they decide, and the rewards of that step.
    """
    refuse_unknown(kwargs, raw_env, "parallel_env")
    return ParallelWrapper(env(**kwargs))
