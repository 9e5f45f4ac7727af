"""Explains the legal moves of a decision, and puts the decision itself into a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from euphoria_env import actions
from euphoria_env.board import (
    ARTIFACTS,
    FIRST_SLOT,
    GAINS,
    ITEMS,
    KNOWLEDGE_ITEM,
    MARKETS,
    NUM_AREAS,
    SLOT_SET,
    SLOTS_PER_SITE,
    SPACES,
    STAR_PLACES,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import AMANDA, FACTION_OF, RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decision_prompts import prompt
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.allegiance import revealed_factions
from euphoria_env.engine.loop import step
from euphoria_env.engine.retrieval import WORKER_SPACE, on_board
from euphoria_env.engine.state import OVER, SETUP, TRUNCATED, Operation, copy_rows
from euphoria_env.engine.tape import empty_tape
from euphoria_env.words.card_text import cost_words, recruit_words, tile_words
from euphoria_env.words.consequences import Consequences, consequences
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
    star_place,
    title,
)

if TYPE_CHECKING:
    from euphoria_env.game import Game


@dataclass(frozen=True)
class Move:
    """A legal move, explained.

    Attributes:
        action, notation: its id, and its line of notation.
        group: the name of a group of similar moves; never empty.
        space: the identifier of the space it concerns; "" if none.
        text: a short imperative sentence.
        cost: the price, in parts separated by ", "; a sign gives the direction of a marker, and "or" separates alternatives.
        gain: the gain that is certain if nobody uses an ability, in such parts; then, each after "; ", what happens to others,
            what may happen, and the abilities that may follow. In the middle of a turn, cost and gain leave out what all moves
            have in common.
        risk: possible losses by chance, workers that the move bumps, losses to the hand limit, and others who may win.
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
        """The cost and the gain in one text; empty without any."""
        return ": ".join(filter(None, (self.cost and f"for {self.cost}", self.gain)))


class _Decision:
    """A decision: the rows of the game, the player who decides, the operation that takes the answer, the players' names."""

    def __init__(self, game: Game, seat: int | None, names: Sequence[str] | None) -> None:
        self.rows = copy_rows(game.states)
        self.g: np.void = self.rows[0]
        self.p = int(self.g["player"])
        self.taker = int(self.g["stack"][max(0, int(self.g["depth"]) - 1)][0])
        self.names = called(int(self.g["num_players"]), seat, names)

    @property
    def progress(self) -> str:
        """The number of the item that is asked in a series: " (2 of 3)"; "" if there is only one."""
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


class _Sentence(NamedTuple):
    """The texts of a move that stand before its consequences."""

    group: str
    text: str
    space: str = ""
    cost: str = ""
    gain: str = ""
    risk: str = ""


_Explain = Callable[[_Decision, int], _Sentence]


def legal_moves(game: Game, seat: int, names: Sequence[str] | None = None) -> list[Move]:
    """Returns the legal moves of the seat that decides, explained, in the order of their ids; none for every other seat.

    Args:
        game: the game.
        seat: who reads them.
        names: what the players are called, one name for each seat; None: "player 1".

    Raises:
        ValueError: there is no such seat, or `names` does not have one name for each player.
    """
    _check_seat(game, seat)
    decision, moves = _Decision(game, seat, names), game.legal_actions().tolist()
    if decision.p != seat or not moves:
        return []
    found = _consequences(decision, moves)
    return [_explained(action, _sentence(decision, action), found.get(action, _NOTHING)) for action in moves]


def _check_seat(game: Game, seat: object, allowed: str = "") -> None:
    n = int(game.states[0]["num_players"])
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < n:
        raise ValueError(f"seat must be {allowed}an integer from 0 to {n - 1}, not {seat!r}")


def _sentence(decision: _Decision, action: int) -> _Sentence:
    first, explain = next((first, explain) for first, explain in reversed(_BLOCKS) if action >= first)
    return explain(decision, action - first)


