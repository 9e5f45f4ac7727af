"""The English texts that a server sends to its pages, for tests of the catalogues that translate them."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Iterator

from euphoria_agents.play.web.app import AGENTS
from euphoria_agents.play.web.board_data import facts
from euphoria_env import Game
from euphoria_env.render.board import board_fragment
from euphoria_env.render.view import view_of
from euphoria_env.words import legal_moves, log, question
from tests.tools.playing import all_rules, prefer, random_move
from tests.tools.positions import any_position

NAMES = ("Xan", "Yul", "Qin", "Wynn", "Zod", "Vix")
FACTS = facts(AGENTS)
_TITLES = {name: one["title"] for name, one in (FACTS["recruits"] | FACTS["tiles"]).items()}


def texts_of_games(positions: int, seed: int = 5) -> set[str]:
    """All texts of games by all rules, and of games that begin at random positions."""
    rng = random.Random(seed)
    known = [*FACTS["spaces"].values(), *FACTS["tiles"].values(), *FACTS["recruits"].values()]
    found = {text for one in known for text in (one["title"], one["words"])}
    found.update(FACTS["agent_words"].values(), FACTS["dilemmas"].values(), (one["title"] for one in FACTS["regions"]))
    for rules in all_rules():
        found |= _texts_of_game(Game(rules, seed=rng.randrange(10**6)), rng, 120, shown=0.2)
    for _ in range(positions):
        found |= _texts_of_game(Game.from_dict({**any_position(rng), "seed": rng.randrange(1000)}), rng, 12, shown=0.5)
    return found - {""}


def _texts_of_game(game: Game, rng: random.Random, decisions: int, shown: float) -> set[str]:
    """The texts of a game: of a share of its decisions, and of the log."""
    names, policy, found = NAMES[: game.rules.num_players], rng.choice([prefer, random_move]), set[str]()
    for _ in range(decisions):
        if rng.random() < shown or not game.legal():
            found.update(_texts_of_decision(game, names))
        if not game.legal():
            break
        game.play(policy(game, rng))
    return found.union(*(log(game, seat, names) for seat in (None, 0, 1)))


def _texts_of_decision(game: Game, names: tuple[str, ...]) -> Iterator[str]:
    for move in legal_moves(game, game.player, names):
        yield from (move.group, move.text, move.cost, move.gain, move.risk)
    for seat in (game.player, None):
        view = view_of(game, seat, names)
        yield from (question(game, seat, names), view.headline, view.offer)
        for player in view.players:
            yield from (re.sub(r"[a-z]+(_[a-z]+)*", lambda name: _TITLES.get(name[0], name[0]), one) for one in player.asides)
            yield from player.notes
    drawing = board_fragment(view, names=names)
    yield from map(html.unescape, re.findall(r'aria-label="([^"]+)"', drawing) + re.findall(r"<text[^>]*>([^<]+)<", drawing))
