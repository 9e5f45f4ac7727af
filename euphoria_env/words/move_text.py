"""Explains the legal moves of a decision, and puts the decision itself into a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from euphoria_env.engine.loop import step as play_step
from euphoria_env.engine.retrieval import WORKER_SPACE, on_board
from euphoria_env.engine.state import OVER, SETUP, TRUNCATED, Operation, copy_rows
from euphoria_env.engine.tape import empty_tape
from euphoria_env.phrases import Phrase, Text, listed
from euphoria_env.words.card_text import card, price
from euphoria_env.words.consequences import Consequences, consequences
from euphoria_env.words.names import (
    because,
    called,
    counted,
    does,
    faction,
    gain_name,
    named,
    space_name,
    star_place,
    step,
)

if TYPE_CHECKING:
    from euphoria_env.game import Game


class MoveFacts(NamedTuple):
    """The parts of what a move says, as phrases; the attributes of `Move` explain them."""

    group: Phrase
    text: Text
    cost: tuple[Text, ...] = ()
    gain: tuple[Text, ...] = ()  # what the player gains for certain
    notes: tuple[Text, ...] = ()  # what follows the gain
    risk: tuple[Text, ...] = ()

    @property
    def costs(self) -> Text:
        """The cost as a list."""
        return listed(self.cost, "comma")

    @property
    def gains(self) -> Text:
        """The gain as a list, with the notes."""
        return listed([listed(self.gain, "comma"), *self.notes], "semicolon")

    @property
    def risks(self) -> Text:
        """The risks as a list."""
        return listed(self.risk, "semicolon")


@dataclass(frozen=True)
class Move:
    """A legal move, explained.

    Attributes:
        action, notation: its id, and its line of notation.
        space: the identifier of the space it concerns; "" if none.
        facts: what the other attributes say in English, as phrases.
    """

    action: int
    notation: str
    space: str
    facts: MoveFacts

    @property
    def group(self) -> str:
        """The name of a group of similar moves; never empty."""
        return str(self.facts.group)

    @property
    def text(self) -> str:
        """A short imperative sentence."""
        return str(self.facts.text)

    @property
    def cost(self) -> str:
        """The price, in parts separated by ", "; a sign gives the direction of a marker, and "or" separates alternatives."""
        return str(self.facts.costs)

    @property
    def gain(self) -> str:
        """The gain that is certain if nobody uses an ability, in such parts, and further notes, each after "; ".

        They say what happens to others, what may happen, and the abilities that may follow. In the middle of a turn, cost and
        gain leave out what all moves have in common.
        """
        return str(self.facts.gains)

    @property
    def risk(self) -> str:
        """Possible losses by chance, workers that the move bumps, losses to the hand limit, and others who may win."""
        return str(self.facts.risks)

    @property
    def told(self) -> str:
        """The cost and the gain in one text; empty without any."""
        cost, gain = self.cost, self.gain
        return ": ".join(filter(None, (cost and f"for {cost}", gain)))


class _Decision:
    """A decision: the rows of the game, the player who decides, the operation that takes the answer, the players' names."""

    def __init__(self, game: Game, seat: int | None, names: Sequence[str] | None) -> None:
        self.rows = copy_rows(game.states)
        self.g: np.void = self.rows[0]
        self.p = int(self.g["player"])
        self.taker = int(self.g["stack"][max(0, int(self.g["depth"]) - 1)][0])
        self.names = called(int(self.g["num_players"]), seat, names)

    def numbered(self, text: Text) -> Text:
        """Returns a text with the number of the item that is asked in a series: " (2 of 3)", unless there is only one."""
        whole = int(self.g["units_a"]) + int(self.g["units_b"])
        return because(text, Phrase("one_of", n=int(self.g["chosen"].sum()) + 1, whole=whole) if whole > 1 else "")

    @property
    def paying_for(self) -> Phrase:
        """The purpose of a series or of a way of paying."""
        if self.taker in (Operation.DILEMMA_PAID, Operation.DILEMMA_WAY_CHOSEN):
            return Phrase("the_dilemma")
        if self.taker == Operation.BLISS_PAID:
            return Phrase(f"short.{RECRUIT_NAMES[AMANDA]}")
        return named(self.g, int(self.g["space"]))