def _consequences(decision: _Decision, moves: Sequence[int]) -> dict[int, Consequences]:
    """Returns the consequences of all moves except trades; in the middle of a turn, without those that all moves share."""
    g = decision.g
    moves = [action for action in moves if not actions.TRADE <= action < actions.ACCEPT]
    if g["status"] == SETUP or not moves:
        return {}
    found = consequences(decision.rows, moves, decision.names)
    if g["ask"] not in (Decision.OPEN, Decision.FURTHER):
        costs, gains, notes = (_unshared([getattr(parts, name) for parts in found]) for name in ("cost", "gain", "notes"))
        found = [p._replace(cost=c, gain=g, notes=n) for p, c, g, n in zip(found, costs, gains, notes, strict=True)]
    return dict(zip(moves, found, strict=True))


def _unshared(lists: list[list[str]]) -> list[list[str]]:
    """Returns lists without the texts that stand in all of them, except those about the end of the game."""
    shared = set.intersection(*({text for text in texts if not text.endswith("win the game")} for texts in lists))
    return [[text for text in texts if text not in shared] for texts in lists]


_NOTHING = Consequences([], [], [], [])


def _explained(action: int, said: _Sentence, found: Consequences) -> Move:
    """Returns a move with its sentence and its consequences."""
    gain = "; ".join(filter(None, [", ".join(found.gain), said.gain, *found.notes]))
    cost = ", ".join(filter(None, [said.cost, *found.cost]))
    risk = "; ".join(filter(None, [said.risk, *found.risk]))
    return Move(action, actions.NAMES[action], said.group, said.space, said.text, cost, gain, risk)


# ------------------------------------------------------------------------------------------------ placing and retrieving


def _place(d: _Decision, k: int) -> _Sentence:
    face, space = k // len(SPACES) + 1, k % len(SPACES)
    further = d.g["ask"] == Decision.FURTHER
    which = "a further" if further else "the" if d.g["available"][d.p, face - 1] == 1 else "a"
    group = f"Place a further {face}" if further else f"Place a {face}"
    return _Sentence(group, f"Place {which} {face} on {named(d.g, space)}", SPACES[space], gain=_missing(d, space))


def _missing(d: _Decision, space: int) -> str:
    """Returns a note on a site that the worker does not complete (R9.3)."""
    if not SLOT_SET >> space & 1:
        return ""
    first = space - (space - FIRST_SLOT) % SLOTS_PER_SITE
    there = sum(owner >= 0 for owner in d.g["occupant"][first : first + SLOTS_PER_SITE].tolist()) + 1
    missing = int(WORKERS_TO_BUILD[len(d.names)]) - there
    return f"you place a star when the market is built ({amount(missing, 'more worker')} needed)" if missing else ""


_PAYMENTS = ("free of charge", "paying 1 food", "paying 1 bliss", "paying 1 energy (Jefferson)")


def _board_worker(d: _Decision, worker: int) -> tuple[int, int]:
    """Returns the face and the space of a worker on the board."""
    space = int(WORKER_SPACE[worker])
    return (worker % 6 + 1 if space < NUM_AREAS else int(d.g["face"][space])), space


def _take(d: _Decision, k: int) -> _Sentence:
    """Returns the sentence of taking back a worker, with a note on the workers that then stay on the board (R18.2)."""
    (face, space), taken = _board_worker(d, k), d.g["taken"].tolist()
    left = [worker for worker in range(max(0, *taken), k) if on_board(d.g, d.p, worker) > taken.count(worker)]
    stay = [f"the {f} on {named(d.g, where)}" for f, where in (_board_worker(d, worker) for worker in left)]
    risks = [f"leaves {listed(stay)} on the board"] if stay else []
    risks += ["the resource paid there is lost"] if SLOT_SET >> space & 1 else []
    return _Sentence("Retrieve", f"Take back the {face} from {named(d.g, space)}", SPACES[space], risk="; ".join(risks))


