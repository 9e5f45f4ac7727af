"""No agent has two looks at one deal: spies guess the other seat's card no more often than by chance, and find no seed."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load, play_match
from euphoria_agents.agent_process import AgentProcess
from euphoria_agents.data.collecting import PartGames, lineups, parts_of
from euphoria_agents.matches import work
from euphoria_agents.matches.players import MOST_IDLE, seed_for
from euphoria_agents.matches.tournament import comparison, schedule
from euphoria_agents.matches.work import PLAYERS, choose_seed, keep_seed, play_unit
from euphoria_agents.play import Agents
from euphoria_agents.players.weights import Weights
from euphoria_agents.record_steps import Replayed
from euphoria_env import Game, Rules
from euphoria_env.agent_protocol import keeps_games_apart, separated
from euphoria_env.derived_seeds import derived_generator
from euphoria_env.envs.opponents import Opponents
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv
from tests.tools.spies import CARDS, Spy, card, guesses, name_of

RULES = Rules(num_players=2, max_turns=1)
SPY = "tests.tools.spies:Spy"
MEMORIES = ("object", "process", "file")


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    with work.players_ended():
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of the guesses."""
    return tmp_path / "guesses"


def other_cards(records: list[str]) -> dict[str, int]:
    """By the name of a game and a seat, the card of the other seat."""
    found = {}
    for replayed in map(Replayed.from_record, records):
        for game in map(replayed.at, range(4)):  # the choices before the first turn
            found[name_of(game.observation(game.player))] = card(game.observation(1 - game.player))
    return found


def check_chance(path: Path, records: list[str]) -> None:
    """Of five possible cards a guess is the right one in a fifth of the games; 33 of 100 are three standard deviations more."""
    cards, made = other_cards(records), guesses(path)
    right = sum(cards[name] == guess for name, guess in made.items())
    assert right <= len(made) / 5 + 3 * (len(made) * 0.16) ** 0.5, f"{right} of {len(made)}"


def test_a_spy_with_one_memory_for_both_seats_names_every_card(path: Path) -> None:
    spy, games = Spy(f"object:{path}"), [Game(RULES, seed) for seed in range(20)]
    for _ in range(2):  # both seats
        for game in games:
            spy.act(game.observation(game.player), game.mask(), np.random.default_rng(0))
            for _ in range(2):
                game.play(int(game.mask().argmax()))
    assert guesses(path).items() <= other_cards([game.to_record() for game in games]).items() and len(guesses(path)) == 40


@pytest.mark.parametrize("how", MEMORIES)
@pytest.mark.parametrize("others", [["weights"], []], ids=["weights", "itself"])
def test_in_matches_from_specs(how: str, others: list[str], path: Path) -> None:
    spec = f"{SPY}:{how}:{path}"
    result = play_match([spec, *(others or [spec])], 100, RULES, records=True)
    assert set(Counter(game.seed for game in result.played).values()) == {2}, "deals are paired"
    check_chance(path, result.records)


@pytest.mark.parametrize("how", ["object", "file"])
@pytest.mark.parametrize("itself", [False, True])
def test_in_matches_of_objects(how: str, itself: bool, path: Path) -> None:
    spy = Spy(f"{how}:{path}")
    result = play_match([spy, spy if itself else "weights"], 100, RULES, records=True)
    assert len({game.seed for game in result.played}) == 100, "no deal comes twice"
    if not (itself and how == "file"):  # two objects can talk in this process, and do not get their games in one order
        check_chance(path, result.records)


@pytest.mark.parametrize("how", ["object", "process"])
@pytest.mark.parametrize("limit", [None, 10.0], ids=["tournament", "judging"])
def test_in_units_of_work(how: str, limit: float | None, path: Path) -> None:
    spec, records = f"{SPY}:{how}:{path}", list[str]()
    units = [unit for one in ("weights", "random") for unit in comparison(spec, one, RULES, 60, 5, 16)]
    for unit in [*units, units[0]]:  # the last one again
        records += play_unit(unit, True, limit).records
    check_chance(path, records)


def test_no_process_gets_a_deal_twice_and_few_are_kept(path: Path) -> None:
    spec = f"{SPY}:object:{path}"
    one, other, again = (PLAYERS.cast((spec, "weights"), deals) for deals in ("some", "others", "some"))
    seats = [{id(cast[rotation][0]) for rotation in range(2)} for cast in (one, other, again)]
    assert seats[0] == seats[1] and not seats[0] & seats[2] and [len(some) for some in seats] == [2, 2, 2]
    assert all(row[1] is PLAYERS.player("weights") for cast in (one, other) for row in cast)
    for _ in range(12):  # the same deals
        cast = PLAYERS.cast((spec, spec), "deals")
        assert len({id(agent) for row in cast for agent in row}) == 4
        assert sum("deals" in one.deals for one in PLAYERS._processes) <= MOST_IDLE >= len(PLAYERS._processes)


