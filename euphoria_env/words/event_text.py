"""What happened by a decision, as everybody or the player of a seat may know it (R19)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from euphoria_env import actions
from euphoria_env.board import (
    ARTIFACTS,
    FACTIONS,
    FIRST_MARKET,
    FIRST_SLOT,
    GAINS,
    GOODS,
    ITEMS,
    MARKETS,
    NUM_AREAS,
    SLOTS_PER_SITE,
    STAR_PLACES,
    TERRITORIES,
    TUNNELS,
)
from euphoria_env.cards.recruits import RECRUIT_NAMES, RECRUITS
from euphoria_env.cards.tiles import TILES
from euphoria_env.cards.vocabulary import Price
from euphoria_env.engine.retrieval import WORKER_SPACE
from euphoria_env.engine.state import OVER, PLAYING, RESOLVED_STAR, SETUP, TRUNCATED
from euphoria_env.words.names import amount, faction, gain_name, listed, short_name, signed, space_name, territory_name, title
from euphoria_env.words.preview import named

if TYPE_CHECKING:
    from euphoria_env.game import Game

Outcome = tuple[str, int | str]
# Each kind of outcome that chance logs, and which part of a line tells it.
TOLD = {
    "dice": "who rolls what",
    "artifacts": "who has how many more",
    "recruits": "who has which active, once it is",
    "markets": "which is built, once it is",
    "dilemmas": "whose is resolved, once it is",
    "lots": "who has won",
}


def event(before: Game, move: str | int, after: Game, outcomes: Sequence[Outcome], seat: int | None = None) -> str:
    """One line of the log: what happened by a decision.

    Args:
        before, after: each a `Game`, before the move and after it.
        move: in notation, or as an action id; legal in `before`.
        outcomes: what chance gave with it, as in `Game.outcomes`.
        seat: who reads the line; None: everybody. Choices and cards that the reader may not know are left out.

    Raises:
        ValueError: no such move, no such seat, or a kind of outcome that no part of the line tells.
    """
    if untold := {kind for kind, _ in outcomes} - set(TOLD):
        raise ValueError(f"no line tells outcomes of the kind {', '.join(sorted(untold))}")
    old, new = before.states[0], after.states[0]
    n = int(old["num_players"])
    if seat is not None and (isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < n):
        raise ValueError(f"seat must be None or an integer from 0 to {n - 1}, not {seat!r}")
    action = actions.parse(move) if isinstance(move, str) else actions.number(move)
    player = int(old["player"])
    first, say = next((first, say) for first, say in reversed(_SAID) if action >= first)
    said = f"Player {player} {say(old, action - first, seat in (None, player) and seat == player)}"
    dice = [int(value) for kind, value in outcomes if kind == "dice"]
    parts = [*_dice(old, new, action, dice), *_changes(old, new, action, dice, seat), *_table(old, new, seat)]
    return "; ".join([said, *parts])


# ------------------------------------------------------------------------------------------------------------- the choice


def _place(g: np.void, k: int, own: bool) -> str:
    face, space = k // NUM_SPACES + 1, k % NUM_SPACES
    text = f"places a {face} on {named(g, space)}"
    owner = int(g["occupant"][space]) if space >= NUM_AREAS else -1
    if owner < 0:
        return text
    whose = "their own" if owner == g["player"] else f"player {owner}'s"
    return f"{text}, bumping {whose} {int(g['face'][space])}"


def _worker(g: np.void, worker: int) -> str:
    space = int(WORKER_SPACE[worker])
    face = worker % 6 + 1 if space < NUM_AREAS else int(g["face"][space])
    return f"the {face} {{}} {named(g, space)}"


def _take(g: np.void, k: int, own: bool) -> str:
    return "takes back " + _worker(g, k).format("from")


def _sacrifice(g: np.void, k: int, own: bool) -> str:
    return "sacrifices " + _worker(g, k).format("on")


_PAYMENTS = ("free of charge", "for 1 food", "for 1 bliss", "for 1 energy")


def _retrieve(g: np.void, k: int, own: bool) -> str:
    return f"retrieves workers {_PAYMENTS[k]}"


def _gain(g: np.void, k: int, own: bool) -> str:
    return f"chooses {gain_name(GAINS[k])}"


def _star(g: np.void, k: int, own: bool) -> str:
    name = STAR_PLACES[k]
    if name in TERRITORIES:
        return f"chooses {territory_name(name)} for the star"
    return f"chooses {space_name(name, TILES[int(g['tile'][MARKETS.index(name)])])} for the star"


def _choose_recruit(g: np.void, card: int, own: bool) -> str:
    if not own:
        return "chooses a recruit"
    return f"chooses {title(RECRUIT_NAMES[card])}"


def _choose_tile(g: np.void, tile: int, own: bool) -> str:
    return f"puts {space_name(MARKETS[0], TILES[tile]) if own else 'a market tile'} in the game"


def _trade(g: np.void, k: int, own: bool) -> str:
    return f"begins an offer to player {(int(g['player']) + k + 1) % int(g['num_players'])}"


def _items(counts: np.ndarray) -> str:
    return listed(amount(int(n), ITEMS[k]) for k, n in enumerate(counts) if n)


def _offer(g: np.void, k: int, own: bool) -> str:
    return f"offers player {int(g['partner'])} {_items(g['chosen'])} for {_items(g['asked'])}"


def _plain(text: str):  # type: ignore[no-untyped-def]
    return lambda g, k, own: text


def _item(verb: str, names: Sequence[str]):  # type: ignore[no-untyped-def]
    return lambda g, k, own: f"{verb} " + ("knowledge +1" if names[k] == "knowledge" else amount(1, names[k]))


NUM_SPACES = actions.END // 6
_SAID = [
    (actions.PLACE, _place),
    (actions.END, _plain("places no further worker")),
    (actions.RETRIEVE, _retrieve),
    (actions.TAKE, _take),
    (actions.DONE, _plain("takes no further worker")),
    (actions.DILEMMA, lambda g, k, own: f"resolves the dilemma for a {('star', 'recruit')[k]}"),
    (actions.PAY, _item("pays", ITEMS)),
    (actions.PAY_PAIR, lambda g, k, own: f"pays {amount(2, ARTIFACTS[k])}"),
    (actions.PAY_THREE, _plain("pays any 3 artifacts")),
    (actions.PAY_MATCH, _plain("pays the artifact of the dilemma")),
    (actions.PAY_TWO, _plain("pays any 2 artifacts")),
    (actions.PAY_ONE, _plain("pays 1 artifact")),
    (actions.GAIN, _gain),
    (actions.LOSE, _item("loses", GOODS)),
    (actions.DISCARD, _item("discards", ARTIFACTS)),
    (actions.STAR, _star),
    (actions.USE, lambda g, k, own: f"uses {short_name(RECRUIT_NAMES[k])}"),
    (actions.SKIP, lambda g, k, own: f"does not use {short_name(RECRUIT_NAMES[int(g['card'])])}"),
    (actions.SET, lambda g, k, own: f"sets the worker to {k + 1}"),
    (actions.SACRIFICE, _sacrifice),
    (actions.CHOOSE_RECRUIT, _choose_recruit),
    (actions.CHOOSE_TILE, _choose_tile),
    (actions.SET_MORALE, lambda g, k, own: f"starts with morale {k + 1}"),
    (actions.SET_KNOWLEDGE, lambda g, k, own: f"starts with knowledge {k + 1}"),
    (actions.TRADE, _trade),
    (actions.GIVE, _item("offers", ITEMS)),
    (actions.ASK, _item("asks for", ITEMS)),
    (actions.OFFER, _offer),
    (actions.ACCEPT, _plain("accepts")),
    (actions.REFUSE, _plain("refuses")),
]


# -------------------------------------------------------------------------------------------------------- what followed


def _dice(old: np.void, new: np.void, action: int, dice: list[int]) -> Iterator[str]:
    """The dice that were rolled, by player where one roll came after another; at the end of the game there may be roll-offs."""
    if not dice:
        return
    rolls = [(p, 2) for p in range(int(old["num_players"]))] if old["status"] == SETUP else _rolls(old, new, action)
    if old["status"] != SETUP and _gained(old, new, action, dice):
        rolls.append((int(old["turn_player"]), 1))
    if sum(n for _, n in rolls) != len(dice):
        yield f"dice: {listed(str(face) for face in dice)}"
        return
    at = 0
    for p, n in rolls:
        yield f"player {p} rolls {listed(str(face) for face in dice[at : at + n])}"
        at += n


def _rolls(old: np.void, new: np.void, action: int) -> list[tuple[int, int]]:
    """Who rolled how many workers that came back with a move, in order (R4.2, R4.8, R3.4)."""
    placing = action < actions.END
    actor, space = int(old["player"]), action % NUM_SPACES if placing else int(old["space"])
    order = [int(owner) for owner in old["back_owner"]]
    if placing and space >= NUM_AREAS:
        order.append(int(old["occupant"][space]))
    if FIRST_SLOT <= space < FIRST_MARKET:
        first = space - (space - FIRST_SLOT) % SLOTS_PER_SITE
        slots = range(first, first + SLOTS_PER_SITE)
        order += [actor if placing and slot == space else int(old["occupant"][slot]) for slot in slots]
    rolls = []
    for p in [owner for owner in dict.fromkeys([*order, int(old["turn_player"])]) if owner >= 0]:
        n = _coming(old, p) - _coming(new, p) + (placing and p == actor) - (p == actor and _given(old, new, action))
        n -= bool(old["set_face"] or actions.SET <= action < actions.SACRIFICE) and not new["set_face"] and p == _setter(old)
        if n > 0:
            rolls.append((p, n))
    return rolls


def _setter(g: np.void) -> int:
    """Whose worker is given a face: the one that is bumped, or one that is retrieved."""
    owner = int(g["back_owner"][0])
    return owner if owner >= 0 else int(g["turn_player"])


def _coming(g: np.void, p: int) -> int:
    """The workers of a player on the board, and those that came back and are not yet rolled."""
    return int(g["area"][:, p].sum() + (g["occupant"] == p).sum() + (g["back_owner"] == p).sum())


def _given(old: np.void, new: np.void, action: int) -> bool:
    """Whether the one who decided paid with a worker (R13.4)."""
    if actions.USE <= action < actions.SKIP:
        prices = {ability.price for ability in RECRUITS[action - actions.USE].abilities}
        p = int(old["player"])
        return bool(prices & {Price.PLACED_WORKER, Price.RETRIEVED_WORKER}) and bool(new["owned"][p] < old["owned"][p])
    return actions.SACRIFICE <= action < actions.CHOOSE_RECRUIT


def _gained(old: np.void, new: np.void, action: int, dice: list[int]) -> bool:
    """Whether a worker was gained and rolled: after those that came back, another die."""
    p = int(old["turn_player"])
    if new["status"] == OVER:  # there may be roll-offs among the dice
        lost = new["lost_worker"][p] > old["lost_worker"][p]
        return bool(new["owned"][p] + lost > old["owned"][p])
    return len(dice) > sum(n for _, n in _rolls(old, new, action))


def _changes(old: np.void, new: np.void, action: int, dice: list[int], seat: int | None) -> Iterator[str]:
    """What changed for each player that everybody sees, and the artifacts of the reader."""
    if old["status"] == SETUP:
        return
    workers = old["owned"].astype(int)  # with what the move itself gained and gave away
    workers[int(old["turn_player"])] += (gained := _gained(old, new, action, dice))
    workers[int(old["player"])] -= _given(old, new, action)
    for p in range(int(old["num_players"])):
        parts = [f"{signed(name, n)}" for k, name in enumerate(GOODS) if (n := int(new["goods"][p, k]) - int(old["goods"][p, k]))]
        parts += list(_artifacts(old, new, p, p == seat))
        for track in ("knowledge", "morale"):
            if n := int(new[track][p]) - int(old[track][p]):
                parts.append(signed(track, n))
        if places := list(_star_places(old, new, p)):
            parts.append(f"{amount(len(places), 'star')} {listed(places)}")
        if p == old["player"] and action < actions.SKIP and _given(old, new, action):
            parts.append("gives up a worker")
        if gained and p == old["turn_player"]:
            parts.append("gains a worker")
        if int(new["owned"][p]) < workers[p]:
            parts.append("loses a worker to the knowledge check")
        if parts:
            yield f"player {p}: {', '.join(parts)}"


def _star_places(old: np.void, new: np.void, p: int) -> Iterator[str]:
    """Where the stars are that a player has placed (R1.5)."""
    for k, name in enumerate(TERRITORIES):
        if new["territory"][k, p] > old["territory"][k, p]:
            yield f"in {territory_name(name)}"
    for k, name in enumerate(MARKETS):
        if int(new["market_stars"][k]) & ~int(old["market_stars"][k]) & 1 << p:
            yield f"on {space_name(name, TILES[int(new['tile'][k])])}"
    for card in new["recruits"][p, : new["num_recruits"][p]].tolist():
        if int(new["starred"]) & ~int(old["starred"]) & 1 << card:
            yield f"on {short_name(RECRUIT_NAMES[card])}"
    if new["resolved"][p] == RESOLVED_STAR != old["resolved"][p]:
        yield "on the dilemma"


def _artifacts(old: np.void, new: np.void, p: int, own: bool) -> Iterator[str]:
    if own:
        for k, name in enumerate(ARTIFACTS):
            if n := int(new["artifacts"][p, k]) - int(old["artifacts"][p, k]):
                yield signed(name, n)
    elif n := int(new["hand_size"][p]) - int(old["hand_size"][p]):
        yield signed("artifacts", n)


def _table(old: np.void, new: np.void, seat: int | None) -> Iterator[str]:
    """What changed on the board, and who has what cards now."""
    for k in range(len(FACTIONS)):
        if n := int(new["allegiance"][k]) - int(old["allegiance"][k]):
            yield f"{signed(f'{faction(k)} allegiance', n)} (now {int(new['allegiance'][k])})"
    for k in range(len(TUNNELS)):
        if n := int(new["miners"][k]) - int(old["miners"][k]):
            yield f"{signed(f'{faction(k)} miner', n)} (now {int(new['miners'][k])})"
    for k in range(len(MARKETS)):
        if new["built"][k] and not old["built"][k]:
            yield f"{space_name(MARKETS[k], TILES[int(new['tile'][k])])} is built"
    for p in range(int(new["num_players"])):
        fresh = int(new["active_cards"][p]) & ~int(old["active_cards"][p])
        for card in range(len(RECRUIT_NAMES)):
            if fresh >> card & 1:
                yield f"player {p} has {title(RECRUIT_NAMES[card])} active"
        if new["resolved"][p] and not old["resolved"][p]:
            yield f"player {p}'s dilemma was {ARTIFACTS[int(new['dilemma'][p])]}"
    if old["status"] == SETUP and new["status"] == PLAYING:
        yield f"player {int(new['turn_player'])} begins"
    if new["status"] == OVER:
        yield f"player {int(new['winner'])} has won"
    elif new["status"] == TRUNCATED and old["status"] != TRUNCATED:
        yield "the game is cut off"
