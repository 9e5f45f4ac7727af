"""The log: a reader of its lines alone knows how the game stands; it says why, and tells nobody what they may not know."""

from __future__ import annotations

import copy
import random
from collections import Counter
from functools import cache
from typing import Any

import pytest

from euphoria_env import Game, Rules, words
from euphoria_env.board import ARTIFACTS, FACTIONS, GOODS, TUNNELS
from euphoria_env.event_kinds import KIND_ROWS, EventKind
from euphoria_env.phrases import YOU, Phrase, Text, arguments, say, templates
from euphoria_env.words.event_text import EVENT_WORDS, LogLine, log_lines
from tests.tools.playing import active, all_rules, prefer, random_move
from tests.tools.positions import any_position

NAMES = ["Ada", "Ruud", "Dr. Cy; or Max", "Dee", "Ed (the first)", "Flo"]

# ----------------------------------------------------------------------------------------------- a reader of the log alone

_SIGNS = {"gains": 1, "draws": 1, "receives": 1, "pays": -1, "loses": -1, "discards": -1, "hands_over": -1}


class Reader:
    """Reads lines, and knows what everybody has: by player a count of goods, artifacts, stars placed, workers and markers."""

    def __init__(self, players: int) -> None:
        self.names = NAMES[:players]
        self.has = [Counter[str](knowledge=3, morale=1, workers=2) for _ in self.names]
        self.tracks = Counter[str]()
        self.ranks: dict[int, int] = {}
        self.turn, self.active = 0, -1

    def read(self, line: LogLine) -> None:
        """Takes in a line."""
        for who, text in line.clauses:
            (deed,) = (one for one in text.within() if one.id.startswith("does."))
            self._deed(self.names.index(str(who)) if who else -1, deed.id.removeprefix("does."), deed.args["items"])

    def _deed(self, p: int, verb: str, items: Text) -> None:
        has, told = self.has[p], [*items.within()] if isinstance(items, Phrase) else []
        if verb == "ends_on_rank":
            self.ranks[p] = int(str(items))
        if verb == "begins_turn":
            self.turn, self.active = int(str(items)), p
        has["workers"] -= (verb == "sacrifices") + sum(one.id == "item.lost" for one in told)
        for one in told:
            kind, _, name = one.id.partition(".")
            if one.id in ("item.allegiance", "item.miner"):
                self.tracks[f"{one.args['a']} {name}"] = int(one.args["b"])
            elif name in ("morale_marker", "knowledge_marker"):
                has[name.removesuffix("_marker")] = one.args["a"].args.get("n", 0)
            elif kind == "track":
                has[name] += one.args["n"]
            elif kind == "amount" and verb in _SIGNS:
                name = "artifacts" if name in (*ARTIFACTS, "artifact") else {"worker": "workers"}.get(name, name)
                has[name] += _SIGNS[verb] * one.args["n"]
            has["stars"] += verb == "places" and one.id == "item.star"


def check(row: Any, reader: Reader) -> None:
    """Asserts that a reader knows how a game stands."""
    for p, has in enumerate(reader.has):
        assert {name: has[name] for name in GOODS} == dict(zip(GOODS, row["goods"][p].tolist(), strict=True)), p
        known = [has[one] for one in ("artifacts", "stars", "workers")]
        assert known == [row["hand_size"][p], 10 - row["stars"][p], row["owned"][p]], p
        if row["turn"]:
            assert (has["knowledge"], has["morale"]) == (row["knowledge"][p], row["morale"][p]), p
    for k, faction in enumerate(FACTIONS):
        assert reader.tracks[f"{faction.capitalize()} allegiance"] == row["allegiance"][k]
        assert reader.tracks[f"{faction.capitalize()} miner"] == (row["miners"][k] if k < len(TUNNELS) else 0)
    assert reader.turn == row["turn"] and (not row["turn"] or reader.active == row["turn_player"])


def play(rules: Rules, policy: Any = prefer, decisions: int = 10_000) -> tuple[Game, list[Any]]:
    """A game, and its state after each decision."""
    rng, rows = random.Random(f"{rules} {policy.__name__}"), []
    game = Game(rules, seed=rng.getrandbits(32))
    while game.legal() and len(rows) < decisions:
        game.play(policy(game, rng))
        rows.append(game.states[0].copy())
    return game, rows


SECRET = {f"does.{verb}" for verb in ("is_dealt", "draws", "keeps", "puts_in", "puts_out", "is_passed")}  # with cards
RULES = list(all_rules())
played = cache(play)


@pytest.mark.parametrize("rules", RULES, ids=range(len(RULES)))
def test_a_reader_of_the_log_alone_knows_how_the_game_stands(rules: Rules) -> None:
    (game, rows), n = played(rules), rules.num_players
    reader = Reader(n)
    for line, row in zip(log_lines(game, None, NAMES[:n]), rows, strict=True):
        reader.read(line)
        try:
            check(row, reader)
        except AssertionError as error:
            raise AssertionError(f"{line}: {error}") from error
    assert game.ranking == [reader.ranks[p] for p in range(n)]


