"""Costs, gains and risks of a move, in words made from the facts of its continuations."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from euphoria_env import actions
from euphoria_env.board import (
    FIRST_ARTIFACT,
    FIRST_SLOT,
    FIRST_TUNNEL_END,
    GAINS,
    ITEMS,
    KNOWLEDGE_ITEM,
    MAX_WORKERS,
    MINER_END,
    NUM_SPACES,
    SLOT_SET,
    SLOTS_PER_SITE,
    SPACES,
    TANK_SET,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import FACTION_OF, GAMBLER, RECRUIT_NAMES, RECRUITS
from euphoria_env.cards.spaces import SPACE_PROGRAM
from euphoria_env.cards.tiles import CAFETERIA, FACE_PENALTY, LABORATORY, TILES
from euphoria_env.cards.vocabulary import Effect, Trigger, When
from euphoria_env.decisions import Decision, Verb
from euphoria_env.engine.state import RETRIEVE_FREE
from euphoria_env.words.card_text import A_GOOD
from euphoria_env.words.facts import CHANGES, CHOICE, MAY_PLACE, MAY_USE, Consequences, Fact, K
from euphoria_env.words.names import amount, faction, listed, possessive, short_name, short_title, space_name, star_place, totals

SHOWN_HAND = "every opponent draws 1 artifact if your hand then holds a pair"
_PAYING = {K.PAID, K.GIVEN, K.KNOWLEDGE_PAID, K.MORALE_PAID, K.SACRIFICED}
# The results of a series, and which of its choices each is; None: the item itself.
_OF_GAINS = {K.GAINED: None, K.DRAWN: "artifact", K.MORALE_GAINED: "morale", K.KNOWLEDGE_LOST: "knowledge"}
_OF_SERIES = {K.PAID, K.LOST, K.DISCARDED, K.KNOWLEDGE_PAID, *_OF_GAINS}
_STAR_SPACES = {
    k for k in range(NUM_SPACES) if {*SPACE_PROGRAM[k, :, 0].tolist()} & {Effect.STAR_IN_TERRITORY, Effect.STAR_IN_REGION}
}
_FACE_OF = {int(tile): face for face, tile in enumerate(FACE_PENALTY) if face}
_CONDITIONS = {  # of automatic abilities, that may hold or not
    When.PAID_GOLD: "if you paid gold",
    When.PAID_ARTIFACT: "if you paid an artifact",
    When.PAID_ONE_ARTIFACT: "if you paid 1 artifact",
    When.PAID_FOOD_FOR_BLISS: "if you paid food for bliss",
    When.TOOK_RESOURCE: "if you take its resource and have no artifact in hand",
    When.ALL_FROM_SUBTERRA: "if all those workers stood in Subterra",
}
_LEAST_CHANCE = 0.0005  # that is told


class PreviewTexts(NamedTuple):
    """The texts of a move: its cost, its certain gain, what must be known besides, abilities that may follow, its risk."""

    cost: list[str]
    gain: list[str]
    notes: list[str]
    abilities: list[tuple[str, str]]  # in full, and by name
    risk: list[str]


def percent(chance: float) -> str:
    """A chance in percent, to a tenth: "33.3"."""
    return f"{100 * chance:.1f}".removesuffix(".0")


class Preview:
    """Tells the consequences of a move of the player who decides in `g`.

    Args:
        g: the game before the move.
        action: the move.
        found: its consequences.
        names: what the players are called, "you" for the player who decides.
    """

    def __init__(self, g: np.void, action: int, found: Consequences, names: Sequence[str]) -> None:
        self.g, self.p, self.action, self.names, self.found = g, int(g["player"]), action, names, found
        self.facts, self.kinds = found.facts, {f.kind for f in found.facts}
        self.in_series = g["ask"] == Decision.SERIES
        self.asked = [(f.player, f.a) for f in self.of_kind(MAY_USE)]  # in order: a player, a recruit
        self.optional = {*self.asked} - {(self.p, action - actions.USE)}
        own = [f for f in self.facts if f.player == self.p and not self._is_optional(f) and self._is_told(f)]
        self.own = [self._rest(f) for f in own] if self.in_series else own

    def parts(self) -> PreviewTexts:
        """All texts."""
        sure = [f for f in self.own if (self.sure(f) or (f.kind == CHOICE and f.cause.kind == K.PAYS)) and f.least > 0]
        cost = [f for f in sure if self._is_cost(f)]
        later = [f for f in sure if self._discards(f) and f not in cost]
        notes = [f"then discard {listed(self.amounts(later, sources=False))}"] if later else []
        notes += [SHOWN_HAND] if self.action == actions.USE + GAMBLER else []
        return PreviewTexts(
            self.amounts(cost, sources=False),
            self.amounts(f for f in sure if f not in cost and f not in later),
            [*notes, *self._site_and_tank(), *self._board(), *self._others(), *self._unless(), *self._perhaps()],
            [self._ability(*key) for key in self.asked],
            self._risk(),
        )

    # ------------------------------------------------------------------------------------------------------ single facts

    def of_kind(self, kind: int, q: int | None = None) -> list[Fact]:
        """The facts of a kind, of one player or of all."""
        return [f for f in self.facts if f.kind == kind and q in (None, f.player)] if kind in self.kinds else []

    def sure(self, f: Fact) -> bool:
        """Whether a fact is certain; others' recruits may be switched off by a tile that nobody knows yet (R12.3)."""
        return f.lines >= max(1, self.found.lines) and not (
            f.player != self.p and f.cause.kind == K.ABILITY and K.BUILT in self.kinds
        )

    def perhaps(self, f: Fact) -> str:
        """A word before a fact that is not certain."""
        return "" if self.sure(f) else "perhaps "

    def knows(self, f: Fact) -> bool:
        """Whether the player knows the recruit of a fact: their own, an active one, or the one that the move keeps."""
        active = int(self.g["active_cards"][f.player]) >> f.a & 1
        return bool(active or self.action == actions.CHOOSE_RECRUIT + f.a or f.a in self.g["recruits"][self.p])

    def _is_optional(self, f: Fact) -> bool:
        """Whether an ability brings a fact about that is asked."""
        return f.cause.kind == K.ABILITY and f.cause[1:] in self.optional

    @staticmethod
    def _is_told(f: Fact) -> bool:
        """Whether a fact is told as a cost or a gain; what a roll or the hand limit takes is a risk."""
        if f.cause.kind == K.HAND_LIMIT or (f.cause.kind == K.PENALTY and f.kind == K.LOST):
            return False
        return f.kind in CHANGES or (f.kind == CHOICE and f.verb != "set")

    def _rest(self, f: Fact) -> Fact:
        """A fact without what was chosen before in the series that is under way."""
        if f.kind not in _OF_SERIES or f.cause.kind == K.GAINS or f.reaction >= 0:
            return f
        if self.g["verb"] in (Verb.GAIN, Verb.MINE):
            name = _OF_GAINS.get(f.kind, "")
            item = f.a if name is None else GAINS.index(name) if name else -1
        else:
            item = KNOWLEDGE_ITEM if f.kind == K.KNOWLEDGE_PAID else -1 if f.kind in _OF_GAINS else f.a
        return f._replace(least=f.least - int(self.g["chosen"][item])) if item >= 0 else f

    def _is_cost(self, f: Fact) -> bool:
        if f.kind == K.MORALE_LOST and self.action == actions.RETRIEVE + RETRIEVE_FREE:
            return f.cause.kind == K.RETRIEVES or (f.cause.kind == K.PENALTY and f.cause.a == CAFETERIA)
        if self._discards(f):
            return not self._draws_first(f)
        return f.kind in _PAYING or f.kind == K.LOST or f.verb == "pay"

    @staticmethod
    def _discards(f: Fact) -> bool:
        return f.kind == K.DISCARDED or f.verb == "discard"

    def _draws_first(self, f: Fact) -> bool:
        """Whether what brings a fact about draws cards, so that nobody knows which ones are discarded."""
        return f.cause.kind == K.ABILITY and any(drawn.cause == f.cause for drawn in self.of_kind(K.DRAWN))

    def _thing(self, f: Fact) -> str:
        """The thing that changes: "energy", "morale +", "Euphorian miner +", "star on the Spa"."""
        what = CHANGES[f.kind][1]
        if what == "item":
            unknown = f.a >= FIRST_ARTIFACT and (f.player != self.p or self._draws_first(f))
            return "artifact" if unknown else ITEMS[f.a]
        if f.kind in (K.ALLEGIANCE, K.MINER):
            return f"{faction(f.a)} {what}"
        if what != "star" or f.player != self.p:
            return what
        if f.kind == K.STAR:
            return f"star {star_place(self.g, f.a)}"
        on = "the dilemma" if f.kind == K.STAR_ON_DILEMMA else short_name(RECRUIT_NAMES[f.a]) if self.knows(f) else "a recruit"
        return f"star on {on}"

    @staticmethod
    def _source(f: Fact) -> str:
        """The cause of a change beside the move itself; "" if there is none."""
        if f.reaction >= 0:
            return short_name(RECRUIT_NAMES[f.reaction])
        if f.cause.kind == K.ABILITY:
            return short_name(RECRUIT_NAMES[f.cause.a])
        return short_title(TILES[f.cause.a]) if f.cause.kind == K.PENALTY else "allegiance" if f.cause.kind == K.BONUS else ""

    # ------------------------------------------------------------------------------------------------------ several facts

    def amounts(self, facts: Iterable[Fact], sources: bool = True) -> list[str]:
        """Changes and choices as parts of a cost or a gain: "2 bliss (1 from allegiance)", "morale +1 or 1 energy (Gary)"."""
        changes, choices, more = [], [], []
        for f in facts:
            source = self._source(f) if sources else ""
            if f.kind in CHANGES:
                changes.append((self._thing(f), f.least, source))
            elif source:
                more.append(f"{f.text} ({source})")
            else:
                choices.append(f.text)
        return [*choices, *totals(changes), *more]

    def doing(self, facts: Iterable[Fact], q: int, third: str = "") -> str:
        """The actions of a player: "gain 1 commodity and draw 1 artifact". `third`: the ending of the verbs."""
        said = []
        for f in facts:
            verb, text = f.verb, f.text
            if f.kind in CHANGES:
                verb, what = CHANGES[f.kind][0], self._thing(f)
                if verb == "raise":
                    text = f"{'your' if q == self.p else 'their'} knowledge by {f.least}"
                else:
                    text = f"the {what[:-2]} by {f.least}" if verb == "advance" else amount(f.least, what.rstrip(" +-"))
            if text:
                said.append((verb + third, text))
        return listed(f"{verb} {listed(text for _, text in run)}" for verb, run in groupby(said, key=lambda part: part[0]))

    def others_do(self, facts: Iterable[Fact], add: Callable[[int, int], int] = operator.add) -> list[str]:
        """The changes of other players, a clause for all that have the same. `add` makes one of two equal changes."""
        changes: dict[int, dict[tuple[str, str], Fact]] = {}
        for f in facts:
            there = changes.setdefault(f.player, {})
            key = (CHANGES[f.kind][0], self._thing(f))
            there[key] = f._replace(least=add(there[key].least, f.least)) if key in there else f
        players: dict[str, list[int]] = {}
        for q in sorted(changes):
            players.setdefault(self.doing(changes[q].values(), q, "s"), []).append(q)
        return [
            f"{listed(self.names[q] for q in seats)} "
            + (f"each {self.doing(changes[seats[0]].values(), seats[0])}" if len(seats) > 1 else text)
            for text, seats in players.items()
        ]

    # -------------------------------------------------------------------------------------------------------------- notes

    def _site_and_tank(self) -> list[str]:
        """Things that a placement does not give now, though it might seem so."""
        g, space = self.g, self.action % NUM_SPACES
        if self.action >= actions.END:
            return []
        if SLOT_SET >> space & 1 and K.BUILT not in self.kinds:
            first = space - (space - FIRST_SLOT) % SLOTS_PER_SITE
            there = sum(owner >= 0 for owner in g["occupant"][first : first + SLOTS_PER_SITE].tolist()) + 1
            missing = int(WORKERS_TO_BUILD[int(g["num_players"])]) - there
            return [f"you place a star when the market is built ({amount(missing, 'more worker')} needed)"]
        if TANK_SET >> space & 1 and K.WORKER_GAINED not in self.kinds:
            limited = any(f.a == LABORATORY for f in self.of_kind(K.PENALTY))
            return ["no new worker: " + ("Laboratory" if limited else f"you have {MAX_WORKERS}")]
        if space in _STAR_SPACES and K.STAR not in self.kinds and not any(f.verb == "place" for f in self.facts):
            return ["no star: no free place" if g["stars"][self.p] else "no star: you have placed all"]
        return []

    def _board(self) -> list[str]:
        """The future of the board, of recruits and of the game."""
        notes = []
        for f in self.facts:
            if f.kind == K.BUILT:
                notes.append("the market is built")
            elif f.kind == K.MINER and self.g["miners"][f.a] + f.most == MINER_END:
                notes.append(f"{self.perhaps(f)}{space_name(SPACES[FIRST_TUNNEL_END + f.a])} opens")
            elif f.kind == K.REVEALED:
                own = [one.a for one in self.of_kind(K.RECRUIT_ACTIVE, self.p) if FACTION_OF[one.a] == f.a and self.knows(one)]
                yours = f" (your {listed(short_name(RECRUIT_NAMES[card]) for card in own)})" if own else ""
                notes.append(f"{self.perhaps(f)}hidden {faction(f.a)} recruits{yours} become active")
            elif f.kind == K.RECRUIT_DEALT:
                notes.append("draw 2 recruits and keep 1")
            elif f.kind == K.WON and f.player == self.p and f.reaction < 0:
                notes.append("you win" if self.sure(f) else "you may win")
            elif f.kind == K.CUT_OFF:
                notes.append(f"{self.perhaps(f)}the game is cut off")
            elif f.kind == MAY_PLACE:
                notes.append("you may then place the new worker (Chase)")
        if rolling := [f for f in self.of_kind(K.WON) if f.reaction > 0]:
            notes.append(f"{self.perhaps(rolling[0])}{listed(self.names[f.player] for f in rolling)} roll for the win")
        return [*dict.fromkeys(notes)]

    def _others(self) -> list[str]:
        """Changes of others without their choice."""
        untold = (K.RECEIVED, K.GIVEN, K.WORKER_GAINED)
        found = [
            f
            for f in self.facts
            if f.kind in CHANGES and f.player != self.p and f.kind not in untold and self._is_told(f)
            if not self._is_optional(f) and not self._shows_hand(f)
        ]
        perhaps = self.others_do((f for f in found if not self.sure(f)), max)
        return [*self.others_do(f for f in found if self.sure(f)), *(f"perhaps {text}" for text in perhaps)]

    @staticmethod
    def _shows_hand(f: Fact) -> bool:
        """Whether somebody draws since a hand that is shown holds a pair, which nobody can know before."""
        return f.cause.kind == K.ABILITY and f.cause.a == GAMBLER and f.player != f.cause.player

    def _unless(self) -> list[str]:
        """Changes that happen unless an optional ability is used."""
        names = [short_name(RECRUIT_NAMES[card]) for q, card in self.asked if q == self.p]
        instead = self.amounts(f for f in self.own if self._is_default(f)) if names else []
        return [f"{listed(instead)}, unless you use {listed(names, 'or')}"] if instead else []

    def _is_default(self, f: Fact) -> bool:
        return f.lines < self.found.lines and 0 < self.found.plain == f.plain and any(q == self.p for q, _ in self.asked)

    def _perhaps(self) -> list[str]:
        """Changes of the player that may happen: automatic abilities by their conditions."""
        under_way = {-1, K.PAYS, K.DILEMMA} if self.in_series else set()
        under_way |= {f.cause.kind for f in self.own if f.kind == CHOICE and f.cause.kind != K.ABILITY}
        found = [
            f
            for f in self.own
            if f.lines < self.found.lines
            and not (f.kind in _OF_SERIES and f.cause.kind in under_way)
            and not self._is_default(f)
            and not self._is_cost(f)
        ]
        notes = []
        for cause, run in groupby(found, key=lambda f: f.cause):
            text = listed(self.amounts(run, sources=cause.kind != K.ABILITY))
            if cause.kind == K.ABILITY:
                ability = next(iter(RECRUITS[cause.a].abilities), None)
                lost = ability is not None and ability.on == Trigger.LOST_WORKER
                when = "if you lose a worker" if lost else _CONDITIONS.get(ability.when) if ability else None
                text = f"{when}: {text}" if when else f"perhaps {text}"
                notes.append(f"{text} ({short_name(RECRUIT_NAMES[cause.a])})")
            else:
                notes.append(f"perhaps {text}")
        return [*dict.fromkeys(notes)]

    def _ability(self, q: int, card: int) -> tuple[str, str]:
        """An ability that may follow, in full and by its name: "you may pay 1 morale: gain 1 commodity (Lee)", "Lee"."""
        name = short_name(RECRUIT_NAMES[card])
        uses = max((f.lines for f in self.of_kind(K.ABILITY, q) if f.a == card), default=0)
        group = [f for f in self.facts if f.cause == (K.ABILITY, q, card) and 0 < uses <= f.lines]
        own = [f for f in group if f.player == q]
        price = [f for f in own if f.kind in _PAYING or f.verb == "pay"]
        gain = self.doing((f for f in own if f not in price), q)
        others = [f for f in group if f.player != q and f.kind in CHANGES and f.kind != K.RECEIVED and not self._shows_hand(f)]
        result = ", and ".join(filter(None, [gain, listed(self.others_do(others))]))
        text = ": ".join(filter(None, [self.doing(price, q), result])) or "act"
        return f"{self.names[q]} may {text} ({name})", name if q == self.p else f"{possessive(self.names[q])} {name}"

    # -------------------------------------------------------------------------------------------------------------- risks

    def _risk(self) -> list[str]:
        """The worker that is bumped, losses to rolls and to the hand limit, and others who may win."""
        risks = []
        for f in self.of_kind(K.BUMPED):
            whose, face = possessive(self.names[f.player]), int(self.g["face"][self.action % NUM_SPACES])
            risks.append(f"your {face} is bumped and rolled" if f.player == self.p else f"bumps {whose} {face}")
        rolled = [f.player for f in self.of_kind(K.ROLL)]
        if back := [f for f in self.of_kind(K.RETURNED) if f.player in rolled]:
            back.sort(key=lambda f: f.player != self.p)
            workers = listed(
                f"{possessive(self.names[f.player])} {'worker' if f.least == 1 else f'{f.least} workers'}" for f in back
            )
            risks.append(f"{workers} {'returns and is' if len(back) == back[0].least == 1 else 'return and are'} rolled")
        for q in range(len(self.found.chances)):
            risks += self._losses(q)
        if K.STAYS in self.kinds:
            risks.append("perhaps too little is left for the cost of the space")
        for f in self.of_kind(K.WON):
            if f.player != self.p and f.reaction < 0:
                risks.append(f"{'gives' if self.sure(f) else 'may give'} {self.names[f.player]} the win")
        return risks

    def _losses(self, q: int) -> list[str]:
        """Losses of a player to a roll or to the hand limit."""
        risks, own, (low, high) = [], q == self.p, self.found.chances[q]
        lost = f"{'your' if own else 'their'} highest worker"
        if high > _LEAST_CHANCE:
            chance = percent(high) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"
            risks.append(f"{'' if own else f'{possessive(self.names[q])} '}knowledge check: {chance} % to lose {lost}")
        elif self.of_kind(K.WORKER_LOST, q):
            risks.append(f"{self.names[q]} may lose {lost}")
        if faces := sorted({_FACE_OF[f.a] for f in self.of_kind(K.PENALTY, q) if f.a in _FACE_OF}):
            risks.append(f"each {listed(map(str, faces), 'or')} rolled: {'lose' if own else f'{self.names[q]} loses'} {A_GOOD}")
        if found := self.of_kind(K.HAND_LIMIT, q):
            sure = sum(f.least for f in found if self.sure(f))
            cards = amount(sure or max(f.most for f in found), "artifact")
            maybe = "" if sure else "perhaps "
            risks.append(f"hand limit: {maybe}discard {cards}" if own else f"hand limit: {self.names[q]} {maybe}discards {cards}")
        return risks
