"""`Game.chance` lists what may follow a move with its probability, and shows nothing hidden; `play` takes one of these lists."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from euphoria_agents.record_steps import steps
from euphoria_env import Game, IllegalMove, Rules, chance_tree
from euphoria_env.board import SUBTERRAN
from euphoria_env.cards.recruits import FACTION_OF, RECRUIT_NAMES
from euphoria_env.event_kinds import KIND_ROWS, EventKind
from euphoria_env.game_log import outcome_value
from tests.tools.playing import active, all_rules, conserved, prefer, random_move
from tests.tools.positions import any_position

TUNNEL = {"rules": {"num_players": 2}, "players": [{"workers": [4], "goods": {"energy": 1}}, {"workers": [2]}], "seed": 1}
BUMP = {**TUNNEL, "workers": {"euphorian_tunnel": [[1, 3]]}}  # the worker of player 1 is rolled
SUBTERRANS = [name for k, name in enumerate(RECRUIT_NAMES) if FACTION_OF[k] == SUBTERRAN][:8]


def seen(game: Game, player: int, first: int) -> list[tuple[Any, ...]]:
    """The outcomes among the events from number `first` on as a player sees them; those drawn together are sorted."""
    found: list[tuple[Any, ...]] = []
    for (kind, _), run in groupby(game.events_for(player)[first:], key=lambda event: event[:2]):
        if outcome := KIND_ROWS[EventKind(kind)].outcome:
            values = sorted(event.a for event in run) if kind in chance_tree.BATCHES else [event.a for event in run]
            found += [(outcome, None if value < 0 else outcome_value(outcome, value)) for value in values]
    return found


def state(game: Game) -> bytes:
    """The state without the generator, which given outcomes do not use."""
    rows = game.states.copy()
    rows["rng"] = 0
    return rows.tobytes()


def gamble() -> Game:
    """The Gambler's owner draws two cards; after a pair the other player draws one, which the owner does not see."""
    players = [{"workers": [4], "goods": {"energy": 1}, "morale": 6, "recruits": active("jonathan_the_gambler")}]
    game = Game.from_dict({**TUNNEL, "players": [*players, {"artifacts": {"book": 1}}], "discards": {"bat": 6}})
    game.play("place 4 euphorian_tunnel")
    game.play("gain artifact")
    return game


def games() -> Iterator[Game]:
    """Positions and setups for every number of players, some moves on."""
    rng = random.Random(11)
    starts = [gamble(), *(Game(rules, seed=k) for k, rules in enumerate(all_rules()))]
    starts += [Game.from_dict({**any_position(rng), "seed": k}) for k in range(60)]
    for game in starts:
        for number in range(40 if game.turn == 0 else 8):
            if game.legal():
                yield game
                game.play((prefer if number % 2 else random_move)(game, rng))


@pytest.fixture(scope="module")
def cases() -> list[tuple[Game, str, list[tuple[float, list[Any]]]]]:
    """Moves after which something is drawn: two for each sequence of kinds and number of players."""
    rng, chosen, found = random.Random(12), [], Counter[Any]()
    for game in games():
        for move in rng.sample(legal := game.legal(), min(4, len(legal))):
            listed = game.chance(move, 600)
            if listed and listed[0][1]:
                kinds = (game.rules.num_players, *((kind, value is None) for kind, value in listed[-1][1]))
                found[kinds] += 1
                chosen += [(game.clone(), move, listed)] * (found[kinds] <= 2)
    hidden = {("artifacts", True), ("markets", True)}
    assert {kind for _, *kinds in found for kind in kinds} == {
        *((kind, False) for kind in ("dice", "artifacts", "recruits", "markets", "lots")),
        *hidden,
    }
    assert {n for n, *_ in found} == {2, 3, 4, 5, 6}
    return chosen


@pytest.mark.slow
def test_probabilities_are_those_of_play(cases) -> None:
    """Plays in which all that the player cannot know is dealt again draw what is listed, as often as listed (chi-square)."""
    for game, move, listed in cases:
        assert abs(sum(p for p, _ in listed) - 1) < 1e-12
        chances, counts, plays = {tuple(outcomes): p for p, outcomes in listed}, Counter[Any](), 200
        assert len(chances) == len(listed) and min(chances.values()) > 0
        for seed in range(plays):
            played = game.determinize(game.player, seed)
            played.play(move)
            counts[tuple(seen(played, game.player, 0))] += 1
        assert not set(counts) - set(chances), move
        squares = sum((counts[outcomes] - plays * p) ** 2 / (plays * p) for outcomes, p in chances.items())
        k, inverse = len(chances), sum(1 / p for p in chances.values())
        deviation = (2 * (k - 1) + (inverse - k * k - 2 * k + 2) / plays) ** 0.5  # of chi-square, however small the counts
        assert squares <= k - 1 + 6 * deviation + 1e-9, (move, listed, counts)


