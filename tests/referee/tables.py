"""The board, the cards and the tiles: facts only (the referee's own copy).

The order of every list is the fixed order of R18.2.
"""

from __future__ import annotations

FACTIONS = ("euphorian", "subterran", "wastelander", "icarite")  # R1.1
COMMODITIES = ("energy", "water", "food", "bliss")  # R1.2
RESOURCES = ("gold", "stone", "clay")  # R1.2
ARTIFACTS = ("balloons", "bat", "bear", "bifocals", "book", "box")  # R1.3
GOODS = COMMODITIES + RESOURCES
UNITS = GOODS + ARTIFACTS + ("knowledge",)  # R18.3: the order of the units of a cost

CARDS_OF_EACH_ARTIFACT = 6  # R1.3
MOST_OF_A_GOOD = 10_000  # R1.2
FACES = (1, 2, 3, 4, 5, 6)
STARS = 10  # R1.5
MAX_WORKERS = 4  # R1.4
MAX_TRACK = 6  # R5.1
MAX_ALLEGIANCE = 11  # R7.1
MAX_MINER = 9  # R8.1

# --- the spaces ------------------------------------------------------------------------------------------------------

# R6.1: commodity areas, multi-use
AREAS = {
    "generator": ("euphorian", "energy"),
    "aquifer": ("subterran", "water"),
    "farm": ("wastelander", "food"),
    "cloud_mine": ("icarite", "bliss"),
}
# R8.1: tunnel -> faction, what it costs, the resource it gives
TUNNELS = {
    "euphorian_tunnel": ("euphorian", "energy", "gold"),
    "subterran_tunnel": ("subterran", "water", "stone"),
    "wastelander_tunnel": ("wastelander", "food", "clay"),
}
# R8.2: tunnel end -> faction, what it gives three of
TUNNEL_ENDS = {
    "euphorian_tunnel_end": ("euphorian", "water"),
    "subterran_tunnel_end": ("subterran", "food"),
    "wastelander_tunnel_end": ("wastelander", "energy"),
}
TANK = {"tank_energy": "energy", "tank_water": "water"}  # R6.3

# R9.1: site -> the resources of its slots 1 to 4
SITES = {
    "euphorian_site_1": ("clay", "gold", "gold", "gold"),
    "euphorian_site_2": ("stone", "gold", "gold", "gold"),
    "subterran_site_1": ("gold", "stone", "stone", "stone"),
    "subterran_site_2": ("clay", "stone", "stone", "stone"),
    "wastelander_site_1": ("stone", "clay", "clay", "clay"),
    "wastelander_site_2": ("gold", "clay", "clay", "clay"),
}
# slot -> its site and its resource
SLOTS = {f"{site}_{k}": (site, costs[k - 1]) for site, costs in SITES.items() for k in (1, 2, 3, 4)}
MARKET_OF_SITE = {site: site.replace("_site_", "_market_") for site in SITES}
SITE_OF_MARKET = {market: site for site, market in MARKET_OF_SITE.items()}
MARKETS = tuple(MARKET_OF_SITE.values())

# R10.1: open from the start
ARTIFACT_MARKETS = ("incinerator_of_historical_accuracy", "free_press_of_harsh_reality", "ark_of_fractured_memories")
ICARUS = ("wind_salon", "nimbus_loft", "breeze_bar", "sky_lounge")  # R11.1

SPACES = (*AREAS, *TUNNELS, *TUNNEL_ENDS, *TANK, *SLOTS, *MARKETS, *ARTIFACT_MARKETS, *ICARUS)
TEMPORARY = (*TUNNELS, *TUNNEL_ENDS, *TANK, *MARKETS, *ARTIFACT_MARKETS, *ICARUS)  # R1.6

# The faction in whose region a space lies; the tank lies in none (R6.3).
REGION: dict[str, str | None] = {
    **{space: faction for space, (faction, _) in AREAS.items()},
    **{space: faction for space, (faction, _, _) in TUNNELS.items()},
    **{space: faction for space, (faction, _) in TUNNEL_ENDS.items()},
    **dict.fromkeys(TANK),
    **{space: space.split("_")[0] for space in (*SLOTS, *MARKETS)},
    **dict(zip(ARTIFACT_MARKETS, FACTIONS[:3], strict=True)),
    **dict.fromkeys(ICARUS, "icarite"),
}
TERRITORY = {faction: f"{faction}_territory" for faction in FACTIONS}  # R2.4

RECRUITS_A_PLAYER = 6  # R17.6: the fewest in a game
WORKERS_NEEDED = {2: 2, 3: 2, 4: 3, 5: 4, 6: 4}  # R9.2: by the number of players


