"""The words for moves, events and cards: they are complete and exact, and reveal nothing hidden."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from euphoria_env import Game, Rules, actions, words
from euphoria_env.board import ARTIFACTS, MARKETS, SPACES, STAR_PLACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from tests.tools.differential import NEVER_LEGAL
from tests.tools.positions import any_position, random_rules
from tests.tools.previews import played

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


@pytest.mark.parametrize("part", range(16))
def test_words_are_whole_and_tell_nothing_hidden(part: int) -> None:
    """They are the same in every deal that a seat may believe; for None, that everybody may."""
    rng = random.Random(f"words {part}")
    for game in itertools.islice((game for _ in range(20) for game, *_ in played(rng)), 200):
        _check_moves(game)
        if rng.random() < 0.7:
            continue
        for seat in (None, *range(game.rules.num_players)):
            other = _dealt_again(game, seat, rng)
            if seat is not None:
                assert words.legal_moves(other, seat) == words.legal_moves(game, seat)
            assert words.question(other, seat) == words.question(game, seat)


def _dealt_again(game: Game, seat: int | None, rng: random.Random) -> Game:
    """All that a seat does not know is dealt again; of None, all that not everybody knows."""
    if seat is None:
        game, seat = game.determinize(0, rng.getrandbits(30)), 1
    return game.determinize(seat, rng.getrandbits(30))


def _check_moves(game: Game) -> None:
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


def test_all_actions_are_explained() -> None:
    """In games with all options and after random positions; moves that were seldom played are preferred."""
    left = {actions.name(action) for action in range(actions.NUM_ACTIONS)} - NEVER_LEGAL
    left = {name for name in left if not name.startswith("sacrifice")}  # most are rare, and all have one sentence
    often: Counter[str] = Counter()
    for part in itertools.count():
        rng = random.Random(part)
        for game in (
            Game(Rules(**random_rules(rng)), seed=part),
            *(Game.from_dict({**any_position(rng), "seed": rng.getrandbits(32)}) for _ in range(20)),
        ):
            for _ in range(25):
                if not (legal := game.legal()):
                    break
                if not left.isdisjoint(legal):
                    _check_moves(game)
                    left.difference_update(legal)
                move = min(legal, key=lambda move: (often[move], rng.random()))
                often[move] += 1
                game.play(move)
        if not left:
            break
        assert part < 200, left


def test_there_is_nothing_to_explain_after_the_end() -> None:
    game = Game(Rules(num_players=2, max_turns=1), seed=1)
    while game.legal():
        game.play(game.legal()[0])
    assert game.truncated and words.legal_moves(game, game.player) == []
    assert words.question(game) == "The game was cut off: nobody has won"


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
        if notation == "done":
            continue
        after = game.clone()
        after.play(notation)
        still = after.legal() if after.deciding == game.deciding else []
        for other in set(told) - {"done", notation}:
            left_out = other not in still  # of a roll that followed at once too
            assert (told[other].text.removeprefix("Take back ").replace(" from ", " on ") in move.risk) == left_out, (move, other)


# --------------------------------------------------------------------------------------------------------------- prompts


def test_the_prompt_names_what_gives_a_choice() -> None:
    """The recruit, active and that player's own, or the space; the sentence of the words names it too."""
    rng, seen = random.Random(3), set()
    for _ in range(250):
        game = Game.from_dict({**any_position(rng), "seed": rng.getrandbits(32)})
        for _ in range(25):
            if not game.legal():
                break
            name = game.prompt.removeprefix("choose the gain from ")
            if name != game.prompt and not name.endswith("_tunnel"):
                active = [card["name"] for card in game.describe()["players"][game.player]["recruits"] if card["active"]]
                assert name in (*active, "sky_lounge") and words.title(name) in words.question(game)
                seen.add(name)
            using = [move for move in game.legal() if move.startswith(("use ", "gain "))]
            game.play(rng.choice(using or game.legal()))
    assert "sky_lounge" in seen and len(seen) > 8
