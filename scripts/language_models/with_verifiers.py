"""The environment for verifiers: SmolLM2, behind a server on loopback, plays both seats of a short game, and gets rewards."""

import asyncio

import verifiers.v1 as vf
from smollm2 import NAME, served
from verifiers_environment import EuphoriaConfig

OPTIONS = {"num_players": 2, "stars_to_win": 1, "max_turns": 4, "moves": "list", "tries": 1, "illegal": "random"}


async def play(url: str) -> vf.Episode:
    environment = vf.load_environment(
        EuphoriaConfig(
            taskset={"id": "verifiers_environment", "games": 1}, opponents=[], judge="mcts:32:ppo", options=OPTIONS,
            weights={"win": 1.0, "stars": 1.0, "regret": 1.0, "legal": 1.0},
        )
    )  # fmt: skip
    context = vf.ModelContext(NAME, vf.EvalClientConfig(base_url=url), vf.SamplingConfig(max_tokens=16))
    async with environment.serving():
        (task,) = environment.taskset
        return await environment.run_episode(task, context)


with served() as url:
    episode = asyncio.run(play(url))
assert episode.ok, episode.errors
seats = {trace.agent.name: trace for trace in episode.traces}
assert sorted(seats) == ["player_0", "player_1"], sorted(seats)
assert all(set(trace.rewards) == {"win", "stars", "regret", "legal"} for trace in episode.traces)
print(f"{len(episode.traces)} answers; rewards " + ", ".join(f"{seats[name].reward:.3f}" for name in sorted(seats)))
