"""Whether a decision may be taken back: not once anything was drawn after it, or shown to anybody."""

from __future__ import annotations

from collections.abc import Hashable

from euphoria_env import Game
from euphoria_env.render.view import View


def may_be_taken_back(before: Game, after: Game, drawn: bool, seen: View, sees: View) -> bool:
    """Whether the player who decided has learned nothing by it, and shown no card.

    The answer follows from what everybody sees, so it tells nobody more (R19).

    Args:
        before, after: the game around the decision.
        drawn: whether chance gave anything after it.
        seen, sees: what everybody saw before it, and sees after it.
    """
    return not drawn and _plainly_goes_on(before, after) and _shown(before, seen) == _shown(after, sees)


def _plainly_goes_on(before: Game, after: Game) -> bool:
    """Whether the same player is asked again, or the next one what to do: other questions would reveal the cards of others."""
    if after.over or after.truncated or _offered(before, after):
        return False
    if after.turn == before.turn:
        return after.player == before.player
    return after.turn == before.turn + 1 and after.deciding == "open"


def _offered(before: Game, after: Game) -> bool:
    """Whether something was said in a trade: the partner knows of it, and a refusal tells what the partner lacks (R15.2)."""
    if before.deciding == "trade":
        return True
    then, now = before.states[0], after.states[0]
    begun = after.turn == before.turn and now["offers"] != then["offers"]
    return bool(begun and (after.deciding != "trade" or now["chosen"].any()))


def _shown(game: Game, view: View) -> Hashable:
    """The cards that lie open, how many each player holds, and the factions whose recruits have shown themselves (R7.4)."""
    return (
        tuple((p.hand_size, tuple(recruit.name for recruit in p.recruits), p.dilemma) for p in view.players),
        tuple(view.discards.items()),
        tuple(market.tile for market in view.markets.values()),
        int(game.states[0]["revealed"]),
    )