_Explain = Callable[
    [_Decision, int], tuple[str, MoveFacts]
]  # the space that a move concerns, and what stands before its consequences


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
    return [_explained(action, *_facts(decision, action), found.get(action, _NOTHING)) for action in moves]


def _check_seat(game: Game, seat: object, allowed: str = "") -> None:
    n = int(game.states[0]["num_players"])
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < n:
        raise ValueError(f"seat must be {allowed}an integer from 0 to {n - 1}, not {seat!r}")


def _facts(decision: _Decision, action: int) -> tuple[str, MoveFacts]:
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


def _unshared(lists: list[list[Text]]) -> list[list[Text]]:
    """Returns lists without what stands in all of them, except about the end of the game."""
    shared = set.intersection(*({text for text in texts if not _wins(text)} for texts in lists))
    return [[text for text in texts if text not in shared] for texts in lists]


def _wins(text: Text) -> bool:
    return isinstance(text, Phrase) and any(one.id == "does.wins" for one in text.within())


_NOTHING = Consequences([], [], [], [])


def _explained(action: int, space: str, said: MoveFacts, found: Consequences) -> Move:
    """Returns a move with what is said of it, and its consequences."""
    facts = MoveFacts(
        said.group,
        said.text,
        (*said.cost, *found.cost),
        tuple(found.gain),
        (*said.gain, *found.notes),
        (*said.risk, *found.risk),
    )
    return Move(action, actions.NAMES[action], space, facts)


# ------------------------------------------------------------------------------------------------ placing and retrieving


def _place(d: _Decision, k: int) -> tuple[str, MoveFacts]:
    face, space = k // len(SPACES) + 1, k % len(SPACES)
    further = d.g["ask"] == Decision.FURTHER
    which = "further" if further else "only" if d.g["available"][d.p, face - 1] == 1 else "any"
    group = Phrase("group.place_further" if further else "group.place", face=face)
    text = Phrase(f"move.place_{which}", face=face, place=named(d.g, space))
    return SPACES[space], MoveFacts(group, text, gain=tuple(_missing(d, space)))


def _missing(d: _Decision, space: int) -> Iterator[Phrase]:
    """Yields a note on a site that the worker does not complete (R9.3)."""
    if SLOT_SET >> space & 1:
        first = space - (space - FIRST_SLOT) % SLOTS_PER_SITE
        there = sum(owner >= 0 for owner in d.g["occupant"][first : first + SLOTS_PER_SITE].tolist()) + 1
        if missing := int(WORKERS_TO_BUILD[len(d.names)]) - there:
            yield Phrase("note.missing", more=counted(missing, "more worker"))


_PAYMENTS = ("free", "food", "bliss", "energy")


def _board_worker(d: _Decision, worker: int) -> tuple[int, int]:
    """Returns the face and the space of a worker on the board."""
    space = int(WORKER_SPACE[worker])
    return (worker % 6 + 1 if space < NUM_AREAS else int(d.g["face"][space])), space


def _take(d: _Decision, k: int) -> tuple[str, MoveFacts]:
    """Returns what taking back a worker says, with a note on the workers that then stay on the board (R18.2)."""
    (face, space), taken = _board_worker(d, k), d.g["taken"].tolist()
    left = [worker for worker in range(max(0, *taken), k) if on_board(d.g, d.p, worker) > taken.count(worker)]
    stay = [Phrase("item.there", a=named(d.g, where), b=f) for f, where in (_board_worker(d, worker) for worker in left)]
    risks = [Phrase("risk.leaves", workers=listed(stay))] if stay else []
    risks += [Phrase("risk.resource_lost")] if SLOT_SET >> space & 1 else []
    text = Phrase("move.take", face=face, place=named(d.g, space))
    return SPACES[space], MoveFacts(Phrase("group.retrieve"), text, risk=tuple(risks))


def _sacrifice(d: _Decision, k: int) -> tuple[str, MoveFacts]:
    face, space = _board_worker(d, k)
    return SPACES[space], MoveFacts(Phrase("group.sacrifice"), Phrase("move.sacrifice", face=face, place=named(d.g, space)))


# ----------------------------------------------------------------------------------------------------------------- series


