"""What is being decided, in a few words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from euphoria_env.asks import Ask, Verb
from euphoria_env.board import SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.engine.state import SETUP

_PROMPTS: dict[int, str] = {
    Ask.NOTHING: "do nothing, the game has ended",
    Ask.OPEN: "choose what to do",
    Ask.FURTHER: "place a further {face}, or end",
    Ask.TAKE: "choose the workers to retrieve",
    Ask.ARTIFACT_WAY: "choose how to pay for {space}",
    Ask.DILEMMA_WAY: "choose how to pay for the dilemma",
    Ask.USE: "use {card}, or skip",
    Ask.SET_FACE: "set the face of a worker",
    Ask.STAR: "place a star",
    Ask.SACRIFICE: "sacrifice a worker",
    Ask.RECRUIT: "choose a recruit",
    Ask.TILE: "choose a market tile",
    Ask.TRACK: "place a marker",
    Ask.TRADE: "make an offer to player {partner}",
    Ask.REPLY: "answer the offer of player {active}",
}
_SERIES: dict[int, str] = {
    Verb.PAY: "pay for {space}",
    Verb.GAIN: "choose a gain",
    Verb.LOSE: "lose goods to the roll",
    Verb.DISCARD: "discard artifacts",
    Verb.MINE: "choose the gain of {space}",
}
assert {*_PROMPTS, Ask.SERIES} == set(Ask) and set(_SERIES) == set(Verb)


def _identifier(space: int) -> str:
    return SPACES[space]


def prompt(row: np.void, named: Callable[[int], str] = _identifier, titled: Callable[[str], str] = str) -> str:
    """The prompt of the decision that a row asks; `named` says a space by its number, `titled` a recruit's identifier."""
    if row["ask"] == Ask.RECRUIT and row["status"] == SETUP:
        if row["recruit_draft"] and (row["kept"] >= 0).any():
            return "keep a recruit of the draft"
        return "choose the " + ("hidden" if row["num_recruits"][row["player"]] else "active") + " recruit"
    text = _SERIES[int(row["verb"])] if row["ask"] == Ask.SERIES else _PROMPTS[int(row["ask"])]
    paying_dilemma = row["ask"] == Ask.SERIES and row["verb"] == Verb.PAY and row["bumped"] < 0 and row["placed_face"] == 0
    return text.format(
        face=int(row["placed_face"]),
        space="the dilemma" if paying_dilemma else named(int(row["space"])),
        card=titled(RECRUIT_NAMES[row["card"]]),
        partner=int(row["partner"]),
        active=int(row["active"]),
    )
