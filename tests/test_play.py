"""`euphoria play` in a terminal: whole games, secrets at one screen, faults, every width."""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from euphoria_agents.commands.play import run, seats_of
from euphoria_agents.commands.shared_arguments import TableOptions
from euphoria_agents.dataclass_arguments import parse_options
from euphoria_agents.play import Seat, Session, load_game, save_game
from euphoria_agents.play.terminal import game as terminal_game
from euphoria_agents.play.terminal.texts import EXPLAINED, explain
from euphoria_env import Game, Rules
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.words import title
from tests.tools.commands import PATHS, heed_interrupts
from tests.tools.playing import random_game

FAULTY = "tests.tools.faulty_agents"


class Terminal:
    """`euphoria play` with these words; the game reads from this object and writes to it.

    Attributes:
        written: all that the game wrote, and what was typed.
        first: what it wrote before it asked for the first time.
        error: what ended the game; None: it was left, or is over.
    """

    def __init__(self, words: str) -> None:
        self.written, self.error = "", None
        self._read = 0
        self._typed, self._asked = SimpleQueue[str | BaseException](), SimpleQueue[bool]()
        options = parse_options(TableOptions, "euphoria play", words.split())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", self)
            patch.setattr(sys, "stdout", self)
            self._thread = threading.Thread(target=self._play, args=[options], daemon=True)
            self._thread.start()
            self.first = self._answer()

    def _play(self, options: TableOptions) -> None:
        try:
            run(options)
        except BaseException as error:
            self.error = error
        finally:
            self._asked.put(False)

    def _answer(self) -> str:
        self._asked.get(timeout=120)
        text, self._read = plain(self.written[self._read :]), len(self.written)
        return text

    def type(self, line: str | BaseException) -> str:
        """Types a line, or raises an error where one is read; what is written until the next prompt, or the end."""
        self._typed.put(line if isinstance(line, BaseException) else f"{line}\n")
        return self._answer()

    def close(self) -> None:
        """Ends the input."""
        while self._thread.is_alive():
            self._typed.put("")
            self._thread.join(0.1)

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        pass

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def readline(self) -> str:
        self._asked.put(True)
        typed = self._typed.get()
        if isinstance(typed, BaseException):
            raise typed
        self.written += typed
        return typed


def plain(text: str) -> str:
    """The output without colours."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


Open = Callable[..., Terminal]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens terminals, and closes them in the end."""
    there: list[Terminal] = []

    def open_one(words: str, columns: int = 80, folder: Path = tmp_path, **environment: str) -> Terminal:
        monkeypatch.chdir(folder)
        monkeypatch.delenv("NO_COLOR", raising=False)
        for name, value in {"TERM": "xterm-256color", "COLUMNS": str(columns), **environment}.items():
            monkeypatch.setenv(name, value)
        there.append(Terminal(words))
        return there[-1]

    yield open_one
    for terminal in there:
        terminal.close()


def numbers(text: str) -> list[str]:
    """The numbers of the moves that can be chosen."""
    return re.findall(r"^ {0,3}(\d+)  ", text.rpartition("You have: ")[2], re.M)


def longest(text: str) -> int:
    return max(map(len, plain(text).splitlines()))


def test_a_whole_game_by_numbers(opened: Open, tmp_path: Path) -> None:
    terminal = opened("--seats me greedy --seed 3 --stars-to-win 1")
    text, rng, asked = terminal.first, random.Random(1), 0
    assert "At the table: You, Boole (greedy)." in text and "Type the number of a move" in text
    while text.endswith("\n> "):
        text, asked = terminal.type(rng.choice(numbers(text))), asked + 1
    assert asked > 5 and "has won" in text and re.search(r"  1\. (You|Boole \(greedy\)): 1 star placed", text)
    assert text.endswith("A file for the record of the game, or Enter for none: ")
    (tmp_path / "there").write_text("mine")
    assert "there is there already: choose another name" in terminal.type("there")
    assert (tmp_path / "there").read_text() == "mine"
    assert "euphoria replay a.record" in terminal.type("a.record")
    assert terminal.error is None and longest(terminal.written) <= 80
    game = Game.from_record((tmp_path / "a.record").read_text())
    assert game.over and f"{game.turn}" in text


