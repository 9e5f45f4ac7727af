"""Agents with a memory: what they get is of one game and seat, from its first question to its last, wherever they play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load, play_match
from euphoria_agents.__main__ import main
from euphoria_agents.agent_process import AgentProcess
from euphoria_agents.play import Agents, Seat, Session
from euphoria_env import Game, Rules
from euphoria_env.agent_protocol import query
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from euphoria_env.memory import Ids, memory_of
from tests.tools.memory import Forgetful, Witness

SMALL: dict[str, Any] = {"num_players": 2, "stars_to_win": 2, "max_turns": 60}
RULES = Rules(**SMALL)
SPEC = "tests.tools.memory:Witness"


def check_ended(agent: Witness, games: int) -> None:
    assert agent.asked > 10 * games and not agent.open and len(set(agent.ended)) == len(agent.ended) >= games


@pytest.mark.parametrize("how", ["", "batch"])
def test_matches(how: str) -> None:
    agent = Witness(how)
    result = play_match([agent, load("random")], 12, RULES, seed=1)
    check_ended(agent, 12)
    assert result.played == play_match([Forgetful(how), load("random")], 12, RULES, seed=1).played, "a memory changes no game"
    again = Witness(how)
    play_match([again, load("random")], 12, RULES, seed=1)
    assert again.ended == agent.ended, "equal seeds give equal numbers"


def test_matches_in_processes_with_both_seats() -> None:
    assert play_match([SPEC, f"{SPEC}:batch"], 6, RULES, seed=2).games == 6
    assert play_match([SPEC] * 3, 3, Rules(num_players=3, stars_to_win=1, max_turns=60), seed=2).games == 3


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`Witness` fails in its process, and with it the command, if it is given anything wrong."""
    rules = "--players 2 --stars-to-win 2 --max-turns 60 --processes 1 --seed 1"
    main(f"evaluate --agent {SPEC}:batch --against random --games 8 {rules}".split())
    main(f"collect --agents {SPEC} random --games 6 {rules} --out {tmp_path}/games".replace("--processes 1", "").split())
    assert "AgentFailed" not in capsys.readouterr().err


@pytest.mark.parametrize("opponents", [lambda: Witness(), lambda: {Witness("batch"): 1, "weights": 1}])
def test_the_environment_for_one(opponents: Any) -> None:
    env, rng = EuphoriaEnv(opponents=opponents(), events=5, **{**SMALL, "num_players": 3}), np.random.default_rng(1)
    for seed in (1, None, 7, None):
        seen, info = env.reset(seed=seed)
        ended = False
        while not ended and rng.random() > 0.01:  # some games are given up
            assert seen["events"].shape == (5, 4)
            seen, _, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
            ended = terminated or truncated
    env.reset(seed=1)
    (agent, *_) = [one for one in env._line_up.agents if isinstance(one, Witness)]
    assert len(agent.ended) >= 1 and agent.asked > 10


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_many_environments(mode: str) -> None:
    def play(opponent: Any) -> list[Any]:
        games, rng, seen = (
            EuphoriaVectorEnv(4, opponents=[opponent], events=3, autoreset_mode=mode, **SMALL),
            np.random.default_rng(1),
            [],
        )
        observation, infos = games.reset(seed=1)
        for _ in range(150):
            moves = [rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in infos["action_mask"]]
            observation, reward, terminated, truncated, infos = games.step(np.array(moves))
            seen += [observation["observation"].tobytes(), observation["events"].tobytes(), reward.tolist()]
            if mode == "Disabled" and (terminated | truncated).any():
                observation, infos = games.reset(options={"reset_mask": terminated | truncated})
        games.reset(seed=2)
        return seen

    agent = Witness("batch")
    assert play(agent) == play(Forgetful("batch")), "the learner sees the same, with as many events as it asked for"
    assert len(agent.ended) > 4 and agent.asked > 150


