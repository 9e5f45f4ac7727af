"""The key `events` of a scenario: what must have happened, in the words of `events.table()` (docs/events.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Wanted = dict[str, int]  # by the fields of `Event`, those that the scenario names


def labels(row: Any) -> dict[str, str]:
    """The words of a scenario for the fields of a kind of event: those of the table; a second player is `other`."""
    named = [("other" if label == "player" else label, at) for at, label in (("a", row.a), ("b", row.b)) if label]
    return dict([("player", "player")] * row.player + named)


def wanted(entry: dict[str, Any], events: Any) -> Wanted:
    """An event of a scenario in numbers; `events` is the module of the game.

    Raises:
        ValueError: there is no such kind, field or name.
    """
    rows = {row.name: row for row in events.table()}
    if entry.get("kind") not in rows:
        raise ValueError(f"{entry.get('kind')!r} is no kind of event")
    row = rows[entry["kind"]]
    fields, found = labels(row), {"kind": row.kind}
    for key, value in entry.items():
        if key == "kind":
            continue
        if key not in fields:
            raise ValueError(f"{key!r} is no field of {row.name}; it has {', '.join(fields) or 'none'}")
        if value is None:
            found[fields[key]] = -1
            continue
        names = events.NAMES.get(key)
        if not (value in names if names else isinstance(value, int) and not isinstance(value, bool)):
            raise ValueError(f"{key} is not {value!r} in any event")
        found[fields[key]] = names.index(value) if names else value
    return found


def missing(entries: Sequence[dict[str, Any]], happened: Iterable[Any], events: Any) -> list[dict[str, Any]]:
    """The first of these events that did not happen in this order, whatever lies between them, and all after it."""
    rest = iter(happened)
    for k, want in enumerate([wanted(entry, events) for entry in entries]):
        if not any(all(getattr(event, name) == value for name, value in want.items()) for event in rest):
            return list(entries[k:])
    return []


def described(happened: Iterable[Any], events: Any) -> Iterator[dict[str, Any]]:
    """Events as a scenario writes them."""
    rows = {row.kind: row for row in events.table()}
    for event in happened:
        entry = {"kind": rows[event.kind].name}
        for label, at in labels(rows[event.kind]).items():
            value, names = getattr(event, at), events.NAMES.get(label)
            if value >= 0:
                entry[label] = names[value] if names else value
        yield entry