def _sacrifice(d: _Decision, k: int) -> _Sentence:
    face, space = _board_worker(d, k)
    return _Sentence("Sacrifice", f"Sacrifice the {face} on {named(d.g, space)}", SPACES[space])


# ----------------------------------------------------------------------------------------------------------------- series


def _gain_sentence(d: _Decision, k: int) -> _Sentence:
    said = {"knowledge": "Lose 1 knowledge", "morale": "Gain 1 morale"}.get(GAINS[k]) or f"Gain {gain_name(GAINS[k])}"
    where = f" from {named(d.g, int(d.g['space']))}" if d.g["verb"] == Verb.MINE else ""
    return _Sentence("Gain", f"{said}{where}{d.progress}")


def _star(d: _Decision, place: int) -> _Sentence:
    name = STAR_PLACES[place]
    tile = TILES[int(d.g["tile"][MARKETS.index(name)])] if name in MARKETS else None
    return _Sentence(
        "Star", f"Place the star {star_place(d.g, place)}", name, gain=f"its penalty ends: {tile_words(tile)}" if tile else ""
    )


# --------------------------------------------------------------------------------------------------------------- recruits


def _choose_recruit(d: _Decision, card: int) -> _Sentence:
    name, words = f"{title(RECRUIT_NAMES[card])} ({faction(int(FACTION_OF[card]))})", recruit_words(RECRUIT_NAMES[card])
    if d.g["status"] != SETUP:
        active = revealed_factions(d.g) >> int(FACTION_OF[card]) & 1
        text = f"Keep {name}, " + ("active at once" if active else "hidden for now")
    elif d.taker == Operation.DRAFTED:
        text = f"Keep {name} in the draft"
    else:
        text = f"Choose {name} as the {'hidden' if d.g['num_recruits'][d.p] else 'active'} recruit"
    return _Sentence("Recruit", text, gain=words.removesuffix("."))


def _choose_tile(d: _Decision, tile: int) -> _Sentence:
    name, cost = TILES[tile], cost_words(MARKETS[0], TILES[tile]).replace(", ", " and ")
    about = f"its space costs {cost}; without a star there: {tile_words(name)}"
    return _Sentence("Market tile", f"Put {space_name(MARKETS[0], name)} in the game", gain=about)


# The fields of the sentences in `_BLOCKS`; each depends on the decision and the number of the move in its block.
_FIELDS: dict[str, Callable[[_Decision, int], str]] = {
    "number": lambda d, k: str(k + 1),
    "result": lambda d, k: ("star", "recruit")[k],
    "payment": lambda d, k: _PAYMENTS[k],
    "card": lambda d, k: title(RECRUIT_NAMES[k]),
    "asked": lambda d, k: title(RECRUIT_NAMES[int(d.g["card"])]),
    "artifact": lambda d, k: amount(1, ARTIFACTS[k]),
    "item": lambda d, k: signed("knowledge", 1) if k == KNOWLEDGE_ITEM else amount(1, ITEMS[k]),
    "pair": lambda d, k: amount(2, ARTIFACTS[k]),
    "match": lambda d, k: amount(1, ARTIFACTS[int(d.g["dilemma"][d.p])]),
    "purpose": lambda d, k: d.paying_for,
    "other": lambda d, k: d.names[(d.p + k + 1) % len(d.names)],
    "partner": lambda d, k: d.names[int(d.g["partner"])],
    "offerer": lambda d, k: d.names[int(d.g["turn_player"])],
    "progress": lambda d, k: d.progress,
}


@dataclass(frozen=True)
class _Values:
    """The values of the fields, each computed when a sentence uses it."""

    decision: _Decision
    k: int

    def __getitem__(self, name: str) -> str:
        return _FIELDS[name](self.decision, self.k)


def _says(group: str, text: str) -> _Explain:
    return lambda d, k: _Sentence(group, text.format_map(_Values(d, k)))


