"""The explanations of agents: of the legal moves, from what the seat may know, and in accord with `act`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import Agent, load
from euphoria_agents.agent import Explanation, explained
from euphoria_agents.network.checkpoint import read_checkpoint, save_checkpoint, without_win_probs
from euphoria_agents.players.ppo import PPO, SHIPPED
from euphoria_agents.players.search.searcher import Searcher
from euphoria_env import Game, Rules

SPECS = ["random", "weights", "greedy:2", "ppo", "mcts:30:greedy", "mcts:25:ppo", "mcts:6:weights", "boardspace:12"]
EVERYTHING = dict.fromkeys(("trading", "recruit_draft", "market_draft", "track_draft", "doubles_cost_morale"), True)
RULES = [Rules(num_players=n, **(EVERYTHING if n % 2 else {})) for n in range(2, 7)]


def decisions(rules: Rules, number: int = 8) -> Iterator[Game]:
    """Some decisions of a game, of every phase of it."""
    rng, weights, game = np.random.default_rng(rules.num_players), load("weights"), Game(rules, seed=rules.num_players)
    for _ in range(number):
        yield game
        for _ in range(int(rng.integers(1, 40))):
            if game.over:
                return
            game.play(weights.act(game.observation(game.player), game.mask(), rng))


def said(agent: Any, game: Game, seed: int = 0, deal: int = 3) -> Explanation:
    """An agent's explanation for the player who decides, from what every agent gets."""
    seat = game.player
    return explained(agent, game.observation(seat), game.mask(), np.random.default_rng(seed), game.determinize(seat, deal))


def column(explanation: Explanation, name: str) -> list[Any]:
    return [move[name] for move in explanation["moves"]]  # type: ignore[literal-required]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: str(rules.num_players))
def test_what_is_said_of_random_decisions(spec: str, rules: Rules) -> None:
    agent = load(spec)
    for game in decisions(rules):
        explanation, legal = said(agent, game), game.legal_actions().tolist()
        assert column(explanation, "action") == legal
        assert {*explanation} == {"moves", "seats"}
        assert all(list(move) == ["action", "prior", "visits", "value"] for move in explanation["moves"])
        assert json.loads(json.dumps(explanation)) == explanation, "numbers are plain ones"
        if not spec.startswith("greedy"):
            assert sum(column(explanation, "prior")) == pytest.approx(1) and min(column(explanation, "prior")) >= 0
        values = [value for value in column(explanation, "value") if value is not None]
        assert all(0 <= value <= 1 for value in values)
        if isinstance(agent, Searcher):
            visits = column(explanation, "visits")
            assert sum(visits) == agent.budget.simulations - 1, "the first judges the position itself"
            assert [value is None for value in column(explanation, "value")] == [number == 0 for number in visits]
        else:
            assert set(column(explanation, "visits")) == {None}
            assert len(values) == (len(legal) if spec.startswith("greedy") else 0)
        if spec in ("random", "weights"):
            assert explanation["seats"] is None
        else:
            assert len(explanation["seats"] or []) == rules.num_players
            assert sum(explanation["seats"] or []) == pytest.approx(1) and min(explanation["seats"] or []) >= 0


@pytest.mark.parametrize("spec", SPECS)
def test_explaining_changes_nothing(spec: str) -> None:
    """Neither the generator, nor the game, nor what is then played: the same with a fresh agent that explains nothing."""
    talking, silent = load(spec), load(spec)
    for rules in RULES:
        for game in decisions(rules, 4):
            seat, seen, mask = game.player, game.observation(game.player), game.mask()
            dealt, rngs = game.determinize(seat, 3), [np.random.default_rng(7) for _ in range(2)]
            first = explained(talking, seen, mask, rngs[0], dealt)
            assert explained(talking, seen, mask, rngs[0], dealt) == first
            assert rngs[0].bit_generator.state == rngs[1].bit_generator.state and dealt == game.determinize(seat, 3)
            moves = [agent.act(seen, mask, rng, dealt) for agent, rng in zip((talking, silent), rngs, strict=True)]
            assert moves[0] == moves[1] and rngs[0].bit_generator.state == rngs[1].bit_generator.state
            assert explained(silent, seen, mask, np.random.default_rng(7), dealt) == first


@pytest.mark.parametrize("spec", ["mcts:30:greedy", "mcts:25:ppo", "mcts:1", "mcts:40:ppo+greedy"])
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: str(rules.num_players))
def test_the_move_followed_most_is_played(spec: str, rules: Rules) -> None:
    agent = load(spec)
    for game in decisions(rules):
        explanation = said(agent, game, seed=5)
        seen, dealt = game.observation(game.player), game.determinize(game.player, 3)
        most = max(explanation["moves"], key=lambda move: (move["visits"] or 0, move["prior"] or 0.0, move["value"] or 0.0))
        assert most["action"] == agent.act(seen, game.mask(), np.random.default_rng(5), dealt)


def test_greedy_plays_its_best_value_and_weights_and_ppo_draw_by_their_priors() -> None:
    game = next(game for game in decisions(RULES[2]) if len(game.legal()) > 5)
    seen, mask, dealt = game.observation(game.player), game.mask(), game.determinize(game.player, 3)
    explanation = said(load("greedy"), game, seed=5)
    best = max(explanation["moves"], key=lambda move: move["value"] or 0.0)
    assert best["action"] == load("greedy").act(seen, mask, np.random.default_rng(5), dealt)
    assert (explanation["seats"] or [])[game.player] == best["value"]
    for spec in ("random", "weights", "ppo"):
        rows = 4000
        drawn = load(spec).act_batch(np.tile(seen, (rows, 1)), np.tile(mask, (rows, 1)), np.random.default_rng(0))
        explanation = said(load(spec), game)
        shares = np.array([(drawn == action).mean() for action in column(explanation, "action")])
        assert shares == pytest.approx(np.array(column(explanation, "prior")), abs=0.04), spec


