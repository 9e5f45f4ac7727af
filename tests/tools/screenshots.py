"""The pictures of the docs in both themes, as `play.webp` and `play-dark.webp`: `python -m tests.tools.screenshots [FOLDER]`."""

from __future__ import annotations

import io
import re
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from euphoria_agents import load
from euphoria_agents.matches.match import play_match
from euphoria_agents.play import AGENT_NAMES, Seat, Session
from euphoria_agents.play.web.registry import _row
from euphoria_agents.play.web.store import Store
from euphoria_agents.record_steps import steps
from euphoria_env.render import board_array
from tests.tools.browser import ServerProcess, launched

SPECS, SEED = ("ppo", "greedy", "ppo", "weights"), 3
NAMES = AGENT_NAMES[: len(SPECS)]
SHOWN = 0.55  # of the game
JUDGE = "mcts:100:ppo"
SUFFIXES = {"light": "", "dark": "-dark"}  # of the names of the files
GAME, TOKEN = "0" * 16, "person"


def played() -> Session:
    """A game among the trained player and others, up to its end."""
    record = play_match([load(spec) for spec in SPECS], 1, seed=SEED, records=True).records[0]
    return Session(record, [Seat(name, spec) for name, spec in zip(NAMES, SPECS, strict=True)])


def turns(session: Session, folder: Path) -> None:
    """Two turns of each player, a picture for each decision: what happened, and the spaces where it did."""
    first = int(SHOWN * session.decisions)
    turn = session.game_at(first).turn
    shown = [k for k in range(first, session.decisions) if turn < session.game_at(k).turn <= turn + 2 * len(NAMES)]
    for theme, suffix in SUFFIXES.items():
        frames = []
        for k in shown:
            told = {"names": NAMES, "last": str(session.log(None, k)[0]), "changed": session.changed(None, k + 1), "theme": theme}
            frames.append(Image.fromarray(board_array(session.game_at(k + 1), within=(1000, 700), **told)))
        frames[0].save(
            folder / f"turns{suffix}.webp", save_all=True, append_images=frames[1:], duration=1600, lossless=True, method=4
        )


def put_on_server(session: Session, data: Path) -> str:
    """Makes the file of a server with the game in the middle, where somebody has many moves; the address of their page."""
    for k, (game, _) in enumerate(steps(session.record())):
        if k >= SHOWN * session.decisions and game.deciding == "open" and len(game.legal()) > 8:
            break
    seats = [Seat(one.name, None if seat == game.player else one.spec) for seat, one in enumerate(session.seats)]
    store = Store(data)
    store.add_game(GAME, "", _row(Session.of(game, seats), 0.5), {game.player: TOKEN})
    store.close()
    return f"/play/{GAME}#token={TOKEN}"


def play(page: Any, address: str) -> None:
    """The game as the person sees it."""
    page.goto(address)
    page.locator("#moves button").first.wait_for()


def study(page: Any, address: str) -> None:
    """A study that is analysed, at a mistake in the middle."""
    page.goto(address)
    page.locator("#judge").select_option(JUDGE)
    page.locator(f'[id="analyse-{JUDGE}"]').click()
    page.wait_for_function("() => !document.querySelector('[id^=analyse-], [id^=stop-]')", timeout=0)
    mistakes = page.locator("#shown-tab [id^=mistake-]")
    mistakes.nth(mistakes.count() // 2).click()
    page.locator("#shown-tab [id^=mistake-][aria-current=true]").wait_for()


def photograph(page: Any, name: str, folder: Path) -> None:
    """Writes the page as it is, in both themes."""
    page.evaluate("scrollTo(0, 0)")
    for theme, suffix in SUFFIXES.items():
        page.emulate_media(color_scheme=theme)
        picture = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
        picture.save(folder / f"{name}{suffix}.webp", lossless=True, quality=100, method=6)


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        session, file, data = played(), Path(place) / "game.record", Path(place) / "games.sqlite"
        file.write_text(session.record())
        turns(session, folder)
        address = put_on_server(session, data)
        server = ServerProcess(data, str(file)).start()
        page = launched(playwright).new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        try:
            play(page, server.url + address)
            photograph(page, "play", folder)
            study(page, re.findall(r"http://\S+", server.line)[0])
            photograph(page, "study", folder)
        finally:
            server.end(signal.SIGINT)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
