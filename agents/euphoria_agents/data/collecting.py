"""Plays the games of a data set in parts; each part is a unit of work, and becomes a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from euphoria_agents.agent import Agent
from euphoria_agents.data.parquet import LISTS, SCALARS, Columns, count_rows, sha256, write_part
from euphoria_agents.files import read_text, write_whole
from euphoria_agents.machine import versions
from euphoria_agents.matches.players import seed_for
from euphoria_agents.matches.processes import Run, resume_work
from euphoria_agents.matches.tournament import PLAYERS, check_counts, keep_seed, player, sources
from euphoria_agents.network.checkpoint import layout
from euphoria_agents.registry import file_hashes
from euphoria_agents.training.csr import CSR, chosen_lists, join_lists
from euphoria_env import Batch, Rules
from euphoria_env.agent_protocol import AgentGames, Generators, games_by_agent, keeps_games_apart
from euphoria_env.derived_seeds import derived_generator
from euphoria_env.engine.rewards import reward_number
from euphoria_env.envs.aec import raw_env
from euphoria_env.observations import OBS_SIZE
from euphoria_env.trajectories import ENDED, Trajectories

FORMAT, VERSION = "euphoria-dataset", 2
DATASET = "dataset.json"
PACKAGES = ("euphoria-env", "numpy", "numba", "pyarrow")  # the games or the files can depend on their versions
SEATS = 512  # in all games of a part, which is held in memory
GAMES_OF_SEARCHERS = 16  # in a part with agents that search: their games take long, and an interrupt loses the part under way
MOST_AGENTS = 100
ROOM = 1 << 14  # decisions for which there is room at first


@dataclass(frozen=True)
class DatasetPart:
    """Some games of a data set: a unit of work, whose file depends on nothing but these fields.

    Attributes:
        agents: the specs of the agents; one that is named twice gets twice as many seats.
        rules, reward, seed: those of the data set.
        number: the number of the part.
        first: the number of its first game.
        games: how many games it has.
        sources: `euphoria_agents.matches.tournament.sources` of the agents.
    """

    agents: tuple[str, ...]
    rules: Rules
    reward: str
    seed: int
    number: int
    first: int
    games: int
    sources: str

    @property
    def name(self) -> str:
        """The name of the part's file."""
        return f"part-{self.number:05}.parquet"

    @property
    def specs(self) -> list[str]:
        """The specs of the agents, each once."""
        return list(dict.fromkeys(self.agents))


def parts_of(agents: Sequence[str], rules: Rules, games: int, seed: int, reward: str) -> list[DatasetPart]:
    """Returns the parts of a data set.

    Raises:
        ValueError: an agent, a number or the reward is wrong.
    """
    check_counts(games=games, seed=seed)
    reward_number(reward)
    if not 1 <= len(agents) <= MOST_AGENTS:
        raise ValueError(f"agents must be 1 to {MOST_AGENTS}, not {len(agents)}")
    searching = any(getattr(player(spec), "needs_game", False) for spec in agents)
    size, code = GAMES_OF_SEARCHERS if searching else SEATS // rules.num_players, sources(agents)
    return [
        DatasetPart(tuple(agents), rules, reward, seed, number, first, min(size, games - first), code)
        for number, first in enumerate(range(0, games, size))
    ]


