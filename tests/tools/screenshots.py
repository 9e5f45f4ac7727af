"""The pictures `play.png`, `study.png` and `turns.gif` in `docs`: `python -m tests.tools.screenshots [FOLDER]`."""

from __future__ import annotations

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
from euphoria_env import Game
from euphoria_env.render import board_array
from tests.tools.browser import ServerProcess, launched

PLAYERS, SEED = 4, 3
SHOWN = 0.55  # of the game
JUDGE = "mcts:100:ppo"


def record() -> str:
    """A game among the trained player and others."""
    return play_match([load(spec) for spec in ("ppo", "greedy", "ppo", "weights")], 1, seed=SEED, records=True).records[0]


def study(page: Any, url: str, file: Path) -> None:
    """A study that is analysed, at a mistake in the middle."""
    page.goto(url)
    page.locator("#file").set_input_files(file)
    page.locator("#judge").select_option(JUDGE)
    page.locator(f'[id="analyse-{JUDGE}"]').click()
    page.wait_for_function("() => !document.querySelector('[id^=analyse-], [id^=stop-]')", timeout=0)
    mistakes = page.locator("#shown-tab [id^=mistake-]")
    mistakes.nth(mistakes.count() // 2).click()
    page.locator("#shown-tab [id^=mistake-][aria-current=true]").wait_for()


def play(page: Any) -> None:
    """A game that goes on from there."""
    page.locator("#branch").click()
    page.locator("#start").click()
    page.locator("#moves button").first.wait_for()


def turns(text: str, file: Path) -> None:
    """Two turns of each player, a picture for each decision: what happened, and the spaces where it did."""
    session = Session.of(Game.from_record(text), [Seat(name) for name in AGENT_NAMES[:PLAYERS]])
    first = int(SHOWN * session.decisions)
    turn = session.game_at(first).turn
    shown = [k for k in range(first, session.decisions) if turn < session.game_at(k).turn <= turn + 2 * PLAYERS]
    frames = []
    for k in shown:
        last = session.log(None, k)[0]
        changed = session.changed(None, k + 1)
        pixels = board_array(session.game_at(k + 1), names=AGENT_NAMES[:PLAYERS], last=last, changed=changed, within=(1000, 700))
        frames.append(Image.fromarray(pixels).quantize(64, dither=Image.Dither.NONE))
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=1600, loop=0, optimize=True)


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        file = Path(place) / "game.record"
        file.write_text(text := record())
        turns(text, folder / "turns.gif")
        server = ServerProcess(Path(place) / "games.sqlite").start()
        page = launched(playwright).new_page(viewport={"width": 1440, "height": 900}, color_scheme="dark")
        page.set_default_timeout(60_000)
        try:
            for name, show in (("study", lambda: study(page, server.url, file)), ("play", lambda: play(page))):
                show()
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=folder / f"{name}.png")
        finally:
            server.end(signal.SIGINT)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
