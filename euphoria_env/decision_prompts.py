"""The prompt: a few words that describe the decision that is asked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from euphoria_env.board import SPACES
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.decisions import DECISIONS, VERBS, Decision, Verb
from euphoria_env.engine.state import SETUP, Operation
from euphoria_env.phrases import Phrase, Text, listed

_FIELDS = {  # of the prompts that have any, by decision or verb
    "further": ("face",), "artifact_way": ("space",), "use": ("card",), "track": ("track",), "trade": ("partner",),
    "reply": ("active",), "pay": ("space",), "gain": ("source",), "mine": ("space",),
}  # fmt: skip


def _source(row: np.void, named: Callable[[int], Text], titled: Callable[[str], Text]) -> Text:
    """Returns what lets the player choose a gain: a recruit with an ability, or else the space."""
    for op, player, _, slot in row["stack"][: int(row["depth"])][::-1].tolist():
        if op == Operation.TRIGGER and slot:
            return titled(RECRUIT_NAMES[row["recruits"][player, slot - 1]])
        if op == Operation.CLOSE:
            break
    return named(int(row["space"]))


def _tracks(row: np.void) -> Text:
    """Returns the markers that a player of the track draft may place now; the last player places morale first (R17.3)."""
    missing = [Phrase(f"noun.{name}", n=1) for name in ("morale", "knowledge") if not row[name][row["player"]]]
    last = (int(row["turn_player"]) - 1) % int(row["num_players"]) == row["player"]
    return listed(missing[:1] if last else missing, "or")


def prompt(
    row: np.void,
    named: Callable[[int], Text] = SPACES.__getitem__,
    titled: Callable[[str], Text] = str,
    person: Callable[[int], Text] = "player {}".format,
) -> Phrase:
    """Returns the prompt of the decision that a row asks.

    Args:
        named: turns the number of a space into its name.
        titled: turns the identifier of a recruit into their name.
        person: turns the number of a player into their name.
    """
    ask, verb = int(row["ask"]), int(row["verb"])
    if ask == Decision.RECRUIT and row["status"] == SETUP:
        if row["recruit_draft"] and (row["kept"] >= 0).any():
            return Phrase("ask.draft")
        return Phrase("ask.hidden_recruit" if row["num_recruits"][row["player"]] else "ask.active_recruit")
    paying_dilemma = ask == Decision.SERIES and verb == Verb.PAY and row["bumped"] < 0 and row["placed_face"] == 0
    fields: dict[str, Callable[[], Text | int]] = {
        "face": lambda: int(row["placed_face"]),
        "space": lambda: Phrase("the_dilemma") if paying_dilemma else named(int(row["space"])),
        "card": lambda: titled(RECRUIT_NAMES[row["card"]]),
        "source": lambda: _source(row, named, titled),
        "track": lambda: _tracks(row),
        "partner": lambda: person(int(row["partner"])),
        "active": lambda: person(int(row["turn_player"])),
    }
    name = VERBS[verb] if ask == Decision.SERIES else DECISIONS[ask]
    return Phrase(f"ask.{name}", **{field: fields[field]() for field in _FIELDS.get(name, ())})