def lineups(part: DatasetPart, rng: np.random.Generator) -> np.ndarray:
    """Returns the agent on each seat of each game: integers (games, players), indices into `part.agents`.

    In each game all agents get equally many seats; those that remain go to agents drawn at random, and the order is random.
    """
    n, k = part.rules.num_players, len(part.agents)
    rows = [[*list(range(k)) * (n // k), *rng.permutation(k)[: n % k]] for _ in range(part.games)]
    return rng.permuted(np.array(rows), axis=1)


def play_part(part: DatasetPart) -> bytes:
    """Plays a part, always with the same result, and returns the bytes of its file.

    Raises:
        ValueError: code or checkpoints here are not those with which the data set began.
        AgentFailed: an agent failed. Errors of `agent_protocol.query` are raised too.
    """
    if part.sources != sources(part.agents):
        raise ValueError("code or checkpoints are not those with which the data set began")
    games, seated, choices, deals = map(
        np.random.default_rng,
        np.random.SeedSequence((seed_for(map(player, part.specs), part.seed), part.rules.num_players, part.first)).spawn(4),
    )
    tables, generators = PartGames(part, int(games.integers(2**63)), lineups(part, seated), deals), Generators(choices)
    while tables.play_round(generators):
        pass
    return write_part(tables.columns(), part.specs)


class PartGames(AgentGames):
    """The games of a part side by side, and their decisions.

    An agent that may remember games has a process for each seat, with the games in an order of its own.

    Args:
        part: the part.
        seed: the seed of its games.
        seated: the line-ups, as `lineups` returns them.
        rng: the generator for determinizing the games that agents get.
    """

    def __init__(self, part: DatasetPart, seed: int, seated: np.ndarray, rng: np.random.Generator) -> None:
        self.moves = np.zeros(part.games, np.int64)
        self.rng, self.batch = rng, Batch(part.games, part.rules, seed, part.reward, threads=1)
        self._first, self._all = part.first, np.arange(part.games)
        self._seated = np.array([part.specs.index(spec) for spec in part.agents])[seated]
        n = part.rules.num_players
        players = PLAYERS.seats({(spec, None): n for spec in part.specs}, (part.seed, n, part.first)).values()  # by seat
        agents = {id(agent): agent for row in players for agent in row}
        numbers = np.array([[list(agents).index(id(agent)) for agent in row] for row in players])
        self._agents, self._playing = list(agents.values()), numbers[self._seated, np.arange(n)]
        strangers = [agent for agent in self._agents if not keeps_games_apart(agent)]
        self._orders = {id(agent): derived_generator(rng).permutation(part.games) for agent in strangers}
        self._active = np.ones(part.games, np.bool_)
        self._ranks = np.zeros(seated.shape, np.int8)
        self._truncated = np.zeros(part.games, np.bool_)
        self._ends = np.zeros((*seated.shape, OBS_SIZE), np.int8)  # the final observations of all seats
        self._decisions = Trajectories(self.batch, ROOM)
        self._moves: list[np.ndarray] = []
        self._lists: dict[str, list[CSR]] = {name: [] for name in ("entries", "values", "legal")}  # one CSR a round

    def deciding(self) -> Iterator[tuple[Agent, np.ndarray]]:
        """Yields each agent that must decide, with its games."""
        games = np.flatnonzero(self._active)
        for agent, own in games_by_agent(self._agents, self._playing[games, self.batch.player[games]], games):
            order = self._orders.get(id(agent))
            yield agent, own if order is None else own[np.argsort(order[own])]

    def advance(self) -> None:
        """Records the decisions, plays the moves, and records the results of the games that have ended."""
        games, batch = np.flatnonzero(self._active), self.batch
        self._make_room(len(games))
        self._decisions.add(games)
        observed = _active(batch.observation[games])
        for name, lists in zip(self._lists, (*observed, _active(batch.mask[games])[0]), strict=True):
            self._lists[name].append(lists)
        self._moves.append(self.moves[games])
        batch.step(self.moves, self._active)
        self._decisions.credit()
        ended = batch.terminated | batch.truncated
        if ended.any():
            self._ranks[ended], self._truncated[ended] = batch.ranking[ended], batch.truncated[ended]
            self._ends[ended] = batch.final_observation[ended]
        self._active &= ~ended

    def _make_room(self, more: int) -> None:
        """Moves the decisions to larger arrays if there is no room for more."""
        old = self._decisions
        if old.size + more > old.capacity:
            old.grow(2 * max(old.capacity, more))

    def columns(self) -> Columns:
        """Returns all decisions, game after game, in the order in which they were made."""
        size = self._decisions.size
        order = np.argsort(self._decisions.game[:size], kind="stable")
        found = {name: array[:size][order] for name, array in self._decisions.arrays().items()}
        game, seat = found["game"], found["seat"]
        begins, last = np.searchsorted(game, self._all), found["following"] == ENDED
        ends = _active(np.where(last[:, None], self._ends[game, seat], 0))
        scalars = {
            "game": game + self._first,
            "index": np.arange(size) - begins[game],
            "seat": seat,
            "agent": self._seated[game, seat],
            "turn": found["turn"],
            "action": np.concatenate(self._moves)[order],
            "reward": found["reward"],
            "turns": found["elapsed"],
            "terminated": last & ~self._truncated[game],
            "truncated": last & self._truncated[game],
            "rank": self._ranks[game, seat],
        }
        lists = [chosen_lists(join_lists(parts), order, size + 1) for parts in self._lists.values()]
        return Columns(
            {name: scalars[name].astype(kind) for name, kind in SCALARS.items()}, dict(zip(LISTS, [*lists, *ends], strict=True))
        )


def _active(rows: np.ndarray) -> tuple[CSR, CSR]:
    """Returns the indices of the entries of each row that are not zero, and their values."""
    active = rows != 0
    ends = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(active.sum(1), out=ends[1:])
    return CSR(ends, np.nonzero(active)[1].astype(np.int16)), CSR(ends, rows[active])


def collect(
    folder: Path,
    parts: Sequence[DatasetPart],
    run: Run[DatasetPart, bytes],
    progress: Callable[[int], None] | None = None,
    keep: bool = False,
) -> dict[str, Any]:
    """Plays the parts of a data set that a folder does not have, and writes `dataset.json`.

    `run` and `progress` are those of `resume_work`; with `keep` the folder keeps the seed (`keep_seed`). Returns the content of
    `dataset.json`, which docs/data.md explains.

    Raises:
        ValueError: the folder holds another data set, or a damaged file.
        AgentFailed, IllegalMove: an agent failed.
    """
    whole = parts[0]
    about: dict[str, Any] = {
        "agents": list(whole.agents),
        "rules": whole.rules.to_dict(),
        "reward": whole.reward,
        "seed": whole.seed,
        "games": sum(part.games for part in parts),
    }
    _pin_plan(folder, {**about, "version of code or files": whole.sources})
    if keep:
        keep_seed(folder, whole.seed)
    finished = {part for part in parts if (folder / part.name).exists()}
    resume_work(parts, finished, play_part, run, lambda part, content: write_whole(folder / part.name, content), progress)
    found = _description(folder, parts, about)
    write_whole(folder / DATASET, json.dumps(found, indent=1) + "\n")
    return found


def _pin_plan(folder: Path, plan: dict[str, Any]) -> None:
    """Writes a plan, what a data set is made from, into its folder, so that the folder never holds results of two plans.

    Args:
        folder: is made if it does not exist.
        plan: JSON values by name.

    Raises:
        ValueError: the folder holds the results of another plan, or a damaged plan; the message names what differs.
        OSError: the plan cannot be written.
    """
    path = folder / "plan.json"
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: choose another --out")
    try:
        before = json.loads(read_text(path)) if path.exists() else plan
        other = [name for name, value in plan.items() if before.get(name) != value]
    except (ValueError, AttributeError):
        raise ValueError(f"{path} is damaged: choose another --out, or delete the folder") from None
    if other:
        raise ValueError(f"{folder} holds the results of another {', '.join(other)}: choose another --out, or delete it")
    write_whole(path, json.dumps(plan, indent=1) + "\n")


def _description(folder: Path, parts: Sequence[DatasetPart], about: dict[str, Any]) -> dict[str, Any]:
    """Returns the content of `dataset.json`, once the folder has all parts."""
    files = [{"name": part.name, "games": part.games, **_content(folder / part.name)} for part in parts]
    return {
        "format": FORMAT,
        "version": VERSION,
        "environment": {"name": raw_env.metadata["name"], **layout()},
        "versions": {name: one for name, one in versions(PACKAGES).items() if name in PACKAGES},
        **about,
        "agents": [{"spec": spec, "files": file_hashes(spec)} for spec in about["agents"]],
        "code": parts[0].sources,
        "decisions": sum(file["decisions"] for file in files),
        "sha256": sha256("".join(file["sha256"] for file in files).encode()),
        "files": files,
    }


def _content(path: Path) -> dict[str, Any]:
    """Returns the number of decisions and the hash of a file."""
    content = path.read_bytes()
    try:
        return {"decisions": count_rows(content), "sha256": sha256(content)}
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}): delete it, and the same command plays its games again") from None
