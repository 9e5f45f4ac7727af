"""The outcomes of chance that may follow a move up to the next decision, as far as the player who moves may know (R19).

An outcome is a pair of kind and value, as in `Game.outcomes`; its value is None where the player cannot see it. The tree is
explored on a copy of the game in which all that the player cannot know is dealt again, so games that the player cannot tell apart
have the same tree. Each node plays the move with the outcomes so far, and finds out what is drawn next.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, zip_longest
from typing import Any

import numpy as np

from euphoria_env.board import FIRST_ARTIFACT
from euphoria_env.cards.recruits import FACTION_OF, NUM_RECRUITS
from euphoria_env.cards.tiles import ACADEMY, NUM_TILES
from euphoria_env.engine.chance import ARTIFACT_CARDS, DICE, LOTS, MARKET_TILES, RECRUIT_CARDS
from euphoria_env.engine.determinize import deal_hidden
from euphoria_env.engine.loop import step
from euphoria_env.engine.state import ABSENT, HELD, IN_DECK, OUT_BY, copy_rows
from euphoria_env.engine.tape import KINDS, TAPE_ERROR, TAPE_EVENTS, TAPE_FIRST, TAPE_VIEWER, empty_tape
from euphoria_env.event_kinds import EVENT_SIZE, SECRET, EventKind
from euphoria_env.game_log import EVENTS, OUTCOME_OF, outcome_number, outcome_value, refuse_taken
from euphoria_env.json_reader import Reader, shown
from euphoria_env.record import Outcome

KnownOutcome = tuple[str, int | str | None]
Numbers = list[tuple[int, int]]  # outcomes as numbers: the index of the kind in `KINDS`, and the value, -1 where it is hidden
BATCHES = (EventKind.DIE, EventKind.DRAWN)  # rolled or drawn together, in an order that does not matter
_CARDS_GIVEN_UP = (EventKind.PAID, EventKind.DISCARDED)


def outcomes_after(rows: np.ndarray, action: int, limit: int) -> list[tuple[float, list[KnownOutcome]]] | None:
    """Returns what may follow a legal move, each with its probability; None if there is more than `limit` (`Game.chance`)."""
    start, player = copy_rows(rows), int(rows["player"][0])
    deal_hidden(start, 0, player, 0)
    tree, g = _Tree(start, player, action), start[0]
    found = tree.explore(limit)
    if found and tree.built >= 0:  # the tile turned up decides what is rolled if it is the Academy, which silences recruits
        known = {*g["tile"][g["built"] != 0], *np.flatnonzero(np.isin(g["tile_place"], (ABSENT, OUT_BY + player)))}
        unknown = set(range(NUM_TILES)) - known
        for tile in unknown & {ACADEMY, min(unknown - {ACADEMY}, default=ACADEMY)}:
            g["tile"][tree.built] = tile
            if tree.explore(limit) != found:
                return None
    return found


class _Tree:
    """The outcomes that may follow one move."""

    def __init__(self, start: np.ndarray, player: int, action: int) -> None:
        self.start, self.player, self.action = start, player, action
        self.built = -1  # the market that the move builds; -1 if it builds none
        self._rows = copy_rows(start)
        self._bytes, self._start_bytes = self._rows.view(np.uint8), start.view(np.uint8)

    def explore(self, limit: int) -> list[tuple[float, list[KnownOutcome]]] | None:
        """Returns the leaves of the tree; None if there are more than `limit`, or if hidden cards decide how it goes on."""
        leaves: list[tuple[Numbers, float]] = []
        nodes: deque[tuple[Numbers, float]] = deque([([], 1.0)])  # level by level, so that many are soon too many
        while nodes:
            if len(leaves) + len(nodes) > limit:
                return None
            known, probability = nodes.popleft()
            tape = self.play(known)
            first, size = int(tape[TAPE_FIRST]), EVENT_SIZE * int(tape[TAPE_EVENTS])
            events = tape[first : first + size].reshape(-1, EVENT_SIZE).tolist()
            at = [k for k, event in enumerate(events) if OUTCOME_OF[event[0]]][len(known) :]
            if tape[TAPE_ERROR] or (at and self.had_no_choice(events[: at[0]])):
                return None
            if at:
                nodes += [(known + more, probability * p) for more, p in self.following(known, events, at[0])]
            else:
                self.built = max([self.built, *(a for kind, _, a, _ in events if kind == EventKind.BUILT)])
                leaves.append((known, probability))
        return [(p, [(KINDS[k], None if n < 0 else outcome_value(KINDS[k], n)) for k, n in known]) for known, p in sorted(leaves)]

    def had_no_choice(self, events: list[list[int]]) -> bool:
        """Returns whether another player gave up cards without being asked; with other cards they would have been."""
        return any(kind in _CARDS_GIVEN_UP and p != self.player and a >= FIRST_ARTIFACT for kind, p, a, _ in events)

    def play(self, known: Numbers) -> np.ndarray:
        """Plays the move with these outcomes, and others at random behind them; returns the tape."""
        self._bytes[:] = self._start_bytes
        queues = [[number for of, number in known if of == kind] for kind in range(len(KINDS))]
        free_recruits(self._rows[0], self.player, queues[RECRUIT_CARDS])
        tape = empty_tape(EVENTS, queues)
        tape[TAPE_VIEWER] = 1 + self.player
        step(self._rows, 0, self.action, tape)
        return tape

    def following(self, known: Numbers, events: list[list[int]], at: int) -> Iterator[tuple[Numbers, float]]:
        """Yields what may come in place of the outcome of event `at` and of those together with it, and each probability."""
        event, player, _, _ = events[at]
        kind, n = KINDS.index(OUTCOME_OF[event]), 1
        if SECRET[event] and player != self.player:
            yield [(kind, -1)], 1.0
            return
        while event in BATCHES and at + n < len(events) and events[at + n][:2] == [event, player]:
            n += 1
        weights = self.weights(kind, known, events[:at])
        for values in combinations_with_replacement(np.flatnonzero(weights).tolist(), n):
            probability = math.factorial(n) / math.prod(map(math.factorial, Counter(values).values()))
            left = list(weights)
            for one in values:
                probability *= left[one] / sum(left)
                left[one] -= kind == ARTIFACT_CARDS
            if probability:
                yield [(kind, one) for one in values], probability

    def weights(self, kind: int, known: Numbers, before: list[list[int]]) -> Sequence[float]:
        """Returns the weight of each value that may be drawn next: equal ones for all that the player cannot tell apart."""
        g, drawn = self.start[0], [number for of, number in known if of == kind]
        if kind == DICE:
            return [0, 1, 1, 1, 1, 1, 1]
        if kind == LOTS:
            return [not self.play([*known, (LOTS, p)])[TAPE_ERROR] for p in range(int(g["num_players"]))]
        if kind == MARKET_TILES:  # in the setup
            return [place == IN_DECK and tile not in drawn for tile, place in enumerate(g["tile_place"].tolist())]
        return self.unseen_artifacts(before) if kind == ARTIFACT_CARDS else self.unseen_recruits(drawn)

    def unseen_artifacts(self, before: list[list[int]]) -> list[int]:
        """Returns the number of cards of each type that may be the deck's first: all that the player does not see."""
        g = self.start[0]
        unseen = (g["deck"] + g["artifacts"].sum(0) - g["artifacts"][self.player]).tolist()
        discards = g["discards"].tolist()
        for kind, p, item, n in before:
            if kind == EventKind.SHUFFLED:
                unseen, discards = discards, [0] * len(discards)
            elif kind == EventKind.DRAWN and p == self.player:
                unseen[item] -= 1
            elif kind in _CARDS_GIVEN_UP and item >= FIRST_ARTIFACT:
                discards[item - FIRST_ARTIFACT] += n
        return unseen

    def unseen_recruits(self, drawn: list[int]) -> list[float]:
        """Returns the weight of each recruit: 1 less the probability that another player has it, hidden and not revealed."""
        g = self.start[0]
        hidden = hidden_recruits(g, self.player)
        unseen = (hidden | unknown_recruits(g, self.player)).difference(drawn)
        concealed = {card for card in unseen if not g["revealed"] >> FACTION_OF[card] & 1}
        return [(card in unseen) * (1 - len(hidden) / len(concealed) if card in concealed else 1) for card in range(NUM_RECRUITS)]


