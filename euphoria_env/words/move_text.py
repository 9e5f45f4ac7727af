"""The legal moves of a decision, explained, and the decision itself as a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from euphoria_env import actions
from euphoria_env.actions import NUM_BOARD_WORKERS
from euphoria_env.board import (
    ARTIFACTS,
    FIRST_ARTIFACT,
    GAINS,
    GOODS,
    ITEMS,
    KNOWLEDGE_ITEM,
    MARKETS,
    NUM_AREAS,
    SLOT_SET,
    SPACES,
    STAR_PLACES,
)
from euphoria_env.cards.recruits import AMANDA, FACTION_OF, RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.allegiance import revealed_factions
from euphoria_env.engine.loop import step
from euphoria_env.engine.retrieval import WORKER_SPACE
from euphoria_env.engine.state import OVER, SETUP, TRUNCATED, Operation, copy_rows
from euphoria_env.engine.tape import empty_tape
from euphoria_env.prompts import prompt
from euphoria_env.words.card_text import cost_words, recruit_words, tile_words
from euphoria_env.words.continuations import consequences
from euphoria_env.words.names import (
    amount,
    called,
    capital,
    does,
    faction,
    gain_name,
    listed,
    named,
    short_name,
    signed,
    space_name,
    territory_name,
    title,
)
from euphoria_env.words.preview import Parts, Preview

if TYPE_CHECKING:
    from euphoria_env.game import Game

LONG = 120  # characters of cost and gain; beyond that abilities are told by their names


@dataclass(frozen=True)
class Move:
    """A legal move, explained.

    Attributes:
        action: its id.
        notation: as `actions.NAMES` has it.
        group: what moves are grouped by; never empty.
        space: the identifier of the space it concerns; "" if none.
        text: a short imperative sentence.
        cost: the price, in parts separated by ", "; a sign gives the direction of a marker. Within a part alternatives have "or".
        gain: the certain gain, in such parts; then, each after "; ", what must be known, what happens to others, and the
            abilities that may follow. In the middle of a turn what is the same for all moves is left out of both.
        risk: possible losses by chance, whom the move bumps, what the hand limit takes, and who else may win.
    """

    action: int
    notation: str
    group: str
    space: str = ""
    text: str = ""
    cost: str = ""
    gain: str = ""
    risk: str = ""

    @property
    def told(self) -> str:
        """The cost and the gain in one text, "" if there is neither.

        As in "for 1 energy: 1 gold or 1 artifact".
        """
        return ": ".join(filter(None, (self.cost and f"for {self.cost}", self.gain)))


_NOTHING = Parts([], [], [], [], [])


@dataclass(frozen=True)
class _Decision:
    """The rows of a game, who decides, and how the players are called, which every explanation needs."""

    rows: np.ndarray
    names: Sequence[str]

    @property
    def g(self) -> np.void:
        return self.rows[0]

    @property
    def p(self) -> int:
        return int(self.rows[0]["player"])

    @property
    def taker(self) -> int:
        """The operation that takes the answer."""
        return int(self.g["stack"][max(0, int(self.g["depth"]) - 1)][0])

    @property
    def progress(self) -> str:
        """The number of the item of a series that is asked: " (2 of 3)"; "" if there is only one."""
        whole = int(self.g["units_a"]) + int(self.g["units_b"])
        return f" ({int(self.g['chosen'].sum()) + 1} of {whole})" if whole > 1 else ""

    @property
    def paying_for(self) -> str:
        """The purpose of a series or of a way of paying."""
        if self.taker in (Operation.DILEMMA_PAID, Operation.DILEMMA_WAY_CHOSEN):
            return "the dilemma"
        if self.taker == Operation.BLISS_PAID:
            return short_name(RECRUIT_NAMES[AMANDA])
        return named(self.g, int(self.g["space"]))


@dataclass(frozen=True)
class _Said:
    """The texts of a move that are not foretold; they stand before the gain and the risk."""

    group: str
    text: str
    space: str = ""
    cost: str = ""
    gain: str = ""
    risk: str = ""


_Explain = Callable[[_Decision, int], _Said]


def legal_moves(game: Game, seat: int, names: Sequence[str] | None = None) -> list[Move]:
    """The legal moves of the seat that decides, explained, in the order of their ids; none for every other seat.

    Args:
        game: the game.
        seat: who reads them.
        names: what the players are called, one name for each seat; None: "player 1".

    Raises:
        ValueError: no such seat, or names for another number of players.
    """
    _check_seat(game, seat)
    decision = _Decision(copy_rows(game.states), called(game.rules.num_players, seat, names))
    moves = game.legal_actions()
    if decision.p != seat or not len(moves):
        return []
    said = [_say(decision, action) for action in moves.tolist()]
    parts = _foretold(decision, moves)
    return [_move(*of_move) for of_move in zip(moves.tolist(), said, parts, strict=True)]


def _check_seat(game: Game, seat: object, allowed: str = "") -> None:
    n = int(game.states[0]["num_players"])
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < n:
        raise ValueError(f"seat must be {allowed}an integer from 0 to {n - 1}, not {seat!r}")


def _say(decision: _Decision, action: int) -> _Said:
    first, explain = next((first, explain) for first, explain in reversed(_BLOCKS) if action >= first)
    return explain(decision, action - first)


def _foretold(decision: _Decision, moves: np.ndarray) -> list[Parts]:
    """The future of each move; in the middle of a turn without what is the same for all of them."""
    g = decision.g
    if g["status"] == SETUP or g["ask"] in (Decision.TRADE, Decision.TILE, Decision.TRACK):
        return [_NOTHING] * len(moves)
    trades = (moves >= actions.TRADE) & (moves < actions.ACCEPT)
    told = moves[~trades].tolist()
    found = [
        Preview(g, action, future, decision.names).parts()
        for action, future in zip(told, consequences(decision.rows, told), strict=True)
    ] + [_NOTHING] * int(trades.sum())  # the ids of trades come last
    if g["ask"] in (Decision.OPEN, Decision.FURTHER):
        return found
    costs, gains = _unshared([parts.cost for parts in found]), _unshared([parts.gain for parts in found])
    notes = _unshared([parts.notes for parts in found])
    return [parts._replace(cost=c, gain=g, notes=n) for parts, c, g, n in zip(found, costs, gains, notes, strict=True)]


def _unshared(lists: list[list[str]]) -> list[list[str]]:
    """Lists without the texts that stand in all of them, those about the end of the game excepted."""
    shared = set.intersection(*({text for text in texts if not text.endswith("win")} for texts in lists))
    return [[text for text in texts if text not in shared] for texts in lists]


def _move(action: int, said: _Said, parts: Parts) -> Move:
    """A move of what is said and what is foretold; abilities are told in full as far as there is room."""
    cost = ", ".join([*filter(None, [said.cost]), *parts.cost])
    sure = ", ".join(parts.gain)
    notes = [*filter(None, [said.gain]), *parts.notes]
    for full in range(len(parts.abilities), -1, -1):
        gain = "; ".join(filter(None, [sure, *notes, *_abilities(parts.abilities, full, notes)]))
        if len(cost) + len(gain) + 6 * bool(cost) <= LONG:
            break
    risk = "; ".join(filter(None, [said.risk, *parts.risk]))
    return Move(action, actions.NAMES[action], said.group, said.space, said.text, cost, gain, risk)


def _abilities(abilities: Sequence[tuple[str, str]], full: int, notes: Sequence[str]) -> list[str]:
    """The first ones in full, the others by name, unless a note names them."""
    used = [note for note in notes if ", unless you use " in note]
    names = [name for _, name in abilities[full:] if not any(name in note for note in used)]
    return [*(text for text, _ in abilities[:full]), *([f"{listed(names)} may follow"] if names else [])]


# ------------------------------------------------------------------------------------------------ placing and retrieving


def _place(d: _Decision, k: int) -> _Said:
    face, space = k // len(SPACES) + 1, k % len(SPACES)
    further = d.g["ask"] == Decision.FURTHER
    which = "a further" if further else "the" if d.g["available"][d.p, face - 1] == 1 else "a"
    group = f"Place a further {face}" if further else f"Place a {face}"
    return _Said(group, f"Place {which} {face} on {named(d.g, space)}", SPACES[space])


_PAYMENTS = ("free of charge", "paying 1 food", "paying 1 bliss", "paying 1 energy (Jefferson)")


def _board_worker(d: _Decision, worker: int) -> tuple[int, int]:
    """Face and space of a board worker."""
    space = int(WORKER_SPACE[worker])
    return (worker % 6 + 1 if space < NUM_AREAS else int(d.g["face"][space])), space


def _on_board(d: _Decision, worker: int) -> int:
    """The number of such workers of the player that are on the board and not yet taken back."""
    face, space = _board_worker(d, worker)
    there = int(d.g["area"][space, d.p, face - 1]) if space < NUM_AREAS else int(d.g["occupant"][space] == d.p)
    return there - int((d.g["taken"][: int(d.g["num_taken"])] == worker).sum())


def _take(d: _Decision, k: int) -> _Said:
    face, space = _board_worker(d, k)
    taken = d.g["taken"][: int(d.g["num_taken"])]
    first = int(taken[-1]) if len(taken) else 0
    stay = [_board_worker(d, worker) for worker in range(first, k) if _on_board(d, worker)]
    leaves = f"leaves {listed(f'the {f} on {named(d.g, where)}' for f, where in stay)} on the board" if stay else ""
    lost = "the resource paid there is lost" if SLOT_SET >> space & 1 else ""
    more = _on_board(d, k) > 1 or any(_on_board(d, worker) for worker in range(k + 1, NUM_BOARD_WORKERS))
    gain = "" if more else "all are rolled at once: it is the last that can be taken"
    risk = "; ".join(filter(None, [leaves, lost]))
    return _Said("Retrieve", f"Take back the {face} from {named(d.g, space)}", SPACES[space], gain=gain, risk=risk)


def _sacrifice(d: _Decision, k: int) -> _Said:
    face, space = _board_worker(d, k)
    return _Said("Sacrifice", f"Sacrifice the {face} on {named(d.g, space)}", SPACES[space], cost="1 worker")


# ----------------------------------------------------------------------------------------------------------------- series


def _way(cost: str) -> _Explain:
    return lambda d, k: _Said("Pay", f"Pay {cost} for {d.paying_for}{d.progress}")


def _pay(d: _Decision, item: int) -> _Said:
    return _way(signed("knowledge", 1) if item == KNOWLEDGE_ITEM else amount(1, ITEMS[item]))(d, item)


def _gain(d: _Decision, k: int) -> _Said:
    said = {"knowledge": "Lose 1 knowledge", "morale": "Gain 1 morale"}.get(GAINS[k]) or f"Gain {gain_name(GAINS[k])}"
    where = f" from {named(d.g, int(d.g['space']))}" if d.g["verb"] == Verb.MINE else ""
    return _Said("Gain", f"{said}{where}{d.progress}")


def _star(d: _Decision, place: int) -> _Said:
    name = STAR_PLACES[place]
    tile = TILES[int(d.g["tile"][MARKETS.index(name)])] if name in MARKETS else None
    where = f"on {space_name(name, tile)}" if tile else f"in {territory_name(name)}"
    return _Said("Star", f"Place the star {where}", name, gain=f"its penalty ends: {tile_words(tile)}" if tile else "")


# --------------------------------------------------------------------------------------------------------------- recruits


def _choose_recruit(d: _Decision, card: int) -> _Said:
    name, words = f"{title(RECRUIT_NAMES[card])} ({faction(int(FACTION_OF[card]))})", recruit_words(RECRUIT_NAMES[card])
    if d.g["status"] != SETUP:
        active = revealed_factions(d.g) >> int(FACTION_OF[card]) & 1
        text = f"Keep {name}, " + ("active at once" if active else "hidden for now")
    elif d.taker == Operation.DRAFTED:
        text = f"Keep {name} in the draft"
    else:
        text = f"Choose {name} as the {'hidden' if d.g['num_recruits'][d.p] else 'active'} recruit"
    return _Said("Recruit", text, gain=words.removesuffix("."))


def _choose_tile(d: _Decision, tile: int) -> _Said:
    name = TILES[tile]
    cost = cost_words(MARKETS[0], name).replace(", ", " and ")
    about = f"its space costs {cost}; without a star there: {tile_words(name)}"
    return _Said("Market tile", f"Put {space_name(MARKETS[0], name)} in the game", gain=about)


def _says(group: str, text: str) -> _Explain:
    """A sentence with what stands in the row: the number of the move, the partner, the player on turn, the recruit asked."""

    def explain(d: _Decision, k: int) -> _Said:
        return _Said(
            group,
            text.format(
                number=k + 1,
                result=("star", "recruit")[k % 2],
                payment=_PAYMENTS[k % len(_PAYMENTS)],
                card=title(RECRUIT_NAMES[k % len(RECRUIT_NAMES)]),
                asked=title(RECRUIT_NAMES[int(d.g["card"])]),
                good=amount(1, GOODS[k % len(GOODS)]),
                artifact=amount(1, ARTIFACTS[k % len(ARTIFACTS)]),
                item=amount(1, ITEMS[k % len(ITEMS)]),
                partner=d.names[int(d.g["partner"])] if d.g["partner"] >= 0 else "",
                offerer=d.names[int(d.g["turn_player"])],
                progress=d.progress,
            ),
        )

    return explain


# ---------------------------------------------------------------------------------------------------------------- trading


def _trade(d: _Decision, k: int) -> _Said:
    return _Said("Trade", f"Offer {d.names[(d.p + k + 1) % int(d.g['num_players'])]} a trade")


def _items(counts: np.ndarray) -> str:
    return ", ".join(amount(int(n), ITEMS[k]) for k, n in enumerate(counts) if n)


def _send(d: _Decision, text: str, g: np.void) -> _Said:
    """An offer that is sent."""
    cards = int(g["asked"][FIRST_ARTIFACT:].sum()) - int(g["chosen"][FIRST_ARTIFACT:].sum())
    excess = max(0, int(g["hand_size"][d.p]) + cards - int(g["morale"][d.p]))
    limit = f"; hand limit: perhaps discard {amount(excess, 'artifact')}" if excess else ""
    risk = f"the offer may be refused{limit}"
    return _Said("Send", text, cost=_items(g["chosen"]), gain=_items(g["asked"]), risk=risk)


def _offer(d: _Decision, k: int) -> _Said:
    return _send(d, f"Send the offer to {d.names[int(d.g['partner'])]}", d.g)


def _ask(d: _Decision, item: int) -> _Said:
    """An item is asked for; the last one sends the offer (R15.2)."""
    text = f"Ask {d.names[int(d.g['partner'])]} for {amount(1, ITEMS[item])}"
    after = copy_rows(d.rows)
    step(after, 0, actions.ASK + item, empty_tape())
    if after[0]["ask"] == Decision.TRADE:
        return _Said("Ask for", text)
    asked = copy_rows(d.rows)
    asked[0]["asked"][item] += 1
    return _send(d, f"{text} and send the offer", asked[0])


_BLOCKS: list[tuple[int, _Explain]] = [
    (actions.PLACE, _place),
    (actions.END, _says("End", "Place no further worker")),
    (actions.RETRIEVE, _says("Retrieve", "Retrieve workers, {payment}")),
    (actions.TAKE, _take),
    (actions.DONE, _says("Retrieve", "Retrieve no further worker")),
    (actions.DILEMMA, _says("Dilemma", "Resolve the dilemma for a {result}")),
    (actions.PAY, _pay),
    (actions.PAY_PAIR, lambda d, kind: _way(amount(2, ARTIFACTS[kind]))(d, kind)),
    (actions.PAY_THREE, _way("3 artifacts")),
    (actions.PAY_MATCH, lambda d, k: _way(amount(1, ARTIFACTS[int(d.g["dilemma"][d.p])]))(d, k)),
    (actions.PAY_TWO, _way("2 artifacts")),
    (actions.PAY_ONE, _way("1 artifact")),
    (actions.GAIN, _gain),
    (actions.LOSE, _says("Lose", "Lose {good} to the roll{progress}")),
    (actions.DISCARD, _says("Discard", "Discard {artifact}{progress}")),
    (actions.STAR, _star),
    (actions.USE, _says("Recruit", "Use {card}")),
    (actions.SKIP, _says("Recruit", "Do not use {asked}")),
    (actions.SET, _says("Set a face", "Set the worker to {number}")),
    (actions.SACRIFICE, _sacrifice),
    (actions.CHOOSE_RECRUIT, _choose_recruit),
    (actions.CHOOSE_TILE, _choose_tile),
    (actions.SET_MORALE, _says("Morale", "Start with morale {number}")),
    (actions.SET_KNOWLEDGE, _says("Knowledge", "Start with knowledge {number}")),
    (actions.TRADE, _trade),
    (actions.GIVE, _says("Give", "Offer {partner} {item}")),
    (actions.ASK, _ask),
    (actions.OFFER, _offer),
    (actions.ACCEPT, _says("Answer", "Accept the offer of {offerer}")),
    (actions.REFUSE, _says("Answer", "Refuse the offer of {offerer}")),
]


# ------------------------------------------------------------------------------------------------------------ the question


def question(game: Game, seat: int | None = None, names: Sequence[str] | None = None) -> str:
    """The decision that is asked, as a sentence; the same for every seat, but that who reads it is "you".

    Args:
        game: the game.
        seat: who reads it; None: anybody.
        names: as in `legal_moves`.

    Raises:
        ValueError: no such seat, or names for another number of players.
    """
    if seat is not None:
        _check_seat(game, seat, "None or ")
    decision = _Decision(copy_rows(game.states), called(game.rules.num_players, seat, names))
    g = decision.g
    if g["status"] == OVER:
        return f"The game has ended: {does(decision.names[int(g['winner'])], 'has won')}"
    if g["status"] == TRUNCATED:
        return "The game was cut off: nobody has won"
    who = decision.names[decision.p]
    asked = prompt(g, named=lambda space: named(g, space), titled=title, person=decision.names.__getitem__)
    return f"{capital(who)}: {asked}" + (decision.progress if g["ask"] == Decision.SERIES else "")
