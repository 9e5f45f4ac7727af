"""`make run`: games between simple players, three minutes of training, and what they were good for."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import tempfile
import time
from pathlib import Path

import numpy as np
from options import option, parse_options
from rating import add_rating, rate, rating_table, warm_up
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from agents import Agent, load
from euphoria_env import Game, Rules

PLAYERS = 4
DECISIONS = 1_000_000  # of the learner, unless the time is up before
FIRST_LINES, LAST_LINES = 14, 8  # of the record


@dataclasses.dataclass
class Options:
    games: int = option(400, "games in each match")
    minutes: float = option(3.0, "how long to train at most")
    seed: int = option(1, "equal seeds give equal games; training stops by the clock")


def heading(console: Console, number: int, text: str) -> None:
    """A line between the parts."""
    console.print()
    console.print(Rule(f"[bold]{number}  {text}", align="left"))


def prepare(console: Console) -> None:
    """Compiles the engine, once after each installation."""
    start = time.perf_counter()
    with console.status("compiling the engine (once, about a minute) ..."):
        warm_up()
        play_one([load("random"), load("weights")], seed=0)
    seconds = time.perf_counter() - start
    console.print(f"engine ready after {seconds:.1f} s" + (" (compiled; from now on it is cached)" if seconds > 10 else ""))


def play_one(agents: list[Agent], seed: int) -> Game:
    """One game, to its end."""
    game, rng = Game(Rules(num_players=len(agents)), seed=seed), np.random.default_rng(seed)
    while not (game.over or game.truncated):
        agent = agents[game.player]
        game.play(agent.act(game.observation(game.player), game.mask(), rng))
    return game


def simple_players(console: Console, options: Options) -> None:
    """The roulette player of BOTS against three that play at random."""
    table = rating_table(f"{PLAYERS} players; equally good ones would win {1 / PLAYERS:.0%} each")
    for opponent, result in rate(console, "weights", load("weights"), ["random"], PLAYERS, options.games, options.seed):
        add_rating(table, "weights", f"{PLAYERS - 1} x {opponent}", result)
    console.print(table)


def training(console: Console, options: Options) -> Agent:
    """Trains for a while; prints the win rates before and after, and returns the trained player."""
    import train  # brings PyTorch along: not before it is needed

    with tempfile.TemporaryDirectory() as folder:
        choices = train.Options(
            run=Path(folder), players=[PLAYERS], minutes=options.minutes, seed=options.seed,
            decisions=DECISIONS, envs=512, rating_games=0, snapshot=10,
        )  # fmt: skip
        start = time.perf_counter()
        run = train.train(choices, console)
        seconds = time.perf_counter() - start
        before = load(f"ppo:{folder}/league/000000.safetensors")
        after = load(f"ppo:{folder}/ppo.safetensors")
    steps = int(run.learner.num_timesteps)
    console.print(f"{steps:,} decisions of the learner in {seconds:.0f} s: {steps / seconds:,.0f} a second, updates included")
    compare(console, options, before, after)
    return after


def compare(console: Console, options: Options, before: Agent, after: Agent) -> None:
    """Both networks against the same opponents in games with the same seeds."""
    table = rating_table("The network before and after")
    for opponent in ("random", "weights"):
        for name, agent in (("untrained", before), ("trained", after)):
            for _, result in rate(console, name, agent, [opponent], PLAYERS, options.games, options.seed):
                add_rating(table, name, f"{PLAYERS - 1} x {opponent}", result)
        table.add_section()
    console.print(table)


def show_record(console: Console, player: Agent, seed: int) -> None:
    """A game of the trained player, or of whoever takes its seat, as a record."""
    names = ["ppo", "weights", "random", "weights"]
    game = play_one([player, load("weights"), load("random"), load("weights")], seed)
    lines = game.to_record().splitlines()
    left_out = len(lines) - FIRST_LINES - LAST_LINES
    if left_out > 0:
        lines[FIRST_LINES:-LAST_LINES] = [f"... {left_out:,} lines ..."]
    text = Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
    console.print(Panel(text, title=f"game.to_record(): {', '.join(names)}", title_align="left"))
    console.print(f"after {game.turn} turns and {len(game.history)} decisions:")
    table = Table("seat", "player", "rank", box=SIMPLE_HEAD)
    for seat, rank in enumerate(game.ranking or []):
        table.add_row(str(seat), names[seat], str(rank))
    console.print(table)


def run(console: Console, options: Options) -> None:
    console.print(
        "[bold]euphoria-env[/]: games, training, a record. Ctrl-C stops; during training it goes on with what is learnt."
    )
    prepare(console)
    heading(console, 1, f"{options.games} games with {PLAYERS} players: weights against random")
    simple_players(console, options)
    heading(console, 2, f"{options.minutes:g} minutes of MaskablePPO")
    trained = training(console, options)
    heading(console, 3, "one game")
    show_record(console, trained, options.seed)


def main() -> None:
    console = Console()
    try:
        run(console, parse_options(Options, __doc__))
    except KeyboardInterrupt:
        console.print("\nstopped")
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
