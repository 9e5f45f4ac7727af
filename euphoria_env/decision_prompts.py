"""The prompt: a few words that describe the decision that is asked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from euphoria_env.board import SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.state import SETUP, Operation

_PROMPTS: dict[int, str] = {
    Decision.NOTHING: "do nothing, the game has ended",
    Decision.OPEN: "choose what to do",
    Decision.FURTHER: "place a further {face}, or end",
    Decision.TAKE: "choose the workers to retrieve",
    Decision.ARTIFACT_WAY: "choose how to pay for {space}",
    Decision.DILEMMA_WAY: "choose how to pay for the dilemma",
    Decision.USE: "use {card}, or skip",
    Decision.SET_FACE: "set the face of a worker",
    Decision.STAR: "place a star",
    Decision.SACRIFICE: "sacrifice a worker",
    Decision.RECRUIT: "choose a recruit",
    Decision.TILE: "choose a market tile",
    Decision.TRACK: "choose the starting {track}",
    Decision.TRADE: "make an offer to {partner}",
    Decision.REPLY: "answer the offer of {active}",
}
_SERIES: dict[int, str] = {
    Verb.PAY: "pay for {space}",
    Verb.GAIN: "choose the gain from {source}",
    Verb.LOSE: "lose goods to the roll",
    Verb.DISCARD: "discard artifacts",
    Verb.MINE: "choose the gain from {space}",
}
assert {*_PROMPTS, Decision.SERIES} == set(Decision) and set(_SERIES) == set(Verb)


def _source(row: np.void, named: Callable[[int], str], titled: Callable[[str], str]) -> str:
    """Returns what lets the player choose a gain: a recruit with an ability, or else the space."""
    for op, player, _, slot in row["stack"][: int(row["depth"])][::-1].tolist():
        if op == Operation.TRIGGER and slot:
            return titled(RECRUIT_NAMES[row["recruits"][player, slot - 1]])
        if op == Operation.CLOSE:
            break
    return named(int(row["space"]))


def _tracks(row: np.void) -> str:
    """Returns the markers that a player of the track draft may place now; the last player places morale first (R17.3)."""
    missing = [name for name in ("morale", "knowledge") if not row[name][row["player"]]]
    last = (int(row["turn_player"]) - 1) % int(row["num_players"]) == row["player"]
    return " or ".join(missing[:1] if last else missing)


def prompt(
    row: np.void,
    named: Callable[[int], str] = SPACES.__getitem__,
    titled: Callable[[str], str] = str,
    person: Callable[[int], str] = "player {}".format,
) -> str:
    """Returns the prompt of the decision that a row asks.

    Args:
        named: turns the number of a space into its name.
        titled: turns the identifier of a recruit into their name.
        person: turns the number of a player into their name.
    """
    if row["ask"] == Decision.RECRUIT and row["status"] == SETUP:
        if row["recruit_draft"] and (row["kept"] >= 0).any():
            return "keep a recruit of the draft"
        return "choose the " + ("hidden" if row["num_recruits"][row["player"]] else "active") + " recruit"
    text = _SERIES[int(row["verb"])] if row["ask"] == Decision.SERIES else _PROMPTS[int(row["ask"])]
    paying_dilemma = row["ask"] == Decision.SERIES and row["verb"] == Verb.PAY and row["bumped"] < 0 and row["placed_face"] == 0
    return text.format(
        face=int(row["placed_face"]),
        space="the dilemma" if paying_dilemma else named(int(row["space"])),
        card=titled(RECRUIT_NAMES[row["card"]]),
        source=_source(row, named, titled) if "{source}" in text else "",
        track=_tracks(row),
        partner=person(int(row["partner"])) if "{partner}" in text else "",
        active=person(int(row["turn_player"])),
    )
