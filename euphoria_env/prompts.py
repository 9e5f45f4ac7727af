"""What is being decided, in a few words."""

from __future__ import annotations

import numpy as np

from euphoria_env.asks import (
    ARTIFACT_WAY,
    ASKS,
    DILEMMA_WAY,
    DISCARD,
    FURTHER,
    GAIN,
    LOSE,
    MINE,
    NOTHING,
    OPEN,
    PAY,
    RECRUIT,
    REPLY,
    SACRIFICE,
    SERIES,
    SET_FACE,
    STAR,
    TAKE,
    TILE,
    TRACK,
    TRADE,
    USE,
)
from euphoria_env.board import SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.engine.state import SETUP

_PROMPTS = {
    NOTHING: "do nothing, the game has ended",
    OPEN: "choose what to do",
    FURTHER: "place a further {face}, or end",
    TAKE: "choose the workers to retrieve",
    ARTIFACT_WAY: "choose how to pay for {space}",
    DILEMMA_WAY: "choose how to pay for the dilemma",
    USE: "use {card}, or skip",
    SET_FACE: "set the face of a worker",
    STAR: "place a star",
    SACRIFICE: "sacrifice a worker",
    RECRUIT: "choose a recruit",
    TILE: "choose a market tile",
    TRACK: "place a marker",
    TRADE: "make an offer to player {partner}",
    REPLY: "answer the offer of player {active}",
}
_SERIES = {
    PAY: "pay for {space}",
    GAIN: "choose a gain",
    LOSE: "lose goods to the roll",
    DISCARD: "discard artifacts",
    MINE: "choose the gain of {space}",
}
assert len(_PROMPTS) + 1 == len(ASKS)


def prompt(row: np.void) -> str:
    """The prompt of the decision that a row asks."""
    if row["ask"] == RECRUIT and row["status"] == SETUP:
        if row["recruit_draft"] and (row["kept"] >= 0).any():
            return "keep a recruit of the draft"
        return "choose the " + ("hidden" if row["num_recruits"][row["player"]] else "active") + " recruit"
    text = _SERIES[int(row["verb"])] if row["ask"] == SERIES else _PROMPTS[int(row["ask"])]
    paying_dilemma = row["ask"] == SERIES and row["verb"] == PAY and row["bumped"] < 0 and row["placed_face"] == 0
    return text.format(
        face=int(row["placed_face"]),
        space="the dilemma" if paying_dilemma else SPACES[row["space"]],
        card=RECRUIT_NAMES[row["card"]],
        partner=int(row["partner"]),
        active=int(row["active"]),
    )
