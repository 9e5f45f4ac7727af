"""The options of all commands but `train`; this module imports without any extra."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from euphoria_agents import own_files as own
from euphoria_agents.dataclass_arguments import option, positional, rules_options

EVERY = ("decision", "turn", "end")
GROUPS = {
    "seat": "the seat of the agent",
    "first": "its place after the player who began, 0 for that player",
    "players": "the number of players",
    "turns": "the length of the game in turns, in steps of 50",
}
EQUAL_SEEDS = "equal seeds give equal games, if no agent looks at the clock or searches in threads; by default 128 random bits"
SPEED_GROUPS = ("engine", "batch", "vector", "single", "game", "aec", "picture")


@dataclasses.dataclass(kw_only=True)
class PlayOptions:
    """Options that say where games are played: in processes or on a cluster."""

    processes: int = option(os.cpu_count() or 1, "the number of games at once; any number gives the same results")
    ray: bool = option(False, "play on a Ray cluster instead of in processes")
    ray_address: str | None = option(None, "a running cluster, such as auto or host:6379; by default this machine alone")


@dataclasses.dataclass(kw_only=True)
class MatchOptions(PlayOptions):
    """The options common to `evaluate` and `tournament`."""

    players: list[int] = option([2], "numbers of players, 2 to 6")
    games: int = option(400, "the least number of games of each agent in each match, at each number of players")
    seed: int | None = option(None, EQUAL_SEEDS)
    out: Path | None = option(None, "folder for results; finished games in it are not played again", files=own.MATCHES)
    records: Path | None = option(None, "folder that keeps every game as a record, for `euphoria replay`", files=own.RECORDS)
    game: dict[str, Any] = rules_options()


@dataclasses.dataclass
class EvaluateOptions(MatchOptions):
    """Compares an agent with others: the same seeds from every seat, win rates and mean ranks with intervals, time per decision.

    In each match all other seats are played by one opponent. "95 %" is Wilson's interval, as if all games were independent;
    "95 % paired" takes the mean over the seats of a seed as one observation, since these games are not independent.
    """

    agent: str = option("weights", "the agent, as for euphoria_agents.load")
    against: list[str] = option(["random"], "opponents, one match with each")
    by: list[str] = option(
        [], "also the wins by " + "; ".join(f"{name}: {meaning}" for name, meaning in GROUPS.items()), choices=[*GROUPS]
    )
    json: Path | None = option(None, "write all figures as JSON", files=own.EVALUATION)
    concurrency: int = option(8, "language models: the most requests at once")
    transcripts: Path | None = option(
        None,
        "language models: folder that keeps what they were asked and answered; "
        "the same command continues from it, and asks nothing twice",
        files=own.TRANSCRIPTS,
    )
    max_tokens: int | None = option(None, "language models: end when so many tokens are used")
    max_cost: float | None = option(None, "language models: end when so many dollars are spent, by the prices in the spec")


@dataclasses.dataclass
class TournamentOptions(MatchOptions):
    """Many agents against each other: ratings, win rates and ranks with intervals, time per decision.

    With 2 players everybody meets everybody, with more the line-ups are drawn, so that all sit in equally many; every seed is
    played from every seat. With --out the results are kept: an interrupted or killed tournament is resumed by the
    same command, and with more --games it goes further. Ratings are openskill's (Plackett-Luce); all begin with 25 ±16.3.
    """

    agents: list[str] = option(["random", "weights"], "two or more, as for euphoria_agents.load")


@dataclasses.dataclass(kw_only=True)
class CollectOptions(PlayOptions):
    """Plays games and writes every decision as a row of Parquet, to learn from; `euphoria_agents.data.load` reads them.

    Each game seats all agents in random order, as many times as they fit, and fills the remaining seats by lot.
    Equal commands give equal files, whatever the number of processes. An interrupted command continues when it is called
    again. docs/data.md explains the columns, and has recipes.
    """

    agents: list[str] = option(
        ["weights"], "the players, as for euphoria_agents.load; naming one twice gives it twice as many seats"
    )
    players: int = option(2, "number of players, 2 to 6")
    games: int = option(1000, "number of games")
    seed: int | None = option(None, EQUAL_SEEDS)
    reward: str = option("win", "what the column `reward` counts, by its name in docs/environment.md")
    out: Path = option(Path("runs/data"), "folder of the data set; finished parts are not played again", files=own.DATA_SET)
    game: dict[str, Any] = rules_options()


@dataclasses.dataclass(kw_only=True)
class BenchmarkOptions(PlayOptions):
    """Judges an agent by a task with a fixed protocol: opponents, deals, seats and limits are always the same.

    The folder gets result.json, row.md (a row of Markdown), games.jsonl and times.json; all except the times are equal for equal
    agents. An interrupted command continues when it is called again. `euphoria benchmark submit FOLDER` makes the result an entry
    of the leaderboard. docs/benchmark.md lists the tasks.
    """

    task: str = positional("the task: duel-v2, partners-v2, short-v2, cards-v2, trade-v2, text-v1, or one of version 1")
    agent: str = option("ppo", "the agent to judge, as for euphoria_agents.load")
    out: Path = option(Path("runs/benchmark"), "folder of the result", files=own.RESULT, unless="check")
    name: str | None = option(None, "the agent's name in the result; by default its spec")
    unrepeatable: bool = option(False, "also judge an agent that plays differently when it is asked again")
    check: Path | None = option(
        None,
        "judge nothing, but play all games of this result of the same task and agent again, and compare",
        files=own.READ,
        metavar="RESULT",
    )


@dataclasses.dataclass(kw_only=True)
class SubmitOptions:
    """Makes a result an entry of the leaderboard, in a clone of the repository, and says what to send.

    The entry is checked as CI checks it, and the leaderboard is drawn again; bad results change nothing. If the agent was
    trained, --decisions, --seed and --command say how; the file of a player of `euphoria train` says it itself.
    """

    folder: Path = positional("the folder of the result: --out of `euphoria benchmark TASK`", own.READ)
    code: str | None = option(None, "where the agent's code is: an address, or a path in the repository", metavar="ADDRESS")
    paper: str | None = option(None, "the same of a paper", metavar="ADDRESS")
    decisions: int | None = option(None, "the decisions of the learner in training, all seats together")
    seed: int | None = option(None, "the seed of the training")
    command: str | None = option(None, "the command of the training", metavar="TEXT")
    hours: float | None = option(None, "the processor time of the training in hours, all cores together")


@dataclasses.dataclass(kw_only=True)
class JudgeOptions(PlayOptions):
    """Has the agent of an entry play its games again, and as many on deals drawn now, which nobody could prepare for.

    The games of the entry must end as it says. The score on the fresh deals is compared with the public one, printed, and written
    into the entry with the seed of the deals, whole or not at all.
    """

    entry: Path = positional("a file of `benchmarks/results`, or the folder of a result", own.READ)
    agent: str | None = option(None, "the agent, if it lies elsewhere than it did; its files must be the same", metavar="SPEC")
    seed: int | None = option(None, "the seed of the fresh deals, to repeat a judging; by default 128 random bits")


@dataclasses.dataclass
class TableOptions:
    """Plays a game in the terminal: people and agents at one table.

    Numbers choose moves, ? lists what else can be typed. If several people share the screen, it is cleared before hidden cards
    are shown. docs/play.md has more.
    """

    seats: list[str] | None = option(
        None,
        "the players by seat: me, me:NAME for several people, or agents as for euphoria_agents.load; by default me ppo",
    )
    players: int | None = option(None, "number of players, 2 to 6; ppo takes the seats that are not named")
    seed: int | None = option(None, "equal seeds give equal games; by default a random one")
    practice: bool = option(False, "any decision can be taken back")
    load: Path | None = option(None, "continue a game that was saved", files=own.READ)
    allow: list[str] = option([], "further agents that may be named at the table or in the file, such as module:Name or ppo:FILE")
    game: dict[str, Any] = rules_options()


@dataclasses.dataclass
class McpOptions:
    """Serves games to language models by the Model Context Protocol (MCP), on stdin and stdout; a client starts it.

    Its tools begin a game against agents, tell what the client's seat may know, list moves with their consequences, play them,
    and explain rules and cards. docs/language-models.md shows how clients are set up.
    """

    hints: str | None = option(None, "the agent that gives hints, as for euphoria_agents.load; by default nobody does")
    allow: list[str] = option([], "further agents that the client may name, such as module:Name or ppo:FILE")


@dataclasses.dataclass
class ReplayOptions:
    """Shows a recorded game in the terminal: moves, random outcomes, and the board at chosen points; or writes it as a page.

    --html writes one page that opens anywhere from a file: the board at every decision, the log and, with --analysis, the chances
    and mistakes. It holds what --view may know and nothing else.
    """

    record: Path = positional("a file from --records of a tournament, or from game.to_record()", own.READ)
    start: int = option(0, "begin with decision N; the first is 0", flag="--from", metavar="N")
    decision: int | None = option(None, "show decision N alone: the board before it, and the move", metavar="N")
    every: str = option("turn", "when the board is printed; at the end it always is", choices=EVERY, metavar=None)
    svg: Path | None = option(None, "also write each board that is shown as a picture", files=own.BOARDS)
    html: Path | None = option(None, "write the game as one page, and show nothing here", files=own.PAGE)
    analysis: Path | None = option(None, "the analysis of this game by euphoria analyse --out, for the page", files=own.READ)
    view: str | None = option(
        None,
        "the view on the page: everybody (the public part), movers (each decision in the view of its player; "
        "all secrets), or the number of a seat; by default everybody, with --analysis movers",
        metavar="WHO",
    )
    names: list[str] | None = option(None, "the players' names on the page, in the order of their seats")
    language: str | None = option(None, "the language of the page, such as es; by default English", metavar="CODE")


@dataclasses.dataclass
class ServeOptions:
    """Serves games in the browser: to play with people and agents, to watch and to study.

    Everything is kept in one file, and continues after a restart. By default only this machine can reach it; to
    play with others, give --host the address of this machine, and --hosts its other names. docs/play.md has more.
    """

    record: Path | None = positional("the record of a game to study: its page is opened first", own.READ, default=None)
    browser: bool = option(False, "also open the page in this machine's browser")
    host: str = option("127.0.0.1", "the address to listen at")
    port: int = option(8765, "the port; 0: any free one")
    hosts: list[str] = option([], "further names by which browsers may call this server, without port")
    data: Path = option(Path("euphoria.sqlite"), "the file that keeps games and studies", files=own.GAMES_SERVED)
    agents: list[str] = option([], "agents of your own that may play, as for euphoria_agents.load")


@dataclasses.dataclass
class AnalyseOptions:
    """Has an agent judge every decision of a recorded game: the best moves, the cost of mistakes, and luck.

    Regret is the value of the best move less that of the move played, as a chance to win; luck is the effect of dice and cards
    on that chance. `euphoria replay --html --analysis` draws the chances over the game.
    """

    record: Path = positional("a file from --records of a tournament, or from game.to_record()", own.READ)
    agent: str = option("mcts:300:ppo", "the judge, as for euphoria_agents.load; regrets need one with values")
    out: Path | None = option(None, "file for the analysis, as JSON lines", files=own.ANALYSIS)
    seed: int = option(0, "equal seeds give equal analyses, if the agent neither looks at the clock nor searches in threads")
    processes: int = option(os.cpu_count() or 1, "the number of decisions at once; any number gives the same results")
    threshold: float = option(0.06, "a turn that costs more is a mistake")
    playouts: str | None = option(
        None, "check each mistake by pairs of playouts of ppo: a number, such as 1000, or a time, such as 5s", metavar="BUDGET"
    )


@dataclasses.dataclass
class SpeedOptions:
    """Measures every layer of the environment: medians of several repeats of uniformly random play, in processor time.

    Layers take turns, so that their ratios hold on a busy machine too; figures of different runs differ by its load. The medians
    are printed at the end, or at Ctrl-C, which writes nothing.
    """

    groups: list[str] = option(list(SPEED_GROUPS), "which layers", choices=SPEED_GROUPS, metavar="NAME")
    players: list[int] = option([4], "numbers of players, 2 to 6")
    sizes: list[int] = option([1, 64, 1024], "numbers of games side by side")
    seconds: float = option(0.2, "of each repeat")
    repeats: int = option(5, "the number of repeats")
    seed: int = option(0, "of games and moves")
    json: Path | None = option(None, "write all figures, versions and the machine as JSON", files=own.MEASUREMENT)


@dataclasses.dataclass
class CompileOptions:
    """Compiles the engine, the environments, the agents and the training, once after each installation.

    The compiled code is kept, so that nothing has to wait for the compiler later; existing code is not compiled again.
    """
