"""Euphoria for verifiers (its v1): a taskset of seeds, the game among models and agents, and a harness that asks a model once.

    vf-eval verifiers_environment --env.opponents '["weights"]'    # in this folder, or with it on PYTHONPATH

Each decision is a conversation of its own, since a prompt says all that its player may know; all of them get the rewards that
their player has at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import verifiers.v1 as vf
from table import Table

__all__ = ["AskOnce", "EuphoriaEnv", "EuphoriaTaskset"]
SEAT = vf.AgentConfig(runtime=vf.SubprocessConfig())  # the harness starts nothing, so no container is needed


class EuphoriaData(vf.TaskData):
    seed: int


class EuphoriaTask(vf.Task[EuphoriaData, vf.State, vf.TaskConfig]):
    pass


class EuphoriaTasksetConfig(vf.TasksetConfig):
    games: int = 1000
    first_seed: int = 0


class EuphoriaTaskset(vf.Taskset[EuphoriaTask, EuphoriaTasksetConfig]):
    """Games by their seeds."""

    def load(self) -> Iterator[EuphoriaTask]:
        for seed in range(self.config.first_seed, self.config.first_seed + self.config.games):
            yield EuphoriaTask(EuphoriaData(seed=seed), self.config.task)


class AskOnce(vf.Harness[vf.HarnessConfig]):
    """Sends the prompt to the model, in this process."""

    APPENDS_SYSTEM_PROMPT, EXECUTES_CODE, NEEDS_CONTAINER = True, False, False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data) -> vf.ProgramResult:
        texts = (("system", data.system_prompt), ("user", data.prompt))
        messages = [{"role": role, "content": text} for role, text in texts if text]
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(0, "", "")


class EuphoriaConfig(vf.EnvConfig):
    """A model for each seat (`player_0.model`, ...; by default that of the run), and what `Table` takes."""

    player_0: vf.AgentConfig = SEAT
    player_1: vf.AgentConfig = SEAT
    player_2: vf.AgentConfig = SEAT
    player_3: vf.AgentConfig = SEAT
    player_4: vf.AgentConfig = SEAT
    player_5: vf.AgentConfig = SEAT
    opponents: list[str] = ["random"]
    judge: str = ""
    weights: dict[str, float] = {"win": 1.0}  # of win, stars, regret and legal
    options: dict[str, Any] = {"num_players": 2, "moves": "list", "rules": "short"}


class EuphoriaEnv(vf.Env[EuphoriaConfig]):
    """A game is an episode, and each answer of a model a trace with the rewards of its player."""

    async def run(self, task: EuphoriaTask, agents: vf.Agents) -> None:
        config, traces = self.config, []
        table = Table(task.data.seed, config.opponents, config.judge, **config.options)
        while asked := table.asked():
            decision = task.with_data(prompt=asked.prompt, system_prompt=asked.rules or None)
            trace = await getattr(agents, asked.player).run(decision)
            if not trace.ok:
                return
            traces.append((asked.player, trace))
            table.answer(trace.last_reply)
        for player, trace in traces:
            for name, value in table.rewards(player).items():
                trace.record_reward(name, value, config.weights.get(name, 0.0))
