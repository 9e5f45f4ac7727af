"""Agents in processes of their own: the same games as here, and an end to whatever they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import agent_process, load, play_match
from euphoria_agents.agent import explained
from euphoria_agents.agent_process import AgentProcess
from euphoria_agents.child_process import ChildProcess
from euphoria_env import Game, IllegalMove, Rules
from euphoria_env.agent_protocol import AgentFailed, TooSlow, query

RULES = Rules(num_players=2, max_turns=12)
LIMIT = 3600.0  # seconds: more than a test may take
OWN = """
import gc, json, os, pickle, signal, struct, sys, time
from multiprocessing.connection import Connection
import numpy as np

class First:
    def act(self, observation, mask, rng):
        return int(mask.argmax())

class Listens:
    needs_game = needs_story = True
    def act(self, observation, mask, rng, game):
        legal = mask.nonzero()[0]
        return int(legal[len("".join(game.story.lines)) % len(legal)])

class Draws:
    def act(self, observation, mask, rng):
        return int(rng.choice(mask.nonzero()[0]))

class Batches(Draws):
    def act_batch(self, observations, masks, rng):
        return np.array([rng.choice(mask.nonzero()[0]) for mask in masks])

class Exits(First):
    def act(self, observation, mask, rng):
        os._exit(0)

class Killed(First):
    def act(self, observation, mask, rng):
        os.kill(os.getpid(), signal.SIGKILL)

class Raises(First):
    def act(self, observation, mask, rng):
        raise self.error

class Boom(Raises):
    error = RuntimeError("boom\\n\\x1b[31m" + "!" * 1000)

class Leaves(Raises):
    error = SystemExit(0)

class Silent(Raises):
    class error(Exception):
        def __str__(self):
            raise ValueError

class Narrow:
    def act(self, observation):
        return 0

class Catches(First):
    def __init__(self, fifo=None):
        self.fifo = fifo
    def act(self, observation, mask, rng):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self.fifo:
            open(self.fifo, "wb").close()  # waits for whoever wants to know that it is asked
        while True:
            try:
                time.sleep(3600)
            except BaseException:
                pass

class Loops(First):
    def __init__(self, fifo=None):
        if fifo:
            self.held = open(fifo, "wb", 0)
            self.held.write(b"x")
    def act(self, observation, mask, rng):
        return sum(range(10**15))  # never comes back to the interpreter

class Poet(First):
    def act(self, observation, mask, rng):
        print("heard", repr(sys.stdin.read()))
        return "place 4 farm"

class Changes(First):
    asked = 0
    def act(self, observation, mask, rng):
        time.sleep(3600 * self.asked)
        self.asked += 1
        mask[:] = 1
        observation[:] = 0
        return int((mask != 0).argmax())

class Speaks(First):
    def __init__(self, what):
        self.what = what
    def act(self, observation, mask, rng):
        connection = next(one for one in gc.get_objects() if isinstance(one, Connection) and not one.closed)
        connection.send_bytes({"pickle": pickle.dumps(Evil()), "json": b'{"answer": [1], "more": 2}', "big": b"[" * 10**6,
                "generator": b'{"answer": [1], "rng": {"state": 7}}', "huge": b'{"answer": [1%s]}' % (b"0" * 99)}[self.what])
        time.sleep(3600)

class Stops(First):  # in the middle of a message, or after it
    def __init__(self, how):
        self.how = how
    def act(self, observation, mask, rng):
        file = next(one for one in gc.get_objects() if isinstance(one, Connection) and not one.closed).fileno()
        answer = json.dumps({"answer": [int(mask.argmax())], "rng": rng.bit_generator.state}).encode()
        header = struct.pack("!i", {"too long": 2**31 - 1, "negative": -1}.get(self.how, len(answer)))
        parts = {"in the header": header[:2], "in the answer": header + answer[:9], "after it": header + answer}
        os.write(file, parts.get(self.how, header))
        if self.how == "closed":
            os.closerange(3, 200)
        while self.how == "dripping":
            os.write(file, b" ")
            time.sleep(0.02)
        time.sleep(3600)

