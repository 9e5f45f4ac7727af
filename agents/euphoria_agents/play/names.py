"""The names of the players at a new table: all can be seen, and be told apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from euphoria_agents.play.session import Seat

# Marks, letters and symbols that show nothing; a name cannot have characters of control and format anyway.
_SHOWS_NOTHING = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def told_apart(seats: Sequence[Seat]) -> list[Seat]:
    """The seats of a new table, with names in their normal form; a game that was saved keeps the names that it has.

    Raises:
        ValueError: nothing of a name can be seen, or it looks like another one at the table.
    """
    found, known = [], set[str]()
    for seat in seats:
        name = " ".join(_SHOWS_NOTHING.sub("", unicodedata.normalize("NFC", seat.name)).split())
        if not any(unicodedata.category(character)[0] in "LNPS" for character in name):
            raise ValueError(f"a name has characters that can be seen, unlike {ascii(seat.name)}")
        looks = unicodedata.normalize("NFKC", name).casefold()
        if looks in known:
            raise ValueError(f"the players at a table need different names: {ascii(seat.name)} is there already")
        known.add(looks)
        found.append(msgspec.structs.replace(seat, name=name))
    return found
