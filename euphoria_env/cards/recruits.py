"""The recruits: one entry each, in the fixed order of the notation (R13).

An ability that a row of `Ability` can express is here in full. A recruit who offers another way to pay, or who changes how a
marker moves or a card is drawn, has no row; the entry then names the engine module that implements the ability.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from euphoria_env.board import (
    ARK,
    ARTIFACT_MARKET_SET,
    BIT,
    BLISS,
    COMMODITY_SET,
    ENERGY,
    EUPHORIAN,
    FACTIONS,
    FOOD,
    MARKET_SET,
    RESOURCE_SET,
    SLOT_SET,
    TANK_SET,
    TUNNEL_SET,
    WASTELANDER,
    WATER,
    gain_set,
    space_set,
)
from euphoria_env.cards.vocabulary import (
    Ability,
    Effect,
    Price,
    Trigger,
    When,
    choose,
    draw,
    effect,
    goods,
    knowledge,
    morale,
    program_table,
)

ANY_MARKET = MARKET_SET | ARTIFACT_MARKET_SET


class Recruit(NamedTuple):
    """A recruit, with the abilities that rows express, and one word (`also`) for each other one."""

    name: str
    faction: int
    abilities: tuple[Ability, ...]
    also: tuple[str, ...]


def _card(name: str, *abilities: Ability, also: str = "") -> tuple[Any, ...]:
    return name, abilities, tuple(also.split())


_EUPHORIAN = [
    _card(
        "ben_the_ludologist",
        Ability(Trigger.OTHERS_ROLLED, (choose(RESOURCE_SET),), when=When.ROLLER_SHOWS_PAIR, may=True, morale=2),
    ),
    _card(
        "bradley_the_futurist",
        Ability(Trigger.PLACED, (effect(Effect.FUTURE),), ANY_MARKET, When.STAR_PLACED, may=True, knowledge=2),
    ),
    _card("esme_the_fireman", Ability(Trigger.STAR, (effect(Effect.BARGAIN),), may=True, price=Price.ARTIFACT)),
    _card(
        "gary_the_electrician",
        Ability(Trigger.PLACED, (choose(gain_set("morale", "energy")),), space_set("generator"), When.SAME_FACE),
    ),
    _card("jefferson_the_shock_artist", also="retrieves_for_energy"),
    _card(
        "julia_the_thought_inspector",
        Ability(Trigger.BUMPING, (effect(Effect.TAKE_FACE), choose(RESOURCE_SET)), may=True, morale=1),
    ),
    _card("katy_the_dietician", Ability(Trigger.PLACED, (goods(FOOD),), space_set("generator"), When.NO_ARTIFACT)),
    _card(
        "laura_the_philanthropist",
        Ability(Trigger.BUMPED, (draw(2),), TUNNEL_SET | TANK_SET, may=True, price=Price.GOLD_TO_BUMPED),
    ),
    _card(
        "michael_the_engineer",
        Ability(Trigger.PLACED, (morale(1), knowledge(1)), SLOT_SET, When.PAID_GOLD),
        also="site_for_any_resource",
    ),
    _card("dr_nakagawa_the_tribute", Ability(Trigger.PLACED, (effect(Effect.ADVANCE, EUPHORIAN),), SLOT_SET, may=True)),
    _card("ray_the_foreman", Ability(Trigger.BUILT, (effect(Effect.BUILDER),))),
    _card(
        "yordy_the_demotivator",
        Ability(Trigger.BEFORE_ROLL, (effect(Effect.SET_FACE),), when=When.FREE_RETRIEVAL, may=True, price=Price.ENERGY),
    ),
]

_SUBTERRAN = [
    _card(
        "andrew_the_spelunker",
        Ability(Trigger.PLACED, (draw(),), space_set("euphorian_tunnel", "wastelander_tunnel"), When.TOOK_RESOURCE),
    ),
    _card(
        "brett_the_lockpicker",
        Ability(Trigger.PLACED, (choose(RESOURCE_SET),), ANY_MARKET, When.STAR_PLACED, may=True, knowledge=1),
    ),
    _card(
        "chase_the_miner",
        Ability(
            Trigger.PLACED,
            (effect(Effect.SACRIFICE_PLACED), effect(Effect.TUNNEL_RESOURCE, 2)),
            TUNNEL_SET,
            may=True,
            price=Price.PLACED_WORKER,
        ),
        also="places_new_worker",
    ),
    _card("curtis_the_propagandist", also="lost_morale_loses_knowledge"),
    _card("faith_the_hydroelectrician", Ability(Trigger.PLACED, (goods(ENERGY),), space_set("aquifer"), When.NO_ARTIFACT)),
    _card("jonathan_the_gambler", also="draws_two_for_one"),
    _card(
        "josiah_the_hacker",
        Ability(Trigger.PLACED, (effect(Effect.OTHERS_THERE), morale(1)), space_set("generator", "farm", "cloud_mine")),
    ),
    _card("maggie_the_outlaw", Ability(Trigger.RETRIEVED, (choose(gain_set("water", "stone")),), when=When.ALL_FROM_SUBTERRA)),
    _card(
        "major_dave_the_demolitionist",
        Ability(Trigger.BUMPED, (effect(Effect.TUNNEL_RESOURCE, 1), effect(Effect.MINER)), TUNNEL_SET, may=True, knowledge=1),
    ),
    _card("phil_the_spy", Ability(Trigger.BUMPED, (draw(),), when=When.BUMPED_NO_SUBTERRAN, may=True, knowledge=1)),
    _card(
        "soulless_the_plumber",
        Ability(Trigger.PLACED, (choose(gain_set("morale", "water")),), space_set("aquifer"), When.LOWEST),
    ),
    _card(
        "xander_the_excavator",
        Ability(Trigger.BUMPED, (effect(Effect.TUNNEL_RESOURCE, 1),), TUNNEL_SET, When.BUMPED_HIGHER, may=True, knowledge=1),
    ),
]

_WASTELANDER = [
    _card(
        "brian_the_viticulturist",
        Ability(Trigger.PLACED, (knowledge(1), effect(Effect.ADVANCE, WASTELANDER)), MARKET_SET, When.PAID_FOOD_FOR_BLISS),
        also="food_for_bliss icarus_costs_morale",
    ),
    _card("flartner_the_scammer", Ability(Trigger.PLACED, (morale(1),), SLOT_SET, When.PAID_ARTIFACT), also="site_for_artifact"),
    _card("geek_the_oracle", also="draws_three_for_one"),
    _card("ian_the_horticulturist", Ability(Trigger.PLACED, (goods(WATER),), space_set("farm"), When.NO_RESOURCE)),
    _card(
        "jacko_the_archivist",
        Ability(Trigger.PLACED, (effect(Effect.OPPONENTS_DRAW),), int(BIT[ARK]), When.PAID_ONE_ARTIFACT),
        also="ark_for_one_artifact",
    ),
    _card("jonathan_the_artist", Ability(Trigger.PLACED, (draw(),), SLOT_SET, When.HIGHEST, may=True, knowledge=1)),
    _card(
        "kyle_the_scavenger",
        Ability(Trigger.PLACED, (draw(),), space_set("generator", "farm", "aquifer"), When.ALONE, may=True, knowledge=2),
    ),
    _card("nick_the_understudy", also="gained_knowledge_gains_morale"),
    _card(
        "pete_the_cannibal",
        Ability(
            Trigger.RETRIEVING,
            (effect(Effect.SACRIFICE_RETRIEVED), goods(FOOD, 4), choose(RESOURCE_SET)),
            may=True,
            price=Price.RETRIEVED_WORKER,
        ),
        Ability(Trigger.NEW_WORKER, (draw(),), may=True, knowledge=2),
    ),
    _card(
        "professor_reitz_the_archaeologist",
        Ability(Trigger.PLACED, (draw(), effect(Effect.MINER)), TUNNEL_SET, When.WITHOUT_BUMPING, may=True, knowledge=2),
    ),
    _card(
        "sir_scarby_the_harvester",
        Ability(Trigger.PLACED, (choose(gain_set("knowledge", "food")),), space_set("farm"), When.HIGHEST),
    ),
    _card("steven_the_scholar", Ability(Trigger.LOST_WORKER, (choose(RESOURCE_SET), draw()))),
]

_ICARITE = [
    _card(
        "amanda_the_broker",
        Ability(Trigger.GETTING_BUMPED, (effect(Effect.PAY_BLISS), effect(Effect.SET_FACE)), may=True, price=Price.BLISS),
    ),
    _card("flavio_the_merchant", Ability(Trigger.PLACED, (draw(),), ANY_MARKET, When.STAR_PLACED, may=True, knowledge=1)),
    _card("gidget_the_hypnotist", also="bliss_loses_knowledge"),
    _card("josh_the_negotiator", also="bliss_for_market_resource"),
    _card("kaden_the_infiltrator", also="tunnel_ends_for_knowledge"),
    _card(
        "lee_the_gossip",
        Ability(Trigger.BUMPED, (effect(Effect.BUMPED_KNOWLEDGE), choose(COMMODITY_SET)), may=True, morale=1),
    ),
    _card("matthew_the_thief", also="bumping_in_tunnel_for_knowledge"),
    _card("maxime_the_ambassador", Ability(Trigger.BUMPED, (effect(Effect.BUMPED_KNOWLEDGE), draw()), may=True, morale=2)),
    _card(
        "rebecca_the_peddler",
        Ability(Trigger.BUMPED, (effect(Effect.BUMPED_KNOWLEDGE), choose(RESOURCE_SET)), may=True, morale=2),
    ),
    _card(
        "sarinee_the_cloud_miner",
        Ability(Trigger.PLACED, (choose(gain_set("knowledge", "bliss")),), space_set("cloud_mine"), When.ALONE),
    ),
    _card(
        "dr_sheppard_the_lobotomist",
        Ability(
            Trigger.RETRIEVING,
            (effect(Effect.SACRIFICE_RETRIEVED), goods(BLISS, 4), choose(RESOURCE_SET)),
            may=True,
            price=Price.RETRIEVED_WORKER,
        ),
        Ability(Trigger.NEW_WORKER, (draw(),), may=True, morale=2),
    ),
    _card(
        "zong_the_astronomer",
        Ability(Trigger.PLACED, (draw(), effect(Effect.OPPONENTS_BLISS)), space_set("cloud_mine"), may=True, knowledge=1),
    ),
]

RECRUITS: tuple[Recruit, ...] = tuple(
    Recruit(name, faction, abilities, also)
    for faction, cards in enumerate((_EUPHORIAN, _SUBTERRAN, _WASTELANDER, _ICARITE))
    for name, abilities, also in cards
)
RECRUIT_NAMES = tuple(recruit.name for recruit in RECRUITS)
NUM_RECRUITS = len(RECRUITS)


def recruit_number(name: str) -> int:
    """Returns the number of a recruit."""
    return RECRUIT_NAMES.index(name)


AMANDA = recruit_number("amanda_the_broker")
BEN = recruit_number("ben_the_ludologist")
BRIAN = recruit_number("brian_the_viticulturist")
CHASE = recruit_number("chase_the_miner")
CURTIS = recruit_number("curtis_the_propagandist")
ESME = recruit_number("esme_the_fireman")
FLARTNER = recruit_number("flartner_the_scammer")
GAMBLER = recruit_number("jonathan_the_gambler")
GEEK = recruit_number("geek_the_oracle")
GIDGET = recruit_number("gidget_the_hypnotist")
JACKO = recruit_number("jacko_the_archivist")
JEFFERSON = recruit_number("jefferson_the_shock_artist")
JOSH = recruit_number("josh_the_negotiator")
KADEN = recruit_number("kaden_the_infiltrator")
MATTHEW = recruit_number("matthew_the_thief")
MICHAEL = recruit_number("michael_the_engineer")
NICK = recruit_number("nick_the_understudy")
RAY = recruit_number("ray_the_foreman")

FACTION_OF = np.array([recruit.faction for recruit in RECRUITS], np.int8)
FACTION_CARDS = np.array(
    [sum(1 << c for c in range(NUM_RECRUITS) if RECRUITS[c].faction == f) for f in range(len(FACTIONS))], np.int64
)

# ---- the rows as arrays, for the engine ----
_ROWS = [(card, ability) for card, recruit in enumerate(RECRUITS) for ability in recruit.abilities]
_EMPTY = -1

ROW = np.full((len(Trigger), NUM_RECRUITS), _EMPTY, np.int8)  # the row of a card for a trigger, or -1
TRIGGER_CARDS = np.zeros(len(Trigger), np.int64)  # the cards that have a row for a trigger, as a set
for _row, (_number, _ability) in enumerate(_ROWS):
    ROW[_ability.on, _number] = _row
    TRIGGER_CARDS[_ability.on] |= 1 << _number

ROW_CARD = np.array([card for card, _ in _ROWS], np.int8)
ROW_NUMBER = np.array([RECRUITS[card].abilities.index(ability) for card, ability in _ROWS], np.int8)
ROW_TRIGGER = np.array([ability.on for _, ability in _ROWS], np.int8)
ROW_AT = np.array([ability.at for _, ability in _ROWS], np.int64)
ROW_WHEN = np.array([ability.when for _, ability in _ROWS], np.int8)
ROW_MAY = np.array([ability.may for _, ability in _ROWS], np.int8)
ROW_MORALE = np.array([ability.morale for _, ability in _ROWS], np.int8)
ROW_KNOWLEDGE = np.array([ability.knowledge for _, ability in _ROWS], np.int8)
ROW_PRICE = np.array([ability.price for _, ability in _ROWS], np.int8)
ROW_PROGRAM = program_table([ability.do for _, ability in _ROWS])
