"""The consequences of a move: cost, gain and risks. An effect counts as certain if all continuations have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import FACE_PENALTY
from euphoria_env.phrases import Phrase, Text, listed
from euphoria_env.words.continuations import (
    CHOSEN_KINDS,
    COST_KINDS,
    GAIN_KINDS,
    KINDS_OF_OTHERS,
    NEWS_KINDS,
    Continuation,
    Explorer,
    chance_to_lose,
)
from euphoria_env.words.event_text import CHOICE, Clause, Deed, K
from euphoria_env.words.names import because, counted, does, totals

_LEAST_CHANCE = 0.0005  # smaller chances are not mentioned
_OWN_NEWS, _UNCHOSEN, _GAINS = NEWS_KINDS - {K.BUILT}, GAIN_KINDS - CHOSEN_KINDS, GAIN_KINDS | {CHOICE}
_Changes = dict[Clause, int]  # the amount of each change


class Consequences(NamedTuple):
    """The parts of the cost and of the certain gain of a move, notes on what else happens, and its risks."""

    cost: list[Text]
    gain: list[Text]
    notes: list[Text]
    risk: list[Text]


def consequences(rows: np.ndarray, moves: Sequence[int], names: Sequence[Text]) -> list[Consequences]:
    """Returns the consequences of legal moves in a game (one row); `names` has `YOU` for the player who decides."""
    explorer = Explorer(rows, names)
    return [_MoveDescription(explorer.g, names, explorer.continuations(move)).consequences() for move in moves]


class _MoveDescription:
    """Describes the continuations of a move; `found` has a list of them for each roll of the dice, low rolls first."""

    def __init__(self, g: np.void, names: Sequence[Text], found: list[list[Continuation]]) -> None:
        self.g, self.p, self.names = g, int(g["player"]), names
        self.lowest, self.lines = found[0], [line for lines in found for line in lines]
        self.narrator = found[0][0].narrator
        self.rolling = {event[1] for line in self.lowest for event in line.events if event[0] == K.DIE}
        self.kinds = set().union(*(line.kinds for line in self.lines))
        self.sure: _Changes = self.lines[0].found
        self.possible: _Changes = {}
        if len(self.lines) > 1:
            amounts = {change: [line.found.get(change, 0) for line in self.lines] for line in self.lines for change in line.found}
            self.sure = {change: min(numbers) for change, numbers in amounts.items() if min(numbers)}
            self.possible = {change: max(numbers) for change, numbers in amounts.items() if not min(numbers)}

    def consequences(self) -> Consequences:
        """Returns the consequences of the move."""
        own = [(clause, n) for clause, n in self.sure.items() if clause.player == self.p]
        cost = self._amounts((c, n) for c, n in own if c.kind in COST_KINDS or (c.kind == CHOICE and c.says == "pay"))
        gain = self._amounts((c, n) for c, n in own if c.kind in GAIN_KINDS or (c.kind == CHOICE and c.says in ("gain", "place")))
        discards = [clause.item for clause, _ in own if clause.kind == CHOICE and clause.says == "discard"]
        notes: list[Text] = [Phrase("note.then_discard", items=listed(discards))] if discards else []
        notes += self._news(self.sure)
        if self.possible:
            notes += [Phrase("perhaps", what=what) for what in [*self._news(self.possible), *self._possible_gains()]]
        return Consequences(cost, gain, [*notes, *self._abilities()], [*self._risks()])

    def _amounts(self, changes: Iterable[tuple[Clause, int]]) -> list[Text]:
        """Returns choices and changes as parts of a cost or a gain: "1 gold or 1 artifact", "2 bliss (1 from allegiance)"."""
        choices, added, caused = list[Text](), [], []
        for clause, n in changes:
            why = "" if clause.why in self.narrator.obvious else clause.why
            if clause.kind != CHOICE:
                added.append((clause.change, n, clause.source or why))
            elif why:
                caused.append(because(clause.item, why))
            else:
                choices.append(clause.item)
        return [*choices, *totals(added), *caused]

    def _possible_gains(self) -> list[Text]:
        """Returns what the player may gain besides what they choose."""
        own = [(clause, n) for clause, n in self.possible.items() if clause.player == self.p]
        obvious = ("", *self.narrator.obvious)
        return self._amounts((c, n) for c, n in own if c.kind in _UNCHOSEN or (c.kind in _GAINS and c.why not in obvious))

    def _news(self, changes: _Changes) -> list[Text]:
        """Returns changes of the game and of other players as sentences; players with equal changes share one."""
        told = [
            (clause, n)
            for clause, n in changes.items()
            if clause.kind in (_OWN_NEWS if clause.player in (-1, self.p) else KINDS_OF_OTHERS)
        ]
        players: dict[Deed, list[int]] = {}
        for player, deed in self.narrator.deeds(sorted(told, key=lambda one: one[0].player)):
            players.setdefault(deed, []).append(player)
        built: list[Text] = [Phrase("note.built")] if any(clause.kind == K.BUILT for clause in changes) else []
        return built + [self._sentence(who, deed) for deed, who in players.items()]

    def _sentence(self, players: list[int], deed: Deed) -> Text:
        if players[0] < 0:
            return deed.by("")
        who = listed(self.names[q] for q in players)
        return Phrase("each" if len(players) > 1 else "sentence", who=who, what=deed.by(who))

    def _abilities(self) -> Iterator[Phrase]:
        """Yields a text that names the abilities whose use players are asked about, if there are any."""
        asked = dict.fromkeys(ability for line in self.lines for ability in line.abilities)
        cards = [Phrase("card_of", who=self.names[q], card=Phrase(f"short.{RECRUIT_NAMES[card]}")) for q, card in asked]
        if cards:
            yield Phrase("note.may_follow", cards=listed(cards))

    # -------------------------------------------------------------------------------------------------------------- risks

    def _risks(self) -> Iterator[Phrase]:
        """Yields texts on bumped and returning workers, losses to rolls and the hand limit, and other players who may win."""
        first = self.lines[0].events
        for q, face in [event[1::2] for event in first if event[0] == K.BUMPED]:
            yield Phrase("risk.bumps", who=self.names[q], face=face)
        if back := Counter(event[1] for event in first if event[0] == K.RETURNED and event[1] in self.rolling):
            workers = listed(Phrase("workers_of", who=self.names[q], n=n) for q, n in sorted(back.items()))
            yield Phrase("risk.returns", workers=workers, n=back.total())
        for q in range(int(self.g["num_players"]) if self.kinds & {K.DIE, K.HAND_LIMIT} else 0):
            yield from self._losses(q)
        if K.STAYS in self.kinds:
            yield Phrase("risk.stays")
        for clause in (*self.sure, *self.possible):
            if clause.kind == K.WON and clause.player != self.p:
                wins = does(self.names[clause.player], clause.says)
                yield wins if clause in self.sure else Phrase("perhaps", what=wins)
        if any(line.by_roll for line in self.lines):
            yield Phrase("risk.by_roll")

    def _losses(self, q: int) -> Iterator[Phrase]:
        """Yields texts on what a player may lose to the knowledge check, to rolled faces and to the hand limit."""
        who = self.names[q]
        if q in self.rolling:
            chances = [chance_to_lose(self.g, q, line.events) for line in self.lowest]
            if max(chances) > _LEAST_CHANCE:
                low, high = percent(min(chances)), percent(max(chances))
                yield Phrase("risk.check", who=who, chance=low if low == high else Phrase("risk.between", low=low, high=high))
            if faces := [str(face) for face in range(1, 7) if int(self.g["penalty"][q]) >> int(FACE_PENALTY[face]) & 1]:
                yield Phrase("risk.faces", who=who, faces=listed(faces, "or"))
        discards = [sum(e[2] for e in line.events if e[0] == K.HAND_LIMIT and e[1] == q) for line in self.lines]
        if most := max(discards):
            sure = min(discards)
            yield Phrase(
                "risk.hand_limit" if sure else "risk.perhaps_hand_limit", who=who, cards=counted(sure or most, "artifact")
            )


def percent(chance: float) -> Text:
    """Returns a chance in percent, rounded to a tenth: "33.3"."""
    whole, _, tenths = f"{100 * chance:.1f}".partition(".")
    return whole if tenths == "0" else Phrase("decimal", whole=whole, tenths=tenths)
