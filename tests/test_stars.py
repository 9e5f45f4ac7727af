"""The stars of a game by source: those of a plain recount from positions and lines."""

from __future__ import annotations

import itertools
import random
from collections import Counter

from euphoria_agents.play.study.stars import STAR_SOURCES, stars_by_source
from euphoria_agents.record_steps import steps
from euphoria_env import Game, Rules


def a_record(game: Game, seed: int) -> str:
    """The game, in which workers are placed, and stars, as often as possible."""
    rng = random.Random(seed)
    while game.ranking is None:
        legal = game.legal()
        eager = [move for move in legal if move.startswith(("star", "dilemma", "place"))]
        far = [move for move in eager if move.split()[-1] not in ("generator", "aquifer", "farm", "cloud_mine")]
        game.play(rng.choice(far if far and rng.random() < 0.6 else eager if eager and rng.random() < 0.4 else legal))
    return game.to_record()


def recount(record: str) -> list[dict[str, int]]:
    """The same as `stars_by_source`, from the positions and the lines alone."""
    seen = [(game.describe(), line) for game, line in steps(record)]
    stars = [Counter[str]() for _ in seen[0][0]["players"]]
    space = ""
    for (old, line), (new, _) in itertools.pairwise(seen):
        space = line.split()[2] if line.startswith("place ") else space
        for name, market in new["markets"].items():
            for p in set(market["stars"]) - set(old["markets"][name]["stars"]):
                stars[p]["artifact market" if old["markets"][name]["built"] else "construction"] += 1
        for name, owners in new["territories"].items():
            for p in (Counter(owners) - Counter(old["territories"][name])).elements():
                where = (
                    "market" if "_market_" in space else "icarus" if space in ("wind_salon", "nimbus_loft") else "artifact market"
                )
                stars[p][where] += 1
        for p, player in enumerate(new["players"]):
            had = {card["name"] for card in old["players"][p]["recruits"] if card["star"]}
            stars[p]["allegiance"] += sum(card["star"] and card["name"] not in had for card in player["recruits"])
            stars[p]["dilemma"] += player["dilemma"]["resolved"] == "star" != old["players"][p]["dilemma"]["resolved"]
    return [{source: k for source, k in one.items() if k} for one in stars]


def test_the_stars_are_those_of_a_plain_recount() -> None:
    sources = Counter[str]()
    for seed in range(14):
        record = a_record(Game(Rules(num_players=2 + seed % 5, max_turns=500), seed), seed)
        found = stars_by_source(record)
        assert found == recount(record)
        sources.update(sum(map(Counter, found), Counter[str]()))
    assert set(sources) == set(STAR_SOURCES)


def test_a_record_that_begins_with_a_position() -> None:
    tile = {"tile": "spa_of_fleeting_pleasure", "built": True, "stars": [0]}
    position = {"rules": {"num_players": 2, "max_turns": 30}, "seed": 4, "markets": {"euphorian_market_1": tile}}
    record = a_record(Game.from_dict(position), 1)
    assert stars_by_source(record) == recount(record)
