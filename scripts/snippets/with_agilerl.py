"""AgileRL: its PPO on many games, from whose `info` it takes the masks by itself."""

import gymnasium
import numpy as np
from agilerl.algorithms import PPO
from agilerl.rollouts import collect_rollouts

from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules

RULES = {"num_players": 2, "stars_to_win": 3}
GAMES, STEPS, UPDATES = 32, 64, 6

games = gymnasium.make_vec("euphoria_env:euphoria_env/Euphoria-v0", GAMES, opponents="random", reward="stars", **RULES)
learner = PPO(
    games.single_observation_space, games.single_action_space, num_envs=GAMES, learn_step=GAMES * STEPS,
    batch_size=512, lr=1e-3, update_epochs=4,
)  # fmt: skip
for _ in range(UPDATES):
    collect_rollouts(learner, games)
    learner.learn()


class Learned(Agent):
    def act(self, observation, mask, rng, game=None):
        return int(learner.get_action(observation[None], action_mask=np.asarray(mask)[None])[0][0])


learner.set_training_mode(False)
print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
