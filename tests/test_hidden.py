"""Hidden information (R19): observations show none of it, `determinize` deals all of it again, evenly and only consistently."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from euphoria_env import Game, Rules
from euphoria_env.board import ARTIFACTS, FIRST_ARTIFACT, MARKETS
from euphoria_env.cards.recruits import FACTION_OF, RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decisions import DECISIONS
from euphoria_env.engine.state import GAME_DTYPE, OUT_BY
from tests.tools.playing import all_rules, conserved, differing, prefer, random_move
from tests.tools.positions import any_position

Position = dict[str, Any]
FACTIONS = ("euphorian", "subterran", "wastelander", "icarite")
FACTION = {name: FACTIONS[FACTION_OF[k]] for k, name in enumerate(RECRUIT_NAMES)}


def told(game: Game) -> Position:
    """The position, and under `pending` cards that the state has for the turn or the setup under way."""
    row = game.states[0]
    return game.describe() | {"pending": {name: row[name].tolist() for name in ("hand", "kept", "tile_hand", "set_a")}}


def with_cards_out(game: Game, places: str, cards: Iterable[int], player: int) -> Game:
    """A game in which a player has put some cards out of the game."""
    rows = game.states.copy()
    rows[places][0, [*cards]] = OUT_BY + player
    return Game.taking(rows)


# -------------------------------------------------------------------------------------------------------------- determinize


def check_deal(game: Game, observer: int, rng: random.Random) -> bool:
    """Deals what an observer cannot know again: they see no difference, nor does it show in another deal; whether others do."""
    n = game.rules.num_players
    game.load(dice=[1, 2, 3])
    deal, seed = game.determinize(observer, rng.getrandbits(30)), rng.getrandbits(30)
    d = deal.describe()
    conserved(d)
    assert d["load"] == {} and d["generator"] != game.describe()["generator"]
    assert differing(deal.observation(observer), game.observation(observer)) == []
    assert (deal.player, deal.deciding) == (game.player, game.deciding)
    assert len(deal.legal()) > (0 if deal.deciding == "open" else 1), "a decision with one answer is not asked"
    assert observer != game.player or deal.legal() == game.legal()
    assert deal.determinize(observer, seed) == game.determinize(observer, seed), "a deal reveals nothing of the cards before"
    return any(differing(deal.observation(q), game.observation(q)) for q in range(n) if q != observer)


def test_every_deal_looks_the_same_to_its_player() -> None:
    """At decisions of all kinds, in setup and drafts too, seen by everybody; `check_deals` shows that all is dealt again."""
    rng = random.Random(6)
    asked: Counter[str] = Counter()
    changes = checked = 0
    starts: list[Game] = [Game(rules, seed=k) for k, rules in enumerate(all_rules())]
    starts += [Game.from_dict({**any_position(rng), "seed": number}) for number in range(120)]
    for game in starts:
        for _ in range(20):
            if not game.legal():
                break
            asked[game.deciding] += 1
            for observer in range(game.rules.num_players):
                changes += check_deal(game.clone(), observer, rng)
                checked += 1
            game.play((random_move if game.turn else prefer)(game, rng))
    assert {*DECISIONS} - {*asked} <= {"nothing", "sacrifice", "set_face"}
    assert changes > checked / 2, "what is dealt again should matter to those who may see it"


def test_a_deal_depends_on_position_player_and_seed_alone() -> None:
    game = Game(Rules(num_players=3), seed=1)
    for _ in range(40):
        game.play(prefer(game, random.Random(1)))
    assert game.determinize(1, 5) == game.determinize(1, 5) == game.clone().determinize(1, 5)
    assert game.determinize(1, 5) != game.determinize(1, 6)
    assert game.determinize(1, 5) != game.determinize(2, 5)


Key = Callable[[Position], Hashable]


def _dealt(game: Game, observer: int, seed: int) -> bytes:
    """The row of a deal without its generator: equal deals are read once."""
    rows = game.determinize(observer, seed).states.copy()
    rows["rng"] = 0
    return rows.tobytes()


def check_deals(game: Game, observer: int, key: Key, possible: Counter, samples: int = 3000) -> None:
    """`determinize` gives exactly the possible deals, in proportion to their weights (chi squared, with a generous bound)."""
    assert key(told(game)) in possible, "the enumeration must know the real deal"
    found: Counter = Counter()
    for deal, times in Counter(_dealt(game, observer, seed) for seed in range(samples)).items():
        found[key(told(Game.taking(np.frombuffer(deal, GAME_DTYPE).copy())))] += times
    assert {*found} - {*possible} == set(), "inconsistent deals"
    expected = {deal: samples * weight / possible.total() for deal, weight in possible.items()}
    assert {deal for deal, number in expected.items() if number > 12} - {*found} == set(), "deals that do not come"
    chi = sum((found[deal] - number) ** 2 / number for deal, number in expected.items())
    freedom = len(expected) - 1
    assert chi < freedom + 5 * math.sqrt(2 * freedom) + 8, f"{chi:.0f} with {freedom} degrees of freedom"


def arrangements(cards: Iterable[str], sizes: list[int]) -> Iterator[list[list[str]]]:
    """All ways to deal distinguishable cards to hands of these sizes; the rest stays in the deck."""
    for order in itertools.permutations(cards, sum(sizes)):
        hands, at = [], 0
        for size in sizes:
            hands.append(sorted(order[at : at + size]))
            at += size
        yield hands


def counted(hand: Iterable[str]) -> tuple:
    return tuple(sorted(Counter(hand).items()))


def hands_of(*players: int) -> Key:
    return lambda d: tuple(tuple(sorted(d["players"][p]["artifacts"].items())) for p in players)


def few_cards(hands: list[list[str]], deck: list[str], **more: Any) -> Position:
    """A position of few unknown cards: all the others are discarded."""
    used = Counter(card for hand in hands for card in hand) + Counter(deck)
    players = [{"morale": 6, "artifacts": dict(Counter(hand)), "workers": [4]} for hand in hands]
    for player, extra in zip(players, more.pop("players", []), strict=False):
        player.update(extra)
    return {
        "rules": {"num_players": len(hands)},
        "seed": 1,
        "players": players,
        "discards": dict(Counter(dict.fromkeys(ARTIFACTS, 6)) - used),
        **more,
    }


def test_hands() -> None:
    game = Game.from_dict(few_cards([["book"], ["bat", "bear"], ["bat"]], ["box"]))
    possible = Counter(tuple(map(counted, hands)) for hands in arrangements(["bat", "bear", "bat", "box"], [2, 1]))
    check_deals(game, 0, hands_of(1, 2), possible)
    possible = Counter(tuple(map(counted, hands)) for hands in arrangements(["book", "bear", "bat", "box"], [1, 2]))
    check_deals(game, 2, hands_of(0, 1), possible)


def test_a_way_to_pay_of_somebody_else() -> None:
    """Player 1 is asked how to pay at the wind salon: there are 3 cards and a pair, or two pairs."""
    game = Game.from_dict(few_cards([["book"], ["bat", "bat", "bear"]], ["box", "bear", "bat"], player=1))
    game.play("place 4 wind_salon")
    assert game.deciding == "artifact_way"
    possible: Counter = Counter()
    for (hand,) in arrangements(["bat", "bat", "bat", "bear", "bear", "box"], [3]):
        if max(Counter(hand).values()) >= 2:
            possible[(counted(hand),)] += 1
    check_deals(game, 0, hands_of(1), possible)


def test_a_way_to_pay_the_dilemma_of_somebody_else() -> None:
    """Hand and dilemma of player 1 together: the artifact of the dilemma, and two cards."""
    dilemmas = [{"dilemma": {"artifact": name}} for name in ("book", "bat")]
    game = Game.from_dict(few_cards([["book"], ["bat", "bear"]], ["box", "box"], player=1, players=dilemmas))
    game.play("dilemma star")
    assert game.deciding == "dilemma_way"
    possible = Counter(
        (counted(hand), dilemma)
        for (hand,) in arrangements(["bat", "bear", "box", "box"], [2])
        for dilemma in ARTIFACTS
        if dilemma != "book" and dilemma in hand
    )
    check_deals(game, 0, lambda d: (*hands_of(1)(d), d["players"][1]["dilemma"]["artifact"]), possible)


@pytest.mark.parametrize("observer", [0, 2])
def test_bradleys_choice(observer: int) -> None:
    """Only the owner knows which two cards of the hand were drawn."""
    bradley = {"knowledge": 2, "recruits": [{"name": "bradley_the_futurist", "active": True}]}
    hands = [["bifocals"], ["bat", "book", "book"], ["bear"]]
    game = Game.from_dict(few_cards(hands, ["box", "bear", "bat"], player=1, players=[{}, bradley]))
    game.load(artifacts=["box", "bear"])
    for move in ("place 4 incinerator_of_historical_accuracy", "pay pair book", "use bradley_the_futurist"):
        game.play(move)
    assert game.deciding == "series" and game.player == 1 and game.legal() == ["discard bear", "discard box"]
    unknown = ["bat", "box", "bear", "bat", "bear" if observer == 0 else "bifocals"]
    possible: Counter = Counter()
    for order in itertools.permutations(unknown, 4):
        hand, other = order[:3], order[3:]
        for two in itertools.combinations(range(3), 2):
            drawn = {hand[k] for k in two}
            if len(drawn) == 2:
                possible[counted(hand), counted(other), tuple(sorted(drawn))] += 1

    def key(d: Position) -> Hashable:
        drawn = [name for k, name in enumerate(ARTIFACTS) if d["pending"]["set_a"] >> (FIRST_ARTIFACT + k) & 1]
        return (*hands_of(1, 2 - observer)(d), tuple(drawn))

    check_deals(game, observer, key, possible)
    assert game.determinize(1, 2).legal() == game.legal()


@pytest.mark.parametrize("observer", [0, 2])
def test_an_offer(observer: int) -> None:
    """Player 1 offers a bat for a bear: the bat exists, and once the other is asked, that one has the bear."""
    start = few_cards([["book", "bear"], ["bat", "box"], ["bear"]], ["box", "bat"], player=1)
    game = Game.from_dict({**start, "rules": {"num_players": 3, "trading": True}})
    for move in ("trade +2", "give bat"):
        game.play(move)
    assert game.deciding == "trade" and game.player == 1
    own = ["book", "bear"] if observer == 0 else ["bear"]
    hidden = Counter(["book", "bear", "bat", "box", "bear", "box", "bat"]) - Counter(own)
    third = 2 if observer == 0 else 0
    size = 1 if observer == 0 else 2
    possible: Counter = Counter()
    for offered, other in arrangements((hidden - Counter(["bat"])).elements(), [1, size]):
        possible[counted([*offered, "bat"]), counted(other)] += 1
    check_deals(game, observer, hands_of(1, third), possible)
    for move in ("ask bear", "offer"):
        game.play(move)
    assert game.deciding == "reply" and game.player == 0
    possible = Counter()
    if observer == 0:
        for offered, other in arrangements((hidden - Counter(["bat"])).elements(), [1, 1]):
            possible[counted([*offered, "bat"]), counted(other)] += 1
    else:
        for offered, other in arrangements((hidden - Counter(["bat", "bear"])).elements(), [1, 1]):
            possible[counted([*offered, "bat"]), counted([*other, "bear"])] += 1
    check_deals(game, observer, hands_of(1, third), possible)


def test_dilemmas() -> None:
    dilemmas = ({"artifact": "book"}, {"artifact": "bat"}, {"artifact": "box", "resolved": "star"}, {"artifact": "bear"})
    game = Game.from_dict({"rules": {"num_players": 4}, "seed": 1, "players": [{"dilemma": one} for one in dilemmas]})
    left = [name for name in ARTIFACTS if name not in ("book", "box")]
    possible = Counter(("book", a, "box", b) for a, b in itertools.permutations(left, 2))
    check_deals(game, 0, lambda d: tuple(player["dilemma"]["artifact"] for player in d["players"]), possible)


def few_recruits(d: Position, observer: int, unknown: Iterable[str]) -> Position:
    """The position in which the observer put out of the game every recruit but these and those that somebody holds."""
    held = {recruit["name"] for player in d["players"] for recruit in player["recruits"]}
    d["recruits_out"] = {name: observer for name in RECRUIT_NAMES if name not in {*held, *unknown}}
    return d


def _recruit_position(hidden: dict[int, str], active: dict[int, str], **more: Any) -> Position:
    players: list[Position] = [{"recruits": []} for _ in range(3)]
    for cards, is_active in ((active, True), (hidden, False)):
        for p, name in cards.items():
            players[p]["recruits"].append({"name": name, "active": is_active})
    return {"rules": {"num_players": 3}, "seed": 2, "players": players, **more}


def hidden_recruits(d: Position) -> Hashable:
    return tuple(tuple(sorted(r["name"] for r in player["recruits"] if not r["active"])) for player in d["players"])


def _by_faction(faction: str) -> list[str]:
    return [name for name in RECRUIT_NAMES if FACTION[name] == faction]


@pytest.mark.parametrize("revealed", [None, "subterran", "wastelander"])
def test_hidden_recruits(revealed: str | None) -> None:
    """None of a revealed faction is hidden (R7.4, R7.5)."""
    own, first, second = (_by_faction(name)[0] for name in ("euphorian", "icarite", "euphorian"))
    second = _by_faction("euphorian")[1]
    deck = [_by_faction(name)[2] for name in FACTIONS]
    tracks = {"allegiance": {revealed: 8}} if revealed == "subterran" else {"miners": {revealed: 6}} if revealed else {}
    d = _recruit_position({0: own, 1: first, 2: second}, {1: _by_faction("icarite")[3]}, **tracks)
    game = Game.from_dict(few_recruits(d, 0, deck))
    unknown = [name for name in (first, second, *deck) if FACTION[name] != revealed]
    possible = Counter(((own,), (a,), (b,)) for a, b in itertools.permutations(unknown, 2))
    check_deals(game, 0, hidden_recruits, possible)


def recruits_in_hand(d: Position, *players: int) -> Hashable:
    return tuple(tuple(sorted(RECRUIT_NAMES[card] for card in d["pending"]["hand"][p] if card >= 0)) for p in players)


def test_the_recruits_of_somebody_elses_dilemma() -> None:
    """Player 1 chooses one of two recruits drawn; a drawn one may be of a revealed faction."""
    hidden = {1: _by_faction("icarite")[0]}
    deck = [_by_faction("subterran")[2], _by_faction("subterran")[3], _by_faction("euphorian")[2]]
    d = _recruit_position(hidden, {}, player=1, allegiance={"subterran": 8})
    d["players"][1].update(artifacts={"bat": 1}, dilemma={"artifact": "bat"}, workers=[4])
    game = Game.from_dict(few_recruits(d, 0, deck))
    game.play("dilemma recruit")
    assert game.deciding == "recruit" and game.player == 1
    unknown = [hidden[1], *deck]
    possible = Counter(
        (((), (first,), ()), (tuple(sorted(two)),))
        for first in unknown
        if FACTION[first] != "subterran"
        for two in itertools.combinations([name for name in unknown if name != first], 2)
    )
    check_deals(game, 0, lambda d: (hidden_recruits(d), recruits_in_hand(d, 1)), possible)
    assert game.determinize(1, 1).legal() == game.legal()


@pytest.mark.parametrize(
    ("draft", "moves", "chosen"),
    [
        (False, 2, 2),  # player 0 has chosen, player 1 the active one, nothing is shown
        (False, 1, 1),  # player 0 chooses the hidden recruit
        (True, 3, 2),  # player 0 has kept two; what was passed on is not remembered (R19.2)
    ],
)
def test_recruits_of_the_setup(draft: bool, moves: int, chosen: int) -> None:
    """The four cards of player 0 in player 1's eyes: some chosen, in order, the rest in hand or put out of the game."""
    game = Game(Rules(num_players=2, recruit_draft=draft), seed=5)
    for k in range(moves):
        game.play(game.legal()[k % len(game.legal())])

    def cards(d: Position, p: int) -> tuple[list[str], list[str]]:
        kept, hand = ([RECRUIT_NAMES[card] for card in d["pending"][kind][p] if card >= 0] for kind in ("kept", "hand"))
        out = [name for name, owner in d["recruits_out"].items() if owner == p]
        return [recruit["name"] for recruit in d["players"][p]["recruits"]] + kept, hand + out

    d = told(game)
    held = {name for p in (0, 1) for part in cards(d, p) for name in part}
    deck = [name for name in RECRUIT_NAMES if name not in held][:2]
    out = [k for k, name in enumerate(RECRUIT_NAMES) if name not in held and name not in deck]
    game, unknown = with_cards_out(game, "recruit_place", out, 1), [*itertools.chain(*cards(d, 0)), *deck]
    assert len(unknown) == 6
    possible = Counter(
        (order, tuple(sorted(rest)))
        for order in itertools.permutations(unknown, chosen)
        for rest in itertools.combinations([name for name in unknown if name not in order], 4 - chosen)
    )

    def key(d: Position) -> Hashable:
        order, rest = cards(d, 0)
        return tuple(order), tuple(sorted(rest))

    check_deals(game, 1, key, possible, samples=6000)


