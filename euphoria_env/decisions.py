"""The kinds of decision, and the verbs of series: several items that a player chooses one by one (R18)."""

from __future__ import annotations

from enum import IntEnum, auto


class Decision(IntEnum):
    """The kinds of question that a player is asked."""

    NOTHING = 0  # the game has ended
    OPEN = auto()  # what to do in this turn (R3.1)
    FURTHER = auto()  # a further equal worker, or Chase's new one (R3.3, R4.10)
    TAKE = auto()  # which workers to retrieve (R3.5)
    SERIES = auto()  # the next item of a series (R18.2); its verb is a `Verb`
    ARTIFACT_WAY = auto()  # how to pay 3 artifacts or a pair (R10.1)
    DILEMMA_WAY = auto()  # how to pay for the dilemma (R14.1)
    USE = auto()  # whether to use a recruit (R13.1)
    SET_FACE = auto()  # the face of a worker instead of rolling it (Amanda, Yordy)
    STAR = auto()  # where to place a star (R10.1)
    SACRIFICE = auto()  # which worker (Pete, Sheppard)
    RECRUIT = auto()  # a recruit of the setup, the draft or the dilemma (R2.2, R17.1, R14.1)
    TILE = auto()  # a market tile of the draft (R17.2)
    TRACK = auto()  # a place on a track (R17.3)
    TRADE = auto()  # the next item of an offer (R15.1)
    REPLY = auto()  # accept an offer or refuse it (R15.1)


class Verb(IntEnum):
    """The verb of a series: it tells what each chosen item is used for."""

    PAY = 0
    GAIN = auto()
    LOSE = auto()
    DISCARD = auto()
    MINE = auto()  # gain from a tunnel (R8.1)


DECISIONS = tuple(member.name.lower() for member in Decision)
VERBS = tuple(member.name.lower() for member in Verb)
