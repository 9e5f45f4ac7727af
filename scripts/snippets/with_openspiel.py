"""OpenSpiel: its MCTS plays three games, then its PPO learns against random play; both play `python_euphoria`."""

import numpy as np
import pyspiel
import torch
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.rl_environment import ChanceEventSampler, Environment

import euphoria_env.envs.open_spiel  # noqa: F401 (it registers the game)
from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules

RULES = {"num_players": 2, "stars_to_win": 3}
GAMES, STEPS, UPDATES = 32, 64, 10

short = pyspiel.load_game("python_euphoria(players=2,stars_to_win=1)")
chance = np.random.RandomState(1)
torch.manual_seed(1)
search = MCTSBot(short, 1.4, 20, RandomRolloutEvaluator(1, chance, max_length=50), random_state=chance)
bots = [search, pyspiel.make_uniform_random_bot(1, 1)]
print("MCTS and random play:", [evaluate_bots(short.new_initial_state(), bots, chance) for _ in range(3)])

game = pyspiel.load_game("python_euphoria(players=2,stars_to_win=3,reward=stars,events=0)")
learner = PPO(
    tuple(game.information_state_tensor_shape()), game.num_distinct_actions(), 2, num_envs=GAMES, steps_per_batch=STEPS,
    learning_rate=1e-3, agent_fn=PPOAgent,
)  # fmt: skip


def until_learner(env, step):
    """Lets the other seat play at random until the learner, seat 0, decides or the game ends; returns what the learner got."""
    reward = step.rewards[0] if step.rewards else 0.0
    while not step.last() and step.current_player() == 1:
        step = env.step([chance.choice(step.observations["legal_actions"][1])])
        reward += step.rewards[0]
    return step, reward


envs = [Environment(game, chance_event_sampler=ChanceEventSampler(seed)) for seed in range(GAMES)]
steps = [until_learner(env, env.reset())[0] for env in envs]
for _ in range(UPDATES):
    for _ in range(STEPS):
        moves = learner.step(steps)
        steps, rewards = zip(
            *[until_learner(env, env.step([move.action])) for env, move in zip(envs, moves, strict=True)], strict=True
        )
        learner.post_step(rewards, [step.last() for step in steps])
        steps = [until_learner(env, env.reset())[0] if step.last() else step for env, step in zip(envs, steps, strict=True)]
    learner.learn(steps)


class Learned(Agent):
    def act(self, observation, mask, rng, game=None):
        seen, legal = torch.tensor(observation[None], dtype=torch.float32), torch.tensor(mask[None], dtype=torch.bool)
        with torch.no_grad():
            return int(learner.get_action_and_value(seen, legal)[0])


print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
