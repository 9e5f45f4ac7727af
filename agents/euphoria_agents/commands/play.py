"""`euphoria play`: plays a game in the terminal."""

from __future__ import annotations

from contextlib import closing

from euphoria_agents.commands.compile import prepare
from euphoria_agents.commands.shared_arguments import TableOptions
from euphoria_agents.files import read_text
from euphoria_agents.play import AGENT_NAMES, Agents, Seat, Session, load_game
from euphoria_agents.play.seats import with_distinct_names
from euphoria_agents.play.terminal import Screen, TerminalGame
from euphoria_agents.registry import load
from euphoria_env import Game, Rules

PERSON, OPPONENT = "me", "ppo"


def run(options: TableOptions) -> None:
    """Plays the game that the options describe.

    Raises a `ValueError` if an option or the saved game is wrong, an `EOFError` if the input ends before the game does.
    """
    for spec in options.allow:
        load(spec)
    named = options.seats or []
    with closing(Agents([*options.allow, *(spec for spec in named if not _is_person(spec))])) as agents:
        if options.load is not None:
            if named or options.players or options.seed is not None or options.practice or Rules(**options.game) != Rules():
                raise ValueError("--load takes seats, seed and options of the game from the file: name no others")
            read_text(options.load)
            prepare()
            session = load_game(options.load, agents)
        else:
            seats = with_distinct_names(seats_of(named, options.players))
            rules = Rules(num_players=len(seats), **options.game)
            for spec in {seat.spec for seat in seats if seat.spec}:
                agents.check(spec)
            prepare()
            session = Session.of(Game(rules, options.seed), seats, options.practice, agents)
        TerminalGame(Screen(), session, options.load).run()


def seats_of(named: list[str], players: int | None) -> list[Seat]:
    """Returns the players by seat; the first ones are named: "me", "me:NAME", or the spec of an agent; at least one person.

    Raises a `ValueError` if more seats are named than the `players` there are (None: as many, at least 2), or a name is wrong.
    """
    named = named or [PERSON]
    n = max(2, len(named)) if players is None else players
    if len(named) > n:
        raise ValueError(f"--seats names {len(named)}, more than the {n} of --players")
    return [_seat(k, spec) for k, spec in enumerate([*named, *[OPPONENT] * (min(n, 7) - len(named))])]


def _is_person(spec: str) -> bool:
    return spec.partition(":")[0] == PERSON


def _seat(k: int, spec: str) -> Seat:
    if not _is_person(spec):
        return Seat(AGENT_NAMES[k % len(AGENT_NAMES)], spec)
    return Seat(spec.partition(":")[2] or f"Player {k}")