@pytest.mark.parametrize("spec", SPECS)
def test_what_the_seat_cannot_know_changes_nothing(spec: str) -> None:
    """Two games with other secrets, each dealt again for the seat with the same seed: the same to the last bit."""
    agent = load(spec)
    for rules in RULES:
        for game in decisions(rules, 5):
            other = game.determinize(game.player, 77)
            assert other != game and said(agent, other, seed=1) == said(agent, game, seed=1)


# ------------------------------------------------------------------------------------------------------ networks of all kinds


def test_the_seats_of_a_network(tmp_path: Path) -> None:
    """The seats' chances come from the outlook; there are none without it, nor without a game, which the head needs too."""
    header, tensors = read_checkpoint(SHIPPED)
    silent = save_checkpoint(tmp_path / "silent.safetensors", without_win_probs(tensors), header["training"])
    shipped, knows_nothing, same = load("ppo"), load(f"ppo:{silent}"), PPO.of(tensors)
    headless = PPO.of({name: one for name, one in tensors.items() if not name.startswith("afterstates.")})
    for rules in RULES:
        for game in decisions(rules, 4):
            explanation = said(shipped, game)
            assert said(knows_nothing, game) == {"moves": explanation["moves"], "seats": None}
            asked = game.observation(game.player), game.mask(), np.random.default_rng(0)
            assert shipped.explain(*asked) == headless.explain(*asked) == {"moves": said(headless, game)["moves"], "seats": None}
            assert said(same, game) == explanation


def test_the_outlook_is_of_seats_and_not_of_who_is_asked() -> None:
    """A player who has all but won is thought likely to win, no matter who must decide."""
    agents = [load(spec) for spec in ("ppo", "greedy", "mcts:50:ppo", "boardspace:50")]
    rich = {"stars": 2, "goods": {"gold": 5, "stone": 5, "clay": 5, "energy": 5}, "workers": [1, 2, 3, 6]}
    for leader in range(3):
        for player in range(3):
            players = [rich if seat == leader else {"workers": [1, 2]} for seat in range(3)]
            territories = {f"{one}_territory": [leader] * 2 for one in ("euphorian", "subterran", "wastelander", "icarite")}
            game = Game.from_dict(
                {"rules": {"num_players": 3}, "seed": 1, "player": player, "players": players, "territories": territories}
            )
            for agent in agents:
                assert int(np.argmax(said(agent, game)["seats"] or [])) == leader, agent


# -------------------------------------------------------------------------------------------------------- anybody's own agents


class Silent:
    """An agent from before there was `explain`."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        return int(mask.argmax())


class Plain(Agent):
    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        return int(mask.argmax())


class Saying(Silent):
    def __init__(self, what: Any) -> None:
        self.what = what

    def explain(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> Any:
        return self.what(np.flatnonzero(mask).tolist())


def test_agents_that_do_not_explain_or_leave_something_out() -> None:
    game = Game(Rules(num_players=2), seed=1)
    nothing = {"prior": None, "visits": None, "value": None}
    for agent in (Silent(), Plain()):
        assert said(agent, game) == {"moves": [{"action": a, **nothing} for a in game.legal_actions().tolist()], "seats": None}
    valued = said(Saying(lambda legal: {"moves": [{"action": a, "value": 0.5} for a in legal]}), game)
    assert set(column(valued, "value")) == {0.5} and set(column(valued, "visits")) == {None} and valued["seats"] is None


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda legal: None, "must be an object, not None"),
        (lambda legal: {"moves": [], "seats": None}, "moves must"),
        (lambda legal: {"moves": [{"action": a} for a in reversed(legal)]}, "moves must"),
        (lambda legal: {"moves": [{"action": a, "prior": 2.0} for a in legal]}, r"moves\[0\].prior must"),
        (lambda legal: {"moves": [{"action": a, "value": "x"} for a in legal]}, r"moves\[0\].value must"),
        (lambda legal: {"moves": [{"action": a, "visits": 0.5} for a in legal]}, r"moves\[0\].visits must"),
        (lambda legal: {"moves": [{"action": a} for a in legal], "seats": [0.5, 0.6]}, "seats must"),
        (lambda legal: {"moves": [{"action": a} for a in legal], "seats": [1.0]}, "seats must"),
        (lambda legal: {"moves": [{"action": a} for a in legal], "more": 1}, "more: no such key"),
    ],
)
def test_what_is_no_explanation_is_refused(what: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"what the agent tests\.test_explain\.Saying explains.*{message}"):
        said(Saying(what), Game(Rules(num_players=2), seed=1))


def test_who_changes_the_mask_is_judged_by_the_right_one() -> None:
    class Tampering(Plain):
        def explain(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> Any:
            observation[:], mask[:] = 0, 1
            return super().explain(observation, mask, rng, game)

    game = Game(Rules(num_players=2), seed=1)
    with pytest.raises(ValueError, match="must be the legal moves"):
        explained(Tampering(), game.observation(game.player), game.mask(), np.random.default_rng(0))
