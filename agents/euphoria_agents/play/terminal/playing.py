"""A game at the terminal: people type their moves, agents play theirs."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TypeVar

from euphoria_agents import background
from euphoria_agents.error_text import one_line
from euphoria_agents.files import write_whole
from euphoria_agents.play import AGENT_NAMES, Agents, PlayerFailed, Session
from euphoria_agents.play.terminal.explaining import EXPLAINED
from euphoria_agents.play.terminal.screen import HEADING, QUIET, WARNING, Screen
from euphoria_agents.play.terminal.typed_commands import Left, TypedCommands
from euphoria_env.board import STARS
from euphoria_env.render.text import board_text, short_board
from euphoria_env.render.theme import PLAYER_COLOURS
from euphoria_env.render.view import PlayerView
from euphoria_env.words import Move, short_name

T = TypeVar("T")
STILL_THINKING = 10.0  # seconds after which the screen says that an agent is still thinking


class TerminalGame:
    """A game at the terminal.

    Args:
        screen: the terminal.
        session: the game.
        agents: who may give hints and be given seats.
        file: from which the game was loaded, if it was.

    Attributes:
        saved: the version of the session in the file; -1 if there is none.
    """

    def __init__(self, screen: Screen, session: Session, agents: Agents, file: Path | None = None) -> None:
        self.screen, self.agents = screen, agents
        self._commands = TypedCommands(self)
        self._loaded = session, file

    def begin(self, session: Session, file: Path | None) -> None:
        """Begins to play a session from a file, if there is one."""
        self.session, self.file = session, file
        self.saved = session.version if file else -1
        self._looking: int | None = None  # whose cards are on the screen
        self.forget_shown()
        self._set_names()
        self.screen.say("Euphoria", HEADING)
        self.screen.say(f"At the table: {', '.join(map(self.name, range(len(self._names))))}.")
        if session.practice:
            self.screen.say("This is practice: any decision can be taken back.")
        if session.people:
            self.screen.say("Type the number of a move and press Enter. ? lists what else can be typed.")

    def forget_shown(self) -> None:
        """Makes what happens from now on news to every seat, and shows the board again."""
        self._told = dict.fromkeys([None, *range(len(self.session.seats))], self.session.decisions)
        self._boards: dict[int | None, int] = {}  # the turn of the board that was shown last, by seat

    def _set_names(self) -> None:
        """Names the players; the only person is "You", and players of the same name are numbered."""
        names = ["You" if self.session.people == [k] else seat.name for k, seat in enumerate(self.session.seats)]
        self._names = [f"{name} {k}" if Counter(names)[name] > 1 else name for k, name in enumerate(names)]
        self.screen.styles = {name: f"{ink} on {fill}" for name, (fill, ink) in zip(self._names, PLAYER_COLOURS, strict=False)}

    def name(self, seat: int) -> str:
        """The name of a player with the agent that plays for them, such as "Ada (ppo)"."""
        spec = self.session.seats[seat].spec
        return self._names[seat] + (f" ({spec})" if spec not in (None, self._names[seat]) else "")

    def run(self) -> None:
        """Plays until the end, or until somebody leaves.

        Raises:
            EOFError: the input ends before the game does, and it does not come from a terminal.
            KeyboardInterrupt: somebody interrupts twice, or while nobody can answer.
        """
        try:
            self.begin(*self._loaded)
            while not self.session.over:
                if self.session.player in self.session.people:
                    self._person(self.session.player)
                else:
                    self._agent()
            self._end()
        except Left:
            pass

    def _person(self, seat: int) -> None:
        """Asks a person until the game has changed."""
        self._pass_the_screen(seat)
        self._news(seat)
        turn = self.session.view(seat).turn
        if self._boards.get(seat) != turn:
            self._boards[seat] = turn
            self._board(seat)
        self._question(seat)
        interrupted = False
        while True:
            try:
                typed = self._ask("> ", self._completions(seat))
            except KeyboardInterrupt:
                if interrupted or not self.screen.interactive:
                    raise
                interrupted = True
                self.screen.say()
                self.screen.say("Ctrl-C once more leaves the game; save FILE keeps it.")
                continue
            interrupted = False
            if typed and self._obey(typed, seat):
                return

    def _ask(self, prompt: str, words: Iterable[str] = ()) -> str:
        """The line that is typed; at the end of the input somebody leaves.

        Raises:
            EOFError: the input has ended, and it does not come from a terminal.
        """
        try:
            return self.screen.ask(prompt, words)
        except EOFError:
            if not self.screen.interactive:
                raise EOFError("the input ended before the game did") from None
            self.screen.say()
            raise Left from None

    def _obey(self, typed: str, seat: int) -> bool:
        """Does what was typed, or shows why not; returns whether the game has changed."""
        word, _, rest = typed.partition(" ")
        try:
            move = self._move(typed)
            if move is None:
                return self._commands.by_word[word.lower()].do(rest)
            self.session.play(seat, move.action)
        except (ValueError, OSError, PlayerFailed) as error:
            self.screen.say(one_line(error), WARNING)
            return False
        self._news(seat)
        return True

    def _move(self, typed: str) -> Move | None:
        """The move with this number or notation; None for a command.

        Raises:
            ValueError: the text is neither.
        """
        moves = self.numbered_moves()
        if typed.isascii() and typed.isdecimal():
            if len(typed) < 4 and 0 < int(typed) <= len(moves):
                return moves[int(typed) - 1]
            raise ValueError(f"the moves have the numbers 1 to {len(moves)}" if len(moves) > 1 else "the only move is number 1")
        written = typed.lower()
        for move in moves:
            if written == move.notation:
                return move
        if written.partition(" ")[0] in self._commands.by_word:
            return None
        begun = [move.notation for move in moves if move.notation.startswith(written)]
        known = [*(move.notation for move in moves), *self._commands.by_word]
        near = begun or difflib.get_close_matches(written, known, 3)
        meant = f"; do you mean {', '.join(near[:3])}{' ...' if len(near) > 3 else ''}?" if near else ""
        raise ValueError(f"{typed[:40]!r} is neither a move that is legal now nor a command{meant} (? lists them)")

    def numbered_moves(self) -> list[Move]:
        """The legal moves in the order of their numbers: those of a group stand together."""
        moves = self.session.moves(self.session.player)
        order = {group: k for k, group in enumerate(dict.fromkeys(move.group for move in moves))}
        return sorted(moves, key=lambda move: order[move.group])

    def _completions(self, seat: int) -> list[str]:
        moves = [move.notation for move in self.session.moves(seat)]
        return [*moves, *self._commands.by_word, *(f"{word} {name}" for word in ("card", "explain") for name in EXPLAINED)]

    def _pass_the_screen(self, seat: int) -> None:
        """Clears the screen before another person's cards are shown."""
        if len(self.session.people) > 1 and self._looking != seat:
            name = self.name(seat)
            if self._looking is not None:
                self._ask(f"Next is {name}: press Enter, and the screen is cleared. ")
            self.screen.clear()
            self._ask(f"{name}: press Enter when you are alone at the screen. ")
            self._boards.pop(seat, None)  # it is gone from the screen
        self._looking = seat

    def _news(self, seat: int | None) -> None:
        """Shows the log since this seat last saw it."""
        self.tell(self.session.log(seat, self._told[seat]))
        self._told[seat] = self.session.decisions

    def tell(self, lines: Iterable[str]) -> None:
        """Shows lines of the log."""
        for line in lines:
            self.screen.say(line, "" if line.startswith("You ") else QUIET, "  * ")

    def _question(self, seat: int) -> None:
        """Shows the decision to be made, the player's belongings, and the moves."""
        self.screen.say()
        self.screen.say(_possessions(self.session.view(seat).players[seat]), label="You have: ")
        self.screen.say(self.session.question(seat), HEADING)
        self._commands.by_word["moves"].do("")

    def _board(self, seat: int | None) -> None:
        self.screen.show(short_board(self.session.view(seat), self._names, self.screen.width))

    def show_whole_board(self) -> None:
        """Shows every space and card that the seat that must decide may see."""
        self.screen.show(board_text(self.session.game_at(), self.session.player, self.screen.width, moves=False))
        self.screen.say("; ".join(f"P{k} is {self.name(k)}" for k in range(len(self._names))))

    @property
    def unsaved(self) -> bool:
        """Whether there are decisions that no file has."""
        return self.session.decisions > 0 and self.saved != self.session.version

    def confirms(self, question: str) -> bool:
        """Asks a question, and returns whether the answer is yes."""
        return self._answer(f"{question} (yes, or Enter for no) ").lower() in ("y", "yes")

    def may_write(self, file: Path) -> bool:
        """Whether a file does not exist, or may be replaced."""
        return not file.exists() or self.confirms(f"{file} is there already. Write over it?")

    def offer_file(self, prompt: str, write: Callable[[str], bool]) -> None:
        """Asks for the name of a file until `write` returns True for it, or nothing is typed."""
        while name := self._answer(prompt):
            try:
                if write(name):
                    return
            except (ValueError, OSError) as error:
                self.screen.say(one_line(error), WARNING)

    def _answer(self, prompt: str) -> str:
        """The line that is typed; empty at the end of the input or at an interrupt."""
        try:
            return self.screen.ask(prompt)
        except (EOFError, KeyboardInterrupt):
            self.screen.say()
            return ""

    def wait_for(self, work: Future[T], message: str) -> T:
        """The result of some work; shows a message now and then while it takes long."""
        while not wait([work], STILL_THINKING).done:
            self.screen.say(message, QUIET)
        return work.result()

    def _agent(self) -> None:
        """Has the agent that must decide play its move, or lets people help."""
        seat, think = self.session.player, self.session.thinker()
        assert think is not None
        name, work = self.name(seat), None
        how = "; Ctrl-C lets you do something about it" if self.screen.interactive else ""
        while True:
            try:
                work = work or background.begin(think)
                self.session.play(seat, self.wait_for(work, f"{name} is still thinking{how}."))
                break
            except PlayerFailed as error:
                work, trouble = None, f"The game waits: {error}."
            except KeyboardInterrupt:
                if not self.screen.interactive:
                    raise
                self.screen.say()
                trouble = f"The game waits: {name} has not answered yet."
            if self._helped(trouble, seat):
                return
        people = self.session.people
        if len(people) < 2:
            self._news(people[0] if people else None)

    def _helped(self, trouble: str, seat: int) -> bool:
        """Asks what to do about an agent; returns whether another player has the seat now, or another game was loaded."""
        if not self.screen.interactive:
            raise RuntimeError(trouble)
        self.screen.say(trouble, WARNING)
        self.screen.say("retry: ask it again, or wait on; hand AGENT: another agent takes the seat; hand me: you take it;")
        self.screen.say("save FILE, load FILE, quit")
        while True:
            word, _, rest = self._ask("> ", ["retry", "hand me", "hand greedy", "save", "load", "quit"]).partition(" ")
            try:
                if word == "retry":
                    return False
                if word == "hand" and rest:
                    spec = None if rest == "me" else rest
                    self.session.hand_over(seat, spec, AGENT_NAMES[seat] if spec else f"Player {seat}")
                    self._set_names()
                    return True
                if word not in ("save", "load", "quit"):
                    raise ValueError("type retry, hand AGENT, hand me, save FILE, load FILE or quit")
                if self._commands.by_word[word].do(rest):
                    return True
            except (ValueError, OSError) as error:
                self.screen.say(one_line(error), WARNING)

    def _end(self) -> None:
        """Shows who has won, and offers to keep the record."""
        people = self.session.people
        only = people[0] if len(people) == 1 else None
        if len(people) < 2:
            self._news(only)
        else:
            self.tell(self.session.log(None, max(self._told[seat] for seat in people)))
        self._board(only)
        self.screen.say()
        self.screen.say(self.session.question(only), HEADING)
        view, ranking = self.session.view(), self.session.game_at().ranking or []
        for rank, seat in sorted(zip(ranking, range(len(ranking)), strict=True)):
            self.screen.say(f"{rank}. {self.name(seat)}: {_stars(view.players[seat])}", label="  ")
        if self.screen.interactive:
            self.offer_file("A file for the record of the game, or Enter for none: ", self._write_record)

    def _write_record(self, name: str) -> bool:
        file = Path(name).expanduser()
        if not self.may_write(file):
            return False
        write_whole(file, self.session.record())
        self.screen.say(f"Saved. Look at it again: euphoria replay {file}")
        self.screen.say(f"Have it judged: euphoria analyse {file}")
        return True


def _possessions(me: PlayerView) -> str:
    """A player's belongings, in a line."""
    workers = f"workers {' '.join(map(str, me.workers))}" if me.workers else "no worker in hand"
    goods = ", ".join(f"{n} {name}" for name, n in me.goods.items()) or "no goods"
    cards = ", ".join(f"{n} {name}" for name, n in (me.artifacts or {}).items())
    tracks = f"knowledge {me.knowledge or '-'}, morale {me.morale or '-'}"
    recruits = ", ".join(short_name(one.name) + ("" if one.active else " (hidden)") for one in me.recruits)
    facts = [workers, tracks, goods, f"artifacts: {cards}" if cards else "no artifacts", _stars(me), recruits]
    return "; ".join(filter(None, facts))


def _stars(player: PlayerView) -> str:
    placed = STARS - player.stars
    return f"{placed} star{'' if placed == 1 else 's'} placed"
