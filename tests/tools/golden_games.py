"""The games and positions behind tests/golden; `scripts/regenerate_golden.py` writes it, `test_golden.py` compares."""

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
COUNTS = FOLDER / "counts.json"
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

_LOW = {"workers": [4], "knowledge": 2, "morale": 4}
_RICH = {"goods": dict.fromkeys(("energy", "water", "food", "bliss", "gold", "stone", "clay"), 2)}


def _recruits(*names: str) -> dict[str, Any]:
    return {"recruits": [{"name": name, "active": True} for name in names]}


# Positions whose continuations are counted: by name, the position (all chance comes from its seed) and the greatest depth.
POSITIONS: dict[str, tuple[dict[str, Any], int]] = {
    "opening": ({"rules": {"num_players": 2}, "seed": 11, "players": [{"workers": [1, 6]}, {"workers": [2, 5]}]}, 3),
    "equal_workers": (
        {"rules": {"num_players": 3}, "seed": 12, "players": [{"workers": [3, 3, 3], "goods": {"water": 2}}, {}, {}]},
        3,
    ),
    "retrieval": (
        {
            "rules": {"num_players": 2},
            "seed": 13,
            "players": [{"workers": [], **_RICH, **_recruits("pete_the_cannibal", "yordy_the_demotivator")}, {"workers": [5]}],
            "workers": {"generator": [[0, 1], [0, 1]], "farm": [[0, 2]], "tank_energy": [[0, 6]]},
        },
        3,
    ),
    "site_paid_in_every_way": (
        {
            "rules": {"num_players": 2},
            "seed": 14,
            "players": [
                {
                    **_LOW, **_RICH, "artifacts": {"bat": 1, "bear": 2},
                    **_recruits("michael_the_engineer", "flartner_the_scammer"),
                },
                {"workers": [1]},
            ],
        },
        2,
    ),
    "icarus_with_brian_and_josh": (
        {
            "rules": {"num_players": 2},
            "seed": 15,
            "players": [{**_LOW, **_RICH, **_recruits("brian_the_viticulturist", "josh_the_negotiator")}, {"workers": [1]}],
            "markets": {"euphorian_market_1": {"tile": "bemusement_park", "built": True}},
        },
        2,
    ),
    "dilemma_and_trade": (
        {
            "rules": {"num_players": 3, "trading": True},
            "seed": 16,
            "players": [
                {"workers": [2], "morale": 3, "artifacts": {"bat": 1, "book": 1}, "dilemma": {"artifact": "bat"}},
                {"goods": {"gold": 1}},
                {"artifacts": {"box": 1}},
            ],
        },
        3,
    ),
    "cards_over_the_limit": (
        {
            "rules": {"num_players": 2},
            "seed": 17,
            "players": [
                {
                    **_LOW, "goods": {"energy": 2}, "artifacts": {"bat": 2, "bear": 2},
                    **_recruits("geek_the_oracle", "jonathan_the_gambler", "bradley_the_futurist"),
                },
                {"workers": [1]},
            ],
        },
        3,
    ),
    "photo_finish": (
        {
            "rules": {"num_players": 2},
            "seed": 18,
            "players": [{**_LOW, **_RICH, "stars": 1}, {"workers": [1], **_RICH, "stars": 1}],
            "territories": {name: [0, 1] for name in ("euphorian_territory", "subterran_territory", "wastelander_territory")},
            "markets": {
                f"{faction}_market_{k}": {"built": True, "stars": [0, 1]}
                for faction in ("euphorian", "subterran", "wastelander") for k in (1, 2)
            },
            "allegiance": {"icarite": 10},
        },
        3,
    ),
}  # fmt: skip


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


def count(game: Game, depth: int) -> int:
    """The number of sequences of this many moves; chance continues from the generator of the position."""
    moves = game.legal_actions().tolist()
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        after = game.clone()
        after.play(move)
        total += count(after, depth - 1)
    return total


def counts(name: str) -> list[int]:
    """The numbers of sequences of depth 1, 2, ... from one of the positions."""
    position, deepest = POSITIONS[name]
    return [count(Game.from_dict(position), depth) for depth in range(1, deepest + 1)]


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