def test_saved_and_loaded_it_goes_on_identically(opened: Open, tmp_path: Path) -> None:
    terminal = opened("--players 3 --seed 4 --practice")
    text = terminal.first
    for _ in range(4):
        text = terminal.type(numbers(text)[0])
    assert "needs" not in text and "euphoria play --load euphoria-game.json" in terminal.type("save")
    assert "cannot be written" in terminal.type("save /proc/nowhere").replace("\n", " ")
    assert "euphoria play --load kept.json" in terminal.type("save kept.json")
    assert "leads back from a folder that does not exist" in terminal.type("save missing/../kept.json").replace("\n", " ")
    again = opened("--load kept.json")
    shown = again.first
    assert numbers(shown) == numbers(text)
    for choice in ("1", "1", "log 3", "hint greedy", "undo", "1"):
        one, other = terminal.type(choice), again.type(choice)
        assert one == other and len(one) > 20
    assert "is there already" in again.type("save euphoria-game.json")
    assert "A file to save the game in" in again.type("quit")
    again.type("")
    assert again.error is None and not again._thread.is_alive()


def test_undo_and_what_is_no_move(opened: Open) -> None:
    terminal = opened("--seed 3 --seats me weights")
    first = terminal.first
    assert "choose the active recruit" in first
    assert "nothing can be taken back" in terminal.type("undo")
    second = terminal.type(numbers(first)[1])
    assert "choose the hidden recruit" in second
    back = terminal.type("undo")
    assert "Taken back" in back and "choose the active recruit" in back
    for typed, told in (
        ("99", "the moves have the numbers 1 to 4"),
        ("place 4 farm", "neither a move that is legal now nor a command"),
        ("log x", "log takes the number of decisions"),
        ("card qqqq", "nothing is called 'qqqq'"),
        ("learn qqqq", "no part called 'qqqq'; the parts are The aim; "),
        ("?", "learn [PART]"),
        ("hint os:system", "not built in, or names a file"),
    ):
        assert told in terminal.type(typed).replace("\n", " ")
    assert "Faith the Hydroelectrician, a recruit." in terminal.type("card fai")
    name = re.search(r"choose \w+", terminal.type("?"))
    assert name and "choose the hidden recruit" in terminal.type(name[0].upper())


def test_two_people_see_only_their_own_cards(opened: Open) -> None:
    terminal = opened("--seats me:Ann me:Bob --seed 5")
    assert "Ann: press Enter when you are alone" in terminal.first
    first = terminal.type("")
    cards = [name for name in RECRUIT_NAMES if title(name) in " ".join(first.split())]
    assert len(cards) == 4
    terminal.type("1")
    assert "Next is Bob: press Enter, and the screen is cleared." in terminal.type("1")
    terminal.type("")
    assert terminal.written.count("\x1b[H\x1b[2J\x1b[3J") == 2
    second = terminal.type("")
    assert "Ann keeps 1 recruit" in " ".join(second.split())
    seen = " ".join(
        (second + terminal.type("?") + terminal.type("log") + terminal.type("board") + terminal.type("moves")).split()
    )
    assert not any(title(card) in seen or card in seen for card in cards)


@pytest.mark.parametrize(("num_players", "decisions"), [(2, 90), (4, 200)])
def test_what_is_shown_follows_from_what_may_be_known(opened: Open, tmp_path: Path, num_players: int, decisions: int) -> None:
    """Two games that differ only in what a player cannot know write the same to the screen."""
    game = random_game(Rules(num_players=num_players), num_players, decisions)
    while game.deciding != "open":  # in the middle of a turn the other game would not know how it began
        game.play(game.legal()[0])
    written = []
    for k, one in enumerate((game, game.determinize(game.player, 1))):
        folder = tmp_path / f"{k}"
        folder.mkdir()
        seats = [Seat(name) for name in ("Ann", "Bob", "Cleo", "Dan")[:num_players]]
        save_game(Session.of(Game.from_dict(one.to_dict()), seats), folder / "game.json")
        terminal = opened("--load game.json", folder=folder)
        for typed in ("", "?", "log", "board", "hint greedy", "undo", "card ray"):
            terminal.type(typed)
        written.append(terminal.written)
    assert written[0] == written[1] and "P0" in written[0] and "The best moves" in written[0]
    assert (tmp_path / "0/game.json").read_text() != (tmp_path / "1/game.json").read_text()


def test_an_agent_that_raises(opened: Open) -> None:
    terminal = opened(f"--seats {FAULTY}:Raises:nothing me --seed 1 --allow random")
    for text in (terminal.first, terminal.type("retry")):
        joined = " ".join(text.split())
        assert f"The game waits: the agent {FAULTY}:Raises:nothing of seat 0 failed: KeyError (faulty_agents.py" in joined
        assert "my moves" not in joined
    assert "type retry, hand AGENT" in terminal.type("what")
    assert "not built in" in terminal.type("hand os:system")
    text = terminal.type("hand greedy")
    assert "Ada keeps 1 recruit" in " ".join(text.split()) and "choose the active recruit" in text