def _gain(d: _Decision, k: int) -> tuple[str, MoveFacts]:
    said = (
        Phrase(f"move.gain_{GAINS[k]}") if GAINS[k] in ("knowledge", "morale") else Phrase("move.gain", item=gain_name(GAINS[k]))
    )
    if d.g["verb"] == Verb.MINE:
        said = Phrase("move.gain_from", what=said, place=named(d.g, int(d.g["space"])))
    return "", MoveFacts(Phrase("group.gain"), d.numbered(said))


def _star(d: _Decision, place: int) -> tuple[str, MoveFacts]:
    name = STAR_PLACES[place]
    tiles = [TILES[int(d.g["tile"][MARKETS.index(name)])]] if name in MARKETS else []
    text = Phrase("move.star", where=star_place(d.g, place))
    notes = tuple(Phrase("note.penalty_ends", penalty=card(tile)) for tile in tiles)
    return name, MoveFacts(Phrase("group.star"), text, gain=notes)


# --------------------------------------------------------------------------------------------------------------- recruits


def _choose_recruit(d: _Decision, number: int) -> tuple[str, MoveFacts]:
    name = because(Phrase(f"name.{RECRUIT_NAMES[number]}"), faction(int(FACTION_OF[number])))
    if d.g["status"] != SETUP:
        which = "keep_active" if revealed_factions(d.g) >> int(FACTION_OF[number]) & 1 else "keep_hidden"
    elif d.taker == Operation.DRAFTED:
        which = "keep_in_draft"
    else:
        which = "choose_hidden" if d.g["num_recruits"][d.p] else "choose_active"
    return "", MoveFacts(Phrase("group.recruit"), Phrase(f"move.{which}", recruit=name), gain=(card(RECRUIT_NAMES[number]),))


def _choose_tile(d: _Decision, number: int) -> tuple[str, MoveFacts]:
    tile = TILES[number]
    notes = (
        Phrase("note.tile_costs", cost=price(MARKETS[0], tile, "and")),
        Phrase("note.without_star", penalty=card(tile)),
    )
    return "", MoveFacts(Phrase("group.tile"), Phrase("move.put_in", tile=space_name(MARKETS[0], tile)), gain=notes)


# The arguments of the templates in `_BLOCKS`; each depends on the decision and the number of the move in its block.
_FIELDS: dict[str, Callable[[_Decision, int], Text | int]] = {
    "number": lambda d, k: k + 1,
    "result": lambda d, k: Phrase(f"resolution.{('star', 'recruit')[k]}"),
    "payment": lambda d, k: Phrase(f"paying.{_PAYMENTS[k]}"),
    "recruit": lambda d, k: Phrase(f"name.{RECRUIT_NAMES[k]}"),
    "asked": lambda d, k: Phrase(f"name.{RECRUIT_NAMES[int(d.g['card'])]}"),
    "artifact": lambda d, k: counted(1, ARTIFACTS[k]),
    "item": lambda d, k: step("knowledge", 1) if k == KNOWLEDGE_ITEM else counted(1, ITEMS[k]),
    "pair": lambda d, k: counted(2, ARTIFACTS[k]),
    "match": lambda d, k: counted(1, ARTIFACTS[int(d.g["dilemma"][d.p])]),
    "other": lambda d, k: d.names[(d.p + k + 1) % len(d.names)],
    "partner": lambda d, k: d.names[int(d.g["partner"])],
    "offerer": lambda d, k: d.names[int(d.g["turn_player"])],
}


def _says(group: str, text: str, *fields: str) -> _Explain:
    def explain(d: _Decision, k: int) -> tuple[str, MoveFacts]:
        said = Phrase(f"move.{text}", **{name: _FIELDS[name](d, k) for name in fields})
        return "", MoveFacts(Phrase(f"group.{group}"), said)

    return explain


def _numbered(group: str, text: str, field: str) -> _Explain:
    def explain(d: _Decision, k: int) -> tuple[str, MoveFacts]:
        return "", MoveFacts(Phrase(f"group.{group}"), d.numbered(Phrase(f"move.{text}", item=_FIELDS[field](d, k))))

    return explain


def _pays(cost: str | int) -> _Explain:
    def explain(d: _Decision, k: int) -> tuple[str, MoveFacts]:
        item = counted(cost, "artifact") if isinstance(cost, int) else _FIELDS[cost](d, k)
        return "", MoveFacts(Phrase("group.pay"), d.numbered(Phrase("move.pay", item=item, place=d.paying_for)))

    return explain