def test_an_opponent_that_is_set_later_gets_its_events_after_a_reset() -> None:
    games = EuphoriaVectorEnv(2, opponents="random", **SMALL)
    _, infos = games.reset(seed=1)
    games.set_opponents(Witness())
    with pytest.raises(ValueError, match="needs the last 1024 events, but these games keep 0: call reset"):
        for _ in range(300):
            infos = games.step(infos["action_mask"].argmax(axis=1))[4]
    games.reset(seed=1)


def test_opponents_in_training(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from euphoria_agents.network.features import make_features
    from euphoria_agents.training import rollout
    from euphoria_agents.training.network import Network

    torch.manual_seed(0)
    monkeypatch.setattr(rollout, "ROLLOUT_STEPS", 300)
    network, agent = Network(make_features(), (8,)), Witness("batch")
    actor = rollout.Actor([(6, RULES)], "win", 7, {"witness": agent}, network.first.rows)
    actor.seat({}, {"witness": 1.0})
    actor.begin_games()
    for _ in range(2):
        actor.begin(network.player())
        actor.play()
        actor.collected()
    copies = actor._copies["witness"][:2]
    assert all(one.asked > 100 and len(one.ended) > 2 and len(one.open) <= 6 for one in copies)


def test_a_game_at_a_table() -> None:
    agents = Agents(allowed=[SPEC])
    try:
        session = Session.of(Game(RULES, seed=3), [Seat("Ann", SPEC), Seat("Bob", "random")], agents=agents)
        while think := session.thinker():
            session.play(session.player, think())
            if session.decisions == 30:  # a saved game goes on with the same number
                session = Session.from_dict(session.to_dict(), agents)
        with agents.borrowed(SPEC, 0) as agent:
            assert isinstance(agent, AgentProcess) and agent.counts()["ended"] == 1 and agent.counts()["open"] == 0
    finally:
        agents.close()


def test_numbers_begin_and_end_once() -> None:
    ids, agent, other = Ids(b"secret"), Witness(), Witness()
    first = ids.of(agent, [("a", 0), ("b", 1), ("a", 0)])
    assert first[0] == first[2] != first[1] and first.dtype == np.int64 and set(agent.open) == {*first.tolist()}
    assert ids.of(other, [("a", 1)])[0] not in first and Ids(b"other").of(Witness(), [("a", 0)])[0] != first[0]
    for one in (agent, other):
        one.open = dict.fromkeys(one.open, 1)
    ids.end(["a", "never begun"])
    assert agent.ended == [first[0]] and [*agent.open] == [first[1]] and ids.games == ["b"]


def test_what_is_missing_or_impossible_is_said() -> None:
    game, rng = Game(RULES, seed=1), np.random.default_rng(1)
    given = game.observation(game.player)[None], game.mask()[None], rng, lambda _: game
    with pytest.raises(ValueError, match=r"the agent tests.tools.memory.Witness needs events, which are not known here"):
        query(Witness(), *given)
    agent = Witness()
    agent.needs_events = -1
    with pytest.raises(ValueError, match=r"needs_events of the agent tests.tools.memory.Witness: events must be"):
        query(agent, *given, memory_of(game, "", Ids()))
    with pytest.raises(ValueError, match="needs_events"):
        EuphoriaEnv(opponents=agent, **SMALL)
    with pytest.raises(ValueError, match="needs_events"):
        AgentProcess(f"{SPEC}:wrong")


def test_events_of_a_game_are_those_of_its_environment() -> None:
    game = Game(RULES, seed=5)
    for _ in range(40):
        game.play(game.legal()[-1])
    whole = game.last_events(1, 1024)
    assert np.array_equal(game.last_events(1, 7), whole[-7:]) and game.last_events(0, 0).shape == (0, 4)
    kinds = [event.kind for event in game.events_for(1)]
    assert whole[-len(kinds) :, 0].tolist() == kinds and not whole[: -len(kinds)].any()