@pytest.mark.slow
def test_what_was_drawn_can_be_played(cases) -> None:
    """It leads to the same position, also sorted as listed and from a record; so does what else is listed."""
    rng = random.Random(13)
    for game, move, listed in cases:
        drawn, first = game.clone(), len(game.events)
        drawn.play(move)
        as_drawn, as_listed = drawn.outcomes[len(game.outcomes) :], seen(drawn, game.player, first)
        assert as_listed in [outcomes for _, outcomes in listed]
        for outcomes in [as_drawn] + [as_listed] * all(value is not None for _, value in as_listed):
            again = game.clone()
            again.play(move, outcomes=outcomes)
            assert state(again) == state(drawn)
        for _, outcomes in rng.sample(listed, min(5, len(listed))):
            played = game.clone()
            played.play(move, outcomes=outcomes)
            conserved(played.describe())
            assert seen(played, game.player, first) == outcomes
            assert Game.from_record(played.to_record()) == played


@pytest.mark.slow
def test_games_that_a_player_cannot_tell_apart_have_the_same_chances() -> None:
    rng = random.Random(14)
    for game in games():
        move = rng.choice(game.legal())
        assert game.determinize(game.player, rng.getrandbits(30)).chance(move) == game.chance(move)


def test_a_forced_move_has_one_empty_list() -> None:
    game = Game.from_dict(TUNNEL)
    assert game.chance("place 4 euphorian_tunnel") == [(1.0, [])]
    game.play("place 4 euphorian_tunnel", outcomes=[])
    assert game.chance("gain gold") == [(1.0, [])]


def test_loaded_outcomes_wait_for_later_moves() -> None:
    """A move with outcomes draws them first; a record repeats both, also for a game that keeps its states."""
    game = Game.from_dict(BUMP)
    game.load(dice=[6])
    assert game.chance("place 4 euphorian_tunnel") == [(1 / 6, [("dice", face)]) for face in range(1, 7)]
    game.play("place 4 euphorian_tunnel", outcomes=[("dice", 1)])
    assert game.outcomes[-1] == ("dice", 1) and game.describe()["load"] == {"dice": [6]}
    end = [replayed for replayed, _ in steps(game.to_record())][-1]
    assert end == game and len(end.played) == len(end.before) == 1