# --- the costs of action spaces --------------------------------------------------------------------------------------

Units = tuple[tuple[str, ...], ...]  # for each unit of a cost the items of which one pays it


def units(text: str) -> Units:
    """Read a cost such as "4 food, 1 artifact"."""
    kinds = {"commodity": COMMODITIES, "resource": RESOURCES, "artifact": ARTIFACTS}
    result: Units = ()
    for part in text.split(", "):
        number, item = part.split(" ")
        result += (kinds.get(item, (item,)),) * int(number)
    return result


# R12: the 18 market tiles with the cost of the action space. The penalties are looked up by name (`penalty`).
TILES = {
    "academy_of_mandatory_equality": units("4 food, 1 gold"),
    "apothecary_of_productive_dreams": units("4 bliss, 1 resource"),
    "arena_of_peaceful_conflict": units("4 food, 1 stone"),
    "bemusement_park": units("1 commodity, 1 balloons"),
    "cafeteria_of_nameless_meat": units("4 food, 1 artifact"),
    "center_for_reduced_literacy": units("1 commodity, 1 book"),
    "clinic_of_blind_hindsight": units("1 commodity, 1 bifocals"),
    "courthouse_of_hasty_judgment": units("4 energy, 1 stone"),
    "disassemble_a_teddy_bear_shop": units("1 commodity, 1 bear"),
    "fountain_of_wishful_thinking": units("4 water, 1 gold"),
    "friendly_local_game_bonfire": units("1 commodity, 1 box"),
    "laboratory_of_selective_genetics": units("1 artifact, 1 resource"),
    "lounge_of_opulent_frugality": units("4 energy, 1 artifact"),
    "plaza_of_immortalized_humility": units("4 water, 1 clay"),
    "registry_of_personal_secrets": units("4 bliss, 1 artifact"),
    "spa_of_fleeting_pleasure": units("4 water, 1 artifact"),
    "stadium_of_guaranteed_home_runs": units("1 commodity, 1 bat"),
    "theater_of_revelatory_propaganda": units("4 energy, 1 clay"),
}
# R12.2: "every time you roll N, lose a commodity or resource"
ROLL_PENALTIES = {
    1: "disassemble_a_teddy_bear_shop",
    2: "clinic_of_blind_hindsight",
    3: "bemusement_park",
    4: "friendly_local_game_bonfire",
    5: "stadium_of_guaranteed_home_runs",
    6: "center_for_reduced_literacy",
}

# --- the recruits ----------------------------------------------------------------------------------------------------

_RECRUITS_OF = {
    "euphorian": (
        "ben_the_ludologist",
        "bradley_the_futurist",
        "esme_the_fireman",
        "gary_the_electrician",
        "jefferson_the_shock_artist",
        "julia_the_thought_inspector",
        "katy_the_dietician",
        "laura_the_philanthropist",
        "michael_the_engineer",
        "dr_nakagawa_the_tribute",
        "ray_the_foreman",
        "yordy_the_demotivator",
    ),
    "subterran": (
        "andrew_the_spelunker",
        "brett_the_lockpicker",
        "chase_the_miner",
        "curtis_the_propagandist",
        "faith_the_hydroelectrician",
        "jonathan_the_gambler",
        "josiah_the_hacker",
        "maggie_the_outlaw",
        "major_dave_the_demolitionist",
        "phil_the_spy",
        "soulless_the_plumber",
        "xander_the_excavator",
    ),
    "wastelander": (
        "brian_the_viticulturist",
        "flartner_the_scammer",
        "geek_the_oracle",
        "ian_the_horticulturist",
        "jacko_the_archivist",
        "jonathan_the_artist",
        "kyle_the_scavenger",
        "nick_the_understudy",
        "pete_the_cannibal",
        "professor_reitz_the_archaeologist",
        "sir_scarby_the_harvester",
        "steven_the_scholar",
    ),
    "icarite": (
        "amanda_the_broker",
        "flavio_the_merchant",
        "gidget_the_hypnotist",
        "josh_the_negotiator",
        "kaden_the_infiltrator",
        "lee_the_gossip",
        "matthew_the_thief",
        "maxime_the_ambassador",
        "rebecca_the_peddler",
        "sarinee_the_cloud_miner",
        "dr_sheppard_the_lobotomist",
        "zong_the_astronomer",
    ),
}
# recruit -> faction
RECRUITS = {name: faction for faction, names in _RECRUITS_OF.items() for name in names}