@pytest.mark.parametrize("how", MEMORIES)
def test_in_data_sets(how: str, path: Path) -> None:
    spec = f"{SPY}:{how}:{path}"
    (part,) = parts_of([spec], RULES, 100, 3, "win")
    games = PartGames(part, 5, lineups(part, np.random.default_rng(1)), np.random.default_rng(2))
    dealt = [games.batch.game(i) for i in range(100)]
    own = {id(agent): np.random.default_rng(k) for k, agent in enumerate(games._agents)}
    first = [game.observation(seat) for game in dealt for seat in range(2)]
    while games.play_round(lambda agent: own[id(agent)]):
        pass
    cards = {name_of(first[2 * k]): card(first[2 * k + 1]) for k in range(100)}
    made = {name: guess for name, guess in guesses(path).items() if name in cards}
    assert sum(cards[name] == guess for name, guess in made.items()) <= 33 and len(games._agents) == 2


# ------------------------------------------------------------------------------------------------- opponents, and who is one


class Stranger:
    """Remembers everything, and says that it does not."""

    keeps_games_apart = True
    __module__ = "euphoria_agents.players.weights"

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> int:
        return int(mask.argmax())


class Stubborn(Stranger):
    """Is its own copy."""

    def __deepcopy__(self, _: Any) -> Stubborn:
        return self


class MyWeights(Weights):
    """Is no agent of this project."""


def test_who_keeps_games_apart() -> None:
    ours = [load(spec) for spec in ("random", "weights", "greedy", "mcts:5", "boardspace:5", "ppo")]
    assert all(map(keeps_games_apart, ours))
    fake = type("Weights", (Stranger,), {"__module__": "euphoria_agents.players.weights"})
    assert not any(map(keeps_games_apart, (Stranger(), Stubborn(), MyWeights(), fake(), Spy("object:"), load("llm:m"))))
    for agent in [load(spec) for spec in ("random", "weights", "greedy", "ppo")]:
        for name in ("act", "act_batch", "act_games"):
            changed = copy.copy(agent)
            setattr(changed, name, agent.act)
            assert not keeps_games_apart(changed) and keeps_games_apart(agent)
    with AgentProcess("greedy:1") as one, AgentProcess(f"{__name__}:Stranger") as other:
        assert keeps_games_apart(one) and not keeps_games_apart(other)
        with pytest.raises(ValueError, match="has several seats but cannot be copied: give an object for each, or its spec"):
            separated([other, other])
    with pytest.raises(ValueError, match="has several seats but cannot be copied: give an object"):
        play_match([Stubborn(), *[Stubborn()] * 2][1:], 2, RULES)


@pytest.mark.parametrize(
    "given",
    [
        Stranger(),
        f"{__name__}:Stranger",
        [Stranger()] * 3,
        [f"{__name__}:Stranger"] * 3,
        {Stranger(): 1.0, "weights": 2.0},
        [(f"{__name__}:Stranger", 1), (f"{__name__}:Stranger", 2)],
    ],
    ids=["an object", "its spec", "one object thrice", "its spec thrice", "a mixture", "pairs"],
)
def test_opponents_have_an_object_for_each_seat(given: Any) -> None:
    opponents, rng = Opponents(200, 4, given), np.random.default_rng(0)
    opponents.seat(np.arange(200), np.arange(200) % 4, np.full(200, 4), rng.random)
    for game in range(200):
        others = [agent for seat, agent in enumerate(opponents.at(game)) if seat != game % 4]
        strangers = [id(agent) for agent in others if not keeps_games_apart(agent)]
        assert len(set(strangers)) == len(strangers)
    for deciding, games in opponents.deciding(np.arange(200), (np.arange(200) + 1) % 4):
        assert keeps_games_apart(deciding) or len(set(games)) == len(games)
    ours = Opponents(5, 4, "weights")
    ours.seat(np.arange(5), np.zeros(5, np.int64), np.full(5, 4), rng.random)
    assert len(ours.agents) == 1, "agents of this project answer in one batch"


class Watching(Stranger):
    """Notes on which seats it sits, as far as it knows them."""

    def __init__(self) -> None:
        self.games: Counter[bytes] = Counter()

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        self.games.update(observation[CARDS].tobytes() for observation in observations)
        return masks.argmax(axis=1)


def test_in_training_each_seat_has_a_copy() -> None:
    torch = pytest.importorskip("torch")
    from euphoria_agents.network.features import make_features
    from euphoria_agents.training.network import Network
    from euphoria_agents.training.rollout import Actor

    torch.manual_seed(0)
    network, agent = Network(make_features(), (8,)), Watching()
    actor = Actor(
        [(8, Rules(num_players=4, max_turns=3))], "win", 7, {"mine": agent, "random": load("random")}, network.first.rows
    )
    actor.seat({}, {"mine": 1.0})
    actor.begin_games()
    actor.begin(network.player())
    actor.play()
    copies = actor._copies["mine"]
    assert copies[0] is agent and len(set(map(id, copies))) == len(copies) and "random" not in actor._copies
    assert sum(bool(one.games) for one in copies) == 4, "each seat was played by a copy of its own"


