"""Work that takes long at the server: clients take turns, and what nobody waits for ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from euphoria_agents import background, load
from euphoria_agents.play.web import jobs
from euphoria_agents.play.web.errors import Refused
from euphoria_agents.play.web.jobs import Jobs
from euphoria_agents.play.web.limits import Limit
from euphoria_agents.play.web.queueing import FairQueue, SharedTasks, patiently
from euphoria_agents.players.search.searcher import Searcher
from euphoria_env import Game, Rules
from tests.tools.served import wait_until


def test_a_search_that_is_stopped_ends() -> None:
    agent, game = load("mcts:900000s:greedy"), Game(Rules(num_players=2), seed=3)
    assert isinstance(agent, Searcher)
    searching = background.begin(lambda: agent.explain(game.observation(0), game.mask(), np.random.default_rng(1), game))
    wait_until(lambda: agent._tree.used[0] > 50)
    agent.stop()
    assert searching.result()["moves"]


def test_patient_work_ends_when_the_last_who_waits_has_left() -> None:
    made = list[int]()

    def endless() -> Iterator[int]:
        while True:
            made.append(len(made))
            yield made[-1]

    async def leave() -> None:
        shared = SharedTasks[int](FairQueue(Limit(2, 1)))
        asked = [asyncio.create_task(shared.result("game", who, lambda: patiently(endless))) for who in ("ann", "bob", "bob")]
        for task in asked:
            before = len(made)
            while len(made) <= before:
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        while shared._queue._requests or len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0)
        ended = len(made)
        assert await shared.result("game", "ann", lambda: patiently(lambda: [1, 2])) == 2 and len(made) == ended

    asyncio.run(leave())


@pytest.mark.parametrize(
    ("places", "clients", "served"),
    [
        (Limit(1, 1), ["ann", "ann", "ann", "bob", "ann", "bob"], ["ann", "bob", "ann", "bob", "ann"]),
        (Limit(3, 2), ["ann"] * 6 + ["bob"], ["ann", "ann", "bob", "ann", "ann", "ann"]),  # never all places for one client
    ],
)
def test_a_client_that_asks_for_much_waits_and_the_next_one_does_not(
    places: Limit, clients: list[str], served: list[str]
) -> None:
    async def serve() -> list[str]:
        turns, order, gate = FairQueue(places), list[str](), asyncio.Event()

        async def comes(client: str) -> None:
            async with turns.slot(client):
                order.append(client)
                await gate.wait()

        tasks = [asyncio.create_task(comes(client)) for client in clients]
        await asyncio.sleep(0)
        with pytest.raises(Refused, match="3 requests"):
            async with turns.slot("ann", most=3):
                pass
        tasks[2].cancel()  # it waits
        tasks[0].cancel()  # it has a place, which the next one gets
        gate.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert turns.idle
        return order

    assert asyncio.run(serve()) == served


def test_a_client_whose_slots_are_taken_holds_up_nobody_else() -> None:
    async def ask() -> list[str]:
        queue, lock, gate, told = FairQueue(Limit(3, 1)), asyncio.Lock(), asyncio.Event(), list[str]()
        shared = SharedTasks[str](queue)

        async def loads(client: str) -> None:
            told.append(f"{client} {await shared.result('game', client, lambda: asyncio.sleep(0, 'loaded'))}")

        async def moves(client: str) -> None:
            async with queue.slot(client, lock=lock):
                told.append(f"{client} moved")

        async def thinks() -> None:
            async with queue.slot("ann"):
                await gate.wait()

        tasks = [asyncio.create_task(work) for work in (thinks(), loads("ann"), moves("ann"), loads("bob"), moves("bob"))]
        for _ in range(20):
            await asyncio.sleep(0)
        told.append("gate")
        gate.set()
        await asyncio.gather(*tasks)
        assert queue.idle
        return told

    before, after = (part.strip(", ").split(", ") for part in ", ".join(asyncio.run(ask())).split("gate"))
    assert sorted(before) == ["bob loaded", "bob moved"] and sorted(after) == ["ann loaded", "ann moved"]


def test_a_long_job_lets_those_of_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SLICE", -1.0)

    async def work() -> list[str]:
        some, order = Jobs(Limit(4, 2)), list[str]()

        async def does(name: str, parts: list[int]) -> bool:
            while parts:
                parts.pop()
                order.append(name)
                await asyncio.sleep(0)
                if some.must_yield(name):
                    return False
            return True

        for name, client in (("a", "ann"), ("b", "ann"), ("c", "bob")):
            some.check_room(client)
            some.begin(name, client, partial(does, name, [1, 2]))
        with pytest.raises(Refused, match="2 for each address"):
            some.check_room("ann")
        some.check_room("bob")
        await asyncio.gather(*(task for _, task in some._tasks.values()))
        return order

    order = asyncio.run(work())
    assert sorted(order) == list("aabbcc") and order.index("c") == 1
