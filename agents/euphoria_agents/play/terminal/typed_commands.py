"""The commands that people type beside moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from euphoria_agents import background
from euphoria_agents.agent import MoveThought
from euphoria_agents.play import load_game, save_game
from euphoria_agents.play.terminal.explaining import explain
from euphoria_agents.play.terminal.screen import HEADING
from euphoria_env.words import lessons

if TYPE_CHECKING:
    from euphoria_agents.play.terminal.playing import TerminalGame

HINT_AGENT = "mcts:300:ppo"  # gives hints, if no other agent is named
BEST = 5  # moves that a hint names
LINES = 20  # of the log
UNNAMED = "euphoria-game.json"  # where a game is saved, if no file is named


class TypedCommand(NamedTuple):
    """A command: its form, its help and its function.

    Attributes:
        do: takes the words after the command; returns whether the game has changed and must ask its question again.
    """

    form: str
    help: str
    do: Callable[[str], bool]


class Left(Exception):
    """Somebody leaves the table."""


class TypedCommands:
    """The commands of a game at the terminal.

    Attributes:
        by_word: the commands by their first word.
    """

    def __init__(self, game: TerminalGame) -> None:
        self._game, self._screen = game, game.screen
        commands = (
            TypedCommand("?", "all that can be typed", self._help),
            TypedCommand("moves", "the moves again", self._moves),
            TypedCommand("board", "the whole board: every space and card, by the names of the notation", self._board),
            TypedCommand("log [N]", f"what happened, the last {LINES} decisions or the last N", self._log),
            TypedCommand("card NAME", "what a recruit, market, dilemma or space does; a part of the name will do", self._card),
            TypedCommand(
                "learn [PART]", "how the game is played, in ten minutes; or a part of it, such as learn turn", self._learn
            ),
            TypedCommand("hint [AGENT]", f"what an agent would play; by default {HINT_AGENT}", self._hint),
            TypedCommand("undo", "take back the last decision, if nothing was drawn or shown since", self._undo),
            TypedCommand("save [FILE]", "keep the game in a file", self.save),
            TypedCommand("load FILE", "continue a game that was saved", self._load),
            TypedCommand("quit", "leave the table", self._quit),
        )
        self.by_word = {command.form.partition(" ")[0]: command for command in commands}
        self.by_word |= {"help": self.by_word["?"], "explain": self.by_word["card"], "exit": self.by_word["quit"]}

    def _help(self, _: str) -> bool:
        say = self._screen.say
        say("Type the number of a move, or the move itself; Tab completes it. If the game is new to you, type learn.")
        say("Besides moves:")
        for command in dict.fromkeys(self.by_word.values()):
            say(command.help, label=f"  {command.form:14}")
        say("On the board, kn is knowledge, mo morale, check the sum that loses a worker at 16. Moves in notation:")
        for k, move in enumerate(self._game.numbered_moves(), 1):
            say(move.notation, label=f"{k:4}  ")
        return False

    def _moves(self, _: str) -> bool:
        moves = self._game.numbered_moves()
        several = len({move.group for move in moves}) > 1
        for k, move in enumerate(moves, 1):
            if several and (k == 1 or moves[k - 2].group != move.group):
                self._screen.say(move.group, HEADING)
            parts = [move.text, move.told, move.risk and f"risk: {move.risk}"]
            self._screen.say(" - ".join(filter(None, parts)), label=f"{k:4}  ")
        return False

    def _board(self, _: str) -> bool:
        self._game.show_whole_board()
        return False

    def _log(self, rest: str) -> bool:
        if rest and not (rest.isascii() and rest.isdecimal() and int(rest[:9]) > 0):
            raise ValueError("log takes the number of decisions, such as log 50")
        lines = self._game.session.log(self._game.session.player)[-int(rest[:9] or LINES) :]
        self._game.tell(lines or ["nothing has happened yet"])
        return False

    def _card(self, rest: str) -> bool:
        if not rest:
            raise ValueError("card takes a name or a part of it, such as card farm")
        self._screen.say(explain(rest, self._game.session.view(self._game.session.player).markets))
        return False

    def _learn(self, rest: str) -> bool:
        parts = {heading: body for heading, body in lessons().items() if rest.lower() in heading.lower()}
        if not parts:
            raise ValueError(f"there is no part called {rest[:40]!r}; the parts are {'; '.join(lessons())}")
        self._screen.show_markdown("\n\n".join(f"## {heading}\n\n{body}" for heading, body in parts.items()))
        return False

    def _hint(self, rest: str) -> bool:
        session, spec = self._game.session, rest or HINT_AGENT
        seat = session.player
        work = background.begin(lambda: session.hint(seat, spec))
        try:
            opinion = self._game.wait_for(work, f"{spec} is still thinking; Ctrl-C ends the waiting.")
        except KeyboardInterrupt:
            self._screen.say()
            return False
        numbered = {move.action: (k, move.text) for k, move in enumerate(self._game.numbered_moves(), 1)}
        best = sorted(opinion["moves"], key=_merit, reverse=True)
        if not any(_merit(best[0])):
            self._screen.say(f"{spec} says nothing about single moves")
            return False
        self._screen.say(f"The best moves for {spec}:")
        for thought in best[:BEST]:
            number, text = numbered[thought["action"]]
            self._screen.say(": ".join(filter(None, [text, _opinion(thought)])), label=f"{number:4}  ")
        if opinion["seats"]:
            chances = ", ".join(f"{self._game.name(k)} {chance:.0%}" for k, chance in enumerate(opinion["seats"]))
            self._screen.say(f"Chances to win, from what you know: {chances}")
        return False

    def _undo(self, _: str) -> bool:
        """Takes back the last decision of the seat that must decide, or of another person."""
        session, mine = self._game.session, self._game.session.player
        seat = next((seat for seat in (mine, *session.people) if session.can_undo(seat)), mine)
        session.undo(seat)
        self._game.forget_shown()
        self._screen.say(f"Taken back: the last decision of {self._game.name(seat)}.")
        return True

    def save(self, rest: str) -> bool:
        """Saves the game in a file, the one that it came from, or `UNNAMED`."""
        game = self._game
        file = Path(rest).expanduser() if rest else game.file or Path(UNNAMED)
        if file == game.file or game.may_write(file):
            save_game(game.session, file)
            game.file, game.saved = file, game.session.version
            self._screen.say(f"Saved. To go on later: euphoria play --load {file}")
        return False

    def _load(self, rest: str) -> bool:
        if not rest:
            raise ValueError("load takes the name of a file that save wrote")
        if self._game.unsaved and not self._game.confirms("This game is not saved. Leave it?"):
            return False
        file = Path(rest).expanduser()
        self._game.begin(load_game(file, self._game.agents), file)
        return True

    def _quit(self, _: str) -> bool:
        if self._game.unsaved and self._screen.interactive:
            self._game.offer_file(
                "A file to save the game in, or Enter to leave without: ", lambda name: self.save(name) or not self._game.unsaved
            )
        raise Left


def _merit(thought: MoveThought) -> tuple[float, float, float]:
    """The sort key of a move: visits count most, then the value, then the prior."""
    return float(thought["visits"] or 0), thought["value"] or 0.0, thought["prior"] or 0.0


def _opinion(thought: MoveThought) -> str:
    """An agent's opinion of a move, as far as it has one."""
    value, visits, prior = thought["value"], thought["visits"], thought["prior"]
    parts = [
        f"{value:.0%} to win" if value is not None else "",
        f"looked at {visits} times" if visits is not None else "",
        f"would play it {prior:.0%} of the time" if prior is not None and visits is None else "",
    ]
    return ", ".join(filter(None, parts))
