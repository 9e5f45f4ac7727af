"""Euphoria for OpenEnv: a server of games in which models answer in text, for any client and trainer.

python scripts/language_models/openenv_environment.py --opponents weights --options '{"num_players": 2, "moves": "list"}'
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from typing import Any

import uvicorn
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from table import Table


class Answer(Action):
    """The answer of a model, in which a move is named."""

    text: str


class Prompt(Observation):
    """The next decision of a model. `reward` and `done` are of the game: the reward of the first seat, paid at its end.

    Attributes:
        player: who is asked; "" at the end.
        rules, prompt, legal: the system text, the prompt, and the legal moves.
        rewards: of each model's player so far: win, stars, regret, legal.
    """

    player: str = ""
    rules: str = ""
    prompt: str = ""
    legal: list[str] = []
    rewards: dict[str, dict[str, float]] = {}


class EuphoriaEnvironment(Environment[Answer, Prompt, State]):
    """A game at a time.

    Args:
        weights: of win, stars, regret and legal in `reward`.
        **settings: what `Table` takes besides the seed.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, weights: dict[str, float] | None = None, **settings: Any) -> None:
        super().__init__()
        self._weights, self._settings = weights or {"win": 1.0}, settings
        self._table, self._state = Table(0, **settings), State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> Prompt:
        self._table, self._state = Table(seed or 0, **self._settings), State(episode_id=episode_id)
        return self._prompt()

    def step(self, action: Answer, timeout_s: float | None = None, **_: Any) -> Prompt:
        if self._table.asked() is None:
            raise ValueError("the game has ended: reset")
        self._table.answer(action.text)
        self._state.step_count += 1
        return self._prompt()

    @property
    def state(self) -> State:
        return self._state

    def _prompt(self) -> Prompt:
        asked, rewards = self._table.asked(), {player: self._table.rewards(player) for player in self._table.models}
        if asked:
            return Prompt(reward=0.0, rewards=rewards, **asked._asdict())
        first = rewards[self._table.models[0]]
        return Prompt(done=True, reward=sum(self._weights.get(name, 0.0) * first[name] for name in first), rewards=rewards)


def app(sessions: int = 64, **settings: Any) -> Any:
    """Returns the server's ASGI application."""
    return create_app(partial(EuphoriaEnvironment, **settings), Answer, Prompt, env_name="euphoria", max_concurrent_envs=sessions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--opponents", nargs="*", default=["random"], help="agents of the last seats")
    parser.add_argument("--judge", default="", help="an agent with values, such as mcts:32:ppo: gives regrets")
    parser.add_argument("--weights", type=json.loads, default={"win": 1.0}, help="of win, stars, regret and legal in the reward")
    parser.add_argument("--options", type=json.loads, default={"num_players": 2}, help="options of text_env")
    given = parser.parse_args()
    settings = {"opponents": given.opponents, "judge": given.judge, "weights": given.weights, **given.options}
    uvicorn.run(app(**settings), host="127.0.0.1", port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
