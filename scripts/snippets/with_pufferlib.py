"""PufferLib: its emulation and vectorization of `env`; all seats learn by REINFORCE, with masks in flat observations."""

import pufferlib.emulation
import pufferlib.vector
import torch
from pettingzoo.utils import turn_based_aec_to_parallel

from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules, actions, env, observations

RULES = {"num_players": 2, "stars_to_win": 3}
GAMES, STEPS, UPDATES = 32, 128, 12


def make(**told):
    return pufferlib.emulation.PettingZooPufferEnv(turn_based_aec_to_parallel(env(reward="stars", **RULES)), **told)


def judge(observation, mask):
    """Returns the probability of each move; without a legal one, when others decide, all are alike and nothing is learned."""
    return torch.distributions.Categorical(logits=network(observation.float().clamp(max=6)).masked_fill(~mask, -1e9))


torch.manual_seed(1)
vector = pufferlib.vector.make(make, num_envs=GAMES, backend=pufferlib.vector.Serial)
network = torch.nn.Linear(observations.OBS_SIZE, actions.NUM_ACTIONS)
torch.nn.init.zeros_(network.weight)
optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
flat, _ = vector.reset(seed=1)
for _ in range(UPDATES):
    rollout = []
    for _ in range(STEPS):
        parts = flat.view(vector.emulated["emulated_observation_dtype"])[:, 0]
        observation, mask = torch.tensor(parts["observation"]), torch.tensor(parts["action_mask"]).bool()
        with torch.no_grad():
            move = judge(observation, mask).sample()
        flat, reward, terminated, truncated, _ = vector.step(move.numpy())
        rollout.append((observation, mask, move, torch.tensor(reward), torch.tensor(terminated | truncated)))
    *data, rewards, ends = (torch.stack(column) for column in zip(*rollout, strict=True))
    returns, following = torch.zeros_like(rewards), torch.zeros(len(reward))
    for t in reversed(range(STEPS)):
        returns[t] = following = rewards[t] + 0.985 * following * ~ends[t]
    observation, mask, move, gain = (column.flatten(0, 1) for column in (*data, returns))
    decides = mask.any(dim=1)
    gain = (gain[decides] - gain[decides].mean()) / gain[decides].std()
    optimizer.zero_grad()
    (-gain * judge(observation[decides], mask[decides]).log_prob(move[decides])).mean().backward()
    optimizer.step()


class Learned(Agent):
    @torch.no_grad()
    def act(self, observation, mask, rng, game=None):
        return int(judge(torch.tensor(observation), torch.tensor(mask).bool()).probs.argmax())


print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