def test_the_limit_is_found_before_everything_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four dice are 126 sets of faces; two dice for each of six players are 21 to the sixth."""
    plays = Counter[str]()
    play = chance_tree._Tree.play
    monkeypatch.setattr(chance_tree._Tree, "play", lambda *args: plays.update(["plays"]) or play(*args))
    workers = {"generator": [[0, 1], [0, 2]], "farm": [[0, 3], [0, 4]]}
    game = Game.from_dict({**TUNNEL, "players": [{"workers": [], "goods": {"food": 1}}], "workers": workers})
    for move in ("retrieve food", "take 1 generator", "take 2 generator", "take 3 farm"):
        game.play(move)
    assert game.chance("take 4 farm", 125) is None and plays["plays"] == 1
    assert len(game.chance("take 4 farm", 126) or ()) == 126
    setup = Game(Rules(num_players=6), seed=1)
    while setup.chance(setup.legal()[0]):
        setup.play(setup.legal()[0])
    assert setup.turn == 0 and plays["plays"] < 200


def test_a_card_that_the_player_cannot_see_may_be_drawn() -> None:
    """It changes places with a card of the deck, whoever holds it; a card that the player sees elsewhere cannot be drawn."""
    hands = [{"workers": [4], "morale": 6, "goods": {"energy": 1}}, {"morale": 6, "artifacts": {"book": 6}}]
    game = Game.from_dict({**TUNNEL, "players": hands, "discards": {"bat": 6}})
    game.play("place 4 euphorian_tunnel")
    assert game.chance("gain artifact") == [
        (6 / 30, [("artifacts", card)]) for card in ("balloons", "bear", "bifocals", "book", "box")
    ]
    game.play("gain artifact", outcomes=[("artifacts", "book")])
    mine, theirs = (player["artifacts"] for player in game.describe()["players"])
    assert mine == {"book": 1} and theirs["book"] == 5 and sum(theirs.values()) == 6
    assert Game.from_record(game.to_record()) == game


def test_a_hidden_recruit_may_be_drawn() -> None:
    """The deck has nine recruits, player 1 a hidden one, which is no Euphorian, since these are revealed."""
    pool = ["ben_the_ludologist", "ray_the_foreman", *SUBTERRANS, "brian_the_viticulturist", "amanda_the_broker"]
    players = [
        {"artifacts": {"bat": 1}, "dilemma": {"artifact": "bat"}, "recruits": active("brian_the_viticulturist")},
        {"recruits": [*active("amanda_the_broker"), {"name": SUBTERRANS[0], "active": False}]},
    ]
    rules = {"num_players": 2, "recruits": pool}
    game = Game.from_dict({"rules": rules, "players": players, "allegiance": {"euphorian": 8}, "seed": 1})
    listed = game.chance("dilemma recruit")
    assert listed is not None and len(listed) == 90
    first = Counter[Any]()
    for p, outcomes in listed:
        first[outcomes[0][1]] += p
    expected = dict.fromkeys(SUBTERRANS, 7 / 8 / 9) | {"ben_the_ludologist": 1 / 9, "ray_the_foreman": 1 / 9}
    assert first == pytest.approx(expected)
    game.play("dilemma recruit", outcomes=[("recruits", SUBTERRANS[0]), ("recruits", "ray_the_foreman")])
    assert game.legal() == ["choose ray_the_foreman", f"choose {SUBTERRANS[0]}"]
    hidden = [recruit["name"] for recruit in game.describe()["players"][1]["recruits"] if not recruit["active"]]
    assert len(hidden) == 1 and set(hidden) < set(SUBTERRANS[1:])


def test_none_where_a_hidden_tile_decides_whether_more_is_rolled() -> None:
    """Two workers return from a site (R9.3). Ben is asked after a pair, and before the second roll, unless it is the Academy."""
    for name, known in (("ben_the_ludologist", False), ("ray_the_foreman", True)):
        players = [
            {"workers": [4, 2], "goods": {"clay": 1}},
            {"workers": [2]},
            {"workers": [2], "morale": 3, "recruits": active(name)},
        ]
        workers = {"euphorian_site_1_2": [[1, 3]]}
        game = Game.from_dict({"rules": {"num_players": 3}, "players": players, "workers": workers, "seed": 1})
        listed = game.chance("place 4 euphorian_site_1_1")
        assert listed is not None if known else listed is None
        assert not listed or len(listed) == 36


@pytest.mark.parametrize(
    ("outcomes", "named"),
    [
        ([], "outcomes: 0 are too few: one of dice follows"),
        ([("dice", 3), ("dice", 4)], r"outcomes\[1\]: \('dice', 4\) cannot follow: nothing more"),
        ([("artifacts", "book")], r"outcomes\[0\]: \('artifacts', 'book'\) cannot follow: here comes one of dice"),
        ([("dice", 7)], r"outcomes\[0\] must be an integer from 1 to 6, not 7"),
        ([("coins", 1)], r"outcomes\[0\] must be a pair"),
        (["dice"], r"outcomes\[0\] must be a pair"),
        ("dice", "outcomes must be a list"),
        ([("recruits", "nick_the_understudy")], r"outcomes\[0\]: nick_the_understudy is held"),
        ([("lots", 2)], r"outcomes\[0\] must be an integer from 0 to 1"),
    ],
)
def test_outcomes_that_cannot_follow_change_nothing(outcomes: Any, named: str) -> None:
    players = [{**BUMP["players"][0], "recruits": active("nick_the_understudy")}]
    game = Game.from_dict({**BUMP, "players": players})
    before, record = game.fingerprint(), game.to_record()
    with pytest.raises(ValueError, match=named):
        game.play("place 4 euphorian_tunnel", outcomes=outcomes)
    assert (game.fingerprint(), game.to_record()) == (before, record)


def test_what_else_is_refused() -> None:
    game = Game.from_dict({**TUNNEL, "players": [{**TUNNEL["players"][0], "artifacts": {"book": 6}, "morale": 6}]})
    with pytest.raises(IllegalMove, match="'end' is illegal"):
        game.chance("end")
    with pytest.raises(ValueError, match="limit must be an integer from 1 on"):
        game.chance("place 4 generator", 0)
    game.play("place 4 euphorian_tunnel")
    before = game.fingerprint()
    with pytest.raises(ValueError, match="artifacts 'book' is not in the deck"):
        game.play("gain artifact", outcomes=[("artifacts", "book")])
    with pytest.raises(IllegalMove):
        game.play("end", outcomes=[])
    assert game.fingerprint() == before and not game.history[1:]
