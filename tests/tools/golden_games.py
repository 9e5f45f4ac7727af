"""The games behind tests/golden; `scripts/regenerate_golden.py` writes it, `test_golden.py` compares."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from pathlib import Path
from typing import Any

from euphoria_env import Game, Rules
from tests.tools.playing import prefer, random_move

FOLDER = Path(__file__).parent.parent / "golden"
DIGESTS = FOLDER / "digests.json"
_DRAFTS = {"recruit_draft": True, "market_draft": True, "track_draft": True}

# The games that are recorded, by the name of their file.
GAMES: dict[str, Rules] = {
    **{f"{n}_players": Rules(num_players=n) for n in range(2, 7)},
    "2_players_trading": Rules(num_players=2, trading=True, trades_per_turn=2),
    "3_players_drafts_trading": Rules(num_players=3, trading=True, **_DRAFTS),
    "4_players_everything": Rules(num_players=4, trading=True, trades_per_turn=3, doubles_cost_morale=True, **_DRAFTS),
    "6_players_drafts": Rules(num_players=6, **_DRAFTS),
    "3_players_truncated": Rules(num_players=3, trading=True, max_turns=60),
}
# Outcomes loaded on the way, by name of the game and number of the decision.
LOADS: dict[str, dict[int, dict[str, list[Any]]]] = {
    "3_players_truncated": {20: {"dice": [6, 1, 1, 5]}, 90: {"artifacts": ["book", "box"], "dice": [3]}}
}


def play(name: str) -> Game:
    """Plays one of the recorded games to its end: mostly purposeful moves, now and then any."""
    rules, rng = GAMES[name], random.Random(f"golden {name}")
    game = Game(rules, seed=rng.getrandbits(40))
    for number in itertools.count():
        if not game.legal():
            return game
        if name in LOADS and number in LOADS[name]:
            game.load(**LOADS[name][number])
        game.play((random_move if rng.random() < 0.15 else prefer)(game, rng))
    raise AssertionError


def from_position() -> Game:
    """A game that starts in the middle of a decision."""
    rng = random.Random("golden position")
    start = Game(GAMES["4_players_everything"], seed=3)
    while "pay " not in start.legal()[0] or start.turn < 5:
        start.play(prefer(start, rng))
    game = Game.from_dict(start.to_dict())
    while game.legal():
        game.play(prefer(game, rng))
    return game


def digest(text: str) -> dict[str, Any]:
    """Digests of all legal moves, observations and positions of a record: they change with numbering and layout as well."""
    recorded = Game.from_record(text)
    lines = text.splitlines()
    start = json.loads(lines[0])
    game = Game.from_dict(start["position"]) if "position" in start else Game(Rules(**start["rules"]), start["seed"])
    legal, seen = hashlib.blake2b(digest_size=8), hashlib.blake2b(digest_size=8)
    for line in lines[1:-1]:
        if line.startswith("load "):
            game.load(**json.loads(line[len("load ") :]))
            continue
        legal.update(game.legal_actions().astype("<i2").tobytes())
        seen.update(game.observation(game.player).tobytes())
        game.play(line.split(" | ")[0])
    assert game == recorded
    return {
        "decisions": len(game.history),
        "turns": game.turn,
        "ranking": game.ranking,
        "legal": legal.hexdigest(),
        "observations": seen.hexdigest(),
    }
