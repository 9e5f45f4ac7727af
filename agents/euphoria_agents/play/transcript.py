"""Tells a recorded game in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from euphoria_agents.play.study.decision_analysis import best_of
from euphoria_agents.play.study.game_analysis import Entry
from euphoria_agents.record_steps import Replayed
from euphoria_env import words
from euphoria_env.phrases import Phrase, Text
from euphoria_env.words.event_text import LogLine, log_lines
from euphoria_env.words.move_text import question_phrase

MIN_REGRET = 0.01  # only above this regret the better move is named


class Transcript:
    """A recorded game in words, given at its end, with the names of the players by seat."""

    def __init__(self, game: Replayed, names: Sequence[str]) -> None:
        self.game, self.names = game, names
        self._moves: dict[tuple[int, int], Text] = {}

    @cached_property
    def players(self) -> list[int]:
        """The seat that made each decision."""
        return [*map(self.game.mover, range(len(self.game.before)))]

    @cached_property
    def turns(self) -> list[int]:
        """The number of the turn of each decision, 0 during the setup; the last entry is for the end of the game."""
        return [int(rows["turn"][0]) for rows in (*self.game.before, self.game.states)]

    def log(self, seats: Sequence[int | None]) -> list[LogLine]:
        """Returns the log of each decision, as the seat that `seats` gives for it may know it; None: as everybody may."""
        logs = {seat: log_lines(self.game, seat, self.names, spoken_to=False) for seat in set(seats)}
        return [logs[seat][ply] for ply, seat in enumerate(seats)]

    def better(self, entries: Iterable[Entry]) -> dict[int, list[Text]]:
        """Returns the move played and the best move in words, by decision, for the entries with a regret above `MIN_REGRET`."""
        return {
            one["ply"]: [self.move(one["ply"], action) for action in (one["played"], best_of(one["moves"])[0])]
            for one in entries
            if (one["regret"] or 0) > MIN_REGRET
        }

    def move(self, ply: int, action: int) -> Text:
        """Returns a legal move of a decision as a sentence."""
        if (ply, action) not in self._moves:
            self._moves |= {(ply, one.action): one.facts.text for one in self.moves(ply)}
        return self._moves[ply, action]

    def spaces(self, ply: int) -> list[dict[str, int | str]]:
        """Returns the action ids of the legal moves that concern a space, each with that space."""
        return [{"action": one.action, "space": one.space} for one in self.moves(ply) if one.space]

    def moves(self, ply: int) -> list[words.Move]:
        """Returns the legal moves of a decision, explained to the player who makes it."""
        now = self.game.at(ply)
        return words.legal_moves(now, now.player, self.names)

    def question(self, ply: int) -> Phrase:
        """Returns the question of a decision as a sentence."""
        return question_phrase(self.game.at(ply), None, self.names)
