"""The PettingZoo AEC environment `euphoria_v0`: one step is one asked decision."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from euphoria_env import actions, position
from euphoria_env.engine import chance, observe, run, stepping
from euphoria_env.engine.rewards import reward_number
from euphoria_env.engine.state import GAME_DTYPE, OVER, TRUNCATED, copy_rows
from euphoria_env.envs.observation_space import observation_box
from euphoria_env.game import Game, IllegalMove
from euphoria_env.observations import OBS_SIZE
from euphoria_env.render import board_array
from euphoria_env.rules import Rules

_RENDER_MODES = ("ansi", "rgb_array", "human")


def observation_space() -> spaces.Dict:
    """The space of what an agent observes: `observation` and `action_mask`, both int8."""
    return spaces.Dict(
        {
            "observation": observation_box(),
            "action_mask": spaces.Box(0, 1, (actions.NUM_ACTIONS,), np.int8),
        }
    )


class raw_env(AECEnv):
    """Euphoria for 2 to 6 agents `player_0` ..., without PettingZoo's wrappers.

    Args:
        render_mode: "ansi" (a string), "rgb_array" (uint8 (H, W, 3)), "human" (prints the board), or None.
        reward: "win", "rank" or "stars"; see docs/environment.md.
        **rules: the fields of `Rules`.

    An observation is a dict of `observation` (int8, (OBS_SIZE,)) and `action_mask` (int8, (NUM_ACTIONS,)), fresh copies; the
    mask is in `infos` too. It is all zeros for everyone who does not decide.
    """

    metadata = {"name": "euphoria_v0", "render_modes": list(_RENDER_MODES), "is_parallelizable": False, "render_fps": 2}

    def __init__(self, render_mode: str | None = None, reward: str = "win", **rules: Any) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in _RENDER_MODES:
            raise ValueError(f"render_mode must be one of {', '.join(_RENDER_MODES)} or None, not {render_mode!r}")
        self.rules = Rules.from_dict(rules)
        self.render_mode = render_mode
        self._kind = reward_number(reward)
        self.possible_agents = [f"player_{p}" for p in range(self.rules.num_players)]
        self._observation_spaces = {agent: observation_space() for agent in self.possible_agents}
        self._action_spaces = {agent: spaces.Discrete(actions.NUM_ACTIONS) for agent in self.possible_agents}
        self._seat = {agent: p for p, agent in enumerate(self.possible_agents)}
        self._no_mask = np.zeros(actions.NUM_ACTIONS, np.int8)
        self._no_mask.flags.writeable = False
        self._rewards = np.zeros(self.rules.num_players, np.float32)
        self._tape = chance.empty_tape()
        self._rows = np.zeros(1, GAME_DTYPE)
        self._seeds = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Dict:
        """The observation space, the same object at every call."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The action space, the same object at every call."""
        return self._action_spaces[agent]

    @property
    def _row(self) -> np.void:
        return self._rows[0]

    @property
    def game(self) -> Game:
        """A copy of the game as it stands."""
        return Game.from_rows(copy_rows(self._rows))

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game; equal seeds give equal games.

        Args:
            seed: an integer, or None to go on from the last one.
            options: `{"position": {...}}` starts from a position (docs/positions.md); other keys mean nothing here.

        Raises:
            ValueError: an impossible position, or one with other rules.
        """
        given = (options or {}).get("position")
        if seed is not None:
            self._seeds = np.random.default_rng(position.read_seed(seed) % 2**64)
        game_seed = int(self._seeds.integers(2**63))
        rows = np.zeros(1, GAME_DTYPE)
        if given is not None:
            rows[:] = self._from_position(given, game_seed).states
        else:
            position.write_rules(rows[0], self.rules)
            run.new_game(rows, 0, game_seed, 0, 0, self._tape)
        self._rows = rows
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        ended = bool(self._row["status"] >= OVER)
        self.terminations = dict.fromkeys(self.agents, ended and bool(self._row["status"] != TRUNCATED))
        self.truncations = dict.fromkeys(self.agents, bool(self._row["status"] == TRUNCATED))
        self.infos = {agent: {"action_mask": self._no_mask} for agent in self.agents}
        mask = np.empty(actions.NUM_ACTIONS, np.int8)
        observe.write_mask(self._rows, 0, mask.view(np.bool_))
        self._select(mask)

    def _from_position(self, given: Any, seed: int) -> Game:
        if not isinstance(given, dict):
            raise ValueError(f"options.position: must be an object, not {given!r}")
        rules = given.get("rules", {})
        merged = {**self.rules.to_dict(), **rules} if isinstance(rules, dict) else rules
        given = {"seed": seed, **given, "rules": merged}
        game = Game.from_dict(given)
        if game.rules != self.rules:
            raise ValueError(f"options.position: its rules are {game.rules}, those of the environment {self.rules}")
        return game

    def _select(self, mask: np.ndarray) -> None:
        """Selects who decides, and gives them the mask."""
        self._mask = mask
        self.agent_selection = self.possible_agents[self._row["player"]]
        self.infos[self.agent_selection] = {"action_mask": mask.copy()}

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What an agent may see now; fresh arrays."""
        observation = np.empty(OBS_SIZE, np.int8)
        observe.write_observation(self._rows, 0, self._seat[agent], observation)
        mask = self._mask if agent == self.agent_selection and agent in self.agents else self._no_mask
        return {"observation": observation, "action_mask": mask.copy()}

    def step(self, action: int | None) -> None:
        """Plays a decision of the selected agent.

        Raises:
            IllegalMove: the action is not legal; nothing is changed.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        mask = np.empty(actions.NUM_ACTIONS, np.int8)
        number = -1 if action is None else int(action)
        status = stepping.play(self._rows, 0, number, self._tape, self._kind, self._rewards, mask.view(np.bool_))
        if status < 0:
            name = actions.name(action) if action is not None else action
            raise IllegalMove(f"{name!r} is illegal for {agent}; legal are {', '.join(self.game.legal())}")
        self.infos[agent] = {"action_mask": self._no_mask}
        self._cumulative_rewards[agent] = 0.0
        rewards = self.rewards = dict(zip(self.possible_agents, self._rewards.tolist(), strict=True))
        for name, reward in rewards.items():
            if reward:
                self._cumulative_rewards[name] += reward
        if status >= OVER:
            ended = self.truncations if status == TRUNCATED else self.terminations
            for name in self.agents:
                ended[name] = True
        self._select(mask)
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | np.ndarray | None:
        """The board: text, an image, or printed, by `render_mode`."""
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            return board_array(self.game)
        text = str(self.game)
        if self.render_mode == "human":
            print(text)
            return None
        return text

    def close(self) -> None:
        """Nothing to close."""


def env(**kwargs: Any) -> AECEnv:
    """`raw_env` in PettingZoo's standard wrappers: an illegal action ends the game with a penalty, misuse is an error."""
    wrapped = wrappers.TerminateIllegalWrapper(raw_env(**kwargs), illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)
