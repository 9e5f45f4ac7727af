"""Answers of language models: one table, read alike by environments, agents and MCP."""

import json
import re
from collections.abc import Callable

import numpy as np
import pytest

import euphoria_env
from euphoria_agents import load
from euphoria_agents.play import Agents
from euphoria_agents.play.mcp_server import Table
from euphoria_agents.players.llm.agent import _NOTES, LanguageModel
from euphoria_env import Game, Rules, actions
from euphoria_env.text import read_answer, split_thinking
from tests.tools.model_server import model_server, said

RULES = Rules(num_players=2)
A, B, *_ = Game(RULES, 1).legal()
FAULTS = ("illegal", "unreadable")
OTHER = "place 4 farm"  # a move of the game, but not of its setup

# An answer, in which A and B stand for legal moves and C for one that is not, and what it is.
ANSWERS = {
    "<move>A</move>": "A",
    "<move>A</move> is wrong. Better: <move>B</move>": "B",
    "<move>A</move> is wrong. Better: <move>B": "unreadable",
    "<move>A</move> is wrong. Better: <MOVE": "unreadable",
    **{f"<move>A</move> is wrong. Better: {cut}": "unreadable" for cut in ("<", "< ", "<mov", "< M", "</", "</mov", "< / thin")},
    **{f"<move>A</move> {whole}": "A" for whole in ("<b>", "<m>", "<mob", "<movie", "< 5", "</b", "a<b")},
    '{"move": "A"} <mov': "unreadable",
    "<move>A</move> is wrong. Better: <move why='B'": "unreadable",
    "<move>A</move> is wrong. Better: <move B</move>": "illegal",
    "<move>A</move> is wrong. Better: <move/>": "unreadable",
    "<move>A</move> is wrong. Better: <move>B</move": "unreadable",
    "<move>A</move> is wrong. Better: < move >B</ move >": "B",
    "<move>A</move> is wrong. Better: <move kind='last'>B</move>": "B",
    "<move>A</move> is wrong. Better: <move>C</move>": "illegal",
    "<move>A</move> is wrong. Better: <move></move>": "illegal",
    "<move>A</move>\nB": "A",
    "<move>A</move></move>": "A",
    "<move>A</move> B</move>": "A",
    "<move>A <move>B</move></move>": "B",
    "<move>A<move>B</move>": "B",
    "<move>A</moves>": "unreadable",
    "<moves><move>A</move></moves>": "A",
    "A</move>": "unreadable",
    "</move>\nA": "A",
    "<move>A": "unreadable",
    "<move>\nA": "unreadable",
    "\uff1cmove\uff1eA\uff1c/move\uff1e": "unreadable",
    # thinking
    "<think>hm</think><move>A</move>": "A",
    "<think><move>B</move></think>": "unreadable",
    "<think><move>B</move></think><move>A</move>": "A",
    "<move>A</move><think><move>B</move></think>": "A",
    "<move>B</move></think><move>A</move>": "A",
    "<move>B</move></think>A": "A",
    "<move>B</move></think>": "unreadable",
    "<think>x</think><move>B</move></think><move>A</move>": "A",
    "<think>x</think><move>A</move><think>y</think>": "A",
    "<think>x<think>y</think>z<move>B</move></think><move>A</move>": "A",
    "<think>x<think>y</think><move>A</move>": "A",
    "<think>x<move>A</move>": "unreadable",
    "<move>A</move><think>x": "unreadable",
    "<move>A</move><think": "unreadable",
    "<move>A</move><think>x</think": "unreadable",
    "<think>x</think>A": "A",
    "A<think>x": "unreadable",
    '{"move": "A"}<think>': "unreadable",
    "<THINK><move>B</move></Think>\n<move>A</move>": "A",
    "< think ><move>B</move></ think >\n<move>A</move>": "A",
    "<think about='it'><move>B</move></think>\n<move>A</move>": "A",
    "<thinking><move>A</move></thinking>": "A",
    "<move>A<think>or</think></move>": "A",
    "<move><think>A</think>B</move>": "B",
    "<move>A<think></move></think><move>B</move>": "B",
    "<mo<think>x</think>ve>A</move>": "unreadable",
    "<move>A</move> <<think>x</think>move>": "A",
    "< <think>x</think>think> <move>B</move> <<think>y</think>/think> A": "B",
    "\u017fth\u0131nk <\u212aove> A": "unreadable",
    # JSON, fences and the last line
    '{"move": "A"}': "A",
    '{"move": "A", "more": {"MOVE" : "B"}}': "B",
    '{"why": "<move>B</move> is bad", "move": "A"}': "B",
    '{"move": "<move>A</move>"}': "A",
    '{"move": "<move>A"}': "unreadable",
    '{"move": "A</move>"}': "illegal",
    '{"move": "C"}': "illegal",
    '{"move": ["A"]}': "unreadable",
    '{"move": "A': "unreadable",
    '{"move": "A"} oh no {"move": "B"}': "B",
    '{"move": "A"} oh no {"move": "place 4 gen': "unreadable",
    '{"move": "A"} oh no {"move": "': "unreadable",
    '{"move": "A"} oh no {"move" :': "unreadable",
    '{"move": "A"} oh no {"move" ': "unreadable",
    '{"move": "A"} oh no {"move': "unreadable",
    '{"move": "A"} oh no {\n"m': "unreadable",
    '{"move": "A", "mov': "unreadable",
    '{"move": "A"}, better: {"move": 5}': "unreadable",
    '{"move": "A"}, better: {"move": null}': "unreadable",
    '{"move": "A"}, better: {"move": ["B"]}': "unreadable",
    '{"move": "A"}, better: {"move": {"move": "B"}}': "B",
    '{"move": "A"}, better: {"MOVE": "B\\n"}': "unreadable",
    '{"move": 5}\nA': "unreadable",
    '{"move": 5, "more": {"move": "A"}}': "A",
    '{"move": "A", "m': "unreadable",
    '{"move": "A", "my": "B': "A",
    '{"move": "A"} is my "move"': "A",
    '```json\n{"move": "A"}\n```': "A",
    "```\n<move>A</move>\n```": "A",
    "```\nA\n```": "A",
    "````\n  A  \n````\n": "A",
    "I take\n\n**`A`**.": "A",
    "A\nit is": "unreadable",
    "A B": "unreadable",
    "C": "illegal",
    "": "unreadable",
    "\n": "unreadable",
    "\0<move>A</move>\0": "A",
    "<move>\ud800A</move>": "illegal",
}  # fmt: skip


