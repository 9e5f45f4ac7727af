"""A recorded game in words: every decision with its turn, who made it, what happened, and what would have been better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from euphoria_agents.play.study.decision_analysis import best_of
from euphoria_agents.play.study.game_analysis import Entry
from euphoria_agents.record_steps import Replayed
from euphoria_env import words

LEAST_REGRET = 0.01  # from which on it is said what was better


class Transcript:
    """A recorded game in words.

    Args:
        game: at its end.
        names: what the players are called.
    """

    def __init__(self, game: Replayed, names: Sequence[str]) -> None:
        self.game, self.names = game, names
        self._moves: dict[tuple[int, int], str] = {}

    @cached_property
    def players(self) -> list[int]:
        """The seat that made each decision."""
        return [*map(self.game.mover, range(len(self.game.before)))]

    @cached_property
    def turns(self) -> list[int]:
        """The turn of each decision, and the last turn; 0 during the setup."""
        return [int(rows["turn"][0]) for rows in (*self.game.before, self.game.states)]

    def log(self, seats: Sequence[int | None]) -> list[str]:
        """The log of each decision, as the seat named for it may know it, or everybody."""
        logs = {seat: words.log(self.game, seat, self.names, spoken_to=False) for seat in set(seats)}
        return [logs[seat][ply] for ply, seat in enumerate(seats)]

    def better(self, entries: Iterable[Entry]) -> dict[int, list[str]]:
        """The move played and the better one, by decision, of the entries whose regret is worth mentioning."""
        return {
            one["ply"]: [self.move(one["ply"], action) for action in (one["played"], best_of(one["moves"])[0])]
            for one in entries
            if (one["regret"] or 0) > LEAST_REGRET
        }

    def move(self, ply: int, action: int) -> str:
        """A legal move of a decision as a sentence."""
        if (ply, action) not in self._moves:
            self._moves |= {(ply, one.action): one.text for one in self.moves(ply)}
        return self._moves[ply, action]

    def spaces(self, ply: int) -> list[dict[str, int | str]]:
        """The legal moves of a decision that concern a space, and which."""
        return [{"action": one.action, "space": one.space} for one in self.moves(ply) if one.space]

    def moves(self, ply: int) -> list[words.Move]:
        """The legal moves of a decision, explained to whoever makes it."""
        now = self.game.at(ply)
        return words.legal_moves(now, now.player, self.names)

    def question(self, ply: int) -> str:
        """A sentence that says who decides what."""
        return words.question(self.game.at(ply), None, self.names)