def hidden_recruits(g: np.void, player: int) -> set[int]:
    """Returns the recruits that the other players have hidden."""
    hands = (g["recruits"][q, g["num_active"][q] : g["num_recruits"][q]].tolist() for q in range(g["num_players"]) if q != player)
    return {card for hand in hands for card in hand}


def unknown_recruits(g: np.void, player: int) -> set[int]:
    """Returns the recruits in the deck, and those out of the game that the player has not put there."""
    places = enumerate(g["recruit_place"].tolist())
    return {card for card, place in places if IN_DECK <= place < HELD or (place >= OUT_BY and place != OUT_BY + player)}


def free_recruits(g: np.void, player: int, cards: list[int]) -> None:
    """Lets the recruits that the others have hidden, and that will be drawn, change places with some that may be hidden too."""
    for card in hidden_recruits(g, player).intersection(cards):
        concealed = (other for other in sorted(unknown_recruits(g, player)) if not g["revealed"] >> FACTION_OF[other] & 1)
        other = next((other for other in concealed if other not in cards), card)
        g["recruits"][g["recruits"] == card] = other
        g["recruit_place"][[card, other]] = g["recruit_place"][[other, card]]


def read_outcomes(g: np.void, outcomes: Any) -> dict[str, list[int]]:
    """Returns outcomes as a game log loads them, and frees the recruits among them; a `ValueError` names an impossible one."""
    if isinstance(outcomes, str) or not isinstance(outcomes, Sequence):
        Reader.must("outcomes", f"be a list of pairs of kind and value, not {shown(outcomes)}")
    player, queues = int(g["player"]), dict[str, list[int]]()
    for k, outcome in enumerate(outcomes):
        key, pair = f"outcomes[{k}]", isinstance(outcome, Sequence) and len(outcome) == 2
        if not pair or outcome[0] not in KINDS:
            Reader.must(key, f"be a pair of a kind ({', '.join(KINDS)}) and a value, not {shown(outcome)}")
        kind, value = outcome
        number = -1 if value is None else outcome_number(key, kind, value, int(g["num_players"]))
        queue = queues.setdefault(kind, [])
        if number >= 0:
            if kind == KINDS[RECRUIT_CARDS]:
                free_recruits(g, player, [*queue, number])
                Reader.require(g["recruit_place"][number] != OUT_BY + player, key, f"{value} is out of the game")
            refuse_taken(key, g, kind, number, queue)
        queue.append(number)
    return queues


def compare_outcomes(given: Sequence[Sequence[Any]], drawn: list[Outcome]) -> list[list[int | str | None]]:
    """Returns the outcomes given for a move as JSON can hold them; a `ValueError` names the first that it did not draw."""
    for k, (outcome, other) in enumerate(zip_longest(given, drawn)):
        if outcome is None:
            Reader.fail("outcomes", f"{k} are too few: one of {other[0]} follows")
        if other is None:
            Reader.fail(f"outcomes[{k}]", f"{tuple(outcome)} cannot follow: nothing more is drawn before the next decision")
        if outcome[0] != other[0]:
            Reader.fail(f"outcomes[{k}]", f"{tuple(outcome)} cannot follow: here comes one of {other[0]}")
    return [[kind, None if outcome[1] is None else value] for outcome, (kind, value) in zip(given, drawn, strict=True)]