def test_every_kind_of_event_has_words() -> None:
    """Events without words of their own are causes of others, or nothing happens."""
    assert list(EVENT_WORDS) == list(EventKind) == list(KIND_ROWS)
    silent = {kind for kind, told in EVENT_WORDS.items() if not told.says}
    assert silent == {EventKind[name] for name in ("NOTHING", "ASKED", "PAYS", "GAINS", "WAY", "RESUMED")}
    for kind, row in KIND_ROWS.items():
        told = EVENT_WORDS[kind]
        said = [arguments(templates("en")[id]) for id in (f"does.{told.says}", told.item, told.why) if id in templates("en")]
        used = {name for names in said for name in names if name in ("a", "b")}
        assert not told.says or ("items" in said[0]) == bool(told.item), kind
        assert bool(told.hidden) == row.secret and (
            told.number in ("", "1") or getattr(row, told.number).startswith(("number", "steps"))
        )
        assert all(getattr(row, field) for field in used) or kind is EventKind.STAR_ON_DILEMMA or kind is EventKind.TURN, kind


@pytest.mark.parametrize("rules", RULES[1:4], ids=range(3))
def test_the_reader_is_you_and_the_others_have_their_names(rules: Rules) -> None:
    """But for cards that only the reader knows the lines are those of everybody."""
    game, _ = played(rules)
    n = rules.num_players
    for seat in range(n):
        own, every = log_lines(game, seat, NAMES[:n]), log_lines(game, None, NAMES[:n])
        for mine, line in zip(own, every, strict=True):
            assert NAMES[seat] not in str(mine) and "player " not in str(mine).lower()
            if not any(one.id in SECRET for _, text in line.clauses for one in text.within()):
                assert [_as_you(text, NAMES[seat]) for _, text in line.clauses] == [text for _, text in mine.clauses]


def test_the_verbs_agree_with_the_reader() -> None:
    """Each verb of the log has a second person, and no other text of it differs."""
    for id, template in templates("en").items():
        if id.startswith("does.") and template.startswith("{who?"):
            mine, others = (say(Phrase(id, who=who, items="it")).split() for who in (YOU, "Ada"))
            assert mine[0] in (others[0], "are", "have", "do") or others[0] in (f"{mine[0]}s", f"{mine[0]}es"), id
            assert mine[1:] == others[1:] or id in SECRET, id


def _as_you(value: Any, name: str) -> Any:
    """A text in which a player is the reader."""
    if isinstance(value, Phrase):
        return Phrase(value.id, **{key: _as_you(one, name) for key, one in value.args.items()})
    return tuple(_as_you(one, name) for one in value) if isinstance(value, tuple) else YOU if value == name else value


def test_a_choice_of_which_the_next_line_tells_is_not_shown() -> None:
    """Of workers taken back one by one, the last line tells; it is shown."""
    lines = [line for rules in RULES[:3] for line in log_lines(played(rules)[0])]
    hidden = [line for line in lines if not line.is_shown]
    assert hidden and all('chooses "take ' in str(line) and line.happened == "" for line in hidden)
    assert all(line.is_shown for line in lines if "takes back" in str(line))


def test_names() -> None:
    game, _ = played(RULES[2])
    assert "Player 1 places a " in "\n".join(words.log(game)) and "player 2 " in "\n".join(words.log(game, 0))
    named = "\n".join(words.log(game, 0, ["Ada", "ppo", "ppo"]))
    assert (
        "ppo (2) begins turn" in named
        and "You " in named
        and "player " not in named
        and named.count("ppo") == named.count("ppo (")
    )
    assert words.log(game, 0, None, 7) == words.log(game, 0)[7:] and len(words.log(game, 0)) == len(game.decided())
    assert "ada begins turn" in "\n".join(words.log(game, 1, ["ada", "Bo", "Cy"]))
    assert words.log(game, 1, ["you", "Bo", "Cy"]) == words.log(game, 1, ["You", "Bo", "Cy"])  # you are somebody else
    with pytest.raises(ValueError, match="names must be None or 3 texts, one for each seat"):
        words.log(game, 0, ["Ada", "Bo"])
    with pytest.raises(ValueError, match="player must be an integer from 0 to 2, not 3"):
        words.log(game, 3)


def test_a_game_from_a_position_is_told_from_there() -> None:
    rng = random.Random(4)
    for _ in range(40):
        game = Game.from_dict({**any_position(rng), "seed": rng.getrandbits(32)})
        for _ in range(12):
            if game.legal():
                game.play(random_move(game, rng))
        said = words.log(game, None)
        assert len(said) == len(game.decided()) and all(said)
        assert not any(sign in "".join(said) for sign in ("decides", "{", "}", "-1", "  "))


# ------------------------------------------------------------------------------------------------------------- who and why


def log_of(position: dict[str, Any], moves: list[str], seat: int | None = 0, **load: Any) -> str:
    """The lines of a game of Ada and Bo from a position, in which these moves are played, with ` / ` between them."""
    game = Game.from_dict({"rules": {"num_players": len(position["players"])}, "seed": 1, "player": 0, **copy.deepcopy(position)})
    game.load(**load)
    for move in moves:
        game.play(move)
    return " / ".join(words.log(game, seat, ["Ada", "Bo", "Cy"][: len(position["players"])]))


