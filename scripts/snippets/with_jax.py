"""JAX on `Batch`: all seats learn by REINFORCE; JAX reads the arrays of the games in place, without copies."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from euphoria_agents import Agent, load, play_match
from euphoria_env import Batch, Rules, actions, observations
from euphoria_env.trajectories import OPEN, Trajectories, estimate_advantages

RULES = {"num_players": 2, "stars_to_win": 3}
GAMES, STEPS, UPDATES = 64, 96, 12

batch = Batch(GAMES, Rules(**RULES), seed=1, reward="stars")
seen, masks = jax.dlpack.from_dlpack(batch.observation), jax.dlpack.from_dlpack(batch.mask)  # a step overwrites them too
assert seen.unsafe_buffer_pointer() == batch.observation.ctypes.data and masks.unsafe_buffer_pointer() == batch.mask.ctypes.data


@jax.jit
def judge(network, seen, masks):
    """The log-probability of each action, (N, NUM_ACTIONS)."""
    return jax.nn.log_softmax(jnp.where(masks, jnp.minimum(seen, 6) @ network, -1e9))


@jax.jit
def learn(network, state, seen, masks, moves, gains):
    def loss(network):
        return -(gains * jnp.take_along_axis(judge(network, seen, masks), moves[:, None], axis=1)[:, 0]).mean()

    changes, state = optimizer.update(jax.grad(loss)(network), state)
    return optax.apply_updates(network, changes), state


network, optimizer = jnp.zeros((observations.OBS_SIZE, actions.NUM_ACTIONS)), optax.adam(5e-3)
state, key = optimizer.init(network), jax.random.key(1)
decisions = Trajectories(batch, GAMES * (STEPS + 2))  # those of an update, and the last ones of two seats
kept_seen = np.zeros((decisions.capacity, observations.OBS_SIZE), np.int8)
kept_masks, moves = np.zeros((decisions.capacity, actions.NUM_ACTIONS), bool), np.zeros(decisions.capacity, np.int64)
for array in (kept_seen, kept_masks, moves):
    decisions.attach(array)
for _ in range(UPDATES):
    for _ in range(STEPS):
        new = decisions.add(np.arange(GAMES))
        kept_seen[new], kept_masks[new] = batch.observation, batch.mask
        key, now = jax.random.split(key)
        moves[new] = jax.random.categorical(now, judge(network, seen, masks))  # waits for JAX: it has read the games now
        batch.step(moves[new])
        decisions.credit()
    n, gains = decisions.size, np.zeros(decisions.capacity, np.float32)
    following = decisions.following[:n]
    returns = estimate_advantages(np.zeros(n, np.float32), decisions.reward[:n], following, 0.97, 1.0)
    gains[:n] = np.where(following != OPEN, (returns - returns.mean()) / returns.std(), 0)
    network, state = jax.block_until_ready(learn(network, state, kept_seen, kept_masks, moves, gains))  # before they change
    decisions.carry_over()


class Learned(Agent):
    def act(self, observation, mask, rng, game=None):
        return int(judge(network, observation[None], mask[None])[0].argmax())


print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
