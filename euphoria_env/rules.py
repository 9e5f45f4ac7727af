"""The options of a game."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Rules:
    """The options of a game; every value is checked.

    Attributes:
        num_players: 2 to 6.
        trading: whether players may trade on their turn (R15).
        trades_per_turn: offers a player may make in one turn, 0 to 10.
        recruit_draft: draft the recruits instead of dealing them (R17.1).
        market_draft: draft the market tiles (R17.2).
        track_draft: draft the starting knowledge and morale (R17.3).
        doubles_cost_morale: a further equal worker costs 1 morale (R17.4).
        max_turns: after this many turns a game is truncated (R16.4); None: never.

    Raises:
        ValueError: an option has a value that is not allowed; the message names both.
    """

    num_players: int = 4
    trading: bool = False
    trades_per_turn: int = 1
    recruit_draft: bool = False
    market_draft: bool = False
    track_draft: bool = False
    doubles_cost_morale: bool = False
    max_turns: int | None = 2000

    def __post_init__(self) -> None:
        self._integer("num_players", 2, 6)
        self._integer("trades_per_turn", 0, 10)
        if self.max_turns is not None:
            self._integer("max_turns", 1, 2**31 - 1)
        for name in ("trading", "recruit_draft", "market_draft", "track_draft", "doubles_cost_morale"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"rules.{name} must be True or False, not {getattr(self, name)!r}")

    def _integer(self, name: str, low: int, high: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            none = " or None" if name == "max_turns" else ""
            raise ValueError(f"rules.{name} must be an integer from {low} to {high}{none}, not {value!r}")

    def to_dict(self) -> dict[str, Any]:
        """All options by name."""
        return asdict(self)

    @classmethod
    def from_dict(cls, d: Any) -> Rules:
        """Rules from a mapping of options.

        Raises:
            ValueError: not a mapping, an unknown option, or a value that is not allowed.
        """
        if not isinstance(d, dict):
            raise ValueError(f"rules must be an object of options, not {d!r}")
        known = [f.name for f in fields(cls)]
        for name in d:
            if name not in known:
                raise ValueError(f"rules.{name}: no such option; allowed are {', '.join(known)}")
        return cls(**d)
