"""The command `euphoria`, which `python -m euphoria_agents` is too."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from typing import Any, NamedTuple

from euphoria_agents.dataclass_arguments import Parser, command, parse_options


class Subcommand(NamedTuple):
    """What stands behind a word of the command line; its modules are imported when it is called.

    Attributes:
        help: what it does, in a line.
        options: "module:dataclass" of its options, in a module that needs no more than the core.
        run: "module:function" of what takes them.
        extra: what to install with the project, if a library is missing.
        needs: a library without which it cannot begin.
    """

    help: str
    options: str
    run: str
    extra: str
    needs: str = "rich"


COMMANDS = {
    "train": Subcommand(
        "train a player by self-play",
        "euphoria_agents.training.config:Options",
        "euphoria_agents.commands.train:run",
        "train",
        "torch",
    ),
    "outlook": Subcommand(
        "give a trained player the chances of all seats, for the search",
        "euphoria_agents.training.config:OutlookOptions",
        "euphoria_agents.commands.outlook:run",
        "train",
        "torch",
    ),
    "evaluate": Subcommand(
        "compare an agent with others, with intervals",
        "euphoria_agents.commands.shared_arguments:EvaluateOptions",
        "euphoria_agents.commands.evaluate:run",
        "play",
    ),
    "tournament": Subcommand(
        "many agents against each other, with ratings",
        "euphoria_agents.commands.shared_arguments:TournamentOptions",
        "euphoria_agents.commands.tournament:run",
        "play",
    ),
    "benchmark": Subcommand(
        "judge an agent by a task with a fixed protocol",
        "euphoria_agents.commands.shared_arguments:BenchmarkOptions",
        "euphoria_agents.commands.benchmark:run",
        "play",
    ),
    "play": Subcommand(
        "play a game in the terminal, against agents or people",
        "euphoria_agents.commands.shared_arguments:TableOptions",
        "euphoria_agents.commands.play:run",
        "play",
    ),
    "serve": Subcommand(
        "games in the browser: play, watch, study",
        "euphoria_agents.commands.shared_arguments:ServeOptions",
        "euphoria_agents.commands.serve:run",
        "web",
        "starlette",
    ),
    "replay": Subcommand(
        "show a recorded game",
        "euphoria_agents.commands.shared_arguments:ReplayOptions",
        "euphoria_agents.commands.replay:run",
        "play",
    ),
    "analyse": Subcommand(
        "have an agent judge every decision of a recorded game",
        "euphoria_agents.commands.shared_arguments:AnalyseOptions",
        "euphoria_agents.commands.analyse:run",
        "play",
    ),
    "speed": Subcommand(
        "measure the speed of every layer; `speed compare` two such measurements",
        "euphoria_agents.speed.settings:SpeedOptions",
        "euphoria_agents.commands.speed:run",
        "play",
    ),
    "speed compare": Subcommand(
        "compare two measurements",
        "euphoria_agents.commands.shared_arguments:CompareOptions",
        "euphoria_agents.commands.compare:run",
        "play",
    ),
    "convert": Subcommand(
        "make a player of an older version fit this one",
        "euphoria_agents.commands.shared_arguments:ConvertOptions",
        "euphoria_agents.commands.convert:run",
        "play",
        "safetensors",
    ),
    "compile": Subcommand(
        "compile all there is to compile, so that nothing else has to wait",
        "euphoria_agents.commands.shared_arguments:CompileOptions",
        "euphoria_agents.commands.compile:run",
        "play",
        needs="",
    ),
}


def main(arguments: list[str] | None = None) -> None:
    """Runs the command that the command line names.

    Raises:
        SystemExit: it failed; status 2 for what is wrong with its input, 130 after an interrupt.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small arrays, threads would only wait
    command(lambda: call(sys.argv[1:] if arguments is None else arguments))


def call(arguments: list[str]) -> None:
    """Reads the options of a command and hands them to it.

    Raises:
        ValueError: the command line is wrong.
        ImportError: a library is missing; names the extra that brings it.
    """
    name, left = split(arguments)
    chosen = COMMANDS[name]
    try:
        options = parse_options(imported(chosen.options), f"euphoria {name}", left)
        if chosen.needs and not importlib.util.find_spec(chosen.needs):
            raise ModuleNotFoundError(name=chosen.needs)
        imported(chosen.run)(options)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if not library or library in ("euphoria_agents", "euphoria_env"):
            raise
        raise ImportError(f"'euphoria {name}' needs {library}: pip install 'euphoria-env[{chosen.extra}]'") from error


def split(arguments: list[str]) -> tuple[str, list[str]]:
    """The command, and what follows it.

    Raises:
        ValueError: there is no such command.
    """
    width = max(map(len, COMMANDS))
    lines = "\n".join(f"  {name:{width}}  {chosen.help}" for name, chosen in COMMANDS.items())
    parser = Parser(
        "euphoria",
        description="Play, train and measure agents for Euphoria: Build a Better Dystopia.",
        epilog=f"commands, each with --help:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=[name for name in COMMANDS if " " not in name], metavar="COMMAND", help="see below")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its options")
    found = parser.parse_args(arguments)
    longer = " ".join([found.command, *found.arguments[:1]])
    return (longer, found.arguments[1:]) if longer in COMMANDS else (found.command, found.arguments)


def imported(place: str) -> Any:
    """What "module:name" stands for."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


if __name__ == "__main__":
    main()
