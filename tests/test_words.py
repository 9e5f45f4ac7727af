"""What is said of moves, events and cards: that everything has words, that they are exact, and that they tell nothing hidden."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from euphoria_env import Game, Rules, actions, words
from euphoria_env.board import AREAS, ARTIFACTS, FACTIONS, GOODS, MARKETS, MINER_END, SPACES, STAR_PLACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.words import Move
from euphoria_env.words.preview import roll_penalty
from tests.tools.differential import NEVER_LEGAL
from tests.tools.playing import all_rules, prefer, random_move
from tests.tools.positions import any_position, random_rules

DECISIONS = 120
_ARTIFACT_WORDS = {"artifact", "artifacts", *ARTIFACTS, "bats", "bears", "books", "boxes"}


def _id(rules: Rules) -> str:
    return "-".join([str(rules.num_players), *(name for name, value in rules.to_dict().items() if value is True)])


def _played(rules: Rules, decisions: int = DECISIONS) -> Iterator[tuple[Game, random.Random]]:
    """The decisions of two random games, the second of a player who finishes games."""
    for policy in (random_move, prefer):
        rng = random.Random(f"{rules} {policy.__name__}")
        game = Game(rules, seed=rng.getrandbits(32))
        for _ in range(decisions):
            if not game.legal():
                break
            yield game, rng
            game.play(policy(game, rng))


def _from_positions(part: int, number: int = 50, decisions: int = 16) -> Iterator[tuple[Game, random.Random]]:
    """The decisions after random positions, in which recruits, markets and tracks meet as play would seldom let them."""
    rng = random.Random(part)
    for _ in range(number):
        game = Game.from_dict({**any_position(rng), "seed": rng.getrandbits(32)})
        for _ in range(decisions):
            if not game.legal():
                break
            yield game, rng
            game.play(rng.choice(game.legal()))


SOURCES = {_id(rules): partial(_played, rules) for rules in all_rules()}
SOURCES |= {f"positions-{part}": partial(_from_positions, part) for part in range(4)}
decisions_of = pytest.mark.parametrize("decisions", SOURCES.values(), ids=SOURCES.keys())
Decisions = Callable[[], Iterator[tuple[Game, random.Random]]]


# ------------------------------------------------------------------------------------------------- everything has words


def _check_text(text: str) -> None:
    assert text and "_" not in text and "{" not in text and "  " not in text and text == text.strip(), text


def test_every_card_and_space_has_words() -> None:
    for name in RECRUIT_NAMES:
        _check_text(words.recruit_words(name))
    assert len({words.recruit_words(name) for name in RECRUIT_NAMES}) == len(RECRUIT_NAMES)
    for name in TILES:
        _check_text(words.tile_words(name))
        _check_text(words.space_words(MARKETS[0], name))
    for space in SPACES:
        _check_text(words.space_words(space))
    for artifact in ARTIFACTS:
        _check_text(words.dilemma_words(artifact))


@pytest.mark.parametrize("say", [words.recruit_words, words.tile_words, words.dilemma_words, words.space_words])
def test_an_unknown_name_is_named(say) -> None:
    with pytest.raises(ValueError, match="'nobody'"):
        say("nobody")


@decisions_of
def test_every_move_has_words(decisions: Decisions) -> None:
    for game, _ in decisions():
        _check_moves(game)


def _check_moves(game: Game) -> list[Move]:
    _check_text(words.question(game))
    explained = words.legal_moves(game, game.player)
    assert [move.action for move in explained] == game.legal_actions().tolist()
    for move in explained:
        assert move.notation == actions.name(move.action) and actions.parse(move.notation) == move.action
        for text in (move.group, move.text, *filter(None, (move.cost, move.gain, move.risk))):
            _check_text(text)
        assert move.space == "" or move.space in SPACES or move.space in STAR_PLACES
    assert len({(move.text, move.group) for move in explained}) == len(explained)
    assert all(words.legal_moves(game, seat) == [] for seat in range(game.rules.num_players) if seat != game.player)
    return explained


def _sacrifices() -> Iterator[Game]:
    """Pete sacrifices any of three workers: of those on every space, in the areas with every face."""
    places = [(space, face) for space in AREAS for face in range(1, 7)] + [(space, 2) for space in SPACES if space not in AREAS]
    sites, others = ([place for place in places if ("_site_" in place[0]) == on_site] for on_site in (True, False))
    for three in (some[k : k + 3] for some in (sites, others) for k in range(0, len(some), 3)):
        workers: dict[str, list[list[int]]] = {space: [] for space, _ in three}
        for space, face in three:
            workers[space].append([0, face])
        pete = {"name": "pete_the_cannibal", "active": True}
        built = {market: {"tile": tile, "built": True} for market, tile in zip(MARKETS, TILES, strict=False) if market in workers}
        miners = dict.fromkeys(FACTIONS[:3], 9)
        players = [{"workers": [1], "recruits": [pete]}, *[{"workers": [1]}] * 4]
        game = Game.from_dict(
            {"rules": {"num_players": 5}, "players": players, "workers": workers, "markets": built, "miners": miners}
        )
        for move in ("retrieve free", "take", "take", "take", "use pete_the_cannibal"):
            if legal := [found for found in game.legal() if found.startswith(move)]:
                game.play(legal[0])
        yield game


def test_all_actions_are_explained() -> None:
    """In games with all options and after random positions; moves that were seldom played are preferred."""
    left = {actions.name(action) for action in range(actions.NUM_ACTIONS)} - NEVER_LEGAL
    for game in _sacrifices():
        left -= {move.notation for move in _check_moves(game)}
    played: Counter[str] = Counter()
    for part in itertools.count():
        rng = random.Random(part)
        for game in (
            Game(Rules(**random_rules(rng)), seed=part),
            *(Game.from_dict({**any_position(rng), "seed": rng.getrandbits(32)}) for _ in range(20)),
        ):
            for _ in range(25):
                legal = game.legal()
                if not legal:
                    break
                if not left.isdisjoint(legal):
                    left -= {move.notation for move in _check_moves(game)}
                    if not left:
                        return
                move = min(legal, key=lambda move: (played[move], rng.random()))
                played[move] += 1
                game.play(move)
        assert part < 200, left


def test_there_is_nothing_to_explain_after_the_end() -> None:
    game = Game(Rules(num_players=2, max_turns=1), seed=1)
    while game.legal():
        game.play(game.legal()[0])
    assert game.truncated and words.legal_moves(game, game.player) == []
    assert words.question(game) == "The game was cut off: nobody has won"


def test_seats_are_checked() -> None:
    game = Game(Rules(num_players=3), seed=1)
    for seat in (3, -1, True, "0"):
        with pytest.raises(ValueError, match="0 to 2"):
            words.legal_moves(game, seat)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="0 to 2"):
            words.question(game, seat)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------- costs and gains are the engine's


def _fields(game: Game, p: int) -> Counter[str]:
    """What a player has, and where the markers of everybody are, by the words for it."""
    g = game.states[0]
    found = Counter({name: int(n) for name, n in zip(GOODS, g["goods"][p], strict=True)})
    found |= {name: int(g[name][p]) for name in ("knowledge", "morale")}
    found["artifact"], found["star"] = int(g["hand_size"][p]), -int(g["stars"][p])
    found |= {f"{name} allegiance": int(n) for name, n in zip(FACTIONS, g["allegiance"], strict=True)}
    found |= {f"{name} miner": int(n) for name, n in zip(FACTIONS, g["miners"], strict=False)}
    return found


def _parse(part: str) -> tuple[str, int] | None:
    """A part of a cost or a gain as (field, number); None if it leaves a choice or says something else."""
    part = re.sub(r" \(.*?\)| cards?$", "", part)
    if " or " in part:
        return None
    if match := re.fullmatch(r"(.+) ([+-]\d+)", part):
        return match[1].lower(), int(match[2])
    if match := re.fullmatch(r"1 star .*", part):
        return "star", 1
    if match := re.fullmatch(r"(\d+) (\w+)( other than bliss)?", part):
        what = "artifact" if match[2].lower() in _ARTIFACT_WORDS else match[2]
        return (what, int(match[1])) if what in (*GOODS, "artifact", "morale") else None
    return None


def _mentioned(text: str) -> set[str]:
    """The fields that a text names; kinds of goods name all of theirs."""
    found = {name for name in (*GOODS, "knowledge", "morale", "star") if name in text}
    found |= {f"{name} {track}" for name in FACTIONS for track in ("allegiance", "miner") if track in text}
    if any(word in text.lower() for word in _ARTIFACT_WORDS):
        found.add("artifact")
    for kind, items in (("resource", GOODS[4:]), ("commodity", GOODS[:4]), ("commodities", GOODS[:4])):
        if kind in text:
            found |= {*items}
    if "knowledge" in found or "morale" in found:
        found |= {"knowledge", "morale"}  # Nick, Curtis
    return found


# What begins a note, which says what may follow or must be known, and not what changes for sure.
_NOTES = re.compile(
    r"optional: |if |the |then |no |hidden |every |ends the game|its |that worker|one of |a book |a star when "
    r"|\d workers? (is|are) rolled"
)


def _foretold(move: Move) -> tuple[Counter[str], set[str]]:
    """The changes that a move says for sure, and the fields of which it says no exact number."""
    changes, open_fields = Counter[str](), set[str]()
    sure, *notes = move.gain.split("; ")
    if _NOTES.match(sure):
        sure, notes = "", [sure, *notes]
    for text, sign in ((move.cost, -1), (sure, 1)):
        for part in filter(None, text.split(", ")):
            parsed = _parse(part)
            if parsed is None:
                open_fields |= _mentioned(part)
            elif re.search(r"[+-]\d", part):
                changes[parsed[0]] += parsed[1]
            else:
                changes[parsed[0]] += sign * parsed[1]
    for note in notes:
        assert _NOTES.match(note), note
        if not note.startswith(("optional: ", "a star when", "every player places")):
            open_fields |= _mentioned(note)
    if "lose a commodity or resource" in move.risk:
        open_fields |= {*GOODS}
    if match := re.search(r"hand limit: (perhaps )?discard (\d+)", move.risk):
        changes["artifact"] -= int(match[2])
        open_fields |= {"artifact"} if match[1] else set()
    return changes, open_fields


class _Completed:
    """A move carried out until the next decision of a turn: abilities are skipped, everything else is chosen at random."""

    def __init__(self, game: Game, move: str, rng: random.Random, dice: tuple[int, ...] = ()) -> None:
        self.game = game.clone()
        self.asked: list[str] = []
        p, turn = self.game.player, self.game.turn
        if dice:
            self.game.load(dice=list(dice))
        self.game.play(move)
        self.whole = True
        while self.game.turn == turn and self.game.deciding not in ("open", "further", "nothing"):
            self.asked.append(self._what())
            legal = self.game.legal()
            self.game.play("skip" if "skip" in legal else rng.choice(legal))
        if self.game.over or self.game.truncated:
            self.whole = False
        self.after = _fields(self.game, p)

    def _what(self) -> str:
        return f"{self.game.legal()[0].split()[0]} {self.game.player}"  # such as "discard 2"


def _gains_worker(move: Move) -> bool:
    return "1 worker" in re.split("[,;] ", move.gain)


def _lose_asked(done: _Completed, p: int) -> bool:
    return f"lose {p}" in done.asked


@decisions_of
def test_placements_and_retrievals_cost_and_give_what_is_said(decisions: Decisions) -> None:
    checked = 0
    for game, rng in decisions():
        if game.deciding not in ("open", "further") or rng.random() < 0.4:
            continue
        p, before = game.player, _fields(game, game.player)
        for move in rng.sample(legal := words.legal_moves(game, p), min(6, len(legal))):
            if not move.notation.startswith(("place", "retrieve", "dilemma star")) or "missing for the cost" in move.risk:
                continue
            if "on the Academy" in move.gain:  # the abilities are back at once, if the star goes there
                continue
            done = _Completed(game, move.notation, rng)
            g = game.states[0]
            steven = RECRUIT_NAMES.index("steven_the_scholar")
            lost = done.game.states[0]["owned"][p] < g["owned"][p] + _gains_worker(move)
            if not done.whole or _lose_asked(done, p) or (lost and int(g["active_cards"][p]) >> steven & 1):
                continue
            changes, unsure = _foretold(move)
            if f"discard {p}" in done.asked and "hand limit" not in move.risk and "artifact" not in unsure:
                raise AssertionError(f"{move}: a discard that was not foretold")
            for name in {*before, *done.after} - unsure:
                real = done.after[name] - before[name]
                assert real == changes[name], f"{move}: {name} changed by {real}; {done.game.history[-1]}"
            checked += 1
    assert checked > 60


@decisions_of
def test_abilities_cost_and_give_what_is_said(decisions: Decisions) -> None:
    """Used or skipped, everything else being equal, the difference is what the two moves say."""
    for game, rng in decisions():
        if game.deciding != "use" or "_site_" in _space(game):
            continue
        use, skip = words.legal_moves(game, game.player)
        if "one of those workers" in use.cost and roll_penalty(game.states[0], game.player):
            continue  # with fewer dice another good may be lost
        seed = rng.getrandbits(30)
        used, skipped = (_Completed(game, move.notation, random.Random(seed)) for move in (use, skip))
        drawing = "drawn" in skip.gain
        if (
            not (used.whole and skipped.whole)
            or skipped.asked
            or any(what.startswith(("lose", "discard")) for what in used.asked)
        ):
            continue
        (gained, unsure), (instead, other) = _foretold(use), _foretold(skip)
        if "too little is left" in use.risk:
            continue
        unsure |= other | ({"artifact"} if drawing or "hand limit" in use.risk else set())  # who skips may have to discard later
        ended = {name for name in used.after if "miner" in name and used.after[name] == MINER_END}  # it comes there without, too
        for name in {*used.after, *skipped.after} - unsure - ended:
            real = used.after[name] - skipped.after[name]
            assert real == gained[name] - instead[name], f"{use}: {name} differs by {real}; {used.asked}"


def _space(game: Game) -> str:
    return SPACES[int(game.states[0]["space"])]


def _phil_and_matthew(goods: dict[str, int]) -> Game:
    """Player 0 has bumped a worker from the tunnel, where knowledge may pay (Matthew), and is asked whether to use Phil."""
    active = [{"name": name, "active": True} for name in ("phil_the_spy", "matthew_the_thief")]
    players = [{"workers": [2, 1], "knowledge": 5, "goods": goods, "recruits": active}, {"workers": [1]}]
    game = Game.from_dict(
        {"rules": {"num_players": 2}, "players": players, "workers": {"subterran_tunnel": [[1, 3]]}, "load": {"dice": [1]}}
    )
    game.play("place 2 subterran_tunnel")
    assert game.legal() == ["use phil_the_spy", "skip"]
    return game


@pytest.mark.parametrize("water", [0, 1])
def test_a_price_that_leaves_too_little_for_the_space_is_told(water: int) -> None:
    game = _phil_and_matthew({"water": water})
    assert ("too little is left" in words.legal_moves(game, 0)[0].risk) == (not water)
    game.play("use phil_the_spy")
    assert (game.states[0]["miners"][1] == 0) == (not water)


def test_whether_a_recruit_kept_becomes_active_is_told() -> None:
    players = [{"workers": [2], "artifacts": {"bat": 2}, "dilemma": {"artifact": "bat"}, "morale": 6}, {"workers": [1]}]
    load = {"recruits": ["ray_the_foreman", "brett_the_lockpicker"]}
    position = {"rules": {"num_players": 2}, "players": players, "allegiance": {"subterran": 8}, "load": load}
    game = Game.from_dict(position)
    for move in ("dilemma recruit", "pay match"):
        game.play(move)
    hidden, active = words.legal_moves(game, 0)
    assert hidden.text == "Keep Ray the Foreman (Euphorian), hidden for now"
    assert active.text == "Keep Brett the Lockpicker (Subterran), active at once"


_ONE_OF = ("gain", "lose", "discard", "star", "accept", "refuse", "pay")


@decisions_of
def test_choices_differ_by_what_is_said(decisions: Decisions) -> None:
    """Of two choices in the same decision, everything else being equal, the difference is what the two say."""
    checked = 0
    for game, rng in decisions():
        moves = [move for move in words.legal_moves(game, game.player) if move.notation.split()[0] in _ONE_OF]
        if len(moves) < 2:
            continue
        one, two = rng.sample(moves, 2)
        seed = rng.getrandbits(30)
        ends = [_Completed(game, move.notation, random.Random(seed)) for move in (one, two)]
        if not all(end.whole and not end.asked for end in ends) or (one.group == "Pay" and "_site_" not in _space(game)):
            continue
        (first, open_first), (second, open_second) = _foretold(one), _foretold(two)
        before = _fields(game, game.player)
        for name in {*before, *ends[0].after, *ends[1].after} - open_first - open_second:
            real = ends[0].after[name] - ends[1].after[name]
            assert real == first[name] - second[name], f"{one} {two}: {name} differs by {real}"
        checked += 1
    assert checked > 3


# ----------------------------------------------------------------------------------------------------- chances are exact


def _stated(move: Move, whose: str = "") -> float:
    return sum(float(found) for found in re.findall(rf"(?:^|; ){whose}knowledge check: ([\d.]+) %", move.risk))


def _chance(game: Game, move: Move, p: int, dice: int) -> float | None:
    """The share of all rolls with which a player loses a worker to the knowledge check; None if the game ends before."""
    owned = int(game.states[0]["owned"][p]) + (_gains_worker(move) and p == game.player)
    lost = 0
    for faces in itertools.product(range(1, 7), repeat=dice):
        done = _Completed(game, move.notation, random.Random(0), faces)
        if not done.whole:
            return None
        after = done.game
        lost += owned - int(after.states[0]["owned"][p])
    return 100 * lost / 6**dice


def _rolled(game: Game, move: Move) -> tuple[str, int]:
    """Why a move rolls dice, and how many; "" if it rolls none, or if how many is left open."""
    taken = int(game.states[0]["num_taken"])
    if move.notation == "done":
        return "done", taken
    if move.notation.startswith("set "):
        return "set", max(0, taken - 1)
    if not move.notation.startswith("place") or not move.risk or "unless" in move.gain:
        return "", 0
    if built := re.findall(r"(\d) workers? there", move.risk):
        return "built", sum(map(int, built))
    own, new, other = (words in move.risk for words in ("own ", "new worker", "bumps"))
    kind = "both" if own and new else "own" if own else "" if new and other else "new" if new else "bumps" if other else ""
    return kind, own + new + other


def _with_goods(game: Game, **goods: int) -> Game:
    """The game, in which the player to decide has so many of these goods."""
    changed = game.to_dict()
    changed["players"][game.player]["goods"] |= goods
    return Game.from_dict(changed)


@pytest.mark.parametrize("part", range(10, 13))
def test_the_knowledge_check_is_exact(part: int) -> None:
    checked: Counter[tuple[str, bool]] = Counter()
    rules = Rules(num_players=2 + part % 3, doubles_cost_morale=part % 2 == 0)
    for game, rng in itertools.chain(_played(rules, 400), _from_positions(part, 100)):
        p = game.player
        for move in words.legal_moves(game, p):
            kind, dice = _rolled(game, move)
            other = re.search(r"bumps player (\d)", move.risk)
            q, whose = (int(other[1]), "their ") if other else (p, "")
            said = _stated(move, whose)
            of_its_kind = kind, 0 < said < 100
            if not kind or dice > 3 or checked[of_its_kind] > 20 or (said == 0 and rng.random() < 0.5):
                continue
            if kind == "built" and "if you paid gold" in move.gain:  # Michael: see the next test
                game = _with_goods(game, gold=0)
                if move.notation not in game.legal():
                    continue
            real = _chance(game, move, q, dice)
            if real is not None:
                assert abs(real - said) <= 0.0501 * max(1, len(re.findall("knowledge check", move.risk))), f"{move}: {real}"
                checked[of_its_kind] += 1
    assert all(sum(checked[kind, unsure] for unsure in (False, True)) > 10 for kind in ("bumps", "done", "own", "new", "built"))
    assert sum(number for (_, unsure), number in checked.items() if unsure) > 30, checked


@pytest.mark.parametrize("means", ["gold", "clay"])
def test_the_knowledge_check_of_a_site_that_gold_makes_riskier(means: str) -> None:
    """Michael the Engineer learns something if gold is paid, and only then: both chances are told (R5.3, R9.3)."""
    player = {"knowledge": 3, "workers": [2, 6, 4], "recruits": [{"name": "michael_the_engineer", "active": True}]}
    position = {
        "rules": {"num_players": 2},
        "player": 0,
        "players": [{**player, "goods": {"gold": 1, "clay": 1}}, {"knowledge": 1, "workers": [1]}],
        "workers": {"euphorian_site_1_1": [[1, 1]]},
    }
    game = Game.from_dict({**position, "seed": 1})
    move = next(move for move in words.legal_moves(game, 0) if move.notation == "place 2 euphorian_site_1_2")
    said = _stated(move), _stated(move, "if you paid gold, ")
    assert 0 < said[0] < said[1]
    real = _chance(_with_goods(game, **{"clay" if means == "gold" else "gold": 0}), move, 0, 2)
    assert real == pytest.approx(said[means == "gold"], abs=0.0501)


# ----------------------------------------------------------------------------------------------------- workers come back


@pytest.mark.parametrize("taken", [0, 1])
def test_what_the_order_of_retrieving_leaves_out_is_told(taken: int) -> None:
    """R18.2: workers are asked for by space, and after one none that stands before it."""
    workers = {"generator": [[0, 3]], "farm": [[0, 2], [0, 2], [0, 5]]}
    game = Game.from_dict(
        {"rules": {"num_players": 2}, "player": 0, "players": [{"morale": 3}, {"workers": [1]}], "workers": workers}
    )
    game.play("retrieve free")
    if taken:
        game.play(next(move for move in game.legal() if "farm" in move))
    told = {move.notation: move for move in words.legal_moves(game, 0)}
    for notation, move in told.items():
        after = game.clone()
        after.play(notation)
        if notation == "done":
            continue
        still = after.legal() if after.deciding == game.deciding else []
        for other in set(told) - {"done", notation}:
            left_out = other not in still  # of a roll that followed at once too
            assert (told[other].text.removeprefix("Take back ").replace(" from ", " on ") in move.risk) == left_out, (move, other)
        assert ("at once" in move.gain) == (after.turn > game.turn)


# ------------------------------------------------------------------------------------------------- nothing hidden is told


def _dealt_again(game: Game, seat: int | None, rng: random.Random) -> Game:
    """All that a seat does not know is dealt again; of None, all that not everybody knows."""
    if seat is None:
        game, seat = game.determinize(0, rng.getrandbits(30)), 1
    return game.determinize(seat, rng.getrandbits(30))


@decisions_of
def test_words_are_the_same_in_every_deal_that_a_seat_may_believe(decisions: Decisions) -> None:
    for game, rng in decisions():
        if rng.random() < 0.7:
            continue
        for seat in (None, *range(game.rules.num_players)):
            other = _dealt_again(game, seat, rng)
            if seat is not None:
                assert words.legal_moves(other, seat) == words.legal_moves(game, seat)
            assert words.question(other, seat) == words.question(game, seat)