# ---------------------------------------------------------------------------------------------------------------- trading


def _send(d: _Decision, text: Phrase, asked: np.ndarray) -> tuple[str, MoveFacts]:
    """Returns what a move says that sends an offer, which asks for these items."""
    cost, gain = (_items(counts) for counts in (d.g["chosen"], asked))
    return "", MoveFacts(Phrase("group.send"), text, cost, (listed(gain, "comma"),), risk=(Phrase("risk.refused"),))


def _items(counts: np.ndarray) -> tuple[Phrase, ...]:
    """Returns item counts, in the order of `ITEMS`, as parts of a cost."""
    return tuple(counted(int(n), ITEMS[k]) for k, n in enumerate(counts) if n)


def _ask(d: _Decision, item: int) -> tuple[str, MoveFacts]:
    """Returns what a move says that asks for an item; asking for the last one sends the offer (R15.2)."""
    fields = {"who": d.names[int(d.g["partner"])], "item": counted(1, ITEMS[item])}
    after, asked = copy_rows(d.rows), d.g["asked"].copy()
    asked[item] += 1
    play_step(after, 0, actions.ASK + item, empty_tape())
    if after[0]["ask"] == Decision.TRADE:
        return "", MoveFacts(Phrase("group.ask"), Phrase("move.ask", **fields))
    return _send(d, Phrase("move.ask_and_send", **fields), asked)


def _offer(d: _Decision, k: int) -> tuple[str, MoveFacts]:
    return _send(d, Phrase("move.send", who=d.names[int(d.g["partner"])]), d.g["asked"])


_BLOCKS: list[tuple[int, _Explain]] = [
    (actions.PLACE, _place),
    (actions.END, _says("end", "end")),
    (actions.RETRIEVE, _says("retrieve", "retrieve", "payment")),
    (actions.TAKE, _take),
    (actions.DONE, _says("retrieve", "done")),
    (actions.DILEMMA, _says("dilemma", "dilemma", "result")),
    (actions.PAY, _pays("item")),
    (actions.PAY_PAIR, _pays("pair")),
    (actions.PAY_THREE, _pays(3)),
    (actions.PAY_MATCH, _pays("match")),
    (actions.PAY_TWO, _pays(2)),
    (actions.PAY_ONE, _pays(1)),
    (actions.GAIN, _gain),
    (actions.LOSE, _numbered("lose", "lose", "item")),
    (actions.DISCARD, _numbered("discard", "discard", "artifact")),
    (actions.STAR, _star),
    (actions.USE, _says("recruit", "use", "recruit")),
    (actions.SKIP, _says("recruit", "skip", "asked")),
    (actions.SET, _says("set", "set", "number")),
    (actions.SACRIFICE, _sacrifice),
    (actions.CHOOSE_RECRUIT, _choose_recruit),
    (actions.CHOOSE_TILE, _choose_tile),
    (actions.SET_MORALE, _says("morale", "morale", "number")),
    (actions.SET_KNOWLEDGE, _says("knowledge", "knowledge", "number")),
    (actions.TRADE, _says("trade", "trade", "other")),
    (actions.GIVE, _says("give", "give", "partner", "item")),
    (actions.ASK, _ask),
    (actions.OFFER, _offer),
    (actions.ACCEPT, _says("answer", "accept", "offerer")),
    (actions.REFUSE, _says("answer", "refuse", "offerer")),
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
    return str(question_phrase(game, seat, names))


def question_phrase(game: Game, seat: int | None = None, names: Sequence[str] | None = None) -> Phrase:
    """Returns what `question` says; the argument `what` of the phrase is what is asked."""
    if seat is not None:
        _check_seat(game, seat, "None or ")
    decision = _Decision(game, seat, names)
    g = decision.g
    if g["status"] == OVER:
        return Phrase("question.over", what=does(decision.names[int(g["winner"])], "has_won"))
    if g["status"] == TRUNCATED:
        return Phrase("question.cut_off")
    who = decision.names[decision.p]
    asked: Text = prompt(g, lambda space: named(g, space), lambda name: Phrase(f"name.{name}"), decision.names.__getitem__)
    if g["ask"] == Decision.SERIES:
        asked = decision.numbered(asked)
    asks = Phrase("question.asks", who=who, what=asked)
    return asks if isinstance(who, str) else Phrase("capital", text=asks)
