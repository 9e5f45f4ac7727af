"""Stable-Baselines3: the MaskablePPO of sb3-contrib on `EuphoriaVecEnv`, from which it takes the masks by itself."""

from sb3_contrib import MaskablePPO

from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules
from euphoria_env.envs.sb3 import EuphoriaVecEnv

RULES = {"num_players": 2, "stars_to_win": 3}

games = EuphoriaVecEnv(32, opponents="random", reward="stars", **RULES)
model = MaskablePPO("MlpPolicy", games, n_steps=64, batch_size=512, n_epochs=4, learning_rate=1e-3, seed=1, device="cpu")
model.learn(12_000)


class Learned(Agent):
    """The network as a player, for matches, tournaments, benchmarks and the browser."""

    def act(self, observation, mask, rng, game=None):
        return int(model.predict(observation, action_masks=mask)[0])


print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
