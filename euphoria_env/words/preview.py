"""Costs, gains and risks of a move, in words made from the facts of its continuations (`engine.foresight`)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from euphoria_env import actions
from euphoria_env.board import (
    ARTIFACTS,
    FIRST_ARTIFACT,
    FIRST_SLOT,
    FIRST_TUNNEL_END,
    GAINS,
    ITEMS,
    KNOWLEDGE_ITEM,
    MARKETS,
    MAX_WORKERS,
    MINER_END,
    NUM_SPACES,
    SLOT_SET,
    SLOTS_PER_SITE,
    SPACES,
    STAR_PLACES,
    TANK_SET,
    TERRITORIES,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import FACTION_OF, GAMBLER, RECRUIT_NAMES, RECRUITS
from euphoria_env.cards.spaces import SPACE_PROGRAM
from euphoria_env.cards.tiles import CAFETERIA, FACE_PENALTY, LABORATORY, TILES
from euphoria_env.cards.vocabulary import Effect, Event
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.foresight import ASKED, WAYS
from euphoria_env.engine.state import RETRIEVE_FREE
from euphoria_env.event_kinds import EventKind
from euphoria_env.words.card_text import A_GOOD, condition_words
from euphoria_env.words.names import (
    amount,
    either,
    faction,
    gains,
    listed,
    possessive,
    short_name,
    short_title,
    space_name,
    territory_name,
    totals,
    units,
)

SHOWN_HAND = "every opponent draws 1 artifact if your hand then holds a pair"
_K = SimpleNamespace(**{kind.name: int(kind) for kind in EventKind})  # many times as fast as the enum
_SERIES, _USE, _STAR, _FACE, _FURTHER = (
    ASKED + asked for asked in (Decision.SERIES, Decision.USE, Decision.STAR, Decision.SET_FACE, Decision.FURTHER)
)
_WAYS = (ASKED + Decision.ARTIFACT_WAY, ASKED + Decision.DILEMMA_WAY)
_CHOICES = {_SERIES, _STAR, *_WAYS}
_PAYING = {_K.PAID, _K.GIVEN, _K.KNOWLEDGE_PAID, _K.MORALE_PAID, _K.SACRIFICED, *_WAYS}
# The results of a series, and which of its choices each is; None: the item itself.
_OF_GAINS = {_K.GAINED: None, _K.DRAWN: "artifact", _K.MORALE_GAINED: "morale", _K.KNOWLEDGE_LOST: "knowledge"}
_OF_SERIES = {_K.PAID, _K.LOST, _K.DISCARDED, _K.KNOWLEDGE_PAID, *_OF_GAINS}
# Changes of a player: the verb, and what changes; markers have their sign too.
_CHANGES = {
    _K.PAID: ("pay", "item"),
    _K.LOST: ("lose", "item"),
    _K.GAINED: ("gain", "item"),
    _K.RECEIVED: ("get", "item"),
    _K.GIVEN: ("give", "item"),
    _K.DRAWN: ("draw", "artifact"),
    _K.DISCARDED: ("discard", "item"),
    _K.KNOWLEDGE_GAINED: ("gain", "knowledge +"),
    _K.KNOWLEDGE_PAID: ("raise", "knowledge +"),
    _K.KNOWLEDGE_LOST: ("lose", "knowledge -"),
    _K.MORALE_GAINED: ("gain", "morale +"),
    _K.MORALE_PAID: ("pay", "morale -"),
    _K.MORALE_LOST: ("lose", "morale -"),
    _K.ALLEGIANCE: ("advance", "allegiance +"),
    _K.MINER: ("advance", "miner +"),
    _K.STAR: ("place", "star"),
    _K.STAR_ON_RECRUIT: ("place", "star"),
    _K.STAR_ON_DILEMMA: ("place", "star"),
    _K.WORKER_GAINED: ("gain", "worker"),
    _K.SACRIFICED: ("sacrifice", "worker"),
}
_VERBS = {verb for verb, _ in _CHANGES.values()} | {"set"}
_STAR_SPACES = {
    k for k in range(NUM_SPACES) if {*SPACE_PROGRAM[k, :, 0].tolist()} & {Effect.STAR_IN_TERRITORY, Effect.STAR_IN_REGION}
}
_FACE_OF = {int(tile): face for face, tile in enumerate(FACE_PENALTY) if face}


class Fact(NamedTuple):
    """A fact, as `foresight.FACT_COLUMNS` has it: `by` and `of` are the player and the number of its cause."""

    kind: int
    player: int
    a: int
    b: int
    cause: int
    by: int
    of: int
    least: int
    most: int
    lines: int
    plain: int


class Parts(NamedTuple):
    """The texts of a move: its cost, its certain gain, what must be known besides, abilities that may follow, its risk."""

    cost: list[str]
    gain: list[str]
    notes: list[str]
    abilities: list[tuple[str, str]]  # in full, and by name
    risk: list[str]


def tile_at(g: np.void, space: int) -> str | None:
    """The tile of a built market space; None elsewhere, and before it is built."""
    name = SPACES[space]
    market = MARKETS.index(name) if name in MARKETS else -1
    return TILES[int(g["tile"][market])] if market >= 0 and g["built"][market] else None


def named(g: np.void, space: int) -> str:
    """A space by its name in this game."""
    return space_name(SPACES[space], tile_at(g, space))


def percent(chance: float) -> str:
    """A chance as it is said, to a tenth: "33.3"."""
    return f"{100 * chance:.1f}".removesuffix(".0")


def _star_place(g: np.void, place: int) -> str:
    """A place for stars: "in the Euphorian territory", "on the Spa"; a market that is not yet built has no name."""
    if place < len(TERRITORIES):
        return f"in {territory_name(TERRITORIES[place])}"
    market = place - len(TERRITORIES)
    return f"on the {short_title(TILES[int(g['tile'][market])])}" if g["built"][market] else "on the new market"


def _third(clause: str) -> str:
    """A clause whose subject is somebody else: "gains 1 bliss and draws 1 artifact" for "gain 1 bliss and draw 1 artifact"."""
    words = ["and", *clause.split(" ")]
    starts = (word in _VERBS and (before == "and" or before[-1] == ",") for before, word in zip(words, words[1:], strict=False))
    return " ".join(f"{word}s" if start else word for word, start in zip(words[1:], starts, strict=True))


class Foretold:
    """The future of a move of the player who decides in `g`, in words.

    Args:
        g: the game before the move.
        action: the move.
        facts, lines, chances: its facts, its numbers of continuations and its chances (`foresight.foretold`).
        names: what the players are called, "you" for the player who decides.
    """

    def __init__(
        self,
        g: np.void,
        action: int,
        facts: Iterable[Sequence[int]],
        lines: Sequence[int],
        chances: Sequence[Sequence[float]],
        names: Sequence[str],
    ) -> None:
        self.g, self.p, self.action, self.names, self.chances = g, int(g["player"]), action, names, chances
        self.facts = [Fact(*row) for row in facts]
        self.kinds = {f.kind for f in self.facts}
        self.lines, self.plain = max(1, lines[0]), lines[1]
        self.in_series = g["ask"] == Decision.SERIES
        self.asked = {(f.player, f.a): None for f in self.facts if f.kind == _USE}  # in order: a player, a recruit
        self.optional = self.asked.keys() - {(self.p, action - actions.USE)}
        own = [f for f in self.facts if f.player == self.p and f not in self.of_abilities() and self._is_told(f)]
        self.own = [self._rest(f) for f in own] if self.in_series else own

    # ------------------------------------------------------------------------------------------------------ single facts

    def whose(self, q: int) -> str:
        """The possessive of a player: "your", "player 1's"."""
        return possessive(self.names[q])

    def of_abilities(self) -> list[Fact]:
        """The facts of abilities that are asked."""
        return [f for f in self.facts if f.cause == _K.ABILITY and (f.by, f.of) in self.optional] if self.optional else []

    def of_kind(self, kind: int, q: int | None = None) -> list[Fact]:
        """The facts of a kind, of one player or of all."""
        return [f for f in self.facts if f.kind == kind and q in (None, f.player)] if kind in self.kinds else []

    def sure(self, f: Fact) -> bool:
        """Whether a fact is certain; others' recruits may be switched off by a tile that nobody knows yet (R12.3)."""
        return f.lines >= self.lines and not (f.player != self.p and f.cause == _K.ABILITY and _K.BUILT in self.kinds)

    def perhaps(self, f: Fact) -> str:
        """A word before a fact that is not certain."""
        return "" if self.sure(f) else "perhaps "

    def knows(self, f: Fact) -> bool:
        """Whether the player knows the recruit of a fact: their own, an active one, or the one that the move keeps."""
        active = int(self.g["active_cards"][f.player]) >> f.a & 1
        return bool(active or self.action == actions.CHOOSE_RECRUIT + f.a or f.a in self.g["recruits"][self.p])

    def _is_told(self, f: Fact) -> bool:
        """Whether a fact is a change with words of its own; what a roll or the hand limit takes is a risk."""
        if f.cause == _K.HAND_LIMIT or (f.cause == _K.PENALTY and f.kind == _K.LOST):
            return False
        return f.kind in _CHANGES or (f.kind in _CHOICES and self.choice(f) != "")

    def _rest(self, f: Fact) -> Fact:
        """A fact without what was chosen before in the series that is under way."""
        if f.kind not in _OF_SERIES or f.cause == _K.GAINS or f.b >= 0:
            return f
        if self.g["verb"] in (Verb.GAIN, Verb.MINE):
            name = _OF_GAINS.get(f.kind, "")
            item = f.a if name is None else GAINS.index(name) if name else -1
        else:
            item = KNOWLEDGE_ITEM if f.kind == _K.KNOWLEDGE_PAID else -1 if f.kind in _OF_GAINS else f.a
        return f._replace(least=f.least - int(self.g["chosen"][item])) if item >= 0 else f

    def _is_cost(self, f: Fact) -> bool:
        if f.kind == _K.MORALE_LOST and self.action == actions.RETRIEVE + RETRIEVE_FREE:
            return f.cause == _K.RETRIEVES or (f.cause == _K.PENALTY and f.of == CAFETERIA)
        if self._discards(f):
            return not self._draws_first(f)
        return f.kind in _PAYING or f.kind == _K.LOST or (f.kind == _SERIES and f.a & 7 == Verb.PAY)

    @staticmethod
    def _may_be_forced(f: Fact) -> bool:
        """Whether a payment is a choice, though a roll before it may leave only one."""
        return f.cause == _K.PAYS and f.kind in _CHOICES

    @staticmethod
    def _discards(f: Fact) -> bool:
        return f.kind == _K.DISCARDED or (f.kind == _SERIES and f.a & 7 == Verb.DISCARD)

    def _draws_first(self, f: Fact) -> bool:
        """Whether what brings a fact about draws cards, so that nobody knows which ones are discarded."""
        return f.cause == _K.ABILITY and any(drawn[4:7] == f[4:7] for drawn in self.of_kind(_K.DRAWN))

    def _thing(self, f: Fact) -> str:
        """The thing that changes: "energy", "morale +", "Euphorian miner +", "star on the Spa"."""
        what = _CHANGES[f.kind][1]
        if what == "item":
            unknown = f.a >= FIRST_ARTIFACT and (f.player != self.p or self._draws_first(f))
            return "artifact" if unknown else ITEMS[f.a]
        if f.kind in (_K.ALLEGIANCE, _K.MINER):
            return f"{faction(f.a)} {what}"
        if what != "star" or f.player != self.p:
            return what
        if f.kind == _K.STAR:
            return f"star {_star_place(self.g, f.a)}"
        on = "the dilemma" if f.kind == _K.STAR_ON_DILEMMA else short_name(RECRUIT_NAMES[f.a]) if self.knows(f) else "a recruit"
        return f"star on {on}"

    @staticmethod
    def _source(f: Fact) -> str:
        """The cause of a change beside the move itself; "" if there is none."""
        if f.b >= 0 and f.kind < ASKED:
            return short_name(RECRUIT_NAMES[f.b])
        if f.cause == _K.ABILITY:
            return short_name(RECRUIT_NAMES[f.of])
        return short_title(TILES[f.of]) if f.cause == _K.PENALTY else "allegiance" if f.cause == _K.BONUS else ""

    def choice(self, f: Fact) -> str:
        """The terms of a choice; "" if it is neither gain nor cost."""
        if f.kind in _WAYS:
            ways = either(way for k, way in enumerate(WAYS) if f.a >> k & 1)
            return ways.replace(WAYS[2], amount(1, ARTIFACTS[int(self.g["dilemma"][f.player])]))
        if f.kind == _STAR:
            return f"1 star {either(_star_place(self.g, k) for k in range(len(STAR_PLACES)) if f.a >> k & 1)}"
        verb, *numbers = f.a & 7, f.a >> 3 & 63, f.a >> 9 & 63
        if verb == Verb.LOSE or f.cause == _K.HAND_LIMIT:
            return ""
        if verb == Verb.DISCARD:
            return amount(sum(numbers), "artifact")
        if verb != Verb.PAY:
            return gains(sum(numbers), f.b)
        return ", ".join(units(n, items) for n, items in zip(numbers, (f.b & 0xFFFF, f.b >> 16), strict=True) if n)

    # ------------------------------------------------------------------------------------------------------ several facts

    def amounts(self, facts: Iterable[Fact], sources: bool = True) -> list[str]:
        """Changes and choices as parts of a cost or a gain: "2 bliss (1 from allegiance)", "morale +1 or 1 energy (Gary)"."""
        changes, choices, more = [], [], []
        for f in facts:
            source = self._source(f) if sources else ""
            if f.kind in _CHANGES:
                changes.append((self._thing(f), f.least, source))
            elif source:
                more.append(f"{self.choice(f)} ({source})")
            else:
                choices.append(self.choice(f))
        return [*choices, *totals(changes), *more]

    def doing(self, facts: Iterable[Fact], q: int) -> str:
        """The actions of a player: "gain 1 commodity and draw 1 artifact"."""
        said = []
        for f in facts:
            if f.kind in _CHANGES:
                verb, what = _CHANGES[f.kind][0], self._thing(f)
                if verb == "raise":
                    what = f"{'your' if q == self.p else 'their'} knowledge by {f.least}"
                else:
                    what = f"the {what[:-2]} by {f.least}" if verb == "advance" else amount(f.least, what.rstrip(" +-"))
                said.append((verb, what))
            elif f.kind == _FACE:
                said.append(("set", "the number of that worker"))
            elif text := self.choice(f):
                verb = {Verb.PAY: "pay", Verb.DISCARD: "discard"}.get(Verb(f.a & 7), "gain") if f.kind == _SERIES else "place"
                said.append((verb, text))
        return listed(f"{verb} {listed(text for _, text in run)}" for verb, run in groupby(said, key=lambda part: part[0]))

    def others_do(self, facts: Iterable[Fact], add: Callable[[int, int], int] = operator.add) -> list[str]:
        """The changes of other players, a clause for all that have the same. `add` makes one of two equal changes."""
        changes: dict[int, dict[tuple[str, str], Fact]] = {}
        for f in facts:
            there = changes.setdefault(f.player, {})
            key = (_CHANGES[f.kind][0], self._thing(f))
            there[key] = f._replace(least=add(there[key].least, f.least)) if key in there else f
        players: dict[str, list[int]] = {}
        for q in sorted(changes):
            players.setdefault(self.doing(changes[q].values(), q), []).append(q)
        return [
            f"{listed(self.names[q] for q in seats)} {f'each {text}' if len(seats) > 1 else _third(text)}"
            for text, seats in players.items()
        ]

    # ------------------------------------------------------------------------------------------------------ what is said

    def parts(self) -> Parts:
        """All that is said."""
        sure = [f for f in self.own if (self.sure(f) or self._may_be_forced(f)) and f.least > 0]
        cost = [f for f in sure if self._is_cost(f)]
        later = [f for f in sure if self._discards(f) and f not in cost]
        notes = [f"then discard {listed(self.amounts(later, sources=False))}"] if later else []
        notes += [SHOWN_HAND] if self.action == actions.USE + GAMBLER else []
        return Parts(
            self.amounts(cost, sources=False),
            self.amounts(f for f in sure if f not in cost and f not in later),
            [*notes, *self._site_and_tank(), *self._board(), *self._others(), *self._unless(), *self._perhaps()],
            [self._ability(*key) for key in self.asked],
            self._risk(),
        )

    def _site_and_tank(self) -> list[str]:
        """Things that a placement does not give now, though it might seem so."""
        g, space = self.g, self.action % NUM_SPACES
        if self.action >= actions.END:
            return []
        if SLOT_SET >> space & 1 and _K.BUILT not in self.kinds:
            first = space - (space - FIRST_SLOT) % SLOTS_PER_SITE
            there = sum(owner >= 0 for owner in g["occupant"][first : first + SLOTS_PER_SITE].tolist()) + 1
            missing = int(WORKERS_TO_BUILD[int(g["num_players"])]) - there
            return [f"you place a star when the market is built ({amount(missing, 'more worker')} needed)"]
        if TANK_SET >> space & 1 and _K.WORKER_GAINED not in self.kinds:
            limited = any(f.a == LABORATORY for f in self.of_kind(_K.PENALTY))
            return ["no new worker: " + ("Laboratory" if limited else f"you have {MAX_WORKERS}")]
        if space in _STAR_SPACES and not self.kinds & {_K.STAR, _STAR}:
            return ["no star: no free place" if g["stars"][self.p] else "no star: you have placed all"]
        return []

    def _board(self) -> list[str]:
        """The future of the board, of recruits and of the game."""
        notes = []
        for f in self.facts:
            if f.kind == _K.BUILT:
                notes.append("the market is built")
            elif f.kind == _K.MINER and self.g["miners"][f.a] + f.most == MINER_END:
                notes.append(f"{self.perhaps(f)}{space_name(SPACES[FIRST_TUNNEL_END + f.a])} opens")
            elif f.kind == _K.REVEALED:
                own = [one.a for one in self.of_kind(_K.RECRUIT_ACTIVE, self.p) if FACTION_OF[one.a] == f.a and self.knows(one)]
                yours = f" (your {listed(short_name(RECRUIT_NAMES[card]) for card in own)})" if own else ""
                notes.append(f"{self.perhaps(f)}hidden {faction(f.a)} recruits{yours} become active")
            elif f.kind == _K.RECRUIT_DEALT:
                notes.append("draw 2 recruits and keep 1")
            elif f.kind == _K.WON and f.player == self.p and f.b < 0:
                notes.append("you win" if self.sure(f) else "you may win")
            elif f.kind == _K.CUT_OFF:
                notes.append(f"{self.perhaps(f)}the game is cut off")
            elif f.kind == _FURTHER:
                notes.append("you may then place the new worker (Chase)")
        if rolling := [f for f in self.of_kind(_K.WON) if f.b > 0]:
            notes.append(f"{self.perhaps(rolling[0])}{listed(self.names[f.player] for f in rolling)} roll for the win")
        return [*dict.fromkeys(notes)]

    def _others(self) -> list[str]:
        """Changes of others without their choice."""
        untold = (_K.RECEIVED, _K.GIVEN, _K.WORKER_GAINED)
        found = [f for f in self.facts if f.kind in _CHANGES and f.player != self.p and f.kind not in untold and self._is_told(f)]
        optional = self.of_abilities() if found else []
        found = [f for f in found if f not in optional and not self._shows_hand(f)]
        perhaps = self.others_do((f for f in found if not self.sure(f)), max)
        return [*self.others_do(f for f in found if self.sure(f)), *(f"perhaps {text}" for text in perhaps)]

    @staticmethod
    def _shows_hand(f: Fact) -> bool:
        """Whether somebody draws since a hand that is shown holds a pair, which nobody can know before."""
        return f.cause == _K.ABILITY and f.of == GAMBLER and f.player != f.by

    def _unless(self) -> list[str]:
        """Changes that happen unless an optional ability is used."""
        names = [short_name(RECRUIT_NAMES[card]) for q, card in self.asked if q == self.p]
        instead = self.amounts(f for f in self.own if self._is_default(f)) if names else []
        return [f"{listed(instead)}, unless you use {listed(names, 'or')}"] if instead else []

    def _is_default(self, f: Fact) -> bool:
        return f.lines < self.lines and 0 < self.plain == f.plain and any(q == self.p for q, _ in self.asked)

    def _perhaps(self) -> list[str]:
        """Changes of the player that may happen: automatic abilities by their conditions."""
        under_way = {-1, _K.PAYS, _K.DILEMMA} if self.in_series else set()
        under_way |= {f.cause for f in self.own if f.kind in _CHOICES and f.cause != _K.ABILITY}
        found = [
            f
            for f in self.own
            if f.lines < self.lines
            and not (f.kind in _OF_SERIES and f.cause in under_way)
            and not self._is_default(f)
            and not self._is_cost(f)
        ]
        notes = []
        for (cause, _, card), run in groupby(found, key=lambda f: f[4:7]):
            text = listed(self.amounts(run, sources=cause != _K.ABILITY))
            if cause == _K.ABILITY:
                ability = next(iter(RECRUITS[card].abilities), None)
                lost = ability is not None and ability.on == Event.LOST_WORKER
                when = "if you lose a worker" if lost else condition_words(ability.when) if ability else ""
                text = f"{when}: {text}" if when.startswith("if") else f"perhaps {text}"
                notes.append(f"{text} ({short_name(RECRUIT_NAMES[card])})")
            else:
                notes.append(f"perhaps {text}")
        return [*dict.fromkeys(notes)]

    def _ability(self, q: int, card: int) -> tuple[str, str]:
        """An ability that may follow, in full and by its name: "you may pay 1 morale: gain 1 commodity (Lee)", "Lee"."""
        name = short_name(RECRUIT_NAMES[card])
        uses = max((f.lines for f in self.of_kind(_K.ABILITY, q) if f.a == card), default=0)
        group = [f for f in self.facts if f.cause == _K.ABILITY and (f.by, f.of) == (q, card) and 0 < uses <= f.lines]
        own = [f for f in group if f.player == q]
        price = [f for f in own if f.kind in _PAYING or (f.kind == _SERIES and f.a & 7 == Verb.PAY)]
        gain = self.doing((f for f in own if f not in price), q)
        others = listed(
            self.others_do(
                f for f in group if f.player != q and f.kind in _CHANGES and f.kind != _K.RECEIVED and not self._shows_hand(f)
            )
        )
        text = ": ".join(filter(None, [self.doing(price, q), ", and ".join(filter(None, [gain, others]))])) or "act"
        return f"{self.names[q]} may {text} ({name})", name if q == self.p else f"{self.whose(q)} {name}"

    def _risk(self) -> list[str]:
        """The worker that is bumped, losses to rolls and to the hand limit, and others who may win."""
        risks = []
        for f in self.of_kind(_K.BUMPED):
            face = int(self.g["face"][self.action % NUM_SPACES])
            risks.append(f"your {face} is bumped and rolled" if f.player == self.p else f"bumps {self.whose(f.player)} {face}")
        rolled = [f.player for f in self.of_kind(_K.ROLL)]
        if back := [f for f in self.of_kind(_K.RETURNED) if f.player in rolled]:
            back.sort(key=lambda f: f.player != self.p)
            workers = listed(f"{self.whose(f.player)} {'worker' if f.least == 1 else f'{f.least} workers'}" for f in back)
            risks.append(f"{workers} {'returns and is' if len(back) == back[0].least == 1 else 'return and are'} rolled")
        for q, (low, high) in enumerate(self.chances):
            if high > 0.0005 or self.kinds & {_K.WORKER_LOST, _K.PENALTY, _K.HAND_LIMIT}:
                risks += self._losses(q, low, high)
        if _K.STAYS in self.kinds:
            risks.append("perhaps too little is left for the cost of the space")
        for f in self.of_kind(_K.WON):
            if f.player != self.p and f.b < 0:
                risks.append(f"{'gives' if self.sure(f) else 'may give'} {self.names[f.player]} the win")
        return risks

    def _losses(self, q: int, low: float, high: float) -> list[str]:
        """Losses of a player to a roll or to the hand limit."""
        risks, own = [], q == self.p
        lost = f"{'your' if own else 'their'} highest worker"
        if high > 0.0005:
            chance = percent(high) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"
            risks.append(f"{'' if own else f'{self.whose(q)} '}knowledge check: {chance} % to lose {lost}")
        elif self.of_kind(_K.WORKER_LOST, q):
            risks.append(f"{self.names[q]} may lose {lost}")
        if faces := sorted({_FACE_OF[f.a] for f in self.of_kind(_K.PENALTY, q) if f.a in _FACE_OF}):
            risks.append(f"each {listed(map(str, faces), 'or')} rolled: {'lose' if own else f'{self.names[q]} loses'} {A_GOOD}")
        if found := self.of_kind(_K.HAND_LIMIT, q):
            sure = sum(f.least for f in found if self.sure(f))
            cards = amount(sure or max(f.most for f in found), "artifact")
            maybe = "" if sure else "perhaps "
            risks.append(f"hand limit: {maybe}discard {cards}" if own else f"hand limit: {self.names[q]} {maybe}discards {cards}")
        return risks
