"""The searching agents: they play legally, see nothing hidden, find what wins, and search the same in plain Python."""

from __future__ import annotations

import _thread
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import Agent, load
from euphoria_agents.players.greedy import Greedy, look_ahead
from euphoria_agents.players.ppo import SHIPPED
from euphoria_agents.players.search import inference, searcher
from euphoria_agents.players.search.evaluators import FLATTENED
from euphoria_agents.players.search.searcher import Searcher
from euphoria_agents.players.search.tree import BEGUN, Tree, most_visited, root_edges
from euphoria_env import Game, Rules, actions, observations
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import FACTIONS, MARKETS, MAX_PLAYERS
from euphoria_env.engine.rewards import REWARD_NAMES
from euphoria_env.engine.tape import empty_tape
from tests.tools.playing import all_rules

ROOT = Path(__file__).parent.parent
EVERYTHING = dict.fromkeys(("trading", "recruit_draft", "market_draft", "track_draft", "doubles_cost_morale"), True)
# Two players have nine stars and what the tenth costs, and it is the first one's turn.
NEARLY_DONE = {"workers": [2, 5], "goods": {"gold": 2, "clay": 1, "energy": 1}}
TILES = ("spa_of_fleeting_pleasure", "bemusement_park", "stadium_of_guaranteed_home_runs")
TILES += ("arena_of_peaceful_conflict", "cafeteria_of_nameless_meat", "lounge_of_opulent_frugality")
NEARLY_WON: dict[str, Any] = {
    "rules": {"num_players": 3},
    "seed": 1,
    "players": [NEARLY_DONE, NEARLY_DONE, {}],
    "territories": {f"{faction}_territory": [0, 1] for faction in FACTIONS[:3]},
    "markets": {market: {"tile": tile, "built": True, "stars": [0, 1]} for market, tile in zip(MARKETS, TILES, strict=True)},
}


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network with random tensors."""
    from euphoria_agents.network.checkpoint import save_checkpoint

    rng = np.random.default_rng(0)
    size = 900
    tensors = {
        "features.source": np.sort(rng.integers(0, observations.OBS_SIZE, size)),
        "features.offset": rng.integers(0, 3, size),
        "features.scale": rng.choice([0.1, 0.5, 1.0], size),
    }
    shapes = {"trunk.0": (32, size), "trunk.1": (24, 32), "policy.0": (actions.NUM_ACTIONS, 24), "value.0": (1, 24)}
    for name, shape in shapes.items():
        tensors |= {f"{name}.weight": rng.normal(size=shape) / np.sqrt(shape[1]), f"{name}.bias": rng.normal(size=shape[0])}
    return save_checkpoint(tmp_path_factory.mktemp("search") / "a.safetensors", tensors, {"reward": "win"})


def searching(spec: str, checkpoint: Path) -> Agent:
    """An agent; `ppo` stands for the small network."""
    return load(f"{spec}:{checkpoint}" if "ppo" in spec else spec)


def ask(agent: Agent, game: Game, seed: int) -> str:
    """The move of an agent that gets what everybody gets: a deal of what it cannot know."""
    rng = np.random.default_rng(seed)
    dealt = game.determinize(game.player, int(rng.integers(2**62)))
    return actions.name(agent.act(game.observation(game.player), game.mask(), rng, dealt))


def middle(n: int, decisions: int = 150, **rules: Any) -> Game:
    """A game after this many decisions of the roulette player, where there is a choice of placements."""
    game, rng, weights = Game(Rules(num_players=n, **rules), seed=n), np.random.default_rng(n), load("weights")
    while decisions > 0 or game.deciding != "open" or len(game.legal()) < 5:
        game.play(weights.act(game.observation(game.player), game.mask(), rng))
        decisions -= 1
    return game


def edges(tree: Tree) -> np.ndarray:
    """The edges of a tree."""
    return tree.edges[: tree.used[1]].copy()


def chain(rows: np.ndarray, first: int, following: str) -> Iterator[int]:
    """The numbers of rows that follow one another."""
    while first >= 0:
        yield first
        first = int(rows[first][following])


def check_tree(tree: Tree) -> None:
    """Every node belongs to one move, every edge to one node; moves are sorted, and visited at least as often as what follows."""
    nodes, edges = tree.nodes[: tree.used[0]], tree.edges
    of_nodes = [list(chain(edges, int(node["first"]), "next")) for node in nodes]
    visits = [int(edges["visits"][found].sum()) for found in of_nodes]
    children = [0]
    for found in of_nodes:
        assert (np.diff(edges["move"][found]) > 0).all()
        for row in edges[found]:
            beside = list(chain(nodes, int(row["child"]), "sibling"))
            children += beside
            assert len(set(nodes["decision"][beside])) == len(beside)
            assert sum(visits[child] for child in beside) <= row["visits"] <= row["availability"] or not row["availability"]
    assert sorted(children) == list(range(len(nodes)))
    used = [edge for found in of_nodes for edge in found]
    assert len(set(used)) == len(used) <= tree.used[1] <= len(edges)


# ----------------------------------------------------------------------------------------------------- whole games

TABLES = [
    (Rules(num_players=2), ["greedy", "mcts:12:greedy"]),
    (Rules(num_players=2, max_turns=40), ["mcts:6:ppo", "boardspace:6"]),
    (Rules(num_players=3), ["greedy", "mcts:12:ppo", "mcts:12:greedy"]),
    (Rules(num_players=3, max_turns=40, **EVERYTHING), ["mcts:3:weights", "boardspace:6", "greedy"]),
    (Rules(num_players=6, **EVERYTHING), ["greedy", "mcts:6:greedy", "mcts:6:ppo", "greedy", "mcts:6:greedy", "weights"]),
    (
        Rules(num_players=6, max_turns=60),
        ["mcts:2:weights", "boardspace:4", "mcts:6:ppo+greedy", "greedy", "mcts:3:ppo+rollouts", "mcts:6"],
    ),
]


@pytest.mark.parametrize(("rules", "specs"), TABLES)
def test_whole_games(rules: Rules, specs: list[str], checkpoint: Path) -> None:
    players = [searching(spec, checkpoint) for spec in specs]
    game = Game(rules, seed=3)
    for decision in range(20_000):
        if game.over or game.truncated:
            break
        game.play(ask(players[game.player], game, decision))
    assert game.truncated if rules.max_turns < 100 else game.over


def test_rollouts_play_on_before_the_network_judges() -> None:
    """The network alone judges what the mover sees, which no deal changes; after a rollout it sees what chance has made of it."""
    game, alone, rollouts = middle(3), set(), set()
    for seed in range(8):
        for spec, found in (("mcts:1:ppo", alone), ("mcts:1:ppo+rollouts", rollouts)):
            rng, agent = np.random.default_rng(seed), load(spec)
            seats = agent.explain(game.observation(game.player), game.mask(), rng, game)["seats"]
            assert seats is not None and sum(seats) == pytest.approx(1)
            found.add(tuple(seats))
    assert len(alone) == 1 and len(rollouts) == 8


def test_every_rule_is_searched() -> None:
    agents = [load("greedy"), load("mcts:4")]
    for seed, rules in enumerate(all_rules()):
        game = Game(rules, seed=seed)
        for decision in range(40):
            game.play(ask(agents[decision % 2], game, decision))


@pytest.mark.parametrize("spec", ["mcts:200", "mcts:60:weights", "mcts:60:ppo", "mcts:60:ppo+rollouts", "boardspace:60"])
def test_a_search_in_parts_is_the_same_search(spec: str, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, parts, found, search = middle(3), list[int](), [], searcher.search

    def searched(*arguments: Any) -> Any:
        parts.append(search(*arguments))
        return parts[-1]

    monkeypatch.setattr(searcher, "search", searched)
    agent = searching(spec, checkpoint)
    assert isinstance(agent, Searcher)
    for seconds in (0.0, 1e9):
        parts.clear()
        agent._pace = 1.0
        monkeypatch.setattr(searcher, "AT_A_TIME", seconds)
        found.append((ask(agent, game, 1), edges(agent._tree).tobytes(), sum(parts)))
        assert len(parts) == 1 if seconds else max(parts) == 1
        assert sum(parts) == 1 + root_edges(agent._tree)["visits"].sum() <= agent.budget.simulations
    assert found[0] == found[1]


@pytest.mark.parametrize("spec", ["mcts:300:greedy", "mcts:500:ppo", "boardspace:150"])
def test_a_search_ends_once_it_is_decided(spec: str, checkpoint: Path) -> None:
    """The move is that of the whole search."""
    agent, ended_early = searching(spec, checkpoint), 0
    assert isinstance(agent, Searcher)
    for seed in range(12):
        game, rng = middle(2 + seed % 3), np.random.default_rng(seed)
        move, visits = ask(agent, game, seed), root_edges(agent._tree)["visits"].sum()
        dealt = game.determinize(game.player, int(rng.integers(2**62)))
        agent._search_from(dealt, rng)
        whole = root_edges(agent._tree)["visits"].sum()
        assert whole == agent.budget.simulations - 1 and visits <= whole
        assert actions.name(most_visited(agent._tree)) == move
        ended_early += visits < whole
    assert ended_early > 2


def test_priors_found_later_are_those_found_at_once(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without memory for what was seen the network is asked at every new node, and the search is the same."""
    from euphoria_agents.players.search import tree

    game, found = middle(3), []
    for memory in (2**20, 0):
        monkeypatch.setattr(tree, "SEEN", memory)
        agent = searching("mcts:300:ppo+greedy", checkpoint)
        assert isinstance(agent, Searcher)
        ask(agent, game, 1)
        asked = edges(agent._tree)["prior"] > 0
        assert asked.all() == (memory == 0)
        found.append(edges(agent._tree)[["move", "visits", "value"]].tolist())
    assert found[0] == found[1]


