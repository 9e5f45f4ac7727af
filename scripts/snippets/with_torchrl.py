"""TorchRL: PPO on many games; the mask is in the observation, and of bools, as `MaskedCategorical` wants it."""

import gymnasium
import torch
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import MaskedCategorical, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from euphoria_agents import Agent, load, play_match
from euphoria_env import Rules, actions, observations

RULES = {"num_players": 2, "stars_to_win": 3}
GAMES, FRAMES, UPDATES = 32, 2048, 6

torch.manual_seed(1)
games = gymnasium.make_vec(
    "euphoria_env:euphoria_env/Euphoria-v0", GAMES, opponents="random", reward="stars",
    mask="observation", mask_dtype="bool", autoreset_mode="Disabled", **RULES,
)  # fmt: skip
envs = GymWrapper(games, categorical_action_encoding=True)


class Network(nn.Sequential):
    def __init__(self, outputs):
        super().__init__(nn.Linear(observations.OBS_SIZE, 64), nn.Tanh(), nn.Linear(64, outputs))

    def forward(self, observation):
        return super().forward(observation.float().clamp(max=6))


logits = Network(actions.NUM_ACTIONS)
policy = ProbabilisticTensorDictSequential(
    TensorDictModule(logits, ["observation"], ["logits"]),
    ProbabilisticTensorDictModule(
        {"logits": "logits", "mask": "action_mask"}, ["action"], distribution_class=MaskedCategorical, return_log_prob=True,
        distribution_kwargs={"neg_inf": -1e9},
    ),
)  # fmt: skip
critic = ValueOperator(Network(1), ["observation"])
advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic, average_gae=True)
loss = ClipPPOLoss(policy, critic, entropy_coeff=0.01)
optimizer = torch.optim.Adam(loss.parameters(), lr=2e-3)
data_of_updates = Collector(
    envs, policy, frames_per_batch=FRAMES, total_frames=UPDATES * FRAMES, auto_register_policy_transforms=False
)
for data in data_of_updates:
    advantage(data)
    flat = data.reshape(-1)
    for rows in (rows for _ in range(4) for rows in torch.randperm(len(flat)).split(512)):
        losses = loss(flat[rows])
        optimizer.zero_grad()
        sum(value for name, value in losses.items() if name.startswith("loss_")).backward()
        nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
        optimizer.step()


class Learned(Agent):
    @torch.no_grad()
    def act(self, observation, mask, rng, game=None):
        return int(logits(torch.tensor(observation)).masked_fill(~torch.tensor(mask).bool(), -torch.inf).argmax())


print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
