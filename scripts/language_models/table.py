"""One game that language models and agents play, with its rewards: what the environments for verifiers and OpenEnv share."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents import load
from euphoria_agents.agent import explained
from euphoria_agents.play.study.decision_analysis import regret
from euphoria_env import Game, actions, text_env
from euphoria_env.agent_protocol import Player, query_one
from euphoria_env.text import facts_of, read_answer


class Asked(NamedTuple):
    """A decision of a model: its player ("player_0", ...), the rules for the system text, the prompt, and the legal moves."""

    player: str
    rules: str
    prompt: str
    legal: list[str]


class Table:
    """A game in which models play the first seats, and agents the last ones.

    Args:
        seed: of the deal, the dice and the agents.
        opponents: specs for `euphoria_agents.load`, for the last seats.
        judge: the spec of an agent that knows values, by which moves get regrets ("mcts:32:ppo"); "": none does.
        **options: of `text_env`.
    """

    def __init__(self, seed: int, opponents: Sequence[str] = ("random",), judge: str = "", **options: Any) -> None:
        self._env, self._seed = text_env(**options), seed
        self._env.reset(seed=seed)
        players = self._env.possible_agents
        if len(opponents) >= len(players):
            raise ValueError(f"there are {len(players)} players, so at most {len(players) - 1} opponents, not {len(opponents)}")
        self._agents = dict(zip(players[len(players) - len(opponents) :], map(load, opponents), strict=True))
        self._judge = load(judge) if judge else None
        self._rng, self._regrets = np.random.default_rng(seed), dict[str, list[float]]()
        self._won, self._legal = dict.fromkeys(players, 0.0), dict[str, list[bool]]()
        self.models = [player for player in players if player not in self._agents]

    def asked(self) -> Asked | None:
        """Lets the agents play until a model must decide; returns its decision, or None at the end of the game."""
        env = self._env
        while not (any(env.terminations.values()) or any(env.truncations.values())):
            player = env.agent_selection
            if player not in self._agents:
                info = env.infos[player]
                return Asked(player, info["prompt_rules"], env.observe(player), info["legal"])
            self._play(actions.name(self._move(self._agents[player], env.game)))
        return None

    def answer(self, text: str) -> None:
        """Plays what a model answered; a wrong answer counts as in `text_env`."""
        player, game = self._env.agent_selection, self._env.game
        move = read_answer(text, game.legal()).move
        self._legal.setdefault(player, []).append(bool(move))
        if self._judge and move:
            self._regrets.setdefault(player, []).append(self._regret(game, actions.parse(move)))
        self._play(text)

    def rewards(self, player: str) -> dict[str, float]:
        """Returns the rewards of a player so far.

        `win` is the sum of what the environment paid (-1 for wrong answers), `stars` those placed as a share of those that win,
        `regret` minus the mean regret of the moves in chance to win, `legal` the share of answers that named a legal move.
        """
        game, seat = self._env.game, self._env.possible_agents.index(player)
        placed = facts_of(game.observation(seat), seat)["players"]["you"].get("stars_placed", 0)
        lost = mean(self._regrets.get(player, [0.0]))
        legal = mean(self._legal.get(player, [False]))
        return {"win": self._won[player], "stars": placed / game.rules.stars_to_win, "regret": -lost, "legal": legal}

    def _move(self, agent: Player, game: Game) -> int:
        seat = game.player
        return query_one(agent, game.observation(seat), game.mask(), self._rng, lambda: game.determinize(seat, self._seed))

    def _play(self, text: str) -> None:
        self._env.step(text)
        for player, reward in self._env.rewards.items():
            self._won[player] += reward

    def _regret(self, game: Game, move: int) -> float:
        seat = game.player
        dealt = game.determinize(seat, self._seed)
        rows = explained(self._judge, game.observation(seat), game.mask(), np.random.default_rng(self._seed), dealt)["moves"]
        thoughts = [list(thought.values()) for thought in rows]
        return regret(thoughts, next(thought for thought in thoughts if thought[0] == move)) or 0.0
