"""The visible part of a game: its position without the hidden cards (R19), prepared for drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from euphoria_env import board
from euphoria_env.decision_prompts import prompt
from euphoria_env.json_reader import read_integer
from euphoria_env.phrases import Phrase, Text, listed
from euphoria_env.words import dilemma_words
from euphoria_env.words.names import called, counted, does

if TYPE_CHECKING:
    import numpy as np

    from euphoria_env.game import Game

Worker = tuple[int, int]  # player, face


@dataclass(frozen=True)
class RecruitView:
    """A recruit that may be shown; during the setup, the one chosen as active already counts as `active` (R2.2)."""

    name: str
    active: bool
    star: bool


@dataclass(frozen=True)
class PlayerView:
    """The visible part of a player.

    Attributes:
        stars: the number of stars still to place.
        artifacts: the cards by type; None if only their number is public.
        recruits: the active ones, and the hidden ones if they may be seen.
        hidden: the number of hidden recruits that are not listed.
        dilemma: the artifact on the dilemma card; None if it is secret.
        resolved: None, "star" or "recruit".
        penalties: the tiles whose penalty is in force for the player (R12.1).
        asides: further secrets of the seat whose view this is (R19.2): cards put out or in, by a key of the position.
    """

    seat: int
    active: bool
    deciding: bool
    knowledge: int
    morale: int
    stars: int
    workers: tuple[int, ...]
    on_board: int
    goods: Mapping[str, int]
    hand_size: int
    artifacts: Mapping[str, int] | None
    recruits: tuple[RecruitView, ...]
    hidden: int
    dilemma: str | None
    resolved: str | None
    penalties: tuple[str, ...]
    notes: tuple[Phrase, ...]
    asides: Mapping[str, Sequence[str]]
    rank: int | None


@dataclass(frozen=True)
class MarketView:
    """A construction site, or the market that was built there; `tile` is None until then."""

    tile: str | None
    stars: tuple[int, ...]


@dataclass(frozen=True)
class View:
    """The visible part of a game; `headline`, `asked` and `offer` are phrases."""

    headline: Phrase
    turn: int
    asked: Text
    offer: Text
    players: tuple[PlayerView, ...]
    workers: Mapping[str, tuple[Worker, ...]]
    allegiance: Mapping[str, int]
    miners: Mapping[str, int]
    markets: Mapping[str, MarketView]
    territories: Mapping[str, tuple[int, ...]]
    discards: Mapping[str, int]
    deck_size: int
    workers_to_build: int
    stars_to_win: int
    legal: tuple[str, ...]

    @cached_property
    def open_spaces(self) -> frozenset[str]:
        """The spaces on which the seat of this view may place a worker now."""
        return frozenset(move.split()[2] for move in self.legal if move.startswith("place "))


def view_of(game: Game, seat: int | None = None, names: Sequence[str] | None = None) -> View:
    """Returns the visible part of a game: for everybody, or for the player of a seat.

    Args:
        game: the game.
        seat: the seat whose view it is; None: everybody's.
        names: the names of the players by seat, with "you" for the reader; None: "player 0", "player 1" ...

    Raises:
        ValueError: there is no such seat, or `names` does not have one name for each player.
    """
    d = game.describe()
    n = len(d["players"])
    if seat is not None:
        seat = read_integer("seat", seat, 0, n - 1)
    markets = {
        name: MarketView(market["tile"] if market["built"] else None, tuple(sorted(market["stars"])))
        for name, market in d["markets"].items()
    }
    who = called(n, seat if names else None, names)
    hands = sum(sum(player["artifacts"].values()) for player in d["players"])
    return View(
        headline=_headline(d, who),
        turn=d["turn"],
        asked="" if _ended(d) else _asked(game, who),
        offer=_offer(game.states[0], who) if game.deciding in ("trade", "reply") else "",
        players=tuple(_player(d, p, seat, markets) for p in range(n)),
        workers={name: tuple((w[0], w[1]) for w in there) for name, there in d["workers"].items()},
        allegiance=d["allegiance"],
        miners=d["miners"],
        markets=markets,
        territories={name: tuple(stars) for name, stars in d["territories"].items()},
        discards=d["discards"],
        deck_size=board.CARDS_PER_ARTIFACT * len(board.ARTIFACTS) - hands - sum(d["discards"].values()),
        workers_to_build=int(board.WORKERS_TO_BUILD[n]),
        stars_to_win=d["rules"]["stars_to_win"],
        legal=tuple(game.legal()) if seat == d["player"] else (),
    )


def _ended(d: Mapping[str, Any]) -> bool:
    return d["status"] in ("over", "truncated")


def _asked(game: Game, who: Sequence[Text]) -> Phrase:
    return Phrase("view.must", who=who[game.player], what=prompt(game.states[0], person=who.__getitem__))


def _headline(d: Mapping[str, Any], who: Sequence[Text]) -> Phrase:
    turn = d["turn"]
    if d["status"] == "over":
        return Phrase("view.over", what=does(who[d["winner"]], "has_won"), turn=turn)
    if d["status"] == "playing":
        return Phrase("view.playing", turn=turn, who=who[d["active"]])
    return Phrase("view.truncated", turn=turn) if d["status"] == "truncated" else Phrase("view.setup")


def _offer(g: np.void, who: Sequence[Text]) -> Phrase:
    """Returns the trade under way, which is public (R15.2)."""
    given, asked = (_amounts(g[key].tolist()) or Phrase("view.nothing_yet") for key in ("chosen", "asked"))
    maker = who[g["turn_player"]]
    return Phrase("sentence", who=maker, what=Phrase("view.offers", who=maker, to=who[g["partner"]], given=given, asked=asked))


def _amounts(counts: Sequence[int]) -> Text:
    return listed((counted(n, name) for name, n in zip(board.ITEMS, counts, strict=True) if n), "comma")


def _player(d: Mapping[str, Any], p: int, seat: int | None, markets: Mapping[str, MarketView]) -> PlayerView:
    entry = d["players"][p]
    mine = p == seat
    choosing = _still_choosing(d)
    shown = [
        RecruitView(recruit["name"], recruit["active"] or (choosing and k == 0), recruit["star"])
        for k, recruit in enumerate(entry["recruits"])
        if recruit["active"] or mine
    ]
    resolved = entry["dilemma"]["resolved"]
    return PlayerView(
        seat=p,
        active=p == d["active"] and d["status"] == "playing",
        deciding=p == d["player"] and not _ended(d),
        knowledge=entry["knowledge"],
        morale=entry["morale"],
        stars=entry["stars"],
        workers=tuple(entry["workers"]),
        on_board=sum(owner == p for there in d["workers"].values() for owner, _ in there),
        goods=entry["goods"],
        hand_size=sum(entry["artifacts"].values()),
        artifacts=entry["artifacts"] if mine else None,
        recruits=tuple(shown),
        hidden=0 if choosing else len(entry["recruits"]) - len(shown),
        dilemma=entry["dilemma"]["artifact"] if mine or resolved else None,
        resolved=resolved,
        penalties=tuple(m.tile for m in markets.values() if m.tile is not None and p not in m.stars),
        notes=(
            *[Phrase("view.lost_worker")] * entry["lost_worker"],
            *(Phrase("view.used", recruit=Phrase(f"name.{name}")) for name in entry["used"]),
        ),
        asides=_asides(d, p) if mine else {},
        rank=d["ranking"][p] if _ended(d) else None,
    )


def remarks(player: PlayerView) -> list[str]:
    """Returns sentences on what else is known of a player: hidden recruits, what happened this turn, the dilemma."""
    found = [f"{player.hidden} hidden recruit{'s' if player.hidden > 1 else ''}"] if player.hidden else []
    if player.resolved:
        dilemma = f"dilemma {player.dilemma}: became a {player.resolved}"
    else:
        dilemma = f"dilemma {player.dilemma}: {dilemma_words(player.dilemma)}" if player.dilemma else "dilemma open"
    return [*found, *map(str, player.notes), dilemma]


def _still_choosing(d: Mapping[str, Any]) -> bool:
    """Returns whether recruits are still being chosen, so that the choices are secret (R2.2)."""
    return d["status"] == "setup" and not any(r["active"] for player in d["players"] for r in player["recruits"])


def _asides(d: Mapping[str, Any], seat: int) -> dict[str, list[str]]:
    """Returns the cards that a player removed from the game or put into it, which only this player knows (R19.2)."""
    found = {key: [name for name, p in d[key].items() if p == seat] for key in ("recruits_out", "tiles_out", "tiles_in")}
    return {key: cards for key, cards in found.items() if cards}


def site_slots(market: str) -> tuple[str, ...]:
    """Returns the four slots of the construction site of a market."""
    first = board.SLOTS_PER_SITE * board.MARKETS.index(market)
    return board.SLOTS[first : first + board.SLOTS_PER_SITE]
