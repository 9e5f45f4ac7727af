"""The cards as numbers: every row describes its card."""

from __future__ import annotations

import numpy as np
import pytest

from euphoria_env import cards
from euphoria_env.cards.recruits import RECRUIT_NAMES, RECRUITS
from euphoria_env.cards.tiles import TILES


def test_shapes_types_and_names() -> None:
    found = cards.features()
    assert found is cards.features()
    for table, columns, names in (
        (found.recruits, found.recruit_columns, RECRUIT_NAMES),
        (found.tiles, found.tile_columns, TILES),
    ):
        assert table.shape == (len(names), len(columns)) and table.dtype == np.float32 and np.isfinite(table).all()
        assert len(set(columns)) == len(columns) and (table != 0).any(axis=1).all()
        assert len(np.unique(table, axis=0)) == len(names), "two cards look alike"
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1


def row(name: str) -> dict[str, float]:
    """The features of a card that are not 0."""
    found = cards.features()
    recruits, tiles = (RECRUIT_NAMES, found.recruits, found.recruit_columns), (TILES, found.tiles, found.tile_columns)
    names, table, columns = recruits if name in RECRUIT_NAMES else tiles
    return {column: float(value) for column, value in zip(columns, table[names.index(name)], strict=True) if value}


def test_a_recruit_is_what_its_row_says() -> None:
    assert {key: value for key, value in row("zong_the_astronomer").items() if not key.startswith("faction")} == {
        "abilities": 1, "may": 1, "costs knowledge": 1, "on placed": 1, "when always": 1, "price none": 1, "at cloud_mine": 1,
        "draw": 1, "opponents_bliss": 1,
    }  # fmt: skip
    assert row("dr_sheppard_the_lobotomist")["abilities"] == 2 and row("dr_sheppard_the_lobotomist")["gains bliss"] == 4
    assert row("kaden_the_infiltrator") == {"faction icarite": 1, "also tunnel_ends_for_knowledge": 1}


def test_a_tile_is_what_its_row_says() -> None:
    tile = row("bemusement_park")
    assert tile["first units"] == tile["second units"] == tile["second balloons"] == tile["penalty of face 3"] == 1
    paid = {key.removeprefix("first ") for key in tile if key.startswith("first ")}
    assert paid == {"units", "energy", "water", "food", "bliss"}
    assert row("academy_of_mandatory_equality")["penalty of academy_of_mandatory_equality"] == 1


def test_what_no_row_says_has_a_flag() -> None:
    for recruit in RECRUITS:
        assert recruit.abilities or recruit.also, recruit.name
