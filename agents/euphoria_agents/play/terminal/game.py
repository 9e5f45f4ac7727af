"""Runs a game at the terminal: people type their moves, agents play theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import NamedTuple, TypeVar

from euphoria_agents import background
from euphoria_agents.error_text import one_line
from euphoria_agents.files import write_whole
from euphoria_agents.play import AGENT_NAMES, PlayerFailed, Session, save_game
from euphoria_agents.play.terminal.screen import HEADING, QUIET, WARNING, Screen
from euphoria_agents.play.terminal.texts import best_moves, explain, possessions, stars_placed
from euphoria_env.agent_protocol import AgentFailed
from euphoria_env.phrases import YOU
from euphoria_env.render.text import board_text, short_board
from euphoria_env.render.theme import PLAYER_COLOURS
from euphoria_env.words import Move, lessons
from euphoria_env.words.event_text import LogLine

T = TypeVar("T")
STILL_THINKING = 10.0  # seconds after which the screen says that an agent is still thinking
HINT_AGENT = "mcts:300:ppo"  # gives hints, if no other agent is named
LINES = 20  # decisions in the log, if no number is typed
UNNAMED = "euphoria-game.json"  # where a game is saved, if no file is named


class Left(Exception):
    """Ends the game at the terminal, since somebody leaves the table."""


class TypedCommand(NamedTuple):
    """A command that people can type instead of a move; `do` is called with the text after its first word."""

    form: str
    help: str
    do: Callable[[str], None]


class TerminalGame:
    """A game at the terminal; `file` is the one from which it was loaded, None for a new game."""

    def __init__(self, screen: Screen, session: Session, file: Path | None = None) -> None:
        self.screen, self.session = screen, session
        self._file, self._saved_version = file, session.version if file else -1
        self._viewer: int | None = None  # the seat whose cards are on the screen
        self._reset_shown()
        self._set_names()
        commands = (
            TypedCommand("?", "all that can be typed", self._help),
            TypedCommand("moves", "the moves again", self._show_moves),
            TypedCommand("board", "the whole board: every space and card, by the names of the notation", self._show_whole_board),
            TypedCommand("log [N]", f"what happened, the last {LINES} decisions or the last N", self._log),
            TypedCommand("card NAME", "what a recruit, market, dilemma or space does; a part of the name will do", self._card),
            TypedCommand(
                "learn [PART]", "how the game is played, in ten minutes; or a part of it, such as learn turn", self._learn
            ),
            TypedCommand("hint [AGENT]", f"what an agent would play; by default {HINT_AGENT}", self._hint),
            TypedCommand("undo", "take back the last decision, if nothing was drawn or shown since", self._undo),
            TypedCommand("save [FILE]", "keep the game in a file", self._save),
            TypedCommand("quit", "leave the table", self._quit),
        )
        self._commands = {command.form.partition(" ")[0]: command for command in commands}

    def run(self) -> None:
        """Plays until the end, or until somebody leaves.

        Raises an `EOFError` if the input is no terminal and ends before the game, a `KeyboardInterrupt` if somebody interrupts
        twice, or while nobody can answer.
        """
        self.screen.say("Euphoria", HEADING)
        self.screen.say(f"At the table: {', '.join(map(self._name, range(len(self._names))))}.")
        if self.session.practice:
            self.screen.say("This is practice: any decision can be taken back.")
        if self.session.people:
            self.screen.say("Type the number of a move and press Enter. ? lists what else can be typed.")
        try:
            while not self.session.over:
                if self.session.player in self.session.people:
                    self._ask_person(self.session.player)
                else:
                    self._ask_agent(self.session.player)
            self._end()
        except Left:
            pass

    def _set_names(self) -> None:
        """Sets the names of the players and their styles; if only one person plays, they are "You"."""
        self._names = ["You" if self.session.people == [k] else seat.name for k, seat in enumerate(self.session.seats)]
        self.screen.styles = {name: f"{ink} on {fill}" for name, (fill, ink) in zip(self._names, PLAYER_COLOURS, strict=False)}

    def _name(self, seat: int) -> str:
        """Returns the name of a player with the agent that plays for them, such as "Ada (ppo)"."""
        spec = self.session.seats[seat].spec
        return self._names[seat] + (f" ({spec})" if spec not in (None, self._names[seat]) else "")

    # ----------------------------------------------------------------------------------------------------------- people

    def _ask_person(self, seat: int) -> None:
        """Shows a person the game, and does what is typed until the game has changed."""
        self._pass_the_screen(seat)
        self._show_news(seat)
        turn, version = self.session.view(seat).turn, self.session.version
        if self._board_turns.get(seat) != turn:
            self._board_turns[seat] = turn
            self._show_board(seat)
        self.screen.say()
        self.screen.say(possessions(self.session.view(seat).players[seat]), label="You have: ")
        self.screen.say(str(self.session.question(seat)), HEADING)
        self._show_moves()
        while self.session.version == version:
            self._obey(self._ask("> "), seat)

    def _obey(self, typed: str, seat: int) -> None:
        """Does what was typed, or shows why not."""
        word, _, rest = typed.partition(" ")
        try:
            if word.lower() in self._commands:
                self._commands[word.lower()].do(rest)
            elif typed:
                self.session.play(seat, self._move(typed).action)
                self._show_news(seat)
        except (ValueError, OSError, AgentFailed) as error:
            self.screen.say(one_line(error), WARNING)

    def _ask(self, prompt: str) -> str:
        """Returns the line that is typed; asks again after one interrupt, and leaves the table at the end of the input.

        Raises:
            EOFError: the input has ended, and it does not come from a terminal.
        """
        try:
            try:
                return self.screen.ask(prompt)
            except KeyboardInterrupt:
                if not self.screen.interactive:
                    raise
                self.screen.say()
                self.screen.say("Ctrl-C once more leaves the game; save FILE keeps it.")
                return self.screen.ask(prompt)
        except EOFError:
            if not self.screen.interactive:
                raise
            self.screen.say()
            raise Left from None

    def _numbered_moves(self) -> list[Move]:
        """Returns the legal moves in the order of their numbers, with the moves of a group together."""
        moves = self.session.moves(self.session.player)
        order = {group: k for k, group in enumerate(dict.fromkeys(move.group for move in moves))}
        return sorted(moves, key=lambda move: order[move.group])

    def _move(self, typed: str) -> Move:
        """Returns the move with this number or notation; raises a `ValueError` if there is none."""
        moves = self._numbered_moves()
        if typed.isascii() and typed.isdecimal():
            if len(typed) < 4 and 0 < int(typed) <= len(moves):
                return moves[int(typed) - 1]
            raise ValueError(f"the moves have the numbers 1 to {len(moves)}" if len(moves) > 1 else "the only move is number 1")
        for move in moves:
            if typed.lower() == move.notation:
                return move
        raise ValueError(f"{typed[:40]!r} is neither a move that is legal now nor a command (? lists them)")

    def _pass_the_screen(self, seat: int) -> None:
        """Clears the screen before another person's cards are shown."""
        if len(self.session.people) > 1 and self._viewer != seat:
            name = self._name(seat)
            if self._viewer is not None:
                self._ask(f"Next is {name}: press Enter, and the screen is cleared. ")
            self.screen.clear()
            self._ask(f"{name}: press Enter when you are alone at the screen. ")
            self._board_turns.pop(seat, None)  # it is gone from the screen
        self._viewer = seat

    # ----------------------------------------------------------------------------------------------------------- agents

    def _ask_agent(self, seat: int) -> None:
        """Has an agent play its move; if it fails or is interrupted, asks what to do, until the game has changed."""
        think, version, name = self.session.thinker(), self.session.version, self._name(seat)
        assert think is not None
        how = "; Ctrl-C lets you do something about it" if self.screen.interactive else ""
        work: Future[int] | None = None
        while self.session.version == version:
            try:
                work = work or background.begin(think)
                self.session.play(seat, self._wait_for(work, f"{name} is still thinking{how}."))
            except PlayerFailed as error:
                work = None
                self._help_agent(seat, f"The game waits: {error}.")
            except KeyboardInterrupt:
                if not self.screen.interactive:
                    raise
                self.screen.say()
                self._help_agent(seat, f"The game waits: {name} has not answered yet.")
        people = self.session.people
        if len(people) < 2:
            self._show_news(people[0] if people else None)

    def _wait_for(self, work: Future[T], message: str) -> T:
        """Returns the result of some work; shows a message now and then while it takes long."""
        while not wait([work], STILL_THINKING).done:
            self.screen.say(message, QUIET)
        return work.result()

    def _help_agent(self, seat: int, trouble: str) -> None:
        """Asks people whether to ask an agent again, or who gets its seat; raises a `RuntimeError` if nobody can answer."""
        if not self.screen.interactive:
            raise RuntimeError(trouble)
        self.screen.say(trouble, WARNING)
        self.screen.say("retry: ask it again, or wait on; hand AGENT: another agent takes the seat; hand me: you take it;")
        self.screen.say("save FILE, quit")
        while True:
            word, _, rest = self._ask("> ").partition(" ")
            try:
                if word == "retry":
                    return
                if word == "hand" and rest:
                    spec = None if rest == "me" else rest
                    self.session.hand_over(seat, spec, AGENT_NAMES[seat] if spec else f"Player {seat}")
                    return self._set_names()
                if word not in ("save", "quit"):
                    raise ValueError("type retry, hand AGENT, hand me, save FILE or quit")
                self._commands[word].do(rest)
            except (ValueError, OSError, AgentFailed) as error:
                self.screen.say(one_line(error), WARNING)

    # ------------------------------------------------------------------------------------------------ what is shown

    def _reset_shown(self) -> None:
        """Forgets what each seat has seen: the news begin now, and the board is shown again."""
        self._log_shown = dict.fromkeys([None, *range(len(self.session.seats))], self.session.decisions)
        self._board_turns: dict[int | None, int] = {}  # by seat, the turn in which the board was shown last

    def _show_news(self, seat: int | None) -> None:
        """Shows the log since this seat last saw it."""
        self._show_log(self.session.log(seat, self._log_shown[seat]))
        self._log_shown[seat] = self.session.decisions

    def _show_log(self, lines: Iterable[LogLine]) -> None:
        for line in lines:
            self.screen.say(str(line), "" if line.clauses[0][0] == YOU else QUIET, "  * ")

    def _show_board(self, seat: int | None) -> None:
        self.screen.show(short_board(self.session.view(seat), self._names, self.screen.width))

    def _end(self) -> None:
        """Shows the result, and offers to save the record."""
        people = self.session.people
        only = people[0] if len(people) == 1 else None
        if len(people) < 2:
            self._show_news(only)
        else:
            self._show_log(self.session.log(None, max(self._log_shown[seat] for seat in people)))
        self._show_board(only)
        self.screen.say()
        self.screen.say(str(self.session.question(only)), HEADING)
        view, ranking = self.session.view(), self.session.game_at().ranking or []
        for rank, seat in sorted(zip(ranking, range(len(ranking)), strict=True)):
            self.screen.say(f"{rank}. {self._name(seat)}: {stars_placed(view.players[seat])}", label="  ")
        self._offer_file("A file for the record of the game, or Enter for none: ", self._write_record)

    def _write_record(self, file: Path) -> None:
        write_whole(file, self.session.record())
        self.screen.say(f"Saved. Look at it again: euphoria replay {file}")
        self.screen.say(f"Have it judged: euphoria analyse {file}")

    def _offer_file(self, prompt: str, write: Callable[[Path], None]) -> None:
        """Asks a person for the name of a new file until it is written, or nothing is typed."""
        while self.screen.interactive:
            try:
                name = self.screen.ask(prompt)
                return write(_new_file(name)) if name else None
            except EOFError:
                return None
            except (ValueError, OSError) as error:
                self.screen.say(one_line(error), WARNING)

    # ---------------------------------------------------------------------------------------------- the commands

    def _help(self, _: str) -> None:
        say = self.screen.say
        say("Type the number of a move, or the move itself. If the game is new to you, type learn.")
        say("Besides moves:")
        for command in self._commands.values():
            say(command.help, label=f"  {command.form:14}")
        say("On the board, kn is knowledge, mo morale, check the sum that loses a worker at 16. Moves in notation:")
        for k, move in enumerate(self._numbered_moves(), 1):
            say(move.notation, label=f"{k:4}  ")

    def _show_moves(self, _: str = "") -> None:
        moves = self._numbered_moves()
        several = len({move.group for move in moves}) > 1
        for k, move in enumerate(moves, 1):
            if several and (k == 1 or moves[k - 2].group != move.group):
                self.screen.say(move.group, HEADING)
            parts = [move.text, move.told, move.risk and f"risk: {move.risk}"]
            self.screen.say(" - ".join(filter(None, parts)), label=f"{k:4}  ")

    def _show_whole_board(self, _: str) -> None:
        self.screen.show(board_text(self.session.game_at(), self.session.player, self.screen.width, moves=False))
        self.screen.say("; ".join(f"P{k} is {self._name(k)}" for k in range(len(self._names))))

    def _log(self, rest: str) -> None:
        if rest and not (rest.isascii() and rest.isdecimal() and int(rest[:9]) > 0):
            raise ValueError("log takes the number of decisions, such as log 50")
        lines = self.session.log(self.session.player)[-int(rest[:9] or LINES) :]
        if not lines:
            self.screen.say("nothing has happened yet", QUIET, "  * ")
        self._show_log(lines)

    def _card(self, rest: str) -> None:
        if not rest:
            raise ValueError("card takes a name or a part of it, such as card farm")
        self.screen.say(explain(rest, self.session.view(self.session.player).markets))

    def _learn(self, rest: str) -> None:
        parts = {heading: body for heading, body in lessons().items() if rest.lower() in heading.lower()}
        if not parts:
            raise ValueError(f"there is no part called {rest[:40]!r}; the parts are {'; '.join(lessons())}")
        self.screen.show_markdown("\n\n".join(f"## {heading}\n\n{body}" for heading, body in parts.items()))

    def _hint(self, rest: str) -> None:
        seat, spec = self.session.player, rest or HINT_AGENT
        work = background.begin(lambda: self.session.hint(seat, spec))
        try:
            opinion = self._wait_for(work, f"{spec} is still thinking; Ctrl-C ends the waiting.")
        except KeyboardInterrupt:
            self.screen.say()
            return
        numbered = {move.action: (k, move.text) for k, move in enumerate(self._numbered_moves(), 1)}
        best = best_moves(opinion)
        self.screen.say(f"The best moves for {spec}:" if best else f"{spec} says nothing about single moves")
        for action, thought in best:
            number, text = numbered[action]
            self.screen.say(": ".join(filter(None, [text, thought])), label=f"{number:4}  ")
        if opinion["seats"]:
            chances = ", ".join(f"{self._name(k)} {chance:.0%}" for k, chance in enumerate(opinion["seats"]))
            self.screen.say(f"Chances to win, from what you know: {chances}")

    def _undo(self, _: str) -> None:
        """Takes back the last decision of the seat that must decide, or of another person."""
        mine = self.session.player
        seat = next((seat for seat in (mine, *self.session.people) if self.session.can_undo(seat)), mine)
        self.session.undo(seat)
        self._reset_shown()
        self.screen.say(f"Taken back: the last decision of {self._name(seat)}.")

    def _save(self, rest: str) -> None:
        """Saves the game: in the file that is named, else in the one that it came from, else in `UNNAMED`."""
        file = Path(rest).expanduser() if rest else self._file or Path(UNNAMED)
        self._save_in(file if file == self._file else _new_file(str(file)))

    def _save_in(self, file: Path) -> None:
        save_game(self.session, file)
        self._file, self._saved_version = file, self.session.version
        self.screen.say(f"Saved. To go on later: euphoria play --load {file}")

    def _quit(self, _: str) -> None:
        if self.session.decisions and self._saved_version != self.session.version:
            self._offer_file("A file to save the game in, or Enter to leave without: ", self._save_in)
        raise Left


def _new_file(name: str) -> Path:
    """Returns the path of a new file; raises a `ValueError` if it exists."""
    file = Path(name).expanduser()
    if file.exists():
        raise ValueError(f"{file} is there already: choose another name")
    return file
