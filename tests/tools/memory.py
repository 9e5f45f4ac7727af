"""An agent that checks, at every question, that what it is given is of one game and seat."""

from __future__ import annotations

from typing import Any

import numpy as np

from euphoria_env.event_kinds import EVENT_SIZE
from euphoria_env.observations import OBS_SIZE

KEPT = 24

KEPT = 1024  # more than happens in a short game


class Witness:
    """Plays at random, and fails if games are mixed, events are missing, or ids are asked before `begin` or after `end`.

    Args:
        how: "batch" to answer many games at once.

    Attributes:
        open: by id, the events of each game and seat that has begun and not ended; None before the first question.
        ended: the ids of those that have ended.
    """

    needs_events, needs_ids = KEPT, True

    def __init__(self, how: str = "") -> None:
        self.open: dict[int, Any] = {}
        self.ended: list[int] = []
        self.asked = 0
        if how == "batch":
            self.act_batch = self._act_batch
        if how == "wrong":
            self.needs_events = 1025

    def begin(self, ids: np.ndarray) -> None:
        assert ids.dtype == np.int64 and len(ids) and len(set(ids.tolist())) == len(ids)
        for one in ids.tolist():
            assert one not in self.open and one >= 0
            self.open[one] = None

    def end(self, ids: np.ndarray) -> None:
        for one in ids.tolist():
            assert self.open.pop(one) is not None, "it began, and was asked"
            self.ended.append(one)

    def counts(self) -> dict[str, float]:
        return {"ended": len(self.ended), "open": len(self.open)}

    def act(self, observation: Any, mask: Any, rng: Any, *, events: Any, id: int) -> int:
        assert observation.shape == (OBS_SIZE,) and events.shape == (KEPT, EVENT_SIZE) and events.dtype == np.int8
        self._follows(id, events)
        return int(rng.choice(np.flatnonzero(mask)))

    def _act_batch(self, observations: Any, masks: Any, rng: Any, *, events: Any, ids: Any) -> np.ndarray:
        assert ids.dtype == np.int64 and len(ids) == len(events) == len(observations)
        rows = zip(observations, masks, events, ids.tolist(), strict=True)
        return np.array([self.act(seen, mask, rng, events=last, id=one) for seen, mask, last, one in rows])

    def _follows(self, one: int, events: np.ndarray) -> None:
        """Checks that these events begin with those of the last question."""
        before, self.asked = self.open[one], self.asked + 1
        events = events[events[:, 0] != 0]
        assert 0 < len(events) < KEPT, "all events of the game are there, and some have happened before the first decision"
        assert before is None or np.array_equal(before, events[: len(before)]), "these events are of another game or seat"
        self.open[one] = events.copy()


class Forgetful(Witness):
    """Plays the same moves without a memory."""

    needs_events, needs_ids = 0, False

    def act(self, observation: Any, mask: Any, rng: Any, **_: Any) -> int:
        return int(rng.choice(np.flatnonzero(mask)))

    def _act_batch(self, observations: Any, masks: Any, rng: Any, **_: Any) -> np.ndarray:
        return np.array([self.act(None, mask, rng) for mask in masks])