def _pays(cost: str) -> _Explain:
    return _says("Pay", f"Pay {cost} for {{purpose}}{{progress}}")


# ---------------------------------------------------------------------------------------------------------------- trading


def _send(d: _Decision, text: str, asked: np.ndarray) -> _Sentence:
    """Returns the sentence of a move that sends an offer, which asks for these items."""
    cost, gain = (_items(counts) for counts in (d.g["chosen"], asked))
    return _Sentence("Send", text, cost=cost, gain=gain, risk="the offer may be refused")


def _items(counts: np.ndarray) -> str:
    """Returns item counts, in the order of `ITEMS`, as parts of a cost."""
    return ", ".join(amount(int(n), ITEMS[k]) for k, n in enumerate(counts) if n)


def _ask(d: _Decision, item: int) -> _Sentence:
    """Returns the sentence of a move that asks for an item; asking for the last one sends the offer (R15.2)."""
    text = f"Ask {d.names[int(d.g['partner'])]} for {amount(1, ITEMS[item])}"
    after, asked = copy_rows(d.rows), d.g["asked"].copy()
    asked[item] += 1
    step(after, 0, actions.ASK + item, empty_tape())
    return _Sentence("Ask for", text) if after[0]["ask"] == Decision.TRADE else _send(d, f"{text} and send the offer", asked)


_BLOCKS: list[tuple[int, _Explain]] = [
    (actions.PLACE, _place),
    (actions.END, _says("End", "Place no further worker")),
    (actions.RETRIEVE, _says("Retrieve", "Retrieve workers, {payment}")),
    (actions.TAKE, _take),
    (actions.DONE, _says("Retrieve", "Retrieve no further worker")),
    (actions.DILEMMA, _says("Dilemma", "Resolve the dilemma for a {result}")),
    (actions.PAY, _pays("{item}")),
    (actions.PAY_PAIR, _pays("{pair}")),
    (actions.PAY_THREE, _pays("3 artifacts")),
    (actions.PAY_MATCH, _pays("{match}")),
    (actions.PAY_TWO, _pays("2 artifacts")),
    (actions.PAY_ONE, _pays("1 artifact")),
    (actions.GAIN, _gain_sentence),
    (actions.LOSE, _says("Lose", "Lose {item} to the roll{progress}")),
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
    (actions.TRADE, _says("Trade", "Offer {other} a trade")),
    (actions.GIVE, _says("Give", "Offer {partner} {item}")),
    (actions.ASK, _ask),
    (actions.OFFER, lambda d, k: _send(d, f"Send the offer to {d.names[int(d.g['partner'])]}", d.g["asked"])),
    (actions.ACCEPT, _says("Answer", "Accept the offer of {offerer}")),
    (actions.REFUSE, _says("Answer", "Refuse the offer of {offerer}")),
]


# ------------------------------------------------------------------------------------------------------------ the question


def question(game: Game, seat: int | None = None, names: Sequence[str] | None = None) -> str:
    """Returns the decision that is asked as a sentence. It is the same for every seat, but calls the reader "you".

    Args:
        game: the game.
        seat: who reads it; None: anybody.
        names: as in `legal_moves`.

    Raises:
        ValueError: there is no such seat, or `names` does not have one name for each player.
    """
    if seat is not None:
        _check_seat(game, seat, "None or ")
    decision = _Decision(game, seat, names)
    g = decision.g
    if g["status"] == OVER:
        return f"The game has ended: {does(decision.names[int(g['winner'])], 'has won')}"
    if g["status"] == TRUNCATED:
        return "The game was cut off: nobody has won"
    who = decision.names[decision.p]
    asked = prompt(g, named=lambda space: named(g, space), titled=title, person=decision.names.__getitem__)
    return f"{capital(who)}: {asked}" + (decision.progress if g["ask"] == Decision.SERIES else "")