def test_the_draft_of_tiles() -> None:
    """Player 0 has put one tile in and one out, player 2 has two in hand; player 1 knows their own."""
    rules = Rules(num_players=3, market_draft=True)
    game = Game(rules, seed=4)
    while game.deciding != "tile":
        game.play(game.legal()[0])
    game.play(game.legal()[0])
    assert game.player == 1
    d = told(game)
    hands = [[TILES[tile] for tile in hand if tile >= 0] for hand in d["pending"]["tile_hand"]]
    used = {*d["tiles_in"], *d["tiles_out"], *hands[1], *hands[2]}
    deck = [name for name in TILES if name not in used][:2]
    game = with_cards_out(game, "tile_place", [k for k, name in enumerate(TILES) if name not in {*used, *deck}], 1)
    unknown = [*d["tiles_in"], *[name for name, owner in d["tiles_out"].items() if owner == 0], *hands[2], *deck]
    assert len(unknown) == 6

    def key(d: Position) -> Hashable:
        mine = [name for key in ("tiles_in", "tiles_out") for name, owner in d[key].items() if owner == 0]
        return tuple(mine), tuple(sorted(TILES[tile] for tile in d["pending"]["tile_hand"][2]))

    possible = Counter(
        ((a, b), tuple(sorted(hand)))
        for a, b in itertools.permutations(unknown, 2)
        for hand in itertools.combinations([name for name in unknown if name not in (a, b)], 2)
    )
    check_deals(game, 1, key, possible, samples=6000)


