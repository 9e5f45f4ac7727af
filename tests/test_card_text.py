"""The words of cards and spaces state the facts of the tables, and the prompts name the card or the space that asks."""

from __future__ import annotations

import random
import re

import pytest

from euphoria_env import Game, Rules, words
from euphoria_env.board import GAINS, SLOTS, SPACES, WORKERS_TO_BUILD
from euphoria_env.cards.recruits import RECRUIT_NAMES, RECRUITS
from euphoria_env.cards.vocabulary import CHOICES, Effect, Price, When
from tests.tools.positions import any_position

# Ways to pay that a recruit offers, without a row of the table: nobody must use them.
OFFERED = {
    "retrieves_for_energy", "site_for_any_resource", "places_new_worker", "draws_two_for_one", "food_for_bliss",
    "site_for_artifact", "draws_three_for_one", "ark_for_one_artifact", "bliss_loses_knowledge", "bliss_for_market_resource",
    "tunnel_ends_for_knowledge", "bumping_in_tunnel_for_knowledge",
}  # fmt: skip


@pytest.mark.parametrize("recruit", RECRUITS, ids=RECRUIT_NAMES)
def test_what_is_optional_is_called_so(recruit) -> None:
    offers = sum(ability.may for ability in recruit.abilities) + len(OFFERED & set(recruit.also))
    assert words.recruit_words(recruit.name).lower().count("you may") == offers


@pytest.mark.parametrize("recruit", RECRUITS, ids=RECRUIT_NAMES)
def test_a_price_stands_before_what_it_buys(recruit) -> None:
    """Others gain only if it is paid (Julia, Lee, Maxime, Rebecca, Zong); knowledge that is paid is no gain."""
    said = words.recruit_words(recruit.name)
    for ability in recruit.abilities:
        if not ability.may:
            continue
        paid = [f"raise your knowledge by {ability.knowledge} to"] if ability.knowledge else []
        paid += [f"pay {ability.morale} morale to"] if ability.morale else []
        paid += ["sacrifice"] if ability.price in (Price.PLACED_WORKER, Price.RETRIEVED_WORKER) else []
        assert all(part in said for part in paid)
        if {Effect(op) for op, _, _ in ability.do} & {Effect.BUMPED_KNOWLEDGE, Effect.OPPONENTS_BLISS, Effect.TAKE_FACE}:
            assert re.search(r"you may [^;]*; if you do, ", said)
    assert not re.search(r"(knowledge|morale) [+-]", said)


def test_a_tie_fails_where_the_highest_or_lowest_acts() -> None:
    compared = {r.name for r in RECRUITS for ability in r.abilities if ability.when in (When.HIGHEST, When.LOWEST)}
    assert len(compared) == 3
    for name in compared:
        assert re.search(r"alone there or (higher|lower) than every other", words.recruit_words(name))


@pytest.mark.parametrize("players", range(2, 7))
def test_the_workers_that_build_a_market(players: int) -> None:
    """R9.2, in the words of each slot."""
    needed = {
        int(k): int(n) for n, ks in re.findall(r"(\d)(?: workers)? with ([\d or]+)", words.NEEDED) for k in re.findall(r"\d", ks)
    }
    assert needed[players] == WORKERS_TO_BUILD[players]
    assert all(words.NEEDED in words.space_words(slot) for slot in SLOTS)


# --------------------------------------------------------------------------------------------------------------- prompts


def _offers(game: Game, name: str) -> bool:
    """Whether a recruit or a space lets the player choose among the gains that are asked now."""
    asked = int(game.states[0]["set_a"])
    if name == "sky_lounge":
        return asked == sum(1 << GAINS.index(good) for good in ("gold", "stone", "clay"))
    steps = [step for ability in RECRUITS[RECRUIT_NAMES.index(name)].abilities for step in ability.do]
    return any(op == Effect.CHOOSE and CHOICES[a] == asked for op, a, _ in steps) or name == "esme_the_fireman"


def test_the_prompt_names_what_gives_a_choice() -> None:
    """The recruit, active and that player's own, or the space; the sentence of the words names it too."""
    rng, seen = random.Random(3), set()
    for _ in range(250):
        game = Game.from_dict({**any_position(rng), "seed": rng.getrandbits(32)})
        for _ in range(25):
            if not game.legal():
                break
            if game.prompt.startswith("choose the gain from"):
                name = game.prompt.removeprefix("choose the gain from ")
                if name in RECRUIT_NAMES or name == "sky_lounge":
                    player = game.to_dict()["players"][game.player]
                    assert name in SPACES or {"name": name, "active": True} in [
                        {key: card[key] for key in ("name", "active")} for card in player["recruits"]
                    ]
                    assert _offers(game, name), f"{name}: {game.legal()}"
                    assert words.title(name) in words.question(game)
                    seen.add(name)
                else:
                    assert name.endswith("_tunnel")
            using = [move for move in game.legal() if move.startswith(("use ", "gain "))]
            game.play(rng.choice(using or game.legal()))
    assert "sky_lounge" in seen and len(seen) > 8


def test_the_prompt_names_the_marker_that_is_placed() -> None:
    """R17.3: whatever is legal; the last player places morale first."""
    game = Game(Rules(num_players=3, track_draft=True), seed=2)
    rng, asked = random.Random(1), 0
    while game.legal():
        tracks = {move.split()[0] for move in game.legal()} & {"morale", "knowledge"}
        if tracks:
            assert game.prompt == "choose the starting " + " or ".join(sorted(tracks, reverse=True))
            asked += 1
        elif asked:
            break
        game.play(rng.choice(game.legal()))
    assert asked == 6
