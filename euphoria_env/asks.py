"""The kinds of decision, and the verbs of a series of single choices (R18)."""

from __future__ import annotations

ASKS = (
    "nothing", "open", "further", "take", "series", "artifact_way", "dilemma_way", "use", "set_face", "star", "sacrifice",
    "recruit", "tile", "track", "trade", "reply",
)  # fmt: skip
(
    NOTHING, OPEN, FURTHER, TAKE, SERIES, ARTIFACT_WAY, DILEMMA_WAY, USE, SET_FACE, STAR, SACRIFICE, RECRUIT, TILE, TRACK,
    TRADE, REPLY,
) = range(len(ASKS))  # fmt: skip

VERBS = ("pay", "gain", "lose", "discard", "mine")  # mine: gain from a tunnel
PAY, GAIN, LOSE, DISCARD, MINE = range(len(VERBS))