BO = {"workers": [1], "knowledge": 1, "recruits": []}


def ada(*cards: str, **more: Any) -> list[dict[str, Any]]:
    """Ada with a worker that shows a 4, and Bo."""
    return [{"workers": [4], "recruits": active(*cards), **more}, BO]


RETRIEVES = {"workers": {"farm": [[0, 2]]}}
DILEMMA = {"players": ada(artifacts={"bat": 2}, morale=2), "allegiance": {"icarite": 11}}
DRAWN = ["lee_the_gossip", "matthew_the_thief"]
TIED = {
    "rules": {"num_players": 2, "stars_to_win": 1},
    "players": [
        {"workers": [1, 3], "recruits": active("gary_the_electrician")},
        {"workers": [1], "recruits": active("ben_the_ludologist")},
    ],
    "allegiance": {"euphorian": 10},
}


def case(said: str, moves: str, load: dict[str, Any] | None = None, **position: Any) -> tuple[Any, ...]:
    """A part of the lines that Ada reads when they play these moves from a position."""
    return said, position, moves.split(", "), load or {}


CASES = [
    # a penalty, a recruit, a tile as the reason
    case(
        "lose 1 morale; lose 1 knowledge (Curtis); lose 1 morale (penalty of the Cafeteria of Nameless Meat); lose 1",
        "retrieve free",
        players=ada("curtis_the_propagandist", morale=4),
        markets={"euphorian_market_1": {"tile": "cafeteria_of_nameless_meat", "built": True, "stars": [1]}},
        **RETRIEVES,
    ),
    # which worker came back where only one could; which die the check took, and the sum
    case(
        "You retrieve workers for free; take back the 2 from the Farm; roll 3; lose the 6 (knowledge check: 18)",
        "retrieve free",
        {"dice": [3]},
        players=ada(workers=[6, 5], knowledge=4),
        **RETRIEVES,
    ),
    # cards drawn and discarded in one step, and what interrupts
    case(
        "draw 2 bats; advance the Icarite allegiance to 1; discard 1 bat (hand limit); Bo begins turn 2",
        "place 4 breeze_bar",
        {"artifacts": ["bat", "bat"]},
        players=ada(goods={"bliss": 1, "energy": 1}),
    ),
    # what a recruit lets somebody pay
    case(
        "Bo gets back the bumped 3; rolls 1; you pay knowledge +1 (Matthew)",
        "place 4 euphorian_tunnel, gain gold",
        {"dice": [1]},
        players=ada("matthew_the_thief"),
        workers={"euphorian_tunnel": [[1, 3]]},
    ),
    # the star of a recruit that is kept
    case(
        "are dealt Lee and Matthew / You put Matthew out of the game; keep Lee; have Lee active; place a star on Lee",
        "dilemma recruit, choose lee_the_gossip",
        {"recruits": DRAWN},
        **DILEMMA,
    ),
    # others' stars, ties, whose dice
    case(
        "place a star on Gary; Bo places a star on Ben; you roll 1; Bo rolls 2; you win the tie by the lower roll; win the game; "
        "end on rank 1; Bo ends on rank 2",
        "place 1 generator",
        {"dice": [1, 2]},
        **TIED,
    ),
    # offers
    case(
        'You begin an offer to Bo / You choose "ask food" / You offer 1 gold; ask for 1 food / Bo accepts your offer; '
        "hands over 1 food; you hand over 1 gold; receive 1 food; Bo receives 1 gold",
        "trade +1, ask food, offer, accept",
        rules={"num_players": 2, "trading": True},
        players=[*ada(goods={"gold": 1})[:1], {**BO, "goods": {"food": 1}, "artifacts": {"bat": 1}}],
    ),
    # the end of a game that is cut off
    case("; the game is cut off; you end on", "place 4 generator", rules={"num_players": 2, "max_turns": 1}, players=ada()),
]


@pytest.mark.parametrize(("said", "position", "moves", "load"), CASES, ids=range(len(CASES)))
def test_a_line_says_who_what_and_why(said: str, position: dict[str, Any], moves: list[str], load: dict[str, Any]) -> None:
    assert said in log_of(position, moves, **load)


def test_what_is_drawn_is_named_to_whoever_draws_alone() -> None:
    bar = {"players": ada(goods={"bliss": 1, "energy": 1}, morale=2)}
    for seat, told in ((0, "draw 1 bat and 1 bear"), (1, "draws 2 artifacts"), (None, "draws 2 artifacts")):
        assert told in log_of(bar, ["place 4 breeze_bar"], seat, artifacts=["bat", "bear"])
    assert "Ada puts 1 recruit out of the game; keeps 1 recruit; has Lee" in log_of(
        DILEMMA, ["dilemma recruit", "choose lee_the_gossip"], 1, recruits=DRAWN
    )