class Evil:
    def __reduce__(self):
        return os._exit, (9,)
"""


@pytest.fixture(scope="module", autouse=True)
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The module `lonely`, with agents of your own."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "lonely.py").write_text(OWN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield


def ask_once(agent: Any, games: int = 1) -> Any:
    """The answers of an agent at the start of some games."""
    game = Game(RULES, seed=1)
    seen, masks = np.stack([game.observation(0)] * games), np.stack([game.mask()] * games)
    return query(agent, seen, masks, np.random.default_rng(3), lambda _: game.determinize(0, 1))[0]


@pytest.mark.parametrize(
    ("spec", "seconds"), [("lonely:Draws", None), ("lonely:Batches", LIMIT), ("lonely:Listens", None), ("greedy:1", LIMIT)]
)
def test_the_same_games_as_in_this_process(spec: str, seconds: float | None) -> None:
    here = play_match([load(spec), load("random")], 4, RULES, seed=2)
    with AgentProcess(spec, seconds=seconds) as agent:
        there = play_match([agent, load("random")], 4, RULES, seed=2)
        assert agent.needs_game == (spec in ("greedy:1", "lonely:Listens"))
    assert here.played == there.played


def test_it_explains_as_in_this_process() -> None:
    game = Game(RULES, seed=1)
    for spec in ("greedy:2", "lonely:First"):
        asked = game.observation(0), game.mask(), np.random.default_rng(1), game.determinize(0, 1)
        with AgentProcess(spec) as agent:
            assert explained(agent, *asked) == explained(load(spec), *asked)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("Exits", r"^the agent lonely:Exits ended its process with status 0$"),
        ("Killed", r"^the agent lonely:Killed was ended by SIGKILL$"),
        ("Boom", r"^the agent lonely:Boom raised RuntimeError: boom \[31m!{1,500}\.* \(lonely.py, line \d+\)$"),
        ("Leaves", r"raised SystemExit: 0 \(lonely.py, line \d+\)$"),
        ("Silent", r"raised error: its text is not available \(lonely.py"),
        ("Narrow", r"raised TypeError: .* \(lonely.py, line \d+\)$"),
        *((f"Speaks:{what}", "sent no valid answer") for what in ("pickle", "json", "big", "generator", "huge")),
    ],
)
def test_what_it_does_wrong_is_told_in_a_line(kind: str, message: str) -> None:
    with AgentProcess(f"lonely:{kind}", seconds=LIMIT) as agent, pytest.raises(AgentFailed, match=message) as caught:
        ask_once(agent)
    assert "\n" not in str(caught.value) and not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("kind", ["Catches", "Loops"])
def test_an_agent_that_does_not_answer_is_ended(kind: str) -> None:
    with AgentProcess(f"lonely:{kind}") as agent:
        agent._first_seconds = 0.1
        with pytest.raises(TooSlow, match=rf"^the agent lonely:{kind} took more than 0.1 s for its first decision$"):
            ask_once(agent)
        with pytest.raises(AgentFailed, match=f"the agent lonely:{kind} has been ended"):
            ask_once(agent)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        *((how, "took more than 0.5 s for its first decision") for how in ("in the header", "in the answer", "dripping")),
        ("closed", "closed its connection"),
        *((how, "sent no valid answer") for how in ("too long", "negative")),
    ],
)
def test_an_agent_that_stops_in_the_middle_of_a_message_is_ended(
    how: str, message: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_process, "ENDING_SECONDS", 0.1)
    with AgentProcess(f"lonely:Stops:{how}") as agent:
        if "for its first" in message:
            capfd.readouterr()
            agent._first_seconds, agent._patience = 0.5, 0.1
        with pytest.raises(AgentFailed, match=message):
            ask_once(agent)
        if "for its first" in message:
            assert capfd.readouterr().err == f"waiting for the agent {agent.name} to choose: 0.1 s so far, at most 0.5 s\n"


def test_a_question_that_nobody_reads_has_a_limit() -> None:
    with AgentProcess("lonely:Stops:after it", seconds=0.5) as agent:
        ask_once(agent)
        with pytest.raises(TooSlow, match="took more than 0.5 s for a decision"):
            for _ in range(10**5):  # the system keeps the first ones
                agent._exchange("act_batch", np.zeros(10**6, np.int8))


def test_a_long_wait_is_told(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_process, "PATIENCE", 0.0)
    with AgentProcess("lonely:Catches") as agent:
        assert capfd.readouterr().err == "waiting for the agent lonely:Catches to be made: 0 s so far, at most 300 s\n"
        agent._first_seconds, agent._patience = 0.1, 0.02
        with pytest.raises(TooSlow):
            ask_once(agent)
        assert capfd.readouterr().err == "waiting for the agent lonely:Catches to choose: 0.02 s so far, at most 0.1 s\n"
        assert agent._patience == 0.04, "a line for each wait would be too many"


def test_illegal_answers_are_refused_by_the_caller(capfd: pytest.CaptureFixture[str]) -> None:
    with AgentProcess("lonely:Poet") as agent:  # which reads nothing, and whose output goes to stderr
        with pytest.raises(IllegalMove, match=r"the agent lonely:Poet must answer with an action id, not .*'place 4 farm'"):
            ask_once(agent)
        with pytest.raises(IllegalMove, match="the agent lonely:Poet must answer with 3 action ids"):
            ask_once(agent, 3)
    assert "heard" not in capfd.readouterr().out
    with AgentProcess("lonely:Changes", seconds=0.1) as agent:  # the mask that it changes is a copy
        with pytest.raises(IllegalMove, match="the agent lonely:Changes answered"):
            ask_once(agent)  # the first answer has a limit of its own
        with pytest.raises(TooSlow, match="took more than 0.1 s for a decision"):
            ask_once(agent)


def once_asked(fifo: Path, do: Callable[[], Any]) -> threading.Thread:
    """A thread that does something as soon as `lonely:Catches` is asked."""
    os.mkfifo(fifo)
    thread = threading.Thread(target=lambda: (fifo.read_bytes(), do()))
    thread.start()
    return thread


def test_closing_from_another_thread_ends_a_question(tmp_path: Path) -> None:
    agent = AgentProcess(f"lonely:Catches:{tmp_path / 'asked'}")
    once_asked(tmp_path / "asked", agent.close)
    with pytest.raises(AgentFailed, match="lonely:Catches"):
        ask_once(agent)


def ask_for_ever(_: Any, spec: str) -> None:
    """Asks an agent that never answers."""
    ask_once(AgentProcess(spec))


def test_no_agent_outlives_its_parent(tmp_path: Path) -> None:
    """Not even one that never comes back to the interpreter; `tests/test_workers.py` has their descendants."""
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    parent = ChildProcess(ask_for_ever, f"lonely:Loops:{fifo}")
    with fifo.open("rb", 0) as held:  # waits for the agent, which holds the other end as long as it lives
        assert held.read(1) == b"x"
        os.kill(parent._process.pid, signal.SIGKILL)
        assert held.read() == b""
    assert parent.exit_status(LIMIT) is not None


def test_an_interrupt_of_the_program_is_its_own(tmp_path: Path) -> None:
    with AgentProcess(f"lonely:Catches:{tmp_path / 'asked'}") as agent:
        once_asked(tmp_path / "asked", partial(signal.pthread_kill, threading.main_thread().ident, signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            ask_once(agent)
        with pytest.raises(AgentFailed, match="has been ended"):
            ask_once(agent)


def test_a_program_without_a_guard_or_a_file_is_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class First:\n    def act(self, observation, mask, rng):\n        return int(mask.argmax())\n"
    )
    program = """
from euphoria_agents import play_match
from euphoria_agents.agent_process import AgentProcess
from euphoria_env import Rules
with AgentProcess("mine:First") as agent:
    print(play_match([agent, "mine:First"], 2, Rules(num_players=2, max_turns=5)).games)
"""
    (tmp_path / "program.py").write_text(program)
    for words in (["program.py"], ["-"]):
        done = subprocess.run([sys.executable, *words], input=program, cwd=tmp_path, capture_output=True, text=True)
        assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr
