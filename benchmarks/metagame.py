"""Tables of payoffs as games in which agents are the moves: Nash equilibria and alpha-rank, of many tables at once."""

from __future__ import annotations

import numpy as np

SHARPNESS = np.geomspace(1.0, 5e3, 50)  # 1 / temperature
NEWTON, HALVINGS = 2, 10  # steps at each temperature, each as long as it helps
INTENSITY, POPULATION = 100.0, 50  # of alpha-rank, as in its paper's experiments with large alpha
RARE = 1e-9  # the least probability that a mutant takes over, so that every agent can be reached
RESAMPLES = 200


def nash(payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Nash equilibrium of largest entropy of a game in which the row wants much and the column little.

    It is approached by the equilibria of players who choose with probabilities proportional to exp(payoff / temperature), from
    a temperature of 1 down to 0.0002; neither side can gain more than the number of its moves allows, 0.0005 with ten.

    Args:
        payoffs: (..., M, N), from 0 to 1.

    Returns:
        How often each row and each column is chosen, (..., M) and (..., N).
    """
    m, n = payoffs.shape[-2:]
    other = np.swapaxes(payoffs, -1, -2)

    def off(logits: np.ndarray, sharpness: float) -> np.ndarray:
        """The distance of logits from those that answer the other side's."""
        row, column = _softmax(logits[..., :m]), _softmax(logits[..., m:])
        return logits - sharpness * np.concatenate([_apply(payoffs, column), -_apply(other, row)], -1)

    logits, before = np.zeros((*payoffs.shape[:-2], m + n)), 1.0
    for sharpness in SHARPNESS:
        logits *= sharpness / before
        before = sharpness
        for _ in range(NEWTON):
            slope = np.zeros((*logits.shape, m + n))
            slope[..., :m, m:] = -sharpness * payoffs @ _spread(_softmax(logits[..., m:]))
            slope[..., m:, :m] = sharpness * other @ _spread(_softmax(logits[..., :m]))
            gap = off(logits, sharpness)
            step = np.linalg.solve(slope + np.eye(m + n), gap[..., None])[..., 0]
            for _ in range(HALVINGS):
                farther = np.linalg.norm(off(logits - step, sharpness), axis=-1) > np.linalg.norm(gap, axis=-1)
                if not farther.any():
                    break
                step[farther] /= 2
            logits -= step
    return _softmax(logits[..., :m]), _softmax(logits[..., m:])


def alpha_rank(advantages: np.ndarray, intensity: float = INTENSITY, population: int = POPULATION) -> np.ndarray:
    """The share of time for which a population consists of each agent, if mutants replace those that do worse.

    Args:
        advantages: (..., K, K), how much more the row gets than those it meets, alone in a population of the column; -1 to 1.
        intensity: how strongly payoffs decide, alpha.
        population: its size.

    Returns:
        (..., K); they add up to 1. See Omidshafiei et al., "alpha-Rank: Multi-Agent Evaluation by Evolution", 2019.
    """
    gap, k = np.abs(advantages), advantages.shape[-1]
    with np.errstate(invalid="ignore"):  # 0 / 0
        share = np.expm1(-intensity * gap) / np.expm1(-intensity * population * gap)
    taken = np.where(gap > 0, share, 1 / population) * np.exp(intensity * (population - 1) * np.minimum(advantages, 0))
    flow = np.swapaxes(np.maximum(taken, RARE), -1, -2) / (k - 1) * (1 - np.eye(k))  # from the row to the column
    return _stationary(flow)


def _stationary(flow: np.ndarray) -> np.ndarray:
    """The stationary distribution of a chain, without a subtraction (Grassmann, Taksar and Heyman 1985)."""
    chain, k = flow.copy(), flow.shape[-1]
    for last in range(k - 1, 0, -1):
        chain[..., :last, last] /= chain[..., last, :last].sum(-1)[..., None]
        chain[..., :last, :last] += chain[..., :last, last, None] * chain[..., None, last, :last]
    found = np.zeros((*flow.shape[:-2], k))
    found[..., 0] = 1
    for state in range(1, k):
        found[..., state] = (found[..., :state] * chain[..., :state, state]).sum(-1)
    return found / found.sum(-1, keepdims=True)


def resampled(rates: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Tables as they could have been, (RESAMPLES, ...): normal around the rates with their standard errors; always the same."""
    drawn = np.random.default_rng(0).normal(rates, errors, (RESAMPLES, *np.shape(rates)))
    return np.clip(drawn, 0, 1)


def interval(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper ends of 95 % of the samples, along the first axis."""
    low, high = np.quantile(samples, (0.025, 0.975), axis=0)
    return low, high


def _softmax(logits: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.exp(logits - logits.max(-1, keepdims=True))
    return found / found.sum(-1, keepdims=True)


def _spread(chances: np.ndarray) -> np.ndarray:
    """The derivative of a softmax by its logits."""
    return chances[..., None] * (np.eye(chances.shape[-1]) - chances[..., None, :])


def _apply(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    found: np.ndarray = (matrix @ vector[..., None])[..., 0]
    return found