def test_an_agent_that_never_answers(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted = itertools.cycle([False, True])

    def wait(work: list[Any], seconds: float) -> Any:
        if next(interrupted):
            raise KeyboardInterrupt
        return futures.wait(work, 0)

    monkeypatch.setattr(terminal_game, "wait", wait)
    terminal = opened(f"--seats {FAULTY}:Sleeps:nothing me --seed 1")
    for text in (terminal.first, terminal.type("retry")):
        assert "is still thinking" in (joined := " ".join(text.split())) and "has not answered yet" in joined
    assert "Player 0: press Enter when you are alone" in terminal.type("hand me")  # two people share the screen now
    assert "choose the active recruit" in terminal.type("")


def test_interrupts_in_a_real_terminal(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "euphoria_agents", "play", "--seed", "1"]
    environment = {**os.environ, "PYTHONPATH": PATHS}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, cwd=tmp_path, env=environment, preexec_fn=heed_interrupts
    ) as process:
        for _ in range(2):
            shown = b""
            while not shown.endswith(b"\n> "):
                shown += os.read(ours, 4096)
            process.send_signal(signal.SIGINT)
        assert process.stderr is not None and process.stderr.read().endswith(b"stopped\n")
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 130


def test_without_a_terminal(tmp_path: Path) -> None:
    def run(*words: str, typed: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "euphoria_agents", "play", *words]
        environment = {"PYTHONPATH": PATHS, "PATH": "/bin", "LANG": "C"}
        return subprocess.run(command, input=typed, capture_output=True, text=True, cwd=tmp_path, env=environment)

    done = run("--seats", "me:Zoë", "greedy", "--seed", "3", typed="1\nsave a.json\n")
    assert done.returncode == 2 and done.stderr == "error: the input ended before the game did\n"
    assert "Saved." in done.stdout and "\x1b" not in done.stdout and longest(done.stdout) <= 80
    assert load_game(tmp_path / "a.json").decisions == 1
    command = [sys.executable, "-m", "euphoria_agents", "play", "--seed", "1"]
    closed = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True, text=True, env={"PYTHONPATH": PATHS}
    )
    assert (closed.returncode, closed.stderr) == (2, "error: the input ended before the game did\n")
    done = run("--seats", "greedy", "greedy", "--stars-to-win", "1", typed="")
    assert done.returncode == 0 and "has won" in done.stdout and done.stderr == ""


def test_who_sits_where() -> None:
    assert seats_of([], None) == [Seat("Player 0"), Seat("Boole", "ppo")]
    assert seats_of(["greedy", "me:Ann"], 4) == [Seat("Ada", "greedy"), Seat("Ann"), Seat("Curie", "ppo"), Seat("Dirac", "ppo")]


@pytest.mark.parametrize(
    ("columns", "environment"), [(40, {"NO_COLOR": "1"}), (80, {"TERM": "dumb"}), (200, {"TERM": "xterm-256color"})]
)
def test_no_line_is_longer_than_the_terminal(opened: Open, tmp_path: Path, columns: int, environment: dict[str, str]) -> None:
    save_game(
        Session.of(random_game(Rules(num_players=6), 6, 420), [Seat("Ann"), *[Seat("greedy", "greedy")] * 5], practice=True),
        tmp_path / "game.json",
    )
    terminal = opened("--load game.json", columns, **environment)
    text = terminal.first
    for typed in ("?", "log 30", "card ray the", "card wind_salon", "board", "hint greedy", numbers(text)[0]):
        text += terminal.type(typed)
    assert longest(text) <= columns
    assert "NO_COLOR" not in environment or not re.search(r"\x1b\[[0-9;]*3\d", terminal.written)
    assert environment.get("TERM") != "dumb" or "\x1b" not in terminal.written


def test_names_are_found_and_explained() -> None:
    markets = Session.of(Game(Rules(num_players=2), 1), [Seat("Ann"), Seat("Bob")]).view().markets
    for name in EXPLAINED:
        assert len(explain(title(name).replace(".", "") if "dr_" not in name else name, markets)) > 20
    with pytest.raises(ValueError, match="nothing is called 'genrator'"):
        explain("genrator", markets)
    with pytest.raises(ValueError, match="which one: jonathan_the_gambler, jonathan_the_artist"):
        explain("jonathan", markets)
