"""A table at the terminal: people type their moves, agents play theirs."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import wait
from pathlib import Path
from typing import NamedTuple

from euphoria_agents import background
from euphoria_agents.agent import MoveThought
from euphoria_agents.error_text import one_line
from euphoria_agents.files import write_whole
from euphoria_agents.play import AGENT_NAMES, AgentFailed, Agents, Seat, Session
from euphoria_agents.play.terminal.explaining import NAMES, explain
from euphoria_agents.play.terminal.screen import HEADING, QUIET, WARNING, Screen
from euphoria_env.board import STARS
from euphoria_env.render.text import short_board
from euphoria_env.render.theme import PLAYER_COLOURS
from euphoria_env.render.view import PlayerView
from euphoria_env.words import Move, lessons, short_name

ADVISER = "mcts:300:ppo"  # who gives hints, if nobody else is named
PATIENCE = 10.0  # seconds until it is said that an agent is still thinking
BEST = 5  # moves that a hint names
LINES = 20  # of the log
UNNAMED = "euphoria-game.json"  # where a game is saved, if no file is named


class TypedCommand(NamedTuple):
    """A command that people type: its form, what it does, and what does it with the words that follow."""

    form: str
    help: str
    do: Callable[[str], bool]


class Left(Exception):
    """Somebody leaves the table."""


class TerminalGame:
    """A game at the terminal.

    Args:
        screen: where it is.
        session: the game.
        agents: who may be asked for hints and be given seats.
        file: where the game was loaded from, if it was.
    """

    def __init__(self, screen: Screen, session: Session, agents: Agents, file: Path | None = None) -> None:
        self.screen, self.session, self.agents, self.file = screen, session, agents, file
        self._sit_down()
        commands = (
            TypedCommand("?", "all that can be typed", self._help),
            TypedCommand("moves", "the moves again", self._moves),
            TypedCommand("board", "the whole board: every space and card, by the names of the notation", self._whole_board),
            TypedCommand("log [N]", f"what happened, the last {LINES} decisions or the last N", self._log),
            TypedCommand("card NAME", "what a recruit, market, dilemma or space does; a part of the name will do", self._card),
            TypedCommand(
                "learn [PART]", "how the game is played, in ten minutes; or a part of it, such as learn turn", self._learn
            ),
            TypedCommand("hint [AGENT]", f"what an agent would play; by default {ADVISER}", self._hint),
            TypedCommand("undo", "take back the last decision, if nothing was drawn or shown since", self._undo),
            TypedCommand("save [FILE]", "keep the game in a file", self._save),
            TypedCommand("load FILE", "continue a game that was saved", self._load),
            TypedCommand("quit", "leave the table", self._quit),
        )
        self._commands = {command.form.partition(" ")[0]: command for command in commands}
        self._commands |= {"help": self._commands["?"], "explain": self._commands["card"], "exit": self._commands["quit"]}

    def _sit_down(self) -> None:
        """Nobody has seen anything yet."""
        self._saved = self.session.version if self.file else -1
        self._told = dict.fromkeys([None, *range(len(self.session.seats))], self.session.decisions)
        self._looking: int | None = None  # whose cards are on the screen
        self._boards: dict[int | None, int] = {}  # the turn of the board that was shown last, by seat
        self._call_by_name()

    def _call_by_name(self) -> None:
        self._names = _names(self.session.seats, self._people)
        self.screen.styles = {name: f"{ink} on {fill}" for name, (fill, ink) in zip(self._names, PLAYER_COLOURS, strict=False)}

    # ------------------------------------------------------------------------------------------------------------ the game

    def run(self) -> None:
        """Plays until the end, or until somebody leaves.

        Raises:
            EOFError: the input ends before the game does, and it does not come from a terminal.
            KeyboardInterrupt: somebody interrupts twice, or while nobody can answer.
        """
        try:
            self._welcome()
            while not self.session.over:
                if self.session.seats[self.session.player].spec is None:
                    self._person(self.session.player)
                else:
                    self._agent()
            self._end()
        except Left:
            pass

    @property
    def _people(self) -> list[int]:
        return [k for k, seat in enumerate(self.session.seats) if seat.spec is None]

    def _name(self, seat: int) -> str:
        """The name of a player with the agent that plays for them, such as "Ada (ppo)"."""
        spec = self.session.seats[seat].spec
        return self._names[seat] + (f" ({spec})" if spec not in (None, self._names[seat]) else "")

    def _welcome(self) -> None:
        self.screen.say("Euphoria", HEADING)
        self.screen.say(f"At the table: {', '.join(map(self._name, range(len(self._names))))}.")
        if self.session.practice:
            self.screen.say("This is practice: any decision can be taken back.")
        if self._people:
            self.screen.say("Type the number of a move and press Enter. ? lists what else can be typed.")

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
                typed = self.screen.ask("> ", self._completions(seat))
            except KeyboardInterrupt:
                if interrupted or not self.screen.interactive:
                    raise
                interrupted = True
                self.screen.say()
                self.screen.say("Ctrl-C once more leaves the game; save FILE keeps it.")
                continue
            except EOFError:
                self._ended()
            interrupted = False
            if typed and self._obey(typed, seat):
                return

    def _ended(self) -> None:
        """The input has ended: at a terminal somebody wants to leave."""
        if not self.screen.interactive:
            raise EOFError("the input ended before the game did")
        self.screen.say()
        raise Left

    def _obey(self, typed: str, seat: int) -> bool:
        """Does what was typed, and returns whether to ask the question again. Errors are told in a line."""
        word, _, rest = typed.partition(" ")
        try:
            move = self._move(typed, seat)
            if move is None:
                return self._commands[word.lower()].do(rest)
            self.session.play(seat, move.action)
        except (ValueError, OSError, AgentFailed) as error:
            self.screen.say(one_line(error), WARNING)
            return False
        self._news(seat)
        return True

    def _move(self, typed: str, seat: int) -> Move | None:
        """The move that is meant; None if a command is.

        Raises:
            ValueError: neither is.
        """
        moves = self._in_groups(seat)
        if typed.isascii() and typed.isdecimal():
            if len(typed) < 4 and 0 < int(typed) <= len(moves):
                return moves[int(typed) - 1]
            raise ValueError(f"the moves have the numbers 1 to {len(moves)}" if len(moves) > 1 else "the only move is number 1")
        written = typed.lower()
        for move in moves:
            if written == move.notation:
                return move
        if written.partition(" ")[0] in self._commands:
            return None
        begun = [move.notation for move in moves if move.notation.startswith(written)]
        near = begun or difflib.get_close_matches(written, [*(move.notation for move in moves), *self._commands], 3)
        meant = f"; do you mean {', '.join(near[:3])}{' ...' if len(near) > 3 else ''}?" if near else ""
        raise ValueError(f"{typed[:40]!r} is neither a move that is legal now nor a command{meant} (? lists them)")

    def _in_groups(self, seat: int) -> list[Move]:
        """The moves as they are numbered: those of a group stand together."""
        moves = self.session.moves(seat)
        order = {group: k for k, group in enumerate(dict.fromkeys(move.group for move in moves))}
        return sorted(moves, key=lambda move: order[move.group])

    def _completions(self, seat: int) -> list[str]:
        moves = [move.notation for move in self.session.moves(seat)]
        return [*moves, *self._commands, *(f"{word} {name}" for word in ("card", "explain") for name in NAMES)]

    # --------------------------------------------------------------------------------------------------- what a seat is shown

    def _pass_the_screen(self, seat: int) -> None:
        """Before another person's cards are shown, the screen is theirs alone."""
        if len(self._people) > 1 and self._looking != seat:
            name = self._name(seat)
            try:
                if self._looking is not None:
                    self.screen.ask(f"Next is {name}: press Enter, and the screen is cleared. ")
                self.screen.clear()
                self.screen.ask(f"{name}: press Enter when you are alone at the screen. ")
            except EOFError:
                self._ended()
            self._boards.pop(seat, None)  # it is gone from the screen
        self._looking = seat

    def _news(self, seat: int | None) -> None:
        """The log since this seat last saw it."""
        self._tell(self.session.log(seat, self._told[seat]), seat)
        self._told[seat] = self.session.decisions

    def _tell(self, lines: Iterable[str], seat: int | None) -> None:
        for line in lines:
            self.screen.say(line, "" if line.startswith("You ") else QUIET, "  * ")

    def _question(self, seat: int) -> None:
        """The decision to be made, the player's belongings, and the moves."""
        self.screen.say()
        me = self.session.view(seat).players[seat]
        self.screen.say(_possessions(me), label="You have: ")
        self.screen.say(self.session.question(seat), HEADING)
        self._moves("")

    def _moves(self, _: str) -> bool:
        moves = self._in_groups(self.session.player)
        several = len({move.group for move in moves}) > 1
        for k, move in enumerate(moves, 1):
            if several and (k == 1 or moves[k - 2].group != move.group):
                self.screen.say(move.group, HEADING)
            parts = [move.text, move.told, move.risk and f"risk: {move.risk}"]
            self.screen.say(" - ".join(filter(None, parts)), label=f"{k:4}  ")
        return False

    def _board(self, seat: int | None) -> None:
        self.screen.show(short_board(self.session.view(seat), self._names, self.screen.width))

    def _whole_board(self, _: str) -> bool:
        self.screen.show(self.session.board(self.session.player, self.screen.width))
        self.screen.say("; ".join(f"P{k} is {self._name(k)}" for k in range(len(self._names))))
        return False

    # -------------------------------------------------------------------------------------------------------------- commands

    def _help(self, _: str) -> bool:
        self.screen.say("Type the number of a move, or the move itself; Tab completes it. If the game is new to you, type learn.")
        self.screen.say("Besides moves:")
        for command in dict.fromkeys(self._commands.values()):
            self.screen.say(command.help, label=f"  {command.form:14}")
        self.screen.say("On the board, kn is knowledge, mo morale, check the sum that loses a worker at 16. Moves in notation:")
        for k, move in enumerate(self._in_groups(self.session.player), 1):
            self.screen.say(move.notation, label=f"{k:4}  ")
        return False

    def _log(self, rest: str) -> bool:
        if rest and not (rest.isascii() and rest.isdecimal() and int(rest[:9]) > 0):
            raise ValueError("log takes the number of decisions, such as log 50")
        seat = self.session.player
        self._tell(self.session.log(seat)[-int(rest[:9] or LINES) :] or ["nothing has happened yet"], seat)
        return False

    def _card(self, rest: str) -> bool:
        if not rest:
            raise ValueError("card takes a name or a part of it, such as card farm")
        self.screen.say(explain(rest, self.session.view(self.session.player).markets))
        return False

    def _learn(self, rest: str) -> bool:
        parts = {heading: body for heading, body in lessons().items() if rest.lower() in heading.lower()}
        if not parts:
            raise ValueError(f"there is no part called {rest[:40]!r}; the parts are {'; '.join(lessons())}")
        self.screen.show_markdown("\n\n".join(f"## {heading}\n\n{body}" for heading, body in parts.items()))
        return False

    def _hint(self, rest: str) -> bool:
        seat, spec = self.session.player, rest or ADVISER
        work = background.begin(lambda: self.session.hint(seat, spec))
        try:
            while not wait([work], PATIENCE).done:
                self.screen.say(f"{spec} is still thinking; Ctrl-C ends the waiting.", QUIET)
        except KeyboardInterrupt:
            self.screen.say()
            return False
        said = work.result()
        names = {move.action: (k, move.text) for k, move in enumerate(self._in_groups(seat), 1)}
        best = sorted(said["moves"], key=_merit, reverse=True)
        if not any(_merit(best[0])):
            self.screen.say(f"{spec} says nothing about single moves")
            return False
        self.screen.say(f"The best moves for {spec}:")
        for thought in best[:BEST]:
            number, text = names[thought["action"]]
            self.screen.say(": ".join(filter(None, [text, _opinion(thought)])), label=f"{number:4}  ")
        if said["seats"]:
            chances = ", ".join(f"{self._name(k)} {chance:.0%}" for k, chance in enumerate(said["seats"]))
            self.screen.say(f"Chances to win, from what you know: {chances}")
        return False

    def _undo(self, _: str) -> bool:
        """Takes back the last decision of whoever sits there, or else of the person who decided last."""
        mine = self.session.player
        seat = next((seat for seat in (mine, *self._people) if self.session.can_undo(seat)), mine)
        self.session.undo(seat)
        self._told = dict.fromkeys(self._told, self.session.decisions)
        self._boards.clear()
        self.screen.say(f"Taken back: the last decision of {self._name(seat)}.")
        return True

    def _save(self, rest: str) -> bool:
        file = self._file(rest) if rest else self.file or self._file(UNNAMED)
        if file != self.file and file.exists() and not self._sure(f"{file} is there already. Write over it?"):
            return False
        self.session.save(file)
        self.file, self._saved = file, self.session.version
        self.screen.say(f"Saved. To go on later: euphoria play --load {file}")
        return False

    def _load(self, rest: str) -> bool:
        if not rest:
            raise ValueError("load takes the name of a file that save wrote")
        if self._unsaved and not self._sure("This game is not saved. Leave it?"):
            return False
        file = self._file(rest)
        self.session, self.file = Session.load(file, self.agents), file
        self._sit_down()
        self._welcome()
        return True

    def _quit(self, _: str) -> bool:
        if self._unsaved and self.screen.interactive:
            while True:
                name = self._answer("A file to save the game in, or Enter to leave without: ")
                try:
                    if name:
                        self._save(name)
                except (ValueError, OSError) as error:
                    self.screen.say(one_line(error), WARNING)
                if not name or not self._unsaved:
                    break
        raise Left

    @property
    def _unsaved(self) -> bool:
        return self.session.decisions > 0 and self._saved != self.session.version

    def _sure(self, question: str) -> bool:
        return self._answer(f"{question} (yes, or Enter for no) ").lower() in ("y", "yes")

    def _answer(self, prompt: str) -> str:
        """The line that is typed; nothing at the end of the input or at an interrupt."""
        try:
            return self.screen.ask(prompt)
        except (EOFError, KeyboardInterrupt):
            self.screen.say()
            return ""

    @staticmethod
    def _file(name: str) -> Path:
        return Path(name).expanduser()

    # ---------------------------------------------------------------------------------------------------------------- agents

    def _agent(self) -> None:
        """Has the agent that must decide play its move, or lets people help it out."""
        seat, think = self.session.player, self.session.thinker()
        assert think is not None
        name, work = self._name(seat), None
        while True:
            try:
                work = work or background.begin(think)
                if wait([work], PATIENCE).done:
                    self.session.play(seat, work.result())
                    break
                how = "; Ctrl-C lets you do something about it" if self.screen.interactive else ""
                self.screen.say(f"{name} is still thinking{how}.", QUIET)
            except AgentFailed as error:
                if self._helped_out(f"The game waits: {error}.", seat):
                    return
                work = None
            except KeyboardInterrupt:
                if not self.screen.interactive:
                    raise
                self.screen.say()
                if self._helped_out(f"The game waits: {name} has not answered yet.", seat):
                    return
        people = self._people
        if len(people) < 2:
            self._news(people[0] if people else None)

    def _helped_out(self, trouble: str, seat: int) -> bool:
        """Asks what to do about an agent; whether somebody else sits there now, or the game is another."""
        if not self.screen.interactive:
            raise RuntimeError(trouble)
        self.screen.say(trouble, WARNING)
        self.screen.say("retry: ask it again, or wait on; hand AGENT: another agent takes the seat; hand me: you take it;")
        self.screen.say("save FILE, load FILE, quit")
        while True:
            try:
                word, _, rest = self.screen.ask("> ", ["retry", "hand me", "hand greedy", "save", "load", "quit"]).partition(" ")
            except EOFError:
                self._ended()
            try:
                if word == "retry":
                    return False
                if word == "hand" and rest:
                    spec = None if rest == "me" else rest
                    self.session.hand_over(seat, spec, AGENT_NAMES[seat] if spec else f"Player {seat}")
                    self._call_by_name()
                    return True
                if word in ("save", "load", "quit"):
                    if self._commands[word].do(rest):
                        return True
                else:
                    self.screen.say("type retry, hand AGENT, hand me, save FILE, load FILE or quit", WARNING)
            except (ValueError, OSError) as error:
                self.screen.say(one_line(error), WARNING)

    # --------------------------------------------------------------------------------------------------------------- the end

    def _end(self) -> None:
        """Tells who has won, and offers to keep the game."""
        only = self._people[0] if len(self._people) == 1 else None
        if len(self._people) < 2:
            self._news(only)
        else:
            self._tell(self.session.log(None, max(self._told[seat] for seat in self._people)), None)
        self._board(only)
        self.screen.say()
        self.screen.say(self.session.question(only), HEADING)
        view, ranking = self.session.view(), self.session.ranking or []
        for rank, seat in sorted(zip(ranking, range(len(ranking)), strict=True)):
            self.screen.say(f"{rank}. {self._name(seat)}: {_stars(view.players[seat])}", label="  ")
        if not self.screen.interactive:
            return
        while name := self._answer("A file for the record of the game, or Enter for none: "):
            file = self._file(name)
            try:
                if not file.exists() or self._sure(f"{file} is there already. Write over it?"):
                    write_whole(file, self.session.record())
                    self.screen.say(f"Saved. Look at it again: euphoria replay {file}")
                    self.screen.say(f"Have it judged: euphoria analyse {file}")
                    return
            except OSError as error:
                self.screen.say(one_line(error), WARNING)


def _names(seats: Sequence[Seat], people: Sequence[int]) -> list[str]:
    """The names of the players; the only person is "You", and players of the same name are numbered."""
    names = ["You" if people == [k] else seat.name for k, seat in enumerate(seats)]
    return [f"{name} {k}" if Counter(names)[name] > 1 else name for k, name in enumerate(names)]


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


def _merit(thought: MoveThought) -> tuple[float, float, float]:
    """The sort key of a move: visits count most, then the value, then the prior."""
    return float(thought["visits"] or 0), thought["value"] or 0.0, thought["prior"] or 0.0


def _opinion(thought: MoveThought) -> str:
    """An agent's opinion of a move, as far as it has one."""
    value, visits, prior = thought["value"], thought["visits"], thought["prior"]
    return ", ".join(
        filter(
            None,
            [
                f"{value:.0%} to win" if value is not None else "",
                f"looked at {visits} times" if visits is not None else "",
                f"would play it {prior:.0%} of the time" if prior is not None and visits is None else "",
            ],
        )
    )
