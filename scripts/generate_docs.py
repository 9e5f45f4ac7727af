"""Writes the generated parts of the pages in docs/ and of help.html, which are between marks, pictures, and plain rules.

`python scripts/generate_docs.py` writes them, with `--only` some of the files; `--check` writes nothing and exits with 1 if one
is stale.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import cache, partial
from itertools import count, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # before the engine is imported: compiling it takes longer than all the rest

from markdown_it import MarkdownIt  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import leaderboard  # noqa: E402
from euphoria_agents import charts  # noqa: E402
from euphoria_agents.benchmark.entries import RESULTS, read_entries  # noqa: E402
from euphoria_agents.benchmark.tasks import CURRENT, FROZEN, PARTNERS, TASKS, Task  # noqa: E402
from euphoria_agents.matches.match import wilson  # noqa: E402
from euphoria_agents.network.checkpoint import CHECKPOINT_FORMAT, read_tensors  # noqa: E402
from euphoria_agents.play.web.board_data import page_icon  # noqa: E402
from euphoria_agents.players.ppo import checkpoint_path  # noqa: E402
from euphoria_env import Game, actions, afterstates, events, observations, rewards, words  # noqa: E402
from euphoria_env.board import SPACES  # noqa: E402
from euphoria_env.engine.rewards import REWARDS  # noqa: E402
from euphoria_env.render import board_svg  # noqa: E402
from euphoria_env.rules import OPTIONS, Option, Rules  # noqa: E402
from euphoria_env.text import observation_text  # noqa: E402
from scripts import reference  # noqa: E402

DOCS = ROOT / "docs"
HELP = ROOT / "agents" / "euphoria_agents" / "play" / "web" / "static" / "help.html"
Lines = Iterable[str]
Cells = Iterable[object]


def table(heads: Iterable[str], rows: Iterable[Cells]) -> list[str]:
    """A table of Markdown."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *([str(cell) for cell in row] for row in rows)]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def sections(level: str, parts: Iterable[tuple[str, Lines]]) -> list[str]:
    """Parts of a page, each with its heading."""
    return [line for title, lines in parts for line in ("", f"{level} {title}", "", *lines)][1:]


# -------------------------------------------------------------------------------------------------------------- actions


def action_rows() -> Iterator[Cells]:
    """A row for each run of actions of one form and meaning: ids, moves, meaning."""
    for _, run in groupby(actions.table(), key=lambda row: (row.meaning, row.name.count(" "))):
        block = list(run)
        first, last, several = block[0], block[-1], len(block) > 1
        ids = f"{first.action}-{last.action}" if several else first.action
        yield ids, f"`{first.name}`" + f" to `{last.name}`" * several, first.meaning


def spaces_list() -> list[str]:
    """The spaces with their numbers."""
    return [", ".join(f"{s} `{name}`" for s, name in enumerate(SPACES)) + "."]


# ------------------------------------------------------------------------------------------------- observations, events

_SEATS, _SEAT = range(observations.PLAYERS_START, 10**6, observations.PLAYER_SIZE), observations.PLAYER_SIZE


def field_table(wanted: Callable[[observations.Field], bool], base: int = 0) -> list[str]:
    """A row for each field: name, slice, range, meaning; slices count from `base`."""

    def row(one: observations.Field) -> Cells:
        start = one.start - base
        return (
            f"`{one.name.split('.')[-1]}`",
            f"`{start}:{start + one.size}`",
            f"{one.low}-{one.high}",
            one.meaning.removeprefix("rules option: "),
        )

    return table(("field", "slice", "range", "meaning"), (row(one) for one in observations.table() if wanted(one)))


def seats() -> list[str]:
    """The names and starts of the players' blocks, as `player_0` and `93`."""
    return [one.name.partition(".")[0] for one in observations.table() if one.name.endswith(".present")]


def seat_slices() -> list[str]:
    """The block of each seat."""
    return [", ".join(f"`{seat}` `{_SEATS[k]}:{_SEATS[k] + _SEAT}`" for k, seat in enumerate(seats())) + "."]


def event_table() -> list[str]:
    """A row for each kind of event."""
    heads = ("kind", "name", "`a`", "`b`", "causes", "meaning")
    rows = (
        (row.kind, f"`{row.name}`" + ("" if row.player else "*"), f"{row.a}, hidden" if row.secret else row.a, row.b,
         row.causes, row.meaning)
        for row in events.table()
    )  # fmt: skip
    return table(heads, rows)


