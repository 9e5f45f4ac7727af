"""Plays the games of a data set in parts; each part is a unit of work, and becomes a file.

Only the parts lie in the folder itself, which readers of Parquet take for a table; they pass over names that begin with "_".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from euphoria_agents.agent import Agent
from euphoria_agents.data.parquet import LISTS, SCALARS, Columns, sha256, write_part
from euphoria_agents.files import append_line, read_text, read_whole, write_whole
from euphoria_agents.machine import versions
from euphoria_agents.matches.players import seed_for
from euphoria_agents.matches.processes import Run, resume_work
from euphoria_agents.matches.work import PLAYERS, check_counts, inputs_of, keep_seed, player, sources
from euphoria_agents.network.layouts import description
from euphoria_agents.provenance import Inputs, changed_since, check_sure, joined, published_names
from euphoria_agents.registry import file_hashes
from euphoria_agents.training.csr import CSR, chosen_lists, join_lists
from euphoria_agents.validation import decoded_lines
from euphoria_env import Batch, Rules
from euphoria_env.agent_protocol import AgentGames, Generators, games_by_agent, keeps_games_apart, most_events
from euphoria_env.derived_seeds import derived_generator
from euphoria_env.engine.rewards import reward_number
from euphoria_env.envs.aec import raw_env
from euphoria_env.json_reader import Json, read_json
from euphoria_env.memory import Ids
from euphoria_env.observations import OBS_SIZE
from euphoria_env.trajectories import ENDED, Trajectories

FORMAT, VERSION = "euphoria-dataset", 3
ABOUT = "_about"  # the folder of the next three
DATASET, PLAN, PARTS = "dataset.json", "plan.json", "parts.jsonl"
PACKAGES = ("euphoria-env", "numpy", "numba", "pyarrow")  # the games or the files can depend on their versions
SEATS = 512  # in all games of a part, which is held in memory
GAMES_OF_SEARCHERS = 16  # in a part with agents that search: their games take long, and an interrupt loses the part under way
MOST_AGENTS = 100
ROOM = 1 << 14  # decisions for which there is room at first


@dataclass(frozen=True)
class DatasetPart:
    """Some games of a data set: a unit of work, whose file depends on nothing but these fields."""

    agents: tuple[str, ...]  # the specs of the agents; one that is named twice gets twice as many seats
    rules: Rules
    reward: str
    seed: int
    number: int
    first: int  # the number of its first game
    games: int  # how many games it has
    sources: str  # what `work.sources` said of the agents when the work began

    @property
    def name(self) -> str:
        """The name of the part's file."""
        return f"part-{self.number:05}.parquet"

    @property
    def key(self) -> str:
        """A hash of all fields."""
        return sha256(json.dumps(asdict(self), sort_keys=True).encode())

    @property
    def specs(self) -> list[str]:
        """The specs of the agents, each once."""
        return list(dict.fromkeys(self.agents))


def origin_of(agents: Sequence[str], rules: Json, reward: str, seed: int, first: int, games: int) -> dict[str, Any]:
    """Returns what the file of a part says of its games: a hash of their plan, the number of the first, and how many they are."""
    plan = json.dumps([list(agents), rules, reward, seed], sort_keys=True)
    return {"plan": sha256(plan.encode()), "first": first, "games": games}


def parts_of(agents: Sequence[str], rules: Rules, games: int, seed: int, reward: str) -> list[DatasetPart]:
    """Returns the parts of a data set; raises a `ValueError` if an agent, a number or the reward is wrong."""
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


class PlayedPart(Struct):
    """A part that was played: its name and key, the number of decisions, the hash of the file, and what its agents read."""

    name: str
    key: str
    decisions: int
    sha256: str
    inputs: dict[str, Inputs]


