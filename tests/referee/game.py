"""The driver: asks the players and fate what the rules (coroutines) want to know."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Generator, Iterable
from typing import Any

from . import position as positions
from .asking import Chance, Decision, Flow
from .setup import set_up
from .state import Player, Rules, Table
from .turns import play_on

KINDS = ("dice", "artifacts", "recruits", "markets", "dilemmas", "lots")  # of random outcomes (docs/positions.md)


def _of_table(name: str) -> property:
    """A property that is a field of the table."""

    def look_up(referee: Referee) -> Any:
        referee._advance()
        return getattr(referee._table, name)

    return property(look_up)


class Referee:
    """One game. It advances when it is looked at, so that outcomes can be loaded before."""

    def __init__(self, table: Table, flow: Flow[None], load: dict[str, Any] | None, seed: int | None) -> None:
        self._table = table
        self._flow: Generator[Decision | Chance, Any, None] = flow
        self._random = random.Random(seed) if seed is not None else None
        self._queues: dict[str, deque[Any]] = {kind: deque() for kind in KINDS}
        self._question: Decision | Chance | None = None  # the one the rules wait for
        self._started = False
        self._player = table.active_player
        self.outcomes: list[tuple[str, Any]] = []  # everything drawn so far, in order
        self.load(**(load or {}))

    @classmethod
    def new(cls, rules: dict[str, Any], load: dict[str, Any] | None = None, seed: int | None = None) -> Referee:
        """A game from the setup."""
        options = Rules.from_dict(rules)
        table = Table(options, [Player(seat) for seat in range(options.num_players)])

        def whole_game() -> Flow[None]:
            yield from set_up(table)
            yield from play_on(table)

        return cls(table, whole_game(), load, seed)

    @classmethod
    def from_dict(cls, position: dict[str, Any], load: dict[str, Any] | None = None, seed: int | None = None) -> Referee:
        """A game from a readable position: the start of `player`'s turn."""
        table = positions.read(position, seed)
        return cls(table, play_on(table), load, seed)

    # --- random outcomes ---

    def load(self, **outcomes: Iterable[Any]) -> None:
        """Appends to the queues of the next random outcomes, by kind."""
        for kind, values in outcomes.items():
            self._queues[kind].extend(values)

    def unused(self) -> dict[str, list[Any]]:
        return {kind: list(queue) for kind, queue in self._queues.items() if queue}

    def _outcome(self, chance: Chance) -> Any:
        queue = self._queues[chance.kind]
        if queue:
            if queue[0] not in chance.possible and queue[0] not in chance.also:
                raise ValueError(f"{chance.kind}: {queue[0]!r} is impossible here")
            value = queue.popleft()
        elif self._random is not None:
            value = self._random.choice(chance.possible)
        else:
            raise LookupError(f"{chance.kind}: none is loaded, and there is no seed")
        self.outcomes.append((chance.kind, value))
        return value

    # --- the driver ---

    def _answer(self, value: Any) -> None:
        """Send an answer to the rules, and get the next question."""
        try:
            self._question = self._flow.send(value)
        except StopIteration:
            self._question = None

    def _advance(self) -> None:
        """Go on to the next decision that must be asked, or to the end."""
        if not self._started:
            self._started = True
            self._answer(None)
        while self._question is not None:
            if isinstance(self._question, Chance):
                self._answer(self._outcome(self._question))
                continue
            options = self._question.options
            assert options, "a decision without a legal answer"
            if len(options) > 1 or self._question.opening:
                self._player = self._question.player
                return
            self._answer(*options.values())  # R18.1: a single legal answer is not asked

    def _options(self) -> dict[str, Any]:
        self._advance()
        return dict(self._question.options) if isinstance(self._question, Decision) else {}

    # --- what users see ---

    @property
    def player(self) -> int:
        """The player who must decide now; keeps its last value after the end."""
        self._advance()
        return self._player

    @property
    def prompt(self) -> str:
        """The referee has no texts; the runner of the scenarios shows this one."""
        return "what the referee asks"

    def legal(self) -> list[str]:
        return list(self._options())

    def play(self, move: str) -> None:
        options = self._options()
        if move not in options:
            raise ValueError(f"illegal move {move!r}; legal: {', '.join(options) or 'nothing, the game has ended'}")
        self._answer(options[move])
        self._advance()

    over, truncated, winner, ranking, turn = map(_of_table, ("over", "truncated", "winner", "ranking", "turn"))

    def describe(self) -> dict[str, Any]:
        self._advance()
        return positions.write(self._table, self._player)