# ------------------------------------------------------------------------------------------------- environment, lessons


def allowed(option: Option) -> str:
    """The allowed values of an option, as its error message lists them."""
    try:
        option.check("it", object())
    except ValueError as error:
        return str(error).removeprefix("it must be ").rpartition(", not ")[0]
    raise AssertionError("an option takes anything")


_CHAPTERS = dict(re.findall(r"^## (\d+) (.+)$", (DOCS / "rules.md").read_text(encoding="utf-8"), re.MULTILINE))


def linked(text: str) -> str:
    """A text in which each paragraph or chapter of the rules is a link."""

    def link(found: re.Match[str]) -> str:
        chapter, _, paragraph = found[1].partition(".")
        heading = f"{chapter} {_CHAPTERS[chapter]}".lower().replace(" ", "-")
        return f"[R{found[1]}](rules.md#" + (f"r{chapter}-{paragraph})" if paragraph else f"{heading})")

    return re.sub(r"\bR(\d+(?:\.\d+)?)\b", link, text)


def options_table() -> list[str]:
    """The options of the rules."""
    defaults = {field.name: field.default for field in fields(Rules)}
    rows = ((f"`{name}`", f"`{defaults[name]!r}`", allowed(option), linked(option.help)) for name, option in OPTIONS.items())
    return table(("argument", "default", "allowed", ""), rows)


def rewards_table() -> list[str]:
    """The rewards."""
    rows = ((f'`"{reward.name.lower()}"`', row.meaning) for reward, row in REWARDS.items())
    return table(("`reward`", "what is paid, and when"), rows)


def afterstates_table() -> list[str]:
    """The features of a player, and the facts of a move."""
    rows = ((f"`player_0.{name}`", linked(meaning)) for name, meaning in afterstates.FEATURES)
    facts = ((f"`{name}`", linked(meaning)) for name, meaning in afterstates.FACTS)
    return table(("column", "change of, or fact"), (*rows, *facts))


def quantities_table() -> list[str]:
    """The quantities that a reward can weigh."""
    rows = ((f"`{row.name}`", f"{row.range[0]}-{row.range[1]}", linked(row.meaning)) for row in rewards.table())
    return table(("quantity", "range", "meaning"), rows)


def lessons() -> list[str]:
    """The text that teaches the game."""
    return "\n\n".join(f"## {heading}\n\n{body}" for heading, body in words.lessons().items()).splitlines()


def lessons_as_html() -> list[str]:
    """The same text in the page of the browser, which has pictures and lessons in place of the example."""
    texts = [part for part in words.lessons().items() if part[0] != "One turn, step by step"]
    parts = ((heading, MarkdownIt().render(body).strip()) for heading, body in texts)
    return [f'<section class="panel">\n<h2>{heading}</h2>\n{body}\n</section>' for heading, body in parts]


def setup_picture(theme: str) -> str:
    """docs/setup.svg, on white or dark paper."""
    game = Game(Rules(num_players=4), seed=7)
    while not game.turn:
        game.play(game.legal()[0])
    return board_svg(game, theme=theme)


