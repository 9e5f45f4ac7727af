"""The consequences of a move in words: cost, gain and risks. An effect counts as certain if all continuations have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import FACE_PENALTY
from euphoria_env.words.continuations import (
    CHOICE,
    CHOSEN_KINDS,
    COST_KINDS,
    GAIN_KINDS,
    KINDS_OF_OTHERS,
    NEWS_KINDS,
    Continuation,
    Explorer,
    K,
    chance_to_lose,
)
from euphoria_env.words.event_text import Clause
from euphoria_env.words.names import amount, does, listed, possessive, second_person, short_name, totals

_LEAST_CHANCE = 0.0005  # smaller chances are not mentioned
_Changes = dict[tuple[int, Clause], int]  # the amount of each change, by kind of event and clause (with n = 1)


class Consequences(NamedTuple):
    """The parts of the cost and of the certain gain of a move, notes on what else happens, and its risks."""

    cost: list[str]
    gain: list[str]
    notes: list[str]
    risk: list[str]


def consequences(rows: np.ndarray, moves: Sequence[int], names: Sequence[str]) -> list[Consequences]:
    """Returns the consequences of legal moves in a game (one row); `names` has "you" for the player who decides."""
    explorer = Explorer(rows, names)
    return [_MoveDescription(explorer.g, names, explorer.continuations(move)).consequences() for move in moves]


class _MoveDescription:
    """Describes the continuations of a move; `found` has a list of them for each roll of the dice, low rolls first."""

    def __init__(self, g: np.void, names: Sequence[str], found: list[list[Continuation]]) -> None:
        self.g, self.p, self.names = g, int(g["player"]), names
        self.lowest, self.lines = found[0], [line for lines in found for line in lines]
        self.narrator = found[0][0].narrator
        self.rolling = {event[1] for line in self.lowest for event in line.events if event[0] == K.DIE}
        self.kinds = set().union(*(line.kinds for line in self.lines))
        changes = dict.fromkeys(change for line in self.lines for change in line.found)
        amounts = {change: [line.found[change] for line in self.lines] for change in changes}
        self.sure: _Changes = {change: min(numbers) for change, numbers in amounts.items() if min(numbers)}
        self.possible: _Changes = {change: max(numbers) for change, numbers in amounts.items() if not min(numbers)}

    def consequences(self) -> Consequences:
        """Returns the consequences of the move."""
        own = [(kind, clause, n) for (kind, clause), n in self.sure.items() if clause.player == self.p]
        cost = self._amounts((k, c, n) for k, c, n in own if k in COST_KINDS or (k == CHOICE and c.says == "pay"))
        gain = self._amounts((k, c, n) for k, c, n in own if k in GAIN_KINDS or (k == CHOICE and c.says in ("gain", "place")))
        discards = [clause.item for kind, clause, _ in own if kind == CHOICE and clause.says == "discard"]
        notes = [f"then discard {listed(discards)}"] if discards else []
        notes += self._news(self.sure) + [f"perhaps {text}" for text in [*self._news(self.possible), *self._possible_gains()]]
        return Consequences(cost, gain, [*notes, *self._abilities()], [*self._risks()])

    def _amounts(self, changes: Iterable[tuple[int, Clause, int]]) -> list[str]:
        """Returns choices and changes as parts of a cost or a gain: "1 gold or 1 artifact", "2 bliss (1 from allegiance)"."""
        choices, counted, caused = [], [], []
        for kind, clause, n in changes:
            why = "" if clause.why in self.narrator.obvious else clause.why
            if kind != CHOICE:
                counted.append((clause.change, n, clause.source or why))
            elif why:
                caused.append(f"{clause.item} ({why})")
            else:
                choices.append(clause.item)
        return [*choices, *totals(counted), *caused]

    def _possible_gains(self) -> list[str]:
        """Returns what the player may gain besides what they choose."""
        own = [(kind, clause, n) for (kind, clause), n in self.possible.items() if clause.player == self.p]
        obvious = ("", *self.narrator.obvious)
        return self._amounts(
            (k, c, n)
            for k, c, n in own
            if k in GAIN_KINDS - CHOSEN_KINDS or (k in GAIN_KINDS | {CHOICE} and c.why not in obvious)
        )

    def _news(self, changes: _Changes) -> list[str]:
        """Returns changes of the game and of other players as sentences; players with equal changes share one."""
        told = [
            clause._replace(n=n)
            for (kind, clause), n in changes.items()
            if kind in (NEWS_KINDS - {K.BUILT} if clause.player in (-1, self.p) else KINDS_OF_OTHERS)
        ]
        texts: dict[str, list[int]] = {}
        for player, text in self.narrator.phrases(sorted(told, key=lambda clause: clause.player)):
            texts.setdefault(text, []).append(player)
        built = ["the market is built"] if any(kind == K.BUILT for kind, _ in changes) else []
        return built + [self._sentence(players, text) for text, players in texts.items()]

    def _sentence(self, players: list[int], text: str) -> str:
        if len(players) > 1:
            return f"{listed(self.names[q] for q in players)} each {second_person(text)}"
        return does(self.names[players[0]], text) if players[0] >= 0 else text

    def _abilities(self) -> Iterator[str]:
        """Yields a text that names the abilities whose use players are asked about, if there are any."""
        asked = dict.fromkeys(ability for line in self.lines for ability in line.abilities)
        cards = [(q, short_name(RECRUIT_NAMES[card])) for q, card in asked]
        if cards:
            yield f"{listed(card if q == self.p else f'{possessive(self.names[q])} {card}' for q, card in cards)} may follow"

    # -------------------------------------------------------------------------------------------------------------- risks

    def _risks(self) -> Iterator[str]:
        """Yields texts on bumped and returning workers, losses to rolls and the hand limit, and other players who may win."""
        first = self.lines[0].events
        for q, face in [event[1::2] for event in first if event[0] == K.BUMPED]:
            yield f"your {face} is bumped and rolled" if q == self.p else f"bumps {possessive(self.names[q])} {face}"
        if back := Counter(event[1] for event in first if event[0] == K.RETURNED and event[1] in self.rolling):
            workers = (f"{possessive(self.names[q])} {'worker' if n == 1 else f'{n} workers'}" for q, n in sorted(back.items()))
            yield f"{listed(workers)} {'returns and is' if back.total() == 1 else 'return and are'} rolled"
        for q in range(int(self.g["num_players"]) if self.kinds & {K.DIE, K.HAND_LIMIT} else 0):
            yield from self._losses(q)
        if K.STAYS in self.kinds:
            yield "too little is left for the cost of the space"
        for changes, perhaps in ((self.sure, ""), (self.possible, "perhaps ")):
            won = [clause for kind, clause in changes if kind == K.WON and clause.player != self.p]
            yield from (f"{perhaps}{does(self.names[clause.player], clause.says)}" for clause in won)
        if any(line.by_roll for line in self.lines):
            yield "a roll decides who wins"

    def _losses(self, q: int) -> Iterator[str]:
        """Yields texts on what a player may lose to the knowledge check, to rolled faces and to the hand limit."""
        own, name = q == self.p, self.names[q]
        if q in self.rolling:
            chances = [chance_to_lose(self.g, q, line.events) for line in self.lowest]
            low, high = percent(min(chances)), percent(max(chances))
            if max(chances) > _LEAST_CHANCE:
                chance = f"{low if low == high else f'{low} to {high}'} % to lose {'your' if own else 'their'} highest worker"
                yield f"{'' if own else f'{possessive(name)} '}knowledge check: {chance}"
            if faces := [str(face) for face in range(1, 7) if int(self.g["penalty"][q]) >> int(FACE_PENALTY[face]) & 1]:
                yield f"each {listed(faces, 'or')} rolled: {'lose' if own else f'{name} loses'} a commodity or resource"
        discards = [sum(e[2] for e in line.events if e[0] == K.HAND_LIMIT and e[1] == q) for line in self.lines]
        if most := max(discards):
            sure, cards = min(discards), amount(min(discards) or most, "artifact")
            perhaps = "" if sure else "perhaps "
            yield f"hand limit: {perhaps}discard {cards}" if own else f"hand limit: {name} {perhaps}discards {cards}"


def percent(chance: float) -> str:
    """Returns a chance in percent, rounded to a tenth: "33.3"."""
    return f"{100 * chance:.1f}".removesuffix(".0")
