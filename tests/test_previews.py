"""The engine does what is said of a move before it is made; chances are exact."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from euphoria_env import Game, Rules, words
from euphoria_env.event_kinds import EventKind
from euphoria_env.phrases import YOU, Phrase, Text
from euphoria_env.words import Move
from tests.tools.playing import active
from tests.tools.previews import compared, played


def _said(game: Game, notation: str, names: list[str] | None = None) -> Move:
    return next(move for move in words.legal_moves(game, game.player, names) if move.notation == notation)


@pytest.mark.parametrize("part", range(4))
def test_what_a_preview_says_happens(part: int) -> None:
    """Certain costs and gains, nothing unannounced, abilities asked, workers lost, winners: all options, 2 to 6 players."""
    assert list(compared(1000, part)) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_what_a_preview_says_happens_in_many_decisions(part: int) -> None:
    assert list(compared(5000, 1000 + part)) == []


# --------------------------------------------------------------------------------------------------------- chances are exact


def _checks(game: Game, move: str, faces: tuple[int, ...] = ()) -> tuple[int, Counter[int]] | None:
    """The dice that a move rolls until the next placement, and who loses a worker; abilities are skipped. None: the game ends."""
    after = game.clone()
    if faces:
        after.load(dice=list(faces))
    known = len(after.events)
    after.play(move)
    rng = random.Random(1)
    while after.turn == game.turn and after.deciding not in ("open", "further", "nothing"):
        after.play("skip" if "skip" in after.legal() else rng.choice(after.legal()))
    if not after.legal():
        return None
    events = list(itertools.takewhile(lambda event: event.kind != EventKind.TURN, after.events[known:]))
    lost = Counter(event.player for event in events if event.kind == EventKind.WORKER_LOST)
    return sum(event.kind == EventKind.DIE for event in events), lost


def _stated(move: Move, q: int, own: bool) -> tuple[float, float]:
    """The lowest and the highest chance that is said of a player, in percent."""
    who = YOU if own else Phrase("player", n=q)
    for risk in move.facts.risk:
        if isinstance(risk, Phrase) and risk.id == "risk.check" and risk.args["who"] == who:
            chance = risk.args["chance"]
            low, high = (chance.args[end] for end in ("low", "high")) if _is_range(chance) else (chance, chance)
            return float(str(low)), float(str(high))
    return 0.0, 0.0


def _is_range(chance: Text) -> bool:
    return isinstance(chance, Phrase) and chance.id == "risk.between"


@pytest.mark.parametrize("part", range(2))
def test_the_knowledge_check_is_exact(part: int) -> None:
    """All faces of all dice are played; where the choices that follow matter, the chance lies between those that are said."""
    checked: Counter[tuple[str, bool]] = Counter()
    for seed in itertools.count(100 * part):
        for game, moves, _ in played(random.Random(seed)):
            if game.deciding not in ("open", "further", "take", "set_face"):
                continue
            for move in moves:
                kind = move.notation.split()[0]
                of_its_kind = kind, "knowledge check" in move.risk
                if kind not in ("place", "done", "set") or checked[of_its_kind] >= (12 if of_its_kind[1] else 3):
                    continue
                first = _checks(game, move.notation)
                if first is None or not 1 <= first[0] <= 3:
                    continue
                results = [_checks(game, move.notation, f) for f in itertools.product(range(1, 7), repeat=first[0])]
                if None in results or len({result[0] for result in results}) > 1:
                    continue
                for q in range(game.rules.num_players):
                    real = 100 * sum(result[1][q] for result in results) / len(results)
                    low, high = _stated(move, q, q == game.player)
                    assert low - 0.0501 <= real <= high + 0.0501, f"{move}: {real} for player {q}"
                checked[of_its_kind] += 1
        if all(checked["place", stated] >= 3 and checked["done", stated] >= 3 for stated in (False, True)):
            break
        assert seed < 100 * part + 60, checked


# ------------------------------------------------------------------------------------------------------------ single moves


def test_no_roll_is_expected_where_the_game_ends_first() -> None:
    """R16.1."""
    player = {"workers": [5, 6], "knowledge": 5, "goods": {"stone": 1}}
    position = {
        "rules": {"num_players": 2, "stars_to_win": 3},
        "players": [player, {"workers": [1]}],
        "workers": {"subterran_site_1_3": [[1, 2]]},
        "territories": {"euphorian_territory": [0, 0]},
    }
    move = _said(Game.from_dict({**position, "seed": 1}), "place 5 subterran_site_1_2")
    assert "; you win the game; player 1 places a star on Subterran market 1" in move.gain and move.risk == ""


def test_a_move_that_gives_somebody_else_the_win_says_so() -> None:
    """R7.6, R16.1: the track comes to its end, where an opponent has an active recruit and lacks one star; with names."""
    other = {"workers": [1], "recruits": active("katy_the_dietician")}
    position = {
        "rules": {"num_players": 2, "stars_to_win": 3},
        "players": [{"workers": [1]}, other],
        "allegiance": {"euphorian": 10},
        "territories": {"subterran_territory": [1, 1]},
    }
    game = Game.from_dict({**position, "seed": 1})
    assert _said(game, "place 1 generator").risk == "player 1 wins the game"
    move = _said(game, "place 1 generator", ["Ada", "Bob"])
    assert move.risk == "Bob wins the game" and "Bob places a star on Katy" in move.gain


def test_names_are_checked() -> None:
    game = Game(Rules(num_players=3), seed=1)
    for names in (["Ada"], "Ada", ["Ada", "Bob", 3]):
        with pytest.raises(ValueError, match="names must be None or 3 texts"):
            words.legal_moves(game, 0, names)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="names must be None or 3 texts"):
            words.question(game, 0, names)  # type: ignore[arg-type]
    assert words.question(game, None, ["Ada", "Bob", "Cleo"]).startswith(f"{['Ada', 'Bob', 'Cleo'][game.player]}: ")