def training_picture(file: Path) -> str:
    """The games that a player won while it learned, of 300 against each opponent, from the CSV beside the picture."""
    with file.with_suffix(".csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    opponents = list(rows[0])[3:]
    with charts.chart(6, 6.4) as figure:
        panels = dict(zip("24", figure.subplots(2, 1, sharex=True), strict=True))
        for (players, run), found in groupby(rows, itemgetter("players", "run")):
            axes, points = panels[players], list(found)
            decisions = [float(row["million_decisions"]) for row in points]
            axes.axvline(decisions[0], color=charts.FAINT, linestyle=":")
            for series, name in enumerate(opponents):
                if points[0][name]:
                    label = f"against {name}" if run == "third" else ""
                    rates = [(int(row[name]) / 300, wilson(int(row[name]), 300)) for row in points]
                    charts.draw_rates(axes, decisions, rates, label, series)
        for players, axes in panels.items():
            charts.finish(axes, f"{players} players, alone against copies: games won", "", 1 / int(players))
        axes.set(xlabel="million decisions of training")
        return charts.svg_text(figure)


def curves_picture(file: Path) -> str:
    """The games won while players learned, from the CSV beside the picture: seed, processor_seconds, won."""
    with file.with_suffix(".csv").open(newline="") as stream:
        runs = [(seed, list(rows)) for seed, rows in groupby(csv.DictReader(stream), itemgetter("seed"))]
    with charts.chart(6, 3) as figure:
        axes = figure.subplots()
        for series, (seed, rows) in enumerate(runs):
            minutes, won = [float(row["processor_seconds"]) / 60 for row in rows], [float(row["won"]) for row in rows]
            charts.draw_rates(axes, minutes, [(share, wilson(round(200 * share), 200)) for share in won], f"seed {seed}", series)
        charts.finish(axes, "Games of two won against weights", "minutes of one core", 1 / 2)
        return charts.svg_text(figure)


# ------------------------------------------------------------------------------------------------------------ benchmark


@cache
def results() -> list[dict[str, Any]]:
    """The results on the leaderboard."""
    return [*read_entries(ROOT / RESULTS).values()]


FORMER = [task for task in TASKS.values() if task not in CURRENT]


def tasks_table(tasks: Iterable[Task]) -> list[str]:
    """Benchmark tasks."""

    def options(given: Iterable[tuple[str, object]]) -> str:
        values = {
            name: f": {len(value)} named" if isinstance(value, tuple) else f"={value}" for name, value in dict(given).items()
        }
        return ", ".join(map("".join, values.items()))

    def row(task: Task) -> Cells:
        players = " to ".join(map(str, sorted({min(task.players), max(task.players)})))
        games = len(task.players) * len(task.opponents) * task.games
        return f"`{task.name}`", task.about, players, options(task.judged), options(task.training), task.games, f"{games:,}"

    heads = "task", "about", "players", "options of judging", "options of training", "games per match", "games in all"
    return table(heads, map(row, tasks))


def opponent_heads(opponents: Iterable[str]) -> tuple[str, ...]:
    """The names of the columns of opponents."""
    return tuple(FROZEN.get(name, f"`{name}`") for name in opponents)


def anchors_table() -> list[str]:
    """The ratings of the frozen opponents."""
    lines: list[str] = []
    rated = [task for task in TASKS.values() if task.anchors]
    for opponents, tasks in groupby(sorted(rated, key=lambda task: task.opponents, reverse=True), lambda task: task.opponents):
        lines += ["", *table(("task", *opponent_heads(opponents)), ((f"`{task.name}`", *task.anchors) for task in tasks))]
    return lines[1:]


def partners_table() -> list[str]:
    """The eight players of the task `partners`, as their files describe them."""
    files = {name: checkpoint_path(spec.partition(":")[2]) for name, spec in PARTNERS.items()}
    headers = {name: read_tensors(file, CHECKPOINT_FORMAT)[0] for name, file in files.items()}
    rows = ((name, f"`{spec}`", headers[name]["training"]["about"]) for name, spec in PARTNERS.items())
    return table(("name", "spec", "how it was made"), rows)


def unseen_cards() -> list[str]:
    """The cards of the task `cards`."""
    judged = TASKS["cards-v2"].judged
    return [f"- {name}: " + ", ".join(f"`{card}`" for card in cards) for name, cards in judged.items()]


def leaderboard_tables() -> list[str]:
    """The standings of each task, without empty columns."""

    def part(task: Task) -> Lines:
        heads, rows = leaderboard.headings(task), [*map(leaderboard.row, leaderboard.standings(task.name, results()))]
        shown = [k for k, head in enumerate(heads) if head != "each seed" and any(row[k] for row in rows)]
        lines = ([row[k] for k in shown] for row in rows)
        return [f"{task.about[0].upper()}{task.about[1:]}.", "", *table([heads[k] for k in shown], lines)]

    former = sections("###", ((task.name, part(task)) for task in FORMER))
    return [*sections("##", ((task.name, part(task)) for task in CURRENT)), "", "## Version 1", "", *former]


def prompt_example() -> Lines:
    """A prompt of a game of random moves, preferably placements, once a market is built."""
    game, rng, told = Game(Rules(num_players=2), seed=0), random.Random(0), [0, 0]  # the last decision of each player
    prompt = ""
    for number in count():
        if game.deciding == "open" and "Markets" in (prompt := observation_text(game, game.player, since=told[game.player])):
            break
        told[game.player] = number
        game.play(rng.choice([move for move in game.legal() if move.startswith("place ")] or game.legal()))
    return ["```md", *prompt.split("\n"), "```"]


def snippet(file: Path) -> Lines:
    """A program; its block is not one of `python`, which the tests run, since it needs other libraries."""
    return ["```py", *file.read_text(encoding="utf-8").splitlines(), "```"]


def plain_rules() -> str:
    """The rules as a language model reads them: without anchors and links."""
    text = (DOCS / "rules.md").read_text(encoding="utf-8")
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", re.sub(r'<a id="[^"]*"></a>', "", text))


# ----------------------------------------------------------------------------------------------------------------- main

BLOCKS: dict[Path, dict[str, Callable[[], Lines]]] = {
    DOCS / "actions.md": {
        "actions": lambda: table(("ids", "moves", "meaning"), action_rows()),
        "spaces": spaces_list,
    },
    DOCS / "api.md": {block: partial(reference.part, block) for block in reference.NAMES if block != "text"},
    DOCS / "benchmark.md": {
        "tasks": partial(tasks_table, CURRENT), "former": partial(tasks_table, FORMER),
        "anchors": anchors_table, "partners": partners_table, "unseen": unseen_cards,
    },
    DOCS / "clients.md": {file.stem: partial(snippet, file) for file in (ROOT / "scripts" / "snippets").glob("*.py")},
    DOCS / "environment.md": {
        "options": options_table, "rewards": rewards_table, "quantities": quantities_table,
        "afterstates": afterstates_table,
    },
    DOCS / "events.md": {"kinds": event_table},
    DOCS / "leaderboard.md": {"standings": leaderboard_tables},
    DOCS / "learn.md": {"lessons": lessons},
    DOCS / "observations.md": {
        "game": lambda: field_table(lambda one: one.start < _SEATS[0]),
        "seats": seat_slices,
        "player": lambda: field_table(lambda one: one.name.startswith("player_0."), _SEATS[0]),
        "decision": lambda: field_table(lambda one: one.start >= _SEATS[len(seats())]),
    },
    DOCS / "language-models.md": {"prompt": prompt_example, "text": partial(reference.part, "text")},
    HELP: {"lessons": lessons_as_html},
}  # fmt: skip
_BLOCK = re.compile(r"(<!-- (\w+): generated by scripts/generate_docs\.py -->\n).*?(?=<!-- end -->)", re.DOTALL)


def page_with_blocks(file: Path) -> str:
    """A page written by hand, with fresh text between its marks."""
    text, blocks = file.read_text(encoding="utf-8"), BLOCKS[file]
    if missing := set(blocks) - {block for _, block in _BLOCK.findall(text)}:
        raise ValueError(f"{file.relative_to(ROOT)} has no mark for {', '.join(missing)}")
    return _BLOCK.sub(lambda found: found[1] + "\n".join(["", *blocks[found[2]](), "", ""]), text)


FILES: dict[Path, Callable[[], str]] = {
    DOCS / "icon.svg": page_icon,
    DOCS / "leaderboard.svg": lambda: leaderboard.draw(results()),
    DOCS / "setup.svg": lambda: setup_picture("print"),
    DOCS / "setup-dark.svg": lambda: setup_picture("dark"),
    (TRAINING := DOCS / "training.svg"): lambda: training_picture(TRAINING),
    (CURVES := DOCS / "tutorials" / "own-algorithm.svg"): lambda: curves_picture(CURVES),
    ROOT / "euphoria_env" / "text" / "rules.md": plain_rules,
} | {file: partial(page_with_blocks, file) for file in BLOCKS}


def main(arguments: list[str] | None = None) -> int:
    """Writes what is stale, or only says so."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is stale")
    names = [file.name for file in FILES]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="FILE", help="such as leaderboard.md")
    options = parser.parse_args(arguments)
    check, texts = options.check, {file: make() for file, make in FILES.items() if file.name in options.only}
    stale = [file for file, text in texts.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
    for file in stale:
        if not check:
            file.write_text(texts[file], encoding="utf-8")
        print(f"{file.relative_to(ROOT)} " + ("is stale: run `make docs`" if check else "written"))
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
