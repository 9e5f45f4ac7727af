"""Layouts: the names of what a network sees and answers, by which files of other versions of the environment are read.

Networks, saved runs and data sets name their layout. One whose names are those of the present version has the same hash, and is
read as it is; `network.conversion` and `data.conversion` convert others by name.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from euphoria_env import actions, afterstates, observations
from euphoria_env.board import MAX_PLAYERS

SHOWN = 8  # of the names that differ
_COMMA = ", "  # between names in a file; no name has one
# Earlier files name nothing. All that are still read have this hash; the next one is that of their names, which are kept here.
UNNAMED, _NAMED = "9cea01cbf23d341e", "5164f4aa3c860237"
_NAMES_OF_UNNAMED = Path(__file__).with_name("unnamed_layout.json")


class Names(TypedDict):
    """A layout as files have it: names in their order, separated by commas."""

    fields: dict[str, str]  # for each field of the observation the names of its entries, or their numbers
    values: dict[str, str]  # for each field whose values have names: those of the values from 1 on
    actions: str
    features: str  # of a player, in afterstates
    facts: str  # the other columns of afterstates


class Layout(NamedTuple):
    """The names of a layout in their order."""

    entries: dict[str, tuple[str, ...]]  # the entries of the observation; for each the names of its values, empty without names
    actions: tuple[str, ...]
    features: tuple[str, ...]  # of a player, in afterstates
    facts: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of afterstates."""
        return (*(f"player_{k}.{name}" for k in range(MAX_PLAYERS) for name in self.features), *self.facts)

    def lacks(self, other: Layout) -> list[str]:
        """Returns the names in another layout that this one has not: moves, columns of afterstates, entries, values."""
        found = [name for mine, theirs in zip(self[1:], other[1:], strict=True) for name in theirs if name not in mine]
        found += [name for name in other.entries if name not in self.entries]
        kept = [(name, values) for name, values in other.entries.items() if name in self.entries]
        return found + [f"{name} {value}" for name, values in kept for value in values if value not in self.entries[name]]

    def difference(self, later: Layout) -> str:
        """Returns in a few words what a later layout adds, and what it does not have."""
        sides = ("new", self.lacks(later)), ("gone", later.lacks(self))
        told = [f"{what} {len(names)}: " + _COMMA.join([*names[:SHOWN], "..."][: len(names)]) for what, names in sides if names]
        return "; ".join(told) or "only the order differs"


def _present_names() -> Names:
    fields = observations.table()
    return {
        "fields": {field.name: _COMMA.join(field.entries or map(str, range(field.size))) for field in fields},
        "values": {field.name: _COMMA.join(field.values) for field in fields if field.values},
        "actions": _COMMA.join(actions.NAMES),
        "features": _COMMA.join(name for name, _ in afterstates.FEATURES),
        "facts": _COMMA.join(name for name, _ in afterstates.FACTS),
    }


@functools.cache
def description() -> dict[str, Any]:
    """Returns what files say of the present layout: the sizes of observation and action space, a hash of all names, the names."""
    names = _present_names()
    digest = hashlib.blake2b(json.dumps(names).encode(), digest_size=8).hexdigest()
    return {"observations": observations.OBS_SIZE, "actions": actions.NUM_ACTIONS, "layout": digest, "names": names}


@functools.cache
def present_layout() -> Layout:
    """Returns the layout of this version of the environment."""
    return _layout(_present_names())


def is_present(described: Mapping[str, Any]) -> bool:
    """Returns whether a file says that it has the present layout."""
    present, found = description()["layout"], described.get("layout")
    return bool(found == present or (found == UNNAMED and present == _NAMED))


def other_layout(described: Mapping[str, Any]) -> Layout | None:
    """Returns the layout that a file says it has, as in `description`; None if it is the present one.

    Raises:
        ValueError: it is another one, and the file does not name it.
    """
    if is_present(described):
        return None
    from euphoria_agents.validation import checked  # late: not every agent has a network

    stored = described.get("layout") == UNNAMED
    names = json.loads(_NAMES_OF_UNNAMED.read_text(encoding="utf-8")) if stored else described.get("names")
    try:
        return _layout(checked(names, Names, "names"))
    except ValueError as error:
        raise ValueError(f"made with another version of the environment, and does not name its layout: {error}") from None


def _layout(names: Names) -> Layout:
    values = {field: tuple(text.split(_COMMA)) for field, text in names["values"].items()}
    entries = {
        f"{field} {entry}": values.get(field, ()) for field, text in names["fields"].items() for entry in text.split(_COMMA)
    }
    return Layout(entries, *(tuple(names[key].split(_COMMA)) for key in ("actions", "features", "facts")))
