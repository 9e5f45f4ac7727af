"""Chapter 1: the things of the game, and what can be looked up in a position without asking anybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from .tables import (
    ARTIFACTS,
    CARDS_OF_EACH_ARTIFACT,
    FACTIONS,
    MARKETS,
    MOST_OF_A_GOOD,
    RECRUITS,
    SPACES,
    STARS,
    TERRITORY,
    TILES,
)


class GameEnds(Exception):
    """R16.1: raised by the check when somebody has placed the star that wins; "the game ends at once"."""


@dataclass(frozen=True)
class Rules:
    """The options (docs/environment.md)."""

    num_players: int = 4
    trading: bool = False
    trades_per_turn: int = 1
    recruit_draft: bool = False
    market_draft: bool = False
    track_draft: bool = False
    doubles_cost_morale: bool = False
    stars_to_win: int = STARS
    recruits: tuple[str, ...] | None = None
    markets: tuple[str, ...] | None = None
    max_turns: int | None = 2000

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> Rules:
        pools = {key: pool(options.get(key), cards) for key, cards in (("recruits", RECRUITS), ("markets", TILES))}
        return cls(**{**options, **pools})

    @property
    def recruits_in_game(self) -> tuple[str, ...]:
        return self.recruits or tuple(RECRUITS)

    @property
    def tiles_in_game(self) -> tuple[str, ...]:
        return self.markets or tuple(TILES)

    def as_dict(self) -> dict[str, Any]:
        """The options as JSON has them."""
        options = {f.name: getattr(self, f.name) for f in fields(self)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in options.items()}


def pool(names: Iterable[str] | None, cards: Iterable[str]) -> tuple[str, ...] | None:
    """R17.6: the cards in the game in their fixed order; all of them is the same as none given."""
    return None if names is None or set(names) == set(cards) else tuple(card for card in cards if card in names)


@dataclass
class Recruit:
    name: str
    star: bool = False  # R7.6: one star per recruit, ever

    @property
    def faction(self) -> str:
        return RECRUITS[self.name]


@dataclass
class Worker:
    """A worker on the board."""

    owner: int
    face: int


@dataclass
class Player:
    seat: int
    knowledge: int = 3  # R2.1
    morale: int = 1
    stars: int = STARS  # still to place
    available: list[int] = field(default_factory=list)  # the faces of the available workers (R1.4)
    goods: Counter[str] = field(default_factory=Counter)  # commodities and resources
    artifacts: Counter[str] = field(default_factory=Counter)
    active: list[Recruit] = field(default_factory=list)  # in the order in which they became active (R4.11)
    hidden: list[Recruit] = field(default_factory=list)  # in the order in which they came
    dilemma: str | None = None  # the artifact shown on the card
    resolved: str | None = None  # None, "star" or "recruit"
    lost_worker: bool = False  # R5.3: in this turn
    used: set[str] = field(default_factory=set)  # once-per-turn recruits used in this turn (R13.2)

    @property
    def hand(self) -> int:
        return self.artifacts.total()

    def gain(self, good: str, number: int = 1) -> None:
        """R1.2: at most 10,000 of a good; more is not gained."""
        self.goods[good] = min(MOST_OF_A_GOOD, self.goods[good] + number)


@dataclass
class Market:
    """One of the six market tiles on the sites."""

    tile: str | None = None
    built: bool = False
    stars: list[int] = field(default_factory=list)  # the players with a star on it


@dataclass
class Table:
    """Everything on and beside the board."""

    rules: Rules
    players: list[Player]
    board: dict[str, list[Worker]] = field(default_factory=lambda: {space: [] for space in SPACES})
    allegiance: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FACTIONS, 0))
    miners: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FACTIONS[:3], 0))
    markets: dict[str, Market] = field(default_factory=lambda: {space: Market() for space in MARKETS})
    territories: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in TERRITORY.values()})
    deck: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(ARTIFACTS, CARDS_OF_EACH_ARTIFACT)))
    discards: Counter[str] = field(default_factory=Counter)
    recruit_deck: list[str] = field(init=False)  # R17.6: of the recruits in the game
    recruits_out: dict[str, int | None] = field(default_factory=dict)  # put out of the game: by whom
    active_player: int = 0  # whose turn it is
    turn: int = 0  # number of turns begun
    offers: int = 0  # R15.2: made in this turn
    chosen: bool = False  # R2.2: the chosen recruits have been shown
    over: bool = False
    truncated: bool = False
    winner: int | None = None
    ranking: list[int] | None = None

    def __post_init__(self) -> None:
        self.recruit_deck = list(self.rules.recruits_in_game)

    # --- players ---

    def turn_order(self) -> list[Player]:
        """R4.11: all players, from the active one on."""
        n = len(self.players)
        return [self.players[(self.active_player + k) % n] for k in range(n)]

    def opponents(self, player: Player) -> list[Player]:
        """R13.3: all others; in turn order from the active player (R4.11)."""
        return [other for other in self.turn_order() if other is not player]

    # --- workers ---

    def workers(self) -> Iterator[tuple[str, Worker]]:
        for space, there in self.board.items():
            for worker in there:
                yield space, worker

    def workers_on_board(self, player: Player) -> int:
        return sum(worker.owner == player.seat for _, worker in self.workers())

    def workers_owned(self, player: Player) -> int:
        return len(player.available) + self.workers_on_board(player)

    def return_to_supply(self, space: str, worker: Worker) -> None:
        """R13.4: sacrificing. Compared by identity: two workers may look the same."""
        self.board[space] = [other for other in self.board[space] if other is not worker]

    # --- recruits ---

    def faction_active(self, player: Player, faction: str) -> bool:
        """Whether the player has an active recruit of the faction: membership, not abilities (R12.3)."""
        return any(recruit.faction == faction for recruit in player.active)

    def has(self, player: Player, name: str) -> bool:
        """Whether the ability of this recruit works for the player now: active (R1.7) and not switched off (R12.3)."""
        has_him = any(recruit.name == name for recruit in player.active)
        return has_him and not self.penalty(player, "academy_of_mandatory_equality")

    def abilities(self, player: Player) -> list[str]:
        """R4.11: the player's active recruits, in the order in which they became active."""
        return [recruit.name for recruit in player.active]

    # --- the rest ---

    def penalty(self, player: Player, tile: str) -> bool:
        """R12.1: whether the penalty of this tile is in force for the player now."""
        return any(market.tile == tile and market.built and player.seat not in market.stars for market in self.markets.values())

    def revealed(self, faction: str) -> bool:
        """R7.4, R7.5: whether the recruits of the faction are revealed."""
        return self.allegiance[faction] >= 8 or self.miners.get(faction, 0) >= 6

    def free_territory(self, faction: str) -> bool:
        """R2.4: each territory has as many star spaces as there are players."""
        return len(self.territories[TERRITORY[faction]]) < len(self.players)
