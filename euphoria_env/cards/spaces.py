"""The cost and the gain of each space, one row each (R6, R8, R9, R10, R11). A built market's cost is on its tile."""

from __future__ import annotations

import numpy as np

from euphoria_env.board import (
    AREAS,
    ARTIFACT_MARKETS,
    COMMODITIES,
    ENERGY,
    FIRST_RESOURCE,
    FOOD,
    GOODS,
    ICARITE,
    MARKETS,
    RESOURCE_SET,
    SPACES,
    TUNNELS,
    WATER,
    item_set,
)
from euphoria_env.cards.vocabulary import Effect, Step, choose, draw, effect, goods, knowledge, morale, program_table

Cost = tuple[tuple[int, int], ...]  # groups of (number of units, set of the items that may pay a unit)
_BLISS_AND_ANOTHER: Cost = ((1, item_set("bliss")), (1, item_set("energy", "water", "food")))


# The resource that each of the four slots of a site costs (R9.1).
SITE_COSTS = {
    "euphorian_site_1": ("clay", "gold", "gold", "gold"),
    "euphorian_site_2": ("stone", "gold", "gold", "gold"),
    "subterran_site_1": ("gold", "stone", "stone", "stone"),
    "subterran_site_2": ("clay", "stone", "stone", "stone"),
    "wastelander_site_1": ("stone", "clay", "clay", "clay"),
    "wastelander_site_2": ("gold", "clay", "clay", "clay"),
}

_SPACES: dict[str, tuple[Cost, tuple[Step, ...]]] = {}
for _area in AREAS:
    _SPACES[_area] = (), (effect(Effect.AREA),)
for _faction, _tunnel in enumerate(TUNNELS):
    _SPACES[_tunnel] = (((1, item_set(COMMODITIES[_faction])),), (effect(Effect.MINER), effect(Effect.TUNNEL_CHOICE)))
_SPACES["euphorian_tunnel_end"] = (), (goods(WATER, 3),)
_SPACES["subterran_tunnel_end"] = (), (goods(FOOD, 3),)
_SPACES["wastelander_tunnel_end"] = (), (goods(ENERGY, 3),)
_SPACES["tank_energy"] = ((3, item_set("energy")),), (effect(Effect.NEW_WORKER), knowledge(-2))
_SPACES["tank_water"] = ((3, item_set("water")),), (effect(Effect.NEW_WORKER), morale(2))
for _site, _resources in SITE_COSTS.items():
    for _slot, _resource in enumerate(_resources, 1):
        _SPACES[f"{_site}_{_slot}"] = ((1, item_set(_resource)),), ()
for _k, _market in enumerate(MARKETS):
    _SPACES[_market] = (), (effect(Effect.STAR_IN_TERRITORY, _k // 2), effect(Effect.ADVANCE, _k // 2))
for _faction, _market in enumerate(ARTIFACT_MARKETS):  # `engine.costs` adds 3 artifacts or a pair
    _SPACES[_market] = (), (effect(Effect.STAR_IN_REGION, _faction), effect(Effect.ADVANCE, _faction))
_ICARITE_STAR = (effect(Effect.STAR_IN_TERRITORY, ICARITE), effect(Effect.ICARITE_BONUS), effect(Effect.ADVANCE, ICARITE))
_SPACES["wind_salon"] = (), _ICARITE_STAR  # `engine.costs` adds 3 artifacts or a pair
_SPACES["nimbus_loft"] = ((3, RESOURCE_SET),), _ICARITE_STAR
_SPACES["breeze_bar"] = _BLISS_AND_ANOTHER, (draw(2), effect(Effect.ADVANCE, ICARITE))
_SPACES["sky_lounge"] = _BLISS_AND_ANOTHER, (choose(RESOURCE_SET, 2), effect(Effect.ADVANCE, ICARITE))

assert tuple(_SPACES) == SPACES


def _flat(cost: Cost) -> list[int]:
    (n_a, set_a), (n_b, set_b) = (*cost, (0, 0), (0, 0))[:2]
    return [n_a, set_a, n_b, set_b]


# (space, [units a, set a, units b, set b])
SPACE_COST = np.array([_flat(cost) for cost, _ in _SPACES.values()], np.int64)
SPACE_PROGRAM = program_table([gain for _, gain in _SPACES.values()])
TUNNEL_RESOURCE = np.array([FIRST_RESOURCE + k for k in range(len(TUNNELS))], np.int8)

assert len(GOODS) == len(COMMODITIES) + 3