def filled(answer: str, legal: list[str]) -> str:
    """The answer with moves for the letters that stand for them."""
    for letter, move in {"A": legal[0], "B": legal[1], "C": OTHER}.items():
        answer = re.sub(rf"(?<![A-Za-z]){letter}(?![A-Za-z])", move, answer)
    return answer


def letter(action: int, legal: list[str]) -> str:
    return "AB"[legal.index(actions.name(action))]


def in_environment(answers: list[str]) -> list[str]:
    env, found = euphoria_env.text_env(num_players=2, tries=2), []
    for answer in answers:
        env.reset(seed=1)
        agent = env.agent_selection
        legal = env.infos[agent]["legal"]
        env.step(filled(answer, legal))
        told, played = env.infos[agent]["answers"], env.game.decided()
        found += [letter(move.action, legal) for move in played[:1]] or [kind for kind in FAULTS if told[kind]]
    return found


def of_a_model(answers: list[str]) -> list[str]:
    found, game, rng = list[str](), Game(RULES, 1), np.random.default_rng(0)
    legal = game.legal()
    with model_server(lambda prompt, number: filled(answers[number - 1], legal)) as server:
        agent = load(f"llm:m@{server.url}?moves=list&tries=1&retries=0")
        assert isinstance(agent, LanguageModel)
        for _ in answers:
            before = agent.counts()
            action = agent.act(game.observation(0), game.mask(), rng, game)
            found += [kind for kind in FAULTS if agent.counts()[kind] > before[kind]] or [letter(action, legal)]
    return found


def by_mcp(answers: list[str]) -> list[str]:
    table, found = Table(Agents(), None), list[str]()
    for answer in answers:
        table.new_game(opponents=["random"], seed=1)
        seen, legal = table.look(), [line.partition(":")[0] for line in table.moves().split("\n")]
        try:
            table.play(filled(answer, legal))
        except ValueError as error:
            assert table.look() == seen and "`moves` lists your legal moves" in str(error)
            found.append("unreadable" if "no move was found" in str(error) else "illegal")
        else:
            assert table._session is not None
            found.append(letter(table._session.game_at().decided()[0].action, legal))
    return found


@pytest.mark.parametrize("user", [in_environment, of_a_model, by_mcp])
def test_answers_are_read_alike(user: Callable[[list[str]], list[str]]) -> None:
    assert dict(zip(ANSWERS, user([*ANSWERS]), strict=True)) == ANSWERS


def test_long_answers_are_read_to_their_end_by_all() -> None:
    answers = [f"<move>A</move>{'x' * 500_000}<move>B</move>", f"<move>A</move>{'x' * 500_000}<think>"]
    for user in (in_environment, of_a_model, by_mcp):
        assert user(answers) == ["B", "unreadable"]


def test_thinking_is_kept_apart_and_taken_out_once() -> None:
    for template in ANSWERS:
        answer = filled(template, [A, B])
        text, _ = split_thinking(answer)
        assert split_thinking(text)[0] == text and read_answer(text, [A, B]) == read_answer(answer, [A, B])
    assert split_thinking("<think>one</think>two<THINK>three</THINK>four") == ("two\xa0four", "one\nthree")
    assert split_thinking("one</think>two<think>three") == ("two<think>", "one\nthree")


@pytest.mark.parametrize("finish", ["length", "content_filter", "LENGTH", "max_tokens", "MAX_TOKENS"])
def test_an_answer_that_the_server_cut_is_unreadable(finish: str) -> None:
    game, rng = Game(RULES, 1), np.random.default_rng(0)
    bodies = [said(f"<move>{A}</move>", finish), said(f"<move>{B}</move>")]
    with model_server(lambda prompt, number: bodies[number - 1]) as server:
        agent = load(f"llm:m@{server.url}?moves=list&tries=2")
        assert isinstance(agent, LanguageModel) and actions.name(agent.act(game.observation(0), game.mask(), rng, game)) == B
        prompt = json.dumps(server.requests[1][0]["messages"])
    assert (agent.counts()["unreadable"], agent.counts()["legal_first"]) == (1, 0) and "it is cut off" in prompt


PARTS = [
    "<move>",
    "</move>",
    "<think>",
    "</think>",
    "<think>x</think>",
    "<move ",
    "< ",
    "<",
    "</",
    "</ ",
    "`",
    "<notes>",
    "</notes>",
]
PARTS += ["<notes>x</notes>", "{", '{"move":', '"move":"', '"move" ', "\n", " a", "\0", "\u4f60", "<move>x</move>", "< /", "\xa0"]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("begins", ["", "<", '"move"', "<notes>"])
def test_a_million_characters_are_read_at_once(begins: str, part: str) -> None:
    text = begins + part * (10**6 // len(part))
    read = read_answer(text, [A])
    assert read.fault and len(read.error) < 800 and len(_NOTES.sub(" ", text)) <= len(text)
