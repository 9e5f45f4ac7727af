"""The legal moves of a decision, explained, and the decision itself as a sentence."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from euphoria_env import actions
from euphoria_env.actions import NUM_BOARD_WORKERS
from euphoria_env.board import (
    ARTIFACTS,
    ENERGY,
    FIRST_ARTIFACT,
    FOOD,
    GAINS,
    GOLD,
    GOODS,
    ITEMS,
    KNOWLEDGE_ITEM,
    MARKET_SET,
    MARKETS,
    NUM_AREAS,
    SLOT_SET,
    SPACES,
    STAR_PLACES,
)
from euphoria_env.cards.recruits import AMANDA, FACTION_OF, GEEK, RECRUIT_NAMES
from euphoria_env.cards.tiles import FACE_PENALTY, TILE_FOOD, TILES
from euphoria_env.cards.vocabulary import Effect, Price, When
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.retrieval import WORKER_SPACE
from euphoria_env.engine.state import OVER, SETUP, TRUNCATED, Operation, copy_rows
from euphoria_env.prompts import prompt
from euphoria_env.words.card_text import PRICES, cost_words, recruit_words, step_words, tile_words
from euphoria_env.words.names import (
    amount,
    faction,
    gain_name,
    listed,
    short_name,
    singular,
    space_name,
    territory_name,
    title,
    totals,
)
from euphoria_env.words.preview import (
    ABILITIES,
    Account,
    Foreseen,
    answered,
    check_words,
    faces,
    joined,
    loss_chance,
    named,
    out_of_reach,
    placement,
    retrieval,
    retrieval_account,
    retrieved_check,
    revealed,
    roll_penalty,
    under,
)

if TYPE_CHECKING:
    from euphoria_env.game import Game


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
        gain: the certain gain, in such parts; then, each after "; ", what may follow or must be known.
        risk: possible losses by chance, whom the move bumps, and what the hand limit takes.
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


@dataclass(frozen=True)
class _Decision:
    """The rows of a game and who decides, which every explanation needs."""

    rows: np.ndarray

    @property
    def g(self) -> np.void:
        return self.rows[0]

    @property
    def p(self) -> int:
        return int(self.rows[0]["player"])

    @property
    def top(self) -> tuple[int, int, int, int]:
        """The operation that takes the answer: (operation, player, a, b)."""
        op, p, a, b = (int(value) for value in self.g["stack"][max(0, int(self.g["depth"]) - 1)])
        return op, p, a, b

    @property
    def program(self) -> list[tuple[int, int, int]]:
        """The steps of a card that follow the answer."""
        below = [tuple(int(value) for value in row) for row in self.g["stack"][: max(0, int(self.g["depth"]) - 1)][::-1]]
        return [(op, a, b) for op, _, a, b in itertools.takewhile(lambda row: row[0] < len(Effect), below)]

    @property
    def chosen(self) -> int:
        """The number of items of the series that were chosen."""
        return int(self.g["chosen"].sum())

    @property
    def progress(self) -> str:
        """Which item of a series is asked: "2 of 3"; "" if there is but one."""
        whole = int(self.g["units_a"]) + int(self.g["units_b"])
        return f" ({self.chosen + 1} of {whole})" if whole > 1 else ""

    @property
    def paying_for(self) -> str:
        """The purpose of a series or of a way of paying."""
        if self.top[0] in (Operation.DILEMMA_PAID, Operation.DILEMMA_WAY_CHOSEN):
            return "the dilemma"
        if self.top[0] == Operation.BLISS_PAID:
            return short_name(RECRUIT_NAMES[AMANDA])
        return named(self.g, int(self.g["space"]))


_Parts = dict[str, str]
_Explain = Callable[[_Decision, int], _Parts]


def legal_moves(game: Game, seat: int) -> list[Move]:
    """The legal moves of the seat that decides, explained, in the order of their ids; none for every other seat.

    Raises:
        ValueError: no such seat.
    """
    decision = _Decision(copy_rows(game.states))
    n = int(decision.g["num_players"])
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < n:
        raise ValueError(f"seat must be an integer from 0 to {n - 1}, not {seat!r}")
    if decision.p != seat:
        return []
    return [_explained(decision, int(action)) for action in game.legal_actions()]


def _explained(decision: _Decision, action: int) -> Move:
    first, explain = next((first, explain) for first, explain in reversed(_BLOCKS) if action >= first)
    return Move(action, actions.NAMES[action], **explain(decision, action - first))


def _foreseen(foreseen: Foreseen) -> _Parts:
    cost, gain, risk = foreseen
    sure, *notes = gain.split("; ")
    return {"cost": cost, "gain": "; ".join([_added_up(sure), *notes]), "risk": risk}


_CHANGE = re.compile(r"(?:(\d+) ([a-z]+)|([\w ]+ [+-])(\d+))(?: \((?:from )?([^()]+?)(?: \d)?\))?")


def _added_up(sure: str) -> str:
    """Parts of a gain with equal kinds added up; stars and choices come first."""
    parts = [(part, _CHANGE.fullmatch(part)) for part in sure.split(", ")]
    changes = [found.groups("") for _, found in parts if found]
    added = totals((singular(good) or marker, int(n or steps), source) for n, good, marker, steps, source in changes)
    return ", ".join([*(part for part, found in parts if not found), *added])


# ------------------------------------------------------------------------------------------------ placing and retrieving


def _place(d: _Decision, k: int) -> _Parts:
    face, space = k // len(SPACES) + 1, k % len(SPACES)
    further = d.g["ask"] == Decision.FURTHER
    extra = int(d.g["due_morale"]) if further else 0
    which = "a further" if further else "the" if d.g["available"][d.p, face - 1] == 1 else "a"
    return {
        "group": f"Place a further {face}" if further else f"Place a {face}",
        "space": SPACES[space],
        "text": f"Place {which} {face} on {named(d.g, space)}",
        **_foreseen(placement(d.rows, d.p, face, space, extra)),
    }


def _end(d: _Decision, k: int) -> _Parts:
    return {"group": "End", "text": "Place no further worker"}


_PAYMENTS = ("free of charge", "paying 1 food", "paying 1 bliss", "paying 1 energy (Jefferson)")


def _retrieve(d: _Decision, k: int) -> _Parts:
    return {"group": "Retrieve", "text": f"Retrieve workers, {_PAYMENTS[k]}", **_foreseen(retrieval(d.g, d.p, k))}


def _board_worker(d: _Decision, worker: int) -> tuple[int, int]:
    """Face and space of a board worker."""
    space = int(WORKER_SPACE[worker])
    return (worker % 6 + 1 if space < 4 else int(d.g["face"][space])), space


def _on_board(d: _Decision, worker: int) -> int:
    """How many such workers of the player are on the board and not yet taken back."""
    face, space = _board_worker(d, worker)
    there = int(d.g["area"][space, d.p, face - 1]) if space < NUM_AREAS else int(d.g["occupant"][space] == d.p)
    return there - int((d.g["taken"][: int(d.g["num_taken"])] == worker).sum())


def _take(d: _Decision, k: int) -> _Parts:
    face, space = _board_worker(d, k)
    lost = "the resource paid there is lost" if SLOT_SET >> space & 1 else ""
    taken = d.g["taken"][: int(d.g["num_taken"])]
    first = int(taken[-1]) if len(taken) else 0
    stay = [_board_worker(d, worker) for worker in range(first, k) if _on_board(d, worker)]
    places = listed(f"the {face} on {named(d.g, space)}" for face, space in stay)
    more = _on_board(d, k) > 1 or any(_on_board(d, worker) for worker in range(k + 1, NUM_BOARD_WORKERS))
    return {
        "group": "Retrieve",
        "space": SPACES[space],
        "text": f"Take back the {face} from {named(d.g, space)}",
        "gain": f"the {face} is rolled" + ("" if more else " at once: it is the last that can be taken"),
        "risk": joined(
            [f"this leaves {places} on the board" if stay else "", lost, retrieved_check(d.g, d.p, int(d.g["num_taken"]) + 1)]
        ),
    }


def _done(d: _Decision, k: int) -> _Parts:
    taken = int(d.g["num_taken"])
    account, cost = retrieval_account(d.g, d.p, int(d.g["payment"]))
    return {
        "group": "Retrieve",
        "text": "Retrieve no further worker",
        "cost": cost,
        "gain": joined([account.text(), f"{amount(taken, 'worker')} {'are' if taken > 1 else 'is'} rolled"]),
        "risk": retrieved_check(d.g, d.p, taken),
    }


def _sacrifice(d: _Decision, k: int) -> _Parts:
    face, space = _board_worker(d, k)
    return {
        "group": "Sacrifice",
        "space": SPACES[space],
        "text": f"Sacrifice the {face} on {named(d.g, space)}",
        "cost": "1 worker",
        "gain": ", ".join(step_words(step) for step in d.program),
    }


# ------------------------------------------------------------------------------------------------------------- the dilemma


def _dilemma(d: _Decision, k: int) -> _Parts:
    kind = int(d.g["dilemma"][d.p])
    ways = [amount(1, ARTIFACTS[kind])] if d.g["artifacts"][d.p, kind] else []
    ways += ["2 artifacts"] if d.g["hand_size"][d.p] >= 2 else []
    account = Account(d.g, d.p)
    if k == 0:
        account.star("on the dilemma")
    else:
        account.notes.append("draw 2 recruits and keep 1")
    return {
        "group": "Dilemma",
        "text": f"Resolve the dilemma for a {('star', 'recruit')[k]}",
        "cost": listed(ways, "or"),
        "gain": account.text(),
    }


# ----------------------------------------------------------------------------------------------------------------- series


def _pay(d: _Decision, item: int) -> _Parts:
    account = Account(d.g, d.p)
    if item == KNOWLEDGE_ITEM:
        account.marker("knowledge", 1)
    cost, account.sure = ", ".join(account.sure) or amount(1, ITEMS[item]), []
    if d.top[0] == Operation.PAID:
        account.pay_due()
        answered(account, int(d.g["space"]), _paid_with(d, item))
    text = f"Pay {cost.split(',')[0]} for {d.paying_for}{d.progress}"
    return {"group": "Pay", "text": text, "cost": cost, "gain": account.text()}


def _paid_with(d: _Decision, item: int) -> set[When]:
    """The conditions that this item of a payment fulfils."""
    space = int(d.g["space"])
    if SLOT_SET >> space & 1:
        return {When.PAID_GOLD} if item == GOLD else {When.PAID_ARTIFACT} if item >= FIRST_ARTIFACT else set()
    if MARKET_SET >> space & 1 and item == FOOD:
        printed = int(TILE_FOOD[int(d.g["tile"][MARKETS.index(SPACES[space])])])
        return {When.PAID_FOOD_FOR_BLISS} if d.g["chosen"][FOOD] == printed else set()
    return set()


def _pay_one(d: _Decision, k: int) -> _Parts:
    account = Account(d.g, d.p)
    account.pay_due()
    answered(account, int(d.g["space"]), {When.PAID_ONE_ARTIFACT})
    return {**_way("1 artifact")(d, k), "gain": account.text()}


def _way(cost: str) -> _Explain:
    return lambda d, k: {"group": "Pay", "text": f"Pay {cost} for {d.paying_for}", "cost": cost}


def _pay_pair(d: _Decision, kind: int) -> _Parts:
    return _way(amount(2, ARTIFACTS[kind]))(d, kind)


def _pay_match(d: _Decision, k: int) -> _Parts:
    return _way(amount(1, ARTIFACTS[int(d.g["dilemma"][d.p])]))(d, k)


def _gain(d: _Decision, k: int) -> _Parts:
    account = Account(d.g, d.p)
    if GAINS[k] in ("morale", "knowledge"):
        account.marker(GAINS[k], 1 if GAINS[k] == "morale" else -1)
    elif GAINS[k] == "artifact":
        account.draw(1)
        account.limit()
    else:
        account.good(k, 1)
        if d.g["verb"] == Verb.MINE and account.hand == 0:
            answered(account, int(d.g["space"]), {When.TOOK_RESOURCE})
            account.limit()
    verb = (
        "Lose 1 knowledge" if GAINS[k] == "knowledge" else f"Gain {gain_name(GAINS[k]).removeprefix('morale +1') or '1 morale'}"
    )
    where = f" from {named(d.g, int(d.g['space']))}" if d.g["verb"] == Verb.MINE else ""
    return {"group": "Gain", "text": f"{verb}{where}{d.progress}", "gain": account.text(), "risk": account.limit_words()}


def _lose(d: _Decision, item: int) -> _Parts:
    cost = amount(1, GOODS[item])
    return {"group": "Lose", "text": f"Lose {cost} to the roll{d.progress}", "cost": cost}


def _discard(d: _Decision, kind: int) -> _Parts:
    cost = amount(1, ARTIFACTS[kind])
    return {"group": "Discard", "text": f"Discard {cost}{d.progress}", "cost": cost, "gain": _bargain(d, kind)}


def _bargain(d: _Decision, kind: int) -> str:
    """The gain that Esme gives for an artifact; "" for any other discard."""
    if d.top[0] != Operation.BARGAIN_CHOSEN:
        return ""
    account = Account(d.g, d.p)
    if ARTIFACTS[kind] != "book":
        account.good(ENERGY, 1)
        account.sure.append("knowledge -1 or morale +1")
    else:
        account.good(ENERGY, 2)
        account.marker("knowledge", -2)
        account.marker("morale", 2)
    return account.text()


def _star(d: _Decision, place: int) -> _Parts:
    account = Account(d.g, d.p)
    name = STAR_PLACES[place]
    tile = TILES[int(d.g["tile"][MARKETS.index(name)])] if name in MARKETS else None
    where = f"on {space_name(name, tile)}" if tile else f"in {territory_name(name)}"
    account.star(where)
    if tile:
        account.notes.append(f"its penalty ends: {tile_words(tile)}")
    return {"group": "Star", "space": name, "text": f"Place the star {where}", "gain": account.text()}


# --------------------------------------------------------------------------------------------------------------- recruits


def _use(d: _Decision, card: int) -> _Parts:
    name = title(RECRUIT_NAMES[card])
    return {"group": "Recruit", "text": f"Use {name}", **_ability_now(d, card)}


def _ability_now(d: _Decision, card: int) -> _Parts:
    """The cost and the effect, now, of the ability that is asked."""
    account = Account(d.g, d.p)
    op, _, a, _ = d.top
    if op == Operation.HYPNOSIS_ANSWERED:
        account.marker("knowledge", -2)
        return {"gain": account.text()}
    if op == Operation.DRAW_ANSWERED:
        if card == GEEK:
            account.marker("knowledge", 1)
            cost, account.sure = ", ".join(account.sure), []
            account.draw(3)
            return {"cost": cost, "gain": joined([account.text(), "then discard 2 from your hand"])}
        account.draw(2)
        return {"gain": account.text(), "risk": "you show your hand: if it holds a pair, every opponent draws 1 artifact"}
    ability = ABILITIES[a]
    if ability.morale:
        account.marker("morale", -ability.morale)
        account.sure[0] = amount(ability.morale, "morale")  # the same words as where it is offered
    if ability.knowledge:
        account.marker("knowledge", ability.knowledge)
    price = account.bliss_words() if ability.price == Price.BLISS else PRICES[ability.price]
    cost, account.sure = ", ".join(filter(None, [*account.sure, price])), []
    account.pay_price(ability.price)
    for step in ability.do:
        account.step(step, int(d.g["space"]))
    account.limit()
    risk = joined([account.limit_words(), out_of_reach(d.rows, account, ability)])
    return {"cost": cost, "gain": account.text(), "risk": risk}


def _skip(d: _Decision, k: int) -> _Parts:
    card = int(d.g["card"])
    account = Account(d.g, d.p)
    if d.top[0] == Operation.HYPNOSIS_ANSWERED:
        account.marker("morale", 2)
    elif d.top[0] == Operation.DRAW_ANSWERED:
        account.notes.append("1 artifact is drawn as usual")
    return {"group": "Recruit", "text": f"Do not use {title(RECRUIT_NAMES[card])}", "gain": account.text()}


def _set(d: _Decision, k: int) -> _Parts:
    """The face of the bumped worker (Amanda), or of one that is retrieved (Yordy)."""
    face, g, p = k + 1, d.g, d.p
    bumped = int(g["back_owner"][0]) == p
    others = faces(g, p)
    if bumped:
        others.remove(int(g["back_face"][0]))
    rolled = 0 if bumped else int(g["num_taken"]) - 1
    chance = loss_chance(g, p, int(g["knowledge"][p]), [*others, face], rolled)
    loses = under(g, p, int(FACE_PENALTY[face])) and g["goods"][p].any()
    return {
        "group": "Set a face",
        "text": f"Set the worker to {face}",
        "gain": f"the worker shows {face}",
        "risk": joined([check_words(chance), "lose a good" if loses else "", roll_penalty(g, p) if rolled else ""]),
    }


def _choose_recruit(d: _Decision, card: int) -> _Parts:
    name = f"{title(RECRUIT_NAMES[card])} ({faction(int(FACTION_OF[card]))})"
    if d.g["status"] != SETUP:
        text = f"Keep {name}, " + ("active at once" if revealed(d.g, int(FACTION_OF[card])) else "hidden for now")
    elif d.top[0] == Operation.DRAFTED:
        text = f"Keep {name} in the draft"
    else:
        text = f"Choose {name} as the {'hidden' if d.g['num_recruits'][d.p] else 'active'} recruit"
    return {"group": "Recruit", "text": text, "gain": recruit_words(RECRUIT_NAMES[card]).removesuffix(".")}


def _choose_tile(d: _Decision, tile: int) -> _Parts:
    name = TILES[tile]
    cost = cost_words(MARKETS[0], name).replace(", ", " and ")
    about = f"its space costs {cost}; without a star there: {tile_words(name)}"
    return {"group": "Market tile", "text": f"Put {space_name(MARKETS[0], name)} in the game", "gain": about}


def _track(track: str) -> _Explain:
    return lambda d, k: {
        "group": track.capitalize(),
        "text": f"Start with {track} {k + 1}",
    }


# ---------------------------------------------------------------------------------------------------------------- trading


def _trade(d: _Decision, k: int) -> _Parts:
    partner = (d.p + k + 1) % int(d.g["num_players"])
    return {"group": "Trade", "text": f"Offer player {partner} a trade"}


def _items(counts: np.ndarray, first: int = 0) -> str:
    return ", ".join(amount(int(n), ITEMS[k]) for k, n in enumerate(counts) if n and k >= first)


def _give(d: _Decision, item: int) -> _Parts:
    return {"group": "Give", "text": f"Offer player {int(d.g['partner'])} {amount(1, ITEMS[item])}"}


def _ask(d: _Decision, item: int) -> _Parts:
    return {"group": "Ask for", "text": f"Ask player {int(d.g['partner'])} for {amount(1, ITEMS[item])}"}


def _offer(d: _Decision, k: int) -> _Parts:
    return {
        "group": "Send",
        "text": f"Send the offer to player {int(d.g['partner'])}",
        "cost": _items(d.g["chosen"]),
        "gain": _items(d.g["asked"]),
        "risk": "the offer may be refused",
    }


def _accept(d: _Decision, k: int) -> _Parts:
    text = f"Accept the offer of player {int(d.g['turn_player'])}"
    cost, gain = d.g["asked"], d.g["chosen"]
    account = Account(d.g, d.p)
    account.hand += int(gain[FIRST_ARTIFACT:].sum()) - int(cost[FIRST_ARTIFACT:].sum())
    account.limit()
    for item in range(len(GOODS)):
        account.goods[item] -= int(cost[item])
        account.good(item, int(gain[item]))
    gained = ", ".join(filter(None, [account.text(), _items(gain, FIRST_ARTIFACT)]))
    return {"group": "Answer", "text": text, "cost": _items(cost), "gain": gained, "risk": account.limit_words()}


def _refuse(d: _Decision, k: int) -> _Parts:
    return {"group": "Answer", "text": f"Refuse the offer of player {int(d.g['turn_player'])}"}


_BLOCKS: list[tuple[int, _Explain]] = [
    (actions.PLACE, _place),
    (actions.END, _end),
    (actions.RETRIEVE, _retrieve),
    (actions.TAKE, _take),
    (actions.DONE, _done),
    (actions.DILEMMA, _dilemma),
    (actions.PAY, _pay),
    (actions.PAY_PAIR, _pay_pair),
    (actions.PAY_THREE, _way("3 artifacts")),
    (actions.PAY_MATCH, _pay_match),
    (actions.PAY_TWO, _way("2 artifacts")),
    (actions.PAY_ONE, _pay_one),
    (actions.GAIN, _gain),
    (actions.LOSE, _lose),
    (actions.DISCARD, _discard),
    (actions.STAR, _star),
    (actions.USE, _use),
    (actions.SKIP, _skip),
    (actions.SET, _set),
    (actions.SACRIFICE, _sacrifice),
    (actions.CHOOSE_RECRUIT, _choose_recruit),
    (actions.CHOOSE_TILE, _choose_tile),
    (actions.SET_MORALE, _track("morale")),
    (actions.SET_KNOWLEDGE, _track("knowledge")),
    (actions.TRADE, _trade),
    (actions.GIVE, _give),
    (actions.ASK, _ask),
    (actions.OFFER, _offer),
    (actions.ACCEPT, _accept),
    (actions.REFUSE, _refuse),
]


# ------------------------------------------------------------------------------------------------------------ the question


def question(game: Game, seat: int | None = None) -> str:
    """The decision that is asked, as a sentence; the same for every seat.

    Raises:
        ValueError: no such seat.
    """
    decision = _Decision(copy_rows(game.states))
    g = decision.g
    n = int(g["num_players"])
    if seat is not None and (isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < n):
        raise ValueError(f"seat must be None or an integer from 0 to {n - 1}, not {seat!r}")
    if g["status"] == OVER:
        return f"The game has ended: player {int(g['winner'])} has won"
    if g["status"] == TRUNCATED:
        return "The game was cut off: nobody has won"
    who = "You" if seat == decision.p else f"Player {decision.p}"
    asked = prompt(g, named=lambda space: named(g, space), titled=title)
    return f"{who}: {asked}" + (decision.progress if g["ask"] == Decision.SERIES else "")
