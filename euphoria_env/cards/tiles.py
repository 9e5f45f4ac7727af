"""The market tiles: the costs of their action spaces, and the penalties for players without a star there (R10.2, R12)."""

from __future__ import annotations

import numpy as np

from euphoria_env.board import ARTIFACT_SET, COMMODITY_SET, FOOD, RESOURCE_SET, item_set

# The cost of each tile's action space: groups of (number of units, set of the items that may pay a unit). A resource is always in
# the second group, since Josh's ability looks for it only there. The engine identifies each penalty by its tile.
_COSTS: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "academy_of_mandatory_equality": ((4, item_set("food")), (1, item_set("gold"))),
    "apothecary_of_productive_dreams": ((4, item_set("bliss")), (1, RESOURCE_SET)),
    "arena_of_peaceful_conflict": ((4, item_set("food")), (1, item_set("stone"))),
    "bemusement_park": ((1, COMMODITY_SET), (1, item_set("balloons"))),
    "cafeteria_of_nameless_meat": ((4, item_set("food")), (1, ARTIFACT_SET)),
    "center_for_reduced_literacy": ((1, COMMODITY_SET), (1, item_set("book"))),
    "clinic_of_blind_hindsight": ((1, COMMODITY_SET), (1, item_set("bifocals"))),
    "courthouse_of_hasty_judgment": ((4, item_set("energy")), (1, item_set("stone"))),
    "disassemble_a_teddy_bear_shop": ((1, COMMODITY_SET), (1, item_set("bear"))),
    "fountain_of_wishful_thinking": ((4, item_set("water")), (1, item_set("gold"))),
    "friendly_local_game_bonfire": ((1, COMMODITY_SET), (1, item_set("box"))),
    "laboratory_of_selective_genetics": ((1, ARTIFACT_SET), (1, RESOURCE_SET)),
    "lounge_of_opulent_frugality": ((4, item_set("energy")), (1, ARTIFACT_SET)),
    "plaza_of_immortalized_humility": ((4, item_set("water")), (1, item_set("clay"))),
    "registry_of_personal_secrets": ((4, item_set("bliss")), (1, ARTIFACT_SET)),
    "spa_of_fleeting_pleasure": ((4, item_set("water")), (1, ARTIFACT_SET)),
    "stadium_of_guaranteed_home_runs": ((1, COMMODITY_SET), (1, item_set("bat"))),
    "theater_of_revelatory_propaganda": ((4, item_set("energy")), (1, item_set("clay"))),
}

TILES = tuple(_COSTS)
NUM_TILES = len(TILES)

# (tile, [units a, set a, units b, set b])
TILE_COST = np.array([(*a, *b) for a, b in _COSTS.values()], np.int64)
# The units of food in the printed cost: with Brian, food beyond this number was paid in place of bliss.
TILE_FOOD = np.array([a[0] if a[1] & (1 << FOOD) else 0 for a, _ in _COSTS.values()], np.int8)

(
    ACADEMY, APOTHECARY, ARENA, BEMUSEMENT_PARK, CAFETERIA, CENTER, CLINIC, COURTHOUSE, TEDDY_BEAR_SHOP, FOUNTAIN, BONFIRE,
    LABORATORY, LOUNGE, PLAZA, REGISTRY, SPA, STADIUM, THEATER,
) = range(NUM_TILES)  # fmt: skip

# By face, the tile that takes a good for every rolled die of that face (R12.2); there is no face 0.
FACE_PENALTY = np.array([-1, TEDDY_BEAR_SHOP, CLINIC, BEMUSEMENT_PARK, BONFIRE, STADIUM, CENTER], np.int8)
