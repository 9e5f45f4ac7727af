"""The agent: asks the model in words for each decision, reads its answers, and counts everything."""

from __future__ import annotations

import copy
import re
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from euphoria_agents.agent import Agent
from euphoria_agents.players.llm.client import ModelClient, ModelFailed, Reply
from euphoria_agents.players.llm.spec import ModelSpec, read_spec
from euphoria_agents.players.llm.transcript import Transcripts
from euphoria_env import actions
from euphoria_env.game import Game
from euphoria_env.text import observation_text, read_answer, rules_text

_NOTES = re.compile(r"<notes>([^<]*(?:<(?!/?notes>)[^<]*)*)</notes>", re.ASCII | re.IGNORECASE)  # linear: it stops at each tag
_MOST_NOTES = 4000  # characters of notes that are kept
_ASK_NOTES = "You may also write <notes>...</notes>: you read them again at your next decision, in place of the earlier ones."
_MILLION = 1e6


class Settings(NamedTuple):
    """How the models of this process are asked, and what they may use up.

    Attributes:
        concurrency: the most requests at once.
        transcripts: the folder of the transcripts; None: none are written.
        max_tokens, max_cost: the most tokens and dollars of all requests, those that are under way not counted; None: no limit.
    """

    concurrency: int = 8
    transcripts: Path | None = None
    max_tokens: int | None = None
    max_cost: float | None = None


class Counts:
    """Counts the tokens and dollars that the models of this process use; any thread may call it."""

    def __init__(self) -> None:
        self.settings, self.tokens, self.dollars, self._lock = Settings(), 0, 0.0, threading.Lock()

    def add(self, tokens: int, dollars: float) -> None:
        """Counts an answer."""
        with self._lock:
            self.tokens += tokens
            self.dollars += dollars

    def check(self) -> None:
        """Raises a `ModelFailed` if a budget is spent."""
        settings, kept = self.settings, "what was finished is kept by --out, answers by --transcripts"
        if settings.max_tokens is not None and self.tokens >= settings.max_tokens:
            raise ModelFailed(f"the budget of {settings.max_tokens:,} tokens is spent: go on with a larger --max-tokens; {kept}")
        if settings.max_cost is not None and self.dollars >= settings.max_cost:
            raise ModelFailed(f"the budget of {settings.max_cost:g} dollars is spent: go on with a larger --max-cost; {kept}")


SPENT = Counts()


class LanguageModel(Agent):
    """Plays what a language model answers to the prompt of a decision (`euphoria_env.text`).

    Args:
        spec: the model, its server, and how it is asked.

    Raises:
        ValueError: the folder of the transcripts holds something else.
    """

    # It does not set `keeps_games_apart`: its notes belong to a game and a seat, but nobody knows what the server remembers.
    needs_game = needs_story = costs_money = True

    def __init__(self, spec: ModelSpec) -> None:
        self._spec, self._client, self._lock = spec, ModelClient(spec), threading.Lock()
        self._transcripts = Transcripts(SPENT.settings.transcripts, self._client.parameters)
        self._notes: dict[str, str] = {}  # by the name of the game
        names = ("decisions", "answers", "legal_first", "illegal", "unreadable", "random", "tokens_in", "tokens_out")
        self._counts: dict[str, float] = dict.fromkeys(names, 0) | {"dollars": 0.0}

    def __deepcopy__(self, _: Any) -> LanguageModel:
        """Returns another object for a further seat, which counts with this one: the server is the same."""
        return copy.copy(self)

    def counts(self) -> dict[str, float]:
        """Returns the numbers of decisions and answers by kind, tokens and dollars; answers from transcripts are counted too."""
        return dict(self._counts)

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`.

        Raises:
            ValueError: no game is given.
            ModelFailed: the server gives no answer, or a budget is spent.
        """
        if game is None:
            raise ValueError("a language model needs a game")
        return int(self.act_games([game], rng)[0])

    def act_games(self, games: Sequence[Game], rng: np.random.Generator) -> np.ndarray:
        """Chooses the moves of decisions in several games, asking for as many at once as the settings allow; int64 (N,).

        Raises:
            ModelFailed: as for `act`; answers to the other decisions are in the transcripts.
        """
        chances = rng.random(len(games))
        with ThreadPoolExecutor(max(1, min(len(games), SPENT.settings.concurrency))) as pool:
            return np.array(list(pool.map(self._decide, games, chances)), np.int64)

    def _decide(self, game: Game, chance: float) -> int:
        """Returns the move of a decision; `chance`, from [0, 1), draws it if all answers were wrong."""
        options, legal, error = self._spec.text, game.legal(), ""
        for tries in range(1, options.tries + 1):
            messages = self._messages(game, error)
            move, fault, error = self._answered(game, messages, legal, tries)
            if not fault:
                self._count(decisions=1, legal_first=int(tries == 1))
                return actions.parse(move)
        if options.illegal == "raise":
            raise ModelFailed(f"llm:{self._spec.model}: no legal move in {options.tries} answers; the last one: {error}")
        self._count(decisions=1, random=1)
        return actions.parse(legal[int(chance * len(legal))])

    def _messages(self, game: Game, error: str) -> list[dict[str, str]]:
        """Returns the conversation that asks for a decision: the rules, then the prompt of the seat."""
        text, story = self._spec.text, game.story
        system = rules_text(text.rules, game.rules)
        told = story.lines if story else ()
        prompt = observation_text(game, game.player, text, told, error)
        if self._spec.options.notes and story:  # without its name, a game would be given the notes of others
            notes = self._notes.get(story.game, "")
            prompt = "\n\n".join(filter(None, [f"## Your notes\n{notes}" if notes else "", prompt, _ASK_NOTES]))
        found = [{"role": "system", "content": system}] if system else []
        return [*found, {"role": "user", "content": prompt}]

    def _answered(self, game: Game, messages: list[dict[str, str]], legal: list[str], tries: int) -> tuple[str, str, str]:
        """Asks once; returns the move, or what is wrong with the answer, as `euphoria_env.text.Answer` has it."""
        story = game.story
        name, began = story.game if story else "", time.perf_counter()
        reply = self._transcripts.known(name, messages)
        new = reply is None
        if reply is None:
            SPENT.check()
            reply = self._client.ask(messages)
        notes = self._spec.options.notes
        answer = read_answer(_NOTES.sub(" ", reply.text) if notes else reply.text, legal, reply.cut)
        if new:
            SPENT.add(reply.tokens_in + reply.tokens_out, self._price(reply))
            if name:
                self._transcripts.add(name, messages, reply, tries, answer.fault, time.perf_counter() - began)
        if name and notes and (found := _NOTES.search(reply.text)):
            self._notes[name] = found[1].strip()[:_MOST_NOTES]
        self._count(answers=1, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out, dollars=self._price(reply))
        if answer.fault:
            self._count(**{answer.fault: 1})
        return answer

    def _price(self, reply: Reply) -> float:
        options = self._spec.options
        return (reply.tokens_in * options.price_in + reply.tokens_out * options.price_out) / _MILLION

    def _count(self, **more: float) -> None:
        with self._lock:
            for name, number in more.items():
                self._counts[name] += number


def make_llm(argument: str = "") -> LanguageModel:
    """Returns the agent of a spec; `argument` is what follows `llm:`.

    Raises:
        ValueError: see `read_spec` and `LanguageModel`.
    """
    return LanguageModel(read_spec(argument))