def play_part(part: DatasetPart) -> tuple[bytes, PlayedPart]:
    """Plays a part, always with the same result, and returns the bytes of its file, and what is known of it.

    Raises a `ValueError` if code or checkpoints here are not those with which the data set began, and what `query` raises.
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
    columns = tables.columns()
    origin = origin_of(part.agents, part.rules.to_dict(), part.reward, part.seed, part.first, part.games)
    content = write_part(columns, part.specs, origin)
    return content, PlayedPart(part.name, part.key, columns.size, sha256(content), inputs_of(part.specs))


class PartGames(AgentGames):
    """The games of a part side by side, and their decisions; `seated` are the `lineups`, and `rng` deals the games of agents.

    An agent that may remember games has a process for each seat, with the games in an order of its own.
    """

    def __init__(self, part: DatasetPart, seed: int, seated: np.ndarray, rng: np.random.Generator) -> None:
        self.moves = np.zeros(part.games, np.int64)
        self.rng, self._first, self._all = rng, part.first, np.arange(part.games)
        self._seated = np.array([part.specs.index(spec) for spec in part.agents])[seated]
        n = part.rules.num_players
        players = PLAYERS.seats({(spec, None): n for spec in part.specs}, (part.seed, n, part.first)).values()  # by seat
        agents = {id(agent): agent for row in players for agent in row}
        numbers = np.array([[list(agents).index(id(agent)) for agent in row] for row in players])
        self._agents, self._playing = list(agents.values()), numbers[self._seated, np.arange(n)]
        strangers = [agent for agent in self._agents if not keeps_games_apart(agent)]
        self.batch = Batch(part.games, part.rules, seed, part.reward, threads=1, events=most_events(self._agents))
        self._orders = {id(agent): derived_generator(rng).permutation(part.games) for agent in strangers}
        self.ids = Ids(derived_generator(rng).bytes(32) if strangers else b"")  # nobody else asks for them
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

    def name(self, game: int) -> str:
        """Returns the name of a game."""
        return str(self._first + game)

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
            self.ids.end(map(self.name, np.flatnonzero(ended & self._active).tolist()))
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
    run: Run[DatasetPart, tuple[bytes, PlayedPart]],
    progress: Callable[[int], None] | None = None,
    keep: bool = False,
) -> dict[str, Any]:
    """Plays the parts of a data set that a folder does not have, and writes `dataset.json`.

    `run` and `progress` are those of `resume_work`; with `keep` the folder keeps the seed (`keep_seed`). Returns the content of
    `dataset.json`, which docs/data.md explains.

    Raises:
        ValueError: the folder holds another data set, or a file that was not played for this one; or a file that an agent reads
            has changed. The message names the file.
        AgentFailed, IllegalMove: an agent failed.
    """
    whole, about = parts[0], _about(parts)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: choose another --out")
    _pin(folder, DATASET, {name: value for name, value in about.items() if name != "agents"}, write=False)
    _pin(folder, PLAN, {**about, "version of code or files": whole.sources})
    if keep:
        keep_seed(folder, whole.seed)
    played = _played_parts(folder, parts)
    known = joined([*(one.inputs for one in played.values()), inputs_of(whole.specs)])

    def save(part: DatasetPart, answer: tuple[bytes, PlayedPart]) -> None:
        nonlocal known
        content, played[part] = answer
        known = joined([known, played[part].inputs])
        append_line(folder / ABOUT / PARTS, _line(played[part]))  # first, since a file without a line is refused
        write_whole(folder / part.name, content)

    resume_work(parts, set(played), play_part, run, save, progress)
    found = _description([(part, played[part]) for part in parts], about, known)
    _pin(folder, DATASET, found)
    write_whole(folder / ABOUT / PARTS, "".join(_line(played[part]) + "\n" for part in parts))
    return found


def _about(parts: Sequence[DatasetPart]) -> dict[str, Any]:
    """Returns what defines the games of a data set."""
    whole, games = parts[0], sum(part.games for part in parts)
    rules = whole.rules.to_dict()
    return {"agents": list(whole.agents), "rules": rules, "reward": whole.reward, "seed": whole.seed, "games": games}


def _line(played: PlayedPart) -> str:
    return msgspec.json.encode(played).decode()


def _pin(folder: Path, name: str, values: dict[str, Any], write: bool = True) -> None:
    """Writes values into a file in the folder of a data set; raises a `ValueError` if the file is there with other values."""
    path = folder / ABOUT / name
    try:
        before = read_json(read_text(path)) if path.exists() else values
        other = [key for key, value in values.items() if before.get(key) != value]
    except (ValueError, AttributeError):
        raise ValueError(f"{path} is damaged: choose another --out, or delete the folder") from None
    if other:
        raise ValueError(f"{folder} holds the results of another {', '.join(other)}: choose another --out, or delete it")
    if write:
        write_whole(path, json.dumps(values, indent=1) + "\n")


def _played_parts(folder: Path, parts: Sequence[DatasetPart]) -> dict[DatasetPart, PlayedPart]:
    """Returns the parts that a folder has; a `ValueError` names a file that is not as it was played, or has changed since."""
    keys, found = {part.key: part for part in parts}, {}
    written = {one.name: one for one in decoded_lines(folder / ABOUT / PARTS, PlayedPart)}
    for file in sorted(folder.glob("*.parquet")):
        part = written.get(file.name)
        if part is None or part.key not in keys or sha256(read_whole(file)) != part.sha256:
            raise ValueError(f"{file} is damaged, or of another data set: delete it, and the same command plays its games again")
        found[keys[part.key]] = part
    read = [inputs for one in found.values() for inputs in one.inputs.values()]
    check_sure(folder, read)
    if changed := sorted({path for path, _ in changed_since(read)}):
        raise ValueError(f"{folder} holds the results of another {', '.join(changed)}: choose another --out, or delete it")
    return found


def _description(
    played: Sequence[tuple[DatasetPart, PlayedPart]], about: dict[str, Any], inputs: Mapping[str, Inputs]
) -> dict[str, Any]:
    """Returns the content of `dataset.json`."""
    read = [(spec, inputs.get(spec, Inputs())) for spec in about["agents"]]
    return {
        "format": FORMAT,
        "version": VERSION,
        "environment": {"name": raw_env.metadata["name"], **description()},
        "versions": {name: one for name, one in versions(PACKAGES).items() if name in PACKAGES},
        **about,
        "agents": [
            {"spec": spec, "files": file_hashes(spec) | published_names(one.files), "unseen": one.unseen} for spec, one in read
        ],
        "code": played[0][0].sources,
        "decisions": sum(one.decisions for _, one in played),
        "sha256": sha256("".join(one.sha256 for _, one in played).encode()),
        "files": [
            {"name": one.name, "games": part.games, "decisions": one.decisions, "sha256": one.sha256} for part, one in played
        ],
    }
