"""`make run`: trains a small player by self-play, rates it against the others, and writes a report with a game to replay."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

from euphoria_agents import Agent, charts, load
from euphoria_agents.commands.evaluate import match_report, match_row
from euphoria_agents.commands.tables import ResultTable
from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.files import write_whole
from euphoria_agents.matches.match import play_match
from euphoria_agents.matches.work import check_counts
from euphoria_agents.own_files import PLAYER, Owned
from euphoria_agents.progress import Progress
from euphoria_agents.training import config, trainer
from euphoria_env import Game, Rules
from euphoria_env.render import board_svg

FILES: Owned = {
    r"report\.md": rb"# A player trained by self-play\n",
    r"ppo\.safetensors": PLAYER[""],
    r"game\.record": rb'\{"format": "euphoria-record"',
    r"progress\.svg": rb".*prefers-color-scheme: dark",
    r"board\.svg": rb"<svg [^>]*><title>Euphoria, ",
}
PLAYERS = 4
DECISIONS = 100_000_000  # of the learner; the time is up before
HIDDEN = 64  # units of the afterstate head
OPPONENTS = {"random": 1.0, "weights": 1.0, "greedy": 0.25, "ppo": 1.0}  # with the share of the games: greedy is slow

CURVE = "weights"  # the opponent in the chart
OTHERS, TRIED = ("greedy", "weights", "random"), 16  # the opponents in the game that is shown, the best of so many


@dataclasses.dataclass
class Options:
    """Trains a small player by self-play, rates it against the others, and writes a report with a game to replay."""

    minutes: float = option(3.0, "how long to train at most")
    games: int = option(400, "games in each match")
    out: Path = option(Path("runs/demo"), "folder of the report; an earlier report there is replaced", files=FILES)
    seed: int = option(1, "equal seeds give equal games; training stops by the clock")


def train_one(options: Options, folder: Path, console: Console) -> str:
    """Trains for a while into a folder, and returns a summary."""
    choices = config.Options(
        run=folder, players=[PLAYERS], total_minutes=options.minutes, seed=options.seed, decisions=DECISIONS,
        rating_games=0, save_every=10, baselines=["weights"], win_probs_games=500, afterstates=HIDDEN,
    )  # fmt: skip
    start = time.perf_counter()
    trained = trainer.train(choices, console)
    seconds = time.perf_counter() - start
    included = "" if trained.interrupted else ", the win probabilities of all seats included"
    return f"{trained.decisions:,} decisions in {seconds:.0f} s{included}"


def rate(console: Console, options: Options, players: dict[str, Agent]) -> ResultTable:
    """Returns the results of each player alone against three of each opponent, in games with the same seeds."""
    report = match_report(f"Alone against three; among equals each would win {1 / PLAYERS:.0%}")
    for opponent, share in OPPONENTS.items():
        for name, agent in players.items():
            games = max(PLAYERS, int(share * options.games))
            with Progress(console, f"{name} against {opponent}", "games", games) as progress:
                line_up = [agent, *[load(opponent)] * (PLAYERS - 1)]
                result = play_match(line_up, games, Rules(num_players=PLAYERS), options.seed, progress.advance)
            report.rows.append(match_row(name, f"{PLAYERS - 1} x {opponent}", result))
    report.show(console)
    return report


def curve_games(options: Options) -> int:
    """Returns the number of games for a point of the chart."""
    return max(PLAYERS, options.games // 4)


def draw_progress(console: Console, options: Options, run: Path) -> str:
    """Returns a chart, as SVG, of the games that the player and its past selves win."""
    past = sorted((run / "league").iterdir())
    written = [file.stat().st_mtime for file in [*past, run / "state.safetensors"]]  # when each had learned what it knows
    players = [load(f"ppo:{file}") for file in [*past, run / "ppo.safetensors"]]
    results, games = [], curve_games(options)
    with Progress(console, f"while it learned, against {CURVE}", "games", len(players) * games) as bar:
        for player in players:
            results.append(play_match([player, *[load(CURVE)] * (PLAYERS - 1)], games, None, options.seed, bar.advance))
    minutes, scores = [(time - written[0]) / 60 for time in written], [result.scores[0] for result in results]
    with charts.chart(6, 3) as figure:
        axes = figure.subplots()
        charts.draw_rates(axes, minutes, [(score.rate, score.interval) for score in scores], "the player")
        charts.finish(axes, f"Games won alone against three of {CURVE}", "minutes of training", 1 / PLAYERS)
        return charts.svg_text(figure)


def best_game(options: Options, player: Path) -> tuple[str, Game]:
    """Returns the game, as a record and played, in which the player on the first seat ranks best, the shortest of them."""
    line_up = [load(f"ppo:{player}"), *map(load, OTHERS)]
    records = [play_match(line_up, 1, seed=options.seed + k, records=True).records[0] for k in range(TRIED)]
    return min(((text, Game.from_record(text)) for text in records), key=lambda one: (rank(one[1]), one[1].turn))


def rank(game: Game) -> int:
    """Returns the rank of the first seat; the last one, if the game was cut off."""
    return game.ranking[0] if game.ranking else PLAYERS


def write_report(options: Options, summary: str, ratings: ResultTable, chart: str, player: Path) -> Path:
    """Writes report.md with its pictures, the player, and a game of it against three others, game.record."""
    out = options.out
    record, game = best_game(options, player)
    board = board_svg(game, names=["the player", *OTHERS], theme="print")
    files = {"ppo.safetensors": player.read_bytes(), "game.record": record, "progress.svg": chart, "board.svg": board}
    for name, content in files.items():
        write_whole(out / name, content)
    lines = [
        "# A player trained by self-play",
        "",
        f"`make run` trained it in games of {PLAYERS}, with seed {options.seed}: {summary}.",
        "",
        f"![Games won against three of {CURVE}, by minutes of training](progress.svg)",
        "",
        f"*{curve_games(options):,} games a point, with 95 % intervals.*",
        "",
        ratings.markdown(),
        '"95 %" is Wilson\'s interval; "paired" takes the four games of a deal as one observation; "rank" is the mean rank, 1 is',
        'best; "ms" is the time of a decision. `ppo` is the player that ships, trained for longer with all numbers of players.',
        "",
        "![The board at the end of its best game](board.svg)",
        "",
        f"*The best of {TRIED} games against {', '.join(OTHERS)}: rank {rank(game)} in turn {game.turn}.*",
        "",
        "The player is `ppo.safetensors`, this game `game.record` (it sits on the first seat):",
        "",
        "```sh",
        f".venv/bin/euphoria serve {out / 'game.record'} --browser",
        f".venv/bin/euphoria replay {out / 'game.record'} --every turn",
        f".venv/bin/euphoria evaluate --agent ppo:{out / 'ppo.safetensors'} --against weights ppo --players 2 4",
        "```",
        "",
    ]
    write_whole(out / "report.md", "\n".join(lines))
    return out / "report.md"


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    check_counts(games=options.games, seed=options.seed)
    console.print("euphoria-env: trains a player, rates it, writes a report. Ctrl-C ends the training early, or stops.")
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        console.print(Rule(f"self-play, for {options.minutes:g} minutes at most", align="left"))
        summary = train_one(options, run, console)
        console.print(summary)
        console.print(Rule("the player before and after", align="left"))
        files = {"untrained": run / "league" / "000000.safetensors", "trained": run / "ppo.safetensors"}
        ratings = rate(console, options, {name: load(f"ppo:{file}") for name, file in files.items()})
        chart = draw_progress(console, options, run)
        report = write_report(options, summary, ratings, chart, files["trained"])
    console.print(f"{report} has the results; one of its games, in the browser:", soft_wrap=True)
    console.print(f".venv/bin/euphoria serve {options.out / 'game.record'} --browser", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    command(main)
