"""`ppo[:PATH]`: plays a network trained by masked PPO, computed with numba; only its training needs PyTorch."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from euphoria_agents.agent import Agent, Explanation, check_found, decision_rows, explanation
from euphoria_agents.network.checkpoint import Parts, parts, read_checkpoint
from euphoria_agents.network.compiled_layers import choose_by_network, write_outputs
from euphoria_agents.network.weight_layout import lay_out
from euphoria_agents.players.network_moves import choose_in_games
from euphoria_agents.players.search.inference import build_network, write_win_probs
from euphoria_agents.players.search.sure_wins import explain_sure_win, take_sure_wins
from euphoria_env import actions
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.state import GAME_DTYPE

if TYPE_CHECKING:
    from euphoria_agents.network.compiled_layers import Policy
    from euphoria_agents.players.search.inference import SearchNetwork
    from euphoria_agents.training.policy_and_value import PolicyAndValue
    from euphoria_env import Batch, Game

_NO_CHANCES = np.empty((0, 0), np.float32)  # in place of the log-probabilities, where they are not needed
LEAST_OF_A_HASH = 8  # the least number of digits by which a spec may name a hash
SHIPPED = Path(__file__).parent / "checkpoints" / "ppo.safetensors"


def checkpoint_path(text: str) -> Path:
    """Returns the checkpoint that a spec names by its path, or, if it ships, by @ and the start of its hash; empty: the default.

    Raises:
        ValueError: this version ships no checkpoint, or none with that hash.
    """
    if text.startswith("@"):
        return _shipped_as(text[1:])
    if not text and not SHIPPED.exists():
        raise ValueError("no checkpoint ships with this version: name one, as in ppo:path/to/checkpoint")
    return Path(text) if text else SHIPPED


def _shipped_as(start: str) -> Path:
    """Returns the shipped checkpoint whose SHA-256 begins with `start`; benchmarks name networks by it, so that none changes."""
    hashes = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in sorted(SHIPPED.parent.glob("*.safetensors"))}
    found = [path for digest, path in hashes.items() if len(start) >= LEAST_OF_A_HASH and digest.startswith(start)]
    if not found:
        raise ValueError(f"no checkpoint with the hash {start!r} ships; there are {', '.join(one[:12] for one in hashes)}")
    return found[0]


def make_ppo(argument: str = "") -> PPO:
    """Returns the agent that plays the network of a spec; `argument` is as for `checkpoint_path`.

    Raises:
        ValueError: see `PPO.load`.
    """
    agent = PPO.load(checkpoint_path(argument))
    agent.takes_wins = not argument.startswith("@")  # those that benchmarks name play as ever
    return agent


def joined_rows(games: Iterable[Game]) -> np.ndarray:
    """Returns the states of games as one array; by bytes, which is faster than by fields."""
    return np.frombuffer(b"".join(game.states.tobytes() for game in games), GAME_DTYPE)


class PPO(Agent):
    """Plays a trained policy: draws each move with the probability that the network gives it.

    Args:
        found: the parts of the network; trunk and policy together have at least two layers.

    Attributes:
        parts: the network.
        policy: the network as it is laid out for the compiled layers.
        takes_wins: whether it takes sure wins (`players.search.sure_wins`).
        training: how the network was trained, as its file says.
    """

    keeps_games_apart = needs_deals = True
    takes_wins, compiled = False, "euphoria_agents.players.compiled"

    def __init__(self, found: Parts) -> None:
        self.parts, self.training = found, dict[str, Any]()
        *hidden, head = found.trunk + found.policy
        self.policy = lay_out(found.features, hidden, head, afterstates=found.afterstates)

    @classmethod
    def load(cls, path: str | Path) -> PPO:
        """Reads a checkpoint.

        Raises:
            ValueError: the file cannot be read (see `read_tensors`), or the tensors do not fit together.
        """
        header, tensors = read_checkpoint(path)
        agent = cls.of(tensors, path)
        agent.training = dict(header.get("training") or {})
        return agent

    @classmethod
    def of(cls, tensors: dict[str, np.ndarray], path: str | Path = "network") -> PPO:
        """Returns the agent that plays a network.

        Args:
            tensors: as for `save_checkpoint`.
            path: the path of their file, for error messages.

        Raises:
            ValueError: the tensors do not fit together.
        """
        return cls(parts(tensors, path))

    @property
    def row_begins(self) -> np.ndarray:
        """The first row of each entry of the observation; see `network.weight_layout.row_begins`."""
        return self.policy.begins

    def log_chances(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Returns the log-probabilities of all moves by the policy alone, float32 (N, NUM_ACTIONS); -inf where one is illegal."""
        seen, legal = decision_rows(observations, masks)
        found = np.full((len(seen), actions.NUM_ACTIONS), -np.inf, np.float32)
        self._play(seen, legal, np.zeros(len(seen)), found)
        return found

    def log_chances_in(self, rows: np.ndarray) -> np.ndarray:
        """Does the same for the players to move in games, (N,) typed as `Game.states`, with the afterstate head."""
        found = np.full((len(rows), actions.NUM_ACTIONS), -np.inf, np.float32)
        choose_in_games(rows, self.policy, np.zeros(len(rows)), np.empty(len(rows), np.int64), found)
        return found

    def _play(
        self, seen: np.ndarray, legal: np.ndarray, uniforms: np.ndarray, chances: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns the moves drawn by `uniforms` for what `decision_rows` returned, and the decisions that a head corrects."""
        moves, unsettled = np.empty(len(seen), np.int64), np.empty(len(seen), np.bool_)
        choose_by_network(seen, legal, uniforms, self.policy, moves, unsettled, chances)
        return check_found(moves), np.flatnonzero(unsettled)

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`. Without a game it does not use its afterstate head, and looks for no sure win."""
        return int(self.act_batch(observation[None], mask[None], rng, None if game is None else lambda _: game)[0])

    def act_batch(
        self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator, deal: Callable[[int], Game] | None = None
    ) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`, and `act` for what is missing without `deal`."""
        seen, legal = decision_rows(observations, masks)
        uniforms = rng.random(len(seen))
        moves, unsettled = self._play(seen, legal, uniforms, _NO_CHANCES)
        if deal is not None:
            deal = functools.cache(deal)
            if len(unsettled):
                rows, corrected = joined_rows(map(deal, unsettled.tolist())), np.empty(len(unsettled), np.int64)
                choose_in_games(rows, self.policy, uniforms[unsettled], corrected, _NO_CHANCES)
                moves[unsettled] = corrected
            if self.takes_wins:
                take_sure_wins(moves, seen, deal)
        return moves

    def explain(
        self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None
    ) -> Explanation:
        """Returns the probability of each move and, if a game is given, the network's win probabilities; see `Agent.explain`."""
        legal = np.flatnonzero(mask)
        logs = self.log_chances(observation, mask) if game is None else self.log_chances_in(game.states)
        chances = np.exp(logs[0, legal].astype(np.float64))
        found = explanation(legal, priors=(chances / chances.sum()).tolist(), seats=self._win_probs(game))
        return explain_sure_win(found, game) if game is not None and self.takes_wins else found

    def _win_probs(self, game: Game | None) -> list[float] | None:
        """Returns each seat's win probability, from what the mover sees; None without a game, or if the network has none."""
        if game is None or not self.parts.win_probs:
            return None
        chances = self.win_probabilities([game])[0, : game.rules.num_players].astype(np.float64)
        return (chances / chances.sum()).tolist()

    def policy_and_values(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns what the network says of N decisions, by its policy alone, without the afterstate head.

        Args:
            observations, masks: int8 (N, OBS_SIZE), and bool or int8 (N, NUM_ACTIONS).

        Returns:
            The log-probabilities of all moves, float32 (N, NUM_ACTIONS), -inf where one is illegal; and the return that the seat
            that decides may expect, float32 (N,), of the reward for which the network was trained.

        Raises:
            ValueError: a shape is wrong, or a mask has no legal move.
        """
        seen, legal = decision_rows(observations, masks)
        values = np.empty((len(seen), 1), np.float32)
        write_outputs(seen, self._value_network, values)
        return self.log_chances(seen, legal), values[:, 0]

    def win_probabilities(self, games: Sequence[Game] | Batch, seats: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        """Returns the probability that each player of N games wins, float32 (N, MAX_PLAYERS), by seat; 0 for absent players.

        Args:
            games: the games, none of which has ended.
            seats: the seat of each game from whose knowledge they are computed; None: the one that decides.

        Raises:
            ValueError: the network has no win probabilities, or there is no such seat.
        """
        if not self.parts.win_probs:
            raise ValueError("this network has no win probabilities: `euphoria train --win-probs-games` adds them")
        rows = joined_rows(games) if isinstance(games, Sequence) else games.states
        observers = rows["player"].astype(np.int64) if seats is None else np.array(seats, np.int64)
        if observers.shape != rows.shape or (observers < 0).any() or (observers >= rows["num_players"]).any():
            raise ValueError(f"seats must be a seat of each of the {len(rows)} games")
        found = np.zeros((len(rows), MAX_PLAYERS), np.float32)
        write_win_probs(rows, observers, self._search_network, found)
        return found

    def as_torch(self) -> PolicyAndValue:
        """Returns a PyTorch module with the answers of `policy_and_values` (but for rounding), to be trained further."""
        module = import_module("euphoria_agents.training.policy_and_value")  # late: PyTorch is large, and an extra
        return module.PolicyAndValue(self.parts, self.training)

    @functools.cached_property
    def _value_network(self) -> Policy:
        *hidden, head = self.parts.trunk + self.parts.value
        return lay_out(self.parts.features, hidden, head)

    @functools.cached_property
    def _search_network(self) -> SearchNetwork:
        return build_network(self.parts)
