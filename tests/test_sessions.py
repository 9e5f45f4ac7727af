"""Games with people and agents at a table: who may do what, what may be taken back, and that nothing hidden shows (R19)."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from euphoria_agents.play import Agents, PlayerFailed, Seat, Session, Stale, WrongSeat, load_game, save_game
from euphoria_agents.play.session import NOT_TOGETHER
from euphoria_agents.record_steps import Replayed
from euphoria_env import Game, IllegalMove, Rules
from euphoria_env.actions import NAMES as MOVES
from euphoria_env.board import ITEMS, SPACES
from euphoria_env.events import EventKind

PEOPLE = [Seat("Ann"), Seat("Bob"), Seat("Cleo"), Seat("Dan"), Seat("Eve"), Seat("Finn")]
DRAFTS = {"recruit_draft": True, "market_draft": True, "track_draft": True, "trading": True, "doubles_cost_morale": True}


def table(num_players: int = 2, seed: int = 1, specs: dict[int, str] | None = None, **more: Any) -> Session:
    """A table of people, with agents on some seats."""
    seats = [Seat(PEOPLE[k].name, (specs or {}).get(k)) for k in range(num_players)]
    rules = Rules(num_players=num_players, **more.pop("rules", {}))
    session = Session.of(Game(rules, seed), seats, **more)
    session.check_agents()
    return session


class Bare(Replayed):
    """A game that does not know how its turn began."""

    def at(self, ply: int) -> Game:
        return Game.taking((self.before[ply] if ply < len(self.before) else self.states).copy())


def of(game: Game, practice: bool = False) -> Session:
    """A session of a game, also of one that does not know how its turn began."""
    try:
        return Session.of(game, PEOPLE[: game.rules.num_players], practice)
    except ValueError:
        session = Session.of(Game(game.rules, 1), PEOPLE[: game.rules.num_players], practice)
        session._game = Bare.taking(game.states.copy())
        return session


def agent_turn(session: Session) -> bool:
    """Asks the agent that must decide, and plays its move; whether there was one."""
    if (think := session.thinker()) is None:
        return False
    session.play(session.player, think())
    return True


def moves_of(session: Session, seat: int) -> list[int]:
    """The moves that a seat has made."""
    return [action for who, action in map(session.made, range(session.decisions)) if who == seat]


def go_on(session: Session, rng: random.Random, until: Callable[[Session], bool] = lambda session: session.over) -> Session:
    """Plays on: agents as they like, people by chance."""
    while not session.over and not until(session):
        if not agent_turn(session):
            session.play(session.player, rng.choice(session.moves(session.player)).action)
    return session


def some_games(every: int = 7) -> Iterator[Game]:
    """Random games of every number of players, with and without options, at some of their decisions."""
    for num_players in range(2, 7):
        for rules in ({}, DRAFTS):
            game, rng = Game(Rules(num_players=num_players, **rules), seed=num_players), random.Random(num_players)
            for k in range(420):
                if game.over:
                    break
                if game.turn == 0 or k % every == 0:
                    yield game.clone()
                game.play(rng.choice(game.legal()))


def test_a_whole_game() -> None:
    session = go_on(table(3, specs={1: "greedy", 2: "weights"}), random.Random(1))
    assert session.over and session.version == session.decisions > 100 and sorted(session.game_at().ranking or [])[0] == 1
    assert Game.from_record(session.record()).to_record() == session.record()
    assert len(session.log()) == len(session.log(0)) == session.decisions and session.log(0, 50) == session.log(0)[50:]
    assert not agent_turn(session) and session.moves(0) == [] and session.thinker() is None
    with pytest.raises(IllegalMove, match="has ended"):
        session.play(0, "end")


def test_seats_that_do_not_fit() -> None:
    for name in ("", "  ", "a" * 41, "two\nlines", "\x1b[31mred", 3, None):
        with pytest.raises(ValueError, match="a name is a text"):
            Seat(name)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a game of 2 needs as many seats, not 3"):
        Session.of(Game(Rules(num_players=2)), PEOPLE[:3])
    for spec in ("ppo:some/path", "os:system", "nobody"):
        with pytest.raises(ValueError, match="not built in, or names a file"):
            table(specs={1: spec})


def test_nothing_hidden_shows() -> None:
    """Two tables that differ only in what a seat cannot know are the same to it, also after a move that it sees the same of."""
    rng, seen = random.Random(0), 0
    for k, game in enumerate(some_games(every=90)):
        for seat in range(game.rules.num_players):
            one, other = of(Game.from_rows(game.states.copy())), of(game.determinize(seat, k))
            assert what_is_shown(one, seat) == what_is_shown(other, seat)
            move = rng.choice(game.legal())
            if move in other._game.legal():
                one.play(game.player, move)
                other.play(game.player, move)
                if one._game.outcomes == other._game.outcomes and what_is_seen(one, seat) == what_is_seen(other, seat):
                    assert what_is_shown(one, seat) == what_is_shown(other, seat), move
                    seen += 1
    assert seen > 100


def what_is_seen(session: Session, seat: int | None) -> Any:
    """The view, and the observation, which has what is under way too."""
    return session.view(seat), None if seat is None else session._game.observation(seat).tobytes()


def what_is_shown(session: Session, seat: int) -> Any:
    undo = [session.can_undo(p) for p in range(len(session.seats))]
    return session.view(seat), session.moves(seat), session.question(seat), session.log(seat), undo, session.player


def test_choices_that_nobody_saw_are_not_told() -> None:
    """The log tells the others the same whenever they see the same after a choice."""
    hidden = 0
    for game in some_games(every=40):
        legal = game.legal()
        if len(legal) < 2 or game.deciding == "trade":  # what is said in a trade is heard by all (R15.2)
            continue
        table, tables = of(game), []
        for move in legal[:4]:
            session = table.clone()
            session.play(game.player, move)
            tables.append((session, session._game.outcomes != table._game.outcomes))
        (first, drawn), *others = tables
        for seat in range(game.rules.num_players):
            for other, also_drawn in others if seat != game.player else ():
                if not drawn and not also_drawn and what_is_seen(first, seat) == what_is_seen(other, seat):
                    assert first.log(seat)[-1] == other.log(seat)[-1]
                    assert first.log(None)[-1] == other.log(None)[-1]
                    hidden += 1
    assert hidden > 100


def test_events_stand_beside_the_log() -> None:
    session = go_on(table(3), random.Random(4), lambda session: session.decisions >= 80)
    for seat in (None, 1):
        events = session.events(seat)
        assert len(events) == session.decisions and events[30:] == session.events(seat, 30)
        told = [event for after in events for event in after]
        assert told and told == session.game_at().events_for(seat)[-len(told) :]
    last = session.last_decision(1) or 0
    placed = {SPACES[e.a] for after in session.events(None, last + 1) for e in after if e.kind == EventKind.PLACED}
    assert placed <= session.changed(1) and session.changed(1, last + 1) == set()


def test_the_ways_to_answer_a_series_are_those_of_its_single_choices() -> None:
    found = 0
    for game in some_games(every=1):
        if game.deciding != "series":
            continue
        session = of(game.determinize(game.player, 1))
        ways = session.ways(game.player)
        for way in ways[:3]:
            after = session.clone()
            after.play_together(game.player, way.actions, after.version)
            assert after.decisions - session.decisions == len(way.actions) and set(way.items) <= set(ITEMS)
            found += 1
        assert len({way.actions for way in ways}) == len(ways)
        if found > 20:
            return
    raise AssertionError("no series has more than one answer")


def said(session: Session, seat: int, line: list[Any]) -> str:
    """Returns what a seat is told when it plays several moves at once; empty if they are played."""
    tried = session.clone()
    try:
        tried.play_together(seat, line, session.version)
    except ValueError as error:
        assert (tried.version, tried.decisions) == (session.version, session.decisions)
        return str(error)
    return ""


def test_several_moves_at_once_tell_nothing_that_is_hidden() -> None:
    """Moves that could follow in one game are tried in another too, which differs in what the seat cannot know."""
    told, played, rng = Counter[str](), set[str](), random.Random(3)
    for game in some_games(every=17):
        twins = [game, game.determinize(game.player, 1)]
        sessions = [of(twin) for twin in twins]
        moves = {move.partition(" ")[0]: move for move in rng.sample(game.legal(), len(game.legal()))}  # one of each kind
        for action, twin in product(moves.values(), twins):
            after, line = twin.clone(), [action]
            while len(line) < 4 and not after.over:
                after.play(line[-1])
                line += rng.sample(after.legal(), bool(after.legal()))
                answers = {said(session, game.player, line) for session in sessions}
                assert len(answers) == 1, (line, answers)
                told.update(answers)
                played |= {line[0].partition(" ")[0]} if answers == {""} else set()
    assert told.keys() == {"", NOT_TOGETHER} and {"retrieve", "take", "pay"} <= played and min(told.values()) > 100
    assert said(sessions[0], game.player, ["end turn", "end"]).startswith("'end turn'")


def test_every_set_of_workers_can_be_retrieved_at_once() -> None:
    found = 0
    for game in some_games(every=3):
        own = [f"{face} {s}" for s, there in game.describe()["workers"].items() for who, face in there if who == game.player]
        payments = [MOVES.index(name) for name in game.legal() if name.startswith("retrieve ")]
        session = of(game.determinize(game.player, 1))
        ways = session.retrievals(game.player)
        sets = {tuple(sorted(some)) for k in range(1, len(own) + 1) for some in combinations(own, k)}
        if game.deciding == "take":  # a part is chosen already
            assert ways and {way.payment for way in ways} == {None} and {tuple(sorted(way.workers)) for way in ways} <= sets
            continue
        assert {(way.payment, tuple(sorted(way.workers))) for way in ways} == {*product(payments, sets)}
        assert len(ways) == len(payments) * len(sets) and session.retrievals(1 - game.player % 2) == []
        for way in ways[:: max(1, len(ways) // 3)]:
            after = session.clone()
            after.play_together(game.player, way.actions, after.version)
            assert after.game_at().deciding != "take" and after.decisions - session.decisions == len(way.actions)
        found += len(ways)
    assert found > 100


def test_a_retrieval_tells_the_chance_to_lose_a_worker() -> None:
    me = {"workers": [4], "knowledge": 4, "goods": {"food": 1}, "recruits": []}
    other: dict[str, Any] = {"workers": [2], "recruits": []}
    there = {"aquifer": [[0, 4], [0, 4]], "euphorian_site_1_2": [[0, 5]]}
    game = Game.from_dict({"rules": {"num_players": 2}, "seed": 3, "players": [me, other], "workers": there})
    told = {(way.actions[0], way.workers): (str(way.text), str(way.risk)) for way in of(game).retrievals(0)}
    free, site = MOVES.index("retrieve free"), "what it paid on a site is lost"
    for dice, workers in ((2, ("4 aquifer", "4 aquifer")), (3, ("4 aquifer", "4 aquifer", "5 euphorian_site_1_2"))):
        lost = sum(8 + sum(roll) >= 16 for roll in product(range(1, 7), repeat=dice)) / 6**dice
        text = f"Take back {dice} and roll: {100 * lost:.1f} % to lose a worker"
        assert told[free, workers] == (text, site if dice == 3 else "")
    assert told[free, ("4 aquifer",)] == ("Take back 1 and roll", "")


def test_a_hint_knows_what_the_seat_knows() -> None:
    for spec in ("ppo", "greedy", "mcts:20:ppo"):
        for k, game in enumerate(some_games(every=210)):
            hints = [of(g).hint(game.player, spec) for g in (game, game.determinize(game.player, k))]
            assert hints[0] == hints[1]
            assert [thought["action"] for thought in hints[0]["moves"]] == game.legal_actions().tolist()


def test_what_may_be_taken_back_taught_nothing() -> None:
    """After a decision that may be taken back, its player sees in every world that they hold for possible the same as in this."""
    allowed = {True: 0, False: 0}
    for k, game in enumerate(some_games(every=12)):
        seat, table = game.player, of(game)
        for move in random.Random(k).sample(game.legal(), min(2, len(game.legal()))):
            session = table.clone()
            session.play(seat, move)
            may = session.can_undo(seat)
            allowed[may] += 1
            for seed in range(3) if may else ():
                world = of(game.determinize(seat, seed))
                world.play(seat, move)
                assert not world._game.outcomes
                assert what_is_seen(world, seat) == what_is_seen(session, seat)
    assert min(allowed.values()) > 80, allowed


def test_taking_back() -> None:
    session = table(seed=3)
    start = session.record()
    assert not session.can_undo(0) and not session.can_undo(1)
    with pytest.raises(ValueError, match="nothing can be taken back"):
        session.undo(0)
    session.play(0, session.moves(0)[1].action)  # the active recruit; the hidden one is still to be chosen
    assert session.can_undo(0) and not session.can_undo(1)
    with pytest.raises(Stale):
        session.undo(0, 0)
    session.undo(0, 1)
    assert session.record() == start and session.version == 2 and session.log(0) == []
    session.play(0, session.moves(0)[0].action)
    session.play(0, session.moves(0)[0].action)
    assert session.player == 1 and not session.can_undo(0)  # others know of it


def test_a_card_that_was_shown_stays_shown() -> None:
    player = {"workers": [2, 4], "morale": 6, "artifacts": {"bat": 1}, "dilemma": {"artifact": "bat"}}
    session = of(Game.from_dict({"rules": {"num_players": 2}, "seed": 1, "players": [player, {"workers": [3]}]}))
    session.play(0, "dilemma star")
    assert not session.can_undo(0)


def test_what_was_said_in_a_trade_stays_said() -> None:
    players = [{"goods": {"food": 2, "gold": 1}, "workers": [2]}, {"goods": {"gold": 3, "clay": 1}, "workers": [3]}]
    session = of(Game.from_dict({"rules": {"num_players": 2, "trading": True}, "players": players}))
    for seat, move in enumerate(["trade +1", "give food", "ask gold", "offer", "refuse"]):
        session.play(seat // 4, move)
        assert session.can_undo(0) is (move == "trade +1") and not session.can_undo(1)


def test_in_practice_everything_can_be_taken_back_and_the_same_moves_give_the_same_game() -> None:
    """Agents are asked by the game's seed and the decision's number, whatever was tried before."""
    session = table(2, specs={1: "mcts:20:greedy"}, practice=True)
    go_on(session, random.Random(3), until=lambda s: s.decisions > 60 and s.player == 0)
    record, mine, versions = session.record(), moves_of(session, 0), [session.version]
    while session.can_undo(0):
        session.undo(0)
        versions.append(session.version)
    assert session.decisions == 0 and versions == sorted(set(versions)) and not session.can_undo(1)
    session.play(0, session.moves(0)[-1].action)  # something else, and back
    session.undo(0)
    while session.record() != record:
        if not agent_turn(session):
            session.play(0, mine.pop(0))
    assert not mine


FAULTY = "tests.tools.faulty_agents"


@pytest.fixture
def faulty() -> Iterator[Agents]:
    agents = Agents([f"{FAULTY}:{name}" for name in ("Raises:nothing", "Cheats")])
    yield agents
    agents.close()


def test_hints_and_hand_overs(faulty: Agents) -> None:
    session = table(2, agents=faulty)
    for seat, spec, error, message in (
        (0, f"{FAULTY}:Raises:nothing", PlayerFailed, r"failed: KeyError \(faulty"),
        (0, f"{FAULTY}:Other", ValueError, "not built in"),
        (1, "ppo", WrongSeat, "seat 0 must decide"),
    ):
        with pytest.raises(error, match=message):
            session.hint(seat, spec)
    for seat, name, spec in ((2, None, None), (0, None, "nobody:Here"), (0, "a\tb", None)):
        with pytest.raises(ValueError):
            session.hand_over(seat, spec, name)
    assert session.version == 0 and session.seats == tuple(PEOPLE[:2])
    session.hand_over(0, "weights")
    assert session.version == 1 and agent_turn(session) and session.seats[0] == Seat("Ann", "weights")
    session.hand_over(0, None, "Zoe")
    assert not agent_turn(session) and session.seats[0] == Seat("Zoe")


@pytest.mark.parametrize("decisions", [0, 60, 10**6])
def test_saved_and_loaded_it_goes_on_identically(tmp_path: Path, decisions: int) -> None:
    session = table(3, 5, {1: "mcts:20:greedy", 2: "ppo"}, practice=True)
    go_on(session, random.Random(4), until=lambda s: s.decisions >= decisions)
    save_game(session, tmp_path / "game.json")
    again = load_game(tmp_path / "game.json")
    assert again.to_dict() == session.to_dict() and again.log(0) == session.log(0)
    assert [again.can_undo(seat) for seat in range(3)] == [session.can_undo(seat) for seat in range(3)]
    ends = [go_on(one, random.Random(5)).record() for one in (session, again)]
    assert ends[0] == ends[1]


def test_a_game_from_a_position_and_with_loaded_outcomes() -> None:
    start = Game.from_dict({"rules": {"num_players": 2}, "seed": 4, "players": [{"workers": [4, 4]}, {"workers": [2]}]})
    start.load(dice=[6])
    start.play("place 4 farm")
    session = go_on(of(start, practice=True), random.Random(1), until=lambda s: s.decisions > 20)
    again = Session.from_dict(session.to_dict())
    assert again.record() == session.record()
    while again.can_undo(0):
        again.undo(0)
    assert again.decisions == 0 and again._game.describe()["workers"] == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "not a saved game"),
        (lambda d: d.update(version=2), "version: invalid"),
        (lambda d: d.update(changes=-1), "changes: expected int >= 0"),
        (lambda d: d.update(practice="no"), "practice: expected bool"),
        (lambda d: d.update(more=1), "unknown field more"),
        (lambda d: d.pop("record"), "missing required field record"),
        (lambda d: d.update(record=d["record"].replace("fingerprint", "x")), "record: line"),
        (lambda d: d["seats"].pop(), "needs as many seats, not 1"),
        (lambda d: d["seats"][0].update(name="\x1b[2J"), r"seats\[0\]: a name is"),
        (lambda d: d["seats"][1].update(spec="os:system:true"), "not built in, or names a file"),
        (lambda d: d["seats"][1].update(spec="ppo:/etc/passwd"), "not built in, or names a file"),
        *((content, "game.json") for content in (b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000)),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, change: Callable[[Any], Any] | bytes, message: str) -> None:
    d, file = table(2).to_dict(), tmp_path / "game.json"
    if not isinstance(change, bytes):
        change(d)
    file.write_bytes(change if isinstance(change, bytes) else json.dumps(d).encode())
    with pytest.raises(ValueError, match=message) as refused:
        load_game(file)
    assert str(refused.value).startswith(str(file))


def test_a_file_runs_no_code_unless_allowed(tmp_path: Path, faulty: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    session = table(2, specs={1: f"{FAULTY}:Cheats"}, agents=faulty)
    save_game(session, tmp_path / "game.json")
    monkeypatch.delitem(sys.modules, FAULTY, raising=False)
    with pytest.raises(ValueError, match="allow it by name"):
        load_game(tmp_path / "game.json")
    assert FAULTY not in sys.modules
    assert load_game(tmp_path / "game.json", faulty).seats == session.seats