def _tiles(d: Position) -> Hashable:
    return tuple(market["tile"] for market in d["markets"].values())


def on_sites(hidden: int, **more: Any) -> Game:
    """A game with the first tiles on the sites, some of them hidden."""
    markets = {name: {"tile": TILES[k], "built": k >= hidden} for k, name in enumerate(MARKETS)}
    rules = {"num_players": 2, "market_draft": "tiles_in" in more}
    return Game.from_dict({"rules": rules, "seed": 1, "markets": markets, **more})


def test_tiles_of_the_sites() -> None:
    """Any tile that is not built may lie on a site."""
    game = on_sites(2, tiles_out={name: (0, None, 1)[k % 3] for k, name in enumerate(TILES[6:14])})
    unknown = [*TILES[:2], *(name for k, name in enumerate(TILES[6:14]) if k % 3), *TILES[14:]]
    built = TILES[2:6]
    possible = Counter((*two, *built) for two in itertools.permutations(unknown, 2))
    check_deals(game, 0, _tiles, possible, samples=6000)


def test_tiles_of_the_sites_after_the_draft() -> None:
    """One's own tile lies on some site that is not built, on which is not known; the tile put out lies on none."""
    tiles_out = {TILES[6]: 0, TILES[7]: 1, **dict.fromkeys(TILES[8:16])}
    game = on_sites(3, tiles_in={TILES[0]: 0, TILES[1]: 1}, tiles_out=tiles_out)
    unknown = [*TILES[1:3], TILES[7], *TILES[8:]]
    possible = Counter(
        (*order, *TILES[3:6]) for two in itertools.combinations(unknown, 2) for order in itertools.permutations([TILES[0], *two])
    )
    check_deals(game, 0, _tiles, possible, samples=12000)


def test_who_put_which_tile_in_the_game() -> None:
    """A tile of player 1 may be each one that lies on the board, the built ones too, except the player's own."""
    game = on_sites(2, tiles_in={TILES[0]: 0, TILES[3]: 1}, tiles_out=dict.fromkeys(TILES[6:17], 0))
    # Site and tile: the tiles 1 and 17 are unknown, one of them lies beside player 0's own.
    possible: Counter = Counter()
    for other in (TILES[1], TILES[17]):
        for order in itertools.permutations([TILES[0], other]):
            for owned in (other, *TILES[2:6]):
                possible[(*order, *TILES[2:6]), owned] += 1
    check_deals(game, 0, lambda d: (_tiles(d), next(name for name, owner in d["tiles_in"].items() if owner == 1)), possible)
