"""Minari: the games of a data set as one agent saw them become a Minari dataset, from which a linear policy learns to imitate."""

import os
import tempfile

import gymnasium
import numpy as np

from euphoria_agents import Agent, load, play_match
from euphoria_agents.__main__ import main
from euphoria_agents.data import load as load_data
from euphoria_env import Rules, actions, observations

RULES = {"num_players": 2, "stars_to_win": 3}
folder = tempfile.TemporaryDirectory()
os.environ["MINARI_DATASETS_PATH"] = folder.name  # by default in the home folder

import minari  # noqa: E402
from minari.data_collector import EpisodeBuffer  # noqa: E402


def episodes(data, agent):
    """An episode for each game and seat of an agent; the last observation is what the seat saw at the end of the game."""
    for game in data:
        for seat in np.unique(game["seat"][game["agent"] == data.agents.index(agent)]):
            own = {name: array[game["seat"] == seat] for name, array in game.items()}
            rows = np.append(own["observation"], own["final_observation"][-1:], axis=0)
            masks = np.pad(own["action_mask"].astype(np.int8), ((0, 1), (0, 0)))  # nothing is legal at the end
            ends = {"terminations": own["terminated"], "truncations": own["truncated"]}
            seen = {"observation": rows, "action_mask": masks}
            yield EpisodeBuffer(observations=seen, actions=own["action"], rewards=own["reward"], **ends)


main(f"collect --agents greedy random --stars-to-win 3 --games 300 --seed 1 --reward rank --out {folder.name}/games".split())
env = gymnasium.make("euphoria_env:euphoria_env/Euphoria-v0", opponents="random", reward="rank", mask="observation", **RULES)
buffers = [*episodes(load_data(f"{folder.name}/games"), "greedy")]
dataset = minari.create_dataset_from_buffers("euphoria/greedy-v0", buffers, env=env)
assert dataset.total_episodes == 300 and dataset.recover_environment().action_space == dataset.action_space

weights = np.zeros((observations.OBS_SIZE, actions.NUM_ACTIONS), np.float32)
squares = np.zeros_like(weights)
for episode in [*minari.load_dataset("euphoria/greedy-v0").iterate_episodes()] * 4:
    assert episode.terminations[-1] or episode.truncations[-1]
    inputs = np.minimum(episode.observations["observation"][:-1], 6) / np.float32(6)
    logits = np.where(episode.observations["action_mask"][:-1], inputs @ weights, -np.inf)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    slope = np.eye(actions.NUM_ACTIONS, dtype=np.float32)[episode.actions] - odds / odds.sum(axis=1, keepdims=True)
    step = inputs.T @ slope / len(inputs)
    squares += step**2
    weights += 0.1 * step / (np.sqrt(squares) + 1e-8)  # AdaGrad


class Learned(Agent):
    def act(self, observation, mask, rng, game=None):
        return int(np.where(mask, np.minimum(observation, 6) @ weights, -np.inf).argmax())


print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
