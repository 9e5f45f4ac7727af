"""Language models as agents, asked through a server on loopback that speaks the protocol with all its faults."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load
from euphoria_agents.commands.evaluate import configure_models, told_counts
from euphoria_agents.commands.shared_arguments import EvaluateOptions
from euphoria_agents.matches.match import play_match
from euphoria_agents.matches.players import seed_for
from euphoria_agents.matches.work import WorkUnit, play_unit, players_ended, sources
from euphoria_agents.players.llm.agent import SPENT, LanguageModel, Settings
from euphoria_agents.players.llm.client import ModelFailed
from euphoria_agents.registry import load_untrusted
from euphoria_env import Game, Rules
from tests.tools import model_server as server_faults
from tests.tools.model_server import Answer, Handler, model_server, said

RULES = Rules(num_players=2, max_turns=6)
KEY = "sk-SECRET"


@pytest.fixture(autouse=True)
def settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing spent, and no certificates, which each client would read."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path_factory.getbasetemp()))
    yield
    SPENT.settings, SPENT.tokens, SPENT.dollars = Settings(), 0, 0.0


def legal(prompt: str) -> str:
    """Returns the first legal move of a prompt."""
    return re.findall("`([^`]+)`", prompt.partition("## Legal moves")[2])[0]


def good(prompt: str, number: int = 0) -> str:
    return f"<move>{legal(prompt)}</move>"


def played(answer: Callable[[str, int], Answer], options: str = "", games: int = 1) -> tuple[LanguageModel, list[Any]]:
    """Plays games of a model against `random`; returns the agent and the requests that the server got."""
    with model_server(answer) as server:
        agent = load(f"llm:m@{server.url}?moves=list&retries=1{options}")
        assert isinstance(agent, LanguageModel)
        play_match([agent, load("random")], games, RULES, seed=0)
        return agent, server.requests


# Texts with and without a legal move, and what the first answer counts as.
TEXTS: dict[str, tuple[Callable[[str], str], str]] = {
    "a tag": (good, "legal_first"),
    "other case and spaces": (lambda prompt: f"<MOVE>\n {legal(prompt).upper()} \n</MOVE>", "legal_first"),
    "JSON": (lambda prompt: json.dumps({"why": "so", "move": legal(prompt)}), "legal_first"),
    "the last line": (lambda prompt: f"I think long.\n{legal(prompt)}", "legal_first"),
    "the last of two tags": (lambda prompt: f"<move>pass</move> no, {good(prompt)}", "legal_first"),
    "thinking before it": (lambda prompt: f"<think><move>pass</move></think>{good(prompt)}", "legal_first"),
    "HTML around it": (lambda prompt: f"<html><body>{good(prompt)}</body></html>", "legal_first"),
    "nothing": (lambda prompt: "", "unreadable"),
    "garbage": (lambda prompt: "\x00\x07}{][ %%% \ufffd", "unreadable"),
    "a refusal": (lambda prompt: "I'm sorry, but I cannot help with that.", "unreadable"),
    "another language": (lambda prompt: "\u6211\u8981\u653e\u7f6e\u5de5\u4eba\u3002", "unreadable"),
    "a million characters": (lambda prompt: "x" * 1_000_000, "unreadable"),
    "thinking that is cut off": (lambda prompt: f"<think>{good(prompt)}", "unreadable"),
    "a move that looks legal": (lambda prompt: "<move>place 9 generator</move>", "illegal"),
    "a tag with two moves": (lambda prompt: f"<move>{legal(prompt)} {legal(prompt)}</move>", "illegal"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_answers_are_read_and_counted(kind: str) -> None:
    text, counted = TEXTS[kind]
    agent, requests = played(lambda prompt, number: text(prompt) if number == 1 else good(prompt))
    counts = agent.counts()
    assert counts[counted] >= 1 and counts["random"] == 0 and counts["answers"] == len(requests)
    assert counts["legal_first"] == counts["decisions"] - (counted != "legal_first")
    assert (counts["tokens_in"], counts["tokens_out"]) == (100 * len(requests), 10 * len(requests))


MESSAGES = ["null", "5", "[]", '{"content": [{"type": "text", "text": "hi"}]}', '{"content": 5}', '{"content": {}}']

# What the first request gets; the client asks again, and the game goes on.
ONCE: dict[str, Answer] = {
    **{f"the message {message}": f'{{"choices": [{{"message": {message}}}]}}'.encode() for message in MESSAGES},
    **{
        f"{name} {tokens:.9}": said("x").replace(f'"{name}": {usual}'.encode(), f'"{name}": {tokens}'.encode())
        for name, usual in (("prompt_tokens", 100), ("completion_tokens", 10))
        for tokens in ('"many"', "1e400", "NaN", "[1]", "true", "9" * 400, "1" * 5000, "-1e9")
    },
    "the usage": said("x").replace(b'"usage": {', b'"usage": [1], "more": {'),
    "too many requests": (429, '{"error": {"message": "slow down"}}'),
    "an error of the server": (500, "<html>oops</html>"),
    "overloaded": (503, ""),
    "a lost connection": None,
    "a connection that is reset": server_faults.reset,
    "a page of a proxy": b"<html><h1>502 Bad Gateway</h1></html>",
    "half an answer": said("x")[:60],
    "an answer in which the error stands": b'{"error": {"message": "overloaded"}}',
    "no choices": b'{"choices": []}',
    "nothing": b"",
    "endless brackets": b"[" * 200_000,
    "bytes of no text": b"\xff\xfe\x00",
    "endless headers": server_faults.endless_headers,
}


@pytest.mark.parametrize("fault", ONCE)
def test_faults_that_pass_are_survived(fault: str) -> None:
    agent, requests = played(lambda prompt, number: ONCE[fault] if number == 1 else good(prompt))
    assert agent.counts()["legal_first"] == agent.counts()["decisions"] == len(requests) - 1


# What every request gets, and the remedy that the error names.
ALWAYS: dict[str, tuple[Answer, str]] = {
    "a wrong key": ((401, json.dumps({"error": {"message": f"wrong key {KEY}"}})), "set OPENAI_API_KEY"),
    "no such model": ((404, '{"error": {"message": "no model m"}}'), "it has no such model or path: no model m"),
    "a long prompt": ((400, '{"error": {"message": "maximum context length is 2048"}}'), "use ?moves=list or rules=none"),
    "no credit": ((429, '{"error": {"message": "no credit"}}'), "too many requests, or no credit is left: no credit"),
    "no JSON": (b"hello", "not of the chat protocol: hello"),
    "the key in no JSON": (f"<html>{KEY}".encode(), "not of the chat protocol: <html>[key]"),
    "other JSON": (b'{"choices": []}', "not of the chat protocol"),
    "a cut off body": (b'{"choices": [{"mess', "not of the chat protocol"),
    "endless brackets": (b"[" * 200_000, "not of the chat protocol"),
    "endless tokens": (
        b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 1e999}}',
        "not of the chat protocol",
    ),
    "another form of error": ((400, '{"detail": "5000 tokens are too many"}'), "5000 tokens are too many"),
    "a key that a cut would halve": ((400, json.dumps({"error": {"message": "x" * 115 + KEY}})), "status 400: xxx"),
    "what controls a terminal": (
        (400, '{"error": {"message": "\\u001b[31m\\u202e\\u2028 \\ud800 bad"}}'),
        "status 400: [31m bad",
    ),
    "that as text": ((418, "\x1b]0;x\x07\x9b31m bad"), "status 418: ]0;x 31m bad"),
    "that in no JSON": (b"\x1b[31m\xc2\x9b bad", "not of the chat protocol: [31m bad"),
    "a lost connection": (None, "is the server running"),
    "a pause of days": (server_faults.wait_for_days, "status 503"),
    "a reset connection": (server_faults.reset, "is the server running"),
    "endless headers": (server_faults.endless_headers, "is the server running"),
    "a circle of redirects": (server_faults.redirect, "is the server running"),
    "an endless answer": (server_faults.endless_body, "its answer has more than 1,048,576 bytes"),
    "an endless error": (server_faults.endless_error, "its answer has more than 1,048,576 bytes"),
}


@pytest.mark.parametrize("fault", ALWAYS)
def test_faults_that_stay_are_named_in_a_line_without_the_key(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    answer, remedy = ALWAYS[fault]
    with pytest.raises(ModelFailed) as error:
        played(lambda prompt, number: answer)
    assert remedy in str(error.value) and KEY[:4] not in str(error.value) and str(error.value).isprintable()


def test_a_server_that_is_away() -> None:
    with pytest.raises(ModelFailed, match="is the server running"):
        play_match([load("llm:m@http://127.0.0.1:9/v1?retries=0"), load("random")], 1, RULES)


SLOW: dict[str, Callable[[Handler], None]] = {
    "no answer": lambda handler: handler.server.closed.wait() and None,
    "a blank now and then": server_faults.dripping_body,
    "a letter of a header now and then": server_faults.dripping_headers,
    "endless interim answers": server_faults.endless_interim,
    "pauses that are longer": server_faults.wait_a_minute,
}


@pytest.mark.parametrize("fault", SLOW)
def test_the_time_limit_holds_for_the_whole_exchange(fault: str) -> None:
    with pytest.raises(ModelFailed, match=r"no answer within 0.3 s: use \?timeout=SECONDS"):
        played(lambda prompt, number: SLOW[fault], "&timeout=0.3")


def test_wrong_answers_are_told_and_then_a_random_move_is_played_or_an_error_raised() -> None:
    agent, requests = played(lambda prompt, number: "<move>pass</move>", "&tries=2")
    counts = agent.counts()
    assert counts["random"] == counts["decisions"] > 0 and counts["answers"] == 2 * counts["decisions"]
    assert "is not" in requests[1][0]["messages"][-1]["content"].partition("\n## ")[0]
    with pytest.raises(ModelFailed, match="no legal move in 3 answers"):
        played(lambda prompt, number: "?", "&illegal=raise")


def test_what_is_sent() -> None:
    _, requests = played(
        lambda prompt, number: good(prompt) + "<notes>watch the bakery</notes>", "&notes=true&max_output=50&effort=low"
    )
    body = requests[-1][0]
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"], body["reasoning_effort"]) == (
        "m",
        0,
        0,
        50,
        "low",
    )
    system, prompt = (message["content"] for message in body["messages"])
    assert system.startswith("## Euphoria for 2 players") and "## Your notes\nwatch the bakery" in prompt
    assert "## Since your last decision" in prompt
    assert "Your notes" not in requests[0][0]["messages"][-1]["content"]


def test_a_model_that_says_the_key_half_a_character_and_no_or_negative_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    SPENT.settings = Settings(transcripts=tmp_path)
    agent, requests = played(lambda prompt, number: f"<think>{KEY}</think>{KEY} \ud800 {good(prompt)}")
    assert requests[0][1]["authorization"] == f"Bearer {KEY}" and agent.counts()["legal_first"] == len(requests)
    assert not any(KEY in path.read_text() for path in tmp_path.iterdir())

    def usage(told: Any) -> dict[str, float]:
        SPENT.settings, message = Settings(), {"role": "assistant", "content": "x" * 40}
        body = json.dumps({"choices": [{"index": 0, "message": message}], "usage": told}).encode()
        return played(lambda prompt, number: body, "&tries=1")[0].counts()

    counts = usage(None)
    assert counts["tokens_in"] > 200 * counts["answers"] and counts["tokens_out"] == 10 * counts["answers"]
    counts = usage({"prompt_tokens": -5, "completion_tokens": None})
    assert counts["tokens_in"] == 0 and counts["tokens_out"] == 10 * counts["answers"]


def test_without_a_story_there_are_no_notes_since_they_would_be_those_of_other_games() -> None:
    with model_server(lambda prompt, number: f"{good(prompt)}<notes>my hidden cards</notes>") as server:
        agent, rng = load(f"llm:m@{server.url}?moves=list&notes=true"), np.random.default_rng(0)
        for seed in (1, 2):
            game = Game(RULES, seed)
            agent.act(game.observation(0), game.mask(), rng, game)
        assert not any("otes" in body["messages"][-1]["content"] for body, _ in server.requests)


def test_transcripts_of_other_models_are_not_used_and_other_files_stay_whole(tmp_path: Path) -> None:
    SPENT.settings = Settings(transcripts=tmp_path)
    asked = [len(played(good, options)[1]) for options in ("", "", "&temperature=1")]
    assert asked[0] == asked[2] > asked[1] == 0
    for content in ('{"mine": 1}', '{"mine": 1}\n{"mine": 2}'):
        (other := tmp_path / "data.jsonl").write_text(content)
        with pytest.raises(ValueError, match="data.jsonl.*use another folder"):
            played(good)
        assert other.read_text() == content


def test_games_are_asked_side_by_side() -> None:
    both = threading.Barrier(2)

    def answer(prompt: str, number: int) -> str:
        if number <= 2:
            both.wait(30)  # breaks unless two requests are under way
        return good(prompt)

    assert played(answer, games=4)[0].counts()["decisions"] > 2


def test_transcripts_resume_and_budgets_end(tmp_path: Path) -> None:
    SPENT.settings = Settings(transcripts=tmp_path / "t", max_tokens=500)
    with pytest.raises(ModelFailed, match="the budget of 500 tokens is spent"):
        played(good)
    (file,) = (tmp_path / "t").glob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == 5 and lines[0]["answer"] == good(lines[0]["prompt"])
    with file.open("a") as stream:
        stream.write('{"version": 1, "key": "cut o')
    SPENT.settings = Settings(transcripts=tmp_path / "t")
    agent, requests = played(good)
    assert len(requests) == agent.counts()["answers"] - 5
    assert not any(line["cut"] for line in lines)
    assert played(good)[1] == []  # a third run asks nothing
    SPENT.settings, SPENT.dollars = Settings(max_cost=0.0002), 0.0
    with pytest.raises(ModelFailed, match=r"the budget of 0.0002 dollars is spent"):
        played(good, "&price_in=1&price_out=2")
    file.write_text(json.dumps(lines[0] | {"version": 7}) + "\n")
    SPENT.settings = Settings(transcripts=tmp_path / "t")
    with pytest.raises(ValueError, match="version 7, not 1"):
        played(good)


def test_the_name_of_a_game_does_not_tell_its_seed() -> None:
    """With its seed, an agent could deal the hidden cards (R19)."""
    names: list[str] = []

    class Curious:
        needs_game = needs_story = True

        def act(self, observation: Any, mask: Any, rng: Any, game: Any) -> int:
            names.append(game.story.game)
            return int(mask.argmax())

    results = [play_match([Curious(), load("random")], 2, RULES, seed=5, salt=salt) for salt in (0, 7)]  # type: ignore[list-item]
    assert len(set(names)) == 4 and not any(str(game.seed) in name for game in results[0].played for name in names)
    assert results[0].played == results[1].played
    plain = np.random.SeedSequence(5).spawn(2)[1].spawn(1)[0].generate_state(2, np.uint64)
    assert not {f"{name:016x}" for name in plain.tolist()} & {name.partition("-")[0] for name in names}, "found by trying seeds"


def test_notes_of_a_game_are_not_read_in_other_games_of_its_deal() -> None:
    with model_server(lambda prompt, number: f"{good(prompt)}<notes>note {number}</notes>") as server:
        spec = f"llm:m@{server.url}?moves=list&notes=true"
        lineups = [((spec, "random"), 0), ((spec, "weights"), 0), ((spec, "weights"), 1)]
        with players_ended():
            games = [play_unit(WorkUnit(lineup, 0, 1, 1, RULES, sources(lineup), run)).games for lineup, run in lineups]
        prompts = [body["messages"][-1]["content"] for body, _ in server.requests]
    assert sum("## Your notes" not in prompt for prompt in prompts) == sum(games)


def test_no_server_gets_a_deal_twice() -> None:
    with model_server(good) as server:
        one, other = (f"llm:{name}@{server.url}?moves=list" for name in ("one", "other"))
        lineups = [(one, "random"), (one, "weights"), (other, "weights"), ("weights", other), (one, other), (one, one)]
        with players_ended():
            results = [play_unit(WorkUnit(lineup, 0, 1, 2, RULES, sources(lineup))) for lineup in lineups]
        again = play_match([load(one)] * 2, 2, RULES, seed=1)
        mixed = play_match([one, "weights"], 2, RULES, seed=1)
    seeds = [game.seed for result in results for game in result.played]
    assert len(seeds) == len(set(seeds)) == 24
    assert all(len({game.seed for game in result.played}) == 2 for result in (again, mixed))
    assert seed_for([load(one), load("weights")], 1) == seed_for([load(other)], 1) > 2**200


def test_a_model_on_two_seats_counts_once() -> None:
    with model_server(good) as server:
        agent: Any = load(f"llm:m@{server.url}?moves=list")
        play_match([agent, agent], 2, RULES, seed=1)
        assert agent.counts()["answers"] == len(server.requests) > 0


def test_a_model_is_not_asked_from_a_cluster() -> None:
    with pytest.raises(ValueError, match="leave out --ray"):
        configure_models(EvaluateOptions(agent="llm:m", ray=True))
    assert configure_models(options := EvaluateOptions(agent="llm:m", processes=4)) == ["llm:m"] and options.processes == 1
    assert not configure_models(EvaluateOptions(ray=True))


def test_the_command_counts_keeps_and_hides_the_key(tmp_path: Path) -> None:
    with model_server(good) as server:
        spec = f"llm:m@{server.url}?moves=list"
        command = ["evaluate", "--agent", spec, "--against", "random", "--games", "2", "--max-turns", "4", "--concurrency", "2"]
        command += ["--transcripts", str(tmp_path / "t"), "--out", str(tmp_path / "out"), "--records", str(tmp_path / "records")]
        done = subprocess.run(
            [sys.executable, "-m", "euphoria_agents", *command],
            env={**os.environ, "OPENAI_API_KEY": KEY}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"
        requests = len(server.requests)
    assert f"decisions {requests}, answers {requests}, legal first {requests}" in done.stdout
    assert (
        told_counts(SimpleNamespace(counts=lambda: {"tokens_in": 123456, "dollars": 0.25})) == "tokens in 123,456, dollars 0.25"
    )
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 4 and not any(
        KEY.encode() in content for content in [*written, done.stdout.encode(), done.stderr.encode()]
    )


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("llm:", "llm:MODEL"),
        ("llm:a b", "llm:MODEL"),
        ("llm:m?tries=0", "tries must be an integer from 1 to 100"),
        ("llm:m?illegal=lose", "illegal must be random or raise"),
        ("llm:m?colour=red", "colour"),
        ("llm:m?moves=all", "moves"),
        ("llm:m@ftp://x", "llm:MODEL"),
        ("llm:m@http://[::1/v1", "is the URL right"),
        ("llm:m@http://user:password@x/v1", "^llm:m: its URL holds a password"),
    ],
)
def test_wrong_specs_are_refused(spec: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        load(spec)


def test_files_from_elsewhere_may_not_name_a_model() -> None:
    with pytest.raises(ValueError, match="allow it by name"):
        load_untrusted("llm:m@http://127.0.0.1:9/v1")
