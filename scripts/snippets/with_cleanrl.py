"""In the style of CleanRL: PPO in one file, with PyTorch and `make_vec` alone; the logits of illegal actions are masked."""

import gymnasium
import torch
from torch import nn

from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules, actions, observations

RULES = {"num_players": 2, "stars_to_win": 3}
GAMES, STEPS, UPDATES, GAMMA, LAMBDA = 32, 64, 6, 0.99, 0.95

torch.manual_seed(1)
envs = gymnasium.make_vec(
    "euphoria_env:euphoria_env/Euphoria-v0", GAMES, opponents="random", reward="stars", mask_dtype="bool", **RULES
)
network = nn.Sequential(nn.Linear(observations.OBS_SIZE, 64), nn.Tanh(), nn.Linear(64, actions.NUM_ACTIONS + 1))
optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)


def judge(observation, mask):
    """Returns the distribution of moves and the value of the position."""
    out = network(observation.float().clamp(max=6))
    return torch.distributions.Categorical(logits=out[:, :-1].masked_fill(~mask, -1e9)), out[:, -1]


seen, infos = envs.reset(seed=1)
for _ in range(UPDATES):
    rollout = []
    for _ in range(STEPS):
        observation, mask = torch.from_numpy(seen), torch.from_numpy(infos["action_mask"])
        with torch.no_grad():
            policy, value = judge(observation, mask)
        move = policy.sample()
        seen, reward, terminated, truncated, infos = envs.step(move.numpy())
        end = torch.from_numpy(terminated | truncated)
        rollout.append((observation, mask, move, policy.log_prob(move), value, torch.from_numpy(reward).float(), end))
    *data, values, rewards, ends = (torch.stack(column) for column in zip(*rollout, strict=True))
    with torch.no_grad():
        following = judge(torch.from_numpy(seen), torch.from_numpy(infos["action_mask"]))[1]
    advantages, advantage = torch.zeros_like(values), torch.zeros(GAMES)
    for t in reversed(range(STEPS)):
        error = rewards[t] + GAMMA * following * ~ends[t] - values[t]
        advantages[t] = advantage = error + GAMMA * LAMBDA * ~ends[t] * advantage
        following = values[t]
    data = [column.flatten(0, 1) for column in (*data, advantages, advantages + values)]
    for rows in (rows for _ in range(4) for rows in torch.randperm(GAMES * STEPS).split(512)):
        observation, mask, move, before, gain, target = (column[rows] for column in data)
        policy, value = judge(observation, mask)
        ratio, gain = (policy.log_prob(move) - before).exp(), (gain - gain.mean()) / gain.std()
        surrogate = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
        loss = ((target - value).square() / 2 - surrogate - 0.01 * policy.entropy()).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        optimizer.step()


class Learned(Agent):
    @torch.no_grad()
    def act(self, observation, mask, rng, game=None):
        return int(judge(torch.tensor(observation)[None], torch.tensor(mask).bool()[None])[0].probs.argmax())


print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