class Slow:
    """A search of a thousand simulations a second, with a clock of its own."""

    def __init__(self) -> None:
        self.parts: list[int] = []
        self.now = 0.0

    def __call__(self, tree: Tree, *arguments: Any) -> int:
        made: int = arguments[-2]
        self.parts.append(made)
        self.now += made / 1000
        tree.used[BEGUN] += made
        return made

    def perf_counter(self) -> float:
        return self.now


@pytest.mark.parametrize("at_a_time", [1e9, searcher.AT_A_TIME])
def test_a_budget_in_seconds_is_kept_to(at_a_time: float, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, agent = Slow(), load("mcts:0.2s")
    assert isinstance(agent, Searcher)
    monkeypatch.setattr(searcher, "search", slow)
    monkeypatch.setattr(searcher, "time", slow)
    monkeypatch.setattr(searcher, "AT_A_TIME", at_a_time)
    agent._pace = 1000.0
    agent._search(0)
    assert 0.2 <= slow.now < 0.202, "no more at a time than there is time for"
    assert max(slow.parts) == pytest.approx(1000 * min(at_a_time, 0.2), abs=1)


@pytest.mark.parametrize("spec", ["mcts:3000000", "mcts:1000000:weights", "boardspace:1000000", "mcts:1000s"])
def test_an_interrupt_ends_a_search(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes in the third of the many parts of which a search consists, and there is no fourth."""
    game, agent, parts, search = middle(2), load(spec), list[Any](), searcher.search

    def interrupted(*arguments: Any) -> Any:
        parts.append(arguments[-1])
        if len(parts) == 3:
            _thread.interrupt_main()
        return search(*arguments)

    ask(load("mcts:1"), game, 0)  # compiles, which can be interrupted
    monkeypatch.setattr(searcher, "search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask(agent, game, 0)
    assert len(parts) == 3


def test_a_single_legal_move_is_not_searched() -> None:
    game = Game.from_dict({"rules": {"num_players": 2}, "seed": 1, "players": [{"workers": []}], "workers": {"farm": [[0, 2]]}})
    assert game.legal() == ["retrieve free"]
    agent = load("mcts:100000s")
    assert ask(agent, game, 0) == "retrieve free"


# ------------------------------------------------------------------------------------------------------- nothing hidden


@pytest.mark.parametrize("spec", ["greedy", "mcts:40:weights", "mcts:200:greedy", "mcts:200:ppo", "boardspace:40"])
def test_the_real_generator_is_never_read(spec: str, checkpoint: Path) -> None:
    game, agent = middle(3), searching(spec, checkpoint)
    other = game.clone()
    other._rows["rng"] = [[123, 456]]
    assert game != other
    moves = [agent.act(g.observation(g.player), g.mask(), np.random.default_rng(1), g) for g in (game, other)]
    assert moves[0] == moves[1]


@pytest.mark.parametrize("spec", ["greedy", "mcts:100:greedy", "boardspace:40"])
def test_games_that_look_the_same_are_played_the_same(spec: str) -> None:
    """Two games with other secrets."""
    real = middle(3)
    other = real.determinize(real.player, 77)
    assert real != other and np.array_equal(real.observation(real.player), other.observation(real.player))
    agent, seen = load(spec), (real.observation(real.player), real.mask())
    moves = [agent.act(*seen, np.random.default_rng(2), game) for game in (real, other)]
    assert moves[0] == moves[1]


def test_every_descent_has_a_deal_of_its_own() -> None:
    game = middle(3)
    mover, opponent = game.player, (game.player + 1) % 3
    agent = load("mcts:1")
    assert isinstance(agent, Searcher)
    dilemmas, own = [], []
    for seed in range(150):
        agent.act(game.observation(mover), game.mask(), np.random.default_rng(seed), game)
        row = agent._workspace.rows[0]
        dilemmas.append(int(row["dilemma"][opponent]))
        own.append(int(row["dilemma"][mover]))
    known = int(game.states[0]["dilemma"][mover])
    assert set(own) == {known}
    assert set(dilemmas) == set(range(6)) - {known} and max(np.bincount(dilemmas)) < 60


# --------------------------------------------------------------------------------------------------------------- strength


@pytest.mark.parametrize("spec", ["greedy", "mcts:200:weights", "mcts:300:greedy", "mcts:300:ppo", "boardspace:300"])
def test_finds_the_move_that_wins(spec: str, checkpoint: Path) -> None:
    game = Game.from_dict(NEARLY_WON)
    assert "place 2 nimbus_loft" in game.legal() and len(game.legal()) > 10
    agent = searching(spec, checkpoint)
    for seed in range(3):
        won = game.clone()
        won.play(ask(agent, game, seed))
        while won.deciding == "series":
            won.play(won.legal()[0])
        assert won.winner == 0


@pytest.mark.parametrize("room", [None, (20, 400, 300)])
@pytest.mark.parametrize("spec", ["mcts:500", "mcts:500:ppo", "mcts:300:ppo+greedy", "mcts:20:weights", "boardspace:60"])
def test_the_tree_is_consistent(
    spec: str, room: tuple[int, ...] | None, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when more simulations are made than there is room for."""
    from euphoria_agents.players.search import tree

    for name, size in zip(("NODES", "EDGES", "SEEN"), room or (), strict=False):
        monkeypatch.setattr(tree, name, size)
    agent, game = searching(spec, checkpoint), middle(2)
    assert isinstance(agent, Searcher)
    agent._search_from(game.determinize(game.player, 0), np.random.default_rng(0))
    check_tree(agent._tree)
    assert root_edges(agent._tree)["visits"].sum() == agent.budget.simulations - 1
    assert room is None or (agent._tree.used[:BEGUN] <= room).all()


# ---------------------------------------------------------------------------------------------------------------- the network


@pytest.mark.parametrize("n", [2, 4])
def test_the_network_says_what_its_tensors_say(n: int, checkpoint: Path) -> None:
    from euphoria_agents.network.checkpoint import read_checkpoint

    tensors = read_checkpoint(checkpoint)[1]
    game, agent = middle(n), searching("mcts:1:ppo", checkpoint)
    assert isinstance(agent, Searcher)
    agent.act(game.observation(game.player), game.mask(), np.random.default_rng(0), game)

    def through(name: str, x: np.ndarray) -> np.ndarray:
        return np.asarray(tensors[f"{name}.weight"] @ x + tensors[f"{name}.bias"])

    entries = game.observation(game.player)[tensors["features.source"]]
    x = np.clip((entries - tensors["features.offset"]) * tensors["features.scale"], -1, 1)
    for name in ("trunk.0", "trunk.1"):
        x = np.maximum(through(name, x), 0)
    logits = through("policy.0", x)[game.legal_actions()]
    chances = np.exp(logits - logits.max()) ** FLATTENED
    found = edges(agent._tree)
    assert found["move"].tolist() == game.legal_actions().tolist()
    assert found["prior"] == pytest.approx(chances / chances.sum(), abs=1e-4)
    # Of the others it sees the deal, so that only the mover's value is the same; with two players theirs follows from it.
    worth = float(np.clip((through("value.0", x)[0] * (n - 1) + 1) / n, 0, 1))
    assert agent._workspace.values[game.player] == pytest.approx(worth, abs=1e-4)
    if n == 2:
        assert agent._workspace.values[:2].sum() == pytest.approx(1)


def test_what_differs_from_the_root_is_seen_as_if_alone(checkpoint: Path) -> None:
    """Another player, other cards and another time: the sums of the first layers are the same, but for rounding."""
    plain, compared = (inference.load_network(checkpoint)[0] for _ in range(2))
    first, later = middle(3, 40), middle(3, 150)
    for game in (first, later):
        for p in range(3):
            inference.rebase(compared, first.states[0], p)
            for net in (plain, compared):
                inference.evaluate(net, game.states[0], p)
            assert compared.seen == pytest.approx(plain.seen, abs=1e-5)
            assert (compared.known.sum() < plain.known.sum()) and (game is later or not compared.known.any())


@pytest.mark.parametrize(("priors", "values"), [("ppo", "greedy"), ("weights", "ppo"), ("greedy", "weights")])
def test_priors_and_values_may_come_from_two(priors: str, values: str, checkpoint: Path) -> None:
    game, found, worth = middle(3), [], []
    for evaluator in (f"{priors}+{values}", priors, values):
        agent = searching(f"mcts:1:{evaluator}", checkpoint)
        assert isinstance(agent, Searcher)
        agent.act(game.observation(game.player), game.mask(), np.random.default_rng(0), game)
        found.append(edges(agent._tree)["prior"].tolist())
        worth.append(agent._workspace.values[:3].tolist())
    assert found[0] == found[1] and worth[0] == worth[2] and worth[1] != worth[2]


@pytest.mark.parametrize("reward", REWARD_NAMES)
def test_values_of_every_reward_are_chances(reward: str, checkpoint: Path) -> None:
    from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint

    path = save_checkpoint(checkpoint.with_name(f"{reward}.safetensors"), read_checkpoint(checkpoint)[1], {"reward": reward})
    agent, game = load(f"mcts:50:ppo:{path}"), middle(3)
    assert isinstance(agent, Searcher) and ask(agent, game, 0) in game.legal()
    assert ((agent._workspace.values[:3] >= 0) & (agent._workspace.values[:3] <= 1)).all()


# ------------------------------------------------------------------------------------------------------------------ bad input


FORMS = r"allowed are random, .*greedy\[:SAMPLES\], mcts:BUDGET\[:EVALUATOR\[:PATH\]\], boardspace\[:BUDGET\]"
BUDGETS = r"number of simulations such as 200 or a time such as 0\.5s, not"
DEALS = "the number of deals is one from 1 to 1000, not"
EVALUATORS = r"is weights, greedy, ppo, ppo:PATH or two as in ppo\+greedy or ppo\+rollouts, not"
WRONG = {
    FORMS: ("mcts", "mcts:", "greedy:", "boardspace:"),
    BUDGETS: [f"mcts:{b}" for b in ("0", "-3", "1.5", "0s", "s", "1e3", "inf", "nans", "0.5", "9999999s", "200*2", "٣")],
    DEALS: [f"greedy:{samples}" for samples in ("0", "-1", "1001", "2.0", "x", "٣")],
    EVALUATORS: [
        f"mcts:10:{one}"
        for one in ("", "random", "greedy:", "weights:3", "ppo:", "ppo+", "+ppo", "ppo+random", "greedy+weights:3", "ppo+ppo+ppo")
        + ("rollouts", "rollouts+ppo")
    ],
}


@pytest.mark.parametrize(("message", "spec"), [(message, spec) for message, specs in WRONG.items() for spec in specs])
def test_specs_that_are_none(message: str, spec: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(spec)


def test_greedy_deals_as_often_as_it_is_told() -> None:
    game, before, values = middle(3), middle(3).states.tobytes(), np.full((NUM_ACTIONS, MAX_PLAYERS), -1.0)
    for spec, deals in (("greedy", 9), ("greedy:1", 1), ("greedy:3", 3)):
        agent = load(spec)
        assert isinstance(agent, Greedy)
        n = look_ahead(game.states, agent.samples, 7, empty_tape(), np.empty(NUM_ACTIONS, np.int64), values)
        assert n == len(game.legal_actions()) and values[:n, :3].sum(1) == pytest.approx(deals)
        assert agent.act(game.observation(game.player), game.mask(), np.random.default_rng(0), game) in game.legal_actions()
    assert game.states.tobytes() == before and (values[:, 3:] == -1).all()


def test_checkpoints_that_cannot_be_searched(checkpoint: Path, tmp_path: Path) -> None:
    from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint

    with pytest.raises(ValueError, match="cannot be read"):
        load(f"mcts:10:ppo:{tmp_path / 'missing'}")
    path = save_checkpoint(tmp_path / "a.safetensors", read_checkpoint(checkpoint)[1], {})
    with pytest.raises(ValueError, match="for which reward"):
        load(f"mcts:10:ppo:{path}")
    deep = SHIPPED.with_name("partner-rank.safetensors")
    with pytest.raises(ValueError, match="a search needs one layer of policy and of value"):
        load(f"mcts:10:ppo:{deep}")


def test_searchers_need_a_game() -> None:
    game = middle(2)
    over = Game.from_dict(NEARLY_WON)
    for move in ("place 2 nimbus_loft", "pay gold", "pay gold", "pay clay"):
        if not over.over and move in over.legal():
            over.play(move)
    assert over.over
    for spec in ("greedy", "mcts:3", "boardspace:3"):
        for given in (None, over):
            with pytest.raises(ValueError, match="needs a game that has not ended"):
                load(spec).act(game.observation(0), game.mask(), np.random.default_rng(0), given)
            with pytest.raises(ValueError, match="needs a game that has not ended"):
                load(spec).explain(game.observation(0), game.mask(), np.random.default_rng(0), given)


# --------------------------------------------------------------------------------------------------------------- plain Python

SEARCH = """
import json, sys
from tests.test_search import trees
print(json.dumps(trees(sys.argv[1])))
"""


def trees(checkpoint: str) -> list[Any]:
    """The results of some short searches, to the fifth digit: of each move of the tree the visits and the value."""
    found: list[Any] = []
    for n, spec in ((2, "mcts:30:greedy"), (3, f"mcts:20:ppo:{checkpoint}"), (2, "mcts:3:weights"), (3, "boardspace:3")):
        agent, game = load(spec), Game(Rules(num_players=n, max_turns=30), seed=4)
        for move in ("choose", "choose") * n:
            game.play(next(name for name in game.legal() if name.startswith(move)))
        assert isinstance(agent, Searcher)
        found.append(ask(agent, game, 1))
        found.append([[int(e["move"]), int(e["visits"]), round(float(e["value"]), 5)] for e in edges(agent._tree)])
    found.append(ask(load("greedy"), game, 1))
    return found


def test_plain_python_searches_the_same(checkpoint: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, str(checkpoint)],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == trees(str(checkpoint))


def test_a_reward_without_a_chance_to_win_is_an_error() -> None:
    game = Game(Rules(num_players=2), seed=1).states[0]
    assert [inference.chance_to_win(game, 0, 0.0, reward) for reward in range(len(REWARD_NAMES))] == [0.5] * len(REWARD_NAMES)
    with pytest.raises(ValueError, match="no such reward"):
        inference.chance_to_win(game, 0, 0.0, len(REWARD_NAMES))
