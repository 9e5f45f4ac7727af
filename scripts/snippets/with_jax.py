"""JAX on `Batch`: self-play of all seats; JAX reads the arrays of the games where they lie, without a copy."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from euphoria_agents import Agent, load, play_match
from euphoria_env import Batch, Rules, actions, observations
from euphoria_env.trajectories import OPEN, Trajectories, estimate_advantages

RULES = {"num_players": 2, "stars_to_win": 3}
GAMES, STEPS, UPDATES = 64, 64, 15

batch = Batch(GAMES, Rules(**RULES), seed=1, reward="stars")
seen, masks = jax.dlpack.from_dlpack(batch.observation), jax.dlpack.from_dlpack(batch.mask)  # a step overwrites them too
assert seen.unsafe_buffer_pointer() == batch.observation.ctypes.data and masks.unsafe_buffer_pointer() == batch.mask.ctypes.data


def judge(network, seen, masks):
    """Log-probabilities of the moves, and values."""
    out = jnp.tanh(jnp.minimum(seen, 6) @ network["in"]) @ network["out"]
    return jax.nn.log_softmax(jnp.where(masks, out[:, :-1], -1e9)), out[:, -1]


@jax.jit
def choose(network, key, seen, masks):
    log_probs, values = judge(network, seen, masks)
    return jax.random.categorical(key, log_probs), values


@jax.jit
def learn(network, state, seen, masks, moves, advantages, targets, weights):
    def loss(network):
        log_probs, values = judge(network, seen, masks)
        gains = advantages * jnp.take_along_axis(log_probs, moves[:, None], 1)[:, 0]
        entropy = -(jnp.exp(log_probs) * log_probs).sum(1)
        return (weights * ((targets - values) ** 2 / 2 - gains - 0.01 * entropy)).sum() / weights.sum()

    changes, state = optimizer.update(jax.grad(loss)(network), state)
    return optax.apply_updates(network, changes), state


keys = jax.random.split(jax.random.key(1), 2 + UPDATES * STEPS)
network = {
    "in": 0.03 * jax.random.normal(keys[0], (observations.OBS_SIZE, 64)),
    "out": 0.01 * jax.random.normal(keys[1], (64, actions.NUM_ACTIONS + 1)),
}
optimizer = optax.adam(5e-3)
state = optimizer.init(network)
decisions = Trajectories(batch, GAMES * (STEPS + 2))
kept = [np.zeros((decisions.capacity, *shape), kind) for shape, kind in (
    ((observations.OBS_SIZE,), np.int8), ((actions.NUM_ACTIONS,), bool), ((), np.int64), ((), np.float32)
)]  # fmt: skip
for update in range(UPDATES):
    for step in range(STEPS):
        new = decisions.add(np.arange(GAMES))
        chosen = choose(network, keys[2 + update * STEPS + step], seen, masks)
        for array, now in zip(kept, (batch.observation, batch.mask, *chosen), strict=True):
            array[new] = now  # waits for JAX, so that it has read the arrays before the games go on
        batch.step(kept[2][new])
        decisions.credit()
    advantages, closed = np.zeros(decisions.capacity, np.float32), np.zeros(decisions.capacity, bool)
    n, values = decisions.size, kept[3]
    advantages[:n] = estimate_advantages(values[:n], decisions.reward[:n], decisions.following[:n], 0.99, 0.9)
    closed[:n] = decisions.following[:n] != OPEN
    network, state = learn(network, state, *kept[:3], advantages, advantages + values, closed)
    rest = decisions.carry_over()
    for array in kept:
        array[: len(rest)] = array[rest]


class Learned(Agent):
    def act(self, observation, mask, rng, game=None):
        return int(best(network, observation[None], mask[None])[0])


best = jax.jit(lambda *seen: judge(*seen)[0].argmax(1))
print(play_match([Learned(), load("random")], 100, Rules(**RULES), seed=1).scores[0], "of 100 games won")
