"""The subcommands of `euphoria`: a table, and a module for each, which is imported when the command is called.

A name of two words is a subcommand of a subcommand; its module has an underscore in place of the blank.
"""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
from typing import Any, NamedTuple

from euphoria_agents.dataclass_arguments import parse_options
from euphoria_agents.error_text import missing_library

ARGUMENTS = "euphoria_agents.commands.shared_arguments"
TRAINING = "euphoria_agents.training.config"


class Subcommand(NamedTuple):
    """A subcommand, which the function `run` in the module of its name executes."""

    help: str  # what it does, in a line
    options: str  # "module:dataclass" of its options, in a module that imports without any extra
    extra: str = "play"  # the extra of the package that brings `needs`
    needs: str = "rich"  # a library that it needs; empty: none


COMMANDS = {
    "train": Subcommand("train a player by self-play", f"{TRAINING}:Options", "train", "torch"),
    "curves": Subcommand("draw how strong players became in training", f"{ARGUMENTS}:CurvesOptions", needs="matplotlib"),
    "evaluate": Subcommand("compare an agent with others, with intervals", f"{ARGUMENTS}:EvaluateOptions"),
    "tournament": Subcommand("many agents against each other, with ratings", f"{ARGUMENTS}:TournamentOptions"),
    "benchmark": Subcommand("judge an agent by a task with a fixed protocol", f"{ARGUMENTS}:BenchmarkOptions"),
    "benchmark submit": Subcommand("make a result an entry of the leaderboard", f"{ARGUMENTS}:SubmitOptions"),
    "benchmark judge": Subcommand("have an entry play on fresh deals", f"{ARGUMENTS}:JudgeOptions"),
    "collect": Subcommand("play games and write every decision, to learn from", f"{ARGUMENTS}:CollectOptions", "data", "pyarrow"),
    "play": Subcommand("play a game in the terminal, against agents or people", f"{ARGUMENTS}:TableOptions"),
    "serve": Subcommand("games in the browser: play, watch, study", f"{ARGUMENTS}:ServeOptions", "web", "starlette"),
    "mcp": Subcommand("serve games to language models (MCP)", f"{ARGUMENTS}:McpOptions", "mcp", "mcp"),
    "replay": Subcommand("show a recorded game", f"{ARGUMENTS}:ReplayOptions"),
    "analyse": Subcommand("have an agent judge every decision of a recorded game", f"{ARGUMENTS}:AnalyseOptions"),
    "speed": Subcommand("measure the speed of every layer", f"{ARGUMENTS}:SpeedOptions"),
    "compile": Subcommand("compile everything ahead of time", f"{ARGUMENTS}:CompileOptions", needs=""),
}


def call(arguments: list[str]) -> None:
    """Reads the options of a subcommand and runs it; without a subcommand, prints the help.

    Raises:
        SystemExit: with status 0, after help or version.
        ValueError: the command line is wrong.
        ImportError: a library is missing; the message names the extra that brings it.
    """
    if not arguments or arguments[0] in ("-h", "--help", "--version"):
        print(f"euphoria-env {importlib.metadata.version('euphoria-env')}" if "--version" in arguments[:1] else overview())
        raise SystemExit(0)
    two = " ".join(arguments[:2])
    name = two if two in COMMANDS else arguments[0]
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, 1)
        meant = f"; do you mean {near[0]}?" if near else ""
        raise ValueError(f"there is no command {name[:40]!r}{meant} (euphoria --help lists them)")
    chosen = COMMANDS[name]
    try:
        options = parse_options(imported(chosen.options), f"euphoria {name}", arguments[len(name.split()) :])
        if chosen.needs and not importlib.util.find_spec(chosen.needs):
            raise ModuleNotFoundError(name=chosen.needs)
        imported(f"euphoria_agents.commands.{name.replace(' ', '_')}:run")(options)
    except ModuleNotFoundError as error:
        library = missing_library(error)
        if not library or library in ("euphoria_agents", "euphoria_env"):
            raise
        raise ImportError(f"'euphoria {name}' needs {library}: pip install 'euphoria-env[{chosen.extra}]'") from error


def overview() -> str:
    """Returns the help of `euphoria`."""
    width = max(map(len, COMMANDS))
    return "\n".join(
        [
            "usage: euphoria COMMAND ...   (or --help, --version)",
            "",
            "Play, train and measure agents for Euphoria: Build a Better Dystopia.",
            "",
            "commands, each with --help:",
            *(f"  {name:{width}}  {chosen.help}" for name, chosen in COMMANDS.items()),
        ]
    )


def imported(place: str) -> Any:
    """Imports and returns the object that "module:name" names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
