"""The player of each seat; their names must be visible and distinct."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from euphoria_env.json_reader import as_key

MAX_NAME = 40  # characters
AGENT_NAMES = ("Ada", "Boole", "Curie", "Dirac", "Euler", "Fermat")  # by seat

# Invisible marks, letters and symbols; `Seat` refuses control and format characters anyway.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")


class Seat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The player of a seat; raises a `ValueError` if the name is not allowed."""

    name: str  # the player's name, up to 40 characters in one line
    spec: str | None = None  # the spec of an agent, as for `euphoria_agents.load`; None: a person plays

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable() or not 0 < len(self.name.strip()) <= MAX_NAME:
            raise ValueError(f"a name is a text of 1 to {MAX_NAME} characters in a line, not {as_key(self.name)}")


def with_distinct_names(seats: Sequence[Seat]) -> list[Seat]:
    """Returns the seats with normalized names; raises a `ValueError` if one is invisible, or looks like another one."""
    found, known = [], set[str]()
    for seat in seats:
        name = " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFC", seat.name)).split())
        if not any(unicodedata.category(character)[0] in "LNPS" for character in name):
            raise ValueError(f"a name has characters that can be seen, unlike {ascii(seat.name)}")
        looks = unicodedata.normalize("NFKC", name).casefold()
        if looks in known:
            raise ValueError(f"the players at a table need different names: {ascii(seat.name)} is there already")
        known.add(looks)
        found.append(msgspec.structs.replace(seat, name=name))
    return found
