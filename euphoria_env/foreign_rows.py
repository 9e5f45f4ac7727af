"""Reads a row of a game that comes from outside, whose bytes may be anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from euphoria_env.board import CARDS_PER_ARTIFACT, MAX_PLAYERS
from euphoria_env.decisions import Decision
from euphoria_env.engine.loop import resume
from euphoria_env.engine.move_set import count_legal
from euphoria_env.engine.placement_legality import update_open_spaces
from euphoria_env.engine.row_checks import check_rows
from euphoria_env.engine.state import FIELDS, GAME_DTYPE, HELD, IN_DECK, OUT_BY, OVER, SETUP, copy_rows, update_penalties
from euphoria_env.engine.tape import empty_tape
from euphoria_env.json_reader import shown
from euphoria_env.rules import read_rules, write_rules


def check_type(rows: Any) -> None:
    """Raises a `TypeError` for anything but an array typed as `Game.states`, a `ValueError` unless it has one row."""
    if not isinstance(rows, np.ndarray) or rows.dtype != GAME_DTYPE:
        raise TypeError(f"rows must be an array typed as `Game.states`, not {getattr(rows, 'dtype', shown(rows))}")
    if rows.shape != (1,):
        raise ValueError(f"rows must be of shape (1,), not {rows.shape}")


def read_row(rows: Any) -> np.ndarray:
    """Returns a copy of a row, after checking the range of each value, what is derived from others, and that there is a choice.

    Raises:
        TypeError, ValueError: as for `check_type`, or the row is impossible; the message names the field.
    """
    check_type(rows)
    read = copy_rows(np.ascontiguousarray(rows))
    n = min(max(int(read["num_players"][0]), 0), MAX_PLAYERS)
    for name, _, _, low, high in FIELDS:
        if (read[name] < low).any() or (read[name] > (high(n) if callable(high) else high)).any():
            raise ValueError(f"rows hold no possible game: {name} is out of range")
    check_rows(read)
    derived = _derived(read)
    for name in GAME_DTYPE.fields or ():
        if not np.array_equal(read[name], derived[name]):
            raise ValueError(f"rows hold no possible game: {name} does not fit the rest")
    if read["status"] < OVER and count_legal(read["legal"][0]) < 1 + (read["ask"] != Decision.OPEN):
        raise ValueError("rows hold no possible game: what is asked must have two answers or more (R18.1)")
    return read


def _derived(rows: np.ndarray) -> np.ndarray:
    """Returns a copy of a row in which the fields that follow from others are computed again."""
    derived = copy_rows(rows)
    row, workers = derived[0], rows["occupant"][0]
    write_rules(row, read_rules(row))
    row["hand_size"] = row["artifacts"].sum(1)
    row["deck"] = CARDS_PER_ARTIFACT - row["discards"] - row["artifacts"].sum(0)
    if row["status"] != SETUP:
        on_spaces = np.bincount(workers[workers >= 0], minlength=MAX_PLAYERS)
        row["owned"] = row["available"].sum(1) + row["area"].sum((0, 2)) + on_spaces
    places, held = row["recruit_place"], np.concatenate([row["recruits"], row["hand"], row["kept"]], 1).tolist()
    places[(places >= HELD) & (places < OUT_BY)] = IN_DECK
    for p, cards in enumerate(held):
        row["active_cards"][p] = sum(1 << card for card in set(cards[: row["num_active"][p]]))
        row["num_recruits"][p] = sum(card >= 0 for card in cards[: row["recruits"].shape[1]])
        for card in cards:
            if card >= 0:
                places[card] = HELD + p if places[card] == IN_DECK else IN_DECK  # a card in two places fits nowhere
    update_open_spaces(row)
    update_penalties(row)
    if row["ask"] != Decision.NOTHING:
        resume(derived, 0, empty_tape())
    return derived
