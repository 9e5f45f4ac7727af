"""A decision is played on the page: workers are taken back, dice dragged, spaces pointed at; who waits; how a game ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.test_browser import AGENT, ANN, ASKED_AGAIN, POST, Tab, chromium, named, pytestmark, server, start, tab, tabs
from tests.tools.browser import ServerProcess, check_page

HAND = {"workers": [4], "knowledge": 3, "morale": 4, "goods": {"food": 1, "gold": 2}, "recruits": []}
OTHER: dict[str, Any] = {"workers": [2], "recruits": []}
THERE = {"aquifer": [[0, 4], [1, 2]], "euphorian_site_1_2": [[0, 5]], "euphorian_tunnel": [[1, 5]], "breeze_bar": [[0, 2]]}


def table(tab: Tab, server: ServerProcess, *seats: Any, mine: dict[str, Any] = HAND, **more: Any) -> None:
    """A game from a position, at the decision of seat 0."""
    seats = seats or (ANN, AGENT)
    players = [mine, *[OTHER] * (len(seats) - 1)]
    position = {"rules": {"num_players": len(seats)}, "seed": 3, "players": players, "workers": THERE, **more}
    tab.page.goto(start(tab, server, *seats, position=position))
    tab.page.locator("button.move, #uncover, #roll").first.wait_for()


def requests(tab: Tab) -> list[str]:
    """Collects the requests that the page makes from now on, apart from views."""
    asked: list[str] = []
    tab.page.on("request", lambda one: one.method == "POST" and asked.append(one.url.rpartition("/")[2]))
    return asked


def middle(tab: Tab, what: str) -> tuple[float, float]:
    box = tab.page.locator(what).first.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def play(tab: Tab, move: str) -> None:
    """Plays a move past the page."""
    api = tab.page.evaluate("location.pathname.replace('play', 'api/games')")
    tab.page.evaluate(POST, [f"{api}/moves", {"seat": 0, "version": int(tab.version()), "action": move}])


def test_workers_are_taken_back_in_any_order_by_one_request(server: ServerProcess, tab: Tab) -> None:
    page, asked = tab.page, requests(tab)
    table(tab, server)
    before = tab.version()
    asked.clear()
    page.locator("#compose").dblclick()  # the second click meets the composer, and is dropped
    assert page.locator(".pick.on").count() == page.locator(".chip[id^=worker-][aria-pressed=true]").count() == 3
    page.locator("#board .pick").nth(1).click()
    page.locator("#worker-0").click()
    page.locator("#worker-0").click()
    page.set_viewport_size({"width": 1000, "height": 700})
    page.locator("#pace").select_option("")  # the page gets another view, in which nothing else has changed
    page.locator("#step").wait_for()
    assert [page.locator(f"#worker-{k}").get_attribute("aria-pressed") for k in range(3)] == ["true", "false", "true"]
    assert page.locator("#roll").inner_text() == "Take back 2 and roll: 27.8 % to lose a worker"
    check_page(page)
    page.locator("#worker-0").click()
    page.locator("#worker-2").click()
    assert page.locator("#roll").is_disabled()
    page.keyboard.press("Escape")
    assert page.locator("#compose").is_visible() and page.locator(".pick").count() == 0
    assert asked == ["pace"] and tab.version() == before
    asked.clear()
    page.locator("#compose").click()
    page.locator("#worker-1").click()
    page.get_by_role("group", name="payment").get_by_role("button", name="1 food").click()
    page.locator("#roll").click()
    tab.settle(before)
    assert asked == ["moves"] and page.locator("#tray .held").count() == 3
    assert "choose" not in page.locator("#log").inner_text() and "You pay" in page.locator("#log").inner_text()
    assert page.locator("#player-0 [data-item=morale]").inner_text().endswith("6")


def test_a_retrieval_begun_elsewhere_goes_on_in_the_composer(server: ServerProcess, tab: Tab) -> None:
    table(tab, server)
    play(tab, "retrieve free")
    tab.page.locator("#roll").wait_for()
    assert tab.page.locator("#back").count() == 0 and tab.page.locator(".pick.on").count() == 3
    before = tab.version()
    tab.page.keyboard.press("1")
    for key in ("ArrowDown", "ArrowDown", "Space", "Tab", "Tab", "Enter"):  # the second worker too, then the button
        tab.page.keyboard.press(key)
    tab.settle(before)
    assert tab.page.locator("#tray .held").count() == 2
    tab.state()


def test_what_gives_up_a_placement_is_asked_twice(server: ServerProcess, tab: Tab) -> None:
    page, asked = tab.page, requests(tab)
    table(tab, server, mine={**HAND, "workers": [4, 4]}, workers={"aquifer": [[0, 4]]})
    tab.play(page.locator("#moves .move[data-space=farm]"))
    end = page.locator("#moves .move", has_text="Place no further worker")
    end.wait_for()
    asked.clear()
    assert page.locator("#moves button.main").count() == 0  # neither Space nor Enter ends the turn
    end.dblclick()
    assert page.locator(ASKED_AGAIN).count() == 1
    page.keyboard.press("Escape")
    assert page.locator(ASKED_AGAIN).count() == 0 and asked == []
    end.focus()
    before = tab.version()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    tab.settle(before)
    assert asked == ["moves"]
    tab.state()


def test_list_and_board_show_each_other(server: ServerProcess, tab: Tab) -> None:
    page = tab.page
    table(tab, server)
    row = page.locator("#moves .move[data-space=farm]")
    shown = "() => [document.querySelectorAll('.pointed .ring').length, document.querySelectorAll('.pointed .ghost').length]"
    row.hover()
    assert page.evaluate(shown) == [1, 1]
    ring, ground = (page.locator(one).bounding_box() for one in (".pointed .ring", "#space-farm .ground"))
    assert ring == pytest.approx(ground, abs=1)
    page.locator("#headline").hover()
    assert page.evaluate(shown) == [0, 0]
    row.focus()
    assert page.evaluate(shown) == [1, 1]
    row.blur()
    assert page.locator("#moves .move", has_text="Euphorian site 2").count() == 1  # of its four slots, three take gold
    page.locator("#space-euphorian_tunnel").hover()
    page.locator("#tip h3").wait_for()
    assert page.locator("#tip").inner_text().startswith("Euphoria: tunnel") and page.locator("#tip .die").count() == 1
    check_page(page)
    page.keyboard.press("Escape")
    page.locator("#tip").wait_for(state="hidden")
    page.locator("#space-farm").focus()
    page.keyboard.press("Shift+Tab")  # by keyboard, it tells as well
    page.locator("#tip h3").wait_for()
    assert page.locator("#board .cannot").count() == 0
    page.locator("#tray .held").click()
    assert page.locator("#space-tank_energy.cannot").count() == 1 and page.locator("#space-farm.cannot").count() == 0
    page.locator("#space-tank_energy").click()
    assert page.locator("#popover h3").inner_text() == "Tank, by energy"


def test_a_die_is_dragged_and_all_else_ends_a_drag(server: ServerProcess, tab: Tab) -> None:
    page, asked = tab.page, requests(tab)
    table(tab, server, mine={**HAND, "workers": [4, 4]}, workers={"aquifer": [[0, 4]]})
    asked.clear()

    def lift() -> None:
        page.mouse.move(*middle(tab, "#tray .held"))
        page.mouse.down()
        page.mouse.move(400, 700)
        page.mouse.move(*middle(tab, "#space-farm .ground"))
        assert page.locator(".lifted").count() == 1 and page.locator("#space-farm.over").count() == 1

    lift()
    page.keyboard.press("Escape")
    page.mouse.up()
    lift()
    page.mouse.move(*middle(tab, "#headline"))
    page.mouse.up()
    lift()
    page.locator("#tray .held").first.dispatch_event("pointercancel")
    page.mouse.up()
    lift()
    page.mouse.move(-50, -50)
    page.mouse.up()
    assert page.locator(".lifted, .over, .cannot").count() == 0 and asked == []
    assert page.evaluate("getSelection().toString()") == ""
    before = tab.version()
    lift()
    page.mouse.up()
    tab.settle(before)
    assert asked == ["moves"] and page.locator("#board .die[data-space=farm][data-seat='0']").count() == 1
    lift()
    play(tab, "place 4 generator")  # in another tab
    page.locator(".lifted").wait_for(state="detached")
    page.mouse.up()
    assert page.locator("#board .die[data-space=generator][data-seat='0']").count() == 1
    tab.state()


@pytest.mark.long
def test_fingers_drag_and_press_long(server: ServerProcess, tabs: Callable[..., Tab]) -> None:
    tab = tabs(820, 1180, has_touch=True)
    table(tab, server)
    finger = tab.context.new_cdp_session(tab.page)

    def touch(what: str, *at: tuple[float, float]) -> None:
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{what}", "touchPoints": [{"x": x, "y": y} for x, y in at]})

    touch("Start", middle(tab, "#space-tank_energy .ground"))
    tab.page.locator("#tip h3").wait_for()
    touch("End")
    assert tab.page.locator("#tip h3").is_visible()
    before = tab.version()
    touch("Start", middle(tab, "#tray .held"))
    touch("Move", (300, 600))
    touch("Move", middle(tab, "#space-farm .ground"))
    tab.page.locator("#space-farm.over").wait_for()
    assert tab.page.locator("#tip h3").is_hidden()
    touch("End")
    tab.settle(before)
    tab.state()


def test_a_double_click_plays_one_move_and_a_choice_made_elsewhere_ends_one_begun_here(server: ServerProcess, tab: Tab) -> None:
    page, asked = tab.page, requests(tab)
    table(tab, server, mine={**HAND, "workers": [4, 4]}, workers={"aquifer": [[0, 4]]})
    page.locator("#compose").click()
    page.locator("#roll").wait_for()
    play(tab, "place 4 generator")
    page.locator("#roll").wait_for(state="detached")
    assert page.locator(".pick").count() == 0
    asked.clear()
    before = tab.version()
    page.locator("#moves .move[data-space=farm]").dblclick()
    tab.settle(before)
    assert asked == ["moves"]
    tab.state()


def test_those_who_wait_see_what_happened_and_can_pause(server: ServerProcess, tab: Tab) -> None:
    page = tab.page
    table(tab, server, ANN, *named(1))
    page.locator("#hold").click()
    page.locator("#step").wait_for()
    tab.play()
    page.locator(".recent li").wait_for()
    assert "You place a 4" in page.locator(".recent").inner_text() and page.locator("#log .turn").inner_text() == "Turn 2: Ada"
    assert "begins" not in page.locator("#log").inner_text()
    page.get_by_role("button", name="let the agents play on").click()
    tab.state()


@pytest.mark.long
def test_the_end_has_its_buttons_in_sight_and_a_picture(server: ServerProcess, tabs: Callable[..., Tab], tmp_path: Path) -> None:
    tab = tabs(1280, 720)
    tab.page.goto(start(tab, server, *named(5), {**AGENT, "name": "Frege"}, stars_to_win=1))
    tab.page.locator(".ranking").wait_for()
    for name in ("Rematch", "Study", "Watch it again", "Save the picture"):
        box = tab.page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box and box["y"] + box["height"] < tab.page.locator("#past").bounding_box()["y"]
    bars = tab.page.locator(".ranking .bar").all_inner_texts()
    assert len(bars) == 6 and any(bars)
    with tab.page.expect_download() as download:
        tab.page.locator("#picture").click()
    download.value.save_as(tmp_path / "board.png")
    assert (tmp_path / "board.png").read_bytes()[:4] == b"\x89PNG"
