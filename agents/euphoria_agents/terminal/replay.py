"""A recorded game at the terminal, forward and back."""

from __future__ import annotations

from euphoria_agents.error_text import one_line
from euphoria_agents.sessions import Seat, Session
from euphoria_agents.terminal.explaining import NAMES, explain
from euphoria_agents.terminal.screen import HEADING, WARNING, Screen
from euphoria_agents.terminal.typed import TypedCommand, by_word
from euphoria_env import Game
from euphoria_env.render.text import short_board


class Replay:
    """A game that was recorded, before each of its decisions and at its end.

    Args:
        screen: where it is shown.
        game: with its history.
        at: before which decision it begins; the first is 0.
    """

    def __init__(self, screen: Screen, game: Game, at: int = 0) -> None:
        players = game.rules.num_players
        self.screen, self.session = screen, Session.of(game, [Seat(f"Player {k}") for k in range(players)])
        self.end = self.session.decisions
        self.seat: int | None = None
        self.at = min(at, self.end)
        self._commands: dict[str, TypedCommand[int | None]] = by_word(
            TypedCommand("next [N]", "forward by one decision, or by N; Enter does the same", lambda n: self.at + _count(n)),
            TypedCommand("back [N]", "back by one decision, or by N", lambda n: self.at - _count(n)),
            TypedCommand("turn", "forward to the next turn", self._next_turn),
            TypedCommand("go N", "before decision N; the first is 0", lambda n: _count(n, needed=True)),
            TypedCommand("start", "the beginning", lambda _: 0),
            TypedCommand("end", "the end", lambda _: self.end),
            TypedCommand("seat N", "as player N sees it", self._as_seat),
            TypedCommand("all", "as everybody may see it", self._as_all),
            TypedCommand("board", "the whole board", self._whole_board),
            TypedCommand("card NAME", "what a card or space does; part of the name is enough", self._card),
            TypedCommand("?", "this list", self._help),
        )
        self._short = {"n": "next", "b": "back", "t": "turn", "g": "go", "e": "end", "s": "seat", "a": "all", "": "next"}

    def run(self) -> None:
        """Shows it until somebody has seen enough."""
        self.screen.say(
            f"A game of {len(self.session.seats)} players, {self.end} decisions. Enter: next; ? lists what can be typed."
        )
        self._show()
        words = [*self._commands, "quit", *(f"card {name}" for name in NAMES)]
        while True:
            try:
                typed = self.screen.ask(f"{self.at}/{self.end}> ", words)
            except EOFError:
                self.screen.say()
                return
            word, _, rest = typed.partition(" ")
            word = self._short.get(word.lower(), word.lower())
            if word in ("q", "quit", "exit"):
                return
            try:
                if word not in self._commands:
                    raise ValueError(f"{typed[:40]!r} is not a command (? lists them)")
                to = self._commands[word].do(rest)
            except ValueError as error:
                self.screen.say(one_line(error), WARNING)
                continue
            if to is not None:
                self._go(to, word)

    def _go(self, to: int, word: str) -> None:
        """Goes there, or as far as the game went."""
        before, self.at = self.at, max(0, min(to, self.end))
        if before == self.at and word in ("next", "back", "turn"):
            self.screen.say("this is the end" if self.at == self.end else "this is the beginning", WARNING)
            return
        self._show(range(before, self.at))

    def _show(self, since: range = range(0)) -> None:
        """The decisions that led here, the board, and what is decided next."""
        log = self.session.log(self.seat)
        for k in list(since)[-10:]:
            self.screen.say(log[k], label=f"{k:5}  ")
        view = self.session.view(self.seat, self.at)
        self.screen.show(short_board(view, [f"P{k}" for k in range(len(view.players))], self.screen.width))
        whose = "everybody sees" if self.seat is None else f"player {self.seat} sees"
        self.screen.say(f"Before decision {self.at} of {self.end}, as {whose} it." if self.at < self.end else "The end.", HEADING)
        if self.at < self.end:
            self.screen.say(log[self.at], label="Next: ")

    def _next_turn(self, _: str) -> int:
        now = self.session.turn_at(self.at)
        return next((k for k in range(self.at, self.end) if self.session.turn_at(k) != now), self.end)

    def _as_seat(self, rest: str) -> int:
        if not rest.isdecimal() or int(rest[:3]) >= len(self.session.seats):
            raise ValueError(f"seat takes a number from 0 to {len(self.session.seats) - 1}")
        self.seat = int(rest[:3])
        return self.at

    def _as_all(self, _: str) -> int:
        self.seat = None
        return self.at

    def _whole_board(self, _: str) -> None:
        self.screen.show(self.session.board(self.seat, self.screen.width, self.at))

    def _card(self, rest: str) -> None:
        if not rest:
            raise ValueError("card takes a name or a part of it, such as card farm")
        self.screen.say(explain(rest, self.session.view(decision=self.at).markets))

    def _help(self, _: str) -> None:
        for command in self._commands.values():
            self.screen.say(command.help, label=f"  {command.form:10}")
        self.screen.say("leave; first letters will do, too", label=f"  {'quit':10}")


def _count(text: str, needed: bool = False) -> int:
    """A number that is typed; 1 if there is none and none is needed.

    Raises:
        ValueError: it is not a number.
    """
    if not text and not needed:
        return 1
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"a number of decisions is wanted, not {text[:40]!r}")
    return int(text[:9])
