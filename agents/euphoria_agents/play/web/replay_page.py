"""Makes a recorded game into one HTML file that opens anywhere: the board at every decision, the log, perhaps an analysis.

Without JavaScript the page shows the board at the end, and the log.
A page for everybody or for one seat contains nothing that is secret from them.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from difflib import SequenceMatcher
from functools import partial
from html import escape
from itertools import pairwise
from typing import Any

from euphoria_agents.play.study.decision_analysis import outcome
from euphoria_agents.play.study.game_analysis import Entry
from euphoria_agents.play.study.summary import THRESHOLD
from euphoria_agents.play.transcript import Transcript
from euphoria_agents.play.web.board_data import STATIC, catalogue, colours, facts, symbol_sprite
from euphoria_agents.play.web.scripts import bundle
from euphoria_agents.play.web.wire import briefly, encoded, said_in
from euphoria_agents.record_steps import Replayed, last_space
from euphoria_env.json_reader import Json
from euphoria_env.phrases import Phrase, say
from euphoria_env.render.board import board_fragment
from euphoria_env.render.lettering import FONT_FILE
from euphoria_env.render.view import View, view_of

STYLES = ("style.css", "study.css")
EVERYBODY, MOVERS = "everybody", "movers"


def replay_page(
    game: Replayed, names: Sequence[str], seen_by: int | str = EVERYBODY, entries: Sequence[Entry] = (), language: str = "en"
) -> str:
    """Returns the page as HTML.

    Args:
        game: the game at its end.
        names: the names of the players, by seat.
        seen_by: a seat: what that seat saw; `EVERYBODY`: what everybody at the table saw; `MOVERS`: each decision as its player
            saw it, so that the page reveals all secrets.
        entries: the entries of an analysis. With `MOVERS` the page has all of them; for a seat only those of its own decisions,
            without luck, which depends on everybody's cards.
        language: one of `LANGUAGES`.

    Raises:
        ValueError: there is no such seat or language, or an analysis would reveal to everybody what the players held.
    """
    if seen_by not in (EVERYBODY, MOVERS, *range(len(names))):
        raise ValueError(f"who sees it must be {EVERYBODY}, {MOVERS} or a seat from 0 to {len(names) - 1}, not {seen_by}")
    shown, transcript = _shown(entries, seen_by), Transcript(game, names)
    seat = seen_by if isinstance(seen_by, int) else None
    seats = list(transcript.players) if seen_by == MOVERS else [seat] * len(transcript.players)
    moments = list(_moments(game, names, [*seats, seat], language))
    data: dict[str, Any] = {
        "names": list(names),
        "players": transcript.players,
        "turns": transcript.turns,
        "log": [line.text for line in transcript.log(seats)],
        "result": outcome(game),
        "seat": seen_by,
        **_analysis(transcript, shown),
        "facts": facts({}, language),
        **_drawings(moments),
        "language": language,
        "texts": catalogue(language),
    }
    return _page(", ".join(names), data, _still(data, view_of(game, seat, names).headline, moments[-1]))


def _moments(game: Replayed, names: Sequence[str], seats: Sequence[int | None], language: str) -> Iterator[str]:
    """Yields the game before each decision, and at its end, as the seats saw it, one for each moment."""
    lines = game.history
    for ply, seat in enumerate(seats):
        yield moment_text(view_of(game.at(ply), seat), names, [last_space(lines[:ply])], language)


def _analysis(transcript: Transcript, entries: list[Entry]) -> dict[str, Any]:
    """Returns the part of the data that is about an analysis."""
    return {
        "mistake": THRESHOLD,
        "entries": entries,
        "better": briefly(transcript.better(entries)),
        "spaces": {one["ply"]: transcript.spaces(one["ply"]) for one in entries},
    }


def _shown(entries: Sequence[Entry], seen_by: int | str) -> list[Entry]:
    """Returns the entries of an analysis that may be shown to `seen_by`."""
    if entries and seen_by == EVERYBODY:
        raise ValueError("an analysis tells what the players held: it can be seen by movers, or by a seat")
    if seen_by == MOVERS:
        return list(entries)
    return [{**entry, "luck": None} for entry in entries if entry["player"] == seen_by]


def moment_text(view: View, names: Sequence[str], marked: Sequence[str] = (), language: str = "en") -> str:
    """Returns the board, with marked spaces, and the players, as a viewer sees them; few lines change between decisions."""
    known = {"stars_to_win": view.stars_to_win, "players": [asdict(player) for player in view.players]}
    board = board_fragment(view, marked, names=names, language=language)
    return f"{board}\n{json.dumps(known, indent=0, default=partial(said_in, language))}"


def distinct_lines(texts: Sequence[str]) -> tuple[list[str], list[list[int]]]:
    """Returns the distinct lines of all texts, and each text as the indices of its lines among them."""
    numbers: dict[str, int] = {}
    frames = [[numbers.setdefault(line, len(numbers)) for line in text.split("\n")] for text in texts]
    return list(numbers), frames


def _drawings(moments: Sequence[str]) -> dict[str, Any]:
    """Returns the different lines of the moments, and the changes from each moment to the next as numbers of these lines."""
    pieces, frames = distinct_lines(moments)
    return {"pieces": pieces, "changes": [_changes(before, after) for before, after in pairwise([[], *frames])]}


def _changes(before: list[int], after: list[int]) -> list[list[int]]:
    """Returns what makes the lines of one frame those of the next, the last first: place, number of lines to drop, new lines."""
    found = SequenceMatcher(None, before, after).get_opcodes()
    return [[at, end - at, *after[first:last]] for tag, at, end, first, last in reversed(found) if tag != "equal"]


def _still(data: Json, headline: Phrase, end: str) -> str:
    """Returns what the page shows without JavaScript; `end` is the last moment."""
    said = partial(say, language=data["language"])
    setup, turn = ((data["texts"] or {}).get(key, key) for key in ("Setup", "Turn {n}"))
    told = zip(data["turns"], map(said, data["log"]), strict=False)  # the last turn is that of the end
    lines = "\n".join(f"<li>{turn.format(n=n) if n else setup}: {escape(line)}</li>" for n, line in told)
    board = end.partition("\n{")[0]
    shown = f'<h1>{escape(said(headline))}</h1>\n<div class="field"><div id="board">{board}</div></div>\n<ul>{lines}</ul>'
    return f'<noscript><main class="page">{shown}</main></noscript>'


def _page(title: str, data: Json, still: str) -> str:
    script = bundle("replay.js")
    style = "\n".join([*((STATIC / name).read_text(encoding="utf-8") for name in STYLES), colours(_font())])
    sources = f"script-src '{_hash(script)}'; style-src '{_hash(style)}'; font-src data:"
    policy = f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="{data["language"]}">\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            f"<title>Euphoria: {escape(title)}</title>",
            f"<style>{style}</style>",
            f"<body>\n{symbol_sprite()}\n{still}",
            f'<script type="application/json" id="data">{_in_script(data, data["language"])}</script>',
            f'<script type="module">{script}</script>\n</body>\n</html>\n',
        ]
    )


def _font() -> str:
    return f"data:font/ttf;base64,{base64.b64encode(FONT_FILE.read_bytes()).decode()}"


def _in_script(data: Json, language: str) -> str:
    """Returns data, with its phrases in a language, as JSON in which no text can end the script element around it."""
    return encoded(data, language).decode().replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
