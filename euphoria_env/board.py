"""The printed board: names, identifiers and the fixed order of everything (R1, R18.2).

Every name is the identifier of the public notation; its position in the tuple is its number in the engine.
"""

from __future__ import annotations

import numpy as np

MAX_PLAYERS = 6
MAX_WORKERS = 4
MAX_RECRUITS = 4  # the setup gives two and the dilemma one; a position may hold three before the dilemma
DEALT_RECRUITS = 4  # to each player, who keeps two (R2.2)
DEALT_TILES = 2  # to each player in a market draft (R17.2)
STARS = 10
TRACK_END = 6  # knowledge and morale run from 1 to 6 (R5.1)
ALLEGIANCE_END = 11
MINER_END = 9
KNOWLEDGE_LIMIT = 16  # R5.3

FACTIONS = ("euphorian", "subterran", "wastelander", "icarite")
EUPHORIAN, SUBTERRAN, WASTELANDER, ICARITE = range(4)

# ---- items: goods first, then artifact types, then knowledge: the order of a payment (R18.3) ----
COMMODITIES = ("energy", "water", "food", "bliss")
RESOURCES = ("gold", "stone", "clay")
GOODS = COMMODITIES + RESOURCES
ARTIFACTS = ("balloons", "bat", "bear", "bifocals", "book", "box")
MOST_GOODS = 10_000  # the most of each that a player can have (R1.2)
CARDS_PER_ARTIFACT = 6
NUM_ARTIFACT_CARDS = CARDS_PER_ARTIFACT * len(ARTIFACTS)
ITEMS = (*GOODS, *ARTIFACTS, "knowledge")
GAINS = (*GOODS, "artifact", "morale", "knowledge")

ENERGY, WATER, FOOD, BLISS, GOLD, STONE, CLAY = range(7)
FIRST_RESOURCE = GOLD
FIRST_ARTIFACT = len(GOODS)
KNOWLEDGE_ITEM = ITEMS.index("knowledge")
GAIN_ARTIFACT, GAIN_MORALE, GAIN_KNOWLEDGE = (GAINS.index(name) for name in ("artifact", "morale", "knowledge"))

COMMODITY_SET = 0b1111
RESOURCE_SET = 0b111 << FIRST_RESOURCE
GOODS_SET = COMMODITY_SET | RESOURCE_SET
ARTIFACT_SET = 0b111111 << FIRST_ARTIFACT
KNOWLEDGE_SET = 1 << KNOWLEDGE_ITEM


def item_set(*names: str) -> int:
    """Returns items as a bit mask over `ITEMS`."""
    return sum(1 << ITEMS.index(name) for name in names)


def gain_set(*names: str) -> int:
    """Returns gains as a bit mask over `GAINS`."""
    return sum(1 << GAINS.index(name) for name in names)


# ---- spaces ----
AREAS = ("generator", "aquifer", "farm", "cloud_mine")
TUNNELS = ("euphorian_tunnel", "subterran_tunnel", "wastelander_tunnel")
TUNNEL_ENDS = ("euphorian_tunnel_end", "subterran_tunnel_end", "wastelander_tunnel_end")
TANK = ("tank_energy", "tank_water")
SITES = tuple(f"{faction}_site_{k}" for faction in FACTIONS[:3] for k in (1, 2))
SLOTS = tuple(f"{site}_{slot}" for site in SITES for slot in range(1, 5))
MARKETS = tuple(f"{faction}_market_{k}" for faction in FACTIONS[:3] for k in (1, 2))
ARTIFACT_MARKETS = ("incinerator_of_historical_accuracy", "free_press_of_harsh_reality", "ark_of_fractured_memories")
ICARUS = ("wind_salon", "nimbus_loft", "breeze_bar", "sky_lounge")
SPACES = (*AREAS, *TUNNELS, *TUNNEL_ENDS, *TANK, *SLOTS, *MARKETS, *ARTIFACT_MARKETS, *ICARUS)
TERRITORIES = tuple(f"{faction}_territory" for faction in FACTIONS)
STAR_PLACES = (*TERRITORIES, *MARKETS)

NUM_SPACES = len(SPACES)
NUM_AREAS = len(AREAS)
SLOTS_PER_SITE = 4
NUM_MARKETS = len(MARKETS)
GENERATOR, AQUIFER, FARM, CLOUD_MINE = range(4)
FIRST_TUNNEL = SPACES.index(TUNNELS[0])
FIRST_TUNNEL_END = SPACES.index(TUNNEL_ENDS[0])
FIRST_TANK = SPACES.index(TANK[0])
FIRST_SLOT = SPACES.index(SLOTS[0])
FIRST_MARKET = SPACES.index(MARKETS[0])
FIRST_ARTIFACT_MARKET = SPACES.index(ARTIFACT_MARKETS[0])
FIRST_ICARUS = SPACES.index(ICARUS[0])
ARK = SPACES.index("ark_of_fractured_memories")
WIND_SALON, NIMBUS_LOFT, BREEZE_BAR, SKY_LOUNGE = range(FIRST_ICARUS, NUM_SPACES)


def space_set(*names: str) -> int:
    """Returns spaces as a bit mask over `SPACES`."""
    return sum(1 << SPACES.index(name) for name in names)


AREA_SET = space_set(*AREAS)
TUNNEL_SET = space_set(*TUNNELS)
TANK_SET = space_set(*TANK)
SLOT_SET = space_set(*SLOTS)
MARKET_SET = space_set(*MARKETS)
ARTIFACT_MARKET_SET = space_set(*ARTIFACT_MARKETS)
ICARUS_SET = space_set("cloud_mine", *ICARUS)  # R12.6 and Brian count the cloud mine too
ALL_SPACES = (1 << NUM_SPACES) - 1


def _region_of(name: str) -> int:
    """Returns the number of the region of a space; -1 for the worker tank, which is in no region (R6.3)."""
    if name in TANK:
        return -1
    if name in AREAS:
        return AREAS.index(name)
    if name in ARTIFACT_MARKETS:
        return ARTIFACT_MARKETS.index(name)
    return FACTIONS.index(name.split("_")[0]) if name not in ICARUS else ICARITE


REGION = np.array([_region_of(name) for name in SPACES], np.int8)

WORKERS_TO_BUILD = np.array([0, 0, 2, 2, 3, 4, 4], np.int8)  # by number of players (R9.2)

BIT = np.array([1 << i for i in range(63)], np.int64)