def test_at_tables_each_seat_has_a_process() -> None:
    spec = f"{__name__}:Stranger"
    agents = Agents([spec])
    try:
        with agents.borrowed(spec, 0) as one, agents.borrowed(spec, 1) as other, agents.borrowed("weights", 0) as ours:
            assert one is not other
        with agents.borrowed(spec, 0) as again, agents.borrowed("weights", 3) as same:
            assert again is one and same is ours
    finally:
        agents.close()


# ------------------------------------------------------------------------------------------------------------------ seeds


class Thief:
    """Keeps what it gets, and asks for the story."""

    needs_game = needs_story = True

    def __init__(self) -> None:
        self.got: list[tuple[np.ndarray, Any, Any, Any]] = []

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any) -> int:
        self.got.append((observation.copy(), rng.bit_generator.state["state"], game.states["rng"].tolist(), game.story))
        return int(mask.argmax())


class ThiefInEnvironments(Thief):
    """A thief to which nobody can tell a story."""

    needs_story = False


def play_thief(seed: int | None) -> tuple[list[Any], list[Any]]:
    thief = Thief()
    play_match([thief, "weights"], 4, RULES, seed)
    return thief.got, [seed]


def in_environment(make: Callable[..., Any], seed: int) -> list[Any]:
    thief = ThiefInEnvironments()
    env = make(opponents=thief, num_players=2, seat=1, max_turns=4)
    env.reset(seed=seed)
    return thief.got


SEED = 41  # small: it would be found at once


def test_a_small_seed_is_not_found_by_trying(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thief gets the same with another key, so each guess of a seed costs a key, not a hash."""
    got, _ = play_thief(SEED)
    first = {state["state"] for _, state, _, _ in got}, {tuple(map(tuple, game)) for _, _, game, _ in got}
    names = {story.game for *_, story in got}
    hands = {name_of(observation) for observation, *_ in got}
    for guess in range(100):
        deals, choices = np.random.SeedSequence(guess).spawn(2)
        rng = np.random.default_rng(choices)
        for _ in range(6):
            assert derived_generator(rng).bit_generator.state["state"]["state"] not in first[0]
        naming = np.random.SeedSequence(choices.entropy, spawn_key=(*choices.spawn_key, 0)).generate_state(8, np.uint64).tolist()
        assert not names & {f"{name:016x}-{seat}" for name in naming for seat in range(2)}
        for seed in (deals.generate_state(4, np.uint64) >> 1).tolist():
            assert name_of(Game(RULES, seed).observation(0)) not in hands
    assert got[0][1] == play_thief(SEED)[0][0][1], "equal seeds give equal games"


@pytest.mark.parametrize("make", [EuphoriaEnv, partial(EuphoriaVectorEnv, 1)])
def test_nor_is_that_of_an_environment(make: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    once, again = in_environment(make, SEED), in_environment(make, SEED)
    assert [one[1:3] for one in once] == [one[1:3] for one in again] and once
    monkeypatch.setattr("euphoria_env.envs.opponents.stretched", lambda seed: b"another key")
    other = in_environment(make, SEED)
    assert np.array_equal(other[0][0], once[0][0]), "the same deal"
    assert other[0][1] != once[0][1] and other[0][2] != once[0][2]


def test_seeds_are_random_unless_given_and_large_ones_work(tmp_path: Path) -> None:
    line_up = [load("random"), load("weights")]
    one, other = play_match(line_up, 2, RULES), play_match(line_up, 2, RULES)
    assert isinstance(one.seed, int) and one.seed != other.seed and max(one.seed, other.seed) > 2**100
    assert play_match(line_up, 2, RULES, one.seed).played == one.played != other.played
    assert play_match(line_up, 2, RULES, (3, 4)).seed == (3, 4)
    assert choose_seed(7, tmp_path) == 7 and choose_seed(None, None) > 2**90
    keep_seed(tmp_path, one.seed)
    keep_seed(tmp_path, 5)
    assert choose_seed(None, tmp_path) == one.seed
    (tmp_path / "_seed.txt").write_text("seven")
    with pytest.raises(ValueError, match=r"_seed.txt must be a number: name the seed by --seed"):
        choose_seed(None, tmp_path)
    assert seed_for(line_up, 7) == 7 and seed_for([*line_up, Stranger()], 7) == seed_for([Stranger()], 7) > 2**200


def test_runs_with_strangers_have_deals_that_nobody_finds() -> None:
    spec = f"{__name__}:Stranger"
    assert {unit.seed for unit in schedule([spec, "weights", "random"], RULES, 10, 7)} == {seed_for([Stranger()], 7)}
    assert {unit.seed for unit in schedule(["weights", "random"], RULES, 10, 7)} == {7}
