"""Gymnasium and PettingZoo alone: a linear policy learns by REINFORCE in numpy, then plays a game on the AEC environment."""

import gymnasium
import numpy as np

from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules, actions, env, observations

RULES = {"num_players": 2, "stars_to_win": 3}
GAMES, STEPS, UPDATES = 64, 64, 12

games = gymnasium.make_vec("euphoria_env:euphoria_env/Euphoria-v0", GAMES, opponents="random", reward="stars", **RULES)
weights = np.zeros((observations.OBS_SIZE, actions.NUM_ACTIONS), np.float32)
squares = np.zeros_like(weights)
rng = np.random.default_rng(1)


def probabilities(observations, masks):
    """Softmax over the legal actions, (N, NUM_ACTIONS)."""
    logits = np.where(masks, observations @ weights, -np.inf)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


seen, infos = games.reset(seed=1)
for _ in range(UPDATES):
    rollout, rewards, gain = [], [], np.zeros(GAMES)
    for _ in range(STEPS):
        inputs = np.minimum(seen, 6) / np.float32(6)  # float: int8 would overflow
        chances = probabilities(inputs, infos["action_mask"])
        moves = (chances.cumsum(axis=1) > rng.random((GAMES, 1)) * chances.sum(axis=1, keepdims=True)).argmax(axis=1)
        rollout.append((inputs, np.eye(actions.NUM_ACTIONS, dtype=np.float32)[moves] - chances))
        seen, reward, terminated, truncated, infos = games.step(moves)
        rewards.append((reward, ~(terminated | truncated)))
    gains = [gain := reward + 0.97 * goes_on * gain for reward, goes_on in reversed(rewards)][::-1]
    gains = (gains - np.mean(gains)) / np.std(gains)
    step = sum(inputs.T @ (gain[:, None] * slope) for (inputs, slope), gain in zip(rollout, gains, strict=True)) / gains.size
    squares += step**2
    weights += 0.1 * step / (np.sqrt(squares) + 1e-8)  # AdaGrad


class Learned(Agent):
    def act(self, observation, mask, rng, game=None):
        chances = probabilities(np.minimum(observation, 6)[None] / np.float32(6), mask[None])[0]
        return int(chances.argmax())


table = env(**RULES)
table.reset(seed=1)
for _ in table.agent_iter():
    observation, _, terminated, truncated, _ = table.last()
    table.step(None if terminated or truncated else Learned().act(observation["observation"], observation["action_mask"], rng))
print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
